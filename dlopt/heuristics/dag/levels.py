"""Levels of tasks: how long the way from the start and to the end of their graph is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number, simplest
from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.problems.dag.data import Instance


@dataclass(slots=True)
class Means:
    """What tasks and transfers take on average.

    A task's mean is over the machines that can run it, a transfer's over all ordered pairs of
    different machines (of any machines where data that stays on one is sent, too).

    Attributes
    ----------
    scale : int
        Weights, and levels, are multiplied by it, beyond the scale of the instance; 1 for floats.
    weight : list
        Of each task.
    latency, unit : number
        What a transfer takes, and takes more for a unit of data; in the scale of the instance.
    """

    scale: int
    weight: list[Any]
    latency: Any
    unit: Any

    @classmethod
    def of(cls, flat: Flat) -> Means:
        """Return the means of an instance. Complexity: O(tasks x machines + classes^2)."""
        members = Counter(flat.kinds)
        pairs, latency, unit = 0, flat.latency[0][0] * 0, flat.unit[0][0] * 0
        for one, count in members.items():
            for other, many in members.items():
                ways = count * (many - (one == other and not flat.counted))
                pairs += ways
                latency += ways * flat.latency[one][other]
                unit += ways * flat.unit[one][other]
        if pairs:
            latency, unit = mean(latency, pairs), mean(unit, pairs)
        rows = {id(row): row for row in flat.costs}
        known = {key: [cost for cost in row if cost is not None] for key, row in rows.items()}
        if flat.floating:
            scale = 1
            means = {key: sum(costs) / len(costs) for key, costs in known.items()}
        else:
            scale = math.lcm(*{len(costs) for costs in known.values()})
            means = {key: sum(costs) * (scale // len(costs)) for key, costs in known.items()}
        return cls(scale, [means[id(row)] for row in flat.costs], latency, unit)

    @property
    def transfer(self) -> tuple[Any, Any]:
        """Latency and time a unit of data in the scale of the weights."""
        return self.latency * self.scale, self.unit * self.scale


def mean(total: Any, count: int) -> Any:
    """Return a share of a total, without rounding if it is exact."""
    return total / count if isinstance(total, float) else simplest(Fraction(total) / count)


def bottom(flat: Flat, means: Means, *, static: bool = False) -> list[Any]:
    """Return the b-levels: the longest way from the start of each task to the end of its graph.

    Parameters
    ----------
    flat : Flat
    means : Means
    static : bool, default False
        Leave transfers out.

    Returns
    -------
    list
        In the scale of the weights. Complexity: O(tasks + edges).
    """
    latency, unit = (0, 0) if static else means.transfer
    level = list(means.weight)
    for task in reversed(flat.order):
        after = flat.after[task]
        if after:
            level[task] += max(latency + data * unit + level[target] for target, data in after)
    return level


def top(flat: Flat, means: Means) -> list[Any]:
    """Return the t-levels: the longest way from the start of a graph to that of each task.

    In the scale of the weights. Complexity: O(tasks + edges).
    """
    (latency, unit), weight = means.transfer, means.weight
    level = [flat.latency[0][0] * 0] * flat.count
    for task in flat.order:
        before = flat.before[task]
        if before:
            level[task] = max(
                level[source] + weight[source] + latency + data * unit for source, data in before
            )
    return level


def levels(instance: Instance) -> Mapping[str, tuple[Number, ...]]:
    """Return the levels of all tasks, graph by graph, from mean costs and mean transfers.

    Returns
    -------
    mapping
        ``t-level``: the longest way from the start of the graph to the task, without it.
        ``b-level``: from the task to the end of the graph, with it. ``static-b-level``: the same
        without transfers. ``p-level``: the mean cost of the task alone.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = (Task("a", costs=(2, 4)), Task("b", costs=(1, 2)))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=5),))
    >>> for name, found in levels(Instance((Machine("m"), Machine("n")), (graph,))).items():
    ...     print(name, *found)
    t-level 0 8
    b-level 19/2 3/2
    static-b-level 9/2 3/2
    p-level 3 3/2
    """
    flat = Flat.of(instance)
    means = Means.of(flat)
    found = {
        "t-level": top(flat, means),
        "b-level": bottom(flat, means),
        "static-b-level": bottom(flat, means, static=True),
        "p-level": means.weight,
    }
    return {name: tuple(flat.in_units(some, means.scale)) for name, some in found.items()}
