"""The repaired schedulability tests: demand (waiting work) against the supply bound.

``fast-edf-iit`` (R2) requires of a new task and all tasks after it that the work due by the
deadline `d` of each is at most ``Psi(d)``, the supply bound; `supply_bound` has the proof.
``fast-edf-iit-linear`` (R1) compares the work with the line that `Psi` becomes after the last ready
time, which is never above it. ``fast-edf-iit-simulated`` (EXACT) admits what the dispatcher,
simulated to the end, would complete in time: with this dispatcher no test can admit more at an
arrival and keep its promises.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.affine import AffineNumber, ComparisonTracker
from dlopt.heuristics.admission.fast.dispatcher import (
    Dispatcher,
    QueueEntry,
    SortedTaskQueue,
    stored_tasks,
)
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    LastSent,
    QueuedTask,
    QueueKey,
    Rejection,
    StoredTask,
)


class AdmissionTest(Protocol):
    """Admits tasks, and stores those that wait: also a `TaskQueue`."""

    sent_history: Any

    def __len__(self) -> int:
        """Return how many tasks wait."""

    def __iter__(self) -> Iterator[QueueEntry]:
        """Yield the waiting tasks, the earliest deadline first."""

    def try_admit(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Admit a task that arrives now, or return who would miss."""

    def would_reject(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Return who would miss if a task that arrives now were admitted; changes nothing."""

    def deadlines(
        self, new: QueuedTask, cluster: Dispatcher, low: Number, high: Number | None
    ) -> Iterator[Number]:
        """Yield the deadlines from `low` to before `high` that may be the earliest, ascending.

        The position of the task follows from its key, whatever its deadline; `high` may be None.
        """

    def first(self) -> QueueEntry | None:
        """Return the task with the earliest deadline."""

    def record_sent(self, entry: QueueEntry, left: Number, start: Number, end: Number) -> None:
        """Reduce the first task to `left`: the rest of it is on a node from `start` to `end`."""

    def undo_sent(self, entry: QueueEntry, remaining: Number) -> None:
        """Take back `record_sent`."""

    def commit(self) -> None:
        """Forget how to take back what was sent."""

    def content(self) -> tuple[StoredTask, ...]:
        """Return the waiting tasks with the rests of their loads."""

    def load(self, tasks: Sequence[StoredTask], last_sent: LastSent | None) -> None:
        """Load the waiting tasks of a content, in their order, into an empty test."""

    @property
    def last_sent(self) -> LastSent | None:
        """What is remembered of the task of which a part was sent last."""


class DeadlineIndex(Protocol):
    """The waiting tasks with their works and supplies, as defined for `DeadlineTree`."""

    def __len__(self) -> int:
        """Return how many tasks wait."""

    def __iter__(self) -> Iterator[QueueEntry]:
        """Yield them in their order."""

    def first(self) -> QueueEntry | None:
        """Return the task with the least key."""

    def split(self, key: QueueKey) -> tuple[Number, Number | None]:
        """Return the work before a key, and the least slack after it."""

    def overloaded_after(
        self, key: QueueKey, deficit: Number
    ) -> Iterator[tuple[QueueEntry, Number]]:
        """Yield the tasks after a key with more work up to them than supply less a deficit."""

    def insert(self, entry: QueueEntry, supply: Number) -> None:
        """Insert a task, with its remaining load as work."""

    def admit(self, entry: QueueEntry, supply: Number, deficit: Number) -> bool:
        """Insert a task unless the work up to it or a later one exceeds supply less deficit."""

    def reduce_first(self, work: Number) -> None:
        """Change the work of the first task, or remove the task if no work is left."""

    def remove(self, key: QueueKey) -> QueueEntry:
        """Remove a task, which must be there, by its key."""

    def put_back(self, entry: QueueEntry, supply: Number) -> None:
        """Undo the last removal of a task since `commit`: all is grouped as it was before it.

        In floats, sums depend on the groups in which they are added up.
        """

    def commit(self) -> None:
        """Forget how to put back what was removed."""

    def load(self, entries: Sequence[QueueEntry], supplies: Sequence[Number]) -> None:
        """Insert tasks in their order into an empty index."""


class IndexedTest:
    """The same decisions from sums: O(log n + log g) a decision, with a tree, in most states.

    The line of R1 is compared with all tasks after the new one at once. Those that exceed it are
    checked one by one for R2, up to the first that exceeds `Psi` as well: where many tasks wait
    that are due before the last node is free, that is O(n) again. After something was sent, the
    next decision takes O(g) more.

    Parameters
    ----------
    supply_bound : SupplyBound
    clipped : bool
        R2: nodes that are not ready by a deadline count as nothing, instead of less than that.
    store : DeadlineIndex
    """

    sent_history: Any = None

    def __init__(self, supply_bound: SupplyBound, clipped: bool, store: DeadlineIndex) -> None:
        self.supply_bound, self.clipped, self.store = supply_bound, clipped, store
        self.first = store.first

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[QueueEntry]:
        return iter(self.store)

    def try_admit(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Admit a task that arrives now, or return who would miss."""
        supply_bound = self.supply_bound
        supply_bound.evaluate(cluster)
        deficit, line = supply_bound.deficit, new.deadline * supply_bound.slope
        entry = QueueEntry(new, new.load)
        if self.store.admit(entry, line, deficit):
            return None
        refused = self.would_reject(new, cluster)
        if refused is None:
            self.store.insert(entry, line)
        return refused

    def deadlines(
        self, new: QueuedTask, cluster: Dispatcher, low: Number, high: Number | None
    ) -> Iterator[Number]:
        """Yield the instant by which the work up to the new task is certain to be done."""
        self.supply_bound.evaluate(cluster)
        before, _ = self.store.split(new.key)
        due = max(low, self.supply_bound.instant(before + new.load, self.clipped))
        if high is None or due < high:
            yield due

    def would_reject(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Check the tasks that exceed the line of R1: return the first that would miss."""
        bound, clipped = self.supply_bound, self.clipped
        bound.evaluate(cluster)
        before, slack = self.store.split(new.key)
        if isinstance(before + new.load, float):
            # As `try_admit`: in floats, its sums may be rounded otherwise than those below.
            owed = bound.deficit + before + new.load
            if owed <= new.deadline * bound.slope and (slack is None or owed <= slack):
                return None
        refused = rejection_if_overloaded(bound, clipped, new, before + new.load)
        if refused is None:
            for entry, due in self.store.overloaded_after(new.key, bound.deficit + new.load):
                refused = rejection_if_overloaded(bound, clipped, entry.task, due + new.load)
                if refused is not None:
                    break
        return refused

    def record_sent(self, entry: QueueEntry, left: Number, start: Number, end: Number) -> None:
        """Reduce the first task to what is left of it."""
        entry.remaining = left
        self.store.reduce_first(left)

    def undo_sent(self, entry: QueueEntry, remaining: Number) -> None:
        """Take back `record_sent`."""
        gone = not entry.remaining
        entry.remaining = remaining
        if gone:
            self.store.put_back(entry, entry.task.deadline * self.supply_bound.slope)
        else:
            self.store.reduce_first(remaining)

    def commit(self) -> None:
        """Forget how to take back what was sent."""
        self.store.commit()

    def replace(
        self, key: QueueKey, new: QueuedTask | None, cluster: Dispatcher
    ) -> Rejection | None:
        """Replace a waiting task by another or by none, or return who would miss then.

        Without a task no other misses, for the work up to each gets less. Complexity: as
        `try_admit`.
        """
        former = self.store.remove(key)
        refused = None if new is None else self.try_admit(new, cluster)
        if refused is not None:
            self.store.put_back(former, former.task.deadline * self.supply_bound.slope)
        self.store.commit()
        return refused

    def content(self) -> tuple[StoredTask, ...]:
        """Return the waiting tasks with the rests of their loads."""
        return stored_tasks(self.store)

    def load(self, tasks: Sequence[StoredTask], last_sent: LastSent | None) -> None:
        """Load the waiting tasks of a content, in their order, into an empty test."""
        slope = self.supply_bound.slope
        self.store.load(
            [QueueEntry(stored.task, stored.task.load) for stored in tasks],
            [stored.task.deadline * slope for stored in tasks],
        )

    @property
    def last_sent(self) -> LastSent | None:
        """What is remembered of the task of which a part was sent last: nothing."""
        return None


class ReplayTest(SortedTaskQueue):
    """EXACT: simulate the dispatcher with the new task: O(parts (log n + g)) a decision."""

    def try_admit(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Admit a task that arrives now, or return who would miss."""
        refused = self.would_reject(new, cluster)
        if refused is None:
            self.insert(QueueEntry(new, new.load))
        return refused

    def would_reject(self, new: QueuedTask, cluster: Dispatcher) -> Rejection | None:
        """Return who would miss if a task that arrives now were admitted; changes nothing."""
        trial = SortedTaskQueue()
        trial.entries = [QueueEntry(entry.task, entry.remaining) for entry in self.entries]
        trial.insert(QueueEntry(new, new.load))
        run = Dispatcher((cluster.tau, cluster.chi), [], cluster.head, cluster.clock, trial)
        run.times, run.counts = cluster.times.copy(), cluster.counts.copy()
        run.run()
        if not run.unfinished:
            return None
        task, load = run.unfinished[0]
        return Rejection(task, DeadlineMiss(load, "load"))

    def deadlines(
        self, new: QueuedTask, cluster: Dispatcher, low: Number, high: Number | None
    ) -> Iterator[Number]:
        """Yield the breakpoints: deadlines at which a comparison of the simulation changes.

        All numbers of the simulation are affine functions of the deadline.
        """
        due: Number | None = low
        while due is not None and (high is None or due < high):
            yield due
            trace = ComparisonTracker(due)
            parametric: Any = AffineNumber(due, due * 0 + 1, trace)
            self.would_reject(new._replace(deadline=parametric), cluster)
            due = trace.next


def rejection_if_overloaded(
    supply_bound: SupplyBound, clipped: bool, task: QueuedTask, work: Number
) -> Rejection | None:
    """Reject if the work due by the deadline of a task exceeds the supply bound."""
    certain = task.deadline * supply_bound.slope - supply_bound.deficit
    if clipped and work > certain:
        certain = supply_bound.load(task.deadline)
    return Rejection(task, DeadlineMiss(work - certain, "load")) if work > certain else None
