"""Dispatching rules: the order of MWF, and planning in a given order (FIFO, EDF, MWF)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from dlopt.arithmetic import Number
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
    """Plans one task: how many nodes it gets, and when."""

    def place(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Return the placement of a task that is not sent before `not_before`."""

    def loads(self, load: Number, ready: list[Number], placement: Placement) -> list[Number]:
        """Return the load of each node, in the order of transmission."""

    def deadlines(
        self, nodes: ReadyTimes, not_before: Number, load: Number, low: Number
    ) -> Iterator[Number]:
        """Yield the deadlines from `low` on at which the result of `place` changes, ascending.

        The first one is the earliest from `low` on that the task can meet there.
        """


def plan_in_order(
    task_planner: TaskPlanner,
    nodes: ReadyTimes,
    tasks: Iterable[QueuedTask],
    now: Number,
    channel: bool,
    on_state: Callable[[ReadyTimes], None] | None = None,
) -> list[PlannedTask] | Rejection:
    """Plan tasks one after the other; `nodes` is updated.

    Parameters
    ----------
    task_planner : TaskPlanner
    nodes : ReadyTimes
    tasks : iterable of QueuedTask
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
    task_planner: OprEprPlanner, tasks: Sequence[QueuedTask], now: Number
) -> list[QueuedTask] | Rejection:
    """Return the tasks in the order of MWF: largest derivative of the cost first.

    It is evaluated at the fewest nodes that would suffice if all of them were ready now. Source:
    Mamat 2011, (4.1). Ties go to the earlier arrival.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> from dlopt.heuristics.admission.algorithm_names import Algorithm
    >>> tasks = [
    ...     QueuedTask((9, 0), "a", zero, 2 * one, 9 * one),
    ...     QueuedTask((5, 1), "b", zero, one, 5 * one),
    ... ]
    >>> planner = OprEprPlanner(Algorithm.parse("mwf-opr-mn"), costs, 2)
    >>> [task.id for task in mwf_order(planner, tasks, zero)]
    ['a', 'b']
    """
    ranked = []
    for task in tasks:
        fewest = task_planner.fewest(task.load, task.deadline - now)
        if fewest is None:
            return Rejection(task, lateness(task_planner, task, now))
        ranked.append((-task_planner.derivative(task.load, fewest), task.key[1], task))
    return [task for _, _, task in sorted(ranked)]


def lateness(task_planner: OprEprPlanner, task: QueuedTask, instant: Number) -> DeadlineMiss:
    """Return by how much a task misses if it starts at an instant on all useful nodes."""
    work = task_planner.work(task.load)
    return DeadlineMiss(work.time(work.most) - (task.deadline - instant), "time")
