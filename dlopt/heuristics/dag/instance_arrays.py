"""The instance as arrays for list scheduling: all tasks numbered through, numbers ready to add.

Exact numbers are multiplied by their common denominator, so that list scheduling computes in
integers, without rounding. Floats remain floats.
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
from dlopt.problems.dag.task_and_transfer_times import Paths
from dlopt.problems.dag.topology import topological

MAX_SCALE_BITS = 4096
"""Bits of the common denominator up to which numbers are scaled to integers. Chosen by hand: longer
integers are slower than fractions."""


@dataclass(slots=True)
class InstanceArrays:
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
    graph_of, first_task : list of int
        The graph of each task; the first task of each graph.
    topological_order : list of int
        All tasks so that every edge leads forward.
    costs : list of list
        Of each task and machine; None where it cannot run. Equal rows may be one object.
    predecessors, successors : list of list of (int, data)
        Neighbours of each task, and the data that is sent between them.
    arrival : list
        Of each task's graph.
    input_times, output_times : dict of int to list
        Of tasks that wait for input, or send output: its transfer time for each machine.
    machine_class : list of int
        The class of each machine: transfer times depend on classes alone.
    latency, time_per_data : list of list
        Between machines of two classes: latency, and time per unit of data.
    local_transfers_counted : bool
        Whether transfers within a machine take time, too.
    """

    instance: Instance
    floating: bool
    scale: int
    origin: Fraction
    graph_of: list[int]
    first_task: list[int]
    topological_order: list[int]
    costs: list[list[Any]]
    predecessors: list[list[tuple[int, Any]]]
    successors: list[list[tuple[int, Any]]]
    arrival: list[Any]
    input_times: dict[int, list[Any]]
    output_times: dict[int, list[Any]]
    machine_class: list[int]
    latency: list[list[Any]]
    time_per_data: list[list[Any]]
    local_transfers_counted: bool

    @classmethod
    def from_instance(cls, instance: Instance) -> InstanceArrays:
        """Return the arrays of an instance. Complexity: O(tasks x machines + edges + classes^2).

        Examples
        --------
        >>> from dlopt.problems.dag import Task
        >>> graph = Graph("g", (Task("a", work=3), Task("b", work=1)))
        >>> machines = Machine("m", power=2), Machine("n", power=3)
        >>> arrays = InstanceArrays.from_instance(Instance(machines, (graph,)))
        >>> arrays.scale, arrays.costs
        (6, [[9, 6], [3, 2]])
        """
        return _ArrayBuilder(instance).build()

    @property
    def task_count(self) -> int:
        """The number of tasks."""
        return len(self.costs)

    @property
    def machine_count(self) -> int:
        """The number of machines."""
        return len(self.machine_class)

    def to_solution(self, machine: Sequence[int], start: Sequence[Any]) -> Solution:
        """Return a schedule in the units of the instance."""
        first = self.first_task
        return Solution(
            tuple(
                Placement(
                    graph,
                    task - first[graph],
                    machine[task],
                    self._to_date(start[task]),
                )
                for task, graph in enumerate(self.graph_of)
            )
        )

    def _to_date(self, start: Any) -> Number:
        if self.scale != 1:
            return simplest(Fraction(start, self.scale))
        date: Number = float(self.origin + exact(start)) if self.origin else start
        return date

    def in_instance_units(self, times: Iterable[Any], scale: int = 1) -> list[Number]:
        """Return times, multiplied by `scale` once more, in the units of the instance."""
        total_scale = self.scale * scale
        if self.floating:
            return [time / total_scale for time in times]
        return [simplest(Fraction(time) / total_scale) for time in times]


class _ArrayBuilder:
    """Builds the arrays of an instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.graphs, self.machines = instance.graphs, instance.machines
        self.floating = not instance.exact
        self.tasks = [task for graph in self.graphs for task in graph.tasks]
        paths = Paths(instance.network, self.machines, float if self.floating else exact)
        self.machine_class, between = _machine_classes(instance, paths)
        self.latency = [[path[0] for path in row] for row in between]
        self.time_per_data = [[path[1] for path in row] for row in between]
        self.home_paths = {  # home LAN -> paths of input and output, to and from every machine
            home: [
                (paths.inbound(home, machine), paths.outbound(machine, home))
                for machine in range(len(self.machines))
            ]
            for home in {graph.lan for graph in self.graphs if graph.lan is not None}
        }
        self.scale = self.work_scale = self.data_scale = 1
        self.origin = Fraction(0)
        if self.floating:
            self.origin = min(exact(graph.arrival) for graph in self.graphs)
        else:
            self._choose_scales()

    def build(self) -> InstanceArrays:
        first_task, total = [], 0
        for graph in self.graphs:
            first_task.append(total)
            total += len(graph.tasks)
        predecessors: list[list[tuple[int, Any]]] = [[] for _ in range(total)]
        successors: list[list[tuple[int, Any]]] = [[] for _ in range(total)]
        for base, graph in zip(first_task, self.graphs, strict=True):
            for edge in graph.edges:
                source, target = base + edge.source, base + edge.target
                data = self._scaled(edge.data, self.data_scale)
                predecessors[target].append((source, data))
                successors[source].append((target, data))
        input_times: dict[int, list[Any]] = {}
        output_times: dict[int, list[Any]] = {}
        for base, graph in zip(first_task, self.graphs, strict=True):
            if graph.lan is not None:
                inputs, outputs = self._input_output_times(graph, graph.lan)
                tasks = range(base, base + len(graph.tasks))
                input_times |= {task: inputs for task in tasks if not predecessors[task]}
                output_times |= {task: outputs for task in tasks if not successors[task]}
        latency_scale, unit_scale = self.scale, self.scale // self.data_scale
        return InstanceArrays(
            self.instance,
            self.floating,
            self.scale,
            self.origin,
            [index for index, graph in enumerate(self.graphs) for _ in graph.tasks],
            first_task,
            topological([[target for target, _ in targets] for targets in successors]),
            self._costs(),
            predecessors,
            successors,
            [self._arrival(graph) for graph in self.graphs for _ in graph.tasks],
            input_times,
            output_times,
            self.machine_class,
            [[self._scaled(entry, latency_scale) for entry in row] for row in self.latency],
            [[self._scaled(entry, unit_scale) for entry in row] for row in self.time_per_data],
            self.instance.network.same_machine == "counted",
        )

    def _choose_scales(self) -> None:
        """Choose the scales of times, works and data so that all products are integers."""
        graphs = self.graphs
        home_paths = [pair for pairs in self.home_paths.values() for pair in pairs]
        works = _denominator(task.work for task in self.tasks if task.work is not None)
        powers = _denominator(exact(1) / exact(machine.power) for machine in self.machines)
        data = math.lcm(
            _denominator(edge.data for graph in graphs for edge in graph.edges),
            _denominator(size for graph in graphs for size in (graph.input, graph.output)),
        )
        units = _denominator(
            chain(*self.time_per_data, (path[1] for pair in home_paths for path in pair)),
        )
        rows = {id(task.costs): task.costs for task in self.tasks if task.costs is not None}
        scale = math.lcm(
            works * powers,
            data * units,
            _denominator(cost for row in rows.values() for cost in row if cost is not None),
            _denominator(chain(*self.latency, (path[0] for pair in home_paths for path in pair))),
            _denominator(graph.arrival for graph in graphs),
        )
        if len(self.time_per_data) > 1:
            scale *= len(self.machines) * (len(self.machines) - 1)  # means are integers, too
        if scale.bit_length() <= MAX_SCALE_BITS:
            self.scale, self.work_scale, self.data_scale = scale, works, data

    def _arrival(self, graph: Graph) -> Any:
        since = exact(graph.arrival) - self.origin if self.origin else graph.arrival
        return self._scaled(since, self.scale)

    def _scaled(self, number: Number, factor: int) -> Any:
        if self.floating:
            return float(number)
        return number * factor if type(number) is int else simplest(number * factor)

    def _costs(self) -> list[list[Any]]:
        """Return the costs of every task; tasks of equal work share their row."""
        rest = self.scale // self.work_scale
        slowness: list[Any]
        if self.floating:
            slowness = [float(machine.power) for machine in self.machines]
        else:
            slowness = [self._scaled(1 / exact(machine.power), rest) for machine in self.machines]
        row_of_work: dict[Number, list[Any]] = {}
        row_of_costs: dict[int, list[Any]] = {}
        rows = []
        for task in self.tasks:
            if task.costs is not None:
                row = row_of_costs.get(id(task.costs))
                if row is None:
                    row = [
                        None if cost is None else self._scaled(cost, self.scale)
                        for cost in task.costs
                    ]
                    row_of_costs[id(task.costs)] = row
            else:
                assert task.work is not None  # one of the two is given
                row = row_of_work.get(task.work)
                if row is None:
                    work = self._scaled(task.work, self.work_scale)
                    row = [work / s if self.floating else simplest(work * s) for s in slowness]
                    row_of_work[task.work] = row
            rows.append(row)
        return rows

    def _input_output_times(self, graph: Graph, home: int) -> tuple[list[Any], list[Any]]:
        """Return the transfer times of input and output, to and from every machine."""
        rest = self.scale // self.data_scale
        both = []
        for direction, size in ((0, graph.input), (1, graph.output)):
            data = self._scaled(size, self.data_scale)
            paths = [pair[direction] for pair in self.home_paths[home]]
            both.append(
                [
                    self._scaled(latency, self.scale) + data * self._scaled(unit, rest)
                    for latency, unit in paths
                ]
            )
        return both[0], both[1]


def _denominator(numbers: Iterable[Number]) -> int:
    """Return the least common denominator of exact numbers."""
    return math.lcm(1, *{number.denominator for number in numbers if type(number) is Fraction})


def _machine_classes(
    instance: Instance, paths: Paths
) -> tuple[list[int], list[list[tuple[Any, Any]]]]:
    """Return the class of each machine, and the paths between classes.

    Machines are of one class if they share LAN and delay and none has a link of its own.
    """
    linked = {end for link in instance.network.links for end in (link.source, link.target)}
    class_number: dict[tuple[Machine | int | None, Any], int] = {}
    machine_class: list[int] = []
    members: list[list[int]] = []
    for index, machine in enumerate(instance.machines):
        key = (machine, index) if index in linked else (machine.lan, machine.delay)
        number = class_number.setdefault(key, len(class_number))
        if number == len(members):
            members.append([])
        members[number].append(index)
        machine_class.append(number)
    between = [[paths.between(here[0], there[-1]) for there in members] for here in members]
    return machine_class, between
