"""Upper bounds of relaxations in which binaries accept tasks and reservations.

Branch and bound proves them in fractions; where that takes too many nodes, the solver's own branch
and bound is asked, in floating point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, inf
from typing import NamedTuple, Protocol

from dlopt.arithmetic import Number, exact
from dlopt.backends.branch_and_bound import BranchAndBound, Cuts
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.pulp import UNCERTIFIED
from dlopt.certificates import BoundCertificate
from dlopt.models.common.unused_rows import without_unused_rows
from dlopt.result import Limits, Proof

MAX_CUT_ROUNDS = 10
"""Rounds of cuts around the solver's own branch and bound. Chosen by hand: each solves a MIP."""

ROUNDING_SLACK = Fraction(1, 10**6)
"""Multiples of the value granularity by which a floating-point bound may be below an attainable
value, when it is rounded down: the tolerance of solver answers."""

TRIVIAL_BOUND = "trivial bound (all accepted that can be on time)"
"""The derivation of a bound where there was no time to derive a better one."""


class Values(Protocol):
    """What a scaled instance says of objective values."""

    @property
    def value_of_finished(self) -> Fraction:
        """Objective value of accepting the tasks of which nothing remains."""

    @property
    def value_granularity(self) -> Fraction:
        """A number of which all other objective values are multiples."""


class AcceptanceProgram(NamedTuple):
    """A relaxation, as the program that branch and bound solves.

    Parameters
    ----------
    program : LinearProgram
        Its costs are objective values, negated, without `Values.value_of_finished`.
    binaries : sequence of int
        The columns that accept.
    column_names, remarks : list of str
        For the certificate.
    exact_nodes : int
        Branch-and-bound nodes that are certified in exact arithmetic.
    separate : callable, optional
        Separates cuts.
    cuts : str
        Which ones, such as `` with window cuts``.
    row_names : sequence of str
        For the certificate: of the rows, and of cuts once they are separated. If there are none,
        these are numbered.
    has_checker : bool
        Whether there is a checker for certificates of this program.
    """

    program: LinearProgram
    binaries: Sequence[int]
    column_names: list[str]
    remarks: list[str]
    exact_nodes: int
    separate: Cuts | None = None
    cuts: str = ""
    row_names: Sequence[str] = ()
    has_checker: bool = True

    def accepted(self, point: Sequence[float]) -> tuple[int, ...] | None:
        """Return which binaries a point accepts, by their positions; None if there is no point."""
        if not len(point):
            return None
        return tuple(i for i, column in enumerate(self.binaries) if point[column] > 0.5)

    def excluding(self, conflicts: Collection[Collection[int]]) -> AcceptanceProgram:
        """Return the program that accepts not all requests of a conflict, by their positions.

        These rows are combinatorial Benders cuts.
        """
        if not conflicts:
            return self
        rows = [tuple((self.binaries[k], Fraction(1)) for k in one) for one in conflicts]
        bounds = [(None, Fraction(len(row) - 1)) for row in rows]
        program = replace(
            self.program,
            rows=(*self.program.rows, *rows),
            row_bounds=(*self.program.row_bounds, *bounds),
        )
        cuts = f"{self.cuts}, {len(rows)} combinatorial Benders cut{'s' * (len(rows) != 1)}"
        return self._replace(program=program, cuts=cuts, has_checker=False)


@dataclass(frozen=True, slots=True)
class UpperBound:
    """What is proven of an instance.

    Parameters
    ----------
    value : Fraction or None
        No schedule has a larger objective value; None if there is no schedule, for what must be
        accepted does not fit.
    derivation : str
        How it was derived.
    accepted : tuple of int or None
        Which binaries the relaxation accepts, by their positions, if it was solved to optimality
        and a point was found.
    point : sequence of float
        Where the relaxation has this value, if that is known; else empty.
    version : str or None
        Of HiGHS.
    certificate : BoundCertificate or None
        The proof, if it is one in fractions. Its costs are those of the program.
    proof_kind : {"exact", "solver"}
        Whether it is proven in fractions, or the solver's claim.
    """

    value: Fraction | None
    derivation: str
    accepted: tuple[int, ...] | None = None
    point: Sequence[float] = ()
    version: str | None = None
    certificate: BoundCertificate | None = None
    proof_kind: Proof = "exact"


def relaxation_bound(
    values: Values,
    state_program: Callable[[], AcceptanceProgram],
    limits: Limits,
    known_value: Fraction | None = None,
    relaxation_only: bool = False,
    exact_only: bool = False,
    seed: int = 0,
) -> UpperBound:
    """Bound the objective value of schedules by a relaxation.

    Parameters
    ----------
    values : Values
    state_program : callable
        States the relaxation, while the clock of `limits` runs.
    limits : Limits
        `work` counts branch-and-bound nodes.
    known_value : Fraction, optional
        Objective value of a schedule: a bound that is as good ends the search.
    relaxation_only : bool
        Do not branch.
    exact_only : bool
        Do not ask the solver's own branch and bound.
    seed : int
    """
    seconds = inf if limits.time_s is None else limits.time_s
    stop = time.monotonic() + seconds
    model, step, finished = state_program(), values.value_granularity, values.value_of_finished
    search = BranchAndBound(model.program, model.binaries, step, model.separate, seed, stop)
    max_nodes = 1 if relaxation_only else min(limits.work or model.exact_nodes, model.exact_nodes)
    is_last = relaxation_only or exact_only or bool(search.required)
    # Half of the time is for the solver's own branch and bound, if this one does not end.
    search.stop = stop if is_last or stop == inf else stop - seconds / 2
    result = search.minimise(None if known_value is None else finished - known_value, max_nodes)
    bound = UpperBound(
        None,
        _describe_proof(result.subproblems, model.cuts) if result.subproblems else TRIVIAL_BOUND,
        version=search.solver.version,
        certificate=_certificate(search, result.bound, model) if model.has_checker else None,
    )
    if result.bound is None:
        return bound
    bound = replace(bound, value=finished - result.bound)
    if result.complete or is_last:
        point = result.point if result.complete else ()
        return replace(bound, accepted=model.accepted(point), point=point)
    search.solver.stop = stop
    cost, point = _solver_bound(search, model, step, limits)
    bound = replace(bound, accepted=model.accepted(point), point=point)
    if cost is None or cost <= result.bound:
        return bound
    return replace(
        bound,
        value=finished - cost,
        derivation=f"HiGHS {UNCERTIFIED}",
        certificate=None,
        proof_kind="solver",
    )


def round_up_cost(cost: Number, step: Fraction) -> Fraction:
    """Return the smallest multiple of a number that may be meant by a bound on costs in floats.

    Examples
    --------
    >>> round_up_cost(-3.9999999, Fraction(1)), round_up_cost(-3.9, Fraction(1))
    (Fraction(-4, 1), Fraction(-3, 1))
    """
    return -step * floor(-exact(cost) / step + ROUNDING_SLACK)


def _certificate(
    search: BranchAndBound, bound: Fraction | None, model: AcceptanceProgram
) -> BoundCertificate:
    """Return the certificate of a bound; of named rows, of which most are not used, a short one."""
    if model.row_names:
        search.shorten_multipliers(bound)
    certificate = search.certificate(bound, model.column_names, model.remarks)
    if not model.row_names:
        return certificate
    names = tuple(model.row_names[: len(certificate.rows)])
    return without_unused_rows(replace(certificate, row_names=names))


def _describe_proof(nodes: int, cuts: str) -> str:
    """Say how a bound was derived from a fluid relaxation, in so many branch-and-bound nodes."""
    plural = "s" * (nodes != 1)
    proof = f"certified in exact arithmetic, {nodes} branch-and-bound node{plural}"
    return f"fluid relaxation{cuts}, {proof}"


def _solver_bound(
    search: BranchAndBound, model: AcceptanceProgram, step: Fraction, limits: Limits
) -> tuple[Fraction | None, Sequence[float]]:
    """Return the bound of the solver's own branch and bound, and the point that attains it."""
    best: Fraction | None = None
    search.release()
    for _ in range(MAX_CUT_ROUNDS):
        cost, point = search.solver.solve_integral(search.binaries, limits)
        if cost is not None:
            rounded = round_up_cost(cost, step)
            best = rounded if best is None else max(best, rounded)
        if not point:
            break
        rows = [] if model.separate is None else list(model.separate(point))
        if not rows:
            return best, point
        for row in rows:
            search.solver.add(row)
    return best, ()
