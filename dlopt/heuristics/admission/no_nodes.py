"""The planner of a cluster of which no node is left: it rejects every task."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import (
    ClusterState,
    DeadlineMiss,
    QueuedTask,
    Rejection,
    ServedTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk


class NoNodesPlanner:
    """The planner of no node.

    Examples
    --------
    >>> planner = NoNodesPlanner(channel=0)
    >>> planner.try_admit(QueuedTask((4, 0), "a", 0, 2, 4)).miss
    DeadlineMiss(by=2, of='load')
    """

    def __init__(self, channel: Number) -> None:
        self._channel = channel

    piecewise_affine = False
    proves_earliest = True

    def __len__(self) -> int:
        return 0

    @property
    def tasks(self) -> list[QueuedTask]:
        """No task."""
        return []

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Reject a task: all of its load would be left."""
        return Rejection(new, DeadlineMiss(new.load, "load"))

    would_reject = try_admit

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return the load of a task: none is accepted."""
        return new.load

    def roll_back(self) -> None:
        """Do nothing."""

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Reject the first of some tasks."""
        return self.try_admit(tasks[0]) if tasks else None

    def decider(self, now: Number) -> NoNodesPlanner:
        """Return the planner itself."""
        return self

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield nothing: no deadline would be accepted."""
        return iter(())

    def advance(self, now: Number) -> None:
        """Do nothing."""

    def count(self, now: Number) -> int:
        """Return 0."""
        return 0

    def served(self, before: Number | None = None) -> Iterator[ServedTask]:
        """Yield nothing."""
        return iter(())

    def unfinished(self) -> list[UnfinishedTask]:
        """Return nothing."""
        return []

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return nothing."""
        return ()

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return nothing."""
        return ()

    def state(self, now: Number) -> ClusterState:
        """Return a state without nodes."""
        return ClusterState([], self._channel, [])
