"""An instance as the models see it: all graphs as one list of jobs, all times as integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor, gcd, lcm
from typing import Any

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.problems.allowance import DRIFT
from dlopt.problems.dag.data import Graph, Instance
from dlopt.problems.dag.paths import cost_of

LARGEST = 2**40
"""No horizon is longer, in units of time of a model; CP-SAT adds up many of them."""
_GRID = 2**30
"""Units of time within the horizon, if times have no common unit that is long enough."""


@dataclass(frozen=True, slots=True)
class Arc:
    """Data that one job needs of another.

    Parameters
    ----------
    source, target : int
        Jobs.
    sends : tuple of int
        How long it takes by each kind of way, see `Case.kinds`.
    """

    source: int
    target: int
    sends: tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """Jobs on machines, in units of time such that every number is an integer.

    Instants count from the first arrival, so that units are no coarser for dates that are large.

    Parameters
    ----------
    instance : Instance
    origin : Fraction
        The first arrival.
    scale : Fraction
        Units of time in one of the instance.
    whole : bool
        Whether every number of the instance is a multiple of a unit. If not, times are rounded
        down: what is proven of this case holds for the instance as a bound, and its plans are
        timed anew.
    jobs : tuple of (int, int)
        Graph and task of each job. Every arc leads from a job to a later one.
    costs : tuple of tuple of (int or None), shape (jobs, machines)
        How long a job takes; None where it cannot run.
    ready, after : tuple of tuple of int, shape (jobs, machines)
        When its input has come in, at the earliest, and how long its output takes.
    arcs : tuple of Arc
    kinds : tuple of tuple of int, shape (machines, machines)
        The kind of way from one machine to another.
    """

    instance: Instance
    origin: Fraction
    scale: Fraction
    whole: bool
    jobs: tuple[tuple[int, int], ...]
    costs: tuple[tuple[int | None, ...], ...]
    ready: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    arcs: tuple[Arc, ...]
    kinds: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, instance: Instance) -> Case:
        """Return the case of an instance.

        Examples
        --------
        >>> from dlopt.problems.dag import Edge, Machine, Task
        >>> graph = Graph("g", (Task("a", work=3), Task("b", work=1)), (Edge(0, 1, data=1),))
        >>> case = Case.of(Instance((Machine("m", power=2), Machine("n")), (graph,)))
        >>> case.scale, case.costs, case.arcs[0].sends
        (Fraction(2, 1), ((3, 6), (1, 2)), (0, 2))
        """
        return _Scaling(instance).case()

    @property
    def machines(self) -> int:
        """How many there are."""
        return len(self.kinds)

    @cached_property
    def incoming(self) -> list[list[Arc]]:
        """The arcs into each job."""
        found: list[list[Arc]] = [[] for _ in self.jobs]
        for arc in self.arcs:
            found[arc.target].append(arc)
        return found

    @cached_property
    def outgoing(self) -> list[list[Arc]]:
        """The arcs out of each job."""
        found: list[list[Arc]] = [[] for _ in self.jobs]
        for arc in self.arcs:
            found[arc.source].append(arc)
        return found

    @cached_property
    def members(self) -> list[list[int]]:
        """The jobs of each graph."""
        found: list[list[int]] = [[] for _ in self.instance.graphs]
        for job, (graph, _) in enumerate(self.jobs):
            found[graph].append(job)
        return found

    @cached_property
    def places(self) -> list[list[int]]:
        """The machines that can run each job."""
        return [[p for p, cost in enumerate(row) if cost is not None] for row in self.costs]

    @cached_property
    def arrivals(self) -> list[int]:
        """When each graph arrives, rounded down."""
        graphs = self.instance.graphs
        return [floor((exact(g.arrival) - self.origin) * self.scale) for g in graphs]

    @cached_property
    def due(self) -> list[int | None]:
        """When each graph is due; it is late if it is complete later.

        Of instances in floats it is due a little later than stated: by more than the check of a
        plan allows. So plans that pass the check have no fewer late graphs than is proven.
        """
        dates = (graph.absolute_deadline for graph in self.instance.graphs)
        return [None if date is None else self._due(exact(date)) for date in dates]

    def _due(self, date: Fraction) -> int:
        since = date - self.origin
        if not self.instance.exact:
            drift = DRIFT * len(self.jobs) * max(since, Fraction(0))
            date += 2 * (exact(FLOATING) * self._shortest + ROUNDING * date + drift)
        return floor((date - self.origin) * self.scale)

    @cached_property
    def _shortest(self) -> Fraction:
        """What the shortest task takes where it is fastest; those that take no time aside."""
        graphs, machines = self.instance.graphs, self.instance.machines
        tasks = [task for graph in graphs for task in graph.tasks]
        lengths = ([cost_of(t, at, one) for at, one in enumerate(machines)] for t in tasks)
        least = (min(exact(cost) for cost in row if cost is not None) for row in lengths)
        return min((cost for cost in least if cost), default=Fraction(0))

    @cached_property
    def silent(self) -> bool:
        """Whether sending takes no time anywhere, and all machines are alike to it."""
        rows = (*self.ready, *self.after)
        return not any(any(arc.sends) for arc in self.arcs) and all(
            len(set(row)) == 1 for row in rows
        )

    @cached_property
    def lans(self) -> list[int] | None:
        """The LAN of each machine, if it matters; None if no graph has to stay in one."""
        if not any(graph.one_lan for graph in self.instance.graphs):
            return None
        return [-1 if m.lan is None else m.lan for m in self.instance.machines]

    @cached_property
    def groups(self) -> list[list[int]]:
        """Machines that may be exchanged for each other in any plan, grouped."""
        columns = [
            tuple(row[p] for rows in (self.costs, self.ready, self.after) for row in rows)
            for p in range(self.machines)
        ]
        found: dict[int, list[int]] = {}
        for machine in range(self.machines):
            for first, group in found.items():
                if columns[first] == columns[machine] and self._exchangeable(first, machine):
                    group.append(machine)
                    break
            else:
                found[machine] = [machine]
        return list(found.values())

    def cost(self, job: int, machine: int) -> int:
        """Return how long a job takes on a machine that can run it."""
        cost = self.costs[job][machine]
        assert cost is not None  # callers ask for `places`
        return cost

    def send(self, arc: Arc, source: int, target: int) -> int:
        """Return how long it takes to send data from one machine to another."""
        return arc.sends[self.kinds[source][target]]

    def time(self, units: int) -> Fraction:
        """Return a duration, or a time since the origin, as the instance has it."""
        return units / self.scale

    def _exchangeable(self, one: int, other: int) -> bool:
        """Tell whether two machines lie alike in the network, and in one LAN where it matters."""
        if self.lans is not None and self.lans[one] != self.lans[other]:
            return False
        swap = {one: other, other: one}

        def same(p: int, q: int) -> bool:
            return self.kinds[p][q] == self.kinds[swap.get(p, p)][swap.get(q, q)]

        # Both ways: a link may differ from the one back.
        return all(same(p, q) and same(q, p) for p in range(self.machines) for q in (one, other))


class _Scaling:
    """The numbers of an instance, gathered, and turned into integers."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.paths, self.count = instance.paths, len(instance.machines)
        self.origin = min(exact(graph.arrival) for graph in instance.graphs)
        self.ways: dict[tuple[Fraction, Fraction], int] = {}
        self.kinds = tuple(
            tuple(
                self.ways.setdefault(self.paths.between(p, q), len(self.ways))
                for q in range(self.count)
            )
            for p in range(self.count)
        )
        self.slowness = [1 / exact(machine.power) for machine in instance.machines]

    def case(self) -> Case:
        scale = Fraction(self._common())
        case = self._scaled(scale)
        divisor = gcd(*self._numbers(case))
        if divisor > 1:
            scale /= divisor
            case = self._scaled(scale)
        horizon = horizon_of(case)
        if horizon > LARGEST:
            return self._scaled(scale * _GRID / horizon, whole=False)
        return case

    def _common(self) -> int:
        """Return a number that makes every time an integer: not the least such, but soon found."""
        graphs = self.instance.graphs
        tasks = [task for graph in graphs for task in graph.tasks]
        costs = {cost for task in tasks if task.costs is not None for cost in task.costs}
        works = {task.work for task in tasks} - {None}
        datas = {edge.data for graph in graphs for edge in graph.edges}
        ends = [way for graph in graphs for way in self._gates(graph)]
        common = lcm(
            *_denominators(costs - {None}),
            *_denominators(exact(graph.arrival) - self.origin for graph in graphs),
            *_denominators(latency for latency, _ in self.ways),
            *_denominators(latency for latency, _, _ in ends),
            *_denominators(data * unit for _, unit, data in ends),
        )
        by_work = lcm(*_denominators(works)) * lcm(*_denominators(self.slowness))
        by_data = lcm(*_denominators(datas)) * lcm(*_denominators(u for _, u in self.ways))
        return lcm(common, by_work if works else 1, by_data if datas else 1)

    def _gates(self, graph: Graph) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Yield latency, time per unit, and data, of what a graph gets and sends home."""
        for machine in range(self.count if graph.lan is not None else 0):
            yield (*self.paths.inbound(graph.lan, machine), exact(graph.input))
            yield (*self.paths.outbound(machine, graph.lan), exact(graph.output))

    def _scaled(self, scale: Fraction, whole: bool = True) -> Case:
        jobs: list[tuple[int, int]] = []
        costs: list[tuple[int | None, ...]] = []
        ready: list[tuple[int, ...]] = []
        after: list[tuple[int, ...]] = []
        arcs: list[Arc] = []
        slowness = [(scale * slow).as_integer_ratio() for slow in self.slowness]
        for at, graph in enumerate(self.instance.graphs):
            order, place = graph.order, {}
            gates = list(self._gates(graph))
            arrival = exact(graph.arrival) - self.origin
            plain = (floor(arrival * scale),) * self.count
            nothing = (0,) * self.count
            took = [latency + data * unit for latency, unit, data in gates]
            inputs = tuple(floor((arrival + one) * scale) for one in took[::2]) or plain
            outputs = tuple(floor(one * scale) for one in took[1::2]) or nothing
            entries, exits = set(graph.entries), set(graph.exits)
            for task in order:
                place[task] = len(jobs)
                jobs.append((at, task))
                given = graph.tasks[task]
                if given.costs is None:
                    top, bottom = exact(given.work or 0).as_integer_ratio()
                    costs.append(tuple(top * t // (bottom * b) for t, b in slowness))
                else:
                    costs.append(
                        tuple(None if c is None else floor(exact(c) * scale) for c in given.costs)
                    )
                ready.append(inputs if task in entries else plain)
                after.append(outputs if task in exits else nothing)
            ways = [(scale * latency, scale * unit) for latency, unit in self.ways]
            sent: dict[Fraction, tuple[int, ...]] = {}
            for edge in graph.edges:
                data = exact(edge.data)
                if data not in sent:
                    sent[data] = tuple(floor(latency + data * unit) for latency, unit in ways)
                arcs.append(Arc(place[edge.source], place[edge.target], sent[data]))
        arcs.sort(key=lambda arc: (arc.source, arc.target))
        lists = (tuple(costs), tuple(ready), tuple(after), tuple(arcs))
        return Case(self.instance, self.origin, scale, whole, tuple(jobs), *lists, self.kinds)

    def _numbers(self, case: Case) -> Iterator[int]:
        """Yield every time of a case that is not 0."""
        for rows in (set(case.costs), set(case.ready), set(case.after)):
            for row in rows:
                yield from (number for number in row if number)
        for sends in {arc.sends for arc in case.arcs}:
            yield from (number for number in sends if number)


def horizon_of(case: Case) -> int:
    """Return an instant by which everything is done if machines idle only as they must."""
    longest = sum(max(cost for cost in row if cost is not None) for row in case.costs)
    sent = sum(max(arc.sends) for arc in case.arcs)
    return longest + sent + max(map(max, case.ready)) + max(map(max, case.after))


def _denominators(numbers: Iterable[Any]) -> set[int]:
    return {exact(number).denominator for number in numbers}
