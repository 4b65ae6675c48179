"""The dispatcher: whenever the head and a node are free, send what the first task needs of it.

The node gets as much as it can do by the task's deadline, and what is left of the task waits for
the next one: so every task takes the fewest nodes. Source: Mamat 2011, section 6.2.2.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from heapq import heapify, heapreplace
from typing import Any, NamedTuple, Protocol

from dlopt.arithmetic import FLOATING, ROUNDING
from dlopt.heuristics.admission.dispatching_rules import Lost, Waiting
from dlopt.problems.admission.data import Chunk

_ROUNDING = float(ROUNDING)


class Entry:
    """A task that waits, and what of its load does.

    Attributes
    ----------
    task : Waiting
    rest : Number
        What has not been sent.
    """

    __slots__ = ("rest", "task")

    def __init__(self, task: Waiting, rest: Any) -> None:
        self.task, self.rest = task, rest


class Lane(Protocol):
    """The tasks that wait, in the order of their deadlines, as the dispatcher sees them."""

    memory: Any
    """What else dispatching changes; to be set back, too."""

    def first(self) -> Entry | None:
        """Return the task with the earliest deadline."""

    def take(self, entry: Entry, left: Any, start: Any, end: Any) -> None:
        """Leave so much of the first task: the rest of it is on a node from `start` to `end`."""

    def put_back(self, entry: Entry, rest: Any) -> None:
        """Take back `take`: so much of the first task waited before."""


class Sent(NamedTuple):
    """A part of a task that was sent to a node."""

    task: Waiting
    load: Any
    start: Any
    sent: Any
    end: Any


class _Mark(NamedTuple):
    """What the dispatcher was, but for the tasks that waited; its lists are copied on writing."""

    times: list[Any]
    counts: list[int]
    head: Any
    clock: Any
    sent: int
    lost: int
    memory: Any


class Dispatcher:
    """Nodes and head of a cluster, and the tasks that it sends.

    What is left of a task at its deadline is dropped: there is no node that could still do it in
    time. (The paper does not say; its loop would send nothing for ever.)

    Parameters
    ----------
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``; the set-up costs must be 0, the others not both.
    ready : sequence of Number, shape (nodes,)
    channel : Number
        When the head is free.
    now : Number
    lane : Lane

    Attributes
    ----------
    times, counts : list of Number, list of int
        When nodes become free, ascending, and how many of them at each instant.
    head : Number
        When the head is free.
    clock : Number
        What was to be sent before has been sent.
    sent : list of Sent
    lost : list of Lost
    version : int
        Tells states of `times` and `counts` apart.

    Notes
    -----
    Complexity of a part that is sent: O(log n + g), with `g` instants in `times`, no more than
    tasks that are running. Which of the free nodes it goes to does not matter; `chunks` says so
    afterwards.
    """

    def __init__(
        self, costs: tuple[Any, ...], ready: Sequence[Any], channel: Any, now: Any, lane: Lane
    ) -> None:
        self.tau, self.chi, *_ = costs
        self.unit = self.tau + self.chi
        self.nodes = len(ready)
        self.times: list[Any] = []
        self.counts: list[int] = []
        for instant in sorted(ready):
            if self.times and self.times[-1] == instant:
                self.counts[-1] += 1
            else:
                self.times.append(instant)
                self.counts.append(1)
        self.head, self.clock, self.lane = channel, now, lane
        self.sent: list[Sent] = []
        self.lost: list[Lost] = []
        self.version = 0
        self._mark: _Mark | None = None
        self._log: list[tuple[Entry, Any]] = []

    @property
    def base(self) -> Any:
        """No node is sent to before this instant."""
        return max(self.head, self.clock)

    def idle(self, instant: Any) -> bool:
        """Tell whether no node is busy at an instant, and nothing waits."""
        free = self.times[-1] <= instant and self.head <= instant
        return free and self.lane.first() is None

    def run(self, until: Any = None, *, inclusive: bool = False) -> None:
        """Send what is to be sent before an instant, or also what is to be sent at it.

        Parameters
        ----------
        until : Number, optional
            By default all that waits is sent.
        inclusive : bool, default False
        """
        lane = self.lane
        while (entry := lane.first()) is not None:
            start = max(self.times[0], self.head, self.clock)
            if until is not None and (start > until or (start == until and not inclusive)):
                break
            self._keep(entry)
            due, rest = entry.task.deadline, entry.rest
            load, left, end = rest, 0, start + rest * self.unit
            if end > due and end - due > self._rounding(entry.task):
                if start >= due:
                    self.lost.append(Lost(entry.task, rest))
                    lane.take(entry, 0, start, start)
                    continue
                load, end = (due - start) / self.unit, due
                left = rest - load
            self.head = start + load * self.tau
            self._hold(end)
            self.sent.append(Sent(entry.task, load, start, self.head, end))
            lane.take(entry, left, start, end)
        if until is not None and until > self.clock:
            self._keep(None)
            self.clock = until

    def commit(self) -> None:
        """Make what was sent so far irrevocable."""
        self._mark = None
        self._log.clear()

    def roll_back(self) -> None:
        """Take back what was sent since the last `commit`."""
        if self._mark is None:
            return
        for entry, rest in reversed(self._log):
            self.lane.put_back(entry, rest)
        mark = self._mark
        self.times, self.counts = mark.times, mark.counts
        self.head, self.clock, self.lane.memory = mark.head, mark.clock, mark.memory
        del self.sent[mark.sent :], self.lost[mark.lost :]
        self.version += 1
        self.commit()

    def _rounding(self, task: Waiting) -> Any:
        """Return by how much a task may be late for nothing but rounding; exact numbers have none.

        It is half of what a check in floats allows.
        """
        if not isinstance(task.deadline, float):
            return 0
        return FLOATING / 2 * (task.deadline - task.arrival) + _ROUNDING / 2 * abs(task.deadline)

    def _keep(self, entry: Entry | None) -> None:
        if self._mark is None:
            memory, sent, lost = self.lane.memory, len(self.sent), len(self.lost)
            self._mark = _Mark(self.times, self.counts, self.head, self.clock, sent, lost, memory)
        if entry is not None:
            self._log.append((entry, entry.rest))

    def _hold(self, end: Any) -> None:
        """Let the node that is free first be free at `end` instead."""
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


def chunks(ready: Sequence[Any], sent: Sequence[Sent]) -> Iterator[Chunk]:
    """Yield the parts that were sent as chunks, with their nodes: the one that is free first.

    Parameters
    ----------
    ready : sequence of Number, shape (nodes,)
        When each node was free before the first of them.
    sent : sequence of Sent
    """
    free = [(instant, node) for node, instant in enumerate(ready)]
    heapify(free)
    for task, load, start, received, end in sent:
        _, node = heapreplace(free, (end, free[0][1]))
        yield Chunk(task.id, node, load, start, received, received, end)


def free_after(ready: Sequence[Any], sent: Sequence[Sent]) -> list[Any]:
    """Return when each node is free again after parts that were sent, as `chunks` says."""
    free = list(ready)
    for chunk in chunks(ready, sent):
        free[chunk.node] = chunk.computation_end
    return free


class Line:
    """Tasks that wait in a sorted list, the plain way.

    Attributes
    ----------
    entries : list of Entry
        By their keys.
    """

    memory: Any = None

    def __init__(self) -> None:
        self.entries: list[Any] = []

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def first(self) -> Entry | None:
        """Return the task with the earliest deadline."""
        return self.entries[0] if self.entries else None

    def take(self, entry: Entry, left: Any, start: Any, end: Any) -> None:
        """Leave so much of the first task."""
        entry.rest = left
        if not left:
            del self.entries[0]

    def put_back(self, entry: Entry, rest: Any) -> None:
        """Take back `take`."""
        if not entry.rest:
            self.entries.insert(0, entry)
        entry.rest = rest

    def insert(self, entry: Entry) -> None:
        """Let a task wait."""
        insort(self.entries, entry, key=key)


def key(entry: Entry) -> Any:
    """Return by what an entry is sorted."""
    return entry.task.key
