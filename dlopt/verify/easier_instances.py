"""Relaxations of instances: later deadlines, more machines or capacity, fewer edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from dlopt.problems.cluster import Cluster

Relaxation = tuple[str, Any]
"""Description of the change, and the relaxed instance."""


def relaxations(instance: Any) -> Iterator[Relaxation]:
    """Yield instances whose optimum is at least as good as that of the given one.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Instance
    >>> [change for change, _ in relaxations(Instance(Cluster(1, 1, 1), (0,), 2))]
    ['with another node']
    """
    return _BY_STEM[instance.problem](instance)


def _iit(instance: Any) -> Iterator[Relaxation]:
    ready = instance.ready_times
    cluster = _larger(instance.cluster)
    yield "with another node", replace(instance, cluster=cluster, ready_times=(*ready, max(ready)))
    if instance.absolute_deadline is not None:
        later = instance.absolute_deadline + 1
        yield "with a deadline 1 later", replace(instance, absolute_deadline=later)


def _stream(instance: Any) -> Iterator[Relaxation]:
    for at, task in enumerate(instance.tasks):
        later = replace(task, deadline=task.deadline + 1)
        yield f"with task {task.id} due 1 later", _with(instance, "tasks", at, later)
    ready = instance.ready_times
    yield (
        "with another node",
        replace(
            instance,
            cluster=_larger(instance.cluster),
            ready_times=(*ready, max(ready)) if ready else (),
        ),
    )


def _coreservation(instance: Any) -> Iterator[Relaxation]:
    for at, machine in enumerate(instance.machines):
        steps = tuple((since, room + 1) for since, room in machine.steps)
        larger = replace(machine, capacity=steps)
        yield f"with 1 more on machine {machine.id}", _with(instance, "machines", at, larger)


def _dag(instance: Any) -> Iterator[Relaxation]:
    for at, machine in enumerate(instance.machines):
        faster = replace(machine, power=machine.power * 2)
        yield f"with machine {machine.id} twice as fast", _with(instance, "machines", at, faster)
    for at, graph in enumerate(instance.graphs):
        for place, edge in enumerate(graph.edges):
            edges = (*graph.edges[:place], *graph.edges[place + 1 :])
            words = f"without the edge {edge.source}-{edge.target} of {graph.id}"
            yield words, _with(instance, "graphs", at, replace(graph, edges=edges))


def _bag(instance: Any) -> Iterator[Relaxation]:
    for at, task in enumerate(instance.tasks):
        if task.absolute_deadline is not None:
            later = replace(task, absolute_deadline=task.absolute_deadline + 1)
            yield f"with task {task.id} due 1 later", _with(instance, "tasks", at, later)
    if instance.etc is None:
        for at, machine in enumerate(instance.machines):
            faster = replace(machine, power=machine.power * 2)
            words = f"with machine {machine.id} twice as fast"
            yield words, _with(instance, "machines", at, faster)


_BY_STEM: Mapping[str, Callable[[Any], Iterator[Relaxation]]] = {
    "iit": _iit,
    "admission": _stream,
    "multistage": _stream,
    "coreservation": _coreservation,
    "dag": _dag,
    "bag": _bag,
}


def _larger(cluster: Cluster) -> Cluster:
    """Return a cluster with one more node, a copy of the last."""
    tau, chi = (
        (*costs, costs[-1]) if isinstance(costs, tuple) else costs
        for costs in (cluster.tau, cluster.chi)
    )
    return replace(cluster, nodes=cluster.nodes + 1, tau=tau, chi=chi, node_names=None)


def _with(instance: Any, name: str, at: int, entry: Any) -> Any:
    entries = getattr(instance, name)
    return replace(instance, **{name: (*entries[:at], entry, *entries[at + 1 :])})
