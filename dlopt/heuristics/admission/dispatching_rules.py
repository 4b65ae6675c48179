"""The orders in which a queue is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    Placement,
    PlannedTask,
    QueuedTask,
    Rejection,
)


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


def plan_in_order(
    task_planner: TaskPlanner,
    nodes: ReadyTimes,
    tasks: Iterable[QueuedTask],
    now: Any,
    channel: bool,
    on_state: Callable[[ReadyTimes], None] | None = None,
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
    on_state : callable, optional
        Called with the nodes before each task.
    """
    plan = []
    for task in tasks:
        if on_state is not None:
            on_state(nodes)
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
