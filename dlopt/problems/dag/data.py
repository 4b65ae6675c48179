"""The data of the problem: instances and solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from annotated_types import MinLen

from dlopt.arithmetic import Number, exact, shown
from dlopt.errors import Fault
from dlopt.problems import validated_record
from dlopt.problems.dag.network import Index, Machine, Network, link_faults
from dlopt.problems.dag.referential_integrity import (
    cost_faults,
    cycle_faults,
    edge_faults,
    home_faults,
    id_faults,
    lan_faults,
    one_lan_faults,
)
from dlopt.problems.dag.task_and_transfer_times import Paths, cost_of
from dlopt.problems.dag.topology import successors_of, topological
from dlopt.problems.field_checks import LARGEST
from dlopt.problems.validated_record import Header, Items, NonNegative, Record, numbers_of

PLAIN = Network()
"""Data is time, without latency, and nothing is sent on one machine."""


@dataclass(frozen=True, slots=True)
class Task(Record):
    """A task of a graph: by its work, or by what it costs on each machine.

    Parameters
    ----------
    id : str
    work : Number, optional
        It takes work / power on a machine, and can run on any.
    costs : tuple of (Number or None), shape (machines,), optional
        How long it takes on each machine; None where it cannot run.
    """

    id: str
    work: NonNegative | None = None
    costs: Items[NonNegative | None] | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: both or neither of work and costs, nowhere to run."""
        if not known.keys() >= {"work", "costs"}:
            return
        work, costs = known["work"], known["costs"]
        if work is None and costs is None:
            yield Fault("work", None, "must be given, or else costs")
        if work is not None and costs is not None:
            yield Fault("costs", costs, "must not be given together with work")
        if costs and all(cost is None for cost in costs):
            yield Fault("costs", "null only", "must let the task run on a machine at least")


@dataclass(frozen=True, slots=True)
class Edge(Record):
    """One task needs data of another.

    Parameters
    ----------
    source, target : int
        Two tasks of the graph (0-based): the target starts when the source has ended and the
        data has arrived.
    data : Number, default 0
        How much; it takes data / bandwidth + latency from one machine to another.
    """

    source: Index
    target: Index
    data: NonNegative = 0

    def __post_init__(self) -> None:
        source, target, data = self.source, self.target, self.data
        if (  # the usual case, without the detour: there may be a million edges
            type(source) is int
            and type(target) is int
            and type(data) in (int, float, Fraction)
            and source >= 0
            and target >= 0
            and 0 <= data <= LARGEST
        ):
            return
        Record.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Graph(Record):
    """A task graph: tasks and their precedence edges; a user's job as a whole.

    Parameters
    ----------
    id : str
    tasks : tuple of Task
    edges : tuple of Edge
        Without a cycle; at most one from a task to another.
    arrival : Number, default 0
        No task starts before.
    absolute_deadline : Number, optional
        When the graph should be complete. A plan may be late: that is an objective.
    lan : int, optional
        The LAN whose gateway it comes from and where its results go. By default its input lies
        ready on every machine and its results stay where they are.
    input, output : Number, default 0
        Data that every task without predecessor gets from that gateway before it starts, and that
        every task without successor sends there before the graph is complete.
    one_lan : bool, default False
        All of its tasks run in one LAN, whichever.

    Attributes
    ----------
    order : list of int
        The tasks in a topological order, which their numbers need not be.
    entries, exits : list of int
        Tasks without predecessor, and without successor.
    successors : list of list of int
        Of every task those that need its data.
    """

    id: str
    tasks: Annotated[Items[Task], MinLen(1)]
    edges: Items[Edge] = ()
    arrival: NonNegative = 0
    absolute_deadline: NonNegative | None = None
    lan: Index | None = None
    input: NonNegative = 0
    output: NonNegative = 0
    one_lan: bool = False

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: identities, edges, cycles, deadline, missing LAN."""
        tasks, edges = known.get("tasks"), known.get("edges", ())
        if tasks is not None:
            yield from id_faults("tasks", tasks, "task")
            found = list(edge_faults(edges, len(tasks)))
            yield from found
            if not found:
                yield from cycle_faults(tasks, edges)
        arrival, due = known.get("arrival"), known.get("absolute_deadline")
        if arrival is not None and due is not None and exact(due) < exact(arrival):
            rule = f"must not lie before the arrival, {shown(arrival, 15)}"
            yield Fault("absolute_deadline", due, rule)
        if "lan" in known and known["lan"] is None:
            for name in ("input", "output"):
                if known.get(name):
                    yield Fault(name, known[name], "must be 0 where no lan is given to get it from")

    @property
    def successors(self) -> list[list[int]]:
        """Of every task those that need its data."""
        return successors_of(len(self.tasks), ((e.source, e.target) for e in self.edges))

    @property
    def order(self) -> list[int]:
        """The tasks in an order in which every edge leads forward."""
        return topological(self.successors)

    @property
    def entries(self) -> list[int]:
        """Tasks without predecessor."""
        targets = {edge.target for edge in self.edges}
        return [task for task in range(len(self.tasks)) if task not in targets]

    @property
    def exits(self) -> list[int]:
        """Tasks without successor."""
        sources = {edge.source for edge in self.edges}
        return [task for task in range(len(self.tasks)) if task not in sources]


@dataclass(frozen=True, slots=True)
class Instance(Header["Solution"]):
    """Machines, the network between them, and the task graphs that arrive.

    Parameters
    ----------
    machines : tuple of Machine
    graphs : tuple of Graph
    network : Network
        By default data is time, without latency, and nothing is sent on one machine.
    name, origin, units, best_known
        See :class:`dlopt.problems.validated_record.Header`.

    Attributes
    ----------
    paths : Paths
        Transfer times between machines; a new object each time, so keep it.
    exact : bool
        Whether no number is a float, so that answers are exact.
    absolute_deadlines : tuple of Number or None
        The deadline of every graph; None if there is not one.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> tasks = (Task("a", costs=(2, 3)), Task("b", costs=(None, 1)))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=4),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> instance.cost(0, 0, 1), instance.cost(0, 1, 0), instance.paths.transfer(4, 0, 1)
    (3, None, Fraction(4, 1))
    """

    problem: ClassVar[str] = "dag"

    machines: Annotated[Items[Machine], MinLen(1)]
    graphs: Annotated[Items[Graph], MinLen(1)]
    network: Network = PLAIN

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields: identities, lengths, LANs and links."""
        machines, graphs = known.get("machines"), known.get("graphs")
        network = known.get("network")
        if machines is not None:
            yield from id_faults("machines", machines, "machine")
            if graphs is not None:
                yield from cost_faults(machines, graphs)
            if network is not None:
                yield from lan_faults(machines, len(network.lans))
                yield from link_faults("network.links", network.links, "machines", machines)
        if graphs is not None:
            yield from id_faults("graphs", graphs, "graph")
            if machines is not None:
                yield from one_lan_faults(machines, graphs)
                if network is not None:
                    yield from home_faults(machines, graphs, len(network.lans))

    @property
    def exact(self) -> bool:
        """Whether no number of the instance is a float, so that answers are exact."""
        few = (*self.machines, self.network)
        kinds: set[type] = {type(number) for item in few for number in numbers_of(item)}
        for graph in self.graphs:
            kinds |= {type(edge.data) for edge in graph.edges}
            kinds |= {type(graph.arrival), type(graph.absolute_deadline)}
            kinds |= {type(graph.input), type(graph.output)}
            kinds |= {type(task.work) for task in graph.tasks}
            for task in graph.tasks:
                kinds.update(map(type, task.costs or ()))
        return float not in kinds

    @property
    def paths(self) -> Paths:
        """Transfer times between machines, exactly; a new object each time, so keep it."""
        return Paths(self.network, self.machines)

    @property
    def absolute_deadlines(self) -> tuple[Number | None, ...] | None:
        """The deadline of every graph; None if there is not one."""
        due = tuple(graph.absolute_deadline for graph in self.graphs)
        return None if all(one is None for one in due) else due

    def cost(self, graph: int, task: int, machine: int) -> Any:
        """Return how long a task takes on a machine, exactly; None if it cannot run there."""
        return cost_of(self.graphs[graph].tasks[task], machine, self.machines[machine])


@dataclass(frozen=True, slots=True)
class Placement(Record):
    """Where and when a task runs; how long follows from the machine.

    Parameters
    ----------
    graph, task, machine : int
        0-based.
    start : Number
    """

    graph: Index
    task: Index
    machine: Index
    start: Number

    def __post_init__(self) -> None:
        graph, task, machine, start = self.graph, self.task, self.machine, self.start
        if (
            type(graph) is type(task) is type(machine) is int
            and min(graph, task, machine) >= 0
            and type(start) in (int, float, Fraction)
            and -LARGEST <= start <= LARGEST
        ):
            return
        Record.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Solution(Record):
    """Where and when every task of every graph runs, in any order."""

    placements: Items[Placement]


def faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of an instance, not only the first fault.

    Examples
    --------
    >>> tasks = [{"id": "a", "work": 1}, {"id": "b", "work": -1}]
    >>> edges = [{"source": 0, "target": 1}, {"source": 1, "target": 0}]
    >>> machines = [{"id": "m"}]
    >>> data = {"machines": machines, "graphs": [{"id": "g", "tasks": tasks, "edges": edges}]}
    >>> print(*faults(data), sep="; ")
    graphs[0].tasks[1].work: must not be negative, got -1
    >>> tasks[1]["work"] = 1
    >>> print(*faults(data), sep="; ")
    graphs[0].edges: must not run in a cycle, got 'a -> b -> a'
    """
    return validated_record.examine(Instance, data)[1]
