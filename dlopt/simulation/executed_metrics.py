"""Results of the simulation of a stream that is executed at its true costs, with failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from dlopt.generation.workload import Workload
from dlopt.simulation.metrics import StreamOutcome, ratio
from dlopt.simulation.mixed_execution import MixedExecution, ReservationRun
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedMixedOutcome(ExecutedOutcome):
    """Results of an algorithm on a stream of tasks and reservations that was executed.

    The counts of `ExecutedOutcome` are of the tasks. The times are also those of reserved nodes,
    which are used from the start of a reservation to its true end.

    Parameters
    ----------
    reservations, granted, refused : int
        Without those that were promised before.
    reservation_reject_ratio : float, optional
        Refused reservations by all of them; None if there was none.
    total_reject_ratio : float, optional
        Rejected tasks and reservations by all of them.
    reservations_broken_by_failures, reservations_broken_by_overruns : int
        As of the promises to tasks; here it may also be another reservation that ends late.
    moved : int
        How often a reservation got other nodes before it began.
    """

    reservations: int
    granted: int
    refused: int
    reservation_reject_ratio: float | None
    total_reject_ratio: float | None
    reservations_broken_by_failures: int
    reservations_broken_by_overruns: int
    moved: int


class NodeUse(NamedTuple):
    """A use of a node, by a chunk or a reservation.

    Parameters
    ----------
    node : int
    start, left : float
        When it began and ended.
    estimated : float
        When it was to end.
    is_lost : bool
        Whether its node failed with it.
    is_cut_short : bool
        Whether it was lost or broken off.
    """

    node: int
    start: float
    left: float
    estimated: float
    is_lost: bool
    is_cut_short: bool


def executed_outcome_of(
    workload: Workload,
    method: str,
    done: StreamExecution | None,
    misses: int,
    seconds: float,
    reservations: Sequence[ReservationRun] = (),
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
    reservations : sequence of ReservationRun
        What was executed besides the tasks.
    """
    chunks = [] if done is None else done.chunks
    uses = [*_uses_of_chunks(chunks), *_uses_of_reservations(reservations)]
    queues = [] if done is None else done.queues
    tasks, nodes = len(queues), workload.cluster.nodes
    accepted = 0 if done is None else sum(one.accepted for one in done.decisions)
    causes = Counter(one.cause for one in done.broken) if done is not None else Counter[str]()
    begin, horizon = float(workload.begin), float(workload.horizon)
    busy = sum(max(min(use.left, horizon) - max(use.start, begin), 0.0) for use in uses)
    freed, reclaimed = _early_time(uses)
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
        drain=max(max((use.left for use in uses), default=horizon) - horizon, 0.0),
        mean_queue=ratio(sum(queues), tasks),
        longest_queue=max(queues, default=0),
        system_load=workload.system_load,
        realised_load=workload.realised_load,
        promised=workload.promised,
        decisions_per_second=ratio(tasks, seconds),
        broken_by_failures=causes["failure"],
        broken_by_overruns=causes["overrun"],
        lost_time=sum(use.left - use.start for use in uses if use.is_lost),
        dropped_load=0.0 if done is None else sum(float(part.load) for part in done.dropped),
        freed_time=freed,
        reclaimed_time=reclaimed,
    )


def mixed_outcome_of(
    workload: Workload, method: str, done: MixedExecution, misses: int, seconds: float
) -> ExecutedMixedOutcome:
    """Return the results of a run with reservations; see `executed_outcome_of`."""
    of_tasks = executed_outcome_of(workload, method, done, misses, seconds, done.reservations)
    shared = {field.name: getattr(of_tasks, field.name) for field in fields(of_tasks)}
    decided = done.grants[done.promised_grants :]
    granted = sum(grant.accepted for grant in decided)
    asked = of_tasks.tasks + len(decided)
    causes = Counter(one.cause for one in done.broken_reservations)
    return ExecutedMixedOutcome(
        **shared | {"decisions_per_second": ratio(asked, seconds)},
        reservations=len(decided),
        granted=granted,
        refused=len(decided) - granted,
        reservation_reject_ratio=ratio(len(decided) - granted, len(decided)),
        total_reject_ratio=ratio(asked - of_tasks.accepted - granted, asked),
        reservations_broken_by_failures=causes["failure"],
        reservations_broken_by_overruns=causes["overrun"],
        moved=len(done.moves),
    )


def _uses_of_chunks(runs: Iterable[ChunkRun]) -> Iterator[NodeUse]:
    for run in runs:
        estimated, is_lost = float(run.planned.computation_end), run.lost is not None
        yield NodeUse(run.planned.node, run.start, run.left, estimated, is_lost, run.is_cut_short)


def _uses_of_reservations(runs: Iterable[ReservationRun]) -> Iterator[NodeUse]:
    for run in runs:
        is_lost = run.lost is not None
        for node in run.nodes:
            yield NodeUse(node, float(run.start), run.left, float(run.due), is_lost, is_lost)


def _early_time(uses: Sequence[NodeUse]) -> tuple[float, float]:
    """Return how much earlier than estimated nodes were left, and how much of that was used."""
    by_node: dict[int, list[NodeUse]] = defaultdict(list)
    for use in uses:
        by_node[use.node].append(use)
    freed = reclaimed = 0.0
    for of_node in by_node.values():
        of_node.sort(key=lambda use: use.start)
        for index, use in enumerate(of_node):
            if use.is_cut_short or use.left >= use.estimated:
                continue
            freed += use.estimated - use.left
            for later in of_node[index + 1 :]:
                if later.start >= use.estimated:
                    break
                reclaimed += min(later.left, use.estimated) - later.start
    return freed, reclaimed
