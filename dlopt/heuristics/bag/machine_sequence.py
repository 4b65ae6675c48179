"""The sequence of tasks on a machine, each started as early as the sequence allows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.bag.gds import TaskRun
from dlopt.heuristics.bag.instance_arrays import InstanceArrays


class MachineSequence:
    """A machine with its tasks in their order.

    Parameters
    ----------
    arrays : InstanceArrays
    machine : int
        0-based.
    tasks : sequence of int
        In their order; each must meet its deadline.

    Attributes
    ----------
    ends : list of Number
        When each task ends.
    latest_starts : list of Number
        When each task must start at the latest, so that it and all after it meet their deadlines.

    Notes
    -----
    In floats the latest starts may be off by a few units in the last place.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=due) for name, due in (("a", 5), ("b", 3)))
    >>> sequence = MachineSequence(InstanceArrays(Instance(tasks, (Machine("m"),))), 0)
    >>> sequence.insert(0, 0)
    >>> sequence.latest_starts, sequence.position(1)
    ([3], (0, 2))
    >>> sequence.insert(0, 1)
    >>> sequence.tasks, sequence.ends, sequence.without(1).tasks
    ([1, 0], [2, 4], [0])
    """

    __slots__ = ("_arrays", "_site", "ends", "latest_starts", "machine", "tasks")

    def __init__(self, arrays: InstanceArrays, machine: int, tasks: Sequence[int] = ()) -> None:
        self._arrays, self._site = arrays, arrays.machine_sites[machine]
        self.machine = machine
        self.tasks = list(tasks)
        self.ends: list[Number] = []
        self.latest_starts: list[Number] = []
        self._update()

    def position(self, task: int) -> tuple[int, Number] | None:
        """Return where a task can be inserted so that all deadlines are met, and when it ends.

        The position is the last one if the deadlines permit, otherwise the first one possible: in
        idle time in front of a task that waits for its input, or before tasks that are not urgent.

        Returns
        -------
        tuple of int and Number, or None
            None if there is no position, or the machine cannot run the task.

        Notes
        -----
        Complexity: O(1) if it is the last position, otherwise O(n) for n tasks.
        """
        arrays = self._arrays
        duration = arrays.durations[task][self.machine]
        if duration is None:
            return None
        arrival, due = arrays.arrivals[task][self._site], due_date(arrays, task)
        free, count = arrays.ready[self.machine], len(self.tasks)
        end = max(self.ends[-1] if count else free, arrival) + duration
        if end <= due:
            return count, end
        for position in range(count):
            end = max(free, arrival) + duration
            if end > due:
                return None
            if end <= self.latest_starts[position]:
                return position, end
            free = self.ends[position]
        return None

    def insert(self, position: int, task: int) -> None:
        """Insert a task at a position; those after it start later if they must."""
        self.tasks.insert(position, task)
        self._update()

    def without(self, task: int) -> MachineSequence:
        """Return the sequence without one of its tasks; those after it start earlier."""
        others = [other for other in self.tasks if other != task]
        return MachineSequence(self._arrays, self.machine, others)

    def runs(self) -> list[TaskRun]:
        """Return the intervals in which the machine runs its tasks."""
        durations = self._arrays.durations
        return [
            TaskRun(task, end - durations[task][self.machine], end)
            for task, end in zip(self.tasks, self.ends, strict=True)
        ]

    def _update(self) -> None:
        arrays, machine = self._arrays, self.machine
        durations = [arrays.durations[task][machine] for task in self.tasks]
        free, self.ends = arrays.ready[machine], []
        for task, duration in zip(self.tasks, durations, strict=True):
            free = max(free, arrays.arrivals[task][self._site]) + duration
            self.ends.append(free)
        latest, starts = math.inf, []
        for task, duration in zip(reversed(self.tasks), reversed(durations), strict=True):
            latest = min(latest, due_date(arrays, task)) - duration
            starts.append(latest)
        self.latest_starts = starts[::-1]


def due_date(arrays: InstanceArrays, task: int) -> Number:
    """Return the deadline of a task, infinite if it has none."""
    deadline = arrays.deadlines[task]
    return math.inf if deadline is None else deadline
