"""The repaired tests: work that waits is held against what the cluster is certain to do.

``fast-edf-iit`` (R2) asks of a new task and all behind it that the work due by the deadline of
each is at most ``Psi`` of it; `supply_bound` has the proof. ``fast-edf-iit-linear`` (R1) holds the
work against the line that `Psi` becomes beyond the last ready time, which is never above it.
``fast-edf-iit-simulated`` (EXACT) admits what the dispatcher, run to the end, would do in time: no
test that keeps the dispatcher can admit more of a task that arrives, and keep its promises.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Protocol

from dlopt.heuristics.admission.dispatching_rules import Refused, Waiting
from dlopt.heuristics.admission.fast.affine import Affine, Trace
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, Entry, Line, key
from dlopt.heuristics.admission.fast.supply_bound import Outlook
from dlopt.heuristics.admission.ready_times import Miss


class Controller(Protocol):
    """What admits tasks, and keeps those that wait: also a `Lane`."""

    memory: Any

    def __len__(self) -> int:
        """Return how many tasks wait."""

    def __iter__(self) -> Iterator[Entry]:
        """Yield the tasks that wait, the earliest deadline first."""

    def offer(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Admit a task that arrives now, or return which one would miss."""

    def refusal(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Return which task would miss if one that arrives now were admitted; nothing changes."""

    def deadlines(self, new: Waiting, cluster: Dispatcher, low: Any, high: Any) -> Iterator[Any]:
        """Yield the deadlines from `low` to before `high` that may be the earliest, ascending.

        The key of the task says where it waits, whatever its deadline; `high` may be None.
        """

    def first(self) -> Entry | None:
        """Return the task with the earliest deadline."""

    def take(self, entry: Entry, left: Any, start: Any, end: Any) -> None:
        """Leave so much of the first task: the rest of it is on a node from `start` to `end`."""

    def put_back(self, entry: Entry, rest: Any) -> None:
        """Take back `take`."""


class Plain(Line):
    """R1 or R2, looking at every task behind the new one: O(n log g) a decision.

    Parameters
    ----------
    outlook : Outlook
    clipped : bool
        R2: nodes that are not ready by a deadline count as nothing, instead of less than that.
    """

    def __init__(self, outlook: Outlook, clipped: bool) -> None:
        super().__init__()
        self.outlook, self.clipped = outlook, clipped

    def offer(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Admit a task that arrives now, or return which one would miss."""
        refused = self.refusal(new, cluster)
        if refused is None:
            self.insert(Entry(new, new.load))
        return refused

    def refusal(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Return which task would miss if one that arrives now were admitted; nothing changes."""
        self.outlook.look(cluster)
        at = bisect_left(self.entries, new.key, key=key)
        work = sum((entry.rest for entry in self.entries[:at]), 0 * new.load) + new.load
        refused = self._held(new, work)
        for entry in self.entries[at:]:
            if refused is not None:
                return refused
            work += entry.rest
            refused = self._held(entry.task, work)
        return refused

    def deadlines(self, new: Waiting, cluster: Dispatcher, low: Any, high: Any) -> Iterator[Any]:
        """Yield by when the work up to the new task is certain to be done."""
        self.outlook.look(cluster)
        at = bisect_left(self.entries, new.key, key=key)
        work = sum((entry.rest for entry in self.entries[:at]), 0 * new.load) + new.load
        due = max(low, self.outlook.instant(work, self.clipped))
        if high is None or due < high:
            yield due

    def _held(self, task: Waiting, work: Any) -> Refused | None:
        """Hold the work that is due by the deadline of a task against what is certain."""
        outlook = self.outlook
        certain = task.deadline * outlook.slope - outlook.debt
        if self.clipped and work > certain:
            certain = outlook.load(task.deadline)
        return Refused(task, Miss(work - certain, "load")) if work > certain else None


class Store(Protocol):
    """The tasks that wait, with their works and levels: `Tree` has the meaning."""

    def __len__(self) -> int:
        """Return how many tasks wait."""

    def __iter__(self) -> Iterator[Entry]:
        """Yield them in their order."""

    def first(self) -> Entry | None:
        """Return the task with the least key."""

    def split(self, key: Any) -> tuple[Any, Any | None]:
        """Return the work before a key, and the least room behind it."""

    def beyond(self, key: Any, debt: Any) -> Iterator[tuple[Entry, Any]]:
        """Yield the tasks behind a key with more work up to them than their level less a debt."""

    def insert(self, entry: Entry, level: Any) -> None:
        """Put a task in, with its rest as work."""

    def admit(self, entry: Entry, level: Any, debt: Any) -> bool:
        """Put a task in if, with it, no work up to it or one behind exceeds level less debt."""

    def change_first(self, work: Any) -> None:
        """Change the work of the first task, or take the task out if no work is left."""


class Logarithmic:
    """The same decisions from sums: O(log n + log g) a decision, with a tree, in most states.

    The line of R1 is held against all tasks behind the new one at once. Those that it would not
    let in are looked at one by one for R2, up to the first that `Psi` does not let in either: where
    many wait that are due before the last node is free, that is O(n) again. After something was
    sent, the next decision takes O(g) more.

    Parameters
    ----------
    outlook : Outlook
    clipped : bool
        See `Plain`.
    store : Store
    """

    memory: Any = None

    def __init__(self, outlook: Outlook, clipped: bool, store: Store) -> None:
        self.outlook, self.clipped, self.store = outlook, clipped, store
        self.first = store.first

    def __len__(self) -> int:
        return len(self.store)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.store)

    def offer(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Admit a task that arrives now, or return which one would miss."""
        outlook = self.outlook
        outlook.look(cluster)
        debt, line = outlook.debt, new.deadline * outlook.slope
        entry = Entry(new, new.load)
        if self.store.admit(entry, line, debt):
            return None
        refused = self.refusal(new, cluster)
        if refused is None:
            self.store.insert(entry, line)
        return refused

    def deadlines(self, new: Waiting, cluster: Dispatcher, low: Any, high: Any) -> Iterator[Any]:
        """Yield by when the work up to the new task is certain to be done."""
        self.outlook.look(cluster)
        before, _ = self.store.split(new.key)
        due = max(low, self.outlook.instant(before + new.load, self.clipped))
        if high is None or due < high:
            yield due

    def refusal(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Look at the tasks below the line of R1: return the first that would miss."""
        self.outlook.look(cluster)
        debt = self.outlook.debt
        before, _ = self.store.split(new.key)
        refused = self._held(new, before + new.load, debt)
        if refused is None:
            for entry, due in self.store.beyond(new.key, debt + new.load):
                refused = self._held(entry.task, due + new.load, debt)
                if refused is not None:
                    break
        return refused

    def _held(self, task: Waiting, work: Any, debt: Any) -> Refused | None:
        """Hold the work that is due by the deadline of a task against what is certain."""
        certain = task.deadline * self.outlook.slope - debt
        if self.clipped and work > certain:
            certain = self.outlook.load(task.deadline)
        return Refused(task, Miss(work - certain, "load")) if work > certain else None

    def take(self, entry: Entry, left: Any, start: Any, end: Any) -> None:
        """Leave so much of the first task."""
        entry.rest = left
        self.store.change_first(left)

    def put_back(self, entry: Entry, rest: Any) -> None:
        """Take back `take`."""
        gone = not entry.rest
        entry.rest = rest
        if gone:
            self.store.insert(entry, entry.task.deadline * self.outlook.slope)
        else:
            self.store.change_first(rest)


class Replay(Line):
    """EXACT: run the dispatcher to the end with the new task: O(parts (log n + g)) a decision."""

    def offer(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Admit a task that arrives now, or return which one would miss."""
        refused = self.refusal(new, cluster)
        if refused is None:
            self.insert(Entry(new, new.load))
        return refused

    def refusal(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Return which task would miss if one that arrives now were admitted; nothing changes."""
        trial = Line()
        trial.entries = [Entry(entry.task, entry.rest) for entry in self.entries]
        trial.insert(Entry(new, new.load))
        run = Dispatcher((cluster.tau, cluster.chi), [], cluster.head, cluster.clock, trial)
        run.times, run.counts = cluster.times.copy(), cluster.counts.copy()
        run.run()
        if not run.lost:
            return None
        task, load = run.lost[0]
        return Refused(task, Miss(load, "load"))

    def deadlines(self, new: Waiting, cluster: Dispatcher, low: Any, high: Any) -> Iterator[Any]:
        """Yield the deadlines at which some comparison of the run changes, ascending.

        All that the run computes of the deadline is a constant and a multiple of it.
        """
        due: Any | None = low
        while due is not None and (high is None or due < high):
            yield due
            trace = Trace(due)
            self.refusal(new._replace(deadline=Affine(due, due * 0 + 1, trace)), cluster)
            due = trace.next
