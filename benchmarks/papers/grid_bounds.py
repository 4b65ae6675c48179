"""Bounds for all schedulers of a grid, with or without failures, online or clairvoyant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from statistics import mean

import networkx as nx

from benchmarks.papers.fluid import fluid_bound
from dlopt.arithmetic import exact
from dlopt.plotting.line_charts import Curve, DataPoint
from dlopt.problems import admission
from dlopt.problems.cluster import Cluster
from dlopt.problems.dag import Graph
from dlopt.simulation.grid.sweep import GridExperiment
from dlopt.simulation.grid.topology import BuiltGrid
from dlopt.simulation.replications import estimate


@dataclass(frozen=True, slots=True)
class CaseBound:
    """Bounds of an experiment: on the met deadlines, and on the mean response in seconds."""

    case: GridExperiment
    met_ratio: float
    response: float


class CaseBounds:
    """Bounds by experiment: independent of policies, queues, failures and seeds."""

    def __init__(self, found: Iterable[CaseBound] = ()) -> None:
        self._found: dict[GridExperiment, list[CaseBound]] = defaultdict(list)
        for one in found:
            self._found[common(one.case)].append(one)

    def seeds(self) -> tuple[int, int] | None:
        """Return the fewest and the most seeds of a case; None if nothing is known."""
        counts = [len(ones) for ones in self._found.values()]
        return (min(counts), max(counts)) if counts else None

    def curve(self, name: str, measure: str, cases: Iterable[GridExperiment]) -> list[Curve]:
        """Return the bounds of a measure over the sizes of the queue; none if there are none."""
        spots = tuple(
            DataPoint(case.queue_size, *estimate([getattr(one, measure) for one in ones]))
            for case in cases
            if measure in MEASURES and (ones := self._found.get(common(case)))
        )
        return [Curve(name, spots)] if spots else []


MEASURES = ("met_ratio", "response")


def common(case: GridExperiment) -> GridExperiment:
    """Return the case that has the same bounds, with seed 0."""
    usual = GridExperiment()
    return replace(
        case,
        variant=usual.variant,
        queue_size=usual.queue_size,
        bidders=usual.bidders,
        memory=usual.memory,
        data_per=usual.data_per,
        subtask_data=usual.subtask_data,
        failure_rate=0,
        seed=0,
    )


def bound(case: GridExperiment) -> CaseBound:
    """Return bounds for a case, in which every run is as fast as any can be.

    The machines are one that has the power of all, nothing is sent, and tasks may be interrupted.
    Which deadlines it meets is relaxed to a linear program; its mean response is least if what
    is left of a task decides (Schrage, Operations Research 16, 1968). Besides, a task alone takes
    its longest path on the fastest machine of a LAN, and all its work on all of them.
    """
    built = case.built
    graphs = [
        _shortened(graph, exact(case.slowdown[0]))
        for graph in case.workload.graphs(len(built.network.lans), case.seed)
    ]
    works = [sum(exact(task.work) for task in graph.tasks) for graph in graphs]
    power = sum((exact(machine.power) for machine in built.machines), Fraction(0))
    alone = mean(_alone(built, graphs, works))
    arrivals = [float(graph.arrival) for graph in graphs]
    times = [float(work / power) for work in works]
    response = max(alone, shortest_first_response(arrivals, times))
    return CaseBound(case, _most_met(graphs, works, power), response)


def _shortened(graph: Graph, factor: Fraction) -> Graph:
    """Return a graph whose tasks have so much of their work."""
    tasks = tuple(replace(task, work=exact(task.work or 0) * factor) for task in graph.tasks)
    return graph if factor == 1 else replace(graph, tasks=tasks)


def _alone(built: BuiltGrid, graphs: Sequence[Graph], works: Sequence[Fraction]) -> list[float]:
    """Return how long each task takes at least in the best LAN for it, with nothing else there."""
    powers: dict[int, list[float]] = defaultdict(list)
    for machine in built.machines:
        powers[machine.lan or 0].append(float(machine.power))
    kinds = {(max(some), sum(some)) for some in powers.values()}
    paths = [longest_path_length(graph) for graph in graphs]
    return [
        min(max(path / fastest, float(work) / whole) for fastest, whole in kinds)
        for path, work in zip(paths, works, strict=True)
    ]


def longest_path_length(graph: Graph) -> float:
    """Return the work on the critical path."""
    works = [float(task.work) for task in graph.tasks]
    ways = nx.DiGraph()
    ways.add_weighted_edges_from((i, "end", work) for i, work in enumerate(works))
    ways.add_weighted_edges_from((e.source, e.target, works[e.source]) for e in graph.edges)
    return float(nx.dag_longest_path_length(ways))


def shortest_first_response(arrivals: Sequence[float], times: Sequence[float]) -> float:
    """Return the mean response on one machine that always runs what will end first."""
    left: list[float] = []
    now = total = 0.0
    for arrival, time in sorted(zip(arrivals, times, strict=True)):
        while left and now + left[0] <= arrival:
            now += heappop(left)
            total += now
        if left:
            heappush(left, heappop(left) - (arrival - now))
        now = arrival
        heappush(left, time)
    while left:
        now += heappop(left)
        total += now
    return (total - sum(arrivals)) / len(arrivals)


def _most_met(graphs: Sequence[Graph], works: Sequence[Fraction], power: Fraction) -> float:
    tasks = tuple(
        admission.Task(graph.id, graph.arrival, work, graph.absolute_deadline - graph.arrival)
        for graph, work in zip(graphs, works, strict=True)
        if graph.absolute_deadline is not None
    )
    instance = admission.Instance(Cluster(1, 0, 1 / power), tasks)
    most = fluid_bound(instance, "accepted", len(tasks))
    return (most + len(graphs) - len(tasks)) / len(graphs)
