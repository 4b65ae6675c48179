"""The orders in which a queue is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from dlopt.heuristics.admission.opr_epr import Together
from dlopt.heuristics.admission.ready_times import Miss, Nodes, Placement


class Waiting(NamedTuple):
    """A task as the planner sees it, its numbers in one field."""

    key: tuple[Any, int]
    """By which a fixed order sorts it; the second number tells tasks apart."""
    id: str
    arrival: Any
    load: Any
    deadline: Any
    """Absolute."""


class Placer(Protocol):
    """What places one task on nodes."""

    def place(self, nodes: Nodes, floor: Any, load: Any, deadline: Any) -> Placement | Miss:
        """Return where a task goes that is not sent before `floor`."""

    def loads(self, load: Any, ready: list[Any], placement: Placement) -> list[Any]:
        """Return what each node gets, in the order of transmission."""

    def deadlines(self, nodes: Nodes, floor: Any, load: Any, low: Any) -> Iterator[Any]:
        """Yield the deadlines from `low` on at which `place` changes its answer, ascending.

        The first one is the earliest from `low` on that the task can meet there.
        """


class Planned(NamedTuple):
    """A task and its place."""

    task: Waiting
    placement: Placement


class Refused(NamedTuple):
    """The first task that would miss, and by how much."""

    task: Waiting
    miss: Miss


class Span(NamedTuple):
    """A task that was accepted, from its first transmission until all of it is computed."""

    task: Waiting
    start: Any
    end: Any


class Lost(NamedTuple):
    """What is left of a task at its deadline."""

    task: Waiting
    load: Any


class State(NamedTuple):
    """A cluster, and the tasks that wait with what is left of their loads."""

    ready: list[Any]
    channel: Any
    tasks: list[Waiting]


def in_order(
    placer: Placer,
    nodes: Nodes,
    tasks: Iterable[Waiting],
    now: Any,
    channel: bool,
    seen: Callable[[Nodes], None] | None = None,
) -> list[Planned] | Refused:
    """Place tasks one after the other; `nodes` is changed.

    Parameters
    ----------
    placer : Placer
    nodes : Nodes
    tasks : iterable of Waiting
    now : Number
    channel : bool
        Whether a task waits until those before it have been sent.
    seen : callable, optional
        Called with the nodes before each task.
    """
    plan = []
    for task in tasks:
        if seen is not None:
            seen(nodes)
        floor = max(now, nodes.channel) if channel else now
        found = placer.place(nodes, floor, task.load, task.deadline)
        if isinstance(found, Miss):
            return Refused(task, found)
        nodes.hold(found)
        plan.append(Planned(task, found))
    return plan


def by_derivative(placer: Together, tasks: Sequence[Waiting], now: Any) -> list[Waiting] | Refused:
    """Return the tasks in the order of MWF: the largest derivative of the cost first.

    It is taken at the fewest nodes that would do if all of them were ready now. Source: Mamat
    2011, (4.1). Ties go to the earlier arrival.
    """
    ranked = []
    for task in tasks:
        fewest = placer.fewest(task.load, task.deadline - now)
        if fewest is None:
            return Refused(task, too_late(placer, task, now))
        ranked.append((-placer.derivative(task.load, fewest), task.key[1], task))
    return [task for _, _, task in sorted(ranked)]


def too_late(placer: Together, task: Waiting, instant: Any) -> Miss:
    """Return by how much a task misses that starts at an instant on all nodes that help."""
    work = placer.work(task.load)
    return Miss(work.time(work.most) - (task.deadline - instant), "time")
