"""Upper bounds on what can be accepted: relaxations with branch and bound, proven in fractions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf

from dlopt.arithmetic import exact
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.certificates import BoundCertificate
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.result import Limits, Proof

MAX_EXACT_NODES = 400
"""Branch-and-bound nodes that are certified in exact arithmetic, before the solver's own branch and
bound in floating point is asked. Chosen by hand: more nodes give certified bounds more often, and
leave less time to the search for schedules."""

MAX_CUT_ROUNDS = 10
"""Rounds of cuts around the solver's own branch and bound. Chosen by hand: each solves a MIP."""

ROUNDING_SLACK = Fraction(1, 10**6)
"""Multiples of the value granularity by which a floating-point bound may be below an attainable
value, when it is rounded down: the tolerance of solver answers."""


@dataclass(frozen=True, slots=True)
class UpperBound:
    """What is proven of an instance.

    Parameters
    ----------
    value : Fraction or None
        No schedule has a larger objective value; None if there is no schedule, for the mandatory
        tasks do not fit.
    derivation : str
        How it was derived.
    accepted : tuple of int or None
        Tasks that the relaxation accepts, if it was solved to optimality.
    complete : bool
        Whether the relaxation was solved to optimality.
    version : str
        Of HiGHS.
    certificate : BoundCertificate or None
        The proof, if it is one in fractions. Its costs are objective values, negated, without
        `value_of_finished`.
    proof_kind : {"exact", "solver"}
        Whether it is proven in fractions, or the solver's claim.
    """

    value: Fraction | None
    derivation: str
    accepted: tuple[int, ...] | None
    complete: bool
    version: str | None
    certificate: BoundCertificate | None = None
    proof_kind: Proof = "exact"


def upper_bound(
    scaled: ScaledInstance,
    limits: Limits,
    *,
    installments: int | None = None,
    known_value: Fraction | None = None,
    relaxation_only: bool = False,
    accept_all: bool = False,
    seed: int = 0,
) -> UpperBound:
    """Bound the objective value of schedules.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
        `work` counts branch-and-bound nodes.
    installments : int, optional
        Chunks that a task may have on a node; by default any number.
    known_value : Fraction, optional
        Objective value of a schedule: a bound that is as good ends the search.
    relaxation_only : bool
        Do not branch.
    accept_all : bool
        Accept all tasks: the question is whether there is a schedule at all.
    seed : int

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 1, 2), Task("b", 0, 1, 2)))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> upper_bound(scaled, Limits()).value, upper_bound(scaled, Limits(), installments=1).value
    (Fraction(2, 1), Fraction(1, 1))
    """
    if not scaled.tasks:
        derivation = "trivial bound (no task remains to be planned)"
        return UpperBound(scaled.value_of_finished, derivation, (), True, None)
    seconds = inf if limits.time_s is None else limits.time_s
    stop = time.monotonic() + seconds
    model = FluidRelaxation(scaled, accept_all)
    program = model.maximise_weight()
    cuts = None if installments is None else WindowCuts(model, installments)
    separate = None if cuts is None else cuts.separate
    step = scaled.value_granularity
    search = BranchAndBound(program, model.accepted, step, separate, seed, stop)
    max_nodes = 1 if relaxation_only else min(limits.work or MAX_EXACT_NODES, MAX_EXACT_NODES)
    # Half of the time is for the solver's own branch and bound, if this one does not end.
    search.stop = stop if relaxation_only or stop == inf else stop - seconds / 2
    finished = scaled.value_of_finished
    known_cost = None if known_value is None else finished - known_value
    result = search.minimise(known_cost, max_nodes)
    version = search.solver.version
    derivation = describe_relaxation(
        result.subproblems, "" if cuts is None else " with window cuts"
    )
    if not result.subproblems:
        derivation = "trivial bound (all tasks accepted)"
    remarks = _certificate_remarks(model, installments)
    certificate = search.certificate(result.bound, model.column_names(), remarks)
    if result.bound is None:
        return UpperBound(None, derivation, None, True, version, certificate)
    value = -result.bound
    if result.complete or relaxation_only:
        solved = result.complete and result.point
        accepted = _accepted_tasks(model, result.point) if solved else None
        return UpperBound(
            value + finished, derivation, accepted, result.complete, version, certificate
        )
    search.solver.stop = stop
    float_value, accepted = _float_bound(search, model, cuts, limits)
    is_complete = accepted is not None
    if float_value is not None and float_value < value:
        derivation = "HiGHS dual bound (floating point, not certified)"
        return UpperBound(
            float_value + finished,
            derivation,
            accepted,
            is_complete,
            version,
            proof_kind="solver",
        )
    return UpperBound(value + finished, derivation, accepted, is_complete, version, certificate)


def describe_relaxation(nodes: int, cuts: str = "") -> str:
    """Say how a bound was derived from a fluid relaxation, in so many branch-and-bound nodes."""
    plural = "s" * (nodes != 1)
    proof = f"certified in exact arithmetic, {nodes} branch-and-bound node{plural}"
    return f"fluid relaxation{cuts}, {proof}"


def _float_bound(
    search: BranchAndBound, model: FluidRelaxation, cuts: WindowCuts | None, limits: Limits
) -> tuple[Fraction | None, tuple[int, ...] | None]:
    """Return the bound of the solver's own branch and bound, and the tasks that it accepts."""
    step, best = model.scaled.value_granularity, None
    search.release()
    for _ in range(MAX_CUT_ROUNDS):
        bound, point = search.solver.solve_integral(search.binaries, limits)
        if bound is not None:
            value = step * floor(-exact(bound) / step + ROUNDING_SLACK)
            best = value if best is None else min(best, value)
        if not point:
            break
        rows = [] if cuts is None else list(cuts.separate(point))
        if not rows:
            return best, _accepted_tasks(model, point)
        for row in rows:
            search.solver.add(row)
    return best, None


def _certificate_remarks(model: FluidRelaxation, installments: int | None) -> list[str]:
    """Describe the program to a reader of its certificate."""
    scaled = model.scaled
    return [
        f"instance: {(scaled.instance.name or 'unnamed')!r}",
        f"value of finished tasks: {scaled.value_of_finished}",
        f"chunks: {'any' if installments is None else installments}",
        f"time: 0 is {scaled.origin}, 1 is {scaled.time_unit}",
        f"load: 1 is {scaled.load_unit}",
        "columns: z_i accepts task i, c_i_g_k and w_i_g_k are what node group g receives and "
        "computes in interval k",
        "objective value: at most the value of finished tasks less the minimum",
    ]


def _accepted_tasks(model: FluidRelaxation, point: object) -> tuple[int, ...]:
    values: list[float] = list(point)  # type: ignore[call-overload]
    return tuple(i for i, column in enumerate(model.accepted) if values[column] > 0.5)
