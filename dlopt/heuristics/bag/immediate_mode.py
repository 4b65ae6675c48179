"""Immediate mode: tasks one by one, in an order, each mapped to a machine by a rule.

Source: Chen 2001, section 2.3.1, after Maheswaran et al. 1999; Braun et al. 2001 call the same
rules fast greedy (MCT), UDA (MET) and OLB where all tasks are known at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dlopt.heuristics.bag.instance_arrays import (
    InstanceArrays,
    PartialSchedule,
    eligible_machines,
)
from dlopt.problems.bag.data import PRIORITIES

MappingRule: TypeAlias = Callable[[PartialSchedule, int, Sequence[int]], int]
"""Of the partial schedule, a task and its eligible machines, returns one of these."""


def map_in_order(partial: PartialSchedule, order: Sequence[int], rule: MappingRule) -> None:
    """Append tasks in an order, each to the machine that a rule chooses.

    Complexity: O(n m) for n tasks, m machines and a rule that is linear.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> arrays = InstanceArrays(Instance(etc=((4, 2), (3, 2))))
    >>> partial = PartialSchedule(arrays, run_late=False)
    >>> map_in_order(partial, (0, 1), minimum_completion_time)
    >>> [placement.machine for placement in partial.to_solution().placements]
    [1, 0]
    """
    for task in order:
        machines = eligible_machines(partial.arrays.durations[task])
        if machines:
            partial.place(task, rule(partial, task, machines))


def minimum_completion_time(partial: PartialSchedule, task: int, machines: Sequence[int]) -> int:
    """Return the machine on which the task ends first (MCT)."""
    return partial.earliest_machine(task, machines)


def minimum_execution_time(partial: PartialSchedule, task: int, machines: Sequence[int]) -> int:
    """Return the machine on which the task takes least, whatever its queue (MET)."""
    durations = partial.arrays.durations[task]
    return min(machines, key=lambda machine: durations[machine])


def opportunistic_load_balancing(
    partial: PartialSchedule, task: int, machines: Sequence[int]
) -> int:
    """Return the machine that is free next, whatever the task takes there (OLB)."""
    return min(machines, key=lambda machine: partial.free[machine])


def k_percent_best(percent: int) -> MappingRule:
    """Return the rule of the first end among the fastest machines only (KPB).

    Parameters
    ----------
    percent : int
        The subset has so many percent of all machines, rounded down, but one at least.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> arrays = InstanceArrays(Instance(etc=((4, 2, 3), (5, 1, 2))))
    >>> partial = PartialSchedule(arrays, run_late=False)
    >>> partial.place(0, 1)
    True
    >>> k_percent_best(67)(partial, 1, (0, 1, 2)), k_percent_best(34)(partial, 1, (0, 1, 2))
    (2, 1)
    """

    def rule(partial: PartialSchedule, task: int, machines: Sequence[int]) -> int:
        durations = partial.arrays.durations[task]
        count = max(1, len(durations) * percent // 100)
        fastest = sorted(machines, key=lambda machine: durations[machine])[:count]
        return partial.earliest_machine(task, sorted(fastest))

    return rule


def switching_algorithm(low: int, high: int) -> MappingRule:
    """Return the rule that switches between MCT and MET by the load balance (SA).

    The balance is the least ready time of a machine, as a share of the greatest. The rule begins
    with MCT; once the balance is at least `high` percent it switches to MET, and once it is down to
    `low` percent, back. Where no machine is busy yet, the balance is 0. Times count from the first
    instant at which a task is known and a machine is ready.

    Parameters
    ----------
    low, high : int
        Percent, ``0 <= low < high``.
    """
    balanced = False

    def rule(partial: PartialSchedule, task: int, machines: Sequence[int]) -> int:
        nonlocal balanced
        least, greatest = 100 * min(partial.free), max(partial.free)
        if greatest > 0:
            balanced = least > low * greatest if balanced else least >= high * greatest
        choose = minimum_execution_time if balanced else minimum_completion_time
        return choose(partial, task, machines)

    return rule


def order_by_release(arrays: InstanceArrays) -> list[int]:
    """Return the tasks as they arrive, of equal releases the first."""
    tasks = arrays.instance.all_tasks
    return sorted(range(len(tasks)), key=lambda task: tasks[task].release)


def order_by_deadline(arrays: InstanceArrays) -> list[int]:
    """Return the tasks by deadline; those without one come last."""
    return sorted(
        range(len(arrays.task_ids)), key=lambda task: deadline_key(arrays.deadlines[task])
    )


def order_by_priority(arrays: InstanceArrays) -> list[int]:
    """Return the tasks by priority, then by deadline."""
    tasks = arrays.instance.all_tasks
    return sorted(
        order_by_deadline(arrays), key=lambda task: PRIORITIES.index(tasks[task].priority)
    )


def deadline_key(deadline: Any) -> tuple[bool, Any]:
    """Return a key that sorts deadlines, with none last."""
    return deadline is None, 0 if deadline is None else deadline
