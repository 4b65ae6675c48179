"""The records that the planners of a queue pass to each other, their numbers in one field."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from dlopt.arithmetic import Number

QueueKey: TypeAlias = tuple[Number, int]
"""Sorts tasks in a fixed order; the second number tells tasks apart."""


class QueuedTask(NamedTuple):
    """A task as the planners see it."""

    key: QueueKey
    id: str
    arrival: Number
    load: Number
    deadline: Number
    """Absolute."""
    weight: Number = 1


class Placement(NamedTuple):
    """The nodes and times that a task is given."""

    nodes: int
    """How many; always those that are ready first."""
    not_before: Number
    """No node is sent to before this instant."""
    start: Number
    """Of the first transmission."""
    sent: Number
    """End of the last transmission."""
    end: Number
    """When all of its nodes are free again, and its completion time is promised."""


class DeadlineMiss(NamedTuple):
    """By how much a task misses its deadline: as lateness, or as load left at the deadline.

    Or by how much time it takes more than the bid prices allow.
    """

    by: Number
    of: Literal["time", "load", "price"]


class PlannedTask(NamedTuple):
    """A task and its placement."""

    task: QueuedTask
    placement: Placement


class Rejection(NamedTuple):
    """The first task that would miss its deadline, and by how much."""

    task: QueuedTask
    miss: DeadlineMiss


class ServedTask(NamedTuple):
    """An accepted task, from its first transmission until all of it is computed."""

    task: QueuedTask
    start: Number
    end: Number


class UnfinishedTask(NamedTuple):
    """The load that is left of a task at its deadline."""

    task: QueuedTask
    load: Number


class ClusterState(NamedTuple):
    """Ready times of nodes and channel, and the waiting tasks with the rests of their loads."""

    ready: list[Number]
    channel: Number
    tasks: list[QueuedTask]


class Estimates(NamedTuple):
    """What the minimal repair of the published test estimates of a waiting task."""

    completion: Number
    slack: Number


class StoredTask(NamedTuple):
    """A waiting task with the load that is to be sent, and what its planner keeps of it."""

    task: QueuedTask
    placement: Placement | None = None
    estimates: Estimates | None = None


class LastSent(NamedTuple):
    """The task of which a part was sent last, as the minimal repair of the test remembers it."""

    completion: Number
    number: int | None
    """Its second key, if some of its load waits."""


class PlannerContent(NamedTuple):
    """All that later decisions of a planner depend on, once what was sent is taken from it."""

    ready: tuple[Number, ...]
    """When each node is free."""
    channel: Number
    tasks: tuple[StoredTask, ...]
    """In the order of the planner."""
    fast: bool = False
    """Whether tasks are admitted without a plan."""
    last_arrival: Number | None = None
    """Of a planner without a plan: when the last task that it admitted arrived."""
    last_sent: LastSent | None = None
