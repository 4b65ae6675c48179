"""The planner that keeps the chunks of every accepted task.

Tasks are planned in the order of their deadlines, each around the reservations and the tasks
before it. The first transmission of a task starts when some node can receive first, so no
later task in the order starts earlier: the tasks that have begun come first. For the same reason
the tasks before the first one that a decision concerns keep their plans: planned again, they would
come out the same, whatever the instant.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Self

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.offers import UnknownBreakpoints
from dlopt.heuristics.admission.records import (
    ClusterState,
    DeadlineMiss,
    QueuedTask,
    Rejection,
)
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    ReservationRequest,
    ReservedWindow,
    TimedChunk,
    select_nodes,
)
from dlopt.heuristics.multistage.node_groups import NodeGroups
from dlopt.heuristics.multistage.task_planner import TaskPlanner
from dlopt.problems.admission.data import Chunk


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


class Replanning(NamedTuple):
    """A plan that would replace the end of the queue."""

    begun: int
    """How many of the waiting tasks have begun by then."""
    at: int
    """The position from which on the queue is replaced."""
    plan: list[ScheduledTask]
    states: list[Any]
    """The states before each task of the queue, and after the last one."""


class FoundNodes(NamedTuple):
    """What a reservation would get, and the plan of the waiting tasks around it."""

    window: ReservedWindow
    replanning: Replanning


class Refusal(NamedTuple):
    """Why a reservation is refused: nodes, the channel, its price, or a task that would miss."""

    because: Literal["nodes", "channel", "task", "price"]
    missed: str | None = None


class MultiStageQueue(UnknownBreakpoints):
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
        self, costs: tuple[Number, Number], ready: Sequence[Number], channel: Number, now: Number
    ) -> None:
        self.waiting: list[ScheduledTask] = []
        self.sent: list[ScheduledTask] = []
        self._planner = TaskPlanner(*costs)
        self._start_from(BusyIntervals.of(ready, channel, now))

    @classmethod
    def around(cls, costs: tuple[Number, Number], fixed: BusyIntervals) -> Self:
        """Return an empty queue around what is fixed, which belongs to it from then on."""
        queue = cls(costs, (), 0, 0)
        queue._start_from(fixed)
        return queue

    def _start_from(self, fixed: BusyIntervals) -> None:
        self.committed_state = fixed
        self.states = [NodeGroups.from_busy(fixed.channel, fixed.nodes)]

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks that wait."""
        return [planned.task for planned in self.waiting]

    def decider(self, _now: Number) -> MultiStageQueue:
        """Return the queue itself."""
        return self

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""
        found = self._find_plan(new)
        return found if isinstance(found, Rejection) else None

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return by how much the load of a new task is too large, at the least.

        It is what is left of it; 0 if it is not the new one that would miss.
        """
        if refused.task.key != new.key:
            return super().excess(refused, new)
        _, at = self._replaced_from(new)
        state = self.states[at].copy()  # the search notes there when nodes are free at the earliest
        return self._planner.least_remainder(state, new.arrival, new.load, new.deadline)

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        return self._install(self._find_plan(new), new.arrival)

    def find_nodes(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Return the nodes that `reserve` would give, or why it would refuse; changes nothing."""
        found = self._find_nodes(request, now)
        return found if isinstance(found, Refusal) else found.window.nodes

    def reserve(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Reserve nodes, or return why that is impossible; then the state is unchanged.

        What has begun stays as it is. A task that is due when the reservation starts, or before,
        is not concerned.
        """
        found = self._find_nodes(request, now)
        if isinstance(found, Refusal):
            return found
        self._install(found.replanning, now)
        self.committed_state.reserve(found.window)
        return found.window.nodes

    def load_promised(self, tasks: Iterable[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""
        return self._install(self._replan(0, 0, self.states.copy(), sorted(tasks), now), now)

    def load_plans(self, plans: Iterable[ScheduledTask]) -> None:
        """Load tasks with their plans, in their order, into an empty queue."""
        for planned in plans:
            state = self.states[-1].copy()
            state.occupy(planned.chunks)
            self.waiting.append(planned)
            self.states.append(state)

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self._commit(self._started_count(now), now)

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of all tasks, or of those begun to be sent before an instant."""
        count = len(self.waiting) if before is None else self._started_count(before)
        return chunk_records((*self.sent, *self.waiting[:count]))

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of the tasks that began before an instant, and forget them."""
        self.advance(now)
        taken, self.sent = chunk_records(self.sent), []
        return taken

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether a task has not begun, after `take_sent`. Complexity: O(log n)."""
        at = bisect_left(self.waiting, task.key, key=_key)
        return at < len(self.waiting) and self.waiting[at].task.key == task.key

    def state(self, now: Number) -> ClusterState:
        """Return the waiting tasks, and when everything is free of what is promised or begun."""
        ready, channel = self.committed_state.last_ends(now)
        tasks = [planned.task for planned in self.waiting[self._started_count(now) :]]
        return ClusterState(ready, channel, tasks)

    def _started_count(self, now: Number) -> int:
        """Return how many tasks began before an instant, or precede one that did."""
        waiting = self.waiting
        return next((n for n in range(len(waiting), 0, -1) if _start(waiting[n - 1]) < now), 0)

    def _find_plan(self, new: QueuedTask) -> Replanning | Rejection:
        """Return a plan with a task that arrives now."""
        begun, at = self._replaced_from(new)
        tasks = sorted([new, *(planned.task for planned in self.waiting[at:])])
        return self._replan(begun, at, self.states[: at + 1], tasks, new.arrival)

    def _replaced_from(self, new: QueuedTask) -> tuple[int, int]:
        """Return how many tasks have begun when one arrives, and where planning again begins."""
        begun = self._started_count(new.arrival)
        return begun, max(begun, bisect_right(self.waiting, new.key, key=_key))

    def _find_nodes(self, request: ReservationRequest, now: Number) -> FoundNodes | Refusal:
        """Return nodes for a reservation, and a plan around it."""
        begun = self._started_count(now)
        fixed = self.committed_state.copy()
        for planned in self.waiting[:begun]:
            fixed.allocate(planned.plan)
        nodes = select_nodes(fixed, request)
        if nodes is None:
            return Refusal("nodes")
        if fixed.channel_busy(request.start, request.io_end):
            return Refusal("channel")
        at = self._concerned_from(begun, request)
        states = [state.copy() for state in self.states[: at + 1]]
        window = ReservedWindow(request.start, request.io_end, request.end, nodes)
        known: dict[int, object] = {}
        for state in states[begun:]:
            state.reserve(window, known)
        tasks = [planned.task for planned in self.waiting[at:]]
        found = self._replan(begun, at, states, tasks, now)
        if isinstance(found, Rejection):
            return Refusal("task", found.task.id)
        return FoundNodes(window, found)

    def _concerned_from(self, begun: int, request: ReservationRequest) -> int:
        """Return from where on tasks are planned again: those that are due after its start."""
        return max(begun, bisect_right(self.waiting, request.start, key=_deadline))

    def _replan(
        self, begun: int, at: int, states: list[NodeGroups], tasks: list[QueuedTask], now: Number
    ) -> Replanning | Rejection:
        """Return a plan of tasks for the queue from position `at` on, if none of them misses."""
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
        return Replanning(begun, at, plan, states)

    def _install(self, found: Replanning | Rejection, now: Number) -> Rejection | None:
        """Replace the end of the queue by a plan; if there is none, change nothing."""
        if isinstance(found, Rejection):
            return found
        self.waiting[found.at :] = found.plan
        self.states = found.states
        self._commit(found.begun, now)
        return None

    def _commit(self, count: int, now: Number) -> None:
        for planned in self.waiting[:count]:
            self.committed_state.allocate(planned.plan)
            self.sent.append(ScheduledTask(planned.task, FixedPlan(planned.chunks)))
        del self.waiting[:count]
        del self.states[:count]
        self.states[0].purge(now)
        self.committed_state.purge(now)


def chunk_records(tasks: Iterable[ScheduledTask]) -> tuple[Chunk, ...]:
    """Return the chunks of tasks as a solution states them."""
    return tuple(
        Chunk(planned.task.id, node, load, start, sent, sent, end)
        for planned in tasks
        for node, load, start, sent, end in planned.chunks
    )


def _key(planned: ScheduledTask) -> tuple[Number, int]:
    return planned.task.key


def _deadline(planned: ScheduledTask) -> Number:
    return planned.task.deadline


def _start(planned: ScheduledTask) -> Number:
    start: Number = planned.plan.start
    return start
