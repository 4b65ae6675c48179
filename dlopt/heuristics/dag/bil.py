"""BIL: the ready task of the largest best imaginary makespans, where its revised one is least."""

from __future__ import annotations

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.heft_family import optimistic_cost_table
from dlopt.heuristics.dag.levels import MeanCosts
from dlopt.heuristics.dag.list_scheduling import ReadyTasks
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


def best_imaginary_levels(partial: PartialSchedule) -> list[list[Number | None]]:
    """Return BIL(i, j) of every task i and machine j; None where the task cannot run.

    BIL(i, j) = w(i, j) + max over successors k of min(BIL(k, j), min over l != j of BIL(k, l) +
    c(i, k)), with costs w and the mean transfer c: what is left from the start of task i on machine
    j on, if every later task finds its best machine idle.

    Examples
    --------
    >>> from dlopt.heuristics.dag.instance_arrays import InstanceArrays
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", costs=(1, 1)), Task("b", costs=(2, 4))), (Edge(0, 1, 1),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> arrays = InstanceArrays.from_instance(instance)
    >>> [arrays.in_instance_units(row) for row in best_imaginary_levels(PartialSchedule(arrays))]
    [[3, 4], [2, 4]]
    """
    arrays = partial.arrays
    table = optimistic_cost_table(arrays, MeanCosts.from_arrays(arrays))
    return [
        [None if cost is None else cost + rest for cost, rest in zip(costs, row, strict=True)]
        for costs, row in zip(arrays.costs, table, strict=True)
    ]


def bil(partial: PartialSchedule) -> None:
    """Place ready tasks by their best imaginary makespans BIM(i, j) = EST(i, j) + BIL(i, j).

    With k ready tasks on p machines: of each task its BIM are sorted, and the task is taken whose
    k-th smallest is largest, then by the (k-1)-th and so on; where there are fewer than k, the
    largest counts. It is placed where BIM(i, j) + w(i, j) max(k/p - 1, 0) is least; of equal
    machines where the sum of that over the other ready tasks is largest. Then the first counts.

    Complexity: O(edges x machines + tasks x ready tasks x machines log machines). Source: Oh and
    Ha 1996.

    Examples
    --------
    After task a, c has BIM of 1 + 4 on m and 1 + 6 on n, b of 1 + 2 and 1 + 2 + 1 (data). Of two
    ready tasks the larger one counts: c goes first, to m until 5; b then to n, from 2 to 4.

    >>> from dlopt.heuristics.dag.rule_methods import bil
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = Task("a", costs=(1, 9)), Task("b", costs=(2, 2)), Task("c", costs=(4, 6))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=1), Edge(0, 2, data=1)))
    >>> plan = bil(Instance((Machine("m"), Machine("n")), (graph,))).solution
    >>> [(place.machine, place.start) for place in plan.placements]
    [(0, 0), (1, 2), (0, 1)]
    """
    arrays = partial.arrays
    levels, ready = best_imaginary_levels(partial), ReadyTasks(arrays)
    ready_times = {task: partial.ready_times(task) for task in ready.entry_tasks()}
    while ready_times:
        starts = {task: _starts(partial, task, row) for task, row in ready_times.items()}
        makespans = {
            task: [
                None if start is None or level is None else start + level
                for start, level in zip(row, levels[task], strict=True)
            ]
            for task, row in starts.items()
        }
        priority = {task: _priority(row, len(makespans)) for task, row in makespans.items()}
        task = max(priority, key=lambda task: (priority[task], -task))
        machine = _machine(partial, task, makespans)
        partial.place(task, machine, starts[task][machine])
        del ready_times[task]
        ready_times |= {other: partial.ready_times(other) for other in ready.schedule(task)}


def _starts(partial: PartialSchedule, task: int, ready: list[Number]) -> list[Number | None]:
    """Return the earliest start of a task on each machine; None where it cannot run."""
    costs = partial.arrays.costs[task]
    return [
        None if cost is None else partial.earliest_slot(task, machine, ready[machine])
        for machine, cost in enumerate(costs)
    ]


def _priority(makespans: list[Number | None], ready: int) -> list[Number]:
    """Return the k-th smallest makespan and the smaller ones, in falling order."""
    known = sorted(value for value in makespans if value is not None)
    ranked = known[:ready]
    missing = min(ready, len(makespans)) - len(ranked)
    return [*[known[-1]] * missing, *reversed(ranked)]


def _machine(partial: PartialSchedule, task: int, makespans: dict[int, list[Number | None]]) -> int:
    """Return the machine of the least revised makespan (here multiplied by the machines)."""
    arrays = partial.arrays
    count, waiting = arrays.machine_count, max(len(makespans) - arrays.machine_count, 0)

    def revised(one: int, machine: int) -> Number | None:
        value, cost = makespans[one][machine], arrays.costs[one][machine]
        return None if value is None else value * count + cost * waiting

    def of_others(machine: int) -> Number:
        values = [revised(other, machine) for other in makespans if other != task]
        return sum(value for value in values if value is not None)

    options = [(revised(task, machine), machine) for machine in range(count)]
    known = [(value, machine) for value, machine in options if value is not None]
    least = min(known)[0]
    best = [machine for value, machine in known if value == least]
    return max(best, key=lambda machine: (of_others(machine), -machine))
