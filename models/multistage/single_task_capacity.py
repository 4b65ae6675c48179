"""How much of a single task can be done by its deadline, around reservations."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

from dlopt.arithmetic import Number, exact, simplest
from dlopt.backends.pulp import DEFAULT
from dlopt.models.multistage.single_task_fluid import FlowModel
from dlopt.models.multistage.stage_milp import Filled, StageModel
from dlopt.models.multistage.stages import Timetable
from dlopt.problems.admission.data import Chunk
from dlopt.problems.multistage.data import Grant, Instance
from dlopt.result import NO_LIMITS, Limits, PlanClass


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much of a task can be done.

    Parameters
    ----------
    load : Number or None
        What the chunks do; None where there is a bound alone.
    bound : Number
        No plan of the class does more.
    plan_class : PlanClass
    proof : str
        Where the bound comes from.
    chunks : tuple of Chunk
    """

    load: Number | None
    bound: Number
    plan_class: PlanClass
    proof: str
    chunks: tuple[Chunk, ...] = ()


def fluid_capacity(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
) -> Capacity:
    """Bound how much of a task any plan can do, with any number of chunks.

    Parameters
    ----------
    instance : Instance
        Its other tasks are left out; what is committed is not.
    task : str, optional
        By default the first one. How much it wants is not looked at.
    grants : iterable of Grant, optional
        The reservations that are accepted, and their nodes. By default all of them, each naming
        its nodes.
    limits : Limits, optional
        `time_s` of the solver alone.
    seed : int

    Returns
    -------
    Capacity
        In fractions for exact instances. A supremum: many small chunks come close.

    Raises
    ------
    NotApplicableError
        If there is no such task, or a reservation that is accepted names no nodes.

    Notes
    -----
    Guarantee: a rational proof. It is the optimum of the linear program if that has up to 1,500
    columns, else a bound that is off by the rounding of the solver. Set-up costs are left out.
    Complexity: a linear program with a column for each interval between instants and each kind of
    nodes that are free together. Source: `dlopt.models.multistage.single_task_fluid`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> late = (Reservation("r", 0, 4, 5, io_end=5, nodes=(0,)),)
    >>> fluid_capacity(Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 2),), late)).bound
    1
    """
    timetable = Timetable.of(instance, task, grants)
    if timetable.job.due <= timetable.job.release:
        return Capacity(None, 0, "any", "nothing can be sent before the deadline")
    stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
    found = FlowModel(timetable).most(timetable.job.due, seed=seed, stop=stop)
    words = "the optimum of the linear program" if found.exact else "by the solver's multipliers"
    bound = _load_back(timetable, found.load)
    return Capacity(None, bound, "any", f"proven in fractions, {words}")


def structured_capacity(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    installments: int = 1,
    limits: Limits = NO_LIMITS,
    seed: int = 0,
    solver: str = DEFAULT,
) -> Capacity:
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
    Capacity
        Chunks in fractions for exact instances, and how much they do; a bound over all plans
        whose chunks end in their stage, equal to it unless a limit was reached.

    Raises
    ------
    NotApplicableError
        As `fluid_capacity`, or if PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails.

    Notes
    -----
    Guarantee: the order of transmissions is free, the loads of the order that is found are
    solved again in fractions; the bound is the solver's, in floats. Stages are independent, for
    a chunk is sent and computed within one of them. Plan class ``per-stage`` (``k`` with
    installments). Complexity: exponential in the nodes of a stage whose windows lie inside
    each other; 8 nodes and 6 stages take less than a second, with 2 installments some seconds a
    stage. Source: `dlopt.models.multistage.stage_milp`, after Mamat 2011, section 5.2.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 2, 9, io_end=4, nodes=(1,)),)
    >>> instance = Instance(Cluster(2, tau=1, chi=2), (Task("a", 0, 2, 4),), wanted)
    >>> structured_capacity(instance).load, fluid_capacity(instance).bound
    (Fraction(16, 9), 2)
    """
    timetable = Timetable.of(instance, task, grants)
    stages = [stage for stage in timetable.stages() if stage.windows]
    stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
    filled: list[Filled] = []
    for number, stage in enumerate(stages):
        best: Filled | None = None
        for count in sorted({1, installments}):
            share = (stop - time.monotonic()) / (len(stages) - number)
            left = limits if stop == inf else _limited(limits, share)
            model = StageModel(timetable.case.stream, stage, count).maximise_load()
            found = model.fill(left, seed, solver)
            if best is not None and best.load > found.load:
                found = found._replace(chunks=best.chunks, load=best.load)
            best = found._replace(bound=max(found.bound, found.load))
        assert best is not None  # there is at least one count
        filled.append(best)
    load = sum((one.load for one in filled), Fraction(0))
    bound = sum((one.bound for one in filled), Fraction(0))
    names = "+".join(sorted({one.solver for one in filled})) or "nobody"
    return Capacity(
        _load_back(timetable, load),
        _load_back(timetable, bound),
        "per-stage" if installments == 1 else "k",
        f"the word of {names}, in floats",
        tuple(_chunks(timetable, filled)),
    )


def capacity_by_deadline(
    instance: Instance,
    task: str | None = None,
    grants: Iterable[Grant] | None = None,
    *,
    seed: int = 0,
) -> tuple[tuple[Number, Number], ...]:
    """Return how much any plan can do of a task by each instant up to its deadline.

    Parameters
    ----------
    instance, task, grants, seed
        As in `fluid_capacity`.

    Returns
    -------
    tuple of (Number, Number)
        Instant and load, at the corners of a piecewise linear function that does not fall: from
        when the task can be sent, or from its deadline if that is earlier.

    Raises
    ------
    NotApplicableError
        As `fluid_capacity`.

    Notes
    -----
    Guarantee: exact where `fluid_capacity` is. Between two instants at which something begins or
    ends the function is concave, for the deadline stands in the right sides of a linear program
    alone; its corners are where the lines of the multipliers meet (Eisner and Severance, J. ACM
    23, 1976). Larger programs are solved at those instants only, and the lines between them
    are not proven. Complexity: about two linear programs a corner.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> wanted = (Reservation("r", 0, 1, 2, io_end=2, nodes=(1,)),)
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, 4),), wanted)
    >>> [(str(t), str(load)) for t, load in capacity_by_deadline(instance)]
    [('0', '0'), ('1', '1'), ('2', '1'), ('4', '3')]
    """
    timetable = Timetable.of(instance, task, grants)
    release, due = timetable.job.release, timetable.job.due
    if due <= release:
        return ((_instant_back(timetable, due), 0),)
    corners = FlowModel(timetable).curve(seed)
    return tuple((_instant_back(timetable, t), _load_back(timetable, load)) for t, load in corners)


def _chunks(timetable: Timetable, filled: list[Filled]) -> Iterator[Chunk]:
    """Yield the chunks in the instance's units."""
    stream, cluster = timetable.case.stream, timetable.case.instance.cluster
    name = timetable.case.instance.tasks[0].id
    for node, share, at in (chunk for one in filled for chunk in one.chunks):
        load, start = share * stream.load_unit, stream.instant_back(at)
        sent = start + exact(cluster.theta_cm) + load * exact(cluster.tau_of(node))
        done = sent + exact(cluster.theta_cp) + load * exact(cluster.chi_of(node))
        numbers: list[Number] = [load, start, sent, sent, done]
        if not timetable.case.instance.exact:
            numbers = [float(number) for number in numbers]
        yield Chunk(name, node, *numbers)


def _limited(limits: Limits, seconds: float) -> Limits:
    return replace(limits, time_s=max(seconds, 0.01))


def _load_back(timetable: Timetable, load: Fraction) -> Number:
    whole = load * timetable.case.stream.load_unit
    return simplest(whole) if timetable.case.instance.exact else float(whole)


def _instant_back(timetable: Timetable, instant: Fraction) -> Number:
    back = timetable.case.stream.instant_back(instant)
    return simplest(back) if timetable.case.instance.exact else float(back)
