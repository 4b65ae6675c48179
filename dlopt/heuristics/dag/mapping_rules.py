"""Mapping rules for independent tasks, on the ready tasks of graphs.

MCT takes tasks in topological order. The others choose among all ready tasks by their earliest
completion times: the least (Min-min), the largest (Max-min), or the one of the task that would lose
most on its second-best machine (Sufferage).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.list_scheduling import ReadyTasks, schedule_best_pair_first
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


class Completion(NamedTuple):
    """The earliest end of a task, its machine and start, and the earliest end elsewhere.

    `second_end` and `second_machine` are None if the task can run on one machine alone.
    """

    end: Number
    machine: int
    start: Number
    second_end: Number | None
    second_machine: int | None


def mct(partial: PartialSchedule) -> None:
    """Place the tasks in topological order, each where it ends first.

    Complexity: O(edges + tasks x machines). Source: minimum completion time of Maheswaran et al.
    1999.

    Examples
    --------
    a takes machine m until 2; b would end on n at 9, and after a at 4:

    >>> from dlopt.heuristics.dag.rule_methods import mct, sufferage
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", costs=(2, 3)), Task("b", costs=(2, 9))))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> mct(instance).value, sufferage(instance).value  # b would lose more, and comes first
    (4, 3)
    """
    for task in partial.arrays.topological_order:
        machine, start, _ = partial.earliest_finish(task, partial.ready_times(task))
        partial.place(task, machine, start)


def min_min(partial: PartialSchedule) -> None:
    """Place the ready task that ends first, where it does; of equal ones the first.

    Complexity: O(edges + tasks x machines), and O(machines) again for an end that is outdated.
    Source: Min-min of Braun et al. 2001, on ready tasks as in Mandal et al. 2005.

    Examples
    --------
    Works of 1, 2 and 3: the two short ones take both machines, and the long one waits until 1.

    >>> from dlopt.heuristics.dag.rule_methods import max_min, min_min
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k) for k in (1, 2, 3)))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> min_min(instance).value, max_min(instance).value
    (4, 3)
    """

    def score(task: int, ready: Sequence[Number]) -> tuple[Number, int, Number]:
        machine, start, end = partial.earliest_finish(task, ready)
        return end, machine, start

    schedule_best_pair_first(partial, score)


def max_min(partial: PartialSchedule) -> None:
    """Place the ready task whose earliest end is last, where it ends first.

    Complexity: see `schedule_largest_first`. Source: Max-min of Braun et al. 2001, on ready tasks
    as in Mandal et al. 2005.
    """
    schedule_largest_first(partial, lambda best: best.end)


def sufferage(partial: PartialSchedule) -> None:
    """Place the ready task with the largest difference of its two earliest ends on two machines.

    A task that can run on one machine alone comes first. Complexity: see `schedule_largest_first`.
    Source: Sufferage of Maheswaran et al. 1999, on ready tasks as in Mandal et al. 2005.
    """

    def key(best: Completion) -> tuple[int, Number]:
        if best.second_end is None:
            return 1, best.end * 0
        return 0, best.second_end - best.end

    schedule_largest_first(partial, key)


def schedule_largest_first(
    partial: PartialSchedule, key: Callable[[Completion], Number | tuple[int, Number]]
) -> None:
    """Place every task, always the ready one of the largest key, where it ends first.

    Of equal keys the first task is taken, of equal machines that of the least cost. Only tasks
    whose best or second-best machine has been taken are evaluated again. Complexity: O(edges) in
    all, O(ready tasks) for a task, and O(machines log machines) for every evaluation.

    Examples
    --------
    >>> from dlopt.heuristics.dag.instance_arrays import InstanceArrays
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k) for k in (1, 2, 3)))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> partial = PartialSchedule(InstanceArrays.from_instance(instance), "append")
    >>> max_min(partial)
    >>> partial.machine, partial.arrays.in_instance_units(partial.start)
    ([1, 1, 0], [2, 0, 0])
    """
    ready = ReadyTasks(partial.arrays)
    ready_times = {task: partial.ready_times(task) for task in ready.entry_tasks()}
    best = {task: _completion(partial, task, row) for task, row in ready_times.items()}
    while best:
        task = max(best, key=lambda task: (key(best[task]), -task))
        taken = best.pop(task)
        partial.place(task, taken.machine, taken.start)
        del ready_times[task]
        for other, known in best.items():
            if taken.machine in (known.machine, known.second_machine):
                best[other] = _completion(partial, other, ready_times[other])
        for other in ready.schedule(task):
            ready_times[other] = partial.ready_times(other)
            best[other] = _completion(partial, other, ready_times[other])


def _completion(partial: PartialSchedule, task: int, ready: list[Number]) -> Completion:
    options = []
    for machine, cost in enumerate(partial.arrays.costs[task]):
        if cost is not None:
            start = partial.earliest_slot(task, machine, ready[machine])
            options.append((start + cost, cost, machine, start))
    options.sort()
    end, _, machine, start = options[0]
    if len(options) == 1:
        return Completion(end, machine, start, None, None)
    return Completion(end, machine, start, options[1][0], options[1][2])
