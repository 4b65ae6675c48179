"""Upper bounds on what can be accepted: relaxations, branched on with rational proofs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.certificates import BoundCertificate
from dlopt.models.admission.fluid_relaxation import FluidModel
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.result import Limits, Proof

_PROOFS = 400
"""Subproblems that are proven in fractions, before the solver's own branch and bound is asked."""
_ROUNDS = 10
"""Rounds of cuts in the solver's own branch and bound."""
_CARE = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is proven of a case.

    Parameters
    ----------
    worth : Fraction or None
        No plan is worth more; None if there is no plan, for the promised tasks do not fit.
    proof : str
        How it was proven.
    subset : tuple of int or None
        Jobs that the relaxation accepts, if it was solved to the end.
    complete : bool
        Whether the relaxation was solved to the end.
    version : str
        Of HiGHS.
    certificate : BoundCertificate or None
        The proof, if it is one in fractions. Its costs are worths, negated, without `granted`.
    stands_on : {"exact", "solver"}
        Whether it is proven in fractions, or the solver's claim.
    """

    worth: Fraction | None
    proof: str
    subset: tuple[int, ...] | None
    complete: bool
    version: str | None
    certificate: BoundCertificate | None = None
    stands_on: Proof = "exact"


def upper_bound(
    case: Case,
    limits: Limits,
    *,
    installments: int | None = None,
    known: Fraction | None = None,
    relaxed: bool = False,
    everyone: bool = False,
    seed: int = 0,
) -> Bounded:
    """Bound what plans are worth.

    Parameters
    ----------
    case : Case
    limits : Limits
        `work` counts subproblems.
    installments : int, optional
        Chunks that a task may have on a node; by default any number.
    known : Fraction, optional
        Worth of a plan: a bound that is as good ends the search.
    relaxed : bool
        Do not branch.
    everyone : bool
        Accept all tasks: the question is whether there is a plan at all.
    seed : int

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> case = Case.of(Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2))))
    >>> upper_bound(case, Limits()).worth, upper_bound(case, Limits(), installments=1).worth
    (Fraction(2, 1), Fraction(1, 1))
    """
    if not case.jobs:
        return Bounded(case.granted, "nothing remains to be planned", (), True, None)
    seconds = inf if limits.time_s is None else limits.time_s
    stop = time.monotonic() + seconds
    model = FluidModel(case, everyone)
    program = model.maximise_weight()
    cuts = None if installments is None else WindowCuts(model, installments)
    search = BranchAndBound(program, model.accepted, case.step, cuts, seed, stop)
    most = 1 if relaxed else min(limits.work or _PROOFS, _PROOFS)
    # A part of the time is for the solver's own branch and bound, if this one does not end.
    search.stop = stop if relaxed or stop == inf else stop - seconds / 2
    found = search.minimise(None if known is None else case.granted - known, most)
    version = search.solver.version
    proof = (
        f"proven in fractions, over {found.subproblems} subproblem{'s' * (found.subproblems != 1)}"
    )
    if not found.subproblems:
        proof = "what all tasks are worth"
    certificate = search.certificate(found.bound, model.names(), _remarks(model, installments))
    if found.bound is None:
        return Bounded(None, proof, None, True, version, certificate)
    worth = -found.bound
    if found.complete or relaxed:
        subset = _subset(model, found.point) if found.complete and found.point else None
        return Bounded(worth + case.granted, proof, subset, found.complete, version, certificate)
    search.solver.stop = stop
    said, subset = _by_solver(search, model, cuts, limits)
    if said is not None and said < worth:
        words = "the word of HiGHS, in floats"
        whole = subset is not None
        return Bounded(said + case.granted, words, subset, whole, version, stands_on="solver")
    return Bounded(worth + case.granted, proof, subset, subset is not None, version, certificate)


def _by_solver(
    search: BranchAndBound, model: FluidModel, cuts: WindowCuts | None, limits: Limits
) -> tuple[Fraction | None, tuple[int, ...] | None]:
    """Return the bound of the solver's own branch and bound, and the tasks that it accepts."""
    step, best = model.case.step, None
    search.release()
    for _ in range(_ROUNDS):
        bound, point = search.solver.solve_integral(search.binaries, limits)
        if bound is not None:
            worth = step * floor(-exact(bound) / step + _CARE)
            best = worth if best is None else min(best, worth)
        if not point:
            break
        rows = [] if cuts is None else list(cuts(point))
        if not rows:
            return best, _subset(model, point)
        for row in rows:
            search.solver.add(row)
    return best, None


def _remarks(model: FluidModel, installments: int | None) -> list[str]:
    """Say what the program is of, for a reader of its certificate."""
    case = model.case
    return [
        f"instance: {(case.instance.name or 'unnamed')!r}",
        f"granted: {case.granted}",
        f"chunks: {'any' if installments is None else installments}",
        f"time: 0 is {case.origin}, 1 is {case.time_unit}",
        f"load: 1 is {case.load_unit}",
        "columns: z_i accepts task i, c_i_g_k and w_i_g_k are what kind g receives and computes "
        "in interval k",
        "worth: at most granted less the minimum",
    ]


def _subset(model: FluidModel, point: object) -> tuple[int, ...]:
    values: list[float] = list(point)  # type: ignore[call-overload]
    return tuple(i for i, column in enumerate(model.accepted) if values[column] > 0.5)
