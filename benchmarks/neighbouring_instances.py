"""Instances that differ a little from others, and allow less: all but those of streams.

A certificate of one must not be accepted as one of the other: see
`benchmarks.altered_certificates`.
"""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.problems import coreservation, dag


def changed(instance: Any, draw: random.Random) -> Any:
    """Return an instance that allows less: a task takes longer, or its graph has an edge more."""
    if instance.problem == "iit":
        return _less_nodes(instance, draw)
    if instance.problem == "coreservation":
        return _less_cpu(instance, draw)
    if instance.problem == "bag":
        if instance.etc is None:
            at = draw.randrange(len(instance.tasks))
            task = instance.tasks[at]
            due = task.absolute_deadline
            later = {"release": task.release + 1}
            less_time = later if due is None else {"absolute_deadline": due - 1}
            change = draw.choice(({"work": task.work + 1}, less_time))
            tasks = [*instance.tasks]
            tasks[at] = replace(task, **change)
            return replace(instance, tasks=tuple(tasks))
        rows = [list(row) for row in instance.etc]
        row = draw.choice(rows)
        at = draw.choice([k for k, time in enumerate(row) if time is not None])
        row[at] = draw.choice(
            (row[at] + 1, row[at] + 1, None if len(row) > row.count(None) + 1 else 9)
        )
        return replace(instance, etc=tuple(map(tuple, rows)))
    return _less_time(instance, draw)


def _less_nodes(instance: Any, draw: random.Random) -> Any:
    """Return a larger load, or one of nodes that are ready later, are slower or have set-ups."""
    cluster, node = instance.cluster, draw.randrange(instance.cluster.nodes)
    way = draw.choice(("load", "ready", "tau", "chi", "theta_cm", "theta_cp", "deadline"))
    if way == "load":
        return replace(instance, load=instance.load + draw.choice((1, Fraction(1, 50))))
    if way == "deadline" and instance.absolute_deadline is not None:
        return replace(instance, absolute_deadline=instance.absolute_deadline - Fraction(1, 2))
    if way in ("ready", "deadline"):
        ready = list(instance.ready_times)
        ready[node] += draw.choice((1, Fraction(1, 50)))
        return replace(instance, ready_times=tuple(ready))
    costs = getattr(cluster, way)
    if isinstance(costs, tuple):
        costs = tuple(cost + (k == node) for k, cost in enumerate(costs))
    else:
        costs += Fraction(1, 10)
    return replace(instance, cluster=replace(cluster, **{way: costs}))


def _less_time(instance: Any, draw: random.Random) -> Any:
    """Return an instance in which a graph needs more time, comes later or is due earlier."""
    which = draw.randrange(len(instance.graphs))
    graph = instance.graphs[which]
    graphs, tasks, edges = list(instance.graphs), list(graph.tasks), list(graph.edges)
    at, due = draw.randrange(len(tasks)), graph.absolute_deadline
    if due is not None and draw.random() < 0.3:
        later = {"arrival": min(graph.arrival + 1, due)}
        earlier = {"absolute_deadline": max(graph.arrival, due - 1)}
        graphs[which] = replace(graph, **draw.choice((later, earlier)))
        return replace(instance, graphs=tuple(graphs))
    if edges and draw.random() < 0.5:
        place = draw.randrange(len(edges))
        edges[place] = replace(edges[place], data=edges[place].data + 1)
    elif draw.random() < 0.5:
        known = {(edge.source, edge.target) for edge in edges}
        pairs = [(k, len(tasks) - 1) for k in range(len(tasks) - 1)]
        edges += [dag.Edge(*pair, 1) for pair in pairs if pair not in known][:1]
    elif tasks[at].work is not None:
        tasks[at] = replace(tasks[at], work=tasks[at].work + 1)
    else:
        tasks[at] = replace(tasks[at], costs=tuple(cost + 1 for cost in tasks[at].costs))
    graphs[which] = replace(graph, tasks=tuple(tasks), edges=tuple(edges))
    return replace(instance, graphs=tuple(graphs))


def _less_cpu(instance: Any, draw: random.Random) -> Any:
    """Return an instance in which a machine has less CPU, or a request needs more, or longer."""
    machines, requests = list(instance.machines), list(instance.requests)
    at, k = draw.randrange(len(machines)), draw.randrange(len(requests))
    request, way = requests[k], draw.choice(("machine", "holding", "window", "least", "part"))
    parts = list(request.parts)
    p = draw.randrange(len(parts))
    least = parts[p].cpu if parts[p].cpu_min is None else parts[p].cpu_min
    if way == "machine":
        steps = machines[at].steps
        lower = tuple((since, max(0, cpu - draw.choice((0, 1)))) for since, cpu in steps)
        machines[at] = replace(machines[at], capacity=lower)
    elif way == "holding":
        holding = coreservation.Holding(at, *draw.choice(((0, 1), (2, 4), (3, 9))), 1)
        return replace(instance, holdings=(*instance.holdings, holding))
    elif way == "window":
        requests[k] = replace(request, end=request.end + 1)
    elif way == "least" and least < parts[p].cpu:
        parts[p] = replace(parts[p], cpu_min=least + 1)
        requests[k] = replace(request, parts=tuple(parts))
    else:
        parts[p] = replace(parts[p], machine=at)
        requests[k] = replace(request, parts=tuple(parts))
    return replace(instance, machines=tuple(machines), requests=tuple(requests))
