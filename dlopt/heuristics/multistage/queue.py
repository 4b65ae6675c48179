"""The core of the engine: a queue of accepted tasks with a plan, in plain numbers.

Tasks are planned in the order of their deadlines, each around the reservations and the tasks
before it. The first transmission of a task starts when some node can receive first, so none of a
task behind it starts earlier: the tasks that have begun stand in front. For the same reason the
tasks before the first one that a decision concerns keep their plans: planned again, they would
come out the same, whatever the instant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dlopt.heuristics.admission.dispatching_rules import Refused, Waiting
from dlopt.heuristics.admission.ready_times import Miss
from dlopt.heuristics.multistage.busy_intervals import Blocks, Known, Piece, Window, Wish, pick
from dlopt.heuristics.multistage.node_groups import Groups
from dlopt.heuristics.multistage.reference_planner import PlainBlocks, PlainPlanner
from dlopt.heuristics.multistage.task_planner import Planner


class Planned(NamedTuple):
    """A task and its plan."""

    task: Waiting
    plan: Any
    """A `dlopt.heuristics.multistage.busy_intervals.Known`, or what the planner made."""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Its chunks, in the order of transmission."""
        pieces: tuple[Piece, ...] = self.plan.pieces
        return pieces


class Denied(NamedTuple):
    """Why a reservation is refused: ``nodes``, ``channel``, or a task that would miss."""

    because: Any
    missed: str | None = None


class Queue:
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
    plain : bool, default False
        Plan all that wait for every decision, the straightforward way: see
        `dlopt.heuristics.multistage.reference_planner`.

    Attributes
    ----------
    waiting : list of Planned
        In the order of the plan, which is that of the deadlines and of the first transmissions.
    sent : list of Planned
        In the order in which they began.
    """

    def __init__(
        self,
        costs: tuple[Any, Any],
        ready: Sequence[Any],
        channel: Any,
        now: Any,
        *,
        plain: bool = False,
    ) -> None:
        self.waiting: list[Planned] = []
        self.sent: list[Planned] = []
        self._plain = plain
        self._planner: Any = (PlainPlanner if plain else Planner)(*costs)
        # What is promised or begun, and the state before each task that waits, and after the last.
        self._fixed: Any = (PlainBlocks if plain else Blocks).of(ready, channel, now)
        self._states: list[Any] = [(PlainBlocks if plain else Groups).of(ready, channel, now)]

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""
        begun = at = self._begun(new.arrival)
        if not self._plain:
            at = max(begun, bisect_right(self.waiting, new.key, key=_key))
        tasks = sorted([new, *(planned.task for planned in self.waiting[at:])])
        return self._replanned(begun, at, self._states[: at + 1], tasks, new.arrival)

    def reserve(self, wish: Wish, now: Any) -> Denied | tuple[int, ...]:
        """Reserve nodes, or return why that cannot be; then nothing changes.

        What has begun stays as it is. A task that is due when the reservation starts, or before,
        is not concerned.
        """
        begun = at = self._begun(now)
        fixed = self._fixed.copy()
        for planned in self.waiting[:begun]:
            fixed.hold(planned.plan)
        nodes = pick(fixed, wish)
        if nodes is None:
            return Denied("nodes")
        if fixed.channel_taken(wish.start, wish.io_end):
            return Denied("channel")
        if not self._plain:
            at = max(begun, bisect_right(self.waiting, wish.start, key=_deadline))
        states = [state.copy() for state in self._states[: at + 1]]
        window, known = Window(wish.start, wish.io_end, wish.end, nodes), dict[int, Any]()
        for state in states[begun:]:
            state.reserve(window, known)
        tasks = [planned.task for planned in self.waiting[at:]]
        refused = self._replanned(begun, at, states, tasks, now)
        if refused is not None:
            return Denied("task", refused.task.id)
        self._fixed.reserve(window, known)
        return nodes

    def restore(self, tasks: Iterable[Waiting], now: Any) -> Refused | None:
        """Plan tasks that were promised before, into an empty queue."""
        return self._replanned(0, 0, self._states.copy(), sorted(tasks), now)

    def advance(self, now: Any) -> None:
        """Send what was to be sent before an instant."""
        self._commit(self._begun(now), now)

    def placements(self) -> tuple[Planned, ...]:
        """Return the chunks of each accepted task, sent or only planned."""
        return (*self.sent, *self.waiting)

    def begun(self, now: Any) -> tuple[Planned, ...]:
        """Return the tasks that have begun before an instant."""
        return (*self.sent, *self.waiting[: self._begun(now)])

    def _begun(self, now: Any) -> int:
        """Return how many tasks began before an instant, or stand in front of one that did."""
        waiting = self.waiting
        return next((n for n in range(len(waiting), 0, -1) if _start(waiting[n - 1]) < now), 0)

    def _replanned(
        self, begun: int, at: int, states: list[Any], tasks: list[Waiting], now: Any
    ) -> Refused | None:
        """Let tasks take the places from `at` on, if none of them misses."""
        state, plan = states[at].copy(), []
        before = {id(one.task): one.plan.count for one in self.waiting[at:]}
        for task in tasks:
            hint = before.get(id(task), 1)
            found = self._planner.place(state, now, task.load, task.deadline, hint)
            if isinstance(found, Miss):
                return Refused(task, found)
            plan.append(Planned(task, found))
            state = state.copy()
            state.hold(found)
            states.append(state)
        self.waiting[at:] = plan
        self._states = states
        self._commit(begun, now)
        return None

    def _commit(self, count: int, now: Any) -> None:
        for planned in self.waiting[:count]:
            self._fixed.hold(planned.plan)
            self.sent.append(Planned(planned.task, Known(planned.pieces)))
        del self.waiting[:count]
        del self._states[:count]
        self._states[0].forget(now)
        self._fixed.forget(now)


def _key(planned: Planned) -> Any:
    return planned.task.key


def _deadline(planned: Planned) -> Any:
    return planned.task.deadline


def _start(planned: Planned) -> Any:
    return planned.plan.start
