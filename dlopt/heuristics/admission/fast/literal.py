"""AC-FAST as printed, in the readings that its pseudo code allows, and its smallest repair.

Tasks are admitted as if each had all nodes, one after the other: a task starts when its
predecessor `p` completes, and those behind it are delayed by its execution time. What the printed
`getPredecessor` returns for a task that comes first in the queue is open:

``waiting``     nothing; then `adjust` is never called
``edf``         the last, in the order of deadlines, of the tasks that are running
``dispatched``  the task that left the queue last
``chunk``       the task of which a part was sent last, even if the rest of it waits

None is sound: each admits tasks that miss their deadlines; the counterexamples are among the
instances. With ``chunk``, an adjustment whenever a task comes first, and `p` forgotten once the
cluster is idle, no miss was found in millions of random streams: that is ``fast-edf-iit-minimal``.
All of them believe that the cluster was idle before the first task.

Source: Mamat 2011, Algorithms 6-8. Mended, for the text says so: epsilon in Algorithm 7 is the
execution time; Algorithm 8 runs over the N nodes, not over the head and all of them but one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from dlopt.heuristics.admission.dispatching_rules import Refused, Waiting
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, Entry, Line, key
from dlopt.heuristics.admission.fast.supply_bound import Outlook
from dlopt.heuristics.admission.ready_times import Miss

Reading: TypeAlias = Literal["waiting", "edf", "dispatched", "chunk"]
Reset: TypeAlias = Literal["idle", "running", "never"]


class Estimate(Entry):
    """A task that waits, and what AC-FAST believes of it.

    Attributes
    ----------
    time : Number
        Execution time of all of it on all nodes.
    completion : Number
    slack, least_slack : Number
        By how much it may start later, and the least of that of it and all behind it.
    """

    __slots__ = ("completion", "least_slack", "slack", "time")

    def __init__(self, task: Waiting, rest: Any, time: Any, start: Any) -> None:
        super().__init__(task, rest)
        self.time, self.completion = time, start + time
        self.slack = self.least_slack = task.deadline - self.completion


class _Running(NamedTuple):
    """A task of which a part is on a node until `end`, and whether nothing of it waits."""

    task: Estimate
    end: Any
    gone: bool


class _Memory(NamedTuple):
    """The tasks that were sent: of the last part, the last that left the queue, and all others.

    The last are in the order in which parts of them were sent last.
    """

    chunk: Estimate | None = None
    dispatched: Estimate | None = None
    running: tuple[_Running, ...] = ()


class AsPrinted(Line):
    """AC-FAST.

    Parameters
    ----------
    reading : {"waiting", "edf", "dispatched", "chunk"}
        Which task is the predecessor of one that comes first.
    reset : {"idle", "running", "never"}
        When that task is forgotten: once the whole cluster is idle, once no part of it is
        running (then it is the last of those that are), or never.
    always : bool
        Adjust whenever a task comes first, not only if no task waits.
    outlook : Outlook
        For execution times.

    Notes
    -----
    Complexity of a decision: O(n + g).
    """

    def __init__(self, reading: Reading, reset: Reset, always: bool, outlook: Outlook) -> None:
        super().__init__()
        self.reading, self.reset, self.always = reading, reset, always
        self.outlook = outlook
        self.memory = _Memory()

    def offer(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Admit a task that arrives now, or return which one would miss."""
        found = self._looked_at(new, cluster)
        if isinstance(found, Refused):
            return found
        at, entry = found
        for later in self.entries[at:]:
            later.slack -= entry.time
            later.completion += entry.time
        self.entries.insert(at, entry)
        self.renew_least_slacks()
        return None

    def renew_least_slacks(self) -> None:
        """Compute the least slack of each task that waits and all behind it (Algorithm 7)."""
        least = None
        for one in reversed(self.entries):
            least = one.slack if least is None else min(one.slack, least)
            one.least_slack = least

    def refusal(self, new: Waiting, cluster: Dispatcher) -> Refused | None:
        """Return which task would miss if one that arrives now were admitted; nothing changes."""
        found = self._looked_at(new, cluster)
        return found if isinstance(found, Refused) else None

    def deadlines(self, new: Waiting, cluster: Dispatcher, low: Any, high: Any) -> Iterator[Any]:
        """Yield when the task is believed to complete.

        Line 2 admits no task that is due when it is sent: the next deadline is taken for a
        billionth of the time from its arrival later.
        """
        at = bisect_left(self.entries, new.key, key=key)
        time = self.outlook.execution_time(new.load)
        due, sent = max(low, self._start(new, at, cluster) + time), cluster.head
        sent += new.load * cluster.tau
        if due <= sent:
            due = sent + (sent - new.arrival) / 10**9
        if high is None or due < high:
            yield due

    def _looked_at(self, new: Waiting, cluster: Dispatcher) -> tuple[int, Estimate] | Refused:
        """Return the place of a task and what is believed of it, or which task would miss."""
        late = cluster.head + new.load * cluster.tau - new.deadline
        if late >= 0:
            return Refused(new, Miss(late, "time"))
        at = bisect_left(self.entries, new.key, key=key)
        time = self.outlook.execution_time(new.load)
        behind: list[Estimate] = self.entries[at:]
        if behind and time > behind[0].least_slack:
            least = behind[0].least_slack
            task = next(entry.task for entry in behind if entry.slack == least)
            return Refused(task, Miss(time - least, "time"))
        start = self._start(new, at, cluster)
        if new.deadline - start < time:
            return Refused(new, Miss(start + time - new.deadline, "time"))
        return at, Estimate(new, new.load, time, start)

    def take(self, entry: Entry, left: Any, start: Any, end: Any) -> None:
        """Leave so much of the first task."""
        assert isinstance(entry, Estimate)
        super().take(entry, left, start, end)
        _, dispatched, running = self.memory
        others = (one for one in running if one.end > start and one.task is not entry)
        running = (*others, _Running(entry, end, not left))
        self.memory = _Memory(entry, dispatched if left else entry, running)

    def _start(self, new: Waiting, at: int, cluster: Dispatcher) -> Any:
        """Return when a task in a place of the order is believed to start."""
        before = self.entries[at - 1] if at else self._forerunner(new, cluster)
        if before is None:
            return new.arrival
        start = before.completion
        if not self.entries or (self.always and not at):
            start += self._idle_time(new.arrival, cluster)
        return max(start, new.arrival)

    def _forerunner(self, new: Waiting, cluster: Dispatcher) -> Estimate | None:
        """Return the predecessor of a task that comes first."""
        now = new.arrival
        if self.reset == "idle" and cluster.idle(now):
            self.memory = _Memory()
        memory: _Memory = self.memory
        chunk, dispatched, running = memory
        if self.reading == "edf":
            earlier = (one.task for one in running if one.end > now and key(one.task) < new.key)
            found: Estimate | None = max(earlier, key=lambda task: task.task.key, default=None)
            return found
        if self.reading == "waiting":
            return None
        if self.reset == "running":
            whole = self.reading == "dispatched"
            left = [one.task for one in running if one.end > now and (one.gone or not whole)]
            return left[-1] if left else None
        return dispatched if self.reading == "dispatched" else chunk

    def _idle_time(self, now: Any, cluster: Dispatcher) -> Any:
        """Return how long all nodes would take for what idle ones could have done (`adjust`)."""
        idle = 0
        for time, count in zip(cluster.times, cluster.counts, strict=True):
            idle += max(now - max(time, cluster.head), 0) * count
        return self.outlook.execution_time(idle / cluster.unit)
