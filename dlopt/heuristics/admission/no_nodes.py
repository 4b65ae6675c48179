"""The planner of a cluster of which no node is left: it rejects every task."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.offers import UnknownBreakpoints
from dlopt.heuristics.admission.records import (
    ClusterState,
    DeadlineMiss,
    PlannerContent,
    QueuedTask,
    Rejection,
    ServedTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk


class NoNodesPlanner(UnknownBreakpoints):
    """The planner of no node.

    Examples
    --------
    >>> planner = NoNodesPlanner(channel=0)
    >>> planner.try_admit(QueuedTask((4, 0), "a", 0, 2, 4)).miss
    DeadlineMiss(by=2, of='load')
    """

    def __init__(self, channel: Number) -> None:
        self._channel = channel

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

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Reject the first of some tasks."""
        return self.try_admit(tasks[0]) if tasks else None

    def decider(self, now: Number) -> NoNodesPlanner:
        """Return the planner itself."""
        return self

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

    def waits(self, task: QueuedTask) -> bool:
        """Return false."""
        return False

    def replacer(self) -> None:
        """Return None: if a task changes, what waits is planned again."""

    def content(self) -> PlannerContent:
        """Return a content without nodes."""
        return PlannerContent((), self._channel, ())

    def load(self, content: PlannerContent) -> None:
        """Do nothing: no task waits."""

    def state(self, now: Number) -> ClusterState:
        """Return a state without nodes."""
        return ClusterState([], self._channel, [])
