"""How much of a single task can be done by its deadline, around accepted reservations.

`stage_capacity` combines models (i) and (iii) of the package, stage by stage; `fluid_capacity` and
`capacity_by_deadline` are model (ii).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from dlopt.arithmetic import Number, exact, simplest
from dlopt.backends.pulp import DEFAULT, UNCERTIFIED
from dlopt.backends.time_budget import Budget
from dlopt.models.multistage.single_stage_milp import StageMilp, StageSolution
from dlopt.models.multistage.single_task_fluid import SingleTaskFluidLp
from dlopt.models.multistage.stages import SingleTaskInstance
from dlopt.problems.admission.data import Chunk
from dlopt.problems.multistage.data import Grant, Instance
from dlopt.result import NO_LIMITS, Limits, PlanClass

MIN_STAGE_TIME_S = 0.01
"""Seconds that a stage gets at least if the time is nearly up. Chosen by hand: enough for a solver
to start, so that each stage has a bound."""


@dataclass(frozen=True, slots=True)
class TaskCapacity:
    """How much of a task can be done.

    Parameters
    ----------
    load : Number or None
        Total load of the chunks; None where there is only a bound.
    bound : Number
        No schedule of the class does more.
    plan_class : PlanClass
    derivation : str
        Where the bound comes from.
    chunks : tuple of Chunk
    """

    load: Number | None
    bound: Number
    plan_class: PlanClass
    derivation: str
    chunks: tuple[Chunk, ...] = ()


def fluid_capacity(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
) -> TaskCapacity:
    """Bound how much of a task any schedule can do, with any number of chunks.

    Parameters
    ----------
    instance : Instance
        Its other tasks are left out; committed chunks are not.
    task : str, optional
        By default the first one. Its load does not matter.
    grants : iterable of Grant, optional
        The reservations that are accepted, and their nodes. By default all of them, each naming
        its nodes.
    limits : Limits, optional
        `time_s` of the solver only.
    seed : int

    Returns
    -------
    TaskCapacity
        In fractions for exact instances. A supremum: many small chunks come close.

    Raises
    ------
    NotApplicableError
        If there is no such task, or a reservation that is accepted names no nodes.

    Notes
    -----
    Guarantee: a rational proof. It is the optimum of the linear program if that has up to 1,500
    columns, else a bound that is off by the rounding of the solver. Set-up costs are left out.
    Complexity: a linear program with a column for each interval between instants and each group of
    nodes that are free together. Source: `dlopt.models.multistage.single_task_fluid`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> late = (Reservation("r", 0, 4, 5, io_end=5, nodes=(0,)),)
    >>> fluid_capacity(Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 2),), late)).bound
    1
    """
    single = SingleTaskInstance.from_instance(instance, task, grants)
    if single.task.due <= single.task.release:
        return TaskCapacity(None, 0, "any", "nothing can be sent before the deadline")
    stop = Budget(limits).stop
    maximum = SingleTaskFluidLp(single).maximum(single.task.due, seed=seed, stop=stop)
    what = "linear program solved to optimality" if maximum.exact else "safe dual bound"
    bound = _unscale_load(single, maximum.load)
    return TaskCapacity(None, bound, "any", f"fluid relaxation, {what}, in exact arithmetic")


def stage_capacity(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    installments: int = 1,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    solver: str = DEFAULT,
) -> TaskCapacity:
    """Find how much of a task can be done with few chunks in each stage.

    Parameters
    ----------
    instance, task, grants, seed
        As in `fluid_capacity`.
    installments : int
        Chunks that a node may get in a stage: with more of them it comes close to
        `fluid_capacity`.
    limits : Limits, optional
        `time_s` is shared by the stages, `work` counts nodes of branch and bound of each.
    solver : str
        Any solver that PuLP knows by name.

    Returns
    -------
    TaskCapacity
        Chunks in fractions for exact instances, and their load; a bound over all schedules whose
        chunks end in their stage, equal to the load unless a limit was reached.

    Raises
    ------
    NotApplicableError
        As `fluid_capacity`, or if PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the sequence of transmissions is not restricted, and the loads of the sequence that
    is found are solved again in fractions; the bound is the solver's, in floating point. Stages are
    independent, for a chunk is sent and computed within one of them. Plan class ``per-stage``
    (``k`` with installments). Complexity: exponential in the nodes of a stage whose windows are
    nested; 8 nodes and 6 stages take less than a second, with 2 installments some seconds per
    stage. Source: `dlopt.models.multistage.single_stage_milp`, after Mamat 2011, section 5.2.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 9, io_end=4, nodes=(1,)),)
    >>> instance = Instance(Cluster(2, tau=1, chi=2), (Task("a", 0, 2, 4),), wanted)
    >>> stage_capacity(instance).load, fluid_capacity(instance).bound
    (Fraction(16, 9), 2)
    """
    single = SingleTaskInstance.from_instance(instance, task, grants)
    stages = [stage for stage in single.stages() if stage.windows]
    stop = Budget(limits).stop
    solutions: list[StageSolution] = []
    for number, stage in enumerate(stages):
        best: StageSolution | None = None
        for count in sorted({1, installments}):
            seconds = (stop - time.monotonic()) / (len(stages) - number)
            left = limits if stop == inf else replace(limits, time_s=max(seconds, MIN_STAGE_TIME_S))
            model = StageMilp(single.scaled.tasks_only, stage, count).maximise_load()
            solution = model.solve(left, seed, solver)
            if best is not None and best.load > solution.load:
                solution = solution._replace(chunks=best.chunks, load=best.load)
            best = solution._replace(bound=max(solution.bound, solution.load))
        assert best is not None  # there is at least one count
        solutions.append(best)
    load = sum((solution.load for solution in solutions), Fraction(0))
    bound = sum((solution.bound for solution in solutions), Fraction(0))
    solvers = "+".join(sorted({solution.solver for solution in solutions}))
    return TaskCapacity(
        _unscale_load(single, load),
        _unscale_load(single, bound),
        "per-stage" if installments == 1 else "k",
        f"{solvers} {UNCERTIFIED}" if solvers else "there is no stage",
        tuple(_unscale_chunks(single, solutions)),
    )


def capacity_by_deadline(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    seed: int = 0,
) -> tuple[tuple[Number, Number], ...]:
    """Return how much of a task any schedule can do by each instant up to its deadline.

    Parameters
    ----------
    instance, task, grants, seed
        As in `fluid_capacity`.

    Returns
    -------
    tuple of (Number, Number)
        Instant and load, at the breakpoints of a nondecreasing piecewise linear function: from
        when the task can be sent, or from its deadline if that is earlier.

    Raises
    ------
    NotApplicableError
        As `fluid_capacity`.

    Notes
    -----
    Guarantee: exact where `fluid_capacity` is. Between two instants at which something begins or
    ends the function is concave, for the deadline appears only in the right sides of a linear
    program; its breakpoints are where the lines of the dual solutions meet (Eisner and Severance,
    J. ACM 23, 1976). Larger programs are solved at those instants only, and the lines between them
    are not proven. Complexity: about two linear programs per breakpoint.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 2, io_end=2, nodes=(1,)),)
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 4),), wanted)
    >>> [(str(t), str(load)) for t, load in capacity_by_deadline(instance)]
    [('0', '0'), ('1', '1'), ('2', '1'), ('4', '3')]
    """
    single = SingleTaskInstance.from_instance(instance, task, grants)
    release, due = single.task.release, single.task.due
    if due <= release:
        return ((_unscale_instant(single, due), 0),)
    breakpoints = SingleTaskFluidLp(single).curve(seed)
    return tuple((_unscale_instant(single, t), _unscale_load(single, x)) for t, x in breakpoints)


def _unscale_chunks(single: SingleTaskInstance, solutions: list[StageSolution]) -> Iterator[Chunk]:
    """Yield the chunks in the instance's units."""
    instance, tasks_only = single.scaled.instance, single.scaled.tasks_only
    cluster, name = instance.cluster, instance.tasks[0].id
    for node, scaled_load, scaled_start in (
        chunk for solution in solutions for chunk in solution.chunks
    ):
        load, start = scaled_load * tasks_only.load_unit, tasks_only.unscale_instant(scaled_start)
        transmission_end = start + exact(cluster.theta_cm) + load * exact(cluster.tau_of(node))
        computation_end = transmission_end + exact(cluster.theta_cp)
        computation_end += load * exact(cluster.chi_of(node))
        numbers: list[Number] = [load, start, transmission_end, transmission_end, computation_end]
        if not instance.exact:
            numbers = [float(number) for number in numbers]
        yield Chunk(name, node, *numbers)


def _unscale_load(single: SingleTaskInstance, load: Fraction) -> Number:
    unscaled = load * single.scaled.tasks_only.load_unit
    return simplest(unscaled) if single.scaled.instance.exact else float(unscaled)


def _unscale_instant(single: SingleTaskInstance, instant: Fraction) -> Number:
    unscaled = single.scaled.tasks_only.unscale_instant(instant)
    return simplest(unscaled) if single.scaled.instance.exact else float(unscaled)
