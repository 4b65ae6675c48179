"""The published algorithms for a whole stream: Algorithms 1 and 2 around a planner of one task.

``literal`` has every flaw. Each other name has one and everything else repaired: ``F1`` to ``F9``
are those of `dlopt.heuristics.multistage.literal_single_flaw`; three concern several tasks:

``M1``
    Of the chunks of a task in a later stage, other tasks know the transmissions alone, as those of
    a reservation; in its first stage a chunk makes its node available when it is computed,
    and the other nodes when all that the task sends in that stage is sent.
``M2``
    When a reservation is tested, the tasks that wait are planned around the reservations accepted
    before, not around the new one.
``M3``
    The I/O of a reservation is compared with that of other reservations alone, not with what
    tasks that have begun still send.

Left out, for no answer distinguishes them: which nodes count as available in Algorithm 2
(here: those without any reservation, chunk or backlog in the window), and that Algorithm 1 does
not undo what it changed where a later test fails (here: it decides on copies).

Everything that waits is planned again for each decision, in O(n N w) with `w` windows.

Source: Mamat 2011, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import (
    ClusterState,
    DeadlineMiss,
    QueuedTask,
    Rejection,
)
from dlopt.heuristics.multistage import literal_algorithms_3_4
from dlopt.heuristics.multistage.busy_intervals import (
    FixedPlan,
    ReservationRequest,
    ReservedWindow,
    select_nodes,
)
from dlopt.heuristics.multistage.literal_algorithms_3_4 import PlanningTask, StageChunk
from dlopt.heuristics.multistage.literal_single_flaw import SINGLE_FLAWS, RepairedPartition
from dlopt.heuristics.multistage.queue import Refusal, ScheduledTask, chunk_records
from dlopt.problems.admission.data import Chunk

FLAWS = (*SINGLE_FLAWS, "M1", "M2", "M3")
"""The flaws that a registered algorithm has alone."""


class LiteralState:
    """The state of a cluster in the published algorithms: available times, and windows.

    Parameters
    ----------
    ready : list of Number
        When each node is available, but for windows.
    windows : list of ReservedWindow
        Reservations, and chunks that are treated as such.
    io : list of (Number, Number)
        The I/O of reservations alone.
    """

    def __init__(
        self, ready: list[Number], windows: list[ReservedWindow], io: list[tuple[Number, Number]]
    ) -> None:
        self.nodes = ready
        self.windows = windows
        self.io = io

    def copy(self) -> LiteralState:
        """Return a copy that shares nothing that changes."""
        return LiteralState(self.nodes.copy(), self.windows.copy(), self.io.copy())

    def reserve(self, window: ReservedWindow) -> None:
        """Add a reservation."""
        self.windows.append(window)
        self.io.append((window.start, window.io_end))

    def node_busy(self, node: int, start: Number, end: Number) -> bool:
        """Tell whether a node is busy at some time of an interval."""
        return bool(self.nodes[node] > start) or any(
            node in window.nodes and max(window.start, start) < min(window.end, end)
            for window in self.windows
        )

    def allocate(self, stage_chunks: Sequence[StageChunk], by_stage: bool) -> None:
        """Add the chunks of a task; with `by_stage` as printed, see ``M1``."""
        first = [
            chunk for stage, chunk in stage_chunks if by_stage and stage == stage_chunks[0].stage
        ]
        if first:
            sent = max(chunk.sent for chunk in first)
            self.nodes = [max(instant, sent) for instant in self.nodes]
            for chunk in first:
                self.nodes[chunk.node] = max(self.nodes[chunk.node], chunk.end)
        for _, chunk in stage_chunks[len(first) :]:
            if chunk.load > 0:
                end = chunk.sent if by_stage else chunk.end
                self.windows.append(ReservedWindow(chunk.start, chunk.sent, end, (chunk.node,)))


class LiteralPlan(NamedTuple):
    """What the planner would go on with."""

    base: LiteralState
    """With what has begun."""
    sent: list[ScheduledTask]
    """The tasks that have begun since the last decision."""
    queue: list[tuple[QueuedTask, list[StageChunk]]]
    """The others."""

    @property
    def tasks(self) -> list[QueuedTask]:
        """The tasks that have not begun."""
        return [task for task, _ in self.queue]


class LiteralPlanner:
    """The planner of the published algorithms, used as `MultiStageQueue` is.

    Parameters
    ----------
    flaw : str
        ``literal``, or one of `FLAWS`.
    costs, ready, channel, now
        As of `dlopt.heuristics.multistage.queue.MultiStageQueue`.
    """

    def __init__(
        self,
        flaw: str,
        costs: tuple[Number, Number],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
    ) -> None:
        self._flaw, self._costs = flaw, costs
        busy = [(now * 0, channel)] if channel > now else []
        windows = [ReservedWindow(start, end, end, ()) for start, end in busy]
        # A node that is ready by now is so from the beginning: only then can F9 be seen.
        free = [instant if instant > now else now * 0 for instant in ready]
        self._base = LiteralState(free, windows, busy)
        self._queue: list[tuple[QueuedTask, list[StageChunk]]] = []
        self.sent: list[ScheduledTask] = []

    @property
    def waiting(self) -> list[ScheduledTask]:
        """The tasks that have not begun, in the order of their deadlines."""
        return [_scheduled(task, stage_chunks) for task, stage_chunks in self._queue]

    def decider(self, _now: Number) -> LiteralPlanner:
        """Return the planner itself."""
        return self

    def chunks(self, before: Number | None = None) -> tuple[Chunk, ...]:
        """Return the chunks of all tasks, or of those begun to be sent before an instant."""
        later = self.waiting if before is None else self._committed(before).sent
        return chunk_records((*self.sent, *later))

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of the tasks that began before an instant, and forget them."""
        self.advance(now)
        taken, self.sent = chunk_records(self.sent), []
        return taken

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether a task has not begun, after `take_sent`."""
        return any(waiting.key == task.key for waiting, _ in self._queue)

    def state(self, now: Number) -> ClusterState:
        """Return the waiting tasks, and when everything is available but for windows."""
        plan = self._committed(now)
        channel = max((now, *(end for _, end in plan.base.io)))
        return ClusterState([max(ready, now) for ready in plan.base.nodes], channel, plan.tasks)

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""
        found = self._find_plan(new)
        return found if isinstance(found, Rejection) else None

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged."""
        found = self._find_plan(new)
        if isinstance(found, Rejection):
            return found
        self._install(found)
        return None

    def find_nodes(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Return the nodes that `reserve` would give, or why it would refuse; changes nothing."""
        found = self._find_nodes(request, now)
        return found if isinstance(found, Refusal) else found[0]

    def reserve(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Reserve nodes, or return why that is impossible; then the state is unchanged."""
        found = self._find_nodes(request, now)
        if isinstance(found, Refusal):
            return found
        self._install(found[1])
        return found[0]

    def load_promised(self, tasks: Iterable[QueuedTask], now: Number) -> Rejection | None:
        """Load tasks that were promised before, into an empty queue."""
        plan = self._replan(self._base, list(tasks), now)
        if isinstance(plan, Rejection):
            return plan
        self._queue = plan
        return None

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self._install(self._committed(now))

    def _has(self, flaw: str) -> bool:
        return self._flaw in ("literal", flaw)

    def _find_plan(self, new: QueuedTask) -> LiteralPlan | Rejection:
        """Return a plan with a task that arrives now."""
        before = self._committed(new.arrival)
        queue = self._replan(before.base, [new, *before.tasks], new.arrival)
        return queue if isinstance(queue, Rejection) else before._replace(queue=queue)

    def _find_nodes(
        self, request: ReservationRequest, now: Number
    ) -> tuple[tuple[int, ...], LiteralPlan] | Refusal:
        """Return nodes for a reservation, and a plan around it."""
        before = self._committed(now)
        base = before.base
        nodes = select_nodes(base, request)
        if nodes is None:
            return Refusal("nodes")
        io = base.io
        if not self._has("M3"):
            io = [*io, *((window.start, window.io_end) for window in base.windows)]
        if any(max(start, request.start) < min(end, request.io_end) for start, end in io):
            return Refusal("channel")
        around = base.copy()
        base.reserve(ReservedWindow(request.start, request.io_end, request.end, nodes))
        queue = self._replan(around if self._has("M2") else base, before.tasks, now)
        if isinstance(queue, Rejection):
            return Refusal("task", queue.task.id)
        return nodes, before._replace(queue=queue)

    def _install(self, found: LiteralPlan) -> None:
        self._base, self._queue = found.base, found.queue
        self.sent += found.sent

    def _committed(self, now: Number) -> LiteralPlan:
        """Return the present plan, as it is when what began before an instant has begun.

        A task without chunks counts as begun: no later plan would find more.
        """
        base, sent, rest = self._base.copy(), [], []
        for task, stage_chunks in self._queue:
            if not stage_chunks or min(chunk.start for _, chunk in stage_chunks) < now:
                base.allocate(stage_chunks, self._has("M1"))
                sent.append(_scheduled(task, stage_chunks))
            else:
                rest.append((task, stage_chunks))
        base.windows = [window for window in base.windows if window.end > now]
        base.io = [(start, end) for start, end in base.io if end > now]
        return LiteralPlan(base, sent, rest)

    def _replan(
        self, base: LiteralState, tasks: list[QueuedTask], now: Number
    ) -> list[tuple[QueuedTask, list[StageChunk]]] | Rejection:
        state, plan = base.copy(), []
        for task in sorted(tasks):
            stage_chunks = self._place_task(
                state, PlanningTask(task.arrival, now, task.load, task.deadline)
            )
            if isinstance(stage_chunks, DeadlineMiss):
                return Rejection(task, stage_chunks)
            state.allocate(stage_chunks, self._has("M1"))
            plan.append((task, stage_chunks))
        return plan

    def _place_task(
        self, state: LiteralState, task: PlanningTask
    ) -> list[StageChunk] | DeadlineMiss:
        costs, windows, ready = self._costs, state.windows, state.nodes
        as_printed, kind = self._flaw == "literal", SINGLE_FLAWS.get(self._flaw, RepairedPartition)
        algorithms = kind(costs, windows, ready, task)
        if as_printed:
            estimate = literal_algorithms_3_4.estimate_capacity(costs, windows, ready, task)
        else:
            estimate = algorithms.estimate_capacity()
        count = estimate.fewest(task.load)
        if count is None:
            return DeadlineMiss(task.load - sum(estimate.shares), "load")
        if as_printed:
            return literal_algorithms_3_4.partition_load(costs, windows, estimate, count, task)
        return algorithms.partition_load(estimate, count)


def _scheduled(task: QueuedTask, stage_chunks: Iterable[StageChunk]) -> ScheduledTask:
    return ScheduledTask(task, FixedPlan(tuple(chunk for _, chunk in stage_chunks)))
