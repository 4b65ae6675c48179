"""Batch-mode mapping heuristics, which consider all tasks that are left, as registered methods.

All tasks are one meta-task, known from the start; a task that has not arrived yet is waited for.
Complexity: see `dlopt.heuristics.bag.batch_mode.map_batch`. Source: Chen 2001, section 2.3.1;
Braun et al. 2001.

Examples
--------
>>> instance = Instance(etc=((4, 2), (3, 2), (9, 5)))
>>> [method(instance).value for method in (min_min, max_min, sufferage)]
[7, 7, 7]
"""

from __future__ import annotations

from dlopt.heuristics.bag import batch_mode
from dlopt.heuristics.bag.mapping_method import MappingMethod, PlaceTasks
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import OBJECTIVES, default_objective
from dlopt.result import Result


def _in_batch(rule: batch_mode.BatchRule) -> PlaceTasks:
    return lambda partial: partial.place_all(
        batch_mode.map_batch(partial.arrays, rule, run_late=partial.run_late)
    )


min_min = MappingMethod(_in_batch("min-min"))
"""Place, in each step, the task whose earliest completion time is least, on that machine."""

max_min = MappingMethod(_in_batch("max-min"))
"""Place, in each step, the task whose earliest completion time is greatest, on that machine."""

sufferage = MappingMethod(_in_batch("sufferage"))
"""Place, in each step, the task that would lose most on its second best machine.

A task that can run on a single machine would lose most.
"""


def duplex(
    instance: Instance, *, objective: str | None = None, tardy: str = "reject", sites: str = "all"
) -> Result[Solution]:
    """Duplex: the better schedule of `min_min` and `max_min`; of equals the former.

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
