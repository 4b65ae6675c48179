"""Schedules of tasks in a given order, each on the nodes that are ready first, late ones rejected.

The tasks of `local_search` are known in advance, so that a task may be sent before one that arrived
earlier; each is sent without interruption once those before it are sent and it has arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.admission import chunks
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import DeadlineMiss, Placement, PlannedTask, QueuedTask
from dlopt.problems.admission.data import Decision, Instance, Solution
from dlopt.problems.admission.state_times import channel_free_of, remaining_of

ASSIGNMENTS = ("edf-iit-2", "edf-iit-an")
"""Algorithms that place one task: on the fewest nodes by its deadline, or on all, to end first."""


class TaskOrder(NamedTuple):
    """An order of all tasks, by their indices, and how each of them is placed."""

    tasks: tuple[int, ...]
    assignments: tuple[int, ...]
    """For each task, by its index: an index of `ASSIGNMENTS`."""


class Position(NamedTuple):
    """What is known before a position of an order."""

    nodes: ReadyTimes
    weight: float
    """Of the tasks that are accepted before it."""
    load: float
    """Theirs, as a share of all load."""


class OrderScheduler:
    """Schedules the tasks of an instance in a given order.

    Parameters
    ----------
    instance : Instance
        With identical nodes.
    weights : sequence of float, shape (tasks,)
        What accepting each task adds to the objective value.
    number : callable
        Converts the numbers of the instance, to floats or to fractions.
    tolerance : float
        Share of its relative deadline by which a task may be late, where numbers are rounded.

    Examples
    --------
    >>> from dlopt.arithmetic import exact
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = Task("a", 0, 2, 3), Task("b", 0, 1, 9)
    >>> scheduler = OrderScheduler(Instance(Cluster(2, 1, 1), tasks), (1.0, 1.0), exact)
    >>> for order in ((0, 1), (1, 0)):
    ...     plan = scheduler.solution(TaskOrder(order, (0, 0)))
    ...     print([decision.accepted for decision in plan.decisions])
    [True, True]
    [False, True]
    """

    def __init__(
        self,
        instance: Instance,
        weights: Sequence[float],
        number: Callable[[Number], Number],
        tolerance: float = 0,
    ) -> None:
        self._instance, self._weights = instance, weights
        self._costs = tuple(map(number, instance.cluster.costs_of(0)))
        nodes = instance.cluster.nodes
        self._planners = tuple(
            EdfIit2Planner(Algorithm.parse(name), self._costs, nodes) for name in ASSIGNMENTS
        )
        self._ready = [number(instant) for instant in instance.free_times]
        self._channel = channel_free_of(instance, number)
        remaining, now = remaining_of(instance, number), number(instance.now)
        self.tasks = [
            QueuedTask(
                (0, index),
                task.id,
                max(number(task.arrival), now),
                remaining[task.id],
                number(task.arrival) + number(task.deadline) * (1 + number(tolerance)),
            )
            for index, task in enumerate(instance.tasks)
        ]
        total = sum(exact(task.load) for task in instance.tasks)
        self._shares = [float(exact(task.load) / total) for task in self.tasks]
        self.initial = Position(ReadyTimes(self._ready, self._channel), 0.0, 0.0)

    def next_position(
        self, before: Position, task: int, assignment: int
    ) -> tuple[Position, Placement | None]:
        """Return what is known after a task, and its placement; None if it is rejected."""
        queued, (nodes, weight, load) = self.tasks[task], before
        if not queued.load:
            return Position(nodes, weight + self._weights[task], load), None
        nodes = nodes.copy()
        not_before = max(nodes.channel, queued.arrival)
        placement = self._planners[assignment].place(
            nodes, not_before, queued.load, queued.deadline
        )
        if isinstance(placement, DeadlineMiss):
            return before, None
        nodes.allocate(placement)
        after = Position(nodes, weight + self._weights[task], load + self._shares[task])
        return after, placement

    def solution(self, order: TaskOrder) -> Solution:
        """Return the schedule of an order."""
        position, planned = self.initial, []
        accepted = {task.id for task in self.tasks if not task.load}
        for task in order.tasks:
            position, placement = self.next_position(position, task, order.assignments[task])
            if placement is not None:
                planned.append(PlannedTask(self.tasks[task], placement))
                accepted.add(self.tasks[task].id)
        free = chunks.free_nodes(self._ready)
        sent = chunks.chunks(self._planners[0], self._costs, free, planned)
        decisions = (
            Decision(task.id, task.id in accepted, task.arrival) for task in self._instance.tasks
        )
        return Solution(tuple(decisions), sent)
