"""Upper bounds on what can be accepted: loads that flow, branched on with rational proofs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.certificates import BoundCertificate
from dlopt.models.multistage.fluid_relaxation import FluidModel
from dlopt.models.multistage.scaled_instance import Case
from dlopt.result import Limits, Proof

_PROOFS = 400
"""Subproblems that are proven in fractions, before the solver's own branch and bound is asked."""
_LARGE = 100_000
"""Terms of a program of which fewer subproblems are, in proportion."""
_CARE = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is proven of a case.

    Parameters
    ----------
    worth : Fraction or None
        No plan is worth more; None if there is no plan, for what must be accepted does not fit.
    proof : str
        How it was proven.
    jobs, bookings : tuple of int
        What the relaxation accepts, if it was solved to the end.
    complete : bool
        Whether the relaxation was solved to the end.
    version : str or None
        Of HiGHS.
    certificate : BoundCertificate or None
        The proof, if it is one in fractions. Its costs are worths, negated, without `granted`.
    stands_on : {"exact", "solver"}
        Whether it is proven in fractions, or the solver's claim.
    """

    worth: Fraction | None
    proof: str
    jobs: tuple[int, ...] = ()
    bookings: tuple[int, ...] = ()
    complete: bool = False
    version: str | None = None
    certificate: BoundCertificate | None = None
    stands_on: Proof = "exact"


def upper_bound(
    case: Case,
    limits: Limits,
    *,
    known: Fraction | None = None,
    relaxed: bool = False,
    seed: int = 0,
) -> Bounded:
    """Bound what plans are worth.

    Parameters
    ----------
    case : Case
    limits : Limits
        `work` counts subproblems.
    known : Fraction, optional
        Worth of a plan: a bound that is as good ends the search.
    relaxed : bool
        Do not branch.
    seed : int

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> upper_bound(Case.of(Instance(Cluster(1, 1, 1), tasks, wanted)), Limits()).worth
    Fraction(1, 1)
    """
    granted = case.stream.granted
    if not case.jobs and not case.bookings:
        return Bounded(granted, "nothing remains to be decided", complete=True)
    seconds = inf if limits.time_s is None else limits.time_s
    stop = time.monotonic() + seconds
    model = FluidModel(case)
    program = model.maximise_weight()
    binaries = [*model.accepted, *model.taken]
    search = BranchAndBound(program, binaries, case.step, None, seed, stop)
    terms = sum(map(len, program.rows))
    proofs = max(_PROOFS * _LARGE // max(terms, _LARGE), 1)
    most = 1 if relaxed else min(limits.work or proofs, proofs)
    # A part of the time is for the solver's own branch and bound, if this one does not end.
    search.stop = stop if relaxed or stop == inf else stop - seconds / 2
    found = search.minimise(None if known is None else granted - known, most)
    version = search.solver.version
    plural = "s" * (found.subproblems != 1)
    proof = f"proven in fractions, over {found.subproblems} subproblem{plural}"
    if not found.subproblems:
        proof = "what everything is worth"
    certificate = search.certificate(found.bound, model.names(), _remarks(case))
    if found.bound is None:
        return Bounded(None, proof, (), (), True, version, certificate)
    worth = granted - found.bound
    if found.complete or relaxed:
        chosen = _chosen(model, found.point if found.complete else ())
        return Bounded(worth, proof, *chosen, found.complete, version, certificate)
    search.solver.stop = stop
    search.release()
    bound, point = search.solver.solve_integral(binaries, limits)
    chosen = _chosen(model, point)
    if bound is not None:
        said = granted + case.step * floor(-exact(bound) / case.step + _CARE)
        if said < worth:
            words = "the word of HiGHS, in floats"
            return Bounded(said, words, *chosen, bool(point), version, stands_on="solver")
    return Bounded(worth, proof, *chosen, bool(point), version, certificate)


def _chosen(model: FluidModel, point: Sequence[float]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the jobs and the bookings that a point accepts."""
    if not point:
        return (), ()
    values = list(point)
    jobs = tuple(i for i, column in enumerate(model.accepted) if values[column] > 0.5)
    return jobs, tuple(r for r, column in enumerate(model.taken) if values[column] > 0.5)


def _remarks(case: Case) -> list[str]:
    """Say what the program is of, for a reader of its certificate."""
    stream = case.stream
    return [
        f"instance: {(case.instance.name or 'unnamed')!r}",
        f"granted: {stream.granted}",
        "chunks: any",
        f"time: 0 is {stream.origin}, 1 is {stream.time_unit}",
        f"load: 1 is {stream.load_unit}",
        "columns: z_i accepts task i, q_r reservation r, c_i_g_k and w_i_g_k are what kind g "
        "receives and computes in interval k",
        "worth: at most granted less the minimum",
    ]
