"""An instance laid out for list scheduling: all tasks in one row, numbers ready to add.

Exact numbers are multiplied by their common denominator, so that all that list scheduling does is
done in integers, without rounding. Floats stay floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any

from dlopt.arithmetic import Number, exact, simplest
from dlopt.problems.dag.data import Graph, Instance, Placement, Solution
from dlopt.problems.dag.network import Machine
from dlopt.problems.dag.paths import Paths
from dlopt.problems.dag.topology import topological

MOST_BITS = 4096
"""A common denominator that is longer slows integers down more than fractions are slow."""


@dataclass(slots=True)
class Flat:
    """An instance with its tasks numbered through, graph by graph.

    Attributes
    ----------
    floating : bool
        Whether a number of the instance is a float.
    scale : int
        Times are multiplied by it; 1 for floats.
    origin : Fraction
        Instants count from it. Of floats it is the first arrival, so that dates lose nothing when
        durations are added to them; else 0.
    graph_of, first : list of int
        The graph of each task; the first task of each graph.
    order : list of int
        All tasks so that every edge leads forward.
    costs : list of list
        Of each task and machine; None where it cannot run. Equal rows may be one.
    before, after : list of list of (int, data)
        Neighbours of each task, and how much data goes between.
    arrival : list
        Of each task's graph.
    inbound, outbound : dict of int to list
        Of tasks that wait for input, or send output: how long, on each machine.
    kinds : list of int
        The class of each machine: what sending takes depends on classes alone.
    latency, unit : list of list
        Between machines of two classes: latency, and time a unit of data.
    counted : bool
        Whether data that stays on a machine is sent, too.
    """

    instance: Instance
    floating: bool
    scale: int
    origin: Fraction
    graph_of: list[int]
    first: list[int]
    order: list[int]
    costs: list[list[Any]]
    before: list[list[tuple[int, Any]]]
    after: list[list[tuple[int, Any]]]
    arrival: list[Any]
    inbound: dict[int, list[Any]]
    outbound: dict[int, list[Any]]
    kinds: list[int]
    latency: list[list[Any]]
    unit: list[list[Any]]
    counted: bool

    @classmethod
    def of(cls, instance: Instance) -> Flat:
        """Lay an instance out. Complexity: O(tasks x machines + edges + classes^2)."""
        return _Layout(instance).flat()

    @property
    def count(self) -> int:
        """How many tasks there are."""
        return len(self.costs)

    @property
    def machines(self) -> int:
        """How many machines there are."""
        return len(self.kinds)

    def solution(self, machine: Sequence[int], start: Sequence[Any]) -> Solution:
        """Return a plan in the units of the instance."""
        first = self.first
        return Solution(
            tuple(
                Placement(
                    graph,
                    task - first[graph],
                    machine[task],
                    self._date(start[task]),
                )
                for task, graph in enumerate(self.graph_of)
            )
        )

    def _date(self, start: Any) -> Number:
        if self.scale != 1:
            return simplest(Fraction(start, self.scale))
        date: Number = float(self.origin + exact(start)) if self.origin else start
        return date

    def in_units(self, times: Iterable[Any], scale: int = 1) -> list[Number]:
        """Return times, multiplied by `scale` once more, in the units of the instance."""
        whole = self.scale * scale
        if self.floating:
            return [time / whole for time in times]
        return [simplest(Fraction(time) / whole) for time in times]


class _Layout:
    """What `Flat.of` does, step by step."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.graphs, self.machines = instance.graphs, instance.machines
        self.floating = not instance.exact
        self.tasks = [task for graph in self.graphs for task in graph.tasks]
        paths = Paths(instance.network, self.machines, float if self.floating else exact)
        self.kinds, between = _classes(instance, paths)
        self.latency = [[path[0] for path in row] for row in between]
        self.unit = [[path[1] for path in row] for row in between]
        self.gates = {  # home LAN -> what its input and output take, from and to every machine
            home: [
                (paths.inbound(home, place), paths.outbound(place, home))
                for place in range(len(self.machines))
            ]
            for home in {graph.lan for graph in self.graphs if graph.lan is not None}
        }
        self.scale = self.of_work = self.of_data = 1
        self.origin = Fraction(0)
        if self.floating:
            self.origin = min(exact(graph.arrival) for graph in self.graphs)
        if not self.floating:
            self._scales()

    def flat(self) -> Flat:
        first, total = [], 0
        for graph in self.graphs:
            first.append(total)
            total += len(graph.tasks)
        before: list[list[tuple[int, Any]]] = [[] for _ in range(total)]
        after: list[list[tuple[int, Any]]] = [[] for _ in range(total)]
        for base, graph in zip(first, self.graphs, strict=True):
            for edge in graph.edges:
                source, target = base + edge.source, base + edge.target
                data = self._number(edge.data, self.of_data)
                before[target].append((source, data))
                after[source].append((target, data))
        inbound: dict[int, list[Any]] = {}
        outbound: dict[int, list[Any]] = {}
        for base, graph in zip(first, self.graphs, strict=True):
            if graph.lan is not None:
                into, out = self._gate(graph, graph.lan)
                tasks = range(base, base + len(graph.tasks))
                inbound |= {task: into for task in tasks if not before[task]}
                outbound |= {task: out for task in tasks if not after[task]}
        latency_scale, unit_scale = self.scale, self.scale // self.of_data
        return Flat(
            self.instance,
            self.floating,
            self.scale,
            self.origin,
            [at for at, graph in enumerate(self.graphs) for _ in graph.tasks],
            first,
            topological([[target for target, _ in some] for some in after]),
            self._costs(),
            before,
            after,
            [self._arrival(g) for g in self.graphs for _ in g.tasks],
            inbound,
            outbound,
            self.kinds,
            [[self._number(entry, latency_scale) for entry in row] for row in self.latency],
            [[self._number(entry, unit_scale) for entry in row] for row in self.unit],
            self.instance.network.same_machine == "counted",
        )

    def _scales(self) -> None:
        """Choose the scales of times, works and data so that all products are integers."""
        graphs, gates = self.graphs, [gate for gates in self.gates.values() for gate in gates]
        works = _denominator(task.work for task in self.tasks if task.work is not None)
        powers = _denominator(exact(1) / exact(machine.power) for machine in self.machines)
        data = math.lcm(
            _denominator(edge.data for graph in graphs for edge in graph.edges),
            _denominator(size for graph in graphs for size in (graph.input, graph.output)),
        )
        units = _denominator(
            chain(*self.unit, (path[1] for gate in gates for path in gate)),
        )
        rows = {id(task.costs): task.costs for task in self.tasks if task.costs is not None}
        scale = math.lcm(
            works * powers,
            data * units,
            _denominator(cost for row in rows.values() for cost in row if cost is not None),
            _denominator(chain(*self.latency, (path[0] for gate in gates for path in gate))),
            _denominator(graph.arrival for graph in graphs),
        )
        if len(self.unit) > 1:
            scale *= len(self.machines) * (len(self.machines) - 1)  # so that means fit, too
        if scale.bit_length() <= MOST_BITS:
            self.scale, self.of_work, self.of_data = scale, works, data

    def _arrival(self, graph: Graph) -> Any:
        since = exact(graph.arrival) - self.origin if self.origin else graph.arrival
        return self._number(since, self.scale)

    def _number(self, number: Number, factor: int) -> Any:
        if self.floating:
            return float(number)
        return number * factor if type(number) is int else simplest(number * factor)

    def _costs(self) -> list[list[Any]]:
        """Return the costs of every task; tasks of one work share their row."""
        rest = self.scale // self.of_work
        slowness: list[Any]
        if self.floating:
            slowness = [float(machine.power) for machine in self.machines]
        else:
            slowness = [self._number(1 / exact(machine.power), rest) for machine in self.machines]
        of_work: dict[Number, list[Any]] = {}
        of_costs: dict[int, list[Any]] = {}
        rows = []
        for task in self.tasks:
            if task.costs is not None:
                row = of_costs.get(id(task.costs))
                if row is None:
                    row = [
                        None if cost is None else self._number(cost, self.scale)
                        for cost in task.costs
                    ]
                    of_costs[id(task.costs)] = row
            else:
                assert task.work is not None  # one of the two is given
                row = of_work.get(task.work)
                if row is None:
                    work = self._number(task.work, self.of_work)
                    row = [work / s if self.floating else simplest(work * s) for s in slowness]
                    of_work[task.work] = row
            rows.append(row)
        return rows

    def _gate(self, graph: Graph, home: int) -> tuple[list[Any], list[Any]]:
        """Return how long input and output take, from and to every machine."""
        rest = self.scale // self.of_data
        both = []
        for way, size in ((0, graph.input), (1, graph.output)):
            data = self._number(size, self.of_data)
            paths = [gate[way] for gate in self.gates[home]]
            both.append(
                [
                    self._number(latency, self.scale) + data * self._number(unit, rest)
                    for latency, unit in paths
                ]
            )
        return both[0], both[1]


def _denominator(numbers: Iterable[Number]) -> int:
    """Return the least common denominator of exact numbers."""
    return math.lcm(1, *{number.denominator for number in numbers if type(number) is Fraction})


def _classes(instance: Instance, paths: Paths) -> tuple[list[int], list[list[tuple[Any, Any]]]]:
    """Return the class of each machine, and the paths between classes.

    Machines are of one class if they share LAN and delay and none has a link of its own.
    """
    linked = {end for link in instance.network.links for end in (link.source, link.target)}
    number: dict[tuple[Machine | int | None, Any], int] = {}
    kinds: list[int] = []
    members: list[list[int]] = []
    for place, machine in enumerate(instance.machines):
        key = (machine, place) if place in linked else (machine.lan, machine.delay)
        kind = number.setdefault(key, len(number))
        if kind == len(members):
            members.append([])
        members[kind].append(place)
        kinds.append(kind)
    return kinds, [[paths.between(one[0], other[-1]) for other in members] for one in members]
