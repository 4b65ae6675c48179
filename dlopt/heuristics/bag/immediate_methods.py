"""The mapping rules that take tasks one by one, as registered methods.

What ``tardy`` and ``sites`` mean: see :func:`dlopt.heuristics.bag.results.mapped`.
"""

from __future__ import annotations

from collections.abc import Callable

from dlopt.errors import NotApplicableError
from dlopt.heuristics.bag import immediate_mode
from dlopt.heuristics.bag.instance_arrays import Board, Case
from dlopt.heuristics.bag.results import mapped
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
    """Minimum completion time: as tasks arrive, each where it ends first.

    With all tasks known at the start: "fast greedy".

    Notes
    -----
    Complexity: O(n m). Source: Chen 2001, section 2.3.1.

    Examples
    --------
    >>> mct(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    fill = _one_by_one(immediate_mode.by_release, immediate_mode.completion)
    return mapped(instance, objective, tardy, sites, fill)


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
    """Minimum execution time: as tasks arrive, each where it takes least.

    With all tasks known at the start: "user-directed assignment" (UDA).

    Notes
    -----
    Complexity: O(n m). Where one machine is the fastest for all, it gets everything. Source:
    Chen 2001, section 2.3.1.

    Examples
    --------
    >>> met(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    9
    """
    fill = _one_by_one(immediate_mode.by_release, immediate_mode.execution)
    return mapped(instance, objective, tardy, sites, fill)


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
    """Opportunistic load balancing: as tasks arrive, each on the machine that is free next.

    The static rule of that name is the same where all tasks are known at the start.

    Notes
    -----
    Complexity: O(n m). Source: Chen 2001, section 2.3.1.

    Examples
    --------
    >>> olb(Instance(etc=((4, 2), (3, 2), (9, 5)))).value
    7
    """
    fill = _one_by_one(immediate_mode.by_release, immediate_mode.next_free)
    return mapped(instance, objective, tardy, sites, fill)


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
    """K-percent best: as tasks arrive, each where it ends first among its fastest machines.

    Parameters
    ----------
    k : int, default 20
        How many percent of the machines, from 1 to 100; one machine at the least, which is
        ``met``. 100 is ``mct``.

    Raises
    ------
    NotApplicableError
        If `k` is none of that.

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
    fill = _one_by_one(immediate_mode.by_release, immediate_mode.best_of(k))
    return mapped(instance, objective, tardy, sites, fill)


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
    """Switching algorithm: ``mct`` until loads are even, then ``met`` until they are not.

    Parameters
    ----------
    low, high : int, default 60 and 90
        Percent. Loads are even from when the machine that is free first is so for `high` percent
        of the last one's time, until that share is down to `low` percent.

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
    fill = _one_by_one(immediate_mode.by_release, immediate_mode.switching(low, high))
    return mapped(instance, objective, tardy, sites, fill)


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
    """Earliest deadline first: each task in turn where it ends first.

    Notes
    -----
    Complexity: O(n (m + log n)). Tasks are appended: one that arrives late leaves a gap before
    it. Those without a deadline come last. Source: Liu, Baskiyar and Li 2007, section 6.1, which
    does not say how tasks are placed.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = tuple(Task(name, 2, absolute_deadline=6) for name in "abcd")
    >>> found = edf(Instance(tasks, (Machine("m"),)), objective="accepted", tardy="run")
    >>> found.value, found.reason
    (3, 'late: 1 task, first d')
    """
    fill = _one_by_one(immediate_mode.by_deadline, immediate_mode.completion)
    return mapped(instance, objective, tardy, sites, fill)


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
    """Critical tasks first, then firm, then soft ones, each class as in :func:`edf`.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> tasks = (Task("a", 2, absolute_deadline=2), Task("b", 3, 0, 0, 0, 0, "critical", 3))
    >>> priority_edf(Instance(tasks, (Machine("m"),))).value
    (1, 1)
    """
    fill = _one_by_one(immediate_mode.by_priority, immediate_mode.completion)
    return mapped(instance, objective, tardy, sites, fill)


def _one_by_one(
    order: Callable[[Case], list[int]], rule: immediate_mode.Rule
) -> Callable[[Board], object]:
    return lambda board: immediate_mode.assigned(board, order(board.case), rule)
