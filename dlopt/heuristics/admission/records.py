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
    """By how much a task misses its deadline: as lateness, or as load left at the deadline."""

    by: Number
    of: Literal["time", "load"]


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
