"""Critical path of a schedule of task graphs: from its end back to an arrival."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dlopt.arithmetic import SOLVER
from dlopt.problems.dag import Graph, Instance, Paths, Solution


class PlacedTask(NamedTuple):
    """A task on a machine, in floats."""

    graph: int
    task: int
    machine: int
    start: float
    end: float


class StartConstraint(NamedTuple):
    """A constraint on the start of a task.

    It waits for data that leaves `source` when that ends and arrives when it is `ready`, for its
    machine, which runs `source` until then, or for its graph and input (`source` is None).
    """

    kind: Literal["data", "machine", "arrival"]
    source: PlacedTask | None
    target: PlacedTask
    left: float
    ready: float


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The critical path of a schedule.

    Parameters
    ----------
    runs : tuple of PlacedTask
        From first to last.
    constraints : tuple of StartConstraint
        The binding constraint of each of them, or of all but the first, if none binds that one.
    complete : float
        When the last has ended and its output has arrived.
    """

    runs: tuple[PlacedTask, ...]
    constraints: tuple[StartConstraint, ...]
    complete: float

    @property
    def running(self) -> float:
        """Total execution time of its tasks."""
        return sum(run.end - run.start for run in self.runs)

    @property
    def sending(self) -> float:
        """Total transfer time, of input and output as well."""
        output = sum(self.complete - last.end for last in self.runs[-1:])
        return output + sum(cause.ready - cause.left for cause in self.constraints)

    @property
    def idle(self) -> float:
        """Total slack, as in schedules that start tasks late."""
        return sum(cause.target.start - cause.ready for cause in self.constraints)

    @property
    def edges(self) -> set[tuple[int, int, int]]:
        """Graph, source and target of its transfers."""
        return {
            (cause.target.graph, cause.source.task, cause.target.task)
            for cause in self.constraints
            if cause.kind == "data" and cause.source is not None
        }


NOTHING_RUNS = CriticalPath((), (), complete=0.0)
"""The critical path of a schedule without tasks."""


def placed_tasks(instance: Instance, solution: Solution) -> list[PlacedTask]:
    """Return the placements that can be drawn: of existing tasks on machines that can run them."""
    graphs, machines, found = instance.graphs, len(instance.machines), []
    for one in solution.placements:
        there = one.graph < len(graphs) and one.task < len(graphs[one.graph].tasks)
        if there and one.machine < machines:
            cost = instance.cost(one.graph, one.task, one.machine)
            if cost is not None:
                start = float(one.start)
                found.append(
                    PlacedTask(one.graph, one.task, one.machine, start, start + float(cost))
                )
    return found


def critical_path(instance: Instance, runs: Sequence[PlacedTask]) -> CriticalPath:
    """Return the chain of tasks, transfers and waits that ends when the last graph is complete.

    From the last task on, it goes back to the binding constraint of each task: data of another
    task, another task on its machine, the arrival of its graph, or its input.

    Parameters
    ----------
    instance : Instance
    runs : sequence of PlacedTask
        Of a schedule that need not be feasible: constraints that a task violates are not binding.

    Returns
    -------
    CriticalPath
        Without tasks if nothing runs.

    Notes
    -----
    Where several constraints bind, data comes before the machine, and the machine before the
    arrival. Complexity: O(n log n) in tasks and edges.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Placement, Task
    >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)), (Edge(0, 1, data=4),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> solution = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 1, 6)))
    >>> path = critical_path(instance, placed_tasks(instance, solution))
    >>> [limit.kind for limit in path.constraints], path.running, path.sending, path.complete
    (['arrival', 'data'], 5.0, 4.0, 9.0)
    """
    return _CriticalPathSearch(instance, runs).chain() if runs else NOTHING_RUNS


class _CriticalPathSearch:
    """Indexes of a schedule for the search of its critical path."""

    def __init__(self, instance: Instance, runs: Sequence[PlacedTask]) -> None:
        self.graphs = instance.graphs
        self.paths = Paths(instance.network, instance.machines, float)
        self.runs = runs
        self.known: dict[tuple[int, int], PlacedTask] = {}
        self.on: dict[int, list[PlacedTask]] = defaultdict(list)
        for run in runs:
            self.known.setdefault((run.graph, run.task), run)
            if run.end > run.start:
                self.on[run.machine].append(run)
        for row in self.on.values():
            row.sort(key=lambda run: (run.end, run.start))
        self.before: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
        self.exits: list[frozenset[int]] = []
        for at, graph in enumerate(self.graphs):
            for edge in graph.edges:
                self.before[at, edge.target].append((edge.source, float(edge.data)))
            self.exits.append(frozenset(graph.exits))
        latest = max(abs(run.end) for run in runs)
        self.slack = SOLVER * latest

    def chain(self) -> CriticalPath:
        last = max(self.runs, key=lambda run: (self._complete(run), run.start))
        runs, constraints, seen = [last], list[StartConstraint](), {last}
        while True:
            cause = self._binding_constraint(runs[-1], seen)
            if cause is not None:
                constraints.append(cause)
            if cause is None or cause.source is None:
                break
            runs.append(cause.source)
            seen.add(cause.source)
        return CriticalPath(
            tuple(reversed(runs)), tuple(reversed(constraints)), self._complete(last)
        )

    def _complete(self, run: PlacedTask) -> float:
        """Return when a task has ended, and its output has arrived if it is sent home."""
        graph = self.graphs[run.graph]
        if graph.lan is None or run.task not in self.exits[run.graph]:
            return run.end
        latency, unit = self.paths.outbound(run.machine, graph.lan)
        return run.end + float(latency + float(graph.output) * unit)

    def _binding_constraint(self, run: PlacedTask, seen: set[PlacedTask]) -> StartConstraint | None:
        """Return the binding constraint of a task, None if it has none."""
        found = [
            cause
            for cause in self._start_constraints(run)
            if cause.ready <= run.start + self.slack and cause.source not in seen
        ]
        latest = max((cause.ready for cause in found), default=0.0)
        return next((cause for cause in found if cause.ready >= latest - self.slack), None)

    def _start_constraints(self, run: PlacedTask) -> Iterator[StartConstraint]:
        for source, data in self.before[run.graph, run.task]:
            other = self.known.get((run.graph, source))
            if other is not None:
                ready = other.end + self.paths.transfer(data, other.machine, run.machine)
                yield StartConstraint("data", other, run, other.end, float(ready))
        if run.end > run.start:  # what takes no time does not wait for its machine
            row = self.on[run.machine]
            place = bisect_right(row, run.start + self.slack, key=lambda other: other.end)
            if place and row[place - 1].start < run.start:
                other = row[place - 1]
                yield StartConstraint("machine", other, run, other.end, other.end)
        graph = self.graphs[run.graph]
        yield StartConstraint("arrival", None, run, float(graph.arrival), self._input(graph, run))

    def _input(self, graph: Graph, run: PlacedTask) -> float:
        """Return when the input of a task arrives."""
        arrival = float(graph.arrival)
        if graph.lan is None or self.before[run.graph, run.task]:
            return arrival
        latency, unit = self.paths.inbound(graph.lan, run.machine)
        return arrival + float(latency + float(graph.input) * unit)
