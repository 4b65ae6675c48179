"""Upper bounds on what can be accepted: the fluid relaxation with branch and bound in fractions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.certificates import BoundCertificate
from dlopt.models.admission.upper_bounds import ROUNDING_SLACK, describe_relaxation
from dlopt.models.multistage.fluid_relaxation import ReservationFluidRelaxation
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.result import Limits, Proof

MAX_EXACT_NODES = 400
"""Branch-and-bound nodes that are certified in exact arithmetic, before the solver's own branch and
bound in floating point is asked. Chosen by hand: more nodes give certified bounds more often, and
leave less time to the search for schedules."""

LARGE_PROGRAM_TERMS = 100_000
"""Nonzero coefficients of a program from which on fewer nodes are certified, in proportion. Chosen
by hand, so that certification takes about as long for larger programs."""


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
    tasks, reservations : tuple of int
        What the relaxation accepts, if it was solved to optimality.
    complete : bool
        Whether the relaxation was solved to optimality.
    version : str or None
        Of HiGHS.
    certificate : BoundCertificate or None
        The proof, if it is one in fractions. Its costs are objective values, negated, without
        that of finished tasks.
    proof_kind : {"exact", "solver"}
        Whether it is proven in fractions, or the solver's claim.
    """

    value: Fraction | None
    derivation: str
    tasks: tuple[int, ...] = ()
    reservations: tuple[int, ...] = ()
    complete: bool = False
    version: str | None = None
    certificate: BoundCertificate | None = None
    proof_kind: Proof = "exact"


def upper_bound(
    scaled: ScaledInstance,
    limits: Limits,
    *,
    known_value: Fraction | None = None,
    relaxation_only: bool = False,
    seed: int = 0,
) -> UpperBound:
    """Bound the objective value of schedules.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
        `work` counts branch-and-bound nodes.
    known_value : Fraction, optional
        Objective value of a schedule: a bound that is as good ends the search.
    relaxation_only : bool
        Do not branch.
    seed : int

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(1, 1, 1), tasks, wanted))
    >>> upper_bound(scaled, Limits()).value
    Fraction(1, 1)
    """
    finished = scaled.tasks_only.value_of_finished
    if not scaled.tasks and not scaled.reservations:
        derivation = "trivial bound (nothing remains to be decided)"
        return UpperBound(finished, derivation, complete=True)
    seconds = inf if limits.time_s is None else limits.time_s
    stop = time.monotonic() + seconds
    model = ReservationFluidRelaxation(scaled)
    program = model.maximise_weight()
    step = scaled.value_granularity
    search = BranchAndBound(program, model.binaries, step, None, seed, stop)
    terms = sum(map(len, program.rows))
    exact_nodes = max(MAX_EXACT_NODES * LARGE_PROGRAM_TERMS // max(terms, LARGE_PROGRAM_TERMS), 1)
    max_nodes = 1 if relaxation_only else min(limits.work or exact_nodes, exact_nodes)
    # Half of the time is for the solver's own branch and bound, if this one does not end.
    search.stop = stop if relaxation_only or stop == inf else stop - seconds / 2
    result = search.minimise(None if known_value is None else finished - known_value, max_nodes)
    version = search.solver.version
    derivation = describe_relaxation(result.subproblems)
    if not result.subproblems:
        derivation = "trivial bound (everything accepted)"
    certificate = search.certificate(
        result.bound, model.column_names(), _certificate_remarks(scaled)
    )
    if result.bound is None:
        return UpperBound(None, derivation, (), (), True, version, certificate)
    value = finished - result.bound
    if result.complete or relaxation_only:
        accepted = _accepted(model, result.point if result.complete else ())
        return UpperBound(value, derivation, *accepted, result.complete, version, certificate)
    search.solver.stop = stop
    search.release()
    bound, point = search.solver.solve_integral(model.binaries, limits)
    accepted = _accepted(model, point)
    if bound is not None:
        float_value = finished + step * floor(-exact(bound) / step + ROUNDING_SLACK)
        if float_value < value:
            derivation = "HiGHS dual bound (floating point, not certified)"
            return UpperBound(
                float_value, derivation, *accepted, bool(point), version, proof_kind="solver"
            )
    return UpperBound(value, derivation, *accepted, bool(point), version, certificate)


def _accepted(
    model: ReservationFluidRelaxation, point: Sequence[float]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the tasks and the reservations that a point accepts."""
    if not point:
        return (), ()
    values = list(point)
    tasks = tuple(i for i, column in enumerate(model.tasks.accepted) if values[column] > 0.5)
    reservations = enumerate(model.accepted_reservations)
    return tasks, tuple(r for r, column in reservations if values[column] > 0.5)


def _certificate_remarks(scaled: ScaledInstance) -> list[str]:
    """Describe the program to a reader of its certificate."""
    tasks_only = scaled.tasks_only
    return [
        f"instance: {(scaled.instance.name or 'unnamed')!r}",
        f"value of finished tasks: {tasks_only.value_of_finished}",
        "chunks: any",
        f"time: 0 is {tasks_only.origin}, 1 is {tasks_only.time_unit}",
        f"load: 1 is {tasks_only.load_unit}",
        "columns: z_i accepts task i, q_r reservation r, c_i_g_k and w_i_g_k are what node group g "
        "receives and computes in interval k",
        "objective value: at most the value of finished tasks less the minimum",
    ]
