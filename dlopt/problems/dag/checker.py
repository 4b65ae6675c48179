"""The solution checker: placements against every constraint of the problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import ROUNDING, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.checking import Checker
from dlopt.problems.dag.checker_times import CheckerTimes, first_tasks
from dlopt.problems.dag.data import Graph, Instance, Placement, Solution
from dlopt.problems.dag.exact_timeline import StatedInterval, exact_starts
from dlopt.problems.intervals import overlaps
from dlopt.result import Violation

KINDS = (
    "unknown-task",
    "unknown-machine",
    "task-missing",
    "duplicate-task",
    "ineligible-machine",
    "starts-before-arrival",
    "starts-before-input",
    "precedence",
    "machine-overlap",
    "graph-in-several-lans",
    "earlier-than-possible",
)
"""The kinds of violation that `violations` tells apart."""


def violations(
    instance: Instance, solution: Solution, tolerance: float = 0
) -> tuple[Violation, ...]:
    """Return every constraint that a schedule violates, decided in rational arithmetic.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    tolerance : float, default 0
        Relative: times may be off by `tolerance` times the shortest task, each where it is
        fastest; those that take no time aside. If it is not 0, times may also be off by 64 units
        in the last place, and what is off does not add up: see the notes.

    Returns
    -------
    tuple of Violation
        Empty if the schedule is feasible. Kinds: see `KINDS`.

    Notes
    -----
    Every task runs once, without pause, on a machine that can run it, not before its graph has
    arrived, its input has come in and the data of all its predecessors has come over; a machine
    runs one task at a time. A task that takes no time occupies its machine at no time. Of a task
    that is placed twice, the first placement is compared with its neighbours in the graph. A late
    graph breaks no rule.

    With a tolerance, a plan that breaks no rule is also compared with the exact schedule of the
    same machines and the same order, in which every task starts as early as it can: no task may
    start before it does there by more than instants may be off, once, and the rounding errors of as
    many sums of floats as there are tasks, which count from the first arrival. So a plan in floats
    is a rounding of an exact plan. Complexity: O(n log n) in tasks and edges.

    Examples
    --------
    >>> from dlopt.problems.dag import Machine, Task
    >>> instance = Instance((Machine("m"),), (Graph("g", (Task("a", work=1), Task("b", work=1))),))
    >>> solution = Solution((Placement(0, 0, 0, 0), Placement(0, 1, 0, Fraction(1, 2))))
    >>> print(*violations(instance, solution))
    machine-overlap on machine 0 in [1/2, 1] by 1/2
    """
    return tuple(_Checker(instance, solution, tolerance).violations())


def allowed_gain(instance: Instance, name: str, bound: Fraction, tolerance: float) -> Fraction:
    """Return by how much a schedule that `violations` accepts may be better than exact ones.

    Parameters
    ----------
    instance : Instance
    name : str
        An objective. ``total-response-time`` counts the completion of every graph, ``makespan``
        one.
    bound : Fraction
        A bound on the value of every exact schedule.
    tolerance : float
        As in `violations`; not 0.

    Returns
    -------
    Fraction
        What tasks may start before those of the exact plan, see `violations`; but no schedule is
        complete before the last arrival, and no response is negative. 0 for numbers of graphs.

    Examples
    --------
    >>> from dlopt.problems.dag import Machine, Task
    >>> graphs = tuple(Graph(name, (Task("t", work=1.0),), arrival=2**46) for name in "ab")
    >>> instance = Instance((Machine("m"),), graphs)
    >>> round(float(allowed_gain(instance, "makespan", Fraction(2**46 + 2), 1e-9)), 12)
    1.000000001
    >>> round(float(allowed_gain(instance, "total-response-time", Fraction(3), 1e-9)), 12)
    2.000000002
    """
    if name not in ("makespan", "total-response-time"):
        return Fraction(0)
    arrivals = [exact(graph.arrival) for graph in instance.graphs]
    ends, count, least = bound, 1, max(arrivals)
    if name == "total-response-time":
        ends, count, least = bound + sum(arrivals, Fraction(0)), len(arrivals), Fraction(0)
    drift = DRIFT * sum(len(graph.tasks) for graph in instance.graphs)
    since = max(ends - count * min(arrivals), Fraction(0))
    checker = _Checker(instance, Solution(()), tolerance)
    slack = checker.tolerance * checker.time_scale
    return min(count * slack + ROUNDING * ends + drift * since, max(bound - least, Fraction(0)))


class _Checker(Checker):
    """The checker of one schedule, in exact numbers."""

    def __init__(self, instance: Instance, solution: Solution, tolerance: float) -> None:
        super().__init__(tolerance)
        self.instance, self.solution = instance, solution
        self.times = CheckerTimes(instance)

    def violations(self) -> Iterator[Violation]:
        placed: list[dict[int, StatedInterval]] = [{} for _ in self.instance.graphs]
        found = False
        for violation in self._local_violations(placed):
            found = True
            yield violation
        if self.tolerance and not found:
            yield from self._accumulated_violations(placed)

    def _local_violations(self, placed: list[dict[int, StatedInterval]]) -> Iterator[Violation]:
        """Yield what is broken between two tasks, or by one; note what is placed."""
        busy: dict[int, list[tuple[Fraction, Fraction]]] = defaultdict(list)
        for placement in self.solution.placements:
            strange = self._unknown_reference(placement)
            if strange is not None:
                yield strange
                continue
            known = placed[placement.graph]
            start = exact(placement.start)
            if placement.task in known:
                yield Violation("duplicate-task", self._name(placement), start)
            cost = self.times.duration(placement.graph, placement.task, placement.machine)
            if cost is None:
                yield Violation("ineligible-machine", self._name(placement), start)
            end = start + (cost or 0)
            known.setdefault(placement.task, (placement, start, end))
            busy[placement.machine].append((start, end))
        for at, graph in enumerate(self.instance.graphs):
            yield from self._graph_violations(at, graph, placed[at])
        yield from self._machine_violations(busy)

    def _unknown_reference(self, placement: Placement) -> Violation | None:
        """Return what is wrong with a placement that names what does not exist."""
        graphs = self.instance.graphs
        at, task = placement.graph, placement.task
        if at >= len(graphs) or task >= len(graphs[at].tasks):
            return Violation("unknown-task", f"task {task} of graph {at}")
        if placement.machine >= len(self.instance.machines):
            return Violation("unknown-machine", f"machine {placement.machine}")
        return None

    def _graph_violations(
        self, at: int, graph: Graph, placed: dict[int, StatedInterval]
    ) -> Iterator[Violation]:
        arrival = exact(graph.arrival)
        for task in range(len(graph.tasks)):
            if task not in placed:
                yield Violation("task-missing", f"task {task} of graph {at}")
        for placement, start, _ in placed.values():
            if arrival - start > self.time_tolerance(arrival):
                name = self._name(placement)
                yield Violation("starts-before-arrival", name, start, arrival, arrival - start)
        if graph.lan is not None:
            yield from self._input_violations(graph, arrival, placed)
        yield from self._edge_violations(at, graph, placed)
        if graph.one_lan:
            lans = {self.instance.machines[p.machine].lan for p, _, _ in placed.values()}
            if len(lans) > 1:
                yield Violation("graph-in-several-lans", f"graph {at}", amount=len(lans))

    def _input_violations(
        self, graph: Graph, arrival: Fraction, placed: dict[int, StatedInterval]
    ) -> Iterator[Violation]:
        """Yield where a task starts before its input has come from the gateway."""
        for task in first_tasks(graph):
            if task in placed:
                placement, start, _ = placed[task]
                ready = arrival + self.times.input_time(graph, placement.machine)
                if ready - start > self.time_tolerance(ready):
                    name = self._name(placement)
                    yield Violation("starts-before-input", name, start, ready, ready - start)

    def _edge_violations(
        self, at: int, graph: Graph, placed: dict[int, StatedInterval]
    ) -> Iterator[Violation]:
        for edge in graph.edges:
            if edge.source in placed and edge.target in placed:
                before, _, end = placed[edge.source]
                after, start, _ = placed[edge.target]
                ready = end + self.times.transfer(edge.data, before.machine, after.machine)
                if ready - start > self.time_tolerance(ready):
                    name = f"edge {edge.source} -> {edge.target} of graph {at}"
                    yield Violation("precedence", name, start, ready, ready - start)

    def _machine_violations(
        self, busy: dict[int, list[tuple[Fraction, Fraction]]]
    ) -> Iterator[Violation]:
        for machine, intervals in sorted(busy.items()):
            resource = f"machine {machine}"
            yield from self.overlap_violations("machine-overlap", resource, overlaps(intervals))

    def _accumulated_violations(
        self, placed: list[dict[int, StatedInterval]]
    ) -> Iterator[Violation]:
        """Yield where a task starts before it can in the exact plan of the same order."""
        first = min(exact(graph.arrival) for graph in self.instance.graphs)
        drift = DRIFT * sum(len(graph.tasks) for graph in self.instance.graphs)
        starts = exact_starts(self.instance, self.times, placed, self.tolerance * self.time_scale)
        for (graph, task), ready in starts.items():
            placement, start, _ = placed[graph][task]
            if ready - start > self.time_tolerance(ready) + drift * (ready - first):
                name = self._name(placement)
                yield Violation("earlier-than-possible", name, start, ready, ready - start)

    @cached_property
    def time_scale(self) -> Fraction:
        """The duration of the shortest task where it is fastest; 0 if none takes any time."""
        machines = self.instance.machines
        fastest = max(range(len(machines)), key=lambda place: exact(machines[place].power))
        spans = []
        for at, graph in enumerate(self.instance.graphs):
            for index, task in enumerate(graph.tasks):
                places: Iterable[int] = (fastest,) if task.costs is None else range(len(machines))
                costs = (self.times.duration(at, index, place) for place in places)
                spans.append(min(cost for cost in costs if cost is not None))
        return min((span for span in spans if span), default=Fraction(0))

    def _name(self, placement: Placement) -> str:
        return f"task {placement.task} of graph {placement.graph}"
