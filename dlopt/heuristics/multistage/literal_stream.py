"""The printed algorithms for a whole stream: Algorithms 1 and 2 around what plans one task.

``literal`` has every flaw. Each other name has one and everything else repaired: ``F1`` to ``F9``
are those of `dlopt.heuristics.multistage.literal_single_flaw`; three are of several tasks:

``M1``
    What is planned of a task in a later stage is known to other tasks by its transmission alone,
    as a reservation's; in its first stage a chunk makes its node available when it is computed,
    and the other nodes when all that the task sends in that stage is sent.
``M2``
    When a reservation is tested, the tasks that wait are planned around the reservations accepted
    before, not around the new one.
``M3``
    The I/O of a reservation is held against that of other reservations alone, not against what
    tasks that have begun still send.

Left out, for they cannot be told apart by an answer: which nodes count as available in Algorithm 2
(here: those without any reservation, chunk or backlog in the window), and that Algorithm 1 does
not undo what it changed where a later test fails (here: it decides on copies).

Everything that waits is planned anew for each decision, in O(n N w) with `w` windows.

Source: Mamat 2011, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dlopt.heuristics.admission.dispatching_rules import Refused, Waiting
from dlopt.heuristics.admission.ready_times import Miss
from dlopt.heuristics.multistage import literal_algorithms_3_4, literal_single_flaw
from dlopt.heuristics.multistage.busy_intervals import Known, Window, Wish, pick
from dlopt.heuristics.multistage.literal_algorithms_3_4 import Job, Part
from dlopt.heuristics.multistage.queue import Denied, Planned

FLAWS = (
    *literal_single_flaw.ESTIMATE_FLAWS,
    *literal_single_flaw.PARTITION_FLAWS,
    "M1",
    "M2",
    "M3",
)
"""The flaws that can be had alone."""


class State:
    """What the printed algorithms know of a cluster: available times, and windows.

    Parameters
    ----------
    ready : list of Number
        When each node is available, but for windows.
    windows : list of Window
        Reservations, and chunks that are treated as such.
    io : list of (Number, Number)
        The I/O of reservations alone.
    """

    def __init__(self, ready: list[Any], windows: list[Window], io: list[tuple[Any, Any]]) -> None:
        self.nodes = ready
        self.windows = windows
        self.io = io

    def copy(self) -> State:
        """Return a copy that shares nothing that changes."""
        return State(self.nodes.copy(), self.windows.copy(), self.io.copy())

    def reserve(self, window: Window) -> None:
        """Enter a reservation."""
        self.windows.append(window)
        self.io.append((window.start, window.io_end))

    def node_taken(self, node: int, start: Any, end: Any) -> bool:
        """Tell whether a node is not free all the time."""
        return bool(self.nodes[node] > start) or any(
            node in one.nodes and max(one.start, start) < min(one.end, end) for one in self.windows
        )

    def hold(self, parts: Sequence[Part], by_stage: bool) -> None:
        """Enter the chunks of a task; with `by_stage` as printed, see ``M1``."""
        first = [piece for stage, piece in parts if by_stage and stage == parts[0].stage]
        if first:
            sent = max(piece.sent for piece in first)
            self.nodes = [max(instant, sent) for instant in self.nodes]
            for piece in first:
                self.nodes[piece.node] = max(self.nodes[piece.node], piece.end)
        for _, piece in parts[len(first) :]:
            if piece.load > 0:
                end = piece.sent if by_stage else piece.end
                self.windows.append(Window(piece.start, piece.sent, end, (piece.node,)))


class Printed:
    """Accepted tasks, used as `dlopt.heuristics.multistage.queue.Queue` is.

    Parameters
    ----------
    slip : str
        ``literal``, or one of `FLAWS`.
    costs, ready, channel, now
        As there.
    """

    def __init__(
        self,
        slip: str,
        costs: tuple[Any, Any],
        ready: Sequence[Any],
        channel: Any,
        now: Any,
    ) -> None:
        self._slip, self._costs = slip, costs
        busy = [(now * 0, channel)] if channel > now else []
        windows = [Window(start, end, end, ()) for start, end in busy]
        # A node that is ready by now is so from the beginning: only then can F9 be seen.
        free = [instant if instant > now else now * 0 for instant in ready]
        self._base = State(free, windows, busy)
        self._waiting: list[tuple[Waiting, list[Part]]] = []
        self.sent: list[Planned] = []

    @property
    def waiting(self) -> list[Planned]:
        """The tasks that have not begun, in the order of their deadlines."""
        return [_planned(task, parts) for task, parts in self._waiting]

    def placements(self) -> tuple[Planned, ...]:
        """Return the chunks of each accepted task, sent or only planned."""
        return (*self.sent, *self.waiting)

    def begun(self, now: Any) -> tuple[Planned, ...]:
        """Return the tasks that have begun before an instant."""
        return (*self.sent, *self._committed(now)[1])

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""
        base, sent, rest = self._committed(new.arrival)
        plan = self._replanned(base, [new, *(task for task, _ in rest)], new.arrival)
        if isinstance(plan, Refused):
            return plan
        self._base, self._waiting = base, plan
        self.sent += sent
        return None

    def reserve(self, wish: Wish, now: Any) -> Denied | tuple[int, ...]:
        """Reserve nodes, or return why that cannot be; then nothing changes."""
        base, sent, rest = self._committed(now)
        nodes = pick(base, wish)
        if nodes is None:
            return Denied("nodes")
        io = base.io
        if not self._has("M3"):
            io = [*io, *((one.start, one.io_end) for one in base.windows)]
        if any(max(one[0], wish.start) < min(one[1], wish.io_end) for one in io):
            return Denied("channel")
        around = base.copy()
        base.reserve(Window(wish.start, wish.io_end, wish.end, nodes))
        plan = self._replanned(around if self._has("M2") else base, [task for task, _ in rest], now)
        if isinstance(plan, Refused):
            return Denied("task", plan.task.id)
        self._base, self._waiting = base, plan
        self.sent += sent
        return nodes

    def restore(self, tasks: Iterable[Waiting], now: Any) -> Refused | None:
        """Plan tasks that were promised before, into an empty queue."""
        plan = self._replanned(self._base, list(tasks), now)
        if isinstance(plan, Refused):
            return plan
        self._waiting = plan
        return None

    def advance(self, now: Any) -> None:
        """Send what was to be sent before an instant."""
        self._base, sent, self._waiting = self._committed(now)
        self.sent += sent

    def _has(self, flaw: str) -> bool:
        return self._slip in ("literal", flaw)

    def _committed(self, now: Any) -> tuple[State, list[Planned], list[tuple[Waiting, list[Part]]]]:
        """Return the state with what began before an instant, what that is, and what is left.

        A task that nothing was planned of counts as begun: no later plan would find more.
        """
        base, sent, rest = self._base.copy(), [], []
        for task, parts in self._waiting:
            if not parts or min(piece.start for _, piece in parts) < now:
                base.hold(parts, self._has("M1"))
                sent.append(_planned(task, parts))
            else:
                rest.append((task, parts))
        base.windows = [one for one in base.windows if one.end > now]
        base.io = [one for one in base.io if one[1] > now]
        return base, sent, rest

    def _replanned(
        self, base: State, tasks: list[Waiting], now: Any
    ) -> list[tuple[Waiting, list[Part]]] | Refused:
        state, plan = base.copy(), []
        for task in sorted(tasks):
            parts = self._placed(state, Job(task.arrival, now, task.load, task.deadline))
            if isinstance(parts, Miss):
                return Refused(task, parts)
            state.hold(parts, self._has("M1"))
            plan.append((task, parts))
        return plan

    def _placed(self, state: State, job: Job) -> list[Part] | Miss:
        costs, windows, ready = self._costs, state.windows, state.nodes
        if self._slip == "literal":
            found = literal_algorithms_3_4.estimate(costs, windows, ready, job)
        else:
            found = literal_single_flaw.estimate(costs, windows, ready, job, self._slip)
        count = found.fewest(job.load)
        if count is None:
            return Miss(job.load - sum(found.shares), "load")
        if self._slip == "literal":
            return literal_algorithms_3_4.partition(costs, windows, found, count, job)
        return literal_single_flaw.partition(costs, windows, ready, found, count, job, self._slip)


def _planned(task: Waiting, parts: Iterable[Part]) -> Planned:
    return Planned(task, Known(tuple(piece for _, piece in parts)))
