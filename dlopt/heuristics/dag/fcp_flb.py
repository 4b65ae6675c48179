"""FCP and FLB: two candidates for each placement, instead of all tasks and machines.

The *enabling* machine of a task runs the predecessor from which the last data comes.
"""

from __future__ import annotations

import heapq
from collections import deque

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.levels import MeanCosts, b_levels
from dlopt.heuristics.dag.list_scheduling import ReadyTasks
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


class _Candidates:
    """What both rules need to know of ready tasks and machines.

    Attributes
    ----------
    ready_times : dict
        Of the tasks that are ready, by machine.
    """

    def __init__(self, partial: PartialSchedule) -> None:
        arrays = partial.arrays
        self.partial, self.arrays, self.ready = partial, arrays, ReadyTasks(arrays)
        mean_costs = MeanCosts.from_arrays(arrays)
        self.level = b_levels(arrays, mean_costs)
        self._latency, self._unit = mean_costs.latency, mean_costs.time_per_data
        self.ready_times: dict[int, list[Number]] = {}

    def add(self, task: int) -> None:
        """Note when the data of a task that is ready is on each machine."""
        self.ready_times[task] = self.partial.ready_times(task)

    def last_message(self, task: int) -> tuple[Number, int]:
        """Return when the last data comes, from its machine to others, and that machine.

        Of a task without predecessors, its arrival and -1.
        """
        partial, last, machine = self.partial, self.arrays.arrival[task], -1
        for source, data in self.arrays.predecessors[task]:
            arrives = partial.finish[source] + self._latency + data * self._unit
            if machine < 0 or arrives > last:
                last, machine = arrives, partial.machine[source]
        return last, machine

    def start(self, task: int, machine: int) -> Number:
        """Return the earliest start of a task on a machine, after its last task."""
        ready = self.ready_times[task][machine]
        start: Number = self.partial.earliest_slot(task, machine, ready)
        return start

    def idle_first(self, task: int) -> int:
        """Return the machine that is idle first, of those that can run a task.

        Of equal ones that of the least cost.
        """
        options = [
            (self.partial.last_end(machine), cost, machine)
            for machine, cost in enumerate(self.arrays.costs[task])
            if cost is not None
        ]
        return min(options)[2]

    def place(self, task: int, machine: int) -> list[int]:
        """Place a task; return the tasks that become ready."""
        self.partial.place(task, machine, self.start(task, machine))
        del self.ready_times[task]
        return self.ready.schedule(task)


def fcp(partial: PartialSchedule) -> None:
    """Place ready tasks by decreasing b-level on the enabling machine, or that idle first.

    Of the two the one is taken on which the task ends first; of equal ones the first. As many tasks
    as there are machines are sorted; others wait in the order in which they became ready.

    Complexity: O(edges + tasks x machines). Source: Radulescu and van Gemund 1999 and 2000.

    Examples
    --------
    b and c need the data of a, which ends on m at 2. b has the larger level, and runs on m until
    5; n is idle first for c, which ends there at 2 + 1 + 2, and on m at 7.

    >>> from dlopt.heuristics.dag.rule_methods import fcp
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = Task("a", work=2), Task("b", work=3), Task("c", work=2)
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> plan = fcp(Instance((Machine("m"), Machine("n")), (graph,))).solution
    >>> [(place.machine, place.start) for place in plan.placements]
    [(0, 0), (0, 2), (1, 3)]
    """
    candidates = _Candidates(partial)
    costs, level = partial.arrays.costs, candidates.level
    queue: list[tuple[Number, int]] = []
    waiting = deque(candidates.ready.entry_tasks())
    while queue or waiting:
        while waiting and len(queue) < partial.arrays.machine_count:
            task = waiting.popleft()
            heapq.heappush(queue, (-level[task], task))
        task = heapq.heappop(queue)[1]
        candidates.add(task)
        machines = [candidates.idle_first(task)]
        enabling = candidates.last_message(task)[1]
        if enabling >= 0 and costs[task][enabling] is not None:
            machines.insert(0, enabling)
        ends = [candidates.start(task, machine) + costs[task][machine] for machine in machines]
        machine = machines[ends.index(min(ends))]
        waiting.extend(candidates.place(task, machine))


def flb(partial: PartialSchedule) -> None:
    """Place the ready task that starts first, by two candidates.

    A task is of type EP if its last data comes when its enabling machine has become idle, or later.
    The candidates are the task of type EP that starts first on its enabling machine (of those of a
    machine the one whose data is there first), and of the other tasks the one whose last data comes
    first, on the machine that is idle first. The one that starts first is placed; of equal ones the
    second. Of equal tasks that of the largest b-level is taken, then the first.

    Complexity: O(edges + tasks x (machines + log tasks)). Source: Radulescu and van Gemund 1999.

    Examples
    --------
    When a has ended on m at 2, b and c are of type EP, with data there at 2. b has the larger level
    and takes m until 5. The last data of c then comes at 3, before that: it is not of type EP any
    more, and starts on n, which is idle first, at 3.

    >>> from dlopt.heuristics.dag.rule_methods import flb
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = Task("a", work=2), Task("b", work=3), Task("c", work=2)
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> plan = flb(Instance((Machine("m"), Machine("n")), (graph,))).solution
    >>> [(place.machine, place.start) for place in plan.placements]
    [(0, 0), (0, 2), (1, 3)]
    """
    _FastLoadBalancing(partial).run()


class _FastLoadBalancing:
    """FLB's lists of ready tasks.

    Tasks of type EP stand in two heaps of their enabling machine: by the arrival of their data
    there, and by their last data. Entries of tasks that are no longer in `enabling` are skipped.
    """

    def __init__(self, partial: PartialSchedule) -> None:
        self.candidates = _Candidates(partial)
        machines = partial.arrays.machine_count
        self.enabling: dict[int, int] = {}
        self.by_data: list[list[tuple[Number, Number, int]]] = [[] for _ in range(machines)]
        self.by_last: list[list[tuple[Number, Number, int]]] = [[] for _ in range(machines)]
        self.others: list[tuple[Number, Number, int]] = []

    def run(self) -> None:
        """Place all tasks."""
        for task in self.candidates.ready.entry_tasks():
            self._add(task)
        while self.enabling or self.others:
            task, machine = self._chosen()
            if self.enabling.pop(task, None) is None:
                heapq.heappop(self.others)
            added = self.candidates.place(task, machine)
            self._demote(machine)
            for target in added:
                self._add(target)

    def _add(self, task: int) -> None:
        """Put a task that has become ready into the lists of its type."""
        candidates = self.candidates
        candidates.add(task)
        last, machine = candidates.last_message(task)
        level = -candidates.level[task]
        able = machine >= 0 and candidates.arrays.costs[task][machine] is not None
        if able and last >= candidates.partial.last_end(machine):
            self.enabling[task] = machine
            data = candidates.ready_times[task][machine]
            heapq.heappush(self.by_data[machine], (data, level, task))
            heapq.heappush(self.by_last[machine], (last, level, task))
        else:
            heapq.heappush(self.others, (last, level, task))

    def _demote(self, machine: int) -> None:
        """Move tasks whose last data now comes before their enabling machine is idle."""
        heap, idle = self.by_last[machine], self.candidates.partial.last_end(machine)
        while heap and (heap[0][2] not in self.enabling or heap[0][0] < idle):
            entry = heapq.heappop(heap)
            if self.enabling.pop(entry[2], None) is not None:
                heapq.heappush(self.others, entry)

    def _chosen(self) -> tuple[int, int]:
        """Return the task and the machine of the better candidate."""
        candidates = self.candidates
        options: list[tuple[Number, int, Number, int, int]] = []
        for machine, heap in enumerate(self.by_data):
            while heap and heap[0][2] not in self.enabling:
                heapq.heappop(heap)
            if heap:
                _, level, task = heap[0]
                options.append((candidates.start(task, machine), 1, level, task, machine))
        if self.others:
            _, level, task = self.others[0]
            machine = candidates.idle_first(task)
            options.append((candidates.start(task, machine), 0, level, task, machine))
        return min(options)[3:]
