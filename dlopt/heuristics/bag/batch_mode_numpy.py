"""The batch heuristics on arrays, for floats and for exact numbers that fit into floats.

Integers, and fractions scaled by the least common denominator, are computed in floats only while
every sum stays below 2^53, where floats are exact; so the answer is that of the plain way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from dlopt.heuristics.bag.instance_arrays import Case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SAFE = 2.0**52
"""Sums of integers stay below; half of what floats hold exactly, as the bound itself is rounded."""


@dataclass(frozen=True, slots=True)
class Program:
    """A case as arrays.

    Parameters
    ----------
    durations : array, shape (tasks, machines)
        Infinite where a task may not run.
    earliest : array, shape (tasks, machines), optional
        None if every task can be everywhere before the first machine is ready.
    ready : array, shape (machines,)
    deadlines : array, shape (tasks,)
        Infinite where there is none.
    """

    durations: Floats
    earliest: Floats | None
    ready: Floats
    deadlines: Floats

    @classmethod
    def of(cls, case: Case) -> Program | None:
        """Return the arrays of a case, or None where floats would not give its exact answer."""
        import numpy as np

        unit = _unit(case) if case.exact else None
        if case.exact and unit is None:
            return None

        def array(values: Any) -> Floats:
            """Return numbers as floats, None as NaN."""
            if unit is not None and unit > 1:
                values = [[None if v is None else int(v * unit) for v in row] for row in values]
            return np.array(values, dtype=np.float64)

        durations = array(case.rows)
        durations[np.isnan(durations)] = np.inf
        ready, deadlines = array([case.ready])[0], array([case.deadlines])[0]
        deadlines[np.isnan(deadlines)] = np.inf
        arrivals = array(case.arrivals)
        earliest = None if arrivals.max() <= ready.min() else arrivals[:, list(case.sites)]
        if unit is not None:
            finite = np.where(np.isfinite(durations), durations, 0.0)
            last = finite.max(axis=1).sum() + max(ready.max(), arrivals.max())
            if not last < SAFE:
                return None
        return cls(durations, earliest, ready, deadlines)


def _unit(case: Case) -> int | None:
    """Return the least common denominator of all numbers, or None if they are too large."""
    unit, largest = 1, Fraction(0)
    lists = (*case.rows, case.ready, case.deadlines, *case.arrivals)
    for number in chain.from_iterable(lists):
        if number is not None:
            largest = max(largest, number)
            if isinstance(number, Fraction):
                unit = math.lcm(unit, number.denominator)
    return unit if unit * largest < SAFE else None


def ordered(program: Program, choice: str, *, late: bool) -> list[tuple[int, int]]:
    """Return tasks in the order in which they are placed, each with its machine.

    See :func:`dlopt.heuristics.bag.batch_mode.ordered`.
    """
    return list(_Steps(program, choice, late).all())


class _Steps:
    """The ends of all tasks that are left on all machines, as a tournament of the machines.

    Nodes 1 to 2 m - 1 are a heap: node m + k holds, of each task, the end on machine k, any other
    node the less of what its two children hold; for sufferage, what comes second, too. A placement
    changes one machine, so only its ancestors are computed again: log2 m operations on whole
    arrays, whichever tasks had it as their best. Tasks that are placed stay in the arrays until
    these are half empty.
    """

    def __init__(self, program: Program, choice: str, late: bool) -> None:
        import numpy as np

        self.np = np
        self.choice = choice
        self.late = late
        self.free = program.ready.tolist()
        self.machines = len(self.free)
        self.tasks = np.flatnonzero(np.isfinite(program.durations).any(axis=1))
        self.deadlines = program.deadlines[self.tasks]
        self.durations = self._by_machine(program.durations)
        self.earliest = None if program.earliest is None else self._by_machine(program.earliest)
        self.gone = np.zeros(len(self.tasks), dtype=bool)
        self.keys = np.empty(len(self.tasks))
        runners_up = max(2, self.machines) if choice == "sufferage" else 0
        self._nodes(
            np.empty((2 * self.machines, len(self.tasks))),
            np.full((runners_up, len(self.tasks)), np.inf),
        )
        for machine in range(self.machines):
            self._play(machine)
        for node in range(self.machines - 1, 0, -1):
            self._match(node)

    def _nodes(self, first: Floats, second: Floats) -> None:
        """Take arrays of shape (nodes, tasks); their rows are found faster in lists."""
        self.arrays, self.ends = (first, second), first[self.machines :]
        self.first, self.second = list(first), list(second)

    def _by_machine(self, array: Floats) -> Floats:
        return self.np.ascontiguousarray(array[self.tasks].T)

    def all(self) -> Iterator[tuple[int, int]]:
        """Yield the steps."""
        for left in range(len(self.tasks), 0, -1):
            if 2 * left <= len(self.tasks):
                self._shrink()
            row = self._next()
            machine = int(self.ends[:, row].argmin())  # of equals the first
            yield int(self.tasks[row]), machine
            self.gone[row] = True
            end = float(self.first[1][row])
            if self.late or end <= self.deadlines[row]:
                self.free[machine] = end
                self._play(machine)
                node = (self.machines + machine) // 2
                while node:
                    self._match(node)
                    node //= 2

    def _next(self) -> int:
        """Return the row of the task that is next: the one with the least key."""
        np, first = self.np, self.first[1]
        if self.choice == "min-min":
            np.copyto(self.keys, first)
        elif self.choice == "max-min":
            np.negative(first, out=self.keys)
        else:
            np.subtract(first, self.second[1], out=self.keys)
        np.putmask(self.keys, self.gone, math.inf)
        return int(self.keys.argmin())

    def _play(self, machine: int) -> None:
        """Compute when each task would end on a machine."""
        free, ends = self.free[machine], self.ends[machine]
        if self.earliest is None:
            self.np.add(self.durations[machine], free, out=ends)
        else:
            self.np.maximum(self.earliest[machine], free, out=ends)
            self.np.add(ends, self.durations[machine], out=ends)

    def _match(self, node: int) -> None:
        """Compute a node from its children."""
        np, left, right = self.np, 2 * node, 2 * node + 1
        one, other = self.first[left], self.first[right]
        np.minimum(one, other, out=self.first[node])
        if self.second:
            second = self.second[node]
            np.maximum(one, other, out=second)
            if left < self.machines:  # a machine by itself has no second
                np.minimum(second, self.second[left], out=second)
            if right < self.machines:
                np.minimum(second, self.second[right], out=second)

    def _shrink(self) -> None:
        """Leave out the tasks that are placed."""
        keep = ~self.gone

        def kept(array: Floats) -> Any:
            return self.np.compress(keep, array, axis=-1)

        self.tasks, self.deadlines = self.tasks[keep], kept(self.deadlines)
        self.durations = kept(self.durations)
        self.earliest = None if self.earliest is None else kept(self.earliest)
        self._nodes(*map(kept, self.arrays))
        self.keys, self.gone = kept(self.keys), self.gone[keep]
