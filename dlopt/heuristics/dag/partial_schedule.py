"""A plan in the making: what is placed, when a task could start, where it would end first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.machine_timeline import Timeline
from dlopt.problems.dag.data import Solution

Slots: TypeAlias = Literal["insertion", "append"]
Fit: TypeAlias = Callable[[Timeline, Any, Any, Any], Any]


class Board:
    """A plan in the making.

    Parameters
    ----------
    flat : Flat
    slots : {"insertion", "append"}, default "insertion"
        Whether a task may go between two that are placed already.
    """

    def __init__(self, flat: Flat, slots: Slots = "insertion") -> None:
        self.flat = flat
        zero = 0.0 if flat.floating else 0
        self.machine = [-1] * flat.count
        self.start: list[Any] = [zero] * flat.count
        self.finish: list[Any] = [zero] * flat.count
        self._lines = [Timeline(zero) for _ in range(flat.machines)]
        self._fit: Fit = Timeline.inserted if slots == "insertion" else Timeline.appended
        self._uniform = len(flat.latency) == 1 and not flat.counted

    def solution(self) -> Solution:
        """Return the plan, in the units of the instance."""
        return self.flat.solution(self.machine, self.start)

    def place(self, task: int, machine: int, start: Any) -> None:
        """Let a task run; the machine must be free."""
        cost = self.flat.costs[task][machine]
        self.machine[task], self.start[task], self.finish[task] = machine, start, start + cost
        self._lines[machine].take(start, cost)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Take back, in the end, whatever is placed meanwhile."""
        lines, machine = self._lines, self.machine[:]
        self._lines = [line.copy() for line in lines]
        yield
        self._lines, self.machine = lines, machine

    def ready(self, task: int) -> list[Any]:
        """Return when a task could start on each machine, were it idle.

        What comes from a task that is not placed yet does not count. Complexity: O(predecessors
        x classes of machines + machines).
        """
        flat = self.flat
        base = flat.arrival[task]
        if not flat.before[task]:
            into = flat.inbound.get(task)
            return [base] * flat.machines if into is None else [base + time for time in into]
        if not self._uniform:
            return self._by_class(task)
        latency, unit = flat.latency[0][0], flat.unit[0][0]
        machine, finish = self.machine, self.finish
        last = other = base  # when the last data arrives, and the last from another machine
        place = -1
        for source, data in flat.before[task]:
            at = machine[source]
            if at >= 0:
                arrives = finish[source] + latency + data * unit
                if at == place:
                    last = arrives if arrives > last else last
                elif arrives > last:
                    place, last, other = at, arrives, last
                elif arrives > other:
                    other = arrives
        row = [last] * flat.machines
        if place >= 0:
            row[place] = self._here(task, place, other)
        return row

    def _by_class(self, task: int) -> list[Any]:
        """Do the same where what sending takes depends on the class of either machine."""
        flat, kinds = self.flat, self.flat.kinds
        classes = range(len(flat.latency))
        base = flat.arrival[task]
        last, other = [base for _ in classes], [base for _ in classes]
        place = [-1 for _ in classes]
        for source, data in flat.before[task]:
            at, done = self.machine[source], self.finish[source]
            if at < 0:
                continue
            latency, unit = flat.latency[kinds[at]], flat.unit[kinds[at]]
            for kind in classes:
                arrives = done + latency[kind] + data * unit[kind]
                if at == place[kind]:
                    last[kind] = max(last[kind], arrives)
                elif arrives > last[kind]:
                    place[kind], last[kind], other[kind] = at, arrives, last[kind]
                elif arrives > other[kind]:
                    other[kind] = arrives
        row = [last[kind] for kind in kinds]
        if not flat.counted:
            for kind, at in enumerate(place):
                if at >= 0 and kinds[at] == kind:
                    row[at] = self._here(task, at, other[kind])
        return row

    def _here(self, task: int, place: int, other: Any) -> Any:
        """Return when all data is at a machine, given when the last from another one is."""
        for source, _ in self.flat.before[task]:
            if self.machine[source] == place and self.finish[source] > other:
                other = self.finish[source]
        return other

    def slot(self, task: int, machine: int, ready: Any) -> Any:
        """Return the earliest start on a machine that is not before `ready`."""
        return self._fit(self._lines[machine], ready, self.flat.costs[task][machine], None)

    def earliest_finish(
        self, task: int, ready: Sequence[Any], extra: Sequence[Any] | None = None
    ) -> tuple[int, Any, Any]:
        """Return the machine on which a task ends first, its start there, and the end.

        Parameters
        ----------
        task : int
        ready : sequence, shape (machines,)
            What `ready` returned.
        extra : sequence, shape (machines,), optional
            What is added to the end before it is compared, and in what is returned.

        Notes
        -----
        Of equal machines that is taken which the task occupies least, then the first.
        """
        lines, fit = self._lines, self._fit
        more = extra or [0] * len(ready)
        idle = [  # on idle machines, the best of which need not be the best
            (begin + cost + then, cost, machine)
            for machine, (cost, begin, then) in enumerate(
                zip(self.flat.costs[task], ready, more, strict=True)
            )
            if cost is not None
        ]
        idle.sort()
        least, brief, chosen, start = None, None, -1, None
        for soonest, cost, machine in idle:
            if chosen >= 0 and (soonest, cost, machine) > (least, brief, chosen):
                break
            begin = ready[machine]
            last = None if chosen < 0 else begin + least - soonest
            begin = fit(lines[machine], begin, cost, last)
            if begin is None:
                continue
            found = begin + cost + more[machine], cost, machine
            if chosen < 0 or found < (least, brief, chosen):
                (least, brief, chosen), start = found, begin
        return chosen, start, least

    def earliest_start(self, task: int, ready: Sequence[Any]) -> tuple[int, Any, Any]:
        """Return the machine on which a task starts first, and start and end there.

        Of equal machines that on which it ends first is taken, then the first.
        """
        lines, fit = self._lines, self._fit
        chosen, start, end = -1, None, None
        for machine, cost in enumerate(self.flat.costs[task]):
            if cost is None or (start is not None and ready[machine] > start):
                continue
            begin = fit(lines[machine], ready[machine], cost, start)
            if begin is None:
                continue
            if start is None or (begin, begin + cost) < (start, end):
                chosen, start, end = machine, begin, begin + cost
        return chosen, start, end
