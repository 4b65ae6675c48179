"""Which LAN a graph gets that must stay in one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.levels import mean


def confine(flat: Flat) -> None:
    """Choose a LAN for every graph that must stay in one; its tasks then run nowhere else.

    Graphs are taken by arrival. Each goes where it would be complete first if the machines of a
    LAN shared the work of the graphs before it evenly, and then its own: that takes its longest
    path at the least costs, or an even share of its mean work, whichever is more.

    Complexity: O(LANs x (machines + tasks + edges)) for a graph.
    """
    graphs = flat.instance.graphs
    if not any(graph.one_lan for graph in graphs):
        return
    lans: dict[int | None, list[int]] = defaultdict(list)
    for place, machine in enumerate(flat.instance.machines):
        lans[machine.lan].append(place)
    groups = list(lans.values())
    busy = [flat.arrival[0] * 0 for _ in groups]
    position = [0] * flat.count
    for at, task in enumerate(flat.order):
        position[task] = at
    for at in sorted(range(len(graphs)), key=lambda at: (flat.arrival[flat.first[at]], at)):
        if graphs[at].one_lan:
            first = flat.first[at]
            tasks = sorted(range(first, first + len(graphs[at].tasks)), key=position.__getitem__)
            _settle(flat, tasks, groups, busy)


def _settle(
    flat: Flat, tasks: Sequence[int], groups: Sequence[Sequence[int]], busy: list[Any]
) -> None:
    """Choose the group of machines for the tasks of one graph, given in topological order."""
    best: tuple[Any, int, Any] | None = None
    for index, group in enumerate(groups):
        estimate = _estimate(flat, tasks, group)
        if estimate is not None:
            before, path, share, last = estimate
            begin = max(before, busy[index])
            found = (begin + max(path, share) + last, index, begin + share)
            best = found if best is None or found < best else best
    assert best is not None  # the data of an instance are refused otherwise
    _, chosen, busy[best[1]] = best
    inside = set(groups[chosen])
    rows: dict[int, list[Any]] = {}
    for task in tasks:
        row = flat.costs[task]
        if id(row) not in rows:
            rows[id(row)] = [cost if at in inside else None for at, cost in enumerate(row)]
    for task in tasks:
        flat.costs[task] = rows[id(flat.costs[task])]


def _estimate(
    flat: Flat, tasks: Sequence[int], group: Sequence[int]
) -> tuple[Any, Any, Any, Any] | None:
    """Return when a graph can begin on some machines, its longest path, share and output there.

    None if one of its tasks cannot run on any of them.
    """
    begin, last = flat.arrival[tasks[0]], flat.arrival[tasks[0]] * 0
    path: dict[int, Any] = {}
    share = last
    for task in tasks:
        costs = [flat.costs[task][place] for place in group if flat.costs[task][place] is not None]
        if not costs:
            return None
        before = [path[source] for source, _ in flat.before[task]]
        path[task] = min(costs) + (max(before) if before else last * 0)
        share += mean(sum(costs), len(costs))
        if task in flat.inbound:
            gate = min(flat.inbound[task][place] for place in group)
            begin = max(begin, flat.arrival[task] + gate)
        if task in flat.outbound:
            last = max(last, min(flat.outbound[task][place] for place in group))
    return begin, max(path.values()), mean(share, len(group)), last
