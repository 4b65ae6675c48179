"""The dispatcher: whenever head and a node are free, send a part of the first waiting task.

The node gets as much load as it can process by the deadline of the task, and the rest of the task
waits for the next node: so every task gets the fewest nodes. Source: Mamat 2011, section 6.2.2.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapreplace
from typing import Any, NamedTuple, Protocol

from dlopt.arithmetic import FLOATING, ROUNDING, Number
from dlopt.heuristics.admission.chunks import NodeFree, free_times
from dlopt.heuristics.admission.records import (
    LastSent,
    QueuedTask,
    QueueKey,
    StoredTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk

_FLOAT_RESOLUTION = float(ROUNDING)


class QueueEntry:
    """A waiting task, and the rest of its load.

    Attributes
    ----------
    task : QueuedTask
    remaining : Number
        The load that has not been sent.
    """

    __slots__ = ("remaining", "task")

    def __init__(self, task: QueuedTask, remaining: Number) -> None:
        self.task, self.remaining = task, remaining


class TaskQueue(Protocol):
    """The waiting tasks in the order of their deadlines, as the dispatcher sees them."""

    sent_history: Any
    """Further state that dispatching changes; it is restored by a rollback."""

    def first(self) -> QueueEntry | None:
        """Return the task with the earliest deadline."""

    def record_sent(self, entry: QueueEntry, left: Number, start: Number, end: Number) -> None:
        """Reduce the first task to `left`: the rest of it is on a node from `start` to `end`."""

    def undo_sent(self, entry: QueueEntry, remaining: Number) -> None:
        """Take back `record_sent`: so much of the first task waited before."""

    def commit(self) -> None:
        """Forget how to take back what was sent."""


class SentPart(NamedTuple):
    """A part of a task that was sent to a node."""

    task: QueuedTask
    load: Number
    start: Number
    sent: Number
    end: Number
    left: Number
    """What of the task waits then."""


class _Checkpoint(NamedTuple):
    """The state to roll back to, without the waiting tasks; its lists are copied on write."""

    times: list[Number]
    counts: list[int]
    head: Number
    clock: Number
    sent: int
    unfinished: int
    sent_history: Any


class Dispatcher:
    """Nodes and head of a cluster, and the tasks that it sends.

    The load that is left of a task at its deadline is dropped: no node could process it in time.
    (The paper leaves this open; its loop would send nothing for ever.)

    Parameters
    ----------
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``; the set-up costs must be 0, the others not both.
    ready : sequence of Number, shape (nodes,)
    channel : Number
        When the head is free.
    now : Number
    queue : TaskQueue

    Attributes
    ----------
    times, counts : list of Number, list of int
        When nodes become free, ascending, and how many of them at each instant.
    head : Number
        When the head is free.
    clock : Number
        Everything that was to be sent before it has been sent.
    sent : list of SentPart
    unfinished : list of UnfinishedTask
    version : int
        Counts the changes of `times` and `counts`.

    Notes
    -----
    Complexity of a part that is sent: O(log n + g), with `g` instants in `times`, no more than
    tasks that are running. Which of the free nodes it goes to does not matter; `chunks` assigns
    them afterwards.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> queue = SortedTaskQueue()
    >>> queue.insert(QueueEntry(QueuedTask((5, 0), "a", zero, one, 5 * one), one))
    >>> dispatcher = Dispatcher(costs, [zero, zero], zero, zero, queue)
    >>> dispatcher.run()
    >>> [(part.task.id, str(part.load), str(part.end)) for part in dispatcher.sent]
    [('a', '1', '2')]
    """

    def __init__(
        self,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        queue: TaskQueue,
    ) -> None:
        self.tau, self.chi, *_ = costs
        self.unit = self.tau + self.chi
        self.nodes = len(ready)
        self.times: list[Number] = []
        self.counts: list[int] = []
        for instant in sorted(ready):
            if self.times and self.times[-1] == instant:
                self.counts[-1] += 1
            else:
                self.times.append(instant)
                self.counts.append(1)
        self.head, self.clock, self.queue = channel, now, queue
        self.sent: list[SentPart] = []
        self.unfinished: list[UnfinishedTask] = []
        self.version = 0
        self._mark: _Checkpoint | None = None
        self._log: list[tuple[QueueEntry, Number]] = []

    @property
    def base(self) -> Number:
        """No node is sent to before this instant."""
        return max(self.head, self.clock)

    def idle(self, instant: Number) -> bool:
        """Tell whether no node is busy at an instant, and nothing waits."""
        free = self.times[-1] <= instant and self.head <= instant
        return free and self.queue.first() is None

    def run(self, until: Number | None = None, *, inclusive: bool = False) -> None:
        """Send what is to be sent before an instant, or also what is to be sent at it.

        Parameters
        ----------
        until : Number, optional
            By default all that waits is sent.
        inclusive : bool, default False
        """
        queue = self.queue
        while (entry := queue.first()) is not None:
            start = max(self.times[0], self.head, self.clock)
            if until is not None and (start > until or (start == until and not inclusive)):
                break
            self._save_for_rollback(entry)
            due, remaining = entry.task.deadline, entry.remaining
            load, end = remaining, start + remaining * self.unit
            left: Number = 0
            if end > due and end - due > self._rounding(entry.task):
                if start >= due:
                    self.unfinished.append(UnfinishedTask(entry.task, remaining))
                    queue.record_sent(entry, 0, start, start)
                    continue
                load, end = (due - start) / self.unit, due
                left = remaining - load
            self.head = start + load * self.tau
            self._occupy_first_node(end)
            self.sent.append(SentPart(entry.task, load, start, self.head, end, left))
            queue.record_sent(entry, left, start, end)
        if until is not None and until > self.clock:
            self._save_for_rollback(None)
            self.clock = until

    def commit(self) -> None:
        """Commit what was sent so far."""
        self._mark = None
        self._log.clear()
        self.queue.commit()

    def take_sent(self) -> list[SentPart]:
        """Return what was committed, and forget it."""
        sent, self.sent, self.unfinished = self.sent, [], []
        return sent

    def roll_back(self) -> None:
        """Undo what was sent since the last `commit`."""
        if self._mark is None:
            return
        for entry, remaining in reversed(self._log):
            self.queue.undo_sent(entry, remaining)
        mark = self._mark
        self.times, self.counts = mark.times, mark.counts
        self.head, self.clock, self.queue.sent_history = mark.head, mark.clock, mark.sent_history
        del self.sent[mark.sent :], self.unfinished[mark.unfinished :]
        self.version += 1
        self.commit()

    def _rounding(self, task: QueuedTask) -> Number:
        """Return by how much a task may be late by rounding alone; 0 in exact numbers.

        It is half of what the checker tolerates in floats.
        """
        if not isinstance(task.deadline, float):
            return 0
        return FLOATING / 2 * (task.deadline - task.arrival) + _FLOAT_RESOLUTION / 2 * abs(
            task.deadline
        )

    def _save_for_rollback(self, entry: QueueEntry | None) -> None:
        if self._mark is None:
            sent_history, sent, lost = self.queue.sent_history, len(self.sent), len(self.unfinished)
            self._mark = _Checkpoint(
                self.times, self.counts, self.head, self.clock, sent, lost, sent_history
            )
        if entry is not None:
            self._log.append((entry, entry.remaining))

    def _occupy_first_node(self, end: Number) -> None:
        """Occupy the node that is free first until `end`."""
        if self._mark is not None and self.times is self._mark.times:
            self.times, self.counts = self.times.copy(), self.counts.copy()
        times, counts = self.times, self.counts
        self.version += 1
        counts[0] -= 1
        if not counts[0]:
            del times[0], counts[0]
        at = bisect_left(times, end)
        if at < len(times) and times[at] == end:
            counts[at] += 1
        else:
            times.insert(at, end)
            counts.insert(at, 1)


def chunks(free: list[NodeFree], sent: Sequence[SentPart]) -> Iterator[Chunk]:
    """Yield the sent parts as chunks, each on the node that is free first.

    Parameters
    ----------
    free : list of NodeFree
        A heap of when each node is free before the first of them; updated.
    sent : sequence of SentPart
    """
    for task, load, start, received, end, _ in sent:
        _, node = heapreplace(free, (end, free[0][1]))
        yield Chunk(task.id, node, load, start, received, received, end)


def free_after(free: Sequence[NodeFree], sent: Sequence[SentPart]) -> list[Number]:
    """Return when each node is free again after the sent parts, assigned as by `chunks`."""
    heap = list(free)
    for part in sent:
        heapreplace(heap, (part.end, heap[0][1]))
    return free_times(heap)


class SortedTaskQueue:
    """Waiting tasks in a sorted list.

    Attributes
    ----------
    entries : list of QueueEntry
        By their keys.
    """

    sent_history: Any = None

    def __init__(self) -> None:
        self.entries: list[Any] = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[QueueEntry]:
        return iter(self.entries)

    def first(self) -> QueueEntry | None:
        """Return the task with the earliest deadline."""
        return self.entries[0] if self.entries else None

    def record_sent(self, entry: QueueEntry, left: Number, start: Number, end: Number) -> None:
        """Reduce the first task to what is left of it."""
        entry.remaining = left
        if not left:
            del self.entries[0]

    def undo_sent(self, entry: QueueEntry, remaining: Number) -> None:
        """Take back `record_sent`."""
        if not entry.remaining:
            self.entries.insert(0, entry)
        entry.remaining = remaining

    def commit(self) -> None:
        """Do nothing: a list is as it was when tasks are put back."""

    def insert(self, entry: QueueEntry) -> None:
        """Insert a waiting task."""
        insort(self.entries, entry, key=queue_key)

    def content(self) -> tuple[StoredTask, ...]:
        """Return the waiting tasks with the rests of their loads."""
        return stored_tasks(self.entries)

    def load(self, tasks: Sequence[StoredTask], last_sent: LastSent | None) -> None:
        """Load the waiting tasks of a content, in their order, into an empty queue."""
        self.entries = [QueueEntry(stored.task, stored.task.load) for stored in tasks]

    @property
    def last_sent(self) -> LastSent | None:
        """What is remembered of the task of which a part was sent last: nothing."""
        return None


def queue_key(entry: QueueEntry) -> QueueKey:
    """Return the key by which an entry is sorted."""
    return entry.task.key


def stored_tasks(entries: Iterable[QueueEntry]) -> tuple[StoredTask, ...]:
    """Return waiting tasks with the rests of their loads."""
    return tuple(
        StoredTask(task._replace(load=entry.remaining))
        for entry in entries
        for task in (entry.task,)
    )
