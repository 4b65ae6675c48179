"""Shrink an instance while a property holds, as Hypothesis shrinks failing examples.

The number of jobs is reduced first, then the number of machines, then the numbers are simplified.
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
from dlopt.problems.validated_record import Header, Record, numbers_of
from dlopt.verify.plainer_instances import (
    Maker,
    constant,
    plainer_candidates,
    relevant_fields,
    replacing,
    replacing_entry,
    unusual_features,
)

InstanceT = TypeVar("InstanceT", bound=Header)

InstanceSize = tuple[int, int, int]
"""Jobs, machines, and the magnitude of the numbers with the unusual features; compared
lexicographically."""

UNUSUAL_WEIGHT = 8
"""What an unusual feature counts among the magnitudes of numbers; chosen by hand, so that a time of
1 to 4 is simpler than a machine that cannot run a task."""

_JOBS: Mapping[str, Callable[[Any], int]] = {
    "iit": lambda one: 1,
    "admission": lambda one: len(one.tasks),
    "multistage": lambda one: len(one.tasks) + len(one.reservations),
    "coreservation": lambda one: sum(len(request.parts) for request in one.requests),
    "dag": lambda one: sum(len(graph.tasks) for graph in one.graphs),
    "bag": lambda one: len(one.all_tasks),
}


def instance_size(instance: Any) -> InstanceSize:
    """Return the size of an instance, by which candidates are compared.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> instance_size(Instance(Cluster(2, tau=1, chi=1), (0, 3), 1))[:2]
    (1, 2)
    """
    numbers = [exact(number) for number in _numbers(instance)]
    digits = sum(abs(one.numerator) + 2 * one.denominator - 1 for one in numbers)
    unusual = UNUSUAL_WEIGHT * sum(unusual_features(instance))
    return _JOBS[instance.problem](instance), _machines(instance), digits + unusual


def _numbers(value: Any) -> Iterator[Number]:
    """Yield the numbers in a record that differ from their defaults; of any other value, all."""
    if isinstance(value, Record):
        for _, old, default in relevant_fields(value):
            if old != default:
                yield from _numbers(old)
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
    """Return an instance that cannot be shrunk by a single step while `holds` stays true.

    Parameters
    ----------
    instance : Instance
    holds : callable
        The property, true of the given instance.
    most : int
        Largest number of evaluations of `holds`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> small = shrink(Instance(Cluster(3, 2, 5), (7, 8, 9), 40), lambda one: one.load > 3)
    >>> small.cluster.nodes, small.load, small.ready_times
    (1, 4, (0,))
    """
    evaluations, at, size = 0, 0, instance_size(instance)
    makers = list(_smaller_candidates(instance))
    failed = 0
    while failed < len(makers):
        smaller = _built_or_none(makers[at % len(makers)])
        new = size if smaller is None else instance_size(smaller)
        if new < size:
            evaluations += 1
            if evaluations > most:
                break
        if new < size and holds(smaller):  # what comes next is tried first, the rest once more
            instance, size, failed = smaller, new, 0
            makers = list(_smaller_candidates(instance))
        else:
            at, failed = at + 1, failed + 1
    return instance


def _smaller_candidates(instance: Any) -> Iterator[Maker]:
    """Yield makers of candidates: without a machine, without an entry, with simpler numbers."""
    for machine in range(_machines(instance)) if _machines(instance) > 1 else ():
        yield partial(_without_machine, instance, machine)
    yield from _without_entry(instance)
    yield from plainer_candidates(instance)
    yield from _simpler(instance)
    yield from _jointly_lowered(instance)


def _built_or_none(make: Maker) -> Any:
    try:
        return make()  # the constructor validates
    except InvalidInstanceError:
        return None


def _without_entry(value: Any) -> Iterator[Maker]:
    """Yield makers of the value with one entry of a tuple removed, the outermost first."""
    if isinstance(value, Record):
        for name, old, _ in relevant_fields(value):
            for make in _without_entry(old):
                yield replacing(value, name, make)
    elif isinstance(value, tuple):
        for at in reversed(range(len(value))):
            yield partial(_without_index, value, at)
        for at, entry in enumerate(value):
            for make in _without_entry(entry):
                yield replacing_entry(value, at, make)


def _simpler(value: Any) -> Iterator[Maker]:
    """Yield makers of the value with one number simplified."""
    if isinstance(value, Cluster):
        for name in ("tau", "chi"):
            costs = getattr(value, name)
            if isinstance(costs, tuple):
                yield replacing(value, name, partial(min, costs))
    if isinstance(value, Record):
        for name, old, default in relevant_fields(value):
            if old == default:
                continue  # what is not said needs no reading
            if default is not dataclasses.MISSING:
                yield replacing(value, name, constant(default))
            for make in _simpler(old):
                yield replacing(value, name, make)
    elif isinstance(value, tuple):
        for at, entry in enumerate(value):
            for make in _simpler(entry):
                yield replacing_entry(value, at, make)
    elif isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        for number in _simpler_numbers(value):
            yield constant(number)


def _jointly_lowered(instance: Any) -> Iterator[Maker]:
    """Yield makers of the instance with all numbers from some threshold on lowered by 1 or 1/2.

    Related instants, as a deadline and the window that begins there, move together.
    """
    for least in sorted({exact(number) for number in _numbers(instance)}):
        for less in (1, Fraction(1, 2)):
            if least > less:
                yield partial(_lowered, instance, least, less)


def _lowered(value: Any, least: Fraction, less: Number) -> Any:
    """Return a record with all its numbers that are at least `least` lowered by `less`."""
    if isinstance(value, Record):
        changed = {name: _lowered(old, least, less) for name, old, _ in relevant_fields(value)}
        return replace(value, **changed)  # type: ignore[type-var]
    if isinstance(value, tuple):
        return tuple(_lowered(entry, least, less) for entry in value)
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        return simplest(value - less) if value >= least else value
    return value


def _simpler_numbers(number: Number) -> Iterator[Number]:
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


def _without_machine(instance: Any, gone: int) -> Any:
    """Return an instance without a machine; references to the other ones are kept."""
    return _WITHOUT[instance.problem](instance, gone)


def _without_node(instance: Any, gone: int) -> Any:
    cluster = instance.cluster
    tau, chi = (
        _without_index(costs, gone) if isinstance(costs, tuple) else costs
        for costs in (cluster.tau, cluster.chi)
    )
    changed: dict[str, Any] = {
        "cluster": replace(cluster, nodes=cluster.nodes - 1, tau=tau, chi=chi, node_names=None),
        "ready_times": _without_index(instance.ready_times, gone),
    }
    if hasattr(instance, "committed"):
        changed["committed"] = tuple(
            replace(one, node=_reindexed(one.node, gone))
            for one in instance.committed
            if one.node != gone
        )
    if hasattr(instance, "reservations"):
        changed["reservations"] = tuple(
            replace(
                one,
                nodes=tuple(_reindexed(node, gone) for node in one.nodes if node != gone)
                if isinstance(one.nodes, tuple)
                else min(one.nodes, cluster.nodes - 1),
            )
            for one in instance.reservations
            if one.nodes != (gone,)
        )
    return replace(instance, **changed)


def _without_coreservation_machine(instance: Any, gone: int) -> Any:
    requests = tuple(
        replace(
            request,
            parts=tuple(
                replace(part, machine=_reindexed(part.machine, gone)) for part in request.parts
            ),
        )
        for request in instance.requests
    )
    holdings = tuple(
        replace(one, machine=_reindexed(one.machine, gone))
        for one in instance.holdings
        if one.machine != gone
    )
    machines = _without_index(instance.machines, gone)
    return replace(instance, machines=machines, requests=requests, holdings=holdings)


def _without_processor(instance: Any, gone: int) -> Any:
    if instance.problem == "bag":
        etc = instance.etc and tuple(_without_index(row, gone) for row in instance.etc)
        return replace(instance, machines=_without_index(instance.machines, gone), etc=etc)
    graphs = tuple(
        replace(
            graph,
            tasks=tuple(
                replace(task, costs=task.costs and _without_index(task.costs, gone))
                for task in graph.tasks
            ),
        )
        for graph in instance.graphs
    )
    links = tuple(
        replace(one, source=_reindexed(one.source, gone), target=_reindexed(one.target, gone))
        for one in instance.network.links
        if gone not in (one.source, one.target)
    )
    network = replace(instance.network, links=links)
    machines = _without_index(instance.machines, gone)
    return replace(instance, machines=machines, graphs=graphs, network=network)


_WITHOUT: Mapping[str, Callable[[Any, int], Any]] = {
    "iit": _without_node,
    "admission": _without_node,
    "multistage": _without_node,
    "coreservation": _without_coreservation_machine,
    "dag": _without_processor,
    "bag": _without_processor,
}


def _without_index(entries: tuple[Any, ...], at: int) -> tuple[Any, ...]:
    return (*entries[:at], *entries[at + 1 :])


def _reindexed(index: int | None, gone: int) -> int | None:
    """Return an index after one entry was removed; references to it go to the one before."""
    if index is None or index < gone:
        return index
    return max(0, index - 1)
