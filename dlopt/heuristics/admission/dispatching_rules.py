"""The orders in which a queue is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import DeadlineMiss, Placement, ReadyTimes


class QueuedTask(NamedTuple):
    """A task as the planner sees it, its numbers in one field."""

    key: tuple[Any, int]
    """By which a fixed order sorts it; the second number tells tasks apart."""
    id: str
    arrival: Any
    load: Any
    deadline: Any
    """Absolute."""


class TaskPlanner(Protocol):
    """What places one task on nodes."""

    def place(
        self, nodes: ReadyTimes, not_before: Any, load: Any, deadline: Any
    ) -> Placement | DeadlineMiss:
        """Return where a task goes that is not sent before `not_before`."""

    def loads(self, load: Any, ready: list[Any], placement: Placement) -> list[Any]:
        """Return what each node gets, in the order of transmission."""

    def deadlines(self, nodes: ReadyTimes, not_before: Any, load: Any, low: Any) -> Iterator[Any]:
        """Yield the deadlines from `low` on at which `place` changes its answer, ascending.

        The first one is the earliest from `low` on that the task can meet there.
        """


class PlannedTask(NamedTuple):
    """A task and its place."""

    task: QueuedTask
    placement: Placement


class Rejection(NamedTuple):
    """The first task that would miss, and by how much."""

    task: QueuedTask
    miss: DeadlineMiss


class ServedTask(NamedTuple):
    """A task that was accepted, from its first transmission until all of it is computed."""

    task: QueuedTask
    start: Any
    end: Any


class UnfinishedTask(NamedTuple):
    """What is left of a task at its deadline."""

    task: QueuedTask
    load: Any


class ClusterState(NamedTuple):
    """A cluster, and the tasks that wait with what is left of their loads."""

    ready: list[Any]
    channel: Any
    tasks: list[QueuedTask]


def plan_in_order(
    task_planner: TaskPlanner,
    nodes: ReadyTimes,
    tasks: Iterable[QueuedTask],
    now: Any,
    channel: bool,
    seen: Callable[[ReadyTimes], None] | None = None,
) -> list[PlannedTask] | Rejection:
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
        not_before = max(now, nodes.channel) if channel else now
        found = task_planner.place(nodes, not_before, task.load, task.deadline)
        if isinstance(found, DeadlineMiss):
            return Rejection(task, found)
        nodes.allocate(found)
        plan.append(PlannedTask(task, found))
    return plan


def mwf_order(
    task_planner: OprEprPlanner, tasks: Sequence[QueuedTask], now: Any
) -> list[QueuedTask] | Rejection:
    """Return the tasks in the order of MWF: the largest derivative of the cost first.

    It is taken at the fewest nodes that would do if all of them were ready now. Source: Mamat
    2011, (4.1). Ties go to the earlier arrival.
    """
    ranked = []
    for task in tasks:
        fewest = task_planner.fewest(task.load, task.deadline - now)
        if fewest is None:
            return Rejection(task, lateness(task_planner, task, now))
        ranked.append((-task_planner.derivative(task.load, fewest), task.key[1], task))
    return [task for _, _, task in sorted(ranked)]


def lateness(task_planner: OprEprPlanner, task: QueuedTask, instant: Any) -> DeadlineMiss:
    """Return by how much a task misses that starts at an instant on all nodes that help."""
    work = task_planner.work(task.load)
    return DeadlineMiss(work.time(work.most) - (task.deadline - instant), "time")
