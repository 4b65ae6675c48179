"""Batch-mode mapping heuristics, which consider all tasks that are left, as registered methods.

All tasks are one meta-task, known from the start; a task that has not arrived yet is waited for.
For ``tardy`` and ``sites`` see :func:`dlopt.heuristics.bag.results.run_mapping`, for the other
parameters `dlopt.registry`.
"""

from __future__ import annotations

from collections.abc import Callable

from dlopt.heuristics.bag import batch_mode
from dlopt.heuristics.bag.instance_arrays import PartialSchedule
from dlopt.heuristics.bag.results import run_mapping
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import OBJECTIVES, default_objective
from dlopt.result import NO_LIMITS, Limits, Result


def _map_in_batch(rule: batch_mode.BatchRule) -> Callable[[PartialSchedule], object]:
    return lambda partial: partial.place_all(
        batch_mode.map_batch(partial.arrays, rule, run_late=partial.run_late)
    )


def min_min(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Place, in each step, the task whose earliest completion time is least, on that machine.

    Notes
    -----
    Complexity: see :func:`dlopt.heuristics.bag.batch_mode.map_batch`.
    Source: Chen 2001, section 2.3.1; Braun et al. 2001.

    Examples
    --------
    >>> min_min(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return run_mapping(instance, objective, tardy, sites, _map_in_batch("min-min"))


def max_min(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Place, in each step, the task whose earliest completion time is greatest, on that machine.

    See :func:`min_min`.

    Examples
    --------
    >>> max_min(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return run_mapping(instance, objective, tardy, sites, _map_in_batch("max-min"))


def sufferage(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Place, in each step, the task that would lose most on its second best machine.

    A task that can run on a single machine would lose most. See :func:`min_min`.

    Examples
    --------
    >>> sufferage(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return run_mapping(instance, objective, tardy, sites, _map_in_batch("sufferage"))


def duplex(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Duplex: the better schedule of :func:`min_min` and :func:`max_min`; of equals the former.

    Notes
    -----
    Source: Chen 2001, section 2.3.1, which calls it "greedy"; Braun et al. 2001, "Duplex".

    Examples
    --------
    >>> duplex(Instance(etc=((2, 4), (2, 4), (4, 4)))).value
    4
    """
    goal = OBJECTIVES[objective or default_objective(instance)]
    first, second = (
        method(instance, objective=goal.name, tardy=tardy, sites=sites)
        for method in (min_min, max_min)
    )
    if first.value is None or second.value is None:
        return first
    return second if goal.better(second.value, first.value) else first
