"""The features of instances that the formats allow, and those that an instance has.

`allowed` derives most of them from the fields of the data classes, so that a new field has features
without a change here; `RELATIONS` are relations between fields.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from itertools import combinations, pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from dlopt.problems import admission, bag, coreservation, dag, iit, multistage
from dlopt.problems.validated_record import HEADER_FIELDS, Header, Record

INSTANCES: Mapping[str, type[Header]] = {
    module.Instance.problem: module.Instance
    for module in (iit, admission, multistage, coreservation, dag, bag)
}


def allowed(stem: str) -> frozenset[str]:
    """Return the names of all features that instances of a problem may have."""
    return frozenset((*_of_type(INSTANCES[stem], set()), *RELATIONS[stem]))


def features(instance: Any) -> frozenset[str]:
    """Return the names of the features that an instance has."""
    relations = RELATIONS[instance.problem].items()
    return frozenset((*_of_record(instance), *(name for name, has in relations if has(instance))))


@cache
def _fields(kind: type[Record]) -> tuple[tuple[str, Any, Any], ...]:
    """Return name, type and default of the fields that describe the problem."""
    hints = get_type_hints(kind)
    return tuple(
        (one.name, hints[one.name], one.default)
        for one in fields(kind)
        if one.compare
        and not (one.name == "id" or (one.name in HEADER_FIELDS and issubclass(kind, Header)))
    )


def _of_type(kind: type[Record], seen: set[type]) -> Iterator[str]:
    seen.add(kind)
    for name, hint, default in _fields(kind):
        path = f"{kind.__name__}.{name}"
        if default is not MISSING:
            yield from (f"{path} by default", f"{path} not by default")
        for one in _alternatives(hint):
            if get_origin(one) is Literal:
                yield from (f"{path} = {value}" for value in get_args(one))
            elif one is not NoneType:
                yield f"{path} = {_class_name(one)}"
            if _holds_none(one):
                yield f"{path} with None"
            for record in _records(one):
                if record not in seen:
                    yield from _of_type(record, seen)


def _alternatives(hint: Any) -> list[Any]:
    if get_origin(hint) is Annotated:
        return _alternatives(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return [one for part in get_args(hint) for one in _alternatives(part)]
    return [hint]


def _holds_none(hint: Any) -> bool:
    """Return whether entries, or entries of entries, of a tuple may be None."""
    if get_origin(hint) is not tuple:
        return False
    entries = _alternatives(get_args(hint)[0])
    return NoneType in entries or any(map(_holds_none, entries))


def _class_name(hint: Any) -> str:
    if get_origin(hint) is tuple:
        return "tuple"
    return "bool" if hint is bool else "record" if _records(hint) else "number"


def _records(hint: Any) -> list[type[Record]]:
    found = [hint] if isinstance(hint, type) and issubclass(hint, Record) else []
    return found + [one for part in get_args(hint) for one in _records(part)]


def _of_record(record: Record) -> Iterator[str]:
    for name, hint, default in _fields(type(record)):
        value, path = getattr(record, name), f"{type(record).__name__}.{name}"
        if default is not MISSING:
            yield f"{path} by default" if value == default else f"{path} not by default"
        if any(get_origin(one) is Literal for one in _alternatives(hint)):
            yield f"{path} = {value}"
        elif value is not None:
            yield f"{path} = {_kind(value)}"
        if isinstance(value, tuple) and None in value:
            yield f"{path} with None"
        for entry in value if isinstance(value, tuple) else (value,):
            if isinstance(entry, Record):
                yield from _of_record(entry)
            if isinstance(entry, tuple) and None in entry:
                yield f"{path} with None"


def _kind(value: Any) -> str:
    if isinstance(value, bool | tuple | Record):
        return "record" if isinstance(value, Record) else type(value).__name__
    return "number"


def _cluster_relations(cluster_of: Callable[[Any], Any]) -> dict[str, Callable[[Any], bool]]:
    def lists(one: Any) -> tuple[bool, bool]:
        cluster = cluster_of(one)
        return isinstance(cluster.tau, tuple), isinstance(cluster.chi, tuple)

    return {
        "only unit transmission times differ": lambda one: lists(one) == (True, False),
        "only unit processing times differ": lambda one: lists(one) == (False, True),
        "both unit times differ": lambda one: lists(one) == (True, True),
        "set-up costs and nodes that differ": lambda one: (
            any(lists(one)) and cluster_of(one).theta_cm > 0
        ),
        "transmissions take no time": lambda one: cluster_of(one).tau == 0,
        "one node": lambda one: cluster_of(one).nodes == 1,
    }


def _stream_relations() -> dict[str, Callable[[Any], bool]]:
    def sent(one: Any) -> Counter[str]:
        return Counter(chunk.task for chunk in one.committed)

    def tasks(one: Any) -> dict[str, Any]:
        return {task.id: task for task in one.tasks}

    return _cluster_relations(lambda one: one.cluster) | {
        "simultaneous arrivals": lambda one: any(
            a.arrival == b.arrival for a, b in pairwise(one.tasks)
        ),
        "a deadline of 0": lambda one: any(task.deadline == 0 for task in one.tasks),
        "promised, nothing sent": lambda one: any(
            task.arrival < one.now and task.id not in sent(one) for task in one.tasks
        ),
        "promised, all sent": lambda one: any(
            name in tasks(one) and tasks(one)[name].load == chunk.load
            for chunk in one.committed
            for name in [chunk.task]
        ),
        "promised, nothing remains": lambda one: any(task.remaining == 0 for task in one.tasks),
        "a part sent, and what remains given": lambda one: any(
            task.remaining is not None and task.id in sent(one) for task in one.tasks
        ),
        "a chunk of a task that is not listed": lambda one: bool(set(sent(one)) - set(tasks(one))),
        "a chunk without load": lambda one: any(chunk.load == 0 for chunk in one.committed),
        "a node is busy after now": lambda one: any(chunk.end > one.now for chunk in one.committed),
        "nodes become ready after now": lambda one: max(one.ready_times, default=0) > one.now,
        "the channel becomes ready after now": lambda one: one.channel_ready > one.now,
    }


def _reservation_relations() -> dict[str, Callable[[Any], bool]]:
    def any_of(has: Callable[[Any, Any], bool]) -> Callable[[Any], bool]:
        return lambda one: any(has(one, wanted) for wanted in one.reservations)

    return {
        "only reservations": lambda one: not one.tasks,
        "only tasks": lambda one: not one.reservations,
        "a promised reservation": any_of(lambda one, wanted: wanted.arrival < one.now),
        "it starts when it is requested": any_of(lambda one, w: w.start == w.arrival),
        "the channel is not reserved": any_of(lambda one, w: w.channel_end == w.start),
        "the channel is reserved throughout": any_of(lambda one, w: w.channel_end == w.end),
        "several nodes": any_of(lambda one, w: w.count > 1),
        "nodes named in descending order": any_of(
            lambda one, w: isinstance(w.nodes, tuple) and list(w.nodes) != sorted(w.nodes)
        ),
        "two windows touch": lambda one: any(
            a.end == b.start or b.end == a.start for a, b in combinations(one.reservations, 2)
        ),
        "two windows overlap": lambda one: any(
            a.start < b.end and b.start < a.end for a, b in combinations(one.reservations, 2)
        ),
        "reservations have no weight": lambda one: one.reservation_weight == 0,
        "tasks have no weight": lambda one: one.task_weight == 0,
    }


def _benefit_relations() -> dict[str, Callable[[Any], bool]]:
    def any_part(has: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda one: any(has(part) for request in one.requests for part in request.parts)

    def slopes(part: Any) -> list[Any]:
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(part.benefit)]
        return [rise / run for run, rise in steps if run > 0]

    def jumps(part: Any) -> list[Any]:
        return [a[0] for a, b in pairwise(part.benefit) if a[0] == b[0]]

    def beyond(one: Any, least: int) -> bool:
        return (
            any(
                sum(h.cpu for h in one.holdings if h.machine == place) > max(v for _, v in m.steps)
                for place, m in enumerate(one.machines)
            )
            and len(one.holdings) >= least
        )

    return {
        "a concave benefit": any_part(lambda p: any(a > b for a, b in pairwise(slopes(p)))),
        "a convex benefit": any_part(
            lambda p: not jumps(p) and any(a < b for a, b in pairwise(slopes(p)))
        ),
        "a benefit that jumps at 0": any_part(lambda p: 0 in jumps(p)),
        "a benefit that jumps in between": any_part(lambda p: any(0 < at < 1 for at in jumps(p))),
        "a benefit that jumps at 1": any_part(lambda p: 1 in jumps(p)),
        "a benefit below 1": any_part(lambda p: p.benefit[-1][1] < 1),
        "no benefit": any_part(lambda p: p.benefit[-1][1] == 0),
        "a best-effort part": any_part(lambda p: p.least == 0),
        "a part with a range": any_part(lambda p: 0 < p.least < p.cpu),
        "fixed and floating parts": lambda one: any(
            {part.machine is None for part in request.parts} == {True, False}
            for request in one.requests
        ),
        "three parts": lambda one: any(len(request.parts) > 2 for request in one.requests),
        "two fixed parts on one machine": lambda one: any(
            a.machine == b.machine is not None
            for request in one.requests
            for a, b in combinations(request.parts, 2)
        ),
        "three steps of capacity": lambda one: any(len(m.steps) > 2 for m in one.machines),
        "no capacity at times": lambda one: any(
            0 in {v for _, v in m.steps} and len(m.steps) > 1 for m in one.machines
        ),
        "several holdings": lambda one: len(one.holdings) > 1,
        "holdings beyond the capacity": lambda one: beyond(one, 1),
        "several holdings beyond the capacity": lambda one: beyond(one, 2),
        "a fractional priority": lambda one: any(r.priority % 1 for r in one.requests),
        "simultaneous arrivals": lambda one: any(
            a.arrival == b.arrival for a, b in pairwise(one.requests)
        ),
        "a window that begins at the arrival": lambda one: any(
            r.start == r.arrival for r in one.requests
        ),
        "windows that touch": lambda one: any(
            a.end == b.start for a in one.requests for b in one.requests
        ),
    }


def _dag_relations() -> dict[str, Callable[[Any], bool]]:
    def any_graph(has: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda one: any(has(graph) for graph in one.graphs)

    def any_task(has: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return any_graph(lambda graph: any(has(task) for task in graph.tasks))

    def both_ways(links: Any) -> bool:
        ways = {(link.source, link.target) for link in links}
        return any(way[::-1] in ways for way in ways)

    def in_lans(one: Any) -> bool:
        return one.machines[0].lan is not None

    return {
        "an edge to a task of lower number": any_graph(
            lambda g: any(edge.source > edge.target for edge in g.edges)
        ),
        "edges not in the order of their sources": any_graph(
            lambda g: [e.source for e in g.edges] != sorted(e.source for e in g.edges)
        ),
        "a task that runs on one of several machines only": any_task(
            lambda t: len(t.costs or ()) > 1 and sum(cost is not None for cost in t.costs) == 1
        ),
        "work and costs in one graph": any_graph(
            lambda g: {task.costs is None for task in g.tasks} == {True, False}
        ),
        "a task that takes no time": any_task(lambda t: t.work == 0 or 0 in (t.costs or ())),
        "an edge without data": any_graph(lambda g: any(e.data == 0 for e in g.edges)),
        "several graphs": lambda one: len(one.graphs) > 1,
        "input that differs from output": any_graph(lambda g: g.input != g.output),
        "output without input": any_graph(lambda g: g.output > g.input == 0),
        "links in both directions": lambda one: both_ways(one.network.links),
        "a link in one direction": lambda one: (
            bool(one.network.links) and not both_ways(one.network.links)
        ),
        "a link to a machine of lower number": lambda one: any(
            link.source > link.target for link in one.network.links
        ),
        "WAN links in both directions": lambda one: both_ways(one.network.wan_links),
        "links between machines in LANs": lambda one: bool(one.network.links) and in_lans(one),
        "delays with data sent by schedulers": lambda one: (
            one.network.convention == "scheduler" and any(machine.delay for machine in one.machines)
        ),
        "a LAN without machines": lambda one: (
            in_lans(one) and len({machine.lan for machine in one.machines}) < len(one.network.lans)
        ),
        "a graph that must stay in one of several LANs": lambda one: (
            len({machine.lan for machine in one.machines}) > 1
            and any(graph.one_lan for graph in one.graphs)
        ),
        "one LAN for a graph with tasks that cannot run everywhere": any_graph(
            lambda g: g.one_lan and any(None in (task.costs or ()) for task in g.tasks)
        ),
        "a graph that comes from a LAN without machines": lambda one: any(
            graph.lan is not None and graph.lan not in {machine.lan for machine in one.machines}
            for graph in one.graphs
        ),
        "a deadline that cannot be met": any_graph(
            lambda g: (
                g.absolute_deadline is not None
                and all(task.work is not None for task in g.tasks)
                and g.absolute_deadline < g.arrival + max(task.work for task in g.tasks) / 3
            )
        ),
    }


def _bag_relations() -> dict[str, Callable[[Any], bool]]:
    def ways(one: Any) -> Counter[tuple[int, ...]]:
        return Counter(tuple(sorted(link.between)) for link in one.links)

    return {
        "a matrix alone": lambda one: not one.tasks and not one.machines,
        "a task that runs on one of several machines only": lambda one: any(
            len(row) > 1 and sum(time is not None for time in row) == 1 for row in one.etc or ()
        ),
        "some tasks with deadlines": lambda one: (
            {task.absolute_deadline is None for task in one.tasks} == {True, False}
        ),
        "no task with a deadline": lambda one: not one.deadlines,
        "a machine that cannot run a task with a deadline": lambda one: any(
            task.absolute_deadline is not None and None in row
            for task, row in zip(one.tasks, one.etc or (), strict=False)
        ),
        "parallel links": lambda one: max(ways(one).values(), default=0) > 1,
        "a cycle of links": lambda one: len(ways(one)) >= len(one.sites),
        "links from a site of higher number": lambda one: any(
            link.between[0] > link.between[1] for link in one.links
        ),
        "a site without machines": lambda one: len({m.site for m in one.machines}) < len(one.sites),
        "a site without tasks and machines": lambda one: (
            bool(one.machines)
            and len({x.site for x in (*one.machines, *one.tasks)}) < len(one.sites)
        ),
        "a deadline before the release": lambda one: any(
            task.absolute_deadline is not None and task.absolute_deadline < task.release
            for task in one.tasks
        ),
        "a matrix and several sites": lambda one: one.etc is not None and len(one.sites) > 1,
    }


RELATIONS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "iit": _cluster_relations(lambda one: one.cluster)
    | {
        "nodes not in the order of their ready times": lambda one: (
            list(one.ready_times) != sorted(one.ready_times)
        ),
        "a fractional load": lambda one: bool(one.load % 1),
        "nodes ready after the deadline": lambda one: (
            one.absolute_deadline is not None and max(one.ready_times) >= one.absolute_deadline
        ),
    },
    "admission": _stream_relations(),
    "multistage": _stream_relations() | _reservation_relations(),
    "coreservation": _benefit_relations(),
    "dag": _dag_relations(),
    "bag": _bag_relations(),
}
"""Of every problem the relations between fields by name, each with its test."""
