"""The mapping rules that look at all tasks that are left, as registered methods.

All tasks are one meta-task, known from the start; one that is not there yet is waited for. What
``tardy`` and ``sites`` mean: see :func:`dlopt.heuristics.bag.results.mapped`.
"""

from __future__ import annotations

from collections.abc import Callable

from dlopt.heuristics.bag import batch_mode
from dlopt.heuristics.bag.instance_arrays import Board
from dlopt.heuristics.bag.results import mapped
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import OBJECTIVES, default_objective
from dlopt.result import NO_LIMITS, Limits, Result


def _step_by_step(choice: batch_mode.Choice) -> Callable[[Board], object]:
    return lambda board: board.place_all(batch_mode.ordered(board.case, choice, late=board.late))


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
    """Of all tasks that are left, the one that ends first, where it does; again and again.

    Notes
    -----
    Complexity: see :func:`dlopt.heuristics.bag.batch_mode.ordered`.
    Source: Chen 2001, section 2.3.1; Braun et al. 2001.

    Examples
    --------
    >>> min_min(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return mapped(instance, objective, tardy, sites, _step_by_step("min-min"))


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
    """Of all tasks that are left, the one whose first end is last, there; again and again.

    See :func:`min_min`.

    Examples
    --------
    >>> max_min(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return mapped(instance, objective, tardy, sites, _step_by_step("max-min"))


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
    """Of all tasks that are left, the one that suffers most on its second best machine.

    One that can run on a single machine suffers most. See :func:`min_min`.

    Examples
    --------
    >>> sufferage(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    return mapped(instance, objective, tardy, sites, _step_by_step("sufferage"))


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
    """Duplex: the better plan of :func:`min_min` and :func:`max_min`; of equals the former.

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
