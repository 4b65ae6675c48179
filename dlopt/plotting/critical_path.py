"""What a plan of task graphs takes its time for: the chain from its end back to an arrival."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dlopt.arithmetic import SOLVER
from dlopt.problems.dag import Graph, Instance, Paths, Solution


class Run(NamedTuple):
    """A task on a machine, in floats."""

    graph: int
    task: int
    machine: int
    start: float
    end: float


class Cause(NamedTuple):
    """Why a task does not start before.

    It waits for data that leaves `source` when that ends and is there when it is `ready`, for its
    machine, which runs `source` until then, or for its graph and input (`source` is None).
    """

    kind: Literal["data", "machine", "arrival"]
    source: Run | None
    target: Run
    left: float
    ready: float


@dataclass(frozen=True, slots=True)
class Chain:
    """The critical path of a schedule.

    Parameters
    ----------
    runs : tuple of Run
        From first to last.
    causes : tuple of Cause
        Of each of them, or of all but the first: then nothing holds that one back.
    complete : float
        When the last has ended and its output has arrived.
    """

    runs: tuple[Run, ...]
    causes: tuple[Cause, ...]
    complete: float

    @property
    def running(self) -> float:
        """How long the tasks of the chain run."""
        return sum(run.end - run.start for run in self.runs)

    @property
    def sending(self) -> float:
        """How long data is under way, input and output as well."""
        return sum(cause.ready - cause.left for cause in self.causes) + (
            self.complete - self.runs[-1].end
        )

    @property
    def idle(self) -> float:
        """How long the chain waits for nothing, as in plans that start tasks late."""
        return sum(cause.target.start - cause.ready for cause in self.causes)

    @property
    def edges(self) -> set[tuple[int, int, int]]:
        """Graph, source and target of the data that it waits for."""
        return {
            (cause.target.graph, cause.source.task, cause.target.task)
            for cause in self.causes
            if cause.kind == "data" and cause.source is not None
        }


def runs_of(instance: Instance, solution: Solution) -> list[Run]:
    """Return what can be drawn of a plan: tasks that exist on machines that can run them."""
    graphs, machines, found = instance.graphs, len(instance.machines), []
    for one in solution.placements:
        there = one.graph < len(graphs) and one.task < len(graphs[one.graph].tasks)
        if there and one.machine < machines:
            cost = instance.cost(one.graph, one.task, one.machine)
            if cost is not None:
                start = float(one.start)
                found.append(Run(one.graph, one.task, one.machine, start, start + float(cost)))
    return found


def critical_path(instance: Instance, runs: Sequence[Run]) -> Chain | None:
    """Return the chain of tasks, transfers and waits that ends when the last graph is complete.

    From the last task on, it goes back to what each task waits for last: data of another task,
    another task on its machine, the arrival of its graph, or its input.

    Parameters
    ----------
    instance : Instance
    runs : sequence of Run
        Of a plan that need not be valid: what comes too late for a task is not what it waits for.

    Returns
    -------
    Chain, optional
        None if nothing runs.

    Notes
    -----
    Where several causes hold a task back to the same instant, data comes before the machine,
    and the machine before the arrival. Complexity: O(n log n) in tasks and edges.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Placement, Task
    >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)), (Edge(0, 1, data=4),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> plan = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 1, 6)))
    >>> chain = critical_path(instance, runs_of(instance, plan))
    >>> [cause.kind for cause in chain.causes], chain.running, chain.sending, chain.complete
    (['arrival', 'data'], 5.0, 4.0, 9.0)
    """
    return _Search(instance, runs).chain() if runs else None


class _Search:
    """What is asked again and again on the way back."""

    def __init__(self, instance: Instance, runs: Sequence[Run]) -> None:
        self.graphs = instance.graphs
        self.paths = Paths(instance.network, instance.machines, float)
        self.runs = runs
        self.known: dict[tuple[int, int], Run] = {}
        self.on: dict[int, list[Run]] = defaultdict(list)
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

    def chain(self) -> Chain:
        last = max(self.runs, key=lambda run: (self._complete(run), run.start))
        runs, causes, seen = [last], list[Cause](), {last}
        while True:
            cause = self._cause(runs[-1], seen)
            if cause is not None:
                causes.append(cause)
            if cause is None or cause.source is None:
                break
            runs.append(cause.source)
            seen.add(cause.source)
        return Chain(tuple(reversed(runs)), tuple(reversed(causes)), self._complete(last))

    def _complete(self, run: Run) -> float:
        """Return when a task has ended, and its output has arrived if it sends one home."""
        graph = self.graphs[run.graph]
        if graph.lan is None or run.task not in self.exits[run.graph]:
            return run.end
        latency, unit = self.paths.outbound(run.machine, graph.lan)
        return run.end + float(latency + float(graph.output) * unit)

    def _cause(self, run: Run, seen: set[Run]) -> Cause | None:
        """Return what a task waits for last; what it does not wait for, it starts before."""
        found = [
            cause
            for cause in self._causes(run)
            if cause.ready <= run.start + self.slack and cause.source not in seen
        ]
        latest = max((cause.ready for cause in found), default=0.0)
        return next((cause for cause in found if cause.ready >= latest - self.slack), None)

    def _causes(self, run: Run) -> Iterator[Cause]:
        for source, data in self.before[run.graph, run.task]:
            other = self.known.get((run.graph, source))
            if other is not None:
                ready = other.end + self.paths.transfer(data, other.machine, run.machine)
                yield Cause("data", other, run, other.end, float(ready))
        if run.end > run.start:  # what takes no time does not wait for its machine
            row = self.on[run.machine]
            place = bisect_right(row, run.start + self.slack, key=lambda other: other.end)
            if place and row[place - 1].start < run.start:
                other = row[place - 1]
                yield Cause("machine", other, run, other.end, other.end)
        graph = self.graphs[run.graph]
        yield Cause("arrival", None, run, float(graph.arrival), self._input(graph, run))

    def _input(self, graph: Graph, run: Run) -> float:
        """Return when the input of a task is there."""
        arrival = float(graph.arrival)
        if graph.lan is None or self.before[run.graph, run.task]:
            return arrival
        latency, unit = self.paths.inbound(graph.lan, run.machine)
        return arrival + float(latency + float(graph.input) * unit)
