"""AC-FAST as printed, in the readings that its pseudo code allows, and its minimal repair.

Tasks are admitted as if each had all nodes, one after the other: a task starts when its
predecessor `p` completes, and the tasks after it are delayed by its execution time. What the
printed `getPredecessor` returns for a task that comes first in the queue is open:

``waiting``     nothing; then `adjust` is never called
``edf``         the last, in the order of deadlines, of the tasks that are running
``dispatched``  the task that left the queue last
``chunk``       the task of which a part was sent last, even if the rest of it waits

None is sound: each admits tasks that miss their deadlines; the counterexamples are among the
instances. With ``chunk``, an adjustment whenever a task comes first, and `p` discarded once the
cluster is idle, no miss was found in millions of random streams: that is ``fast-edf-iit-minimal``.
All of them assume that the cluster was idle before the first task.

Source: Mamat 2011, Algorithms 6-8. Repaired, as the text requires: epsilon in Algorithm 7 is the
execution time; Algorithm 8 runs over the N nodes, not over the head and all of them but one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.fast.dispatcher import (
    Dispatcher,
    QueueEntry,
    SortedTaskQueue,
    queue_key,
)
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    Estimates,
    LastSent,
    QueuedTask,
    Rejection,
    StoredTask,
)

Reading: TypeAlias = Literal["waiting", "edf", "dispatched", "chunk"]
Reset: TypeAlias = Literal["idle", "running", "never"]


class EstimatedTask(QueueEntry):
    """A waiting task, and the estimates of AC-FAST for it.

    Attributes
    ----------
    time : Number
        Execution time of all of it on all nodes.
    completion : Number
    slack, least_slack : Number
        By how much it may start later, and the least of that over it and all tasks after it.
    """

    __slots__ = ("completion", "least_slack", "slack", "time")

    def __init__(self, task: QueuedTask, remaining: Number, time: Number, start: Number) -> None:
        super().__init__(task, remaining)
        self.time, self.completion = time, start + time
        self.slack = self.least_slack = task.deadline - self.completion


class _RunningTask(NamedTuple):
    """A task of which a part is on a node until `end`, and whether nothing of it waits."""

    task: EstimatedTask
    end: Number
    gone: bool


class _SentHistory(NamedTuple):
    """The tasks that were sent: of the last part, the last that left the queue, and all others.

    The last are in the order in which parts of them were sent last.
    """

    chunk: EstimatedTask | None = None
    dispatched: EstimatedTask | None = None
    running: tuple[_RunningTask, ...] = ()


class LiteralTest(SortedTaskQueue):
    """AC-FAST.

    Parameters
    ----------
    reading : {"waiting", "edf", "dispatched", "chunk"}
        Which task is the predecessor of one that comes first.
    reset : {"idle", "running", "never"}
        When that task is discarded: once the whole cluster is idle, once no part of it is
        running (then it is the last of those that are), or never.
    always_adjust : bool
        Adjust whenever a task comes first, not only if no task waits.
    supply_bound : SupplyBound
        For execution times.

    Notes
    -----
    Complexity of a decision: O(n + g).
    """

    def __init__(
        self, reading: Reading, reset: Reset, always_adjust: bool, supply_bound: SupplyBound
    ) -> None:
        super().__init__()
        self.reading, self.reset, self.always_adjust = reading, reset, always_adjust
        self.supply_bound = supply_bound
        self.sent_history: Any = _SentHistory()

    def try_admit(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Admit a task that arrives now, or return who would miss."""
        found = self._examine(new, cluster)
        if isinstance(found, Rejection):
            return found
        at, entry = found
        for later in self.entries[at:]:
            later.slack -= entry.time
            later.completion += entry.time
        self.entries.insert(at, entry)
        self.renew_least_slacks()
        return None

    def renew_least_slacks(self) -> None:
        """Compute the least slack over each waiting task and those after it (Algorithm 7)."""
        least = None
        for entry in reversed(self.entries):
            least = entry.slack if least is None else min(entry.slack, least)
            entry.least_slack = least

    def would_reject(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Return who would miss if a task that arrives now were admitted; changes nothing."""
        found = self._examine(new, cluster)
        return found if isinstance(found, Rejection) else None

    def deadlines(
        self, new: QueuedTask, cluster: Dispatcher, low: Number, high: Number | None
    ) -> Iterator[Number]:
        """Yield the estimated completion of the task.

        Line 2 admits no task that is due when it is sent: the next deadline is taken for a
        billionth of the time from its arrival later.
        """
        at = bisect_left(self.entries, new.key, key=queue_key)
        time = self.supply_bound.execution_time(new.load)
        due, sent = max(low, self._start(new, at, cluster) + time), cluster.head
        sent += new.load * cluster.tau
        if due <= sent:
            due = sent + (sent - new.arrival) / 10**9
        if high is None or due < high:
            yield due

    def _examine(
        self, new: QueuedTask, cluster: Dispatcher
    ) -> tuple[int, EstimatedTask] | Rejection:
        """Return the position of a task and its estimates, or which task would miss."""
        late = cluster.head + new.load * cluster.tau - new.deadline
        if late >= 0:
            return Rejection(new, DeadlineMiss(late, "time"))
        at = bisect_left(self.entries, new.key, key=queue_key)
        time = self.supply_bound.execution_time(new.load)
        later: list[EstimatedTask] = self.entries[at:]
        if later and time > later[0].least_slack:
            least = later[0].least_slack
            task = next(entry.task for entry in later if entry.slack == least)
            return Rejection(task, DeadlineMiss(time - least, "time"))
        start = self._start(new, at, cluster)
        if new.deadline - start < time:
            return Rejection(new, DeadlineMiss(start + time - new.deadline, "time"))
        return at, EstimatedTask(new, new.load, time, start)

    def record_sent(self, entry: QueueEntry, left: Number, start: Number, end: Number) -> None:
        """Reduce the first task to what is left of it."""
        assert isinstance(entry, EstimatedTask)
        super().record_sent(entry, left, start, end)
        _, dispatched, running = self.sent_history
        others = (part for part in running if part.end > start and part.task is not entry)
        running = (*others, _RunningTask(entry, end, not left))
        self.sent_history = _SentHistory(entry, dispatched if left else entry, running)

    def content(self) -> tuple[StoredTask, ...]:
        """Return the waiting tasks with the rests of their loads and their estimates."""
        return tuple(
            stored._replace(estimates=Estimates(entry.completion, entry.slack))
            for stored, entry in zip(super().content(), self.entries, strict=True)
        )

    def load(self, tasks: Sequence[StoredTask], last_sent: LastSent | None) -> None:
        """Load the waiting tasks of a content, in their order, into an empty queue."""
        for task, _, estimates in tasks:
            assert estimates is not None  # it is the content of such a queue
            entry = EstimatedTask(task, task.load, self.supply_bound.execution_time(task.load), 0)
            entry.completion, entry.slack = estimates
            self.entries.append(entry)
        self.renew_least_slacks()
        if last_sent is not None:
            completion, number = last_sent
            nothing = QueuedTask((completion, -1), "", completion, 0 * completion, completion)
            gone = EstimatedTask(nothing, 0, 0, completion)
            waiting = (entry for entry in self.entries if entry.task.key[1] == number)
            self.sent_history = _SentHistory(chunk=next(waiting, gone))

    @property
    def last_sent(self) -> LastSent | None:
        """What is remembered of the task of which a part was sent last."""
        last = self.sent_history.chunk
        if last is None:
            return None
        return LastSent(last.completion, last.task.key[1] if last.remaining else None)

    def _start(self, new: QueuedTask, at: int, cluster: Dispatcher) -> Number:
        """Return the estimated start of a task at a position of the order."""
        before = self.entries[at - 1] if at else self._predecessor_of_first(new, cluster)
        if before is None:
            return new.arrival
        start = before.completion
        if not self.entries or (self.always_adjust and not at):
            start += self._idle_time(new.arrival, cluster)
        return max(start, new.arrival)

    def _predecessor_of_first(self, new: QueuedTask, cluster: Dispatcher) -> EstimatedTask | None:
        """Return the predecessor of a task that comes first."""
        now = new.arrival
        if self.reset == "idle" and cluster.idle(now):
            self.sent_history = _SentHistory()
        sent_history: _SentHistory = self.sent_history
        chunk, dispatched, running = sent_history
        if self.reading == "edf":
            earlier = (
                part.task for part in running if part.end > now and queue_key(part.task) < new.key
            )
            found: EstimatedTask | None = max(earlier, key=lambda task: task.task.key, default=None)
            return found
        if self.reading == "waiting":
            return None
        if self.reset == "running":
            whole = self.reading == "dispatched"
            left = [part.task for part in running if part.end > now and (part.gone or not whole)]
            return left[-1] if left else None
        return dispatched if self.reading == "dispatched" else chunk

    def _idle_time(self, now: Number, cluster: Dispatcher) -> Number:
        """Return how long all nodes take for the load that idle ones could have done (`adjust`)."""
        idle: Number = 0
        for time, count in zip(cluster.times, cluster.counts, strict=True):
            idle += max(now - max(time, cluster.head), 0) * count
        return self.supply_bound.execution_time(idle / cluster.unit)
