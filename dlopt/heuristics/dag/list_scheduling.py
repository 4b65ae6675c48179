"""List scheduling: one task after another, by a static or a dynamic priority."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.partial_schedule import PartialSchedule


class ReadyTasks:
    """Counts of unscheduled predecessors: a task is ready when all of them are scheduled."""

    def __init__(self, arrays: InstanceArrays) -> None:
        self._arrays = arrays
        self._unscheduled = [len(predecessors) for predecessors in arrays.predecessors]

    def entry_tasks(self) -> list[int]:
        """Return the tasks without predecessor."""
        return [task for task, count in enumerate(self._unscheduled) if count == 0]

    def schedule(self, task: int) -> list[int]:
        """Mark a task as scheduled; return the tasks that become ready."""
        ready = []
        for target, _ in self._arrays.successors[task]:
            self._unscheduled[target] -= 1
            if self._unscheduled[target] == 0:
                ready.append(target)
        return ready


def schedule_by_priority(
    partial: PartialSchedule,
    keys: Sequence[Any],
    place: Callable[[int], None],
    within: range | None = None,
) -> None:
    """Place every task, always the ready one of the least key; of equal keys the first.

    Parameters
    ----------
    partial : PartialSchedule
    keys : sequence, shape (tasks,)
        Numbers, or tuples of them.
    place : callable
        Places a task.
    within : range, optional
        The tasks of some graphs, if not all are to be placed.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=1) for k in range(3)), (Edge(2, 0),))
    >>> arrays = InstanceArrays.from_instance(Instance((Machine("m"),), (graph,)))
    >>> sequence = []
    >>> schedule_by_priority(PartialSchedule(arrays), (0, 1, 2), sequence.append)
    >>> sequence
    [1, 2, 0]
    """
    ready = ReadyTasks(partial.arrays)
    first = ready.entry_tasks()
    heap = [(keys[task], task) for task in first if within is None or task in within]
    heapq.heapify(heap)
    while heap:
        _, task = heapq.heappop(heap)
        place(task)
        for target in ready.schedule(task):
            heapq.heappush(heap, (keys[target], target))


def schedule_best_pair_first(
    partial: PartialSchedule, score: Callable[[int, Sequence[Any]], tuple[Any, int, Any]]
) -> None:
    """Place every task, always the pair of ready task and machine whose score is least now.

    Parameters
    ----------
    partial : PartialSchedule
    score : callable
        Of a task and of its ready times on all machines; returns its least score, and the machine
        and start that belong to it. As machines fill, it never falls: only what comes out of the
        heap needs to be scored again.

    Notes
    -----
    Of equal scores the first task is taken. Complexity: O(tasks x machines) for tasks that become
    ready, and as often again as a score is outdated; at worst O(tasks^2 x machines).
    """
    ready = ReadyTasks(partial.arrays)
    ready_times: dict[int, list[Any]] = {}
    heap: list[tuple[Any, int, int, Any]] = []

    def add(tasks: Iterable[int]) -> None:
        for task in tasks:
            ready_times[task] = partial.ready_times(task)
            value, machine, start = score(task, ready_times[task])
            heapq.heappush(heap, (value, task, machine, start))

    add(ready.entry_tasks())
    while heap:
        old, task, machine, start = heapq.heappop(heap)
        value, machine, start = score(task, ready_times[task])
        if value != old:
            heapq.heappush(heap, (value, task, machine, start))
            continue
        partial.place(task, machine, start)
        del ready_times[task]
        add(ready.schedule(task))
