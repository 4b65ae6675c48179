"""MCDF (maximum cost derivative first): sort again at each instant, let small tasks overtake.

The order at an instant is that of the derivatives of the cost at the fewest nodes that would
suffice then. A task needs more nodes only once an instant lies after ``deadline - E(load, n)``; so
it is examined again only then. A task that starts must fit on the free nodes, hence there is one
heap of tasks for each number of nodes that they need.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.dispatching_rules import lateness
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import PlannedTask, QueuedTask, Rejection

ExaminationCallback: TypeAlias = Callable[[QueuedTask, Number, int | None], None]
"""Called when a task is examined: the task, the instant, and the nodes that it needs then."""

RECHECK_MARGIN = 1e-9
"""Share of its deadline by which a task is examined again before it must be, in floats. Chosen by
hand: far more than rounding errors; an early examination changes nothing."""


def plan_mcdf(
    task_planner: OprEprPlanner,
    nodes: ReadyTimes,
    tasks: Sequence[QueuedTask],
    now: Number,
    channel: bool,
    on_examined: ExaminationCallback | None = None,
) -> list[PlannedTask] | Rejection:
    """Plan as MCDF does: sort at each instant, and start what fits; `nodes` is updated.

    As printed (`channel` false), several tasks may start at one instant; otherwise the next one
    waits for the channel, and the tasks are sorted again then. `on_examined` is called for every
    examination of a task.

    Notes
    -----
    Complexity: O(n log n + n m) for `n` tasks that need `m` different numbers of nodes, and
    O(log n) for each time that a task comes to need more nodes.

    Source: Lin et al. 2005, section 5.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> from dlopt.heuristics.admission.algorithm_names import Algorithm
    >>> tasks = [
    ...     QueuedTask((9, 0), "a", zero, 2 * one, 9 * one),
    ...     QueuedTask((5, 1), "b", zero, one, 5 * one),
    ... ]
    >>> planner = OprEprPlanner(Algorithm.parse("mcdf"), costs, 2)
    >>> plan = plan_mcdf(planner, ReadyTimes((zero, 3 * one), zero), tasks, zero, True)
    >>> [(planned.task.id, str(planned.placement.start)) for planned in plan]
    [('a', '0'), ('b', '3')]
    """
    ranking = DerivativeRanking(task_planner, tasks, on_examined)
    plan: list[PlannedTask] = []
    instant = now
    while len(plan) < len(tasks):
        not_before = max(now, nodes.channel) if channel else now
        instant = max(instant, not_before, nodes.times[0])
        refused = ranking.advance(instant)
        if refused is not None:
            return refused
        nodes.clip(instant)
        available = nodes.counts[0]
        started = False
        while not (started and channel) and (found := ranking.pop(available)) is not None:
            task, fewest = found
            placement = task_planner.placement_on(fewest, instant, task.load)
            nodes.allocate(placement)
            plan.append(PlannedTask(task, placement))
            available -= fewest
            started = True
        if not (started and channel):
            later = bisect_right(nodes.times, instant)
            if later < len(nodes.times):  # in floats, a task may end as it starts
                instant = nodes.times[later]
    return plan


class DerivativeRanking:
    """Tasks sorted by the derivative of their cost, updated while time passes.

    Parameters
    ----------
    task_planner : OprEprPlanner
    tasks : sequence of QueuedTask
    on_examined : callable, optional
        Called with a task, the instant, and how many nodes it needs then.
    """

    def __init__(
        self,
        task_planner: OprEprPlanner,
        tasks: Sequence[QueuedTask],
        on_examined: ExaminationCallback | None = None,
    ) -> None:
        self._task_planner = task_planner
        self._on_examined = on_examined
        self._tasks = tasks
        self._fewest = [0] * len(tasks)
        """Nodes that each task needs; 0 before it is examined and after it is removed."""
        self._rechecks: list[tuple[Number, int]] = []
        """A heap of the instants up to which tasks need no more nodes than now."""
        self._unexamined = True
        """Whether no task has been examined yet."""
        self._heaps: dict[int, list[tuple[Number, int, int]]] = {}
        """Tasks by the nodes they need: (-derivative, number, place in `tasks`)."""
        self._sizes: list[int] = []

    def advance(self, instant: Number) -> Rejection | None:
        """Update the order to an instant; return the first task for which it is too late then."""
        rechecks = self._rechecks
        if self._unexamined:
            self._unexamined, places = False, list(range(len(self._tasks)))
        else:
            places = []
            while rechecks and rechecks[0][0] < instant:
                place = heappop(rechecks)[1]
                if self._fewest[place]:
                    places.append(place)
            places.sort()
        for place in places:
            task = self._tasks[place]
            n = self._task_planner.fewest(task.load, task.deadline - instant)
            if self._on_examined is not None:
                self._on_examined(task, instant, n)
            if n is None:
                return Rejection(task, lateness(self._task_planner, task, instant))
            until = task.deadline - self._task_planner.work(task.load).time(n)
            if isinstance(until, float):
                until -= RECHECK_MARGIN * task.deadline
            heappush(rechecks, (until, place))
            if n != self._fewest[place]:
                self._fewest[place] = n
                self._push(n, (-self._task_planner.derivative(task.load, n), task.key[1], place))
        return None

    def pop(self, available: int) -> tuple[QueuedTask, int] | None:
        """Remove the first task that needs no more nodes than are available; return both."""
        best, size = None, 0
        for n in self._sizes[: bisect_right(self._sizes, available)]:
            top = self._top(n)
            if top is not None and (best is None or top < best):
                best, size = top, n
        if best is None:
            return None
        heappop(self._heaps[size])
        self._fewest[best[2]] = 0
        return self._tasks[best[2]], size

    def _push(self, n: int, entry: tuple[Number, int, int]) -> None:
        heap = self._heaps.get(n)
        if heap is None:
            self._heaps[n] = [entry]
            insort(self._sizes, n)
        else:
            heappush(heap, entry)

    def _top(self, n: int) -> tuple[Number, int, int] | None:
        """Return the first of those that need `n` nodes, without those that need more by now."""
        heap = self._heaps[n]
        while heap and self._fewest[heap[0][2]] != n:
            heappop(heap)
        if heap:
            return heap[0]
        del self._heaps[n]
        self._sizes.remove(n)
        return None
