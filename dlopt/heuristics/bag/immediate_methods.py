"""Immediate-mode mapping heuristics, which map tasks one by one, as registered methods.

For ``tardy`` and ``sites`` see :func:`dlopt.heuristics.bag.results.run_mapping`, for the other
parameters `dlopt.registry`.
"""

from __future__ import annotations

from collections.abc import Callable

from dlopt.errors import NotApplicableError
from dlopt.heuristics.bag import immediate_mode
from dlopt.heuristics.bag.instance_arrays import InstanceArrays, PartialSchedule
from dlopt.heuristics.bag.results import run_mapping
from dlopt.problems.bag.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result


def mct(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Minimum completion time: map tasks as they arrive, each where it ends first.

    With all tasks known at the start: "fast greedy".

    Notes
    -----
    Complexity: O(n m). Source: Chen 2001, section 2.3.1.

    Examples
    --------
    >>> mct(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_release, immediate_mode.minimum_completion_time
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def met(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Minimum execution time: map tasks as they arrive, each where it takes least.

    With all tasks known at the start: "user-directed assignment" (UDA).

    Notes
    -----
    Complexity: O(n m). A machine that is the fastest for all tasks gets all of them. Source:
    Chen 2001, section 2.3.1.

    Examples
    --------
    >>> met(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    9
    """
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_release, immediate_mode.minimum_execution_time
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def olb(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Opportunistic load balancing: map tasks as they arrive, to the machine that is free next.

    The static rule of that name is the same where all tasks are known at the start.

    Notes
    -----
    Complexity: O(n m). Source: Chen 2001, section 2.3.1.

    Examples
    --------
    >>> olb(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_release, immediate_mode.opportunistic_load_balancing
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def kpb(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
    k: int = 20,
) -> Result[Solution]:
    """K-percent best: map tasks as they arrive, where they end first among their fastest machines.

    Parameters
    ----------
    instance, objective, limits, hint, seed, tardy, sites
        See the module.
    k : int, default 20
        Percentage of the machines, from 1 to 100; one machine at least, which is ``met``. 100 is
        ``mct``.

    Raises
    ------
    NotApplicableError
        If `k` is not such a percentage.

    Notes
    -----
    Complexity: O(n m log m). Source: Chen 2001, section 2.3.1.

    Examples
    --------
    >>> kpb(Instance(etc=((4, 2, 3), (5, 1, 2), (1, 2, 3))), k=67).value
    2
    """
    if not 1 <= k <= 100:
        raise NotApplicableError(f"k must be a percentage from 1 to 100, got {k}")
    place_tasks = _map_one_by_one(immediate_mode.order_by_release, immediate_mode.k_percent_best(k))
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def switching(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
    low: int = 60,
    high: int = 90,
) -> Result[Solution]:
    """Switching algorithm: ``mct`` until loads are balanced, then ``met`` until they are not.

    Parameters
    ----------
    instance, objective, limits, hint, seed, tardy, sites
        See the module.
    low, high : int, default 60 and 90
        Percent of the load balance, which is the least ready time of a machine as a share of the
        greatest: loads are balanced from `high` percent on, until the balance is down to `low`.

    Raises
    ------
    NotApplicableError
        Unless ``0 <= low < high <= 100``.

    Notes
    -----
    Complexity: O(n m). Source: Chen 2001, section 2.3.1, which leaves the thresholds open.

    Examples
    --------
    >>> switching(Instance(etc=((4, 2), (3, 4), (2, 5)))).value
    5
    """
    if not 0 <= low < high <= 100:
        text = f"low and high must be percentages in ascending order, got {low} and {high}"
        raise NotApplicableError(text)
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_release, immediate_mode.switching_algorithm(low, high)
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def edf(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Earliest deadline first: map tasks by deadline, each where it ends first.

    Notes
    -----
    Complexity: O(n (m + log n)). Tasks are appended: one that arrives late leaves a gap before
    it. Those without a deadline come last. Source: Liu, Baskiyar and Li 2007, section 6.1, which
    does not say how tasks are placed.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=6) for name in "abcd")
    >>> result = edf(Instance(tasks, (Machine("m"),)), objective="accepted", tardy="run")
    >>> result.value, result.reason
    (3, 'late: 1 task, first d')
    """
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_deadline, immediate_mode.minimum_completion_time
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def priority_edf(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    tardy: str = "reject",
    sites: str = "all",
) -> Result[Solution]:
    """Map critical tasks first, then firm, then soft ones, each class as in :func:`edf`.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = (Task("a", 2, absolute_deadline=2), Task("b", 3, 0, 0, 0, 0, "critical", 3))
    >>> priority_edf(Instance(tasks, (Machine("m"),))).value
    (1, 1)
    """
    place_tasks = _map_one_by_one(
        immediate_mode.order_by_priority, immediate_mode.minimum_completion_time
    )
    return run_mapping(instance, objective, tardy, sites, place_tasks)


def _map_one_by_one(
    order: Callable[[InstanceArrays], list[int]], rule: immediate_mode.MappingRule
) -> Callable[[PartialSchedule], object]:
    return lambda partial: immediate_mode.map_in_order(partial, order(partial.arrays), rule)
