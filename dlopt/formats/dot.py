"""Task graphs in DOT, the language of Graphviz.

The weight of a node or edge is an attribute, in any case: one of `WORK` for nodes, of `DATA` for
edges.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dlopt.arithmetic import Number, to_json
from dlopt.errors import InvalidInstanceError
from dlopt.formats.dot_parser import DotNode, parse_dot, quoted
from dlopt.formats.task_graph import TaskGraph, TaskGraphBuilder, Unit
from dlopt.json_files import load_text, replacing

WORK = ("work", "weight", "size", "cost", "costs")
"""Attributes of a node for its work, in order of precedence; ``costs`` has one cost per machine,
separated by commas, ``-`` where it cannot run."""
DATA = ("cost", "weight", "data", "size")
"""Attributes of an edge for its communication, in order of precedence: ``cost`` and ``weight`` are
times, ``data`` and ``size`` amounts."""
_AMOUNTS = frozenset({"data", "size"})
_SIMDAG = frozenset({"root", "end"})
"""SimDag's names of the first and the last task of a graph, which have no size."""


def parse(text: str, *, exact_numbers: bool = False) -> TaskGraph:
    """Read a graph from the text of a file.

    Parameters
    ----------
    text : str
        One ``digraph``.
    exact_numbers : bool
        Read decimals as rationals.

    Returns
    -------
    TaskGraph
        Its unit is ``amount`` if an edge has an attribute that is an amount. A node without a
        weight is a fault, save SimDag's ``root`` and ``end``; an edge without one sends nothing.

    Raises
    ------
    InvalidInstanceError
        With the line of every fault.

    Examples
    --------
    >>> graph = parse('digraph g { a [Weight=2]; b [Weight=3]; a -> b [Weight=5]; }')
    >>> graph.name, graph.edges[0].data, graph.critical_path()
    ('g', 5, 5)
    """
    builder = TaskGraphBuilder(exact_numbers=exact_numbers)
    found = parse_dot(text, builder)
    amounts = found.facts.pop("unit", "time") == "amount"
    machines = found.facts.pop("machines", "")
    names = machines.split(",") if machines else []
    for name, node in found.nodes.items():
        names = _task(builder, name, node, names)
    for edge in found.edges:
        key, value = _first(edge.attributes, DATA)
        amounts = amounts or key in _AMOUNTS
        data: Number = 0
        if key:
            data = builder.amount(edge.line, value, what=f"attribute {key} of an edge")
        builder.edge(edge.line, edge.source, edge.target, data)
    unit: Unit = "amount" if amounts else "time"
    return builder.graph(found.name, machines=names, unit=unit, facts=found.facts.items())


def read(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> TaskGraph:
    """Read a graph from a file, as `parse` does; one without a name is named like the file.

    Raises
    ------
    InvalidInstanceError
        If the file cannot be read, or is none; it names the file.
    """
    text = load_text(path, "DOT")
    try:
        graph = parse(text, exact_numbers=exact_numbers)
    except InvalidInstanceError as error:
        raise error.within(os.fspath(path)) from None
    if graph.name:
        return graph
    name = os.path.splitext(os.path.basename(os.fspath(path)))[0]
    return replace(graph, name=name)


def write(graph: TaskGraph, path: str | os.PathLike[str]) -> None:
    """Write a graph so that `read` gives it back, and Graphviz draws it.

    Raises
    ------
    NotApplicableError
        If DOT has no way to write some name, or the file cannot be written.
    """
    text = "\n".join(_lines(graph)) + "\n"
    with replacing(path) as file:
        file.write(text.encode())


def _task(builder: TaskGraphBuilder, name: str, node: DotNode, machines: list[str]) -> list[str]:
    """Record a task; return the machines, by default numbered as the costs of the first task."""
    key, value = _first(node.attributes, WORK)
    if not key and name not in _SIMDAG:
        rule = f"a task must have one of the attributes {', '.join(WORK)}"
        builder.fault(node.line, name, rule)
    if key != "costs":
        what = f"attribute {key} of a task"
        work = builder.amount(node.line, value, what=what) if key else 0
        builder.task(node.line, name, work=work)
        return machines
    texts = [text.strip() for text in value.split(",")]
    names = machines or [f"p{k}" for k in range(len(texts))]
    if len(texts) != len(names):
        rule = f"a task must have as many costs as there are machines, {len(names)}"
        builder.fault(node.line, len(texts), rule)
    costs = [
        None if text == "-" else builder.amount(node.line, text, what="cost") for text in texts
    ]
    builder.task(node.line, name, costs=costs)
    return names


def _first(attributes: Mapping[str, str], keys: tuple[str, ...]) -> tuple[str, str]:
    """Return the first of the given keys that is an attribute, and its value; else empty texts."""
    return next(((key, attributes[key]) for key in keys if key in attributes), ("", ""))


def _lines(graph: TaskGraph) -> Iterator[str]:
    yield f"digraph {quoted(graph.name)} {{" if graph.name else "digraph {"
    if graph.unit == "amount":
        yield "  unit=amount;"
    if graph.machines:
        yield f"  machines={quoted(','.join(graph.machines))};"
    for key, value in graph.facts:
        yield f"  {quoted(key)}={quoted(value)};"
    for task in graph.tasks:
        if task.costs is None:
            weight = f"work={_number(task.work or 0)}"
        else:
            texts = ("-" if cost is None else str(to_json(cost)) for cost in task.costs)
            weight = f'costs="{",".join(texts)}"'
        yield f"  {quoted(task.id)} [{weight}];"
    key = "data" if graph.unit == "amount" else "cost"
    for edge in graph.edges:
        ends = f"{quoted(edge.source)} -> {quoted(edge.target)}"
        yield f"  {ends} [{key}={_number(edge.data)}];"
    yield "}"


def _number(number: Number) -> str:
    return quoted(str(to_json(number)))
