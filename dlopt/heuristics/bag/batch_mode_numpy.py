"""Batch mode on arrays, for floats and for exact numbers that fit into floats.

Integers, and fractions scaled by the least common denominator, are computed in floats only while
every sum stays below 2^53, where floats are exact; so the answer is that of the reference
implementation, :func:`dlopt.heuristics.bag.batch_mode.map_by_steps`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from dlopt.heuristics.bag.instance_arrays import InstanceArrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_EXACT_SUM = 2.0**52
"""Bound of sums of integers: half of what floats hold exactly, as the bound itself is rounded."""


@dataclass(frozen=True, slots=True)
class FloatArrays:
    """The numbers of an instance as numpy arrays.

    Parameters
    ----------
    durations : array, shape (tasks, machines)
        Infinite where a task may not run.
    earliest_starts : array, shape (tasks, machines), optional
        None if every task can be everywhere before the first machine is ready.
    ready : array, shape (machines,)
    deadlines : array, shape (tasks,)
        Infinite where there is none.
    """

    durations: Floats
    earliest_starts: Floats | None
    ready: Floats
    deadlines: Floats

    @classmethod
    def from_arrays(cls, arrays: InstanceArrays) -> FloatArrays | None:
        """Return the numbers as floats, or None where the answer would not be exact.

        Examples
        --------
        >>> from dlopt.problems.bag import Instance
        >>> instance = Instance(etc=((Fraction(1, 3), Fraction(1, 2)),))
        >>> FloatArrays.from_arrays(InstanceArrays(instance)).durations.tolist()  # in sixths
        [[2.0, 3.0]]
        """
        import numpy as np

        unit = _common_denominator(arrays) if arrays.exact else None
        if arrays.exact and unit is None:
            return None

        def array(values: Any) -> Floats:
            """Return numbers as floats, None as NaN."""
            if unit is not None and unit > 1:
                values = [[None if v is None else int(v * unit) for v in row] for row in values]
            return np.array(values, dtype=np.float64)

        durations = array(arrays.durations)
        durations[np.isnan(durations)] = np.inf
        ready, deadlines = array([arrays.ready])[0], array([arrays.deadlines])[0]
        deadlines[np.isnan(deadlines)] = np.inf
        arrivals = array(arrays.arrivals)
        all_early = arrivals.max() <= ready.min()
        earliest_starts = None if all_early else arrivals[:, list(arrays.machine_sites)]
        if unit is not None:
            finite = np.where(np.isfinite(durations), durations, 0.0)
            last = finite.max(axis=1).sum() + max(ready.max(), arrivals.max())
            if not last < MAX_EXACT_SUM:
                return None
        return cls(durations, earliest_starts, ready, deadlines)


def _common_denominator(arrays: InstanceArrays) -> int | None:
    """Return the least common denominator of all numbers, or None if they are too large."""
    unit, largest = 1, Fraction(0)
    lists = (*arrays.durations, arrays.ready, arrays.deadlines, *arrays.arrivals)
    for number in chain.from_iterable(lists):
        if number is not None:
            largest = max(largest, number)
            if isinstance(number, Fraction):
                unit = math.lcm(unit, number.denominator)
    return unit if unit * largest < MAX_EXACT_SUM else None


def map_batch(floats: FloatArrays, rule: str, *, run_late: bool) -> list[tuple[int, int]]:
    """Return tasks in the order in which they are placed, each with its machine.

    See :func:`dlopt.heuristics.bag.batch_mode.map_batch`.
    """
    return list(_TournamentTree(floats, rule, run_late).steps())


class _TournamentTree:
    """Completion times of all tasks that are left on all machines, as a tournament of machines.

    Nodes 1 to 2 m - 1 are a heap: node m + k contains, for each task, the completion time on
    machine k, any other node the minimum of its two children; for sufferage, the second smallest
    value, too. A placement changes one machine, so only its ancestors are computed again: log2 m
    operations on whole arrays, whichever tasks had it as their best machine. Tasks that are placed
    remain in the arrays until half of them are placed.
    """

    def __init__(self, floats: FloatArrays, rule: str, run_late: bool) -> None:
        import numpy as np

        self.np = np
        self.rule = rule
        self.run_late = run_late
        self.free = floats.ready.tolist()
        self.machines = len(self.free)
        self.tasks = np.flatnonzero(np.isfinite(floats.durations).any(axis=1))
        self.deadlines = floats.deadlines[self.tasks]
        self.durations = self._by_machine(floats.durations)
        self.earliest_starts = (
            None if floats.earliest_starts is None else self._by_machine(floats.earliest_starts)
        )
        self.placed = np.zeros(len(self.tasks), dtype=bool)
        self.keys = np.empty(len(self.tasks))
        second_nodes = max(2, self.machines) if rule == "sufferage" else 0
        self._set_nodes(
            np.empty((2 * self.machines, len(self.tasks))),
            np.full((second_nodes, len(self.tasks)), np.inf),
        )
        for machine in range(self.machines):
            self._update_leaf(machine)
        for node in range(self.machines - 1, 0, -1):
            self._update_node(node)

    def _set_nodes(self, first: Floats, second: Floats) -> None:
        """Set arrays of shape (nodes, tasks); their rows are accessed faster in lists."""
        self.arrays, self.ends = (first, second), first[self.machines :]
        self.first, self.second = list(first), list(second)

    def _by_machine(self, array: Floats) -> Floats:
        return self.np.ascontiguousarray(array[self.tasks].T)

    def steps(self) -> Iterator[tuple[int, int]]:
        """Yield the steps."""
        for left in range(len(self.tasks), 0, -1):
            if 2 * left <= len(self.tasks):
                self._remove_placed()
            row = self._next_row()
            machine = int(self.ends[:, row].argmin())  # of equal machines the first
            yield int(self.tasks[row]), machine
            self.placed[row] = True
            end = float(self.first[1][row])
            if self.run_late or end <= self.deadlines[row]:
                self.free[machine] = end
                self._update_leaf(machine)
                node = (self.machines + machine) // 2
                while node:
                    self._update_node(node)
                    node //= 2

    def _next_row(self) -> int:
        """Return the row of the next task: the one with the least key."""
        np, first = self.np, self.first[1]
        if self.rule == "min-min":
            np.copyto(self.keys, first)
        elif self.rule == "max-min":
            np.negative(first, out=self.keys)
        else:
            np.subtract(first, self.second[1], out=self.keys)
        np.putmask(self.keys, self.placed, math.inf)
        return int(self.keys.argmin())

    def _update_leaf(self, machine: int) -> None:
        """Compute the completion time of each task on a machine."""
        free, ends = self.free[machine], self.ends[machine]
        if self.earliest_starts is None:
            self.np.add(self.durations[machine], free, out=ends)
        else:
            self.np.maximum(self.earliest_starts[machine], free, out=ends)
            self.np.add(ends, self.durations[machine], out=ends)

    def _update_node(self, node: int) -> None:
        """Compute a node from its children."""
        np, left, right = self.np, 2 * node, 2 * node + 1
        left_first, right_first = self.first[left], self.first[right]
        np.minimum(left_first, right_first, out=self.first[node])
        if self.second:
            second = self.second[node]
            np.maximum(left_first, right_first, out=second)
            if left < self.machines:  # a leaf has no second value
                np.minimum(second, self.second[left], out=second)
            if right < self.machines:
                np.minimum(second, self.second[right], out=second)

    def _remove_placed(self) -> None:
        """Remove the tasks that are placed from all arrays."""
        keep = ~self.placed

        def compress(array: Floats) -> Any:
            return self.np.compress(keep, array, axis=-1)

        self.tasks, self.deadlines = self.tasks[keep], compress(self.deadlines)
        self.durations = compress(self.durations)
        if self.earliest_starts is not None:
            self.earliest_starts = compress(self.earliest_starts)
        self._set_nodes(*map(compress, self.arrays))
        self.keys, self.placed = compress(self.keys), self.placed[keep]
