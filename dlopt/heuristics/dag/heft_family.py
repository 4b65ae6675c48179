"""List schedulers for heterogeneous machines: HEFT, CPOP, PEFT, and HEFT with lookahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.levels import MeanCosts, b_levels, t_levels
from dlopt.heuristics.dag.list_scheduling import schedule_by_priority
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


def place_at_earliest_finish(partial: PartialSchedule, task: int) -> None:
    """Place a task where it ends first, or where its output arrives first."""
    output_times = partial.arrays.output_times.get(task)
    machine, start, _ = partial.earliest_finish(task, partial.ready_times(task), output_times)
    partial.place(task, machine, start)


def place_at_earliest_start(partial: PartialSchedule, task: int) -> None:
    """Place a task where it starts first."""
    machine, start, _ = partial.earliest_start(task, partial.ready_times(task))
    partial.place(task, machine, start)


def heft(partial: PartialSchedule) -> None:
    """Place tasks by decreasing b-level, each where it ends first."""
    ranks = b_levels(partial.arrays, MeanCosts.from_arrays(partial.arrays))
    keys = [-rank for rank in ranks]
    schedule_by_priority(partial, keys, lambda task: place_at_earliest_finish(partial, task))


def cpop(partial: PartialSchedule) -> None:
    """Place ready tasks by decreasing t-level + b-level; a critical path on one machine."""
    arrays = partial.arrays
    mean_costs = MeanCosts.from_arrays(arrays)
    upward = b_levels(arrays, mean_costs)
    downward = t_levels(arrays, mean_costs)
    priorities = [t + b for t, b in zip(downward, upward, strict=True)]
    critical_machine: dict[int, int] = {}
    for path in critical_paths(arrays, mean_costs, upward):
        machine = _critical_path_processor(arrays, path)
        critical_machine |= {
            task: machine for task in path if arrays.costs[task][machine] is not None
        }

    def place(task: int) -> None:
        machine = critical_machine.get(task)
        if machine is None:
            place_at_earliest_finish(partial, task)
        else:
            ready = partial.ready_times(task)[machine]
            partial.place(task, machine, partial.earliest_slot(task, machine, ready))

    schedule_by_priority(partial, [-priority for priority in priorities], place)


def critical_paths(
    arrays: InstanceArrays, mean_costs: MeanCosts, upward: Sequence[Any]
) -> list[list[int]]:
    """Return a longest path of each graph; of equal paths the first.

    Parameters
    ----------
    arrays : InstanceArrays
    mean_costs : MeanCosts
    upward : sequence, shape (tasks,)
        The b-levels (upward ranks).

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = (Task("a", work=1), Task("b", work=2), Task("c", work=3))
    >>> graph = Graph("g", tasks, (Edge(0, 1), Edge(0, 2)))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"),), (graph,)))
    >>> mean_costs = MeanCosts.from_arrays(arrays)
    >>> critical_paths(arrays, mean_costs, b_levels(arrays, mean_costs))
    [[0, 2]]
    """
    entry: dict[int, int] = {}
    for task, graph in enumerate(arrays.graph_of):
        is_entry = not arrays.predecessors[task]
        if is_entry and (graph not in entry or upward[task] > upward[entry[graph]]):
            entry[graph] = task
    latency, unit = mean_costs.transfer
    paths = []
    for task in entry.values():
        path = [task]
        while arrays.successors[path[-1]]:
            lengths = [
                (latency + data * unit + upward[target], -target)
                for target, data in arrays.successors[path[-1]]
            ]
            path.append(-max(lengths)[1])
        paths.append(path)
    return paths


def _critical_path_processor(arrays: InstanceArrays, path: Sequence[int]) -> int:
    """Return the machine that can run most tasks of a path, and of these takes least for it."""

    def key(machine: int) -> tuple[int, Any]:
        costs = [arrays.costs[task][machine] for task in path]
        return costs.count(None), sum(cost for cost in costs if cost is not None)

    return min(range(arrays.machine_count), key=key)


def peft(partial: PartialSchedule) -> None:
    """Place ready tasks by decreasing mean optimistic cost, each where end + cost is least."""
    arrays = partial.arrays
    mean_costs = MeanCosts.from_arrays(arrays)
    table = optimistic_cost_table(arrays, mean_costs)
    ranks = []
    for costs, row in zip(arrays.costs, table, strict=True):
        eligible = [value for cost, value in zip(costs, row, strict=True) if cost is not None]
        total, count = sum(eligible), len(eligible)
        ranks.append(total / count if arrays.floating else total * (mean_costs.scale // count))

    def place(task: int) -> None:
        ready = partial.ready_times(task)
        machine, start, _ = partial.earliest_finish(task, ready, table[task])
        partial.place(task, machine, start)

    schedule_by_priority(partial, [-rank for rank in ranks], place)


def optimistic_cost_table(arrays: InstanceArrays, mean_costs: MeanCosts) -> list[list[Any]]:
    """Return the optimistic cost table (OCT): what follows each task on each machine, at best.

    Of the next task, the best machine counts, with the mean transfer to any but the same; the
    output of the graph, if it is sent, comes last. Complexity: O(edges x machines).

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", costs=(1, 1)), Task("b", costs=(2, 4))), (Edge(0, 1, 1),))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> table = optimistic_cost_table(arrays, MeanCosts.from_arrays(arrays))
    >>> [arrays.in_instance_units(row) for row in table]  # from n: 4 there, or 1 + 2 on m
    [[2, 3], [0, 0]]
    """
    table: list[list[Any]] = [[] for _ in range(arrays.task_count)]
    with_cost: list[list[Any]] = [[] for _ in range(arrays.task_count)]
    no_output = [mean_costs.task_costs[0] * 0] * arrays.machine_count
    for task in reversed(arrays.topological_order):
        row = arrays.output_times.get(task, no_output)
        for target, data in arrays.successors[task]:
            of_target = with_cost[target]
            elsewhere = min(value for value in of_target if value is not None)
            elsewhere += mean_costs.latency + data * mean_costs.time_per_data
            row = [
                max(
                    old,
                    elsewhere
                    if here is None or arrays.local_transfers_counted or here > elsewhere
                    else here,
                )
                for old, here in zip(row, of_target, strict=True)
            ]
        table[task] = row
        with_cost[task] = [
            None if cost is None else cost + value
            for cost, value in zip(arrays.costs[task], row, strict=True)
        ]
    return table


def lookahead(partial: PartialSchedule) -> None:
    """Place tasks by decreasing b-level, each where the last of its successors ends first.

    Successors are placed tentatively, by decreasing b-level, each where it ends first; their other
    predecessors count if they are placed already.
    """
    arrays = partial.arrays
    ranks = b_levels(arrays, MeanCosts.from_arrays(arrays))
    successors = [
        sorted((target for target, _ in targets), key=lambda target: (-ranks[target], target))
        for targets in arrays.successors
    ]

    def place(task: int) -> None:
        if not successors[task]:
            place_at_earliest_finish(partial, task)
            return
        ready = partial.ready_times(task)
        best: tuple[Any, Any, int, Any] | None = None
        for machine, cost in enumerate(arrays.costs[task]):
            if cost is None:
                continue
            start = partial.earliest_slot(task, machine, ready[machine])
            with partial.tentatively():
                partial.place(task, machine, start)
                last = max(_place_and_return_end(partial, target) for target in successors[task])
            candidate = (last, start + cost, machine, start)
            if best is None or candidate < best:
                best = candidate
        assert best is not None  # every task runs somewhere
        partial.place(task, *best[2:])

    schedule_by_priority(partial, [-rank for rank in ranks], place)


def _place_and_return_end(partial: PartialSchedule, task: int) -> Any:
    """Place a task where it ends first, and return when it ends, or when its output arrives."""
    output_times = partial.arrays.output_times.get(task)
    machine, start, end = partial.earliest_finish(task, partial.ready_times(task), output_times)
    partial.place(task, machine, start)
    return end
