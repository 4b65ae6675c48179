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

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, gcd, inf, lcm
from typing import NamedTuple

from dlopt.arithmetic import FLOATING, Number, exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.linear_program import Row
from dlopt.certificates import BoundCertificate, Leaf, Terms
from dlopt.models.coreservation.aggregated_relaxation import solve_leaf_exactly
from dlopt.models.coreservation.proof_program import ONE, ZERO, NamedRow, ProofProgram
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_CHOICES = 200_000
"""Parts times machines up to which programs are stated at all. Chosen by hand."""
MAX_COLUMNS = 20_000
"""Columns up to which programs are written. Chosen by hand, for the size of the file: a column
takes some 50 bytes."""
MAX_COLUMNS_OF_SEARCH = 1_500
"""Columns up to which branch and bound is tried. Chosen by hand, for its time."""
SEARCH_EFFORT = 60_000
"""Columns times subproblems of a branch and bound at the most. Chosen by hand, for its time."""
MAX_EXACT_LEAVES = 60
"""Subproblems that are solved to an optimal basis in fractions. Chosen by hand, for their time."""
FINE_STEP = Fraction(1, 1 << 80)
"""What bounds in the search are multiples of, where nothing may be rounded."""
ROUGHLY = Fraction(1, 10**9)
"""By how much less than the bound a subproblem may prove in floats, relative."""
CONCEDED = exact(FLOATING) * Fraction(999, 1000)
"""What a bound of the benefit in floats may be off, relative: a little less than is conceded by
`dlopt.certificate_files`."""


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


def certify_bound(
    scaled: ScaledInstance, bounds: Sequence[Number], seed: int = 0, stop: float = inf
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
    """
    choices = len(scaled.parts) * len(scaled.free)
    if scaled.scaling_failure is not None:
        return CertificateOutcome(None, scaled.scaling_failure)
    if choices > MAX_CHOICES:
        return CertificateOutcome(None, f"more than {MAX_CHOICES:,} choices of machines")
    target = Target.from_bounds(scaled, tuple(map(exact, bounds)))
    finest = list(range(len(scaled.free)))
    groups = _groups_of_identical_machines(scaled)
    program = target.program(groups)
    trivial = _trivial_leaves(program, target)
    if trivial and len(program.names) <= MAX_COLUMNS:
        return CertificateOutcome(_certificate(program, target, program.rows, trivial, None))
    if len(program.names) > MAX_COLUMNS_OF_SEARCH:
        groups = [0] * len(groups)
        program = target.program(groups)
    outcome = _search(program, target, seed, stop)
    if outcome.certificate is None and groups != finest:
        program = target.program(finest)
        if len(program.names) <= MAX_COLUMNS_OF_SEARCH:
            outcome = _search(program, target, seed, stop)
    return outcome


class Target(NamedTuple):
    """What is to be proven: that no plan costs less, see `proof_program`.

    Parameters
    ----------
    scaled : ScaledInstance
    weight : Fraction
        Of the first level: more than what the second can be.
    cost : Fraction
    levels : tuple of (Fraction, int) or None
        The bounds of ``benefit-then-rejections``.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
    >>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> instance = Instance((Machine("m", 5),), requests)
    >>> scaled = ScaledInstance.from_instance(instance, "rejections-then-benefit")
    >>> Target.from_bounds(scaled, (Fraction(1), Fraction(1, 2)))[1:]  # 2 (1 - 2) - 1/2
    (Fraction(2, 1), Fraction(-5, 2), None)
    """

    scaled: ScaledInstance
    weight: Fraction
    cost: Fraction
    levels: tuple[Fraction, int] | None

    @classmethod
    def from_bounds(cls, scaled: ScaledInstance, bounds: tuple[Fraction, ...]) -> Target:
        """Return the target of bounds of all levels."""
        levels, requests = scaled.levels, scaled.instance.requests
        if not scaled.instance.exact and "benefit" in levels:
            at = levels.index("benefit")
            wider = bounds[at] + CONCEDED * abs(bounds[at])
            bounds = (*bounds[:at], wider, *bounds[at + 1 :])
        if levels[0] == "benefit":
            known = (bounds[0], int(bounds[1])) if len(levels) > 1 else None
            return cls(scaled, ONE, -bounds[0], known)
        by_priority = levels[0] == "rejected-priority"
        gains = [exact(request.priority) if by_priority else ONE for request in requests]
        weight = ONE
        if len(levels) > 1:
            weight = Fraction(2) / _common_step(gains)
        if levels[-1] == "machines":
            weight = Fraction(len(scaled.free) + 1)
        second = sum(bounds[1:], ZERO)
        second = second if levels[-1] == "machines" else -second
        return cls(scaled, weight, weight * (bounds[0] - sum(gains)) + second, None)

    def program(self, groups: Sequence[int]) -> ProofProgram:
        """Return the program over some groups of machines."""
        return ProofProgram(self.scaled, groups, self.weight, self.levels)


def _groups_of_identical_machines(scaled: ScaledInstance) -> list[int]:
    """Return of each machine the first one that is interchangeable with it."""
    groups = list(range(len(scaled.free)))
    for machines, _ in scaled.identical_machines():
        for machine in machines:
            groups[machine] = machines[0]
    return groups


def _common_step(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all others are multiples; 1 if there are none."""
    positive = {abs(number) for number in numbers if number}
    scale = lcm(*(number.denominator for number in positive))
    return Fraction(gcd(*(int(number * scale) for number in positive)) or 1, scale)


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


def _search(program: ProofProgram, target: Target, seed: int, stop: float) -> CertificateOutcome:
    """Return the proof by branch and bound that no point costs less than the target."""
    columns = len(program.names)
    if columns > MAX_COLUMNS_OF_SEARCH:
        return CertificateOutcome(None, f"a program of more than {MAX_COLUMNS_OF_SEARCH:,} columns")
    step = None
    if len(program.binaries) == columns:
        step = _common_step(program.costs)
    cuts: list[NamedRow] = []

    def separate(point: Sequence[float]) -> list[Row]:
        known = {row.name for row in cuts}
        found = [row for row in program.separated_cuts(point) if row.name not in known]
        cuts.extend(found)
        return [row.scaled for row in found]

    known = target.cost if step is None else step * ceil(target.cost / step)
    aim = known if step is not None else known - ROUGHLY * abs(known)
    search = BranchAndBound(
        program.linear_program(), program.binaries, step or FINE_STEP, separate, seed, stop
    )
    found = search.minimise(aim, max(1, SEARCH_EFFORT // columns))
    plural = "s" * (found.subproblems != 1)
    failure = f"no proof was found in {found.subproblems} subproblem{plural}"
    if found.bound is None or found.bound < aim:
        return CertificateOutcome(None, failure)
    search.shorten_multipliers(known if step is not None else known + FINE_STEP)
    rows = [*program.rows, *cuts]
    leaves = _leaves(search, rows, None if step is not None else known, stop)
    if leaves is None:
        return CertificateOutcome(None, failure)
    reached = target._replace(cost=known)
    return CertificateOutcome(_certificate(program, reached, rows, leaves, step))


def _leaves(
    search: BranchAndBound, rows: Sequence[NamedRow], known: Fraction | None, stop: float
) -> tuple[Leaf, ...] | None:
    """Return the leaves of a search with multipliers of unscaled rows.

    If all of them must prove a bound without rounding, those that do not are solved in fractions;
    None if one proves less all the same.
    """
    leaves, solved = [], 0
    for node in search.leaves:
        multipliers = search.safe.in_row_units(node.multipliers)
        if known is not None and not node.infeasible:
            bounds = list(search.safe.bounds)
            for column, value in node.fixed:
                bounds[column] = Fraction(value), Fraction(value)
            if search.safe.bound(node.multipliers, bounds) < known:
                solved += 1
                optimum = None
                if solved <= MAX_EXACT_LEAVES:
                    optimum = solve_leaf_exactly(search, dict(node.fixed), stop)
                if optimum is None or optimum.value < known:
                    return None
                multipliers = tuple((r, dual) for r, dual in enumerate(optimum.dual) if dual)
        scaled = tuple((r, dual / rows[r].scale) for r, dual in multipliers)
        leaves.append(Leaf(node.fixed, scaled, node.infeasible))
    return tuple(leaves)


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
