"""Batch mode: each step chooses the next of all tasks that are left, and its machine.

For each task, the machine on which it would end first is determined; then Min-min places the task
that ends first, Max-min the one that ends last, and Sufferage the one that would lose most on its
second best machine. Of equal tasks and machines the first is chosen.

Source: Chen 2001, section 2.3.1, after Maheswaran et al. 1999 and Braun et al. 2001. Sufferage is
that of the latter comparisons: one task a step. (The first paper places several in a pass.)

`map_batch` uses the array implementation of :mod:`dlopt.heuristics.bag.batch_mode_numpy` where that
gives the same answer; `map_by_steps` is its reference implementation for all numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from dlopt.heuristics.bag.instance_arrays import (
    InstanceArrays,
    PartialSchedule,
    eligible_machines,
)

BatchRule: TypeAlias = Literal["min-min", "max-min", "sufferage"]


def map_batch(arrays: InstanceArrays, rule: BatchRule, *, run_late: bool) -> list[tuple[int, int]]:
    """Return tasks in the order in which they are placed, each with its machine.

    Tasks that are dropped are included, where they are chosen.

    Complexity: O(n^2 log m + n m) for n tasks and m machines, in operations on arrays of all
    tasks that are left, 1 + log2 m of them a step (four times as many for sufferage).

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> arrays = InstanceArrays(Instance(etc=((4, 2), (3, 2), (9, 5))))
    >>> map_batch(arrays, "min-min", run_late=False)
    [(0, 1), (1, 0), (2, 1)]
    >>> map_batch(arrays, "max-min", run_late=False)
    [(2, 1), (0, 0), (1, 0)]
    """
    from dlopt.heuristics.bag import batch_mode_numpy

    floats = batch_mode_numpy.FloatArrays.from_arrays(arrays)
    if floats is None:
        return list(map_by_steps(arrays, rule, run_late=run_late))
    return batch_mode_numpy.map_batch(floats, rule, run_late=run_late)


def map_by_steps(
    arrays: InstanceArrays, rule: BatchRule, *, run_late: bool
) -> Iterator[tuple[int, int]]:
    """Yield what `map_batch` returns, in whatever numbers the instance has.

    Complexity: O(n^2 + n m + r m), where r is the number of tasks whose two best machines are
    computed again: those of a task are, when one of them gets a task.
    """
    partial = PartialSchedule(arrays, run_late=run_late)
    machines = {task: eligible_machines(row) for task, row in enumerate(arrays.durations)}
    left = {
        task: _two_best(partial, task, eligible) for task, eligible in machines.items() if eligible
    }
    while left:
        task = min(left, key=lambda candidate: _key(left[candidate], rule))
        (_, machine), _ = left.pop(task)
        yield task, machine
        if partial.place(task, machine):
            for other, (first, second) in left.items():
                if machine in (first[1], second and second[1]):
                    left[other] = _two_best(partial, other, machines[other])


_TwoBest: TypeAlias = tuple[tuple[Any, int], tuple[Any, int] | None]
"""The first completion time with its machine, and the second best where there is one."""


def _two_best(partial: PartialSchedule, task: int, machines: list[int]) -> _TwoBest:
    ends = sorted((partial.completion_time(task, machine), machine) for machine in machines)[:2]
    return ends[0], ends[1] if len(ends) > 1 else None


def _key(ends: _TwoBest, rule: BatchRule) -> Any:
    """Return a key that is least for the next task."""
    (first, _), second = ends
    if rule == "min-min":
        return first
    if rule == "max-min":
        return -first
    # A task that can run on one machine only would lose most.
    return (1, first - second[0]) if second is not None else (0, 0)
