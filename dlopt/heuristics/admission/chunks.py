"""From placements to chunks: the node, load and times of every part of a task."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.records import PlannedTask
from dlopt.problems.admission.data import Chunk


def chunks(
    task_planner: TaskPlanner,
    costs: tuple[Number, ...],
    ready: Sequence[Number],
    plan: Iterable[PlannedTask],
) -> tuple[Chunk, ...]:
    """Return the chunks of placements, in the order of transmission.

    Parameters
    ----------
    task_planner : TaskPlanner
        The planner that made the placements.
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``.
    ready : sequence of Number, shape (nodes,)
        When each node is ready before the first placement.
    plan : iterable of PlannedTask
        In the order in which they were placed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> from dlopt.heuristics.admission.algorithm_names import Algorithm
    >>> from dlopt.heuristics.admission.opr_epr import OprEprPlanner
    >>> from dlopt.heuristics.admission.records import Placement, QueuedTask
    >>> planner = OprEprPlanner(Algorithm.parse("edf-opr-mn"), costs, 2)
    >>> task = QueuedTask((5, 0), "a", zero, one, 5 * one)
    >>> placement = Placement(2, not_before=zero, start=zero, sent=one, end=Fraction(4, 3))
    >>> plan = [PlannedTask(task, placement)]
    >>> [(chunk.node, str(chunk.load)) for chunk in chunks(planner, costs, [zero, zero], plan)]
    [(0, '2/3'), (1, '1/3')]
    """
    tau, chi, theta_cm, theta_cp = costs
    free = [(instant, node) for node, instant in enumerate(ready)]
    heapq.heapify(free)
    result = []
    for task, placement in plan:
        assigned = [heapq.heappop(free) for _ in range(placement.nodes)]
        starts = [max(instant, placement.not_before) for instant, _ in assigned]
        sent = placement.start
        shares = task_planner.loads(task.load, starts, placement)
        for (_, node), start, share in zip(assigned, starts, shares, strict=True):
            start = max(start, sent)
            sent = start + theta_cm + share * tau
            end = sent + theta_cp + share * chi
            result.append(Chunk(task.id, node, share, start, sent, sent, end))
        for _, node in assigned:
            heapq.heappush(free, (placement.end, node))
    return tuple(result)


def free_after(ready: Sequence[Number], plan: Iterable[PlannedTask]) -> list[Number]:
    """Return when each node is free again after placements, as `chunks` gives them nodes."""
    free = [(instant, node) for node, instant in enumerate(ready)]
    heapq.heapify(free)
    for _, placement in plan:
        assigned = [heapq.heappop(free)[1] for _ in range(placement.nodes)]
        for node in assigned:
            heapq.heappush(free, (placement.end, node))
    return [instant for instant, _ in sorted(free, key=lambda pair: pair[1])]
