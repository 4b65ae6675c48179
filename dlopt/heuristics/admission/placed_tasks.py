"""Tasks with their placements, sent and waiting: what can be said of them at an instant."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.admission import chunks
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.records import (
    ClusterState,
    PlannedTask,
    QueuedTask,
    ServedTask,
    UnfinishedTask,
)
from dlopt.problems.admission.data import Chunk


class PlacedTasks:
    """The tasks of a queue that have placements.

    Parameters
    ----------
    task_planner : TaskPlanner
        Plans one task, and divides its load among its nodes.
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the channel becomes free.

    Attributes
    ----------
    waiting : list of PlannedTask
        In the order of the plan, which is that of their starts.
    sent : list of PlannedTask
        In the order in which they were sent.
    """

    def __init__(
        self,
        task_planner: TaskPlanner,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
    ) -> None:
        self.task_planner = task_planner
        self._costs, self._channel = costs, channel
        self._free = chunks.free_nodes(ready)
        self.waiting: list[PlannedTask] = []
        self.sent: list[PlannedTask] = []

    def __len__(self) -> int:
        return len(self.waiting)

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks that wait, in the order of the plan."""
        return [planned.task for planned in self.waiting]

    def count(self, now: Number) -> int:
        """Return how many tasks wait at an instant if no other is accepted."""
        return len(self.waiting) - self._started_count(now)

    def placements(self, before: Number | None = None) -> tuple[PlannedTask, ...]:
        """Return the placements of all tasks, or of those begun to be sent before an instant."""
        count = None if before is None else self._started_count(before)
        return (*self.sent, *self.waiting[:count])

    def served(self, before: Number | None = None) -> Iterator[ServedTask]:
        """Yield each accepted task, or each that begins to be sent before an instant."""
        for task, place in self.placements(before):
            yield ServedTask(task, place.start, place.end)

    def unfinished(self) -> list[UnfinishedTask]:
        """Return an empty list: everything that is planned is sent."""
        return []

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""
        free = self._free.copy()
        return chunks.chunks(self.task_planner, self._costs, free, self.placements(before))

    def state(self, now: Number) -> ClusterState:
        """Return the state of the cluster at an instant, with the waiting tasks."""
        sent = self.placements(now)
        ready = chunks.free_after(self._free, sent)
        channel = max((place.sent for _, place in sent), default=self._channel)
        tasks = [planned.task for planned in self.waiting[self._started_count(now) :]]
        return ClusterState(ready, max(channel, self._channel), tasks)

    def _started_count(self, instant: Number) -> int:
        """Return how many tasks have been sent, or begun to be, before an instant."""
        return bisect_left(self.waiting, instant, key=_start)


def _start(planned: PlannedTask) -> Number:
    return planned.placement.start
