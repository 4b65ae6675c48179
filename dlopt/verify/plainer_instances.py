"""Features of instances beyond numbers that shrinking removes: the plain case is the simplest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from dlopt.problems.dag import Graph
from dlopt.problems.dag import Instance as TaskGraphs
from dlopt.problems.validated_record import HEADER_FIELDS, Header, Record

Maker: TypeAlias = Callable[[], Any]
"""Builds a candidate, or a part of one; an invalid candidate raises."""


def relevant_fields(record: Record) -> Iterator[tuple[str, Any, object]]:
    """Yield name, value and default of the fields of a record; of an instance, those of its hash.

    Examples
    --------
    >>> from dlopt.problems import iit
    >>> from dlopt.problems.admission import Scenario
    >>> instance = iit.Instance(iit.Cluster(1, tau=2, chi=3), (0,), load=4, name="one")
    >>> [[name for name, *_ in relevant_fields(record)] for record in (instance, Scenario())]
    [['cluster', 'ready_times', 'load', 'absolute_deadline'], ['factors', 'failures', 'name']]
    """
    for item in dataclasses.fields(record):  # type: ignore[arg-type]
        if not (item.name in HEADER_FIELDS and isinstance(record, Header)):
            yield item.name, getattr(record, item.name), item.default


def constant(value: object) -> Maker:
    """Return a maker of a value."""
    return lambda: value


def replacing(record: Record, name: str, make: Maker) -> Maker:
    """Return a maker of a record with another value of one field."""
    return lambda: replace(record, **{name: make()})  # type: ignore[type-var]


def replacing_entry(entries: tuple[object, ...], at: int, make: Maker) -> Maker:
    """Return a maker of a tuple with another entry at one place."""
    return lambda: (*entries[:at], make(), *entries[at + 1 :])


def unusual_features(value: object) -> Iterator[int]:
    """Yield how often an instance has each unusual feature.

    These are words and truth values that differ from their defaults, times that are None, edges
    of a task graph that lead to a task of lower number, and records that may be absent, as links.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Machine, Task
    >>> graph = Graph("g", (Task("a", costs=(1, None)), Task("b", work=1)), (Edge(1, 0),))
    >>> sum(unusual_features(TaskGraphs((Machine("m"), Machine("n")), (graph,))))
    3
    """
    if isinstance(value, Graph):
        yield sum(edge.source > edge.target for edge in value.edges)
    if isinstance(value, Record):
        for name, old, default in relevant_fields(value):
            if name == "id":
                continue
            if isinstance(old, bool | str):
                yield default is not dataclasses.MISSING and old != default
            elif old != default:
                yield from unusual_features(old)
                if default == ():
                    yield sum(isinstance(entry, Record) for entry in old)
    elif isinstance(value, tuple):
        yield sum(entry is None for entry in value)
        for entry in value:
            if isinstance(entry, Record | tuple):
                yield from unusual_features(entry)


def plainer_candidates(instance: object) -> Iterator[Maker]:
    """Yield makers of the instance with times for None, without LANs, or numbered topologically.

    Words and truth values are replaced by their defaults with all other fields.
    """
    yield from _with_times(instance)
    if isinstance(instance, TaskGraphs):
        if instance.network.lans:
            yield partial(_without_lans, instance)
        for index, graph in enumerate(instance.graphs):
            if any(edge.source > edge.target for edge in graph.edges):
                yield partial(_with_graph, instance, index, graph)


def _with_times(value: object) -> Iterator[Maker]:
    """Yield makers of the value with one None in a tuple replaced by another entry, or by 1."""
    if isinstance(value, Record):
        for name, old, _ in relevant_fields(value):
            if isinstance(old, tuple):
                for make in _with_times(old):
                    yield replacing(value, name, make)
    elif isinstance(value, tuple):
        times: list[object] = [1, *(entry for entry in value if entry is not None)]
        for at, entry in enumerate(value):
            if entry is None:
                for time in dict.fromkeys(times):
                    yield replacing_entry(value, at, constant(time))
            elif isinstance(entry, Record | tuple):
                for make in _with_times(entry):
                    yield replacing_entry(value, at, make)


def _without_lans(instance: TaskGraphs) -> TaskGraphs:
    """Return the instance with all machines in no LAN, and graphs that come from none."""
    network = replace(instance.network, convention="direct", lans=(), wan_links=())
    machines = tuple(replace(machine, lan=None) for machine in instance.machines)
    graphs = tuple(
        replace(graph, lan=None, input=0, output=0, one_lan=False) for graph in instance.graphs
    )
    return replace(instance, machines=machines, graphs=graphs, network=network)


def _with_graph(instance: TaskGraphs, index: int, graph: Graph) -> TaskGraphs:
    """Return the instance with the tasks of a graph renumbered in a topological order."""
    place = {task: at for at, task in enumerate(graph.order)}
    edges = tuple(
        replace(edge, source=place[edge.source], target=place[edge.target]) for edge in graph.edges
    )
    tasks = tuple(graph.tasks[task] for task in graph.order)
    plain = replace(graph, tasks=tasks, edges=edges)
    graphs = (*instance.graphs[:index], plain, *instance.graphs[index + 1 :])
    return replace(instance, graphs=graphs)
