"""Conversion of task graphs, of files or networkx, and sets of machines to instances."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dlopt.arithmetic import Number, converted, integer_argument
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.formats.task_graph import GraphEdge, GraphTask, TaskGraph, Unit
from dlopt.json_files import load_json
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Network, Task
from dlopt.problems.validated_record import Record, Units

if TYPE_CHECKING:
    import networkx as nx

MOST_MACHINES = 1_000_000
"""Largest number of machines of an instance."""
ANYWHERE = Network()
"""A network in which data of an edge is its transfer time between any two machines."""


@dataclasses.dataclass(frozen=True, slots=True)
class MachineSet(Record):
    """Machines and the network between them, as a file of their own or part of an instance's.

    Parameters
    ----------
    machines : tuple of Machine
    network : Network
    """

    machines: tuple[Machine, ...]
    network: Network = ANYWHERE


def machine_set(
    count: int | None = None,
    *,
    powers: Sequence[Number] | None = None,
    names: Sequence[str] = (),
    bandwidth: Number = 1,
    latency: Number = 0,
) -> MachineSet:
    """Return machines in a complete network of equal links.

    Parameters
    ----------
    count : int, optional
        Number of machines; by default that of `powers` or `names`.
    powers : sequence of Number, optional
        Their speeds; 1 each by default.
    names : sequence of str, optional
        ``p0``, ``p1`` and so on by default.
    bandwidth : Number, default 1
        Data per unit of time between two machines.
    latency : Number, default 0

    Raises
    ------
    NotApplicableError
        If the numbers contradict each other.

    Examples
    --------
    >>> [machine.power for machine in machine_set(powers=[1, 2]).machines]
    [1, 2]
    """
    number = count if count is not None else len(powers or names)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= MOST_MACHINES:
        raise NotApplicableError(f"machines must be from 1 to {MOST_MACHINES:,}, got {number!r}")
    speeds = [1] * number if powers is None else list(powers)
    if len(speeds) != number:
        raise NotApplicableError(f"there are {number} machines, but {len(speeds)} powers")
    called = names if len(names) == number else [f"p{k}" for k in range(number)]
    machines = tuple(Machine(name, power) for name, power in zip(called, speeds, strict=True))
    return MachineSet(machines, Network(bandwidth=bandwidth, latency=latency))


def read_machines(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> MachineSet:
    """Read machines from a JSON file with the fields ``machines`` and ``network`` of an instance.

    The file may be an instance of the problem: its other fields are ignored.

    Raises
    ------
    InvalidInstanceError
        With the path of every fault.
    """
    data = load_json(path, exact_numbers=exact_numbers)
    try:
        if not isinstance(data, dict):
            raise InvalidInstanceError([Fault("", data, "must be an object with machines")])
        return MachineSet.from_data({k: data[k] for k in ("machines", "network") if k in data})
    except InvalidInstanceError as error:
        raise error.within(os.fspath(path), as_json=True) from None


def instance_of(
    graph: TaskGraph,
    machines: MachineSet | None = None,
    *,
    arrival: Number = 0,
    absolute_deadline: Number | None = None,
    name: str = "",
    origin: str = "",
    units: Units | None = None,
) -> Instance:
    """Return the instance of one task graph on some machines.

    Parameters
    ----------
    graph : TaskGraph
    machines : MachineSet, optional
        By default those that the graph names, with a network where data is time.
    arrival, absolute_deadline : Number
        Of the graph.
    name, origin : str
        Of the instance; by default the name is that of the graph.
    units : Units, optional
        Of run times and data, for people: nothing is converted.

    Raises
    ------
    NotApplicableError
        If no machines are given and the graph names none; if their number is not that of the
        graph's costs.

    Examples
    --------
    >>> tasks = (GraphTask("a", 3), GraphTask("b", 4))
    >>> graph = TaskGraph(tasks, (GraphEdge("a", "b", 5),))
    >>> instance_of(graph, machine_set(2)).graphs[0].edges
    (Edge(source=0, target=1, data=5),)
    """
    if machines is None:
        if not graph.machines:
            raise NotApplicableError("the file names no machines: tell how many")
        machines = machine_set(names=graph.machines)
    width = next((len(task.costs) for task in graph.tasks if task.costs is not None), None)
    if width is not None and width != len(machines.machines):
        text = f"tasks have a cost on each of {width} machines, not {len(machines.machines)}"
        raise NotApplicableError(text)
    tasks = tuple(Task(task.id, task.work, task.costs) for task in graph.tasks)
    edges = tuple(
        Edge(*pair, edge.data) for pair, edge in zip(graph.pairs, graph.edges, strict=True)
    )
    known = graph.name or "graph"
    return Instance(
        machines.machines,
        (Graph(known, tasks, edges, arrival=arrival, absolute_deadline=absolute_deadline),),
        machines.network,
        name=name or known,
        origin=origin,
        units=units or Units(),
    )


def dag_from_networkx(
    graph: nx.DiGraph[Any],
    machines: int | Sequence[Number] | MachineSet | None = None,
    *,
    work: str = "work",
    costs: str = "costs",
    data: str = "data",
    bandwidth: Number = 1,
    latency: Number = 0,
    arrival: Number = 0,
    absolute_deadline: Number | None = None,
) -> Instance:
    """Return the instance of a `networkx.DiGraph` on some machines.

    Parameters
    ----------
    graph : networkx.DiGraph
        Without cycles; its nodes and edges have the attributes below.
    machines : int, sequence of Number, or MachineSet, optional
        How many, or the power of each. By default as many as a node has costs.
    work, costs, data : str
        Attributes: of nodes their work, or instead their cost on each machine (None where they
        cannot run); of edges what they send, 0 without it.
    bandwidth, latency : Number
        Of the network between any two machines; with the default, data is time.
    arrival, absolute_deadline : Number
        Of the graph.

    Returns
    -------
    Instance

    Raises
    ------
    NotApplicableError
        If the graph is not directed, or the machines do not fit it.
    InvalidInstanceError
        With the node or edge of every fault, a cycle among them.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.DiGraph([("a", "b", {"data": 5})])
    >>> graph.nodes["a"]["work"], graph.nodes["b"]["work"] = 3, 4
    >>> instance = dag_from_networkx(graph, machines=[1, 2])
    >>> instance.cost(0, 0, 1), instance.cost(0, 1, 1)
    (Fraction(3, 2), 2)
    """
    from dlopt.formats.networkx_conversion import from_networkx

    found = from_networkx(graph, work=work, costs=costs, data=data)
    if not isinstance(machines, MachineSet):
        given: Any = machines
        if given is None and not found.machines:
            raise NotApplicableError("nodes have no costs: machines must be given")
        if isinstance(given, str):
            raise NotApplicableError(f"machines must be a number or powers, got {given!r}")
        given = converted(given)
        if given is not None and not isinstance(given, int | Iterable):
            raise NotApplicableError(f"machines must be a number or powers, got {given!r}")
        if given is None or isinstance(given, int):
            chosen = machine_set(given, names=found.machines, bandwidth=bandwidth, latency=latency)
        else:
            chosen = machine_set(powers=list(given), bandwidth=bandwidth, latency=latency)
        machines = chosen
    return instance_of(found, machines, arrival=arrival, absolute_deadline=absolute_deadline)


def dag_to_networkx(instance: Instance, graph: int = 0) -> nx.DiGraph[str]:
    """Return a graph of an instance as a `networkx.DiGraph`, as `dag_from_networkx` takes it.

    Parameters
    ----------
    instance : Instance
    graph : int, default 0
        Which one (0-based).

    Raises
    ------
    NotApplicableError
        If it is no instance of ``dag``, or has no such graph.

    Examples
    --------
    >>> graph = TaskGraph((GraphTask("a", 3), GraphTask("b", 4)), (GraphEdge("a", "b", 5),))
    >>> dag_to_networkx(instance_of(graph, machine_set(2))).edges(data=True)
    OutEdgeDataView([('a', 'b', {'data': 5})])
    """
    from dlopt.formats.networkx_conversion import to_networkx

    if not isinstance(instance, Instance):
        kind = type(instance).__qualname__
        raise NotApplicableError(f"an instance of dag is needed, not a {kind}")
    number = integer_argument("graph", graph, 0)
    if number >= len(instance.graphs):
        last = len(instance.graphs) - 1
        raise NotApplicableError(f"graph must be a number from 0 to {last}, got {number}")
    return to_networkx(task_graph_of(instance, number))


def task_graph_of(instance: Instance, graph: int = 0) -> TaskGraph:
    """Return a graph of an instance as a task graph that can be written to a file.

    The data of its edges is time if the network of the instance is `ANYWHERE`, else an amount.
    Machines are included if tasks have a cost on each.
    """
    chosen = instance.graphs[graph]
    tasks = tuple(
        GraphTask(task.id, task.work, None if task.costs is None else tuple(task.costs))
        for task in chosen.tasks
    )
    names = [task.id for task in chosen.tasks]
    edges = tuple(GraphEdge(names[e.source], names[e.target], e.data) for e in chosen.edges)
    costs = any(task.costs is not None for task in tasks)
    machines = tuple(machine.id for machine in instance.machines) if costs else ()
    unit: Unit = "time" if instance.network == ANYWHERE else "amount"
    return TaskGraph(tasks, edges, chosen.id, machines, unit)
