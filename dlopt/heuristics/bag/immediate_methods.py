"""Immediate-mode mapping heuristics, which map tasks one by one, as registered methods.

Examples
--------
>>> instance = Instance(etc=((4, 2), (3, 2), (9, 5)))
>>> [method(instance).value for method in (mct, met, olb)]
[7, 9, 7]
>>> from dlopt.problems.bag import Machine, Task
>>> tasks = tuple(Task(name, 2, absolute_deadline=6) for name in "abcd")
>>> result = edf(Instance(tasks, (Machine("m"),)), objective="accepted", tardy="run")
>>> result.value, result.reason
(3, 'late: 1 task (d)')
"""

from __future__ import annotations

from collections.abc import Callable

from dlopt.errors import NotApplicableError
from dlopt.heuristics.bag import immediate_mode
from dlopt.heuristics.bag.instance_arrays import InstanceArrays
from dlopt.heuristics.bag.mapping_method import MappingMethod, PlaceTasks
from dlopt.problems.bag.data import Instance, Solution
from dlopt.result import Result


def _in_order(
    order: Callable[[InstanceArrays], list[int]], rule: immediate_mode.MappingRule
) -> PlaceTasks:
    return lambda partial: immediate_mode.map_in_order(partial, order(partial.arrays), rule)


mct = MappingMethod(
    _in_order(immediate_mode.order_by_release, immediate_mode.minimum_completion_time)
)
"""Minimum completion time: map tasks as they arrive, each where it ends first.

With all tasks known at the start: "fast greedy". Complexity: O(n m). Source: Chen 2001, section
2.3.1.
"""

met = MappingMethod(
    _in_order(immediate_mode.order_by_release, immediate_mode.minimum_execution_time)
)
"""Minimum execution time: map tasks as they arrive, each where it takes least.

With all tasks known at the start: "user-directed assignment" (UDA). A machine that is the fastest
for all tasks gets all of them. Complexity: O(n m). Source: Chen 2001, section 2.3.1.
"""

olb = MappingMethod(
    _in_order(immediate_mode.order_by_release, immediate_mode.opportunistic_load_balancing)
)
"""Opportunistic load balancing: map tasks as they arrive, to the machine that is free next.

The static rule of that name is the same where all tasks are known at the start. Complexity:
O(n m). Source: Chen 2001, section 2.3.1.
"""

edf = MappingMethod(
    _in_order(immediate_mode.order_by_deadline, immediate_mode.minimum_completion_time)
)
"""Earliest deadline first: map tasks by deadline, each where it ends first.

Tasks are appended: one that arrives late leaves a gap before it. Those without a deadline come
last. Complexity: O(n (m + log n)). Source: Liu, Baskiyar and Li 2007, section 6.1, which does not
say how tasks are placed.
"""

priority_edf = MappingMethod(
    _in_order(immediate_mode.order_by_priority, immediate_mode.minimum_completion_time)
)
"""Map critical tasks first, then firm, then soft ones, each class as `edf` does."""


def kpb(
    instance: Instance,
    *,
    objective: str | None = None,
    tardy: str = "reject",
    sites: str = "all",
    k: int = 20,
) -> Result[Solution]:
    """K-percent best: map tasks as they arrive, where they end first among their fastest machines.

    Parameters
    ----------
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
    rule = immediate_mode.k_percent_best(k)
    method = MappingMethod(_in_order(immediate_mode.order_by_release, rule))
    return method(instance, objective=objective, tardy=tardy, sites=sites)


def switching(
    instance: Instance,
    *,
    objective: str | None = None,
    tardy: str = "reject",
    sites: str = "all",
    low: int = 60,
    high: int = 90,
) -> Result[Solution]:
    """Switching algorithm: ``mct`` until loads are balanced, then ``met`` until they are not.

    Parameters
    ----------
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
    rule = immediate_mode.switching_algorithm(low, high)
    method = MappingMethod(_in_order(immediate_mode.order_by_release, rule))
    return method(instance, objective=objective, tardy=tardy, sites=sites)
