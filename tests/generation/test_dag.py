"""Families of task graphs: their sizes and shapes, and what all of them promise."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.generation import described, families, generate
from dlopt.io import instance_from_data, instance_hash, instance_to_data
from dlopt.problems.dag import Graph, Instance

SHAPES = (
    "topcuoglu",
    "layered",
    "anywhere",
    "fork-join",
    "gaussian-elimination",
    "fft",
    "in-tree",
    "out-tree",
    "series-parallel",
    "chains",
    "stencil",
    "independent",
)
SMALL: dict[str, dict[str, int]] = {
    "fork-join": {"stages": 2, "width": 3},
    "gaussian-elimination": {"size": 4},
    "fft": {"points": 4},
    "chains": {"chains": 2, "length": 3},
    "stencil": {"rows": 3, "columns": 2},
}


def made(family: str, **parameters: Any) -> Instance:
    instance = generate("dag", family, **parameters)
    assert isinstance(instance, Instance)
    return instance


def graph_of(family: str, **parameters: Any) -> Graph:
    (graph,) = made(family, **parameters).graphs
    return graph


def pairs_of(graph: Graph) -> list[tuple[int, int]]:
    return [(edge.source, edge.target) for edge in graph.edges]


def degrees(graph: Graph) -> tuple[Counter[int], Counter[int]]:
    """Return how many edges leave and reach every task."""
    pairs = pairs_of(graph)
    return Counter(source for source, _ in pairs), Counter(target for _, target in pairs)


def depths(graph: Graph) -> list[int]:
    """Return of every task how many lie before it on the longest way."""
    found = [0] * len(graph.tasks)
    for source, target in pairs_of(graph):  # sorted, and from smaller to larger tasks
        found[target] = max(found[target], found[source] + 1)
    return found


def test_the_families() -> None:
    assert tuple(families("dag")) == (*SHAPES, "chen")
    for family in described("dag"):
        names = [parameter.name for parameter in family.parameters]
        assert all(parameter.help for parameter in family.parameters), family.name
        assert family.summary.endswith(".") and "seed" not in names
        if family.name != "chen":
            assert names[-8:] == [
                "machines",
                "kind",
                "spread",
                "mean_work",
                "ccr",
                "graphs",
                "interval",
                "slack",
            ]


# shapes


@pytest.mark.parametrize("tasks", [1, 2, 20, 30, 50, 1000])
@pytest.mark.parametrize("family", ["topcuoglu", "layered", "anywhere", "in-tree", "out-tree"])
def test_as_many_tasks_as_asked_for(family: str, tasks: int) -> None:
    extra = {"layers": 1 + tasks // 10} if family == "layered" else {}
    graph = graph_of(family, tasks=tasks, seed=5, **extra)
    assert len(graph.tasks) == tasks and graph.absolute_deadline is None and graph.arrival == 0
    assert pairs_of(graph) == sorted(set(pairs_of(graph)))
    assert all(source < target for source, target in pairs_of(graph))


@pytest.mark.parametrize("alpha", [Fraction(1, 2), 1, 2])
def test_topcuoglu(alpha: Fraction) -> None:
    heights = []
    for seed in range(20):
        graph = graph_of("topcuoglu", tasks=100, alpha=alpha, out_degree=4, seed=seed)
        heights.append(max(depths(graph)) + 1)
        reached = degrees(graph)[1]
        first = [depth for depth in depths(graph) if depth == 0]
        assert len(reached) == 100 - len(first)  # all behind the first level are reached
    assert sum(heights) / 20 == pytest.approx(10 / alpha, rel=0.35)
    few, many = (graph_of("topcuoglu", tasks=100, alpha=alpha, out_degree=d) for d in (1, 9))
    assert 2 * len(few.edges) < len(many.edges)


def test_layered() -> None:
    graph = graph_of("layered", tasks=40, layers=6, probability=0)
    assert max(depths(graph)) == 5 and len(graph.edges) == 40 - depths(graph).count(0)
    full = graph_of("layered", tasks=40, layers=6, probability=1)
    sizes = Counter(depths(full))
    assert len(full.edges) == sum(sizes[k] * sizes[k + 1] for k in range(5))


def test_anywhere() -> None:
    assert len(graph_of("anywhere", tasks=20, probability=0).edges) == 0
    assert len(graph_of("anywhere", tasks=20, probability=1).edges) == 190
    found = [len(graph_of("anywhere", tasks=60, probability=0.1, seed=s).edges) for s in range(20)]
    assert sum(found) / 20 == pytest.approx(177, rel=0.1)


def test_fork_join() -> None:
    graph = graph_of("fork-join", stages=2, width=3)
    assert len(graph.tasks) == 9 and len(graph.edges) == 12 and max(depths(graph)) == 4
    assert degrees(graph)[1][4] == degrees(graph)[0][4] == 3


@pytest.mark.parametrize("size", [2, 3, 5, 12])
def test_gaussian_elimination(size: int) -> None:
    graph = graph_of("gaussian-elimination", size=size)
    assert len(graph.tasks) == (size**2 + size - 2) // 2
    assert max(depths(graph)) == 2 * (size - 1) - 1  # pivot and update, step by step
    assert len(graph.entries) == 1
    # an update leads to the next step's pivot or update of its column
    assert len(graph.edges) == sum(k + (k if k > 1 else 0) for k in range(1, size))


@pytest.mark.parametrize("points", [2, 4, 8, 32])
def test_fft(points: int) -> None:
    graph = graph_of("fft", points=points)
    rounds = int(math.log2(points))
    assert len(graph.tasks) == 2 * points - 1 + points * rounds
    assert len(graph.entries) == 1 and len(graph.exits) == points
    # every path is a critical path: all ends are equally deep
    assert {depths(graph)[task] for task in graph.exits} == {2 * rounds}
    assert set(degrees(graph)[1].values()) <= {1, 2}
    # each result depends on every point
    before: list[set[int]] = [{task} for task in range(len(graph.tasks))]
    for source, target in pairs_of(graph):
        before[target] |= before[source]
    leaves = set(range(points - 1, 2 * points - 1))
    assert all(leaves <= before[task] for task in graph.exits)


def test_trees() -> None:
    for seed in range(5):
        out = graph_of("out-tree", tasks=40, degree=2, seed=seed)
        leaving, reaching = degrees(out)
        assert len(out.edges) == 39 and max(leaving.values()) <= 2
        assert set(reaching.values()) == {1} and out.entries == [0]
        into = graph_of("in-tree", tasks=40, degree=2, seed=seed)
        leaving, reaching = degrees(into)
        assert max(reaching.values()) <= 2 and set(leaving.values()) == {1}
        assert into.exits == [39]
    assert max(depths(graph_of("out-tree", tasks=9, degree=1))) == 8


def test_series_parallel() -> None:
    for seed in range(5):
        graph = graph_of("series-parallel", tasks=30, seed=seed)
        assert len(graph.tasks) == 30 and graph.entries == [0] and graph.exits == [29]
        assert _reduced(pairs_of(graph)) == {(0, 29)}
    assert max(depths(graph_of("series-parallel", tasks=9, series=1))) == 8


def _reduced(pairs: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return what is left of a graph when tasks between two edges are taken out, one by one."""
    left = set(pairs)
    while True:
        leaving = Counter(source for source, _ in left)
        reaching = Counter(target for _, target in left)
        inner = [task for task in leaving if leaving[task] == reaching[task] == 1]
        if not inner:
            return left
        ((source, _),) = [pair for pair in left if pair[1] == inner[0]]
        ((_, target),) = [pair for pair in left if pair[0] == inner[0]]
        left -= {(source, inner[0]), (inner[0], target)}
        left.add((source, target))


def test_chains_stencil_and_independent() -> None:
    graph = graph_of("chains", chains=3, length=4)
    assert len(graph.tasks) == 12 and len(graph.edges) == 9 and len(graph.entries) == 3
    grid = graph_of("stencil", rows=3, columns=4)
    assert len(grid.edges) == 2 * 4 + 3 * 3 and max(depths(grid)) == 5
    assert graph_of("independent", tasks=7).edges == ()


# machines, costs and data


def test_unrelated_machines() -> None:
    instance = made("independent", tasks=200, machines=3, spread=Fraction(1, 2), mean_work=100)
    assert [machine.power for machine in instance.machines] == [1, 1, 1] and instance.exact
    costs = [task.costs for task in instance.graphs[0].tasks]
    assert all(one is not None and len(one) == 3 for one in costs)
    spans = [max(one) / min(one) for one in costs if one is not None and min(one) > 20]  # type: ignore[type-var, operator]
    assert 1.2 < max(spans) <= 1.25 / 0.75 + 0.1
    same = made("independent", spread=0)
    assert all(len(set(task.costs or ())) == 1 for task in same.graphs[0].tasks)


def test_related_and_identical_machines() -> None:
    instance = made("chains", kind="related", machines=5, spread=1)
    powers = [machine.power for machine in instance.machines]
    assert all(Fraction(1, 2) <= power <= Fraction(3, 2) for power in powers)
    assert len(set(powers)) > 1 and instance.exact
    assert all(task.work is not None for task in instance.graphs[0].tasks)
    same = made("chains", kind="identical", machines=5)
    assert [machine.power for machine in same.machines] == [1] * 5


@pytest.mark.parametrize("ccr", [0, Fraction(1, 10), 1, 5])
def test_communication(ccr: Fraction) -> None:
    graph = graph_of("layered", tasks=400, layers=10, probability=0.2, ccr=ccr, mean_work=50)
    mean = sum(edge.data for edge in graph.edges) / len(graph.edges)
    assert mean == pytest.approx(50 * float(ccr), rel=0.1, abs=0.1)
    works = [max(task.costs or ()) for task in graph.tasks]  # type: ignore[type-var]
    assert all(isinstance(work, int) and work >= 1 for work in works)


def test_many_graphs_with_deadlines() -> None:
    instance = made("fork-join", graphs=4, interval=30, slack=2, kind="identical", machines=2)
    arrivals = [graph.arrival for graph in instance.graphs]
    assert arrivals[0] == 0 and arrivals == sorted(arrivals) and len(set(arrivals)) > 1
    for graph in instance.graphs:
        ends = [0] * len(graph.tasks)
        works: list[Any] = [task.work for task in graph.tasks]
        for task, work in enumerate(works):
            before = [ends[source] for source, target in pairs_of(graph) if target == task]
            ends[task] = max(before, default=0) + work
        assert graph.absolute_deadline == graph.arrival + 2 * max(ends)
    assert instance.name == "fork-join-4x28-2-0"
    together = made("chains", graphs=3)
    assert [graph.arrival for graph in together.graphs] == [0, 0, 0]


def test_deadlines_are_rounded_up() -> None:
    instance = made("independent", tasks=1, kind="related", machines=2, slack=Fraction(1, 3))
    (graph,) = instance.graphs
    least = min(instance.cost(0, 0, machine) for machine in range(2)) * Fraction(1, 3)
    assert graph.absolute_deadline == math.ceil(least)


def test_chen() -> None:
    instance = made("chen", lans=3, nodes=2, tasks=20, seed=1)
    assert instance.exact and len(instance.graphs) == 20 and instance.name == "chen-20-3x2-1"
    assert [machine.lan for machine in instance.machines] == [0, 0, 1, 1, 2, 2]
    assert instance.network.convention == "scheduler" and len(instance.network.lans) == 3
    for machine in instance.machines:
        assert Fraction(3, 10) <= machine.power <= 1
        assert Fraction(51, 1000) <= machine.delay <= Fraction(506, 100)
    for graph in instance.graphs:
        assert 10 <= len(graph.tasks) <= 50 and graph.one_lan and graph.lan in (0, 1, 2)
        assert 10 <= graph.input <= 2000 and 10 <= graph.output <= 5000
        assert all(60 <= (task.work or 0) <= 600 for task in graph.tasks)
        assert max(degrees(graph)[0].values()) <= 5
        assert graph.absolute_deadline is not None and graph.absolute_deadline > graph.arrival
    last = instance.graphs[-1].arrival
    assert last / 19 == pytest.approx(4000 / 3, rel=0.6)
    assert not made("chen", one_lan=0).graphs[0].one_lan


# seeds and files


@pytest.mark.property
@given(st.sampled_from((*SHAPES, "chen")), st.integers(0, 2**64))
def test_a_seed_settles_everything(family: str, seed: int) -> None:
    state = random.getstate()
    parameters = SMALL.get(family, {"tasks": 7})
    extra = {"layers": 3} if family == "layered" else {}
    first = made(family, seed=seed, **parameters, **extra)
    assert random.getstate() == state
    random.seed(seed + 1)
    again = made(family, seed=seed, **parameters, **extra)
    assert first == again and instance_hash(first) == instance_hash(again)
    assert instance_from_data(instance_to_data(first)) == first and first.exact
    assert first.origin == f"dlopt generate dag --family {family}, seed {seed}"


@pytest.mark.parametrize("family", ["topcuoglu", "chen", "layered"])
def test_seeds_differ(family: str) -> None:
    assert len({instance_hash(made(family, seed=seed)) for seed in range(5)}) == 5


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("topcuoglu", {"tasks": 0}, "tasks must be an integer from 1 to 1000000, got 0"),
    ("topcuoglu", {"alpha": 0}, "alpha must be a positive number"),
    ("topcuoglu", {"out_degree": 0}, "out_degree must be an integer"),
    ("layered", {"tasks": 3, "layers": 4}, "layers must be an integer from 1 to 3"),
    ("layered", {"probability": 2}, "a probability must be a number from 0 to 1, got 2"),
    ("anywhere", {"probability": "x"}, "a probability must be a number from 0 to 1, got x"),
    ("gaussian-elimination", {"size": 1}, "size must be 2 at least"),
    ("fft", {"points": 6}, "points must be a power of two"),
    ("fft", {"points": 1}, "points must be a power of two"),
    ("series-parallel", {"tasks": 1}, "tasks must be 2 at least"),
    ("stencil", {"rows": 1000, "columns": 1001}, "columns must be an integer from 1 to 1000"),
    ("chains", {"machines": 0}, "machines must be an integer from 1 to 10000"),
    ("chains", {"kind": "odd"}, "kind must be one of unrelated, related, identical, got 'odd'"),
    ("chains", {"spread": 3}, "spread must be a number from 0 to 2, got 3"),
    ("chains", {"ccr": -1}, "ccr must be a number from 0"),
    ("chains", {"ccr": "x"}, "ccr must be a number from 0"),
    ("chains", {"slack": 0}, "slack must be a positive number"),
    ("chains", {"graphs": 2, "interval": -1}, "interval must be a positive number"),
    ("chains", {"graphs": 10**5, "length": 100}, "the graphs must have 2000000 tasks at most"),
    ("chains", {"tasks": 3}, "family chains has no parameter 'tasks'"),
    ("chen", {"lans": 0}, "lans must be an integer"),
    ("chen", {"fewest": 60}, "fewest must be an integer from 1 to 50, got 60"),
    ("chen", {"interval": 0}, "interval must be a positive number"),
    ("chen", {"slack": -1}, "slack must be a positive number"),
]


@pytest.mark.parametrize(("family", "parameters", "text"), BAD)
def test_bad_parameters(family: str, parameters: dict[str, Any], text: str) -> None:
    with pytest.raises(NotApplicableError) as caught:
        made(family, **parameters)
    assert text in str(caught.value)


def test_a_large_graph() -> None:
    instance = made("topcuoglu", tasks=20_000, machines=2, kind="identical")
    assert len(instance.graphs[0].tasks) == 20_000
