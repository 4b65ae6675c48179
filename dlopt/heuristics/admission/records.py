"""The records that the planners of a queue pass to each other, their numbers in one field."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class QueuedTask(NamedTuple):
    """A task as the planners see it."""

    key: tuple[Any, int]
    """By which a fixed order sorts it; the second number tells tasks apart."""
    id: str
    arrival: Any
    load: Any
    deadline: Any
    """Absolute."""


class Placement(NamedTuple):
    """The nodes and times that a task is given."""

    nodes: int
    """How many; always those that are ready first."""
    not_before: Any
    """No node is sent to before this instant."""
    start: Any
    """Of the first transmission."""
    sent: Any
    """End of the last transmission."""
    end: Any
    """When all of its nodes are free again, and its completion time is promised."""


class DeadlineMiss(NamedTuple):
    """By how much a task misses its deadline: as lateness, or as load left at the deadline."""

    by: Any
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
    start: Any
    end: Any


class UnfinishedTask(NamedTuple):
    """The load that is left of a task at its deadline."""

    task: QueuedTask
    load: Any


class ClusterState(NamedTuple):
    """Ready times of nodes and channel, and the waiting tasks with the rests of their loads."""

    ready: list[Any]
    channel: Any
    tasks: list[QueuedTask]
