"""Levels of tasks: lengths of longest paths from the start and to the end of their graph."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, simplest
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.problems.dag.data import Instance


@dataclass(slots=True)
class MeanCosts:
    """Mean costs of tasks and of transfers.

    A task's mean is over the machines that can run it, a transfer's over all ordered pairs of
    different machines (of any machines where data that stays on one is sent, too).

    Attributes
    ----------
    scale : int
        Task costs, and levels, are multiplied by it, beyond the scale of the instance; 1 for
        floats.
    task_costs : list
        Of each task.
    latency, time_per_data : number
        Of a transfer; in the scale of the instance.
    """

    scale: int
    task_costs: list[Any]
    latency: Any
    time_per_data: Any

    @classmethod
    def from_arrays(cls, arrays: InstanceArrays) -> MeanCosts:
        """Return the means of an instance. Complexity: O(tasks x machines + classes^2)."""
        members = Counter(arrays.machine_class)
        pairs = 0
        latency, time_per_data = arrays.latency[0][0] * 0, arrays.time_per_data[0][0] * 0
        for source, source_count in members.items():
            for target, target_count in members.items():
                same = source == target and not arrays.local_transfers_counted
                count = source_count * (target_count - same)
                pairs += count
                latency += count * arrays.latency[source][target]
                time_per_data += count * arrays.time_per_data[source][target]
        if pairs:
            latency, time_per_data = mean(latency, pairs), mean(time_per_data, pairs)
        rows = {id(row): row for row in arrays.costs}
        known = {key: [cost for cost in row if cost is not None] for key, row in rows.items()}
        if arrays.floating:
            scale = 1
            means = {key: sum(costs) / len(costs) for key, costs in known.items()}
        else:
            scale = math.lcm(*{len(costs) for costs in known.values()})
            means = {key: sum(costs) * (scale // len(costs)) for key, costs in known.items()}
        return cls(scale, [means[id(row)] for row in arrays.costs], latency, time_per_data)

    @property
    def transfer(self) -> tuple[Any, Any]:
        """Latency and time per unit of data in the scale of the task costs."""
        return self.latency * self.scale, self.time_per_data * self.scale


def mean(total: Any, count: int) -> Any:
    """Return a total divided by a count, without rounding if it is exact."""
    return total / count if isinstance(total, float) else simplest(Fraction(total) / count)


def b_levels(arrays: InstanceArrays, mean_costs: MeanCosts, *, static: bool = False) -> list[Any]:
    """Return the b-levels: longest paths from the start of each task to the end of its graph.

    Parameters
    ----------
    arrays : InstanceArrays
    mean_costs : MeanCosts
    static : bool, default False
        Ignore transfers.

    Returns
    -------
    list
        In the scale of the mean task costs. Complexity: O(tasks + edges).
    """
    latency, time_per_data = (0, 0) if static else mean_costs.transfer
    level = list(mean_costs.task_costs)
    for task in reversed(arrays.topological_order):
        successors = arrays.successors[task]
        if successors:
            level[task] += max(
                latency + data * time_per_data + level[target] for target, data in successors
            )
    return level


def t_levels(arrays: InstanceArrays, mean_costs: MeanCosts) -> list[Any]:
    """Return the t-levels: longest paths from the start of a graph to that of each task.

    In the scale of the mean task costs. Complexity: O(tasks + edges).
    """
    (latency, time_per_data), costs = mean_costs.transfer, mean_costs.task_costs
    level = [arrays.latency[0][0] * 0] * arrays.task_count
    for task in arrays.topological_order:
        predecessors = arrays.predecessors[task]
        if predecessors:
            level[task] = max(
                level[source] + costs[source] + latency + data * time_per_data
                for source, data in predecessors
            )
    return level


def compute_levels(instance: Instance) -> Mapping[str, tuple[Number, ...]]:
    """Return the levels of all tasks, graph by graph, from mean costs and mean transfers.

    Returns
    -------
    mapping
        ``t-level``: the longest path from the start of the graph to the task, without it.
        ``b-level``: from the task to the end of the graph, with it. ``static-b-level``: the same
        without transfers. ``p-level``: the mean cost of the task alone.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", costs=(2, 4)), Task("b", costs=(1, 2)))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=5),))
    >>> levels = compute_levels(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> for name, values in levels.items():
    ...     print(name, *values)
    t-level 0 8
    b-level 19/2 3/2
    static-b-level 9/2 3/2
    p-level 3 3/2
    """
    arrays = InstanceArrays.from_instance(instance)
    mean_costs = MeanCosts.from_arrays(arrays)
    levels = {
        "t-level": t_levels(arrays, mean_costs),
        "b-level": b_levels(arrays, mean_costs),
        "static-b-level": b_levels(arrays, mean_costs, static=True),
        "p-level": mean_costs.task_costs,
    }
    return {
        name: tuple(arrays.in_instance_units(values, mean_costs.scale))
        for name, values in levels.items()
    }
