"""The planner that keeps a placement for every accepted task.

:class:`dlopt.heuristics.admission.engine.Admission` adds records, identities and decisions; the
simulator uses it directly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeAlias, cast

from dlopt.arithmetic import Number
from dlopt.heuristics.admission import chunks
from dlopt.heuristics.admission.algorithm_names import Algorithm, Partition
from dlopt.heuristics.admission.deadlines import (
    PositionInOrder,
    deadlines_at_positions,
    mcdf_deadlines,
    mwf_positions,
)
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner, mwf_order, plan_in_order
from dlopt.heuristics.admission.edf_iit_1 import EdfIit1Planner
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.mcdf import plan_mcdf
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.placed_tasks import PlacedTasks
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import (
    PlannedTask,
    PlannerContent,
    QueuedTask,
    Rejection,
    StoredTask,
)
from dlopt.problems.admission.data import Chunk

CHECKPOINT_INTERVAL = 32
"""Tasks of the queue between two checkpoints, at each of which a copy of the ready times is kept.
Chosen by hand: a longer interval allocates more tasks again, a shorter one copies more."""

Checkpoint: TypeAlias = tuple[int, Any]
"""How many tasks were placed before, and the ready times then."""


TASK_PLANNERS: dict[Partition, Callable[[Algorithm, tuple[Number, ...], int], TaskPlanner]] = {
    "opr": OprEprPlanner,
    "epr": OprEprPlanner,
    "iit": EdfIit2Planner,
    "iit-1": EdfIit1Planner,
}
"""What plans one task, by how it is partitioned; made of an algorithm, costs and nodes."""


class PlannedQueue(PlacedTasks):
    """Accepted tasks that have not been sent yet, each with its placement; and those sent.

    Parameters
    ----------
    algorithm : Algorithm
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
    committed_state : ReadyTimes
        When nodes and channel are free after what was sent.
    checkpoints : list of Checkpoint
        States before some of the tasks that wait, from which planning begins again.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> queue = PlannedQueue(Algorithm.parse("edf-opr-mn"), costs, [zero, zero], zero)
    >>> queue.try_admit(QueuedTask((9, 0), "a", zero, 2 * one, 9 * one)) is None
    True
    >>> queue.try_admit(QueuedTask((1, 1), "b", zero, one, one)).miss
    DeadlineMiss(by=Fraction(1, 3), of='time')
    """

    def __init__(
        self,
        algorithm: Algorithm,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
    ) -> None:
        task_planner = TASK_PLANNERS[algorithm.partition](algorithm, costs, len(ready))
        super().__init__(task_planner, costs, ready, channel)
        self.algorithm = algorithm
        self.committed_state = ReadyTimes(ready, channel)
        self._dynamic_order = algorithm.order == "mwf"
        self._replan_all = algorithm.order == "mcdf"
        self.checkpoints: list[Checkpoint] = []
        # Tasks that have left the queue: positions of checkpoints include them.
        self._left_count = 0

    @property
    def piecewise_affine(self) -> bool:
        """Whether the planner can be asked with affine numbers."""
        partition, assignment = self.algorithm.partition, self.algorithm.assignment
        return partition in ("opr", "epr") or (partition, assignment) == ("iit", "mn")

    @property
    def proves_earliest(self) -> bool:
        """Whether `deadlines` yields the earliest deadline that is accepted, if there is one."""
        return True

    def roll_back(self) -> None:
        """Do nothing: nothing is sent tentatively."""

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return by how much the load of a new task is too large, at the least."""
        return refused.miss.by if refused.miss.of == "load" and refused.task is new else 0

    def take_sent(self, now: Number) -> tuple[Chunk, ...]:
        """Return the chunks of what began to be sent before an instant, and forget them."""
        self.advance(now)
        if not self.sent:
            return ()
        sent, self.sent = self.sent, []
        self._channel = max(self._channel, *(place.sent for _, place in sent))
        return chunks.chunks(self.task_planner, self._costs, self._free, sent)

    def waits(self, task: QueuedTask) -> bool:
        """Tell whether some load of a task is still to be sent.

        Complexity: O(log n), or O(n) where the order changes with time.
        """
        if self._dynamic_order or self.algorithm.order == "mcdf":
            return any(planned.task.key[1] == task.key[1] for planned in self.waiting)
        at = bisect_left(self.waiting, task.key, key=_key)
        return at < len(self.waiting) and self.waiting[at].task.key == task.key

    def replacer(self) -> None:
        """Return None: if a task changes, what waits is planned again."""

    def content(self) -> PlannerContent:
        """Return all that later decisions depend on, after `take_sent`."""
        tasks = tuple(StoredTask(*planned) for planned in self.waiting)
        return PlannerContent(tuple(chunks.free_times(self._free)), self._channel, tasks)

    def load(self, content: PlannerContent) -> None:
        """Load the waiting tasks of a content, into a queue made for its nodes and channel."""
        nodes = self.committed_state.copy()
        for count, (task, placement, _) in enumerate(content.tasks):
            assert placement is not None  # it is the content of such a queue
            self.waiting.append(PlannedTask(task, placement))
            if self._replan_all:
                continue
            if count % CHECKPOINT_INTERVAL == 0:
                self.checkpoints.append((count, nodes.copy()))
            nodes.clip(placement.not_before)  # as when it was planned
            nodes.allocate(placement)

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return who would miss; then the state is unchanged.

        The tasks before the first that changes its position keep their placements: planned again
        now, they would get the same ones.
        """
        found = self._replan(new)
        if isinstance(found, Rejection):
            return found
        at, plan, checkpoints = found
        begun = self._started_count(new.arrival)
        self.waiting[at:] = plan
        self.checkpoints = [
            each for each in self.checkpoints if each[0] < at + self._left_count
        ] + checkpoints
        self._commit(begun)
        return None

    def decider(self, now: Number) -> PlannedQueue:
        """Return the queue itself, which makes the decisions."""
        return self

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""
        found = self._replan(new)
        return found if isinstance(found, Rejection) else None

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield candidates for the earliest accepted deadline, ascending."""
        if self.algorithm.order != "mcdf":
            return deadlines_at_positions(self.task_planner, self._positions(new), new.load)
        begun, channel = self._started_count(new.arrival), self.algorithm.channel
        rest = [planned.task for planned in self.waiting[begun:]]
        nodes = self._nodes_before(begun)
        return mcdf_deadlines(cast(OprEprPlanner, self.task_planner), nodes, new, rest, channel)

    def _replan(
        self, new: QueuedTask
    ) -> tuple[int, list[PlannedTask], list[Checkpoint]] | Rejection:
        """Plan with a new task: return how many tasks stay, the plan of the others, checkpoints."""
        begun = at = self._started_count(new.arrival)
        if not self._replan_all and not self._dynamic_order:
            at = max(begun, bisect_right(self.waiting, new.key, key=_key))
            later = [new, *(planned.task for planned in self.waiting[at:])]
        else:
            rest = (planned.task for planned in self.waiting[begun:])
            ordered = self._ordered([new, *rest], new.arrival)
            if isinstance(ordered, Rejection):
                return ordered
            same = 0 if self._replan_all else self._unchanged_prefix(ordered, begun)
            later, at = ordered[same:], begun + same
        checkpoints: list[Checkpoint] = []
        plan = self._plan_tasks(
            self._nodes_before(at), later, new.arrival, at + self._left_count, checkpoints
        )
        return plan if isinstance(plan, Rejection) else (at, plan, checkpoints)

    def load_promised(self, tasks: list[QueuedTask], now: Number) -> Rejection | None:
        """Plan tasks that were promised before, into an empty queue."""
        ordered = self._ordered(tasks, now)
        if isinstance(ordered, Rejection):
            return ordered
        plan = self._plan_tasks(self.committed_state.copy(), ordered, now, 0, [])
        if isinstance(plan, Rejection):
            return plan
        self.waiting = plan
        return None

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before an instant has been sent."""
        self._commit(self._started_count(now))

    def _ordered(self, tasks: list[QueuedTask], now: Number) -> list[QueuedTask] | Rejection:
        tasks = sorted(tasks)
        if not self._dynamic_order:
            return tasks
        return mwf_order(cast(OprEprPlanner, self.task_planner), tasks, now)

    def _unchanged_prefix(self, ordered: list[QueuedTask], begun: int) -> int:
        """Return the length of the common prefix of an order and the queue that has not begun."""
        same = 0
        for task, planned in zip(ordered, islice(self.waiting, begun, None), strict=False):
            if task is not planned.task:
                break
            same += 1
        return same

    def _positions(self, new: QueuedTask) -> Iterator[PositionInOrder]:
        """Yield the positions that a new task may have in the order, by its deadline."""
        now, channel = new.arrival, self.algorithm.channel
        begun, size = self._started_count(now), len(self.waiting)

        def place(nodes: ReadyTimes, low: Number, high: Number | None) -> PositionInOrder:
            return PositionInOrder(
                nodes, max(now, nodes.channel) if channel else now, max(low, now), high
            )

        if self.algorithm.order == "fifo":
            yield place(self._nodes_before(size), now, None)
        elif not self._dynamic_order:
            dates = [planned.task.deadline for planned in self.waiting[begun:]]
            for before, (low, high) in enumerate(zip((now, *dates), (*dates, None), strict=True)):
                yield place(self._nodes_before(begun + before), low, high)
        else:
            yield from self._mwf_positions(new, begun, place)

    def _mwf_positions(
        self,
        new: QueuedTask,
        begun: int,
        place: Callable[[ReadyTimes, Number, Number | None], PositionInOrder],
    ) -> Iterator[PositionInOrder]:
        """Yield the positions that a new task may have under MWF."""
        task_planner = cast(OprEprPlanner, self.task_planner)
        tasks = mwf_order(
            task_planner, [planned.task for planned in self.waiting[begun:]], new.arrival
        )
        assert not isinstance(tasks, Rejection)  # each is planned
        for before, low, high in mwf_positions(task_planner, new, tasks):
            nodes = self._nodes_before(begun)
            plan = plan_in_order(
                task_planner, nodes, tasks[:before], new.arrival, self.algorithm.channel
            )
            if not isinstance(plan, Rejection):
                yield place(nodes, low, high)

    def _nodes_before(self, at: int) -> ReadyTimes:
        """Return the ready times after the first `at` tasks of the queue."""
        later = bisect_right(self.checkpoints, at + self._left_count, key=_checkpoint_position)
        first, nodes = 0, self.committed_state
        if later:
            position, nodes = self.checkpoints[later - 1]
            first = position - self._left_count
        nodes = nodes.copy()
        for planned in self.waiting[first:at]:
            nodes.allocate(planned.placement)
        return nodes

    def _plan_tasks(
        self,
        nodes: ReadyTimes,
        tasks: list[QueuedTask],
        now: Number,
        count: int,
        checkpoints: list[Checkpoint],
    ) -> list[PlannedTask] | Rejection:
        """Plan tasks, the first of which has `count` before it, and add checkpoints."""
        channel, planner = self.algorithm.channel, self.task_planner
        if self.algorithm.order == "mcdf":
            return plan_mcdf(cast(OprEprPlanner, planner), nodes, tasks, now, channel)

        def mark(state: ReadyTimes) -> None:
            nonlocal count
            if count % CHECKPOINT_INTERVAL == 0:
                checkpoints.append((count, state.copy()))
            count += 1

        return plan_in_order(planner, nodes, tasks, now, channel, mark)

    def _commit(self, count: int) -> None:
        if count:
            for planned in self.waiting[:count]:
                self.committed_state.allocate(planned.placement)
            self.sent += self.waiting[:count]
            del self.waiting[:count]
            self._left_count += count
            self.checkpoints = [each for each in self.checkpoints if each[0] > self._left_count]


def _key(planned: PlannedTask) -> tuple[Number, int]:
    return planned.task.key


def _checkpoint_position(mark: Checkpoint) -> int:
    return mark[0]
