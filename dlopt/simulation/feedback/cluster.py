"""The simulated cluster: admission test, dispatcher, channel, nodes, failures, monitor."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from operator import attrgetter

from dlopt.arithmetic import FLOATING
from dlopt.problems.admission import Failure
from dlopt.simulation.engine import EventLoop, Rank
from dlopt.simulation.feedback.admission_by_utilization import admits, next_start
from dlopt.simulation.feedback.entities import AbandonedLoad, Chunk, TaskState
from dlopt.simulation.feedback.monitor import Monitor
from dlopt.simulation.feedback.policy import Policy

NEGLIGIBLE_SHARE = 1e-12
"""A remaining load below this share of its task's load is sent with the chunk before: it is of the
size of rounding errors."""


class SimulatedCluster:
    """A cluster that processes a stream of tasks until nothing is left to do.

    Parameters
    ----------
    nodes : int
    beta : float
        ``chi / (tau + chi)`` of the estimates.
    jobs : iterable of TaskState
        By arrival.
    failures : iterable of Failure
    policy : Policy
    monitor : Monitor
        Counts what becomes known in each period.
    next_bound : callable
        Called with the number of the period that begins and the miss ratio of the one that ends;
        returns the bound of the period that begins.

    Attributes
    ----------
    accepted : list of bool
        By task.
    chunks : list of Chunk
        In the order in which they were sent.
    abandoned : list of AbandonedLoad
    """

    def __init__(
        self,
        nodes: int,
        beta: float,
        jobs: Iterable[TaskState],
        failures: Iterable[Failure],
        policy: Policy,
        monitor: Monitor,
        next_bound: Callable[[int, float | None], float],
    ) -> None:
        self._nodes, self._beta, self._policy = nodes, beta, policy
        self._monitor, self._next_bound = monitor, next_bound
        self._engine = EventLoop(0.0)
        self._waiting: list[TaskState] = []
        self._free = list(range(nodes))
        self._up = [True] * nodes
        self._sending: Chunk | None = None
        self._running: dict[int, Chunk] = {}  # by node, in the order in which they were sent
        self._coming: Iterator[TaskState] = iter(jobs)
        self.accepted: list[bool] = []
        self.chunks: list[Chunk] = []
        self.abandoned: list[AbandonedLoad] = []
        for failure in failures:
            self._engine.at(float(failure.begin), Rank.FAILURE, self._fail, failure.node)
            if failure.until is not None:
                self._engine.at(float(failure.until), Rank.RECOVERY, self._recover, failure.node)
        for number in range(1, len(monitor) + 1):
            instant = number * monitor.length
            self._engine.at(instant, Rank.SAMPLE, self._sample, number)
        self._await_next()

    def run(self) -> None:
        """Run until every accepted task is done, or no node is left to do it."""
        self._engine.run(self._dispatch)
        for job in self._waiting:
            self._abandon(job, job.rest)
        self._waiting.clear()

    # --- arrivals: the admission controller ----------------------------------------------------

    def _await_next(self) -> None:
        job = next(self._coming, None)
        if job is not None:
            self._engine.at(job.arrival, Rank.ARRIVAL, self._arrive, job)

    def _arrive(self, job: TaskState) -> None:
        self._await_next()
        now = self._engine.now
        nodes = max(sum(self._up), 1) if self._policy.aware else self._nodes
        running = list(self._running.values())
        start = next_start(now, running, nodes, self._beta, self._policy)
        bound = self._monitor.bound
        accepted = admits(job, self._waiting, start, bound, nodes, self._policy)
        self.accepted.append(accepted)
        self._monitor.decided(now, accepted)
        if accepted:
            insort(self._waiting, job, key=attrgetter("rank"))
            # What rounding makes late is not: chunks may be cut to end just at the deadline.
            latest = job.due + FLOATING / 2 * job.deadline
            self._engine.at(latest, Rank.DEADLINE, self._expire, job)

    # --- the dispatcher ------------------------------------------------------------------------

    def _dispatch(self) -> None:
        """Send a chunk of the first waiting task, if channel and a node are free."""
        if self._sending is not None or not self._free or not self._waiting:
            return
        job, now = self._waiting[0], self._engine.now
        load = self._size(job, now)
        if job.rest - load <= NEGLIGIBLE_SHARE * job.load:
            load = job.rest
            del self._waiting[0]
        job.rest -= load
        job.running += 1
        if job.begun is None:
            job.begun = now
        chunk = Chunk(job, heappop(self._free), now, load)
        self.chunks.append(chunk)
        self._running[chunk.node] = self._sending = chunk
        self._engine.at(chunk.received, Rank.END, self._received, chunk)
        self._engine.at(chunk.end, Rank.END, self._done, chunk)

    def _size(self, job: TaskState, now: float) -> float:
        """Return the size of the next chunk: in time if costs are `margin` times those known."""
        policy, left = self._policy, job.due - now
        if left > 0:
            size = left / (self._monitor.margin * (job.known[0] + job.known[1]))
        else:
            size = job.rest / self._nodes
        return min(max(size, policy.least * job.load), job.rest)

    def _received(self, chunk: Chunk) -> None:
        if self._sending is chunk:
            self._sending = None

    def _done(self, chunk: Chunk) -> None:
        if chunk.lost is not None:
            return
        self._release(chunk)
        heappush(self._free, chunk.node)
        job = chunk.job
        if job.rest == 0 and not job.running and not job.incomplete and not job.settled:
            job.settled = True
            self._monitor.settled(self._engine.now, missed=False)

    def _release(self, chunk: Chunk) -> None:
        del self._running[chunk.node]
        chunk.job.running -= 1
        self._monitor.busy(chunk.start, self._engine.now)

    # --- deadlines and failures ----------------------------------------------------------------

    def _expire(self, job: TaskState) -> None:
        if job.settled:
            return
        job.settled = True
        self._monitor.settled(self._engine.now, missed=True)
        if self._policy.late == "drop" and job.rest > 0:
            del self._waiting[bisect_left(self._waiting, job.rank, key=attrgetter("rank"))]
            self._abandon(job, job.rest)

    def _abandon(self, job: TaskState, load: float) -> None:
        job.rest, job.incomplete = 0.0, True
        self.abandoned.append(AbandonedLoad(job, load, self._engine.now))

    def _fail(self, node: int) -> None:
        self._up[node] = False
        chunk, now = self._running.get(node), self._engine.now
        if chunk is None:
            self._free.remove(node)
            heapify(self._free)
            return
        chunk.lost = now
        self._received(chunk)
        self._release(chunk)
        job = chunk.job
        gone = self._policy.lost == "gone"
        if gone or (self._policy.late == "drop" and job.settled):
            job.incomplete = True
            self.abandoned.append(AbandonedLoad(job, chunk.load, now))
            return
        if job.rest == 0:
            insort(self._waiting, job, key=attrgetter("rank"))
        job.rest += chunk.load

    def _recover(self, node: int) -> None:
        self._up[node] = True
        heappush(self._free, node)

    # --- the control loop ----------------------------------------------------------------------

    def _sample(self, number: int) -> None:
        """End a period: measure its miss ratio, and set the bound of the next one."""
        measured = self._monitor.measured(number - 1)
        if number < len(self._monitor):
            self._monitor.begin(number, self._next_bound(number, measured))
