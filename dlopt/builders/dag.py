"""Task graphs and machines, added by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple, TypeVar

from dlopt.arithmetic import Number
from dlopt.builders.names import Described, Names, naming
from dlopt.errors import MISSING, Fault, InvalidInstanceError
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Link, Machine, Network, Task

PLACEHOLDER = Graph("placeholder", (Task("placeholder", work=0),))
"""A graph to which no task was added yet."""

_Connection = TypeVar("_Connection")
_Links = dict[tuple[int, int], Link]


class _Task(NamedTuple):
    """A task before all machines are known."""

    name: str
    work: Number | None
    costs: Mapping[str, Number] | None


class _GraphParts:
    """The tasks and edges of a graph that is being built, and the graph's own fields."""

    def __init__(self, frame: Graph) -> None:
        self.frame = frame
        self.names = Names("task")
        self.tasks: list[_Task] = []
        self.edges: dict[tuple[int, int], Edge] = {}


@dataclass(kw_only=True)
class DagBuilder(Described):
    """Builds an instance of `dag`: machines, LANs, links, and task graphs.

    Parameters
    ----------
    name, origin : str
        Of the instance.
    units : Units or str
        Of its numbers; a text is the unit of time.
    convention, same_machine, bandwidth, latency
        See `dlopt.problems.dag.Network`.

    Examples
    --------
    >>> builder = DagBuilder("two steps")
    >>> builder = builder.add_machine("cpu").add_machine("gpu", power=4)
    >>> builder = builder.add_task("load", work=2).add_task("train", costs={"gpu": 5})
    >>> instance = builder.add_edge("load", "train", data=1).build()
    >>> instance.graphs[0].tasks[1].costs, instance.graphs[0].edges[0].target
    ((None, 5), 1)
    >>> builder.add_edge("load", "trian")
    Traceback (most recent call last):
    ...
    dlopt.errors.InvalidInstanceError: edge load -> trian: task: is not known; did you mean train?,\
 got 'trian'
    """

    convention: Literal["direct", "scheduler"] = "direct"
    same_machine: Literal["zero", "counted"] = "zero"
    bandwidth: Number = 1
    latency: Number = 0
    _lan_names: Names = field(default_factory=lambda: Names("LAN"), init=False, repr=False)
    _lans: list[Lan] = field(default_factory=list, init=False, repr=False)
    _machine_names: Names = field(default_factory=lambda: Names("machine"), init=False, repr=False)
    _machines: list[Machine] = field(default_factory=list, init=False, repr=False)
    _links: _Links = field(default_factory=dict, init=False, repr=False)
    _wan_links: _Links = field(default_factory=dict, init=False, repr=False)
    _graph_names: Names = field(default_factory=lambda: Names("graph"), init=False, repr=False)
    _graphs: list[_GraphParts] = field(default_factory=list, init=False, repr=False)

    def add_lan(self, name: str, *, bandwidth: Number = 1, latency: Number = 0) -> DagBuilder:
        """Add a LAN."""
        with naming(f"LAN {name}"):
            lan = Lan(name, bandwidth, latency)
            self._lan_names.add(name)
        self._lans.append(lan)
        return self

    def add_machine(
        self, name: str, *, power: Number = 1, lan: str | None = None, delay: Number = 0
    ) -> DagBuilder:
        """Add a machine; `lan` names one that was added."""
        with naming(f"machine {name}"):
            index = self._lan_names.optional_index(lan)
            machine = Machine(name, power, index, delay)
            self._machine_names.add(name)
        self._machines.append(machine)
        return self

    def add_link(
        self, source: str, target: str, *, bandwidth: Number, latency: Number = 0
    ) -> DagBuilder:
        """Add a connection of two machines that differs from the rest of the network."""
        make = partial(Link, bandwidth=bandwidth, latency=latency)
        _connect("link", self._machine_names, self._links, source, target, make)
        return self

    def add_wan_link(
        self, source: str, target: str, *, bandwidth: Number, latency: Number = 0
    ) -> DagBuilder:
        """Add a connection of two LANs that differs from the rest of the network."""
        make = partial(Link, bandwidth=bandwidth, latency=latency)
        _connect("link", self._lan_names, self._wan_links, source, target, make)
        return self

    def add_graph(
        self,
        name: str,
        *,
        arrival: Number = 0,
        absolute_deadline: Number | None = None,
        lan: str | None = None,
        input_data: Number = 0,
        output_data: Number = 0,
        one_lan: bool = False,
    ) -> DagBuilder:
        """Add a task graph, to which the tasks and edges belong that are added next.

        Without a graph, the first task adds one with the name ``graph``.
        """
        with naming(f"graph {name}"):
            index = self._lan_names.optional_index(lan)
            frame = replace(
                PLACEHOLDER,
                id=name,
                arrival=arrival,
                absolute_deadline=absolute_deadline,
                lan=index,
                input=input_data,
                output=output_data,
                one_lan=one_lan,
            )
            self._graph_names.add(name)
        self._graphs.append(_GraphParts(frame))
        return self

    def add_task(
        self,
        name: str,
        *,
        work: Number | None = None,
        costs: Mapping[str, Number] | None = None,
    ) -> DagBuilder:
        """Add a task to the last graph: by its work, or by what it costs on machines by name.

        It cannot run on machines without a cost.
        """
        if not self._graphs:
            self.add_graph("graph")
        with naming(f"task {name}"):
            Task(name, work, None if costs is None else tuple(costs.values()))
            self._graphs[-1].names.add(name)
        self._graphs[-1].tasks.append(_Task(name, work, costs))
        return self

    def add_edge(self, source: str, target: str, *, data: Number = 0) -> DagBuilder:
        """Let one task of the last graph need data of another one."""
        parts = self._graphs[-1] if self._graphs else _GraphParts(PLACEHOLDER)
        _connect("edge", parts.names, parts.edges, source, target, partial(Edge, data=data))
        return self

    def build(self) -> Instance:
        """Return the instance.

        Raises
        ------
        InvalidInstanceError
            If the elements do not fit together: a cycle, costs on machines that were not added.
        """
        network = Network(
            self.convention,
            self.same_machine,
            self.bandwidth,
            self.latency,
            tuple(self._lans),
            tuple(self._wan_links.values()),
            tuple(self._links.values()),
        )
        return Instance(
            tuple(self._machines),
            tuple(map(self._graph, self._graphs)),
            network,
            name=self.name,
            origin=self.origin,
            units=self.unit_record,
        )

    def _graph(self, parts: _GraphParts) -> Graph:
        frame = parts.frame
        tasks = tuple(map(self._task, parts.tasks))
        with naming(f"graph {frame.id}"):
            return replace(frame, tasks=tasks, edges=tuple(parts.edges.values()))

    def _task(self, task: _Task) -> Task:
        with naming(f"task {task.name}"):
            costs = None if task.costs is None else self._machine_names.row(task.costs)
            return Task(task.name, task.work, costs)


def _connect(
    kind: str,
    names: Names,
    connections: dict[tuple[int, int], _Connection],
    source: str,
    target: str,
    make: Callable[[int, int], _Connection],
) -> None:
    """Add an edge or a link between two elements that differ, if there is none."""
    with naming(f"{kind} {source} -> {target}"):
        ends = (names.index(source), names.index(target))
        if source == target:
            raise InvalidInstanceError([Fault("target", target, "must differ from the source")])
        if ends in connections:
            raise InvalidInstanceError([Fault("", MISSING, "must be added once")])
        connections[ends] = make(*ends)
