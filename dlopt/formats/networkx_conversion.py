"""Conversion of task graphs to and from networkx graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dlopt.arithmetic import Number, converted
from dlopt.errors import MISSING, NotApplicableError
from dlopt.formats.task_graph import TaskGraph, TaskGraphBuilder, Unit

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(
    graph: nx.DiGraph[Any],
    *,
    work: str = "work",
    costs: str = "costs",
    data: str = "data",
    unit: Unit = "time",
) -> TaskGraph:
    """Return a task graph from a `networkx.DiGraph`.

    Parameters
    ----------
    graph : networkx.DiGraph
        Without cycles. A node is named by `str`.
    work : str, default "work"
        The attribute of a node that is its work: a number, its time on a machine of power 1.
    costs : str, default "costs"
        The attribute that is used instead where a node has it: a list with its time on each
        machine, None where it cannot run.
    data : str, default "data"
        The attribute of an edge that is what it sends; 0 for an edge without it.
    unit : {"time", "amount"}, default "time"
        Whether that is the time that sending takes, or an amount, such as bytes.

    Raises
    ------
    NotApplicableError
        If it is no directed graph, or one with parallel edges.
    InvalidInstanceError
        With the node or edge of every fault.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.DiGraph()
    >>> graph.add_node("a", work=3)
    >>> graph.add_node("b", costs=[2, None])
    >>> graph.add_edge("a", "b", data=5)
    >>> from_networkx(graph).edges
    (GraphEdge(source='a', target='b', data=5),)
    """
    if not _is_digraph(graph):
        found = type(graph).__name__
        raise NotApplicableError(
            f"a networkx.DiGraph without parallel edges is needed, not {found}"
        )
    builder = TaskGraphBuilder()
    width = None
    for node, given in graph.nodes(data=True):
        place = f"node {node!r}"
        if given.get(costs) is None:
            amount = builder.amount(place, converted(given.get(work, MISSING)), what=work)
            builder.task(place, str(node), work=amount)
            continue
        times = _costs(builder, place, given[costs])
        width = len(times) if width is None else width
        if len(times) != width:
            builder.fault(place, len(times), f"must have {width} costs, as others have")
        builder.task(place, str(node), costs=times)
    for source, target, given in graph.edges(data=True):
        place = f"edge {source!r} -> {target!r}"
        sent = builder.amount(place, converted(given.get(data, 0)), what=data)
        builder.edge(place, str(source), str(target), sent)
    names = graph.graph.get("machines") or [f"p{k}" for k in range(width or 0)]
    name = str(graph.graph.get("name", ""))
    return builder.graph(name, machines=[str(machine) for machine in names], unit=unit)


def to_networkx(graph: TaskGraph) -> nx.DiGraph[str]:
    """Return a task graph as a `networkx.DiGraph` that `from_networkx` reads back.

    Nodes have ``work`` or ``costs`` (a list), edges have ``data``; the graph has ``name`` and
    ``machines``.

    Examples
    --------
    >>> from dlopt.formats.task_graph import GraphEdge, GraphTask
    >>> tasks = (GraphTask("a", 3), GraphTask("b", costs=(2, None)))
    >>> made = to_networkx(TaskGraph(tasks, (GraphEdge("a", "b", 5),)))
    >>> made.nodes["b"], made.edges["a", "b"]
    ({'costs': [2, None]}, {'data': 5})
    """
    import networkx as nx

    made: nx.DiGraph[str] = nx.DiGraph(name=graph.name, machines=list(graph.machines))
    for task in graph.tasks:
        if task.costs is None:
            made.add_node(task.id, work=task.work)
        else:
            made.add_node(task.id, costs=list(task.costs))
    for edge in graph.edges:
        made.add_edge(edge.source, edge.target, data=edge.data)
    return made


def _is_digraph(graph: Any) -> bool:
    import networkx as nx

    return isinstance(graph, nx.DiGraph) and not graph.is_multigraph()


def _costs(builder: TaskGraphBuilder, place: str, given: Any) -> list[Number | None]:
    listed = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        builder.fault(place, given, "costs must be a list, with one entry for each machine")
        return [0]
    return [
        None if cost is None else builder.amount(place, converted(cost), what="cost")
        for cost in listed
    ]
