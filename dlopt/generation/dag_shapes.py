"""Shapes of task graphs: the published families, each by its number of tasks and its edges.

Every function takes a random number generator first, whether it needs it or not, and returns a
`Shape` whose edges lead from smaller to larger tasks.

>>> fork_join(random.Random(0), stages=1, width=2).edges
((0, 1), (0, 2), (1, 3), (2, 3))
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dlopt.arithmetic import Number, is_finite
from dlopt.errors import NotApplicableError
from dlopt.generation.distributions import check_count, positive_float
from dlopt.problems.dag.topology import successors_of, topological

MOST_TASKS = 1_000_000
"""Largest number of tasks of a graph."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Tasks ``0 .. count - 1``, and edges from smaller to larger ones."""

    count: int
    edges: tuple[tuple[int, int], ...]


def topcuoglu(
    draw: random.Random, *, tasks: int = 30, alpha: Number = 1, out_degree: int = 3
) -> Shape:
    """Return the parametric random graphs of Topcuoglu, Hariri and Wu 2002, section 5.1.1.

    The paper does not say which tasks an edge may join. Here each task after the first level
    has a predecessor in the level before, and other edges lead to any later level.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    alpha : Number
        Shape of the graph: a level has alpha sqrt(tasks) tasks on average, so that there are about
        sqrt(tasks) / alpha levels.
    out_degree : int
        Largest number of successors of a task; it is uniform from 1 on (and larger only where a
        later task would have no predecessor).
    """
    check_count("tasks", tasks, MOST_TASKS)
    check_count("out_degree", out_degree, MOST_TASKS)
    widest = max(1, round(2 * positive_float("alpha", alpha) * math.sqrt(tasks)) - 1)
    levels: list[range] = []
    done = 0
    while done < tasks:
        width = min(draw.randint(1, widest), tasks - done)
        levels.append(range(done, done + width))
        done += width
    wanted = [draw.randint(1, out_degree) for _ in range(tasks)]
    edges: dict[tuple[int, int], None] = {}
    for before, level in pairwise(levels):
        free = [task for task in before for _ in range(min(wanted[task], len(level)))]
        draw.shuffle(free)
        for task in level:
            source = free.pop() if free else draw.choice(before)
            edges[source, task] = None
            wanted[source] -= 1
    for level in levels[:-1]:
        later = range(level.stop, tasks)
        for task in level:
            for target in draw.sample(later, min(max(wanted[task], 0), len(later))):
                edges[task, target] = None
    return _shape(tasks, edges)


def layered(
    draw: random.Random, *, tasks: int = 30, layers: int = 5, probability: Number = 0.3
) -> Shape:
    """Return random layers with random edges from each to the next (layrprob of the STG set).

    Each task after the first layer has at least one predecessor. Source: Tobita and Kasahara
    2002.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    layers : int
        Number of layers, at most that of the tasks; each layer has at least one task.
    probability : Number
        Probability of each edge from one layer to the next.
    """
    check_count("tasks", tasks, MOST_TASKS)
    check_count("layers", layers, tasks)
    chance = _probability(probability)
    ends = [0, *sorted(draw.sample(range(1, tasks), layers - 1)), tasks]
    edges: dict[tuple[int, int], None] = {}
    for first, middle, last in zip(ends, ends[1:], ends[2:], strict=False):
        width = middle - first
        reached = set()
        for k in _bernoulli_sample(draw, width * (last - middle), chance):
            edges[first + k % width, middle + k // width] = None
            reached.add(middle + k // width)
        for task in range(middle, last):
            if task not in reached:
                edges[draw.randrange(first, middle), task] = None
    return _shape(tasks, edges)


def anywhere(draw: random.Random, *, tasks: int = 30, probability: Number = 0.1) -> Shape:
    """Return an edge between any two tasks with the same probability (sameprob of the STG set).

    Source: Almeida et al. 1992; Tobita and Kasahara 2002.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    probability : Number
        Probability of each edge.
    """
    check_count("tasks", tasks, MOST_TASKS)
    chance = _probability(probability)
    edges = []
    target = 1
    start = 0  # of the pairs that end in the target, all pairs counted by their targets
    for k in _bernoulli_sample(draw, tasks * (tasks - 1) // 2, chance):
        while k >= start + target:
            start += target
            target += 1
        edges.append((k - start, target))
    return _shape(tasks, edges)


def fork_join(draw: random.Random, *, stages: int = 3, width: int = 8) -> Shape:
    """Return a sequence of stages: a fork, `width` parallel tasks, and a join.

    Parameters
    ----------
    stages, width : int
        Number of stages, and number of parallel tasks in each of them; there are
        stages (width + 1) + 1 tasks, at most 1,000,000.
    """
    check_count("width", width, MOST_TASKS - 2)
    check_count("stages", stages, (MOST_TASKS - 1) // (width + 1))
    edges = []
    for stage in range(stages):
        fork = stage * (width + 1)
        join = fork + width + 1
        for task in range(fork + 1, join):
            edges += [(fork, task), (task, join)]
    return _shape(stages * (width + 1) + 1, edges)


def gaussian_elimination(draw: random.Random, *, size: int = 7) -> Shape:
    """Return the graph of Gaussian elimination on a matrix of `size` rows.

    Source: Wu and Gajski 1990; Topcuoglu, Hariri and Wu 2002, section 5.2.1.

    Parameters
    ----------
    size : int
        Number of rows of the matrix, 2 to 1,400; there are (size^2 + size - 2) / 2 tasks.
    """
    check_count("size", size, 1400)
    if size < 2:
        raise NotApplicableError("size must be 2 at least, got 1")
    edges = []
    pivot = 0
    for step in range(size - 1):
        updates = size - 1 - step
        following = pivot + updates + 1
        for k in range(1, updates + 1):
            edges.append((pivot, pivot + k))
            if step < size - 2:  # the first update makes the next pivot's column
                edges.append((pivot + k, following + k - 1))
        pivot = following
    return _shape(pivot, edges)


def fft(draw: random.Random, *, points: int = 8) -> Shape:
    """Return the graph of the fast Fourier transform: recursive calls, then butterflies.

    Source: Topcuoglu, Hariri and Wu 2002, section 5.2.2.

    Parameters
    ----------
    points : int
        Number of points of the transform, a power of two from 2 to 32,768; there are
        2 points - 1 + points log2(points) tasks.
    """
    check_count("points", points, 32_768)
    depth = points.bit_length() - 1
    if points < 2 or points != 1 << depth:
        raise NotApplicableError(f"points must be a power of two from 2 on, got {points}")
    calls = 2 * points - 1
    edges = [((task - 1) // 2, task) for task in range(1, calls)]
    for level in range(depth):
        first = calls + level * points
        before = first - points
        for k in range(points):
            edges += [(before + k, first + k), (before + (k ^ (1 << level)), first + k)]
    return _shape(calls + depth * points, edges)


def out_tree(draw: random.Random, *, tasks: int = 30, degree: int = 3) -> Shape:
    """Return a random tree from one task on, each with at most `degree` successors.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    degree : int
        Largest number of successors of a task; with 1 the graph is
        a chain.
    """
    check_count("tasks", tasks, MOST_TASKS)
    check_count("degree", degree, MOST_TASKS)
    children = [0] * tasks
    free = [0]
    edges = []
    for task in range(1, tasks):
        place = draw.randrange(len(free))
        parent = free[place]
        edges.append((parent, task))
        children[parent] += 1
        if children[parent] == degree:
            free[place] = free[-1]
            free.pop()
        free.append(task)
    return _shape(tasks, edges)


def in_tree(draw: random.Random, *, tasks: int = 30, degree: int = 3) -> Shape:
    """Return a random tree towards one task, each with at most `degree` predecessors.

    It is an out-tree with every edge reversed.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    degree : int
        Largest number of predecessors of a task; with 1 the graph is a chain.
    """
    tree = out_tree(draw, tasks=tasks, degree=degree)
    last = tree.count - 1
    return _shape(tree.count, [(last - target, last - source) for source, target in tree.edges])


def series_parallel(draw: random.Random, *, tasks: int = 30, series: Number = 0.5) -> Shape:
    """Return a random graph made of series and parallel parts, from one task to another.

    It begins as one edge. While tasks are missing, a random edge is subdivided by a task, or a
    parallel path through a task is added to it.

    Parameters
    ----------
    tasks : int
        Number of tasks, 2 to 1,000,000.
    series : Number
        Probability that an edge is subdivided (series part) and not doubled (parallel part).
    """
    check_count("tasks", tasks, MOST_TASKS)
    if tasks < 2:
        raise NotApplicableError("tasks must be 2 at least, got 1")
    chance = _probability(series)
    edges = [(0, 1)]
    for task in range(2, tasks):
        place = draw.randrange(len(edges))
        source, target = edges[place]
        if draw.random() < chance:
            edges[place] = edges[-1]
            edges.pop()
        edges += [(source, task), (task, target)]
    return _topologically_renumbered(tasks, edges)


def chains(draw: random.Random, *, chains: int = 4, length: int = 6) -> Shape:
    """Return independent chains of tasks.

    Parameters
    ----------
    chains, length : int
        Number of chains, and number of tasks in each of them; their product is at most 1,000,000.
    """
    check_count("length", length, MOST_TASKS)
    check_count("chains", chains, MOST_TASKS // length)
    count = chains * length
    return _shape(count, [(k - 1, k) for k in range(1, count) if k % length])


def stencil(draw: random.Random, *, rows: int = 5, columns: int = 5) -> Shape:
    """Return a grid of tasks, each with the one above and the one to the left as predecessors.

    Parameters
    ----------
    rows, columns : int
        Number of rows and columns of the grid; their product is at most 1,000,000.
    """
    check_count("rows", rows, MOST_TASKS)
    check_count("columns", columns, MOST_TASKS // rows)
    edges = []
    for task in range(rows * columns):
        edges += [(task - columns, task)] * (task >= columns)
        edges += [(task - 1, task)] * (task % columns > 0)
    return _shape(rows * columns, edges)


def independent(draw: random.Random, *, tasks: int = 20) -> Shape:
    """Return tasks without edges.

    Parameters
    ----------
    tasks : int
        Number of tasks, 1 to 1,000,000.
    """
    check_count("tasks", tasks, MOST_TASKS)
    return _shape(tasks, ())


def _shape(count: int, edges: Iterable[tuple[int, int]]) -> Shape:
    return Shape(count, tuple(sorted(edges)))


def _topologically_renumbered(count: int, edges: Sequence[tuple[int, int]]) -> Shape:
    """Return a shape whose tasks are renumbered in topological order."""
    number = {task: k for k, task in enumerate(topological(successors_of(count, edges)))}
    return _shape(count, [(number[source], number[target]) for source, target in edges])


def _bernoulli_sample(draw: random.Random, count: int, chance: float) -> Iterable[int]:
    """Yield each of ``0 .. count - 1`` with equal probability, in time linear in the sample."""
    if chance <= 0:
        return
    k = -1
    while True:
        # the gap to the next is geometric
        k += 1 if chance >= 1 else 1 + int(math.log(1 - draw.random()) / math.log1p(-chance))
        if k >= count:
            return
        yield k


def _probability(value: Number) -> float:
    if isinstance(value, str) or not is_finite(value) or not 0 <= value <= 1:
        raise NotApplicableError(f"a probability must be a number from 0 to 1, got {value}")
    return float(value)
