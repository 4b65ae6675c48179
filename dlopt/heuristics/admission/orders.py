"""The orders in which a queue is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from dlopt.heuristics.admission.nodes import Miss, Nodes, Placement
from dlopt.heuristics.admission.together import Together


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


class Planned(NamedTuple):
    """A task and its place."""

    task: Waiting
    placement: Placement


class Refused(NamedTuple):
    """The first task that would miss, and by how much."""

    task: Waiting
    miss: Miss


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
        derivative = placer.derivative(task.load, task.deadline - now)
        if derivative is None:
            return Refused(task, _too_late(placer, task, now))
        ranked.append((-derivative, task.key[1], task))
    return [task for _, _, task in sorted(ranked)]


def overtaking(
    placer: Together, nodes: Nodes, tasks: Sequence[Waiting], now: Any, channel: bool
) -> list[Planned] | Refused:
    """Plan as MCDF does: at each instant order anew, and start what finds nodes; `nodes` changes.

    Source: Lin et al. 2005, section 5. As printed (`channel` false), several tasks may start at
    one instant; else the next one waits for the channel, and the order is made anew then.
    """
    left = list(tasks)
    plan: list[Planned] = []
    instant = now
    while left:
        floor = max(now, nodes.channel) if channel else now
        instant = max(instant, floor, nodes.times[0])
        ranked = []
        for task in left:
            slack = task.deadline - instant
            fewest = placer.durations.least(task.load, slack, 1, placer.n_star(task.load))
            if fewest is None:
                return Refused(task, _too_late(placer, task, instant))
            ranked.append((-placer.rule.cost_derivative(task.load, fewest), task.key[1], fewest))
        tasks_by_number = {task.key[1]: task for task in left}
        available = _available(nodes, instant)
        started = False
        for _, number, fewest in sorted(ranked):
            if fewest > available:
                continue
            task = tasks_by_number[number]
            placement = placer.placed(fewest, instant, task.load)
            nodes.hold(placement)
            plan.append(Planned(task, placement))
            left.remove(task)
            available -= fewest
            started = True
            if channel:
                break
        if left and not (started and channel):
            later = [time for time in nodes.times if time > instant]
            instant = later[0] if later else instant  # in floats, a task may end as it starts
    return plan


def _available(nodes: Nodes, instant: Any) -> int:
    pairs = zip(nodes.times, nodes.counts, strict=True)
    return sum(count for time, count in pairs if time <= instant)


def _too_late(placer: Together, task: Waiting, instant: Any) -> Miss:
    time = placer.durations.of(task.load)(placer.n_star(task.load))
    return Miss(time - (task.deadline - instant), "time")
