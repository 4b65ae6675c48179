"""From placements to chunks: the node, load and times of every part of a task."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.records import PlannedTask
from dlopt.problems.admission.data import Chunk

NodeFree: TypeAlias = tuple[Number, int]
"""When a node is free, and its number."""

ChunkNumbers: TypeAlias = tuple[int, Number, Number, Number, Number, Number]
"""Node, load, start and end of the transmission, start and end of the computation."""


def chunks(
    task_planner: TaskPlanner,
    costs: tuple[Number, ...],
    free: list[NodeFree],
    plan: Iterable[PlannedTask],
) -> tuple[Chunk, ...]:
    """Return the chunks of placements, in the order of transmission.

    Complexity: O(c log N) for `c` chunks on `N` nodes.

    Parameters
    ----------
    task_planner : TaskPlanner
        The planner that made the placements.
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``.
    free : list of NodeFree
        See `free_nodes`; updated to after the last placement.
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
    >>> found = chunks(planner, costs, free_nodes([zero, zero]), plan)
    >>> [(chunk.node, str(chunk.load)) for chunk in found]
    [(0, '2/3'), (1, '1/3')]
    """
    parts = chunk_parts(task_planner, costs, free, plan)
    return tuple(Chunk(planned.task.id, *numbers) for planned, numbers in parts)


def chunk_parts(
    task_planner: TaskPlanner,
    costs: tuple[Number, ...],
    free: list[NodeFree],
    plan: Iterable[PlannedTask],
) -> Iterator[tuple[PlannedTask, ChunkNumbers]]:
    """Yield the chunks of placements as numbers, with the placed task that they belong to."""
    tau, chi, theta_cm, theta_cp = costs
    for planned in plan:
        task, placement = planned
        assigned = [heapq.heappop(free) for _ in range(placement.nodes)]
        starts = [max(instant, placement.not_before) for instant, _ in assigned]
        sent = placement.start
        shares = task_planner.loads(task.load, starts, placement)
        for (_, node), start, share in zip(assigned, starts, shares, strict=True):
            start = max(start, sent)
            sent = start + theta_cm + share * tau
            end = sent + theta_cp + share * chi
            yield planned, (node, share, start, sent, sent, end)
        for _, node in assigned:
            heapq.heappush(free, (placement.end, node))


def free_nodes(ready: Iterable[Number]) -> list[NodeFree]:
    """Return a heap of when each node is free, the first one first.

    Examples
    --------
    >>> free_nodes([3, 1])
    [(1, 1), (3, 0)]
    """
    free = [(instant, node) for node, instant in enumerate(ready)]
    heapq.heapify(free)
    return free


def free_times(free: Iterable[NodeFree]) -> list[Number]:
    """Return when each node is free, by the number of the node."""
    return [instant for instant, _ in sorted(free, key=_node)]


def free_after(free: Sequence[NodeFree], plan: Iterable[PlannedTask]) -> list[Number]:
    """Return when each node is free again after placements, as `chunks` gives them nodes."""
    heap = list(free)
    for _, placement in plan:
        assigned = [heapq.heappop(heap)[1] for _ in range(placement.nodes)]
        for node in assigned:
            heapq.heappush(heap, (placement.end, node))
    return free_times(heap)


def _node(pair: NodeFree) -> int:
    return pair[1]
