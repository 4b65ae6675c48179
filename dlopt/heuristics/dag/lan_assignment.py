"""Assignment of LANs to graphs that must stay in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.levels import mean


def assign_lans(arrays: InstanceArrays) -> None:
    """Assign a LAN to every graph that must stay in one; its tasks then run nowhere else.

    Graphs are assigned by arrival. Each goes where it would be complete first if the machines of a
    LAN shared the work of the graphs before it evenly, and then its own: that takes its longest
    path at the least costs, or an even share of its mean work, whichever is more.

    Complexity: O(LANs x (machines + tasks + edges)) for a graph.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Lan, Machine, Network, Task
    >>> machines = (Machine("slow", lan=0), Machine("fast", power=2, lan=1))
    >>> graph = Graph("g", (Task("a", work=2),), one_lan=True)
    >>> instance = Instance(machines, (graph,), Network(lans=(Lan("a"), Lan("b"))))
    >>> arrays = InstanceArrays.from_instance(instance)
    >>> assign_lans(arrays)
    >>> [cost is not None for cost in arrays.costs[0]]
    [False, True]
    """
    graphs = arrays.instance.graphs
    if not any(graph.one_lan for graph in graphs):
        return
    lans: dict[int | None, list[int]] = defaultdict(list)
    for index, machine in enumerate(arrays.instance.machines):
        lans[machine.lan].append(index)
    groups = list(lans.values())
    busy_until = [arrays.arrival[0] * 0 for _ in groups]
    rank = [0] * arrays.task_count
    for position, task in enumerate(arrays.topological_order):
        rank[task] = position
    by_arrival = sorted(
        range(len(graphs)), key=lambda graph: (arrays.arrival[arrays.first_task[graph]], graph)
    )
    for graph in by_arrival:
        if graphs[graph].one_lan:
            first = arrays.first_task[graph]
            tasks = range(first, first + len(graphs[graph].tasks))
            _assign_lan(arrays, sorted(tasks, key=rank.__getitem__), groups, busy_until)


def _assign_lan(
    arrays: InstanceArrays,
    tasks: Sequence[int],
    groups: Sequence[Sequence[int]],
    busy_until: list[Any],
) -> None:
    """Assign a group of machines to the tasks of one graph, given in topological order."""
    best: tuple[Any, int, Any] | None = None
    for index, group in enumerate(groups):
        estimate = _estimate(arrays, tasks, group)
        if estimate is not None:
            begin, path, share, output = estimate
            begin = max(begin, busy_until[index])
            candidate = (begin + max(path, share) + output, index, begin + share)
            best = candidate if best is None or candidate < best else best
    assert best is not None  # the data of an instance are refused otherwise
    _, chosen, busy_until[best[1]] = best
    inside = set(groups[chosen])
    rows: dict[int, list[Any]] = {}
    for task in tasks:
        row = arrays.costs[task]
        if id(row) not in rows:
            rows[id(row)] = [
                cost if machine in inside else None for machine, cost in enumerate(row)
            ]
    for task in tasks:
        arrays.costs[task] = rows[id(arrays.costs[task])]


def _estimate(
    arrays: InstanceArrays, tasks: Sequence[int], group: Sequence[int]
) -> tuple[Any, Any, Any, Any] | None:
    """Estimate a graph on some machines: its begin, longest path, share of work and output time.

    None if one of its tasks cannot run on any of them.
    """
    begin, output = arrays.arrival[tasks[0]], arrays.arrival[tasks[0]] * 0
    path: dict[int, Any] = {}
    work = output
    for task in tasks:
        row = arrays.costs[task]
        costs = [row[machine] for machine in group if row[machine] is not None]
        if not costs:
            return None
        before = [path[source] for source, _ in arrays.predecessors[task]]
        path[task] = min(costs) + (max(before) if before else output * 0)
        work += mean(sum(costs), len(costs))
        if task in arrays.input_times:
            transfer = min(arrays.input_times[task][machine] for machine in group)
            begin = max(begin, arrays.arrival[task] + transfer)
        if task in arrays.output_times:
            output = max(output, min(arrays.output_times[task][machine] for machine in group))
    return begin, max(path.values()), mean(work, len(group)), output
