"""The schedule of one site: tasks by earliest deadline, idle time first, ejection of long tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.machine_sequence import MachineSequence, due_date


class SiteSchedule:
    """The machines of one site, to which tasks are assigned by earliest deadline.

    Parameters
    ----------
    arrays : InstanceArrays
    machines : iterable of int
    weights : sequence of int
        Of each task: its part of the objective value.

    Attributes
    ----------
    sequences : dict of int to MachineSequence
        By machine.

    Examples
    --------
    Of two tasks that cannot both be on time, the longer one is ejected.

    >>> from dlopt.problems.bag import Instance, Machine, Task
    >>> tasks = (Task("long", 4, absolute_deadline=4), Task("short", 1, absolute_deadline=4))
    >>> arrays = InstanceArrays(Instance(tasks, (Machine("m"),)))
    >>> schedule = SiteSchedule(arrays, (0,), (1, 1))
    >>> schedule.assign((0, 1))
    >>> schedule.sequences[0].tasks
    [1]
    """

    def __init__(
        self, arrays: InstanceArrays, machines: Iterable[int], weights: Sequence[int]
    ) -> None:
        self._arrays, self._weights = arrays, weights
        self.sequences = {machine: MachineSequence(arrays, machine) for machine in machines}

    @property
    def tasks(self) -> list[int]:
        """All tasks that are run."""
        return [task for sequence in self.sequences.values() for task in sequence.tasks]

    @property
    def weight(self) -> int:
        """The sum of the weights of the tasks that are run."""
        return sum(self._weights[task] for task in self.tasks)

    def assign(self, tasks: Iterable[int]) -> None:
        """Assign tasks by deadline; those that cannot be on time, or are ejected, are left out.

        Complexity: O(n (m + r)) for n tasks and m machines, where r is what it takes to find a task
        to eject: at most O(n) trials of O(n) for each machine, mostly one.
        """

        def key(task: int) -> tuple[Number, int, int]:
            return due_date(self._arrays, task), -self._weights[task], task

        for task in sorted(tasks, key=key):
            if not self.insert(task):
                self._replace(task)

    def insert(self, task: int) -> bool:
        """Insert a task so that all tasks remain on time; return whether that is possible.

        A machine at whose end the task would be late, but which has room for it in front of other
        tasks, is preferred; then the slowest machine on which it is on time, so that fast ones
        remain for urgent tasks.
        """
        durations, choices = self._arrays.durations[task], []
        for machine, sequence in self.sequences.items():
            found = sequence.position(task)
            if found is not None:
                position, end = found
                at_end = position == len(sequence.tasks)
                choices.append(((at_end, -durations[machine], end), machine, position))
        if choices:
            _, machine, position = min(choices)
            self.sequences[machine].insert(position, task)
        return bool(choices)

    def _replace(self, task: int) -> None:
        """Eject a task of less weight, or a longer one of the same weight, in favour of another.

        The one of least weight, and of these the one that saves most time.
        """
        durations, best = self._arrays.durations, None
        for machine, sequence in self.sequences.items():
            duration = durations[task][machine]
            if duration is None:
                continue
            for other in sequence.tasks:
                gain = self._weights[task] - self._weights[other]
                score = gain, durations[other][machine] - duration
                if score <= (0, 0) or (best is not None and score <= best[0]):
                    continue
                reduced = sequence.without(other)
                found = reduced.position(task)
                if found is not None:
                    best = score, reduced, found[0]
        if best is not None:
            _, reduced, position = best
            reduced.insert(position, task)
            self.sequences[reduced.machine] = reduced
