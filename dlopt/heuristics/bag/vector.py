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

from dlopt.heuristics.bag.case import Case

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

    See :func:`dlopt.heuristics.bag.batch.ordered`.
    """
    return list(_Steps(program, choice, late).all())


class _Steps:
    """The two best machines of each task that is left, and what the third best is at least.

    Ends only grow, so two machines stay the best until one of them is no better than the third
    was. Tasks that are placed stay in the arrays until these are half empty.
    """

    def __init__(self, program: Program, choice: str, late: bool) -> None:
        import numpy as np

        self.np = np
        self.choice = choice
        self.late = late
        self.tasks = np.flatnonzero(np.isfinite(program.durations).any(axis=1))
        self.durations = program.durations[self.tasks]
        self.earliest = None if program.earliest is None else program.earliest[self.tasks]
        self.deadlines = program.deadlines[self.tasks]
        self.free = program.ready.copy()
        count = len(self.tasks)
        self.first, self.second = np.zeros((2, count), dtype=np.intp)
        self.first_end, self.second_end, self.third_end, self.keys = np.zeros((4, count))
        if count:
            self._anew(np.arange(count))
            self._rank(slice(None))

    def all(self) -> Iterator[tuple[int, int]]:
        """Yield the steps."""
        left = len(self.tasks)
        while left:
            row = int(self.keys.argmin())
            machine, end = int(self.first[row]), self.first_end[row]
            yield int(self.tasks[row]), machine
            left -= 1
            self.keys[row] = math.inf
            self.first[row] = self.second[row] = -1
            if self.late or end <= self.deadlines[row]:
                self.free[machine] = end
                self._grown(machine)
            if 2 * left <= len(self.tasks):
                self._shrink()

    def _grown(self, machine: int) -> None:
        """Bring the tasks up to date of which a machine was the best or the second best."""
        np = self.np
        rows = ((self.first == machine) | (self.second == machine)).nonzero()[0]
        if not rows.size:
            return
        end = self._ends(rows, machine)
        best = self.first[rows] == machine
        other = np.where(best, self.second[rows], self.first[rows])
        other_end = np.where(best, self.second_end[rows], self.first_end[rows])
        ahead = (end < other_end) | ((end == other_end) & (machine < other))
        self.first[rows] = np.where(ahead, machine, other)
        self.second[rows] = np.where(ahead, other, machine)
        self.first_end[rows] = np.where(ahead, end, other_end)
        self.second_end[rows] = np.where(ahead, other_end, end)
        stale = rows[end >= self.third_end[rows]]
        if stale.size:
            self._anew(stale)
        self._rank(rows)

    def _anew(self, rows: Any) -> None:
        """Find the best machines of some tasks among all."""
        ends = self._ends(rows, slice(None))
        here = self.np.arange(len(rows))
        self.first[rows] = best = ends.argmin(axis=1)
        self.first_end[rows] = ends[here, best]
        ends[here, best] = math.inf
        best = ends.argmin(axis=1)
        self.second_end[rows] = found = ends[here, best]
        self.second[rows] = self.np.where(found < math.inf, best, -1)
        ends[here, best] = math.inf
        self.third_end[rows] = ends.min(axis=1)

    def _rank(self, rows: Any) -> None:
        """Say of some tasks which is next: the one with the least key."""
        first = self.first_end[rows]
        if self.choice == "min-min":
            self.keys[rows] = first
        elif self.choice == "max-min":
            self.keys[rows] = -first
        else:
            self.keys[rows] = first - self.second_end[rows]

    def _ends(self, rows: Any, machines: Any) -> Any:
        """Return when tasks would end on machines."""
        free = self.free[machines]
        if self.earliest is not None:
            free = self.np.maximum(free, self.earliest[rows, machines])
        return free + self.durations[rows, machines]

    def _shrink(self) -> None:
        """Leave out the tasks that are placed."""
        keep = self.keys < math.inf
        for name in ("tasks", "deadlines", "durations", "first", "second", "keys"):
            setattr(self, name, getattr(self, name)[keep])
        for name in ("first_end", "second_end", "third_end"):
            setattr(self, name, getattr(self, name)[keep])
        self.earliest = None if self.earliest is None else self.earliest[keep]
