"""Certificates of bounds of CPU shares: the trivial bound at once, others by branch and bound.

The programs are those of `proof_program`: first with identical machines as one, then with every
machine by itself. A solver in floats guides the search; what a subproblem proves is computed in
fractions. Where only binaries have costs, bounds are rounded up to what they can add up to. Where
shares can be raised nothing is rounded: a subproblem whose dual solution in floats proves a little
less than the bound is solved again to an optimal basis, in fractions.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests), "rejections")
>>> outcome = certify_bound(scaled, (1,))
>>> outcome.certificate.bound, outcome.reason
(Fraction(-1, 1), None)
>>> certify_bound(scaled, (2,)).reason  # the fewest rejections are 1
'no proof was found in 1 subproblem'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from typing import NamedTuple

from dlopt.arithmetic import Number, exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.linear_program import Row
from dlopt.certificates import BoundCertificate, Leaf, Terms, can_be_stated
from dlopt.models.common.leaf_proofs import FINE_STEP, ROUGHLY, LeafProofs
from dlopt.models.common.named_rows import ONE, ZERO, NamedRow, multipliers_of
from dlopt.models.common.objective_levels import with_certificate
from dlopt.models.coreservation.proof_program import ProofProgram
from dlopt.models.coreservation.proof_target import (
    Target,
    common_step,
    groups_of_identical_machines,
)
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation.data import Solution
from dlopt.result import Result, Status, levels_of

MAX_CHOICES = 1_000_000
"""Parts times machines up to which programs are stated at all. Chosen by hand."""
MAX_COLUMNS = 10_000
"""Columns up to which programs are written. Chosen by hand, for the size of the file: a column
takes some 50 bytes."""
MAX_COLUMNS_OF_SEARCH = 1_500
"""Columns up to which branch and bound is tried. Chosen by hand, for its time."""
MAX_ENTRIES_OF_ROOT = 10_000
"""Columns times instants up to which larger programs of machines are tried without branching: bin
packing of some thousand items. Chosen by hand, for its time."""
SEARCH_EFFORT = 40_000
"""Columns times subproblems of a branch and bound at the most. Chosen by hand, for its time."""
VALUE_EFFORT = 400_000
"""The same where the proof decides whether the value is optimal. Chosen by hand: 10 to 20 requests
whose shares can be raised take some seconds."""
EFFORT_OF_EXACT_LEAF = 600
"""Effort for each subproblem that may be solved to an optimal basis in fractions. Chosen by hand,
for their time."""
MAX_ROUNDED_GAP = Fraction(1, 10**6)
"""Gap of the benefit in exact numbers up to which it is assumed to come from rounding: then the
value is proven to be optimal, if that can be done."""

GAP_NOT_CLOSED = "gap not closed; "
"""Begins the reason of a result that is not proven optimal."""


class CertificateOutcome(NamedTuple):
    """A certificate, or why there is none.

    Parameters
    ----------
    certificate : BoundCertificate or None
    reason : str or None
        Why there is none.
    """

    certificate: BoundCertificate | None
    reason: str | None = None


def certified(
    scaled: ScaledInstance, result: Result[Solution], seed: int, stop: float
) -> Result[Solution]:
    """Return a result with the certificate of its bounds, or with the reason why it has none.

    Where a solver's bound meets an exact value up to rounding, the value is proven, if possible.

    Parameters
    ----------
    scaled : ScaledInstance
    result : Result
        With bounds of all levels.
    seed : int
    stop : float
        Instant of the monotonic clock at which the search for a proof ends.
    """
    bound = result.bound
    assert bound is not None  # every level has a trivial one
    if _is_rounded(scaled, scaled.levels[-1]):
        *counts, benefit = levels_of(bound)
        rounded = float(benefit)  # as what is proven is, also where the benefit is an integer
        bound = (*counts, rounded) if counts else rounded
        result = replace(result, bound=bound)
    gap = _open_gap(scaled, result)
    if 0 < gap <= MAX_ROUNDED_GAP and result.value is not None:
        outcome = certify_bound(scaled, levels_of(result.value), seed, stop, VALUE_EFFORT)
        if outcome.certificate is not None:
            reason = (result.reason or "").removeprefix(GAP_NOT_CLOSED)
            closed = replace(result, status=Status.OPTIMAL, bound=result.value, reason=reason)
            return with_certificate(closed, outcome.certificate)
    outcome = certify_bound(scaled, levels_of(bound), seed, stop)
    if outcome.certificate is None:
        return replace(result, reason=f"{result.reason}; no certificate: {outcome.reason}")
    return with_certificate(result, outcome.certificate)


def _open_gap(scaled: ScaledInstance, result: Result[Solution]) -> Fraction:
    """Return by how much the bound of the last level exceeds its value, in exact numbers; else 0.

    It is 0, too, if a level before is open.
    """
    if not scaled.instance.exact or result.value is None or result.bound is None:
        return ZERO
    values, bounds = levels_of(result.value), levels_of(result.bound)
    if scaled.levels[-1] != "benefit" or values[:-1] != bounds[:-1]:
        return ZERO
    return exact(bounds[-1]) - exact(values[-1])


def certify_bound(
    scaled: ScaledInstance,
    bounds: Sequence[Number],
    seed: int = 0,
    stop: float = inf,
    effort: int | None = None,
) -> CertificateOutcome:
    """Return the certificate of bounds of all levels of an objective, or why there is none.

    Parameters
    ----------
    scaled : ScaledInstance
    bounds : sequence of Number
        By level, as the objective has them.
    seed : int
    stop : float
        Instant of the monotonic clock at which the search ends.
    effort : int, optional
        Columns times subproblems of a branch and bound at the most; by default `SEARCH_EFFORT`.
    """
    choices = len(scaled.parts) * len(scaled.free)
    if scaled.scaling_failure is not None:
        return CertificateOutcome(None, scaled.scaling_failure)
    if not can_be_stated(scaled.unit):
        return CertificateOutcome(None, "the unit of CPU has too many digits for a file")
    if choices > MAX_CHOICES:
        return CertificateOutcome(None, f"more than {MAX_CHOICES:,} choices of machines for parts")
    if len(scaled.levels) > 1 and _is_rounded(scaled, scaled.levels[0]):
        reason = f"{scaled.levels[0]} in floats holds to a tolerance, which leaves the rest open"
        return CertificateOutcome(None, reason)
    effort = SEARCH_EFFORT if effort is None else effort
    target = Target.from_bounds(scaled, tuple(map(exact, bounds)))
    finest = list(range(len(scaled.free)))
    groups = groups_of_identical_machines(scaled)
    program = target.program(groups)
    trivial = _trivial_leaves(program, target)
    if trivial and len(program.names) <= MAX_COLUMNS:
        return CertificateOutcome(_certificate(program, target, program.rows, trivial, None))
    if len(program.names) > MAX_COLUMNS_OF_SEARCH:
        groups = [0] * len(groups)
        program = target.program(groups)
        columns = len(program.names)
        if columns > MAX_COLUMNS_OF_SEARCH:
            entries = columns * len(program.loads) if program.used else inf
            if entries > MAX_ENTRIES_OF_ROOT:
                reason = f"its program would have more than {MAX_COLUMNS_OF_SEARCH:,} columns"
                return CertificateOutcome(None, reason)
            effort = columns
    outcome = _Search(program, target, seed, stop, effort).run()
    if outcome.certificate is None and groups != finest:
        program = target.program(finest)
        if len(program.names) <= MAX_COLUMNS_OF_SEARCH:
            outcome = _Search(program, target, seed, stop, effort).run()
    return outcome


def _is_rounded(scaled: ScaledInstance, level: str) -> bool:
    """Tell whether the values of a level are sums of floats, with rounding errors."""
    priorities = (request.priority for request in scaled.instance.requests)
    if level == "rejected-priority":
        return any(isinstance(one, float) and not one.is_integer() for one in priorities)
    return level == "benefit" and not scaled.instance.exact


def _trivial_leaves(program: ProofProgram, target: Target) -> tuple[Leaf, ...]:
    """Return the proof that no plan is better than all requests with their largest benefits.

    Empty if that proves less than the target.
    """
    rows = {row.name: r for r, row in enumerate(program.rows)}
    most: dict[int, Fraction] = {}
    multipliers: list[tuple[int, Fraction]] = []
    for place in program.places:
        best = -program.costs[place.chosen]
        if place.increment is not None:
            slope = program.costs[place.increment]
            best -= slope * program.upper[place.increment]
            multipliers.append((rows[f"piece_{place.label}"], slope))
        most[place.part] = max(best, most.get(place.part, ZERO))
    for i, part in enumerate(program.scaled.parts):
        request = program.scaled.requests[part.request].index
        multipliers.append((rows[f"accepted_{request}_{part.index}"], -most[i]))
    accepted = range(len(program.scaled.requests))
    cost = sum((program.costs[k] for k in accepted), ZERO) - sum(most.values(), ZERO)
    if cost < target.cost:
        return ()
    used = tuple((r, m) for r, m in multipliers if m)
    if target.levels is None:
        return (Leaf((), used, refuted=False),)
    enough = -program.rows[rows["level_1"]].terms[-1][1]
    if enough <= len(accepted):
        return ()
    assert program.improvement is not None  # there are levels
    improved = Leaf(((program.improvement, 1),), ((rows["level_1"], ONE),), refuted=True)
    return (Leaf(((program.improvement, 0),), used, refuted=False), improved)


class _Search:
    """Branch and bound over a program, until no point costs less than the target."""

    def __init__(
        self, program: ProofProgram, target: Target, seed: int, stop: float, effort: int
    ) -> None:
        self.program, self.target, self.stop, self.effort = program, target, stop, effort
        program.add_capacity()
        self.cuts: list[NamedRow] = []
        self.step = None
        if len(program.binaries) == len(program.names):
            self.step = common_step(program.costs)
        self.branching = BranchAndBound(
            program.linear_program(),
            program.binaries,
            self.step or FINE_STEP,
            self._separate,
            seed,
            stop,
            first=self._first_binaries(),
        )

    def run(self) -> CertificateOutcome:
        """Return the proof, or why there is none."""
        columns = len(self.program.names)
        known, search = self.target.cost, self.branching
        if self.step is not None:
            known = self.step * ceil(known / self.step)
        aim = known if self.step is not None else known - ROUGHLY * abs(known)
        found = search.minimise(aim, max(1, self.effort // columns))
        leaves = None
        if found.bound is not None and found.bound >= aim:
            search.shorten_multipliers(known if self.step is not None else known + FINE_STEP)
            exact_leaves = self.effort // EFFORT_OF_EXACT_LEAF
            leaves = LeafProofs(search, self.step is not None, exact_leaves, self.stop).of(known)
        if leaves is None:
            plural = "s" * (found.subproblems != 1)
            reason = f"no proof was found in {found.subproblems} subproblem{plural}"
            return CertificateOutcome(None, reason)
        rows = [*self.program.rows, *self.cuts]
        stated = [Leaf(one.fixed, multipliers_of(rows, m), one.infeasible) for one, m in leaves]
        reached = self.target._replace(cost=known)
        return CertificateOutcome(_certificate(self.program, reached, rows, stated, self.step))

    def _first_binaries(self) -> list[int]:
        first = [*range(len(self.program.scaled.requests)), *self.program.used.values()]
        return first if self.program.improvement is None else [*first, self.program.improvement]

    def _separate(self, point: Sequence[float]) -> list[Row]:
        known = {row.name for row in self.cuts}
        found = [row for row in self.program.separated_cuts(point) if row.name not in known]
        if not found and self.program.used:
            found = self.program.knapsack_cuts(point, self.stop)
        self.cuts += found
        return [row.scaled for row in found]


def _certificate(
    program: ProofProgram,
    target: Target,
    rows: Sequence[NamedRow],
    leaves: Sequence[Leaf],
    step: Fraction | None,
) -> BoundCertificate:
    """Return the certificate, with the rows that some leaf uses."""
    used = sorted({r for leaf in leaves for r, _ in leaf.multipliers})
    numbers = {r: number for number, r in enumerate(used)}
    stated = () if target.levels is None else (f"rejections: {target.levels[1]}",)

    def renumbered(multipliers: Terms) -> Terms:
        return tuple((numbers[r], multiplier) for r, multiplier in multipliers)

    return BoundCertificate(
        names=tuple(program.names),
        costs=tuple(program.costs),
        rows=tuple(rows[r].terms for r in used),
        row_bounds=tuple((rows[r].lower, rows[r].upper) for r in used),
        column_bounds=tuple((ZERO, high) for high in program.upper),
        binaries=tuple(program.binaries),
        cuts=0,
        step=step,
        bound=target.cost,
        leaves=tuple(
            Leaf(leaf.fixed, renumbered(leaf.multipliers), leaf.refuted) for leaf in leaves
        ),
        remarks=(
            f"unit: {program.scaled.unit}",
            f"groups: {' '.join(map(str, program.groups))}",
            *stated,
            "columns: x_k says that request k is accepted, y_k_p_g_l_h that part p of it is on",
            "group g with l to h units, and r_k_p_g_l_h how many of them are above l",
        ),
        row_names=tuple(rows[r].name for r in used),
    )
