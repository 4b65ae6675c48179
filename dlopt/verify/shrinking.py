"""Make an instance as small as can be while something stays true of it.

Fewest jobs come first, then fewest machines, then the simplest numbers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import InvalidInstanceError
from dlopt.problems.cluster import Cluster
from dlopt.problems.validated_record import HEADER_FIELDS, Header, Record, numbers_of

InstanceT = TypeVar("InstanceT", bound=Header)

Extent = tuple[int, int, int]
"""Jobs, machines, and how much its numbers amount to; smaller is simpler."""

_JOBS: Mapping[str, Callable[[Any], int]] = {
    "iit": lambda one: 1,
    "admission": lambda one: len(one.tasks),
    "multistage": lambda one: len(one.tasks) + len(one.reservations),
    "coreservation": lambda one: sum(len(request.parts) for request in one.requests),
    "dag": lambda one: sum(len(graph.tasks) for graph in one.graphs),
    "bag": lambda one: len(one.all_tasks),
}


def extent(instance: Any) -> Extent:
    """Return how large an instance is.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> extent(Instance(Cluster(2, tau=1, chi=1), (0, 3), 1))[:2]
    (1, 2)
    """
    numbers = [exact(number) for number in _numbers(instance)]
    digits = sum(abs(one.numerator) + 2 * one.denominator - 1 for one in numbers)
    return _JOBS[instance.problem](instance), _machines(instance), digits


def _numbers(value: Any) -> Iterator[Number]:
    """Yield the numbers in a record that are not at their default; of anything else, all."""
    if isinstance(value, Record):
        for _, held, default in _fields(value):
            if held != default:
                yield from _numbers(held)
    else:
        for entry in value if isinstance(value, tuple) else (value,):
            yield from _numbers(entry) if isinstance(entry, Record | tuple) else numbers_of(entry)


def _machines(instance: Any) -> int:
    if hasattr(instance, "cluster"):
        return int(instance.cluster.nodes)
    if instance.problem == "bag":
        return len(instance.all_machines)
    return len(instance.machines)


def shrink(
    instance: InstanceT, holds: Callable[[InstanceT], bool], most: int = 20_000
) -> InstanceT:
    """Return the smallest instance that can be reached step by step, of which `holds` stays true.

    Parameters
    ----------
    instance : Instance
    holds : callable
        Of an instance; true of the given one.
    most : int
        How often it may be asked.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> found = shrink(Instance(Cluster(3, 2, 5), (7, 8, 9), 40), lambda one: one.load > 3)
    >>> found.cluster.nodes, found.load, found.ready_times
    (1, 4, (0,))
    """
    asked, at, size = 0, 0, extent(instance)
    makers = list(_smaller(instance))
    failed = 0
    while failed < len(makers):
        smaller = _valid(makers[at % len(makers)])
        new = size if smaller is None else extent(smaller)
        if new < size:
            asked += 1
            if asked > most:
                break
        if new < size and holds(smaller):  # what comes next is tried first, the rest once more
            instance, size, failed = smaller, new, 0
            makers = list(_smaller(instance))
        else:
            at, failed = at + 1, failed + 1
    return instance


def _smaller(instance: Any) -> Iterator[Callable[[], Any]]:
    """Yield makers of what may be smaller: a machine less, an entry less, a simpler number."""
    for machine in range(_machines(instance)) if _machines(instance) > 1 else ():
        yield partial(_without_machine, instance, machine)
    yield from _shorter(instance)
    yield from _simpler(instance)
    yield from _together(instance)


def _valid(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except InvalidInstanceError:
        return None


def _fields(record: Record) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, value and default of the fields that count."""
    for item in dataclasses.fields(record):  # type: ignore[arg-type]
        if not (item.name in HEADER_FIELDS and isinstance(record, Header)):
            yield item.name, getattr(record, item.name), item.default


def _shorter(value: Any) -> Iterator[Callable[[], Any]]:
    """Yield makers of the value with one entry of a tuple left out, the outermost first."""
    if isinstance(value, Record):
        for name, held, _ in _fields(value):
            for make in _shorter(held):
                yield _replacing(value, name, make)
    elif isinstance(value, tuple):
        for at in reversed(range(len(value))):
            yield lambda at=at: (*value[:at], *value[at + 1 :])  # type: ignore[misc]
        for at, entry in enumerate(value):
            for make in _shorter(entry):
                yield _putting(value, at, make)


def _simpler(value: Any) -> Iterator[Callable[[], Any]]:
    """Yield makers of the value with one number in it simpler."""
    if isinstance(value, Cluster):
        for name in ("tau", "chi"):
            costs = getattr(value, name)
            if isinstance(costs, tuple):
                yield _replacing(value, name, partial(min, costs))
    if isinstance(value, Record):
        for name, held, default in _fields(value):
            if held == default:
                continue  # what is not said needs no reading
            if default is not dataclasses.MISSING:
                yield _replacing(value, name, lambda default=default: default)  # type: ignore[misc]
            for make in _simpler(held):
                yield _replacing(value, name, make)
    elif isinstance(value, tuple):
        for at, entry in enumerate(value):
            for make in _simpler(entry):
                yield _putting(value, at, make)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        for number in _simpler_numbers(value):
            yield lambda number=number: number  # type: ignore[misc]


def _together(instance: Any) -> Iterator[Callable[[], Any]]:
    """Yield makers of the instance with all that is as large as some number less by 1 or 1/2.

    Instants that hang together, as a deadline and the window that begins there, move together.
    """
    for least in sorted({exact(number) for number in _numbers(instance)}):
        for less in (1, Fraction(1, 2)):
            if least > less:
                yield partial(_lowered, instance, least, less)


def _lowered(value: Any, least: Fraction, less: Number) -> Any:
    """Return a record with all numbers in it that are not below `least` lowered by `less`."""
    if isinstance(value, Record):
        changed = {name: _lowered(held, least, less) for name, held, _ in _fields(value)}
        return replace(value, **changed)  # type: ignore[type-var]
    if isinstance(value, tuple):
        return tuple(_lowered(entry, least, less) for entry in value)
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return simplest(value - less) if value >= least else value
    return value


def _simpler_numbers(number: Any) -> Iterator[Any]:
    whole = math.floor(number)
    for simpler in (
        0,
        1,
        whole,
        whole + 1,
        whole // 2,
        whole - 1,
        number - 1,
        Fraction(whole * 2 + 1, 2),
    ):
        if simpler != number and simpler >= 0:
            yield float(simpler) if isinstance(number, float) else simpler


def _replacing(record: Record, name: str, make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: replace(record, **{name: make()})  # type: ignore[type-var]


def _putting(entries: tuple[Any, ...], at: int, make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: (*entries[:at], make(), *entries[at + 1 :])


def _without_machine(instance: Any, gone: int) -> Any:
    """Return an instance with a machine less; whatever names another one names it still."""
    return _WITHOUT[instance.problem](instance, gone)


def _without_node(instance: Any, gone: int) -> Any:
    cluster = instance.cluster
    tau, chi = (
        _cut(costs, gone) if isinstance(costs, tuple) else costs
        for costs in (cluster.tau, cluster.chi)
    )
    changed: dict[str, Any] = {
        "cluster": replace(cluster, nodes=cluster.nodes - 1, tau=tau, chi=chi),
        "ready_times": _cut(instance.ready_times, gone),
    }
    if hasattr(instance, "committed"):
        changed["committed"] = tuple(
            replace(one, node=_shifted(one.node, gone))
            for one in instance.committed
            if one.node != gone
        )
    if hasattr(instance, "reservations"):
        changed["reservations"] = tuple(
            replace(
                one,
                nodes=tuple(_shifted(node, gone) for node in one.nodes if node != gone)
                if isinstance(one.nodes, tuple)
                else min(one.nodes, cluster.nodes - 1),
            )
            for one in instance.reservations
            if one.nodes != (gone,)
        )
    return replace(instance, **changed)


def _without_cpu(instance: Any, gone: int) -> Any:
    requests = tuple(
        replace(
            request,
            parts=tuple(
                replace(part, machine=_shifted(part.machine, gone)) for part in request.parts
            ),
        )
        for request in instance.requests
    )
    holdings = tuple(
        replace(one, machine=_shifted(one.machine, gone))
        for one in instance.holdings
        if one.machine != gone
    )
    machines = _cut(instance.machines, gone)
    return replace(instance, machines=machines, requests=requests, holdings=holdings)


def _without_column(instance: Any, gone: int) -> Any:
    if instance.problem == "bag":
        etc = instance.etc and tuple(_cut(row, gone) for row in instance.etc)
        return replace(instance, machines=_cut(instance.machines, gone), etc=etc)
    graphs = tuple(
        replace(
            graph,
            tasks=tuple(
                replace(task, costs=task.costs and _cut(task.costs, gone)) for task in graph.tasks
            ),
        )
        for graph in instance.graphs
    )
    links = tuple(
        replace(one, source=_shifted(one.source, gone), target=_shifted(one.target, gone))
        for one in instance.network.links
        if gone not in (one.source, one.target)
    )
    network = replace(instance.network, links=links)
    machines = _cut(instance.machines, gone)
    return replace(instance, machines=machines, graphs=graphs, network=network)


_WITHOUT: Mapping[str, Callable[[Any, int], Any]] = {
    "iit": _without_node,
    "admission": _without_node,
    "multistage": _without_node,
    "coreservation": _without_cpu,
    "dag": _without_column,
    "bag": _without_column,
}


def _cut(entries: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return (*entries[:at], *entries[at + 1 :])


def _shifted(index: int | None, gone: int) -> int | None:
    """Return what an index is once one entry is gone; the one gone becomes the one before."""
    if index is None or index < gone:
        return index
    return max(0, index - 1)
