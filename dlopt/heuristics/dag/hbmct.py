"""HBMCT: groups of independent tasks by decreasing b-level, each balanced over the machines."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.levels import MeanCosts, b_levels
from dlopt.heuristics.dag.list_scheduling import schedule_by_priority
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


def independent_groups(arrays: InstanceArrays) -> list[list[int]]:
    """Return the tasks by decreasing b-level, in groups of consecutive independent tasks.

    A group ends before the first task that has a predecessor in it.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate((2, 3, 4, 1)))
    >>> graph = Graph("g", tasks, (Edge(0, 1), Edge(0, 2), Edge(1, 3)))
    >>> independent_groups(InstanceArrays.from_instance(Instance((Machine("m"),), (graph,))))
    [[0], [1, 2], [3]]
    """
    keys = [-level for level in b_levels(arrays, MeanCosts.from_arrays(arrays))]
    sequence: list[int] = []
    schedule_by_priority(PartialSchedule(arrays), keys, sequence.append)
    groups: list[list[int]] = []
    members: set[int] = set()
    for task in sequence:
        if not groups or any(source in members for source, _ in arrays.predecessors[task]):
            groups.append([])
            members = set()
        groups[-1].append(task)
        members.add(task)
    return groups


def hbmct(partial: PartialSchedule) -> None:
    """Schedule the groups one after another, each by balanced minimum completion time (BMCT).

    At first every task of the group is on the machine of its least cost. Tasks of a machine run in
    the order in which their data is there. Then, as long as there is such a task, the first task of
    the machine that ends last is moved which that machine would end without earlier, and with which
    another machine ends earlier than it did; to the one that ends first.

    Complexity: O(edges + tasks x machines), and O(machines x tasks of the group) for a task that is
    tried. Source: Sakellariou and Zhao 2004.

    Examples
    --------
    All three are fastest on m, which would end at 7. Moved to n, the first one (by b-level) would
    end at 5: m ends at 4. No other move ends before 5.

    >>> from dlopt.heuristics.dag.rule_methods import hbmct
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> tasks = Task("a", costs=(3, 5)), Task("b", costs=(2, 4)), Task("c", costs=(2, 4))
    >>> instance = Instance((Machine("m"), Machine("n")), (Graph("g", tasks),))
    >>> plan = hbmct(instance).solution
    >>> [(place.machine, place.start) for place in plan.placements]
    [(1, 0), (0, 0), (0, 2)]
    """
    for group in independent_groups(partial.arrays):
        balanced = _BalancedGroup(partial, group)
        balanced.balance()
        for machine, tasks in enumerate(balanced.queues):
            for task, start in zip(tasks, balanced.starts(machine, tasks), strict=True):
                partial.place(task, machine, start)


class _BalancedGroup:
    """The tasks of one group on their machines.

    Attributes
    ----------
    queues : list of list of int
        The tasks of each machine, in their order.
    ends : list
        When each machine is idle.
    """

    def __init__(self, partial: PartialSchedule, group: Sequence[int]) -> None:
        machines = range(partial.arrays.machine_count)
        self.costs = partial.arrays.costs
        self.idle_from = [partial.last_end(machine) for machine in machines]
        self.ready = {task: partial.ready_times(task) for task in group}
        self.rank = {task: place for place, task in enumerate(group)}
        self.queues: list[list[int]] = [[] for _ in machines]
        for task in group:
            costs = [
                (cost, machine) for machine, cost in enumerate(self.costs[task]) if cost is not None
            ]
            self.queues[min(costs)[1]].append(task)
        for machine, queue in enumerate(self.queues):
            self._sort(queue, machine)
        self.ends = [self._end(machine, queue) for machine, queue in enumerate(self.queues)]

    def starts(self, machine: int, tasks: Sequence[int]) -> list[Number]:
        """Return when tasks start, one after the other on a machine."""
        idle, starts = self.idle_from[machine], []
        for task in tasks:
            ready, cost = self.ready[task][machine], self.costs[task][machine]
            start = ready if ready >= idle or not cost else idle
            starts.append(start)
            idle = max(idle, start + cost) if cost else idle
        return starts

    def balance(self) -> None:
        """Move tasks from the machine that ends last, as long as that lets it end earlier."""
        while self._move():
            pass

    def _move(self) -> bool:
        """Move one task; return whether there was one."""
        machines = range(len(self.queues))
        last = max(machines, key=lambda machine: (self.ends[machine], -machine))
        for task in self.queues[last]:
            without = [other for other in self.queues[last] if other != task]
            end_without = self._end(last, without)
            if end_without >= self.ends[last]:
                continue
            options = [
                (self._end(machine, self._with(machine, task)), machine)
                for machine in machines
                if machine != last and self.costs[task][machine] is not None
            ]
            if options and min(options)[0] < self.ends[last]:
                end, machine = min(options)
                self.queues[machine] = self._with(machine, task)
                self.queues[last] = without
                self.ends[last], self.ends[machine] = end_without, end
                return True
        return False

    def _with(self, machine: int, task: int) -> list[int]:
        queue = [*self.queues[machine], task]
        self._sort(queue, machine)
        return queue

    def _sort(self, queue: list[int], machine: int) -> None:
        queue.sort(key=lambda task: (self.ready[task][machine], self.rank[task]))

    def _end(self, machine: int, tasks: Sequence[int]) -> Number:
        """Return when a machine is idle after some tasks; those that take no time do not count."""
        idle = self.idle_from[machine]
        for task in tasks:
            cost = self.costs[task][machine]
            if cost:
                idle = max(idle, self.ready[task][machine]) + cost
        return idle
