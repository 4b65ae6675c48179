"""Layered layout of a task graph (Sugiyama): tasks in columns, every edge to the right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from dlopt.problems.dag.topology import successors_of, topological

SWEEPS = 8
"""Sweeps of the crossing reduction and of the placement; chosen by hand for graphs of
tens of tasks."""
SEPARATION = {(True, True): 1.0, (True, False): 0.7, (False, True): 0.7, (False, False): 0.35}
"""Distance between neighbours of a column, by whether each is a task or a bend of an edge."""


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
    of tens of tasks: crossings are counted pair by pair.

    Examples
    --------
    >>> layout = layered(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    >>> layout.places
    ((0, 0.5), (1, 0.0), (1, 1.0), (2, 0.5))
    >>> layout.columns, layout.rows
    (3, 2.0)
    """
    return _Layers(tasks, edges).layout()


class _Layers:
    """Tasks and the bends of long edges, column by column."""

    def __init__(self, tasks: int, edges: Sequence[tuple[int, int]]) -> None:
        self.tasks = tasks
        self.level = _levels(tasks, edges)
        self.columns: list[list[int]] = [[] for _ in range(max(self.level) + 1)]
        for task in range(tasks):
            self.columns[self.level[task]].append(task)
        self.chains: list[list[int]] = []
        count = tasks
        for source, target in edges:
            chain = [source]
            for column in range(self.level[source] + 1, self.level[target]):
                self.columns[column].append(count)
                chain.append(count)
                count += 1
            self.chains.append([*chain, target])
        self.left: list[list[int]] = [[] for _ in range(count)]
        self.right: list[list[int]] = [[] for _ in range(count)]
        for chain in self.chains:
            for one, other in pairwise(chain):
                self.right[one].append(other)
                self.left[other].append(one)

    def layout(self) -> Layout:
        self._order()
        y = self._heights()
        least = min(y)
        y = [round(height - least, 6) for height in y]
        column = {node: at for at, nodes in enumerate(self.columns) for node in nodes}
        routes = tuple(tuple((column[node], y[node]) for node in chain) for chain in self.chains)
        places = tuple((self.level[task], y[task]) for task in range(self.tasks))
        return Layout(places, routes, len(self.columns), max(y) + 1.0)

    def _order(self) -> None:
        """Reduce the edge crossings by the barycentre heuristic."""
        best, fewest = [list(nodes) for nodes in self.columns], self._crossings()
        for sweep in range(SWEEPS):
            rightward = sweep % 2 == 0
            near = self.left if rightward else self.right
            for nodes in self.columns if rightward else reversed(self.columns):
                at = self._positions()
                nodes.sort(key=_mean_of(near, at))
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(nodes) for nodes in self.columns], crossings
        self.columns = best

    def _positions(self) -> list[float]:
        """Return the position of every node in its column, counted from the middle."""
        at = [0.0] * len(self.left)
        for nodes in self.columns:
            for place, node in enumerate(nodes):
                at[node] = place - (len(nodes) - 1) / 2
        return at

    def _crossings(self) -> int:
        at, count = self._positions(), 0
        for nodes in self.columns:
            pairs = [(node, other) for node in nodes for other in self.right[node]]
            for (a, b), (c, d) in combinations(pairs, 2):
                count += (at[a] - at[c]) * (at[b] - at[d]) < 0
        return count

    def _heights(self) -> list[float]:
        """Return heights near the barycentres of neighbours, in the order of the columns."""
        y = [0.0] * len(self.left)
        for nodes in self.columns:
            stack = list(self._stacked(nodes, [0.0] * len(nodes)))
            for node, height in zip(nodes, stack, strict=True):
                y[node] = height - (stack[0] + stack[-1]) / 2
        for _ in range(SWEEPS):
            for nodes in (*self.columns, *reversed(self.columns)):
                wanted = [self._middle(node, y) for node in nodes]
                down = list(self._stacked(nodes, wanted))
                mirrored = self._stacked(nodes[::-1], [-height for height in wanted[::-1]])
                up = [-height for height in mirrored][::-1]
                for node, one, other in zip(nodes, down, up, strict=True):
                    y[node] = (one + other) / 2
        return y

    def _middle(self, node: int, y: Sequence[float]) -> float:
        near = [y[other] for other in (*self.left[node], *self.right[node])]
        return sum(near) / len(near) if near else y[node]

    def _stacked(self, nodes: Sequence[int], wanted: Sequence[float]) -> Iterator[float]:
        """Yield the least heights, none below the wanted ones, with the required separation."""
        for place, node in enumerate(nodes):
            if place == 0:
                height = wanted[0]
            else:
                kinds = nodes[place - 1] < self.tasks, node < self.tasks
                height = max(wanted[place], height + SEPARATION[kinds])
            yield height


def _levels(tasks: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return the column of every task: after its predecessors; sources close to their successors.

    Examples
    --------
    >>> _levels(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    after = successors_of(tasks, edges)
    level = [0] * tasks
    order = topological(after)
    for task in order:
        for target in after[task]:
            level[target] = max(level[target], level[task] + 1)
    targets = {target for _, target in edges}
    for task in order:
        if task not in targets and after[task]:
            level[task] = min(level[target] for target in after[task]) - 1
    return level


def _mean_of(near: Sequence[Sequence[int]], at: Sequence[float]) -> Callable[[int], float]:
    def mean(node: int) -> float:
        others = near[node]
        return sum(at[other] for other in others) / len(others) if others else at[node]

    return mean
