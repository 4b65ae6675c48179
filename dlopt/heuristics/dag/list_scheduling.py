"""List scheduling: one task after the other, by a priority that is fixed or follows the plan."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import Flat
from dlopt.heuristics.dag.partial_schedule import Board


class Waiting:
    """Which tasks have become ready: those whose predecessors are all placed."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._missing = [len(before) for before in flat.before]

    def first(self) -> list[int]:
        """Return the tasks without predecessor."""
        return [task for task, count in enumerate(self._missing) if count == 0]

    def after(self, task: int) -> list[int]:
        """Return what becomes ready as a task is placed."""
        ready = []
        for target, _ in self._flat.after[task]:
            self._missing[target] -= 1
            if self._missing[target] == 0:
                ready.append(target)
        return ready


def by_priority(
    board: Board, keys: Sequence[Any], put: Callable[[int], None], within: range | None = None
) -> None:
    """Place every task, always the ready one of the least key; of equal ones the first.

    Parameters
    ----------
    board : Board
    keys : sequence, shape (tasks,)
        Numbers, or tuples of them.
    put : callable
        Places a task.
    within : range, optional
        The tasks of some graphs, if not all are to be placed.
    """
    waiting = Waiting(board.flat)
    first = waiting.first()
    heap = [(keys[task], task) for task in first if within is None or task in within]
    heapq.heapify(heap)
    while heap:
        _, task = heapq.heappop(heap)
        put(task)
        for target in waiting.after(task):
            heapq.heappush(heap, (keys[target], target))


def by_best_pair(board: Board, score: Callable[[int, Sequence[Any]], tuple[Any, int, Any]]) -> None:
    """Place every task, always the pair of ready task and machine that scores least just now.

    Parameters
    ----------
    board : Board
    score : callable
        Of a task and of when it could start on idle machines; returns its least score, and the
        machine and start that belong to it. As machines fill, it never falls: only what comes out
        of the heap need be scored anew.

    Notes
    -----
    Of equal scores the first task is taken. Complexity: O(tasks x machines) for what becomes
    ready, and as often again as a score is outdated; at worst O(tasks^2 x machines).
    """
    waiting = Waiting(board.flat)
    rows: dict[int, list[Any]] = {}
    heap: list[tuple[Any, int, int, Any]] = []

    def enter(tasks: Iterable[int]) -> None:
        for task in tasks:
            rows[task] = board.ready(task)
            found, machine, start = score(task, rows[task])
            heapq.heappush(heap, (found, task, machine, start))

    enter(waiting.first())
    while heap:
        old, task, machine, start = heapq.heappop(heap)
        now, machine, start = score(task, rows[task])
        if now != old:
            heapq.heappush(heap, (now, task, machine, start))
            continue
        board.place(task, machine, start)
        del rows[task]
        enter(waiting.after(task))
