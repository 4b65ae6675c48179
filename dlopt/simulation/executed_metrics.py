"""Results of the simulation of a stream that is executed at its true costs, with failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from dlopt.generation.workload import Workload
from dlopt.simulation.metrics import StreamOutcome, ratio
from dlopt.simulation.stream_execution import ChunkRun, StreamExecution


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedOutcome(StreamOutcome):
    """Results of an algorithm on a stream that was executed at its true costs, with failures.

    `utilization` counts the time that nodes receive or compute, also what is lost or given up; it
    is divided by the time of all nodes, whether they are up or down.

    Parameters
    ----------
    broken_by_failures, broken_by_overruns : int
        Promises that the algorithm had to break because a node failed, or because a transmission
        or a computation took longer than estimated. Each is counted once, where it was broken
        first.
    lost_time : float
        Time that nodes spent on what they lost when they failed.
    dropped_load : float
        Load of accepted tasks that was given up.
    freed_time : float
        Time by which chunks left their nodes earlier than estimated.
    reclaimed_time : float
        How much of `freed_time` the nodes spent on other chunks.
    """

    broken_by_failures: int
    broken_by_overruns: int
    lost_time: float
    dropped_load: float
    freed_time: float
    reclaimed_time: float

    @property
    def broken(self) -> int:
        """The number of broken promises."""
        return self.broken_by_failures + self.broken_by_overruns


def executed_outcome_of(
    workload: Workload, method: str, done: StreamExecution | None, misses: int, seconds: float
) -> ExecutedOutcome:
    """Return the results of a run.

    Parameters
    ----------
    workload : Workload
    method : str
    done : StreamExecution, optional
        None if there was nothing to run.
    misses : int
        Accepted tasks that were not done by their deadlines.
    seconds : float
        Run time.
    """
    runs = [] if done is None else done.chunks
    queues = [] if done is None else done.queues
    tasks, nodes = len(queues), workload.cluster.nodes
    accepted = 0 if done is None else sum(one.accepted for one in done.decisions)
    causes = Counter(one.cause for one in done.broken) if done is not None else Counter[str]()
    begin, horizon = float(workload.begin), float(workload.horizon)
    busy = sum(max(min(run.left, horizon) - max(run.start, begin), 0.0) for run in runs)
    freed, reclaimed = _early_time(runs)
    return ExecutedOutcome(
        method=method,
        workload=workload.name,
        nodes=nodes,
        tasks=tasks,
        accepted=accepted,
        rejected=tasks - accepted,
        reject_ratio=ratio(tasks - accepted, tasks),
        misses=misses,
        miss_ratio=ratio(misses, tasks),
        utilization=ratio(busy, nodes * workload.span),
        drain=max(max((run.left for run in runs), default=horizon) - horizon, 0.0),
        mean_queue=ratio(sum(queues), tasks),
        longest_queue=max(queues, default=0),
        system_load=workload.system_load,
        realised_load=workload.realised_load,
        promised=workload.promised,
        decisions_per_second=ratio(tasks, seconds),
        broken_by_failures=causes["failure"],
        broken_by_overruns=causes["overrun"],
        lost_time=sum(run.left - run.start for run in runs if run.lost is not None),
        dropped_load=0.0 if done is None else sum(float(part.load) for part in done.dropped),
        freed_time=freed,
        reclaimed_time=reclaimed,
    )


def _early_time(runs: Iterable[ChunkRun]) -> tuple[float, float]:
    """Return by how much chunks ended before their estimates, and how much of that was used."""
    by_node: dict[int, list[ChunkRun]] = defaultdict(list)
    for run in runs:
        by_node[run.planned.node].append(run)
    freed = reclaimed = 0.0
    for of_node in by_node.values():
        for index, run in enumerate(of_node):
            estimated = float(run.planned.computation_end)
            if run.is_cut_short or run.left >= estimated:
                continue
            freed += estimated - run.left
            for later in of_node[index + 1 :]:
                if later.start >= estimated:
                    break
                reclaimed += min(later.left, estimated) - later.start
    return freed, reclaimed
