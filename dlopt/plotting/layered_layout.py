"""Layered layout of a task graph (Sugiyama): tasks in columns, every edge to the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import networkx as nx

SWEEPS = 8
"""Sweeps of the crossing reduction and of the placement; chosen by hand for graphs of
tens of tasks."""
SEPARATION = {(True, True): 1.0, (True, False): 0.7, (False, True): 0.7, (False, False): 0.35}
"""Distance between neighbours of a column, by whether each is a task or a bend of an edge."""

Node: TypeAlias = int | tuple[int, int, int]
"""A task, or the bend of an edge: its source, its target and its column."""
Columns: TypeAlias = list[list[Node]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions in columns and rows, from 0.

    Parameters
    ----------
    places : tuple of (int, float), shape (tasks,)
        Column and height of every task.
    routes : tuple of tuple of (int, float), shape (edges,)
        Start, bends and end of each edge.
    columns : int
    rows : float
        Size of the layout.
    """

    places: tuple[tuple[int, float], ...]
    routes: tuple[tuple[tuple[int, float], ...], ...]
    columns: int
    rows: float


def layered(tasks: int, edges: Sequence[tuple[int, int]]) -> Layout:
    """Return the layout of a directed acyclic graph.

    Parameters
    ----------
    tasks : int
        At least one.
    edges : sequence of (int, int)

    Notes
    -----
    Sugiyama's method: a task is one column after its last predecessor, edges over several columns
    have a bend in each, and columns are ordered by the barycentres of their neighbours. For graphs
    of tens of tasks: crossings are counted pair by pair. In `networkx.multipartite_layout` long
    edges cross the tasks of other columns, and crossings are not reduced.

    Examples
    --------
    >>> layout = layered(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    >>> layout.places
    ((0, 0.5), (1, 0.0), (1, 1.0), (2, 0.5))
    >>> layout.columns, layout.rows
    (3, 2.0)
    """
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(tasks))
    graph.add_edges_from(edges)
    column: dict[Node, int] = dict(sorted(_levels(graph).items()))
    routes: list[list[Node]] = []
    for source, target in edges:
        between = range(column[source] + 1, column[target])
        routes.append([source, *((source, target, at) for at in between), target])
        column |= dict(zip(routes[-1][1:-1], between, strict=True))
    parts: nx.DiGraph[Node] = nx.DiGraph()
    parts.add_nodes_from(column)
    for route in routes:
        nx.add_path(parts, route)
    columns: Columns = [[] for _ in range(max(column.values()) + 1)]
    for node, at in column.items():
        columns[at].append(node)
    heights = _heights(parts, _ordered(parts, columns))
    least = min(heights.values())
    places = {node: (at, round(heights[node] - least, 6)) for node, at in column.items()}
    return Layout(
        tuple(places[task] for task in range(tasks)),
        tuple(tuple(places[node] for node in route) for route in routes),
        len(columns),
        max(height for _, height in places.values()) + 1.0,
    )


def _levels(graph: nx.DiGraph[int]) -> dict[int, int]:
    """Return the column of every task: after its predecessors; sources close to their successors.

    Examples
    --------
    >>> sorted(_levels(nx.DiGraph([(0, 1), (1, 2), (3, 2)])).items())
    [(0, 0), (1, 1), (2, 2), (3, 1)]
    """
    generations = enumerate(nx.topological_generations(graph))
    level = {task: at for at, tasks in generations for task in tasks}
    for task in graph:
        if graph.succ[task] and not graph.pred[task]:
            level[task] = min(level[target] for target in graph.succ[task]) - 1
    return level


def _ordered(parts: nx.DiGraph[Node], columns: Columns) -> Columns:
    """Return the columns in an order with few crossings, by the barycentre heuristic."""
    best, fewest = columns, _crossings(parts, columns)
    for sweep in range(SWEEPS):
        near = parts.succ if sweep % 2 else parts.pred
        columns = [list(nodes) for nodes in columns]
        for nodes in reversed(columns) if sweep % 2 else columns:
            at = _positions(columns)
            nodes.sort(key={node: _mean(near[node], at, node) for node in nodes}.__getitem__)
        crossings = _crossings(parts, columns)
        if crossings < fewest:
            best, fewest = columns, crossings
    return best


def _positions(columns: Columns) -> dict[Node, float]:
    """Return the position of every node in its column, counted from the middle."""
    return {
        node: place - (len(nodes) - 1) / 2 for nodes in columns for place, node in enumerate(nodes)
    }


def _crossings(parts: nx.DiGraph[Node], columns: Columns) -> int:
    at = _positions(columns)
    return sum(
        (at[a] - at[c]) * (at[b] - at[d]) < 0
        for nodes in columns
        for (a, b), (c, d) in combinations(parts.out_edges(nodes), 2)
    )


def _heights(parts: nx.DiGraph[Node], columns: Columns) -> dict[Node, float]:
    """Return heights near the barycentres of neighbours, in the order of the columns."""
    y: dict[Node, float] = {}
    near = parts.to_undirected(as_view=True).adj
    for nodes in columns:
        stack = list(_stacked(nodes, [0.0] * len(nodes)))
        for node, height in zip(nodes, stack, strict=True):
            y[node] = height - (stack[0] + stack[-1]) / 2
    for _ in range(SWEEPS):
        for nodes in (*columns, *reversed(columns)):
            wanted = [_mean(near[node], y, node) for node in nodes]
            down = list(_stacked(nodes, wanted))
            mirrored = _stacked(nodes[::-1], [-height for height in wanted[::-1]])
            up = [-height for height in mirrored][::-1]
            for node, one, other in zip(nodes, down, up, strict=True):
                y[node] = (one + other) / 2
    return y


def _mean(near: Mapping[Node, object], at: Mapping[Node, float], node: Node) -> float:
    """Return the mean position of the neighbours of a node; its own if it has none."""
    return sum(at[other] for other in near) / len(near) if near else at[node]


def _stacked(nodes: Sequence[Node], wanted: Sequence[float]) -> Iterator[float]:
    """Yield the least heights, none below the wanted ones, with the required separation."""
    height = wanted[0]
    for place, (node, least) in enumerate(zip(nodes, wanted, strict=True)):
        if place > 0:
            kinds = isinstance(nodes[place - 1], int), isinstance(node, int)
            height = max(least, height + SEPARATION[kinds])
        yield height
