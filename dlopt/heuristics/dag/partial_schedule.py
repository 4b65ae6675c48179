"""A partial schedule: the tasks placed so far, and where another would start or end first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.machine_timeline import MachineTimeline
from dlopt.problems.dag.data import Solution

SlotPolicy: TypeAlias = Literal["insertion", "append"]
FindStart: TypeAlias = Callable[[MachineTimeline, Any, Any, Any], Any]


class PartialSchedule:
    """The tasks that are placed so far, and the timelines of the machines.

    Parameters
    ----------
    arrays : InstanceArrays
    slots : {"insertion", "append"}, default "insertion"
        Whether a task may be inserted between two that are placed already.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)), (Edge(0, 1, data=1),))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> partial = PartialSchedule(arrays)
    >>> partial.place(0, machine=0, start=0)
    >>> in_units = arrays.in_instance_units
    >>> in_units(partial.ready_times(1))  # b waits for the transfer on the other machine
    [2, 3]
    """

    def __init__(self, arrays: InstanceArrays, slots: SlotPolicy = "insertion") -> None:
        self.arrays = arrays
        zero = 0.0 if arrays.floating else 0
        self.machine = [-1] * arrays.task_count
        self.start: list[Any] = [zero] * arrays.task_count
        self.finish: list[Any] = [zero] * arrays.task_count
        self._timelines = [MachineTimeline(zero) for _ in range(arrays.machine_count)]
        self._find_start: FindStart = (
            MachineTimeline.insertion_start
            if slots == "insertion"
            else MachineTimeline.append_start
        )
        self._uniform_network = len(arrays.latency) == 1 and not arrays.local_transfers_counted

    def to_solution(self) -> Solution:
        """Return the schedule, in the units of the instance."""
        return self.arrays.to_solution(self.machine, self.start)

    def place(self, task: int, machine: int, start: Any) -> None:
        """Place a task; the machine must be free."""
        cost = self.arrays.costs[task][machine]
        self.machine[task], self.start[task], self.finish[task] = machine, start, start + cost
        self._timelines[machine].occupy(start, cost)

    @contextmanager
    def tentatively(self) -> Iterator[None]:
        """Undo, in the end, all placements within the context."""
        timelines, machine = self._timelines, self.machine[:]
        self._timelines = [timeline.copy() for timeline in timelines]
        yield
        self._timelines, self.machine = timelines, machine

    def last_end(self, machine: int) -> Number:
        """Return when the last task on a machine ends; 0 if none takes time there."""
        end: Number = self._timelines[machine].end
        return end

    def ready_times(self, task: int) -> list[Any]:
        """Return when the data of a task is on each machine.

        Predecessors that are not placed yet are ignored. Complexity: O(predecessors x classes of
        machines + machines).
        """
        arrays = self.arrays
        arrival = arrays.arrival[task]
        if not arrays.predecessors[task]:
            inputs = arrays.input_times.get(task)
            if inputs is None:
                return [arrival] * arrays.machine_count
            return [arrival + time for time in inputs]
        if not self._uniform_network:
            return self._ready_times_by_class(task)
        latency, unit = arrays.latency[0][0], arrays.time_per_data[0][0]
        machine, finish = self.machine, self.finish
        last = other_last = arrival  # the last arrival of data, and the last from another machine
        last_source = -1
        for source, data in arrays.predecessors[task]:
            at = machine[source]
            if at >= 0:
                arrives = finish[source] + latency + data * unit
                if at == last_source:
                    last = arrives if arrives > last else last
                elif arrives > last:
                    last_source, last, other_last = at, arrives, last
                elif arrives > other_last:
                    other_last = arrives
        row = [last] * arrays.machine_count
        if last_source >= 0:
            row[last_source] = self._local_ready_time(task, last_source, other_last)
        return row

    def _ready_times_by_class(self, task: int) -> list[Any]:
        """Return `ready_times` where transfers depend on the classes of the two machines."""
        arrays, machine_class = self.arrays, self.arrays.machine_class
        classes = range(len(arrays.latency))
        arrival = arrays.arrival[task]
        last, other_last = [arrival for _ in classes], [arrival for _ in classes]
        last_source = [-1 for _ in classes]
        for source, data in arrays.predecessors[task]:
            at, finish = self.machine[source], self.finish[source]
            if at < 0:
                continue
            latency = arrays.latency[machine_class[at]]
            unit = arrays.time_per_data[machine_class[at]]
            for target in classes:
                arrives = finish + latency[target] + data * unit[target]
                if at == last_source[target]:
                    last[target] = max(last[target], arrives)
                elif arrives > last[target]:
                    last_source[target], other_last[target] = at, last[target]
                    last[target] = arrives
                elif arrives > other_last[target]:
                    other_last[target] = arrives
        row = [last[number] for number in machine_class]
        if not arrays.local_transfers_counted:
            for number, at in enumerate(last_source):
                if at >= 0 and machine_class[at] == number:
                    row[at] = self._local_ready_time(task, at, other_last[number])
        return row

    def _local_ready_time(self, task: int, machine: int, other_last: Any) -> Any:
        """Return when all data is on a machine, given the last arrival from another machine."""
        for source, _ in self.arrays.predecessors[task]:
            if self.machine[source] == machine and self.finish[source] > other_last:
                other_last = self.finish[source]
        return other_last

    def earliest_slot(self, task: int, machine: int, ready: Any) -> Any:
        """Return the earliest start on a machine that is not before `ready`."""
        cost = self.arrays.costs[task][machine]
        return self._find_start(self._timelines[machine], ready, cost, None)

    def earliest_finish(
        self, task: int, ready: Sequence[Any], extra: Sequence[Any] | None = None
    ) -> tuple[int, Any, Any]:
        """Return the machine on which a task ends first, its start there, and the end.

        Parameters
        ----------
        task : int
        ready : sequence, shape (machines,)
            The `ready_times` of the task.
        extra : sequence, shape (machines,), optional
            Is added to the end before it is compared, and in the end that is returned.

        Notes
        -----
        Of equal machines the one with the least cost of the task is chosen, then the first.
        """
        timelines, find_start = self._timelines, self._find_start
        more = extra or [0] * len(ready)
        idle = [  # the ends on idle machines, which are lower bounds
            (begin + cost + added, cost, machine)
            for machine, (cost, begin, added) in enumerate(
                zip(self.arrays.costs[task], ready, more, strict=True)
            )
            if cost is not None
        ]
        idle.sort()
        best_end, best_cost, chosen, start = None, None, -1, None
        for soonest, cost, machine in idle:
            if chosen >= 0 and (soonest, cost, machine) > (best_end, best_cost, chosen):
                break
            begin = ready[machine]
            latest = None if chosen < 0 else begin + best_end - soonest
            begin = find_start(timelines[machine], begin, cost, latest)
            if begin is None:
                continue
            candidate = begin + cost + more[machine], cost, machine
            if chosen < 0 or candidate < (best_end, best_cost, chosen):
                (best_end, best_cost, chosen), start = candidate, begin
        return chosen, start, best_end

    def earliest_start(self, task: int, ready: Sequence[Any]) -> tuple[int, Any, Any]:
        """Return the machine on which a task starts first, and start and end there.

        Of equal machines the one on which it ends first is chosen, then the first.
        """
        timelines, find_start = self._timelines, self._find_start
        chosen, start, end = -1, None, None
        for machine, cost in enumerate(self.arrays.costs[task]):
            if cost is None or (start is not None and ready[machine] > start):
                continue
            begin = find_start(timelines[machine], ready[machine], cost, start)
            if begin is None:
                continue
            if start is None or (begin, begin + cost) < (start, end):
                chosen, start, end = machine, begin, begin + cost
        return chosen, start, end
