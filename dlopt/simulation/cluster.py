"""One algorithm on one stream of divisible loads; the papers call their simulator DLSim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.generation.stream import Workload, costs_of
from dlopt.heuristics.admission import serial, timeline
from dlopt.heuristics.admission.algorithm import Algorithm
from dlopt.heuristics.admission.nodes import Placement
from dlopt.heuristics.admission.orders import Planned, Waiting
from dlopt.heuristics.admission.queue import Queue
from dlopt.heuristics.admission.serial import Log, Served
from dlopt.problems.admission import Decision, Instance, Solution, violations


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a stream under an algorithm.

    Parameters
    ----------
    method, workload : str
        Their names.
    nodes : int
    tasks, accepted, rejected : int
    reject_ratio : float, optional
        Rejected tasks by all tasks; None if there was no task.
    misses : int
        Accepted tasks that ended after their deadlines, by more than 1e-9 of the relative one.
        Only algorithms without admission control let that happen.
    miss_ratio : float, optional
        Misses by all tasks.
    utilization : float, optional
        Time that nodes spend on the accepted tasks, ``load (tau + chi) + n (theta_cm +
        theta_cp)`` each, by the time of all nodes in the span in which tasks arrive. Of a task
        that ends after that span, work counts in proportion to its time within. None if the span
        is empty. (The objective ``utilization`` of an instance takes the time up to the last
        deadline instead.)
    drain : float
        From the end of that span to the end of the last task, 0 if it ended before.
    mean_queue : float, optional
    longest_queue : int
        How many accepted tasks waited when a task arrived, mean and maximum: those of which
        nothing had been sent.
    system_load, realised_load : float, optional
        Of the workload: what was asked for, and what was drawn.
    violations : int, optional
        How many a check of the whole plan found; None if it was not asked for.
    decisions_per_second : float, optional
        Speed of this run; it has no part in equality.
    """

    method: str
    workload: str
    nodes: int
    tasks: int
    accepted: int
    rejected: int
    reject_ratio: float | None
    misses: int
    miss_ratio: float | None
    utilization: float | None
    drain: float
    mean_queue: float | None
    longest_queue: int
    system_load: float | None
    realised_load: float | None
    violations: int | None = None
    decisions_per_second: float | None = field(default=None, compare=False)


def simulate(
    workload: Workload | Instance, algorithm: str | Algorithm = "edf-iit-2", *, check: bool = False
) -> Outcome:
    """Run an admission algorithm over a stream of tasks that an idle cluster receives.

    Parameters
    ----------
    workload : Workload or Instance
        See `dlopt.generation.workloads`; an instance is taken in floats.
    algorithm : str or Algorithm
        See :meth:`dlopt.heuristics.admission.algorithm.Algorithm.parse`.
    check : bool, default False
        Whether the chunks of all accepted tasks are made and held against the rules, to a
        relative 1e-9. That takes far longer than the simulation: chunks are as many as tasks
        times nodes.

    Returns
    -------
    Outcome

    Raises
    ------
    NotApplicableError
        If the algorithm does not exist, the cluster is not idle at first, or its nodes differ.

    Notes
    -----
    The decisions are those of `dlopt.Admission`. Where every task takes all nodes for want of
    set-up costs, a number stands for them: see `dlopt.heuristics.admission.serial`.

    Examples
    --------
    >>> from dlopt.generation.workloads import mamat4
    >>> outcome = simulate(mamat4(system_load=0.5, horizon=300_000, seed=1), "edf-opr-an")
    >>> outcome.tasks, outcome.rejected, outcome.misses
    (44, 30, 0)
    """
    if not isinstance(workload, Workload):
        if not isinstance(workload, Instance):
            kind = type(workload).__name__
            raise NotApplicableError(f"a workload or an instance is needed, not a {kind}")
        workload = Workload.of(workload)
    if not isinstance(algorithm, Algorithm):
        algorithm = Algorithm.parse(algorithm)
    began = perf_counter()
    log, plan = _run(workload, algorithm)
    seconds = perf_counter() - began
    found = _violations(workload, algorithm, log, plan) if check else None
    return _outcome(workload, algorithm, log, plan, seconds, found)


def _run(workload: Workload, algorithm: Algorithm) -> tuple[Log, list[Planned] | None]:
    """Decide on all tasks; the plan is None if every task takes all nodes."""
    costs = tuple(map(float, costs_of(workload.cluster)))
    nodes, begin = workload.cluster.nodes, float(workload.begin)
    arrivals = list(map(float, workload.arrivals))
    loads = list(map(float, workload.loads))
    due = [at + deadline for at, deadline in zip(arrivals, workload.deadlines, strict=True)]
    times = serial.execution_times(algorithm, costs, nodes, loads)
    if times is not None:
        return serial.serve(algorithm, arrivals, times, due, begin), None
    queue = Queue(algorithm, costs, [begin] * nodes, begin)
    return _queued(queue, arrivals, loads, due)


def _queued(
    queue: Queue, arrivals: list[float], loads: list[float], due: list[float]
) -> tuple[Log, list[Planned]]:
    log = Log()
    fifo = queue.algorithm.order == "fifo"
    accepted, waiting = log.accepted, queue.waiting
    for number, (arrival, load, deadline) in enumerate(zip(arrivals, loads, due, strict=True)):
        queue.advance(arrival)
        waiting = queue.waiting
        if waiting:
            log.queued += len(waiting)
            log.longest = max(log.longest, len(waiting))
        key = (number if fifo else deadline, number)
        refused = queue.offer(Waiting(key, "", arrival, load, deadline))
        accepted.append(refused is None)
    plan = [*queue.sent, *queue.waiting]
    log.served = [Served(task.key[1], place.start, place.end) for task, place in plan]
    return log, plan


def _outcome(
    workload: Workload,
    algorithm: Algorithm,
    log: Log,
    plan: list[Planned] | None,
    seconds: float,
    found: int | None,
) -> Outcome:
    nodes, tasks, accepted = workload.cluster.nodes, len(workload), sum(log.accepted)
    misses = 0
    for number, _, end in log.served:
        deadline = workload.deadlines[number]
        misses += end - (workload.arrivals[number] + deadline) > FLOATING * deadline
    last = max((served.end for served in log.served), default=workload.horizon)
    return Outcome(
        method=algorithm.name,
        workload=workload.name,
        nodes=nodes,
        tasks=tasks,
        accepted=accepted,
        rejected=tasks - accepted,
        reject_ratio=_share(tasks - accepted, tasks),
        misses=misses,
        miss_ratio=_share(misses, tasks),
        utilization=_share(_busy(workload, log, plan), nodes * workload.span),
        drain=max(last - workload.horizon, 0.0),
        mean_queue=_share(log.queued, tasks),
        longest_queue=log.longest,
        system_load=workload.system_load,
        realised_load=workload.realised_load,
        violations=found,
        decisions_per_second=_share(tasks, seconds),
    )


def _busy(workload: Workload, log: Log, plan: list[Planned] | None) -> float:
    """Return the time that nodes work within the span in which tasks arrive."""
    tau, chi, theta_cm, theta_cp = map(float, costs_of(workload.cluster))
    nodes = workload.cluster.nodes
    used = [nodes] * len(log.served) if plan is None else [place.nodes for _, place in plan]
    busy = 0.0
    for (number, start, end), count in zip(log.served, used, strict=True):
        work = workload.loads[number] * (tau + chi) + count * (theta_cm + theta_cp)
        within = max(min(end, workload.horizon) - start, 0.0)
        busy += work if end <= workload.horizon else work * within / (end - start)
    return busy


def _violations(
    workload: Workload, algorithm: Algorithm, log: Log, plan: list[Planned] | None
) -> int:
    """Count what the plan breaks of the rules, once it is written out in chunks."""
    if not len(workload):
        return 0
    instance = workload.instance()
    costs = tuple(map(float, costs_of(workload.cluster)))
    nodes, begin = workload.cluster.nodes, float(workload.begin)
    decisions = tuple(
        Decision(task.id, yes, task.arrival, promised=algorithm.control)
        for task, yes in zip(instance.tasks, log.accepted, strict=True)
    )
    placer = Queue(algorithm, costs, [begin] * nodes, begin).placer
    named = _named(instance, _all_nodes(instance, log.served) if plan is None else plan)
    chunks = timeline.chunks(placer, costs, [begin] * nodes, named)
    return len(violations(instance, Solution(decisions, chunks), FLOATING))


def _named(instance: Instance, plan: Iterable[Planned]) -> Iterable[Planned]:
    for task, place in plan:
        yield Planned(task._replace(id=instance.tasks[task.key[1]].id), place)


def _all_nodes(instance: Instance, served: Iterable[Served]) -> Iterable[Planned]:
    """Write out a plan in which every task takes all nodes."""
    nodes = instance.cluster.nodes
    for number, start, end in served:
        task: Any = instance.tasks[number]
        waiting = Waiting((number, number), "", task.arrival, task.load, task.absolute_deadline)
        yield Planned(waiting, Placement(nodes, start, start, start, end))


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
