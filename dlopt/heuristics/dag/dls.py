"""DLS and GDL: the pair of ready task and machine of the largest dynamic level."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.list_scheduling import ReadyTasks, schedule_best_pair_first
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


def doubled_medians(arrays: InstanceArrays) -> list[Number]:
    """Return twice the median cost E*(i) of every task over all machines.

    A machine that cannot run a task counts as infinite; where the median would be infinite, it is
    the largest cost.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> tasks = (Task("a", costs=(1, 2, 6, 9)), Task("b", costs=(None, 3, 5, None)))
    >>> machines = tuple(Machine(f"m{k}") for k in range(4))
    >>> doubled_medians(InstanceArrays.from_instance(Instance(machines, (Graph("g", tasks),))))
    [8, 10]
    """
    upper = arrays.machine_count // 2
    lower = (arrays.machine_count - 1) // 2
    medians = []
    for row in arrays.costs:
        costs = sorted(cost for cost in row if cost is not None)
        if upper < len(costs):
            medians.append(costs[lower] + costs[upper])
        else:
            medians.append(2 * costs[-1])
    return medians


def doubled_static_levels(arrays: InstanceArrays, medians: Sequence[Number]) -> list[Number]:
    """Return twice the static levels SL*(i) = E*(i) + max over successors k of SL*(k)."""
    levels = list(medians)
    for task in reversed(arrays.topological_order):
        levels[task] += max((levels[target] for target, _ in arrays.successors[task]), default=0)
    return levels


def dls(partial: PartialSchedule) -> None:
    """Place the pair of the largest DL(i, j) = SL*(i) - max(DA(i, j), TF(j)) + E*(i) - E(i, j).

    DA is when the data is on machine j, TF when its last task ends, and E the cost. For one task
    the level is largest where it ends first. Of equal levels the first task is taken.

    Complexity: O(edges + tasks x machines), and O(machines) again for a level that is outdated.
    Source: Sih and Lee 1993.

    Examples
    --------
    Levels are SL* = 7, 2 and 5 for a, b and c. At first b has DL = 2 - 0 on both machines, and a
    has 7 + (2 - 2) on both: a goes to m until 2. Then c has 5 - 2 there, 5 - 5 on n; b has 2 - 0 on
    n. So c starts at 2 on m, and b at 0 on n.

    >>> from dlopt.heuristics.dag.rule_methods import dls
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = Task("a", work=2), Task("b", work=2), Task("c", work=5)
    >>> graph = Graph("g", tasks, (Edge(0, 2, data=3),))
    >>> plan = dls(Instance((Machine("m"), Machine("n")), (graph,))).solution
    >>> [(place.machine, place.start) for place in plan.placements]
    [(0, 0), (1, 0), (0, 2)]
    """
    medians = doubled_medians(partial.arrays)
    levels = doubled_static_levels(partial.arrays, medians)

    def score(task: int, ready: Sequence[Number]) -> tuple[Number, int, Number]:
        machine, start, end = partial.earliest_finish(task, ready)
        return 2 * end - levels[task] - medians[task], machine, start

    schedule_best_pair_first(partial, score)


def gdl(partial: PartialSchedule) -> None:
    """Place the ready task of the largest generalised dynamic level on its preferred machine.

    DL2(i, j) = DL(i, j) + DC(i, j), see `descendant_considerations`; the preferred machine has the
    largest DL2, and GDL(i) = DL2(i, preferred) + (DL2(i, preferred) - the largest other DL2): the
    second term is the cost of not running there. A task that can run on one machine alone comes
    first. Of equal machines that of the least cost, and of equal tasks the first one is taken.

    Complexity: O(edges + tasks x ready tasks x machines). Source: Sih and Lee 1993.

    Examples
    --------
    For task a alone, both machines are equal, and DLS takes m. Its successor b takes 9 there, or
    3 on n, with a transfer 2 more: DC is 6 - 5 on m and 6 - 3 on n, so GDL takes n.

    >>> from dlopt.heuristics.dag.rule_methods import dls, gdl
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=1), Task("b", costs=(9, 3))), (Edge(0, 1, 2),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> dls(instance).value, gdl(instance).value
    (6, 4)
    """
    arrays = partial.arrays
    medians = doubled_medians(arrays)
    levels = doubled_static_levels(arrays, medians)
    considerations = descendant_considerations(arrays, medians)
    ready = ReadyTasks(arrays)
    ready_times = {task: partial.ready_times(task) for task in ready.entry_tasks()}

    def choice(task: int) -> tuple[tuple[int, Number], int, int, Number]:
        options = []
        for machine, cost in enumerate(arrays.costs[task]):
            if cost is not None:
                start = partial.earliest_slot(task, machine, ready_times[task][machine])
                level = levels[task] + medians[task] - 2 * (start + cost)
                level += considerations[task][machine]
                options.append((-level, cost, machine, start))
        best, *others = heapq.nsmallest(2, options)
        loss, _, machine, start = best
        key = (0, loss) if not others else (1, 2 * loss - others[0][0])
        return key, task, machine, start

    while ready_times:
        _, task, machine, start = min(map(choice, ready_times))
        partial.place(task, machine, start)
        del ready_times[task]
        ready_times |= {other: partial.ready_times(other) for other in ready.schedule(task)}


def descendant_considerations(
    arrays: InstanceArrays, medians: Sequence[Number]
) -> list[list[Number]]:
    """Return twice DC(i, j) = E*(d) - min(E(d, j), min over k != j of E(d, k) + C(j, k)).

    d is the successor to which task i sends most data (of equal ones the first), and C the transfer
    of that data from machine j to k. Of a task without successors it is 0.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=1), Task("b", costs=(9, 3))), (Edge(0, 1, 2),))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> descendant_considerations(arrays, doubled_medians(arrays))  # b: there at 3, or moved at 5
    [[2, 6], [0, 0]]
    """
    machines = range(arrays.machine_count)
    found: list[list[Number]] = []
    for successors in arrays.successors:
        if not successors:
            found.append([0] * arrays.machine_count)
            continue
        child, data = max(successors, key=lambda pair: (pair[1], -pair[0]))
        least = _least_by_class(arrays, child)
        found.append(
            [medians[child] - 2 * _least_cost(arrays, child, data, j, least) for j in machines]
        )
    return found


def _least_by_class(arrays: InstanceArrays, task: int) -> list[list[tuple[Number, int]]]:
    """Return the two least costs in each class of machines, with their machines."""
    of_class: list[list[tuple[Number, int]]] = [[] for _ in arrays.latency]
    for machine, cost in enumerate(arrays.costs[task]):
        if cost is not None:
            of_class[arrays.machine_class[machine]].append((cost, machine))
    return [heapq.nsmallest(2, pairs) for pairs in of_class]


def _least_cost(
    arrays: InstanceArrays,
    task: int,
    data: Number,
    machine: int,
    least: list[list[tuple[Number, int]]],
) -> Number:
    """Return the least cost of a task, with the transfer if it is not on the given machine."""
    source = arrays.machine_class[machine]
    options = []
    if arrays.costs[task][machine] is not None:
        options.append(arrays.costs[task][machine])
    for target, pairs in enumerate(least):
        transfer = arrays.latency[source][target] + data * arrays.time_per_data[source][target]
        options += [cost + transfer for cost, other in pairs if other != machine]
    least_cost: Number = min(options)
    return least_cost
