"""Results of the simulation of a stream of tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from dlopt.arithmetic import FLOATING
from dlopt.generation.workload import Workload
from dlopt.heuristics.admission.all_nodes_queue import StreamLog
from dlopt.heuristics.admission.records import PlannedTask


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """Results of an algorithm on a stream.

    Parameters
    ----------
    method, workload : str
        Their names.
    nodes : int
    tasks, accepted, rejected : int
    reject_ratio : float, optional
        Rejected tasks by all tasks; None if there was no task.
    misses : int
        Accepted tasks that ended after their deadlines, by more than 1e-9 of the relative one, or
        not at all. Only algorithms without admission control, and unsound ones, have misses.
    miss_ratio : float, optional
        Misses by all tasks.
    utilization : float, optional
        Time that nodes spend on the accepted tasks, ``load (tau + chi) + n (theta_cm + theta_cp)``
        each, by the time of all nodes in the span in which tasks arrive. For a task that ends after
        that span, work counts in proportion to its time within. None if the span is empty. What a
        busy cluster has started before does not count. (The objective ``utilization`` of an
        instance uses the time up to the last deadline instead.)
    drain : float
        From the end of that span to the end of the last task, 0 if it ended before.
    mean_queue : float, optional
    longest_queue : int
        Queue length, the number of accepted tasks of which nothing had been sent when a task
        arrived: mean and maximum.
    system_load, realised_load : float, optional
        Of the workload: the nominal load, and that of the random sample.
    promised : int
        Number of tasks accepted before the stream began; they are served too, and in no other
        count.
    violations : int, optional
        Number of violations that a check of the whole schedule found; None if it was not requested.
    decisions_per_second : float, optional
        Speed of this run; not part of equality.
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
    promised: int = 0
    violations: int | None = None
    decisions_per_second: float | None = field(default=None, compare=False)


def outcome_of(
    workload: Workload,
    method: str,
    log: StreamLog,
    plan: Sequence[PlannedTask] | None,
    seconds: float,
) -> StreamOutcome:
    """Return the results of a run.

    Parameters
    ----------
    workload : Workload
    method : str
    log : StreamLog
        Decisions on the tasks that were not promised before; served are all.
    plan : sequence of PlannedTask, optional
        In the order of ``log.served``; None if every task uses all nodes, or as many as it needs
        where there are no set-up costs.
    seconds : float
        Run time of the decisions.
    """
    tasks, accepted = len(log.accepted), sum(log.accepted)
    misses = 0
    for number, _, end in log.served:
        deadline = workload.deadlines[number]
        late = end - (workload.arrivals[number] + deadline) > FLOATING * deadline
        misses += late or log.unfinished.get(number, 0.0) > FLOATING * workload.loads[number]
    return stream_outcome(
        method,
        workload,
        tasks=tasks,
        accepted=accepted,
        misses=misses,
        busy=_busy(workload, log, plan),
        last=max((served.end for served in log.served), default=workload.horizon),
        queued=log.queued,
        longest_queue=log.longest,
        seconds=seconds,
    )


def stream_outcome(
    method: str,
    workload: Workload,
    *,
    tasks: int,
    accepted: int,
    misses: int,
    busy: float,
    last: float,
    queued: int,
    longest_queue: int,
    seconds: float,
) -> StreamOutcome:
    """Return the results of a run, with the ratios of what was counted.

    Parameters
    ----------
    method : str
    workload : Workload
    tasks, accepted, misses, longest_queue : int
        See `StreamOutcome`.
    busy : float
        Time that nodes spend within the span in which tasks arrive.
    last : float
        When the last task ends.
    queued : int
        Sum of the queue lengths at the arrivals.
    seconds : float
        Run time of the decisions.
    """
    nodes, rejected = workload.cluster.nodes, tasks - accepted
    return StreamOutcome(
        method=method,
        workload=workload.name,
        nodes=nodes,
        tasks=tasks,
        accepted=accepted,
        rejected=rejected,
        reject_ratio=ratio(rejected, tasks),
        misses=misses,
        miss_ratio=ratio(misses, tasks),
        utilization=ratio(busy, nodes * workload.span),
        drain=max(last - workload.horizon, 0.0),
        mean_queue=ratio(queued, tasks),
        longest_queue=longest_queue,
        system_load=workload.system_load,
        realised_load=workload.realised_load,
        promised=workload.promised,
        decisions_per_second=ratio(tasks, seconds),
    )


def _busy(workload: Workload, log: StreamLog, plan: Sequence[PlannedTask] | None) -> float:
    """Return the time that nodes work within the span in which tasks arrive."""
    tau, chi, theta_cm, theta_cp = map(float, workload.cluster.costs_of(0))
    nodes = workload.cluster.nodes
    used = [nodes] * len(log.served) if plan is None else [place.nodes for _, place in plan]
    busy = 0.0
    for (number, start, end), count in zip(log.served, used, strict=True):
        load = workload.loads[number] - log.unfinished.get(number, 0.0)
        work = load * (tau + chi) + count * (theta_cm + theta_cp)
        within = max(min(end, workload.horizon) - start, 0.0)
        busy += work if end <= workload.horizon else work * within / (end - start)
    return busy


def ratio(part: float, whole: float) -> float | None:
    """Return a part of a whole as a ratio; None if the whole is 0."""
    return part / whole if whole else None


def cumulative_steps(change: Mapping[float, int]) -> list[tuple[float, int]]:
    """Return the sum of all changes so far, as steps, at each instant with a change.

    Examples
    --------
    >>> cumulative_steps({2.0: 1, 5.0: -1, 3.0: 0, 4.0: 2})
    [(2.0, 1), (4.0, 3), (5.0, 2)]
    """
    instants = sorted(instant for instant, step in change.items() if step)
    return list(zip(instants, accumulate(change[instant] for instant in instants), strict=True))
