"""The planner that keeps the chunks of every accepted task.

Tasks are planned in the order of their deadlines, each around the reservations and the tasks
before it. The first transmission of a task starts when some node can receive first, so no
later task in the order starts earlier: the tasks that have begun come first. For the same reason
the tasks before the first one that a decision concerns keep their plans: planned again, they would
come out the same, whatever the instant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import DeadlineMiss, QueuedTask, Rejection
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    ReservationRequest,
    ReservedWindow,
    TimedChunk,
    select_nodes,
)
from dlopt.heuristics.multistage.node_groups import NodeGroups
from dlopt.heuristics.multistage.reference_planner import (
    ReferenceBusyIntervals,
    ReferenceTaskPlanner,
)
from dlopt.heuristics.multistage.task_planner import TaskPlanner


class ScheduledTask(NamedTuple):
    """A task and its plan."""

    task: QueuedTask
    plan: Any
    """A `dlopt.heuristics.multistage.busy_intervals.FixedPlan`, or what the planner made."""

    @property
    def chunks(self) -> tuple[TimedChunk, ...]:
        """Its chunks, in the order of transmission."""
        chunks: tuple[TimedChunk, ...] = self.plan.chunks
        return chunks


class Refusal(NamedTuple):
    """Why a reservation is refused: nodes, the channel, or a task that would miss."""

    because: Literal["nodes", "channel", "task"]
    missed: str | None = None


class MultiStageQueue:
    """Accepted tasks that have not begun, each with its chunks; and those that have.

    Parameters
    ----------
    costs : tuple of Number
        ``(tau, chi)``, in one field.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the channel becomes free.
    now : Number
    reference : bool, default False
        Plan all waiting tasks for every decision, by the reference implementation
        `dlopt.heuristics.multistage.reference_planner`.

    Attributes
    ----------
    waiting : list of ScheduledTask
        In the order of the plan, which is that of the deadlines and of the first transmissions.
    sent : list of ScheduledTask
        In the order in which they began.
    committed_state : BusyIntervals
        What is promised or begun.
    states : list of NodeGroups
        The state before each task of `waiting`, and after the last one.
    """

    def __init__(
        self,
        costs: tuple[Number, Number],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        *,
        reference: bool = False,
    ) -> None:
        self.waiting: list[ScheduledTask] = []
        self.sent: list[ScheduledTask] = []
        self._reference = reference
        self._planner: Any = (ReferenceTaskPlanner if reference else TaskPlanner)(*costs)
        self.committed_state: Any = (ReferenceBusyIntervals if reference else BusyIntervals).of(
            ready, channel, now
        )
        self.states: list[Any] = [
            (ReferenceBusyIntervals if reference else NodeGroups).of(ready, channel, now)
        ]

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        begun = at = self._started_count(new.arrival)
        if not self._reference:
            at = max(begun, bisect_right(self.waiting, new.key, key=_key))
        tasks = sorted([new, *(planned.task for planned in self.waiting[at:])])
        return self._replan(begun, at, self.states[: at + 1], tasks, new.arrival)

    def reserve(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Reserve nodes, or return why that is impossible; then the state is unchanged.

        What has begun stays as it is. A task that is due when the reservation starts, or before,
        is not concerned.
        """
        begun = at = self._started_count(now)
        fixed = self.committed_state.copy()
        for planned in self.waiting[:begun]:
            fixed.allocate(planned.plan)
        nodes = select_nodes(fixed, request)
        if nodes is None:
            return Refusal("nodes")
        if fixed.channel_busy(request.start, request.io_end):
            return Refusal("channel")
        if not self._reference:
            at = max(begun, bisect_right(self.waiting, request.start, key=_deadline))
        states = [state.copy() for state in self.states[: at + 1]]
        window = ReservedWindow(request.start, request.io_end, request.end, nodes)
        known: dict[int, object] = {}
        for state in states[begun:]:
            state.reserve(window, known)
        tasks = [planned.task for planned in self.waiting[at:]]
        refused = self._replan(begun, at, states, tasks, now)
        if refused is not None:
            return Refusal("task", refused.task.id)
        self.committed_state.reserve(window)
        return nodes

    def load_promised(self, tasks: Iterable[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""
        return self._replan(0, 0, self.states.copy(), sorted(tasks), now)

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self._commit(self._started_count(now), now)

    def placements(self) -> tuple[ScheduledTask, ...]:
        """Return the chunks of each accepted task, sent or only planned."""
        return (*self.sent, *self.waiting)

    def started(self, now: Number) -> tuple[ScheduledTask, ...]:
        """Return the tasks that have begun before an instant."""
        return (*self.sent, *self.waiting[: self._started_count(now)])

    def _started_count(self, now: Number) -> int:
        """Return how many tasks began before an instant, or precede one that did."""
        waiting = self.waiting
        return next((n for n in range(len(waiting), 0, -1) if _start(waiting[n - 1]) < now), 0)

    def _replan(
        self, begun: int, at: int, states: list[Any], tasks: list[QueuedTask], now: Number
    ) -> Rejection | None:
        """Replace the queue from position `at` on by a plan of tasks, if none of them misses."""
        state, plan = states[at].copy(), []
        before = {id(planned.task): planned.plan.count for planned in self.waiting[at:]}
        for task in tasks:
            hint = before.get(id(task), 1)
            found = self._planner.place(state, now, task.load, task.deadline, hint)
            if isinstance(found, DeadlineMiss):
                return Rejection(task, found)
            plan.append(ScheduledTask(task, found))
            state = state.copy()
            state.allocate(found)
            states.append(state)
        self.waiting[at:] = plan
        self.states = states
        self._commit(begun, now)
        return None

    def _commit(self, count: int, now: Number) -> None:
        for planned in self.waiting[:count]:
            self.committed_state.allocate(planned.plan)
            self.sent.append(ScheduledTask(planned.task, FixedPlan(planned.chunks)))
        del self.waiting[:count]
        del self.states[:count]
        self.states[0].purge(now)
        self.committed_state.purge(now)


def _key(planned: ScheduledTask) -> tuple[Number, int]:
    return planned.task.key


def _deadline(planned: ScheduledTask) -> Number:
    return planned.task.deadline


def _start(planned: ScheduledTask) -> Number:
    start: Number = planned.plan.start
    return start
