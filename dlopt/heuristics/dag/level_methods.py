"""List scheduling by levels: static priorities, and ones that follow the partial schedule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dlopt.heuristics.dag.heft_family import place_at_earliest_finish, place_at_earliest_start
from dlopt.heuristics.dag.instance_arrays import InstanceArrays
from dlopt.heuristics.dag.levels import MeanCosts, b_levels, t_levels
from dlopt.heuristics.dag.list_scheduling import schedule_best_pair_first, schedule_by_priority
from dlopt.heuristics.dag.methods import run_scheduler
from dlopt.heuristics.dag.partial_schedule import PartialSchedule
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Result

MachineRule: TypeAlias = Literal["eft", "est"]
Scheduler: TypeAlias = Callable[[PartialSchedule, MachineRule], None]


@dataclass(frozen=True, slots=True)
class ListMethod:
    """A list scheduler as a registered method.

    Parameters
    ----------
    scheduler : callable
        Fills a partial schedule by a rule for machines.
    """

    scheduler: Scheduler

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        insertion: bool = False,
        machine_rule: MachineRule = "eft",
    ) -> Result[Solution]:
        """Return a schedule; of equal priorities the first task is taken.

        Parameters
        ----------
        instance, objective
            See `dlopt.registry`.
        insertion : bool, default False
            Whether a task may be inserted between two that are placed already.
        machine_rule : {"eft", "est"}, default "eft"
            Whether a task is placed where it ends first, or where it starts first.
        """
        return run_scheduler(
            instance, objective, insertion, lambda partial: self.scheduler(partial, machine_rule)
        )


def _static_method(keys: Callable[[InstanceArrays], Sequence[Any]]) -> ListMethod:
    """Return the method that always places the ready task of the least key."""

    def scheduler(partial: PartialSchedule, machine_rule: MachineRule) -> None:
        place = place_at_earliest_finish if machine_rule == "eft" else place_at_earliest_start
        schedule_by_priority(partial, keys(partial.arrays), lambda task: place(partial, task))

    return ListMethod(scheduler)


def _t_level_keys(arrays: InstanceArrays) -> list[Any]:
    return t_levels(arrays, MeanCosts.from_arrays(arrays))


def _b_level_keys(arrays: InstanceArrays) -> list[Any]:
    return [-level for level in b_levels(arrays, MeanCosts.from_arrays(arrays))]


def _static_b_level_keys(arrays: InstanceArrays) -> list[Any]:
    return [-level for level in b_levels(arrays, MeanCosts.from_arrays(arrays), static=True)]


def _p_level_keys(arrays: InstanceArrays) -> list[Any]:
    return [-cost for cost in MeanCosts.from_arrays(arrays).task_costs]


def _b_minus_t_keys(arrays: InstanceArrays) -> list[Any]:
    mean_costs = MeanCosts.from_arrays(arrays)
    return [
        t - b
        for t, b in zip(t_levels(arrays, mean_costs), b_levels(arrays, mean_costs), strict=True)
    ]


def _slack_keys(arrays: InstanceArrays) -> list[Any]:
    """Return deadline less static b-level; tasks without a deadline come last, by that level."""
    mean_costs = MeanCosts.from_arrays(arrays)
    factor = arrays.scale * mean_costs.scale
    deadlines = [graph.absolute_deadline for graph in arrays.instance.graphs]
    keys: list[tuple[int, Any]] = []
    for graph, level in zip(
        arrays.graph_of, b_levels(arrays, mean_costs, static=True), strict=True
    ):
        deadline = deadlines[graph]
        keys.append((1, -level) if deadline is None else (0, deadline * factor - level))
    return keys


def _schedule_earliest_pair(partial: PartialSchedule, machine_rule: MachineRule) -> None:
    """Place the pair that ends (or starts) first; of equal pairs that of the largest b-level."""
    level = b_levels(partial.arrays, MeanCosts.from_arrays(partial.arrays), static=True)
    find = partial.earliest_finish if machine_rule == "eft" else partial.earliest_start

    def score(task: int, ready: Sequence[Any]) -> tuple[Any, int, Any]:
        machine, start, end = find(task, ready)
        return (end if machine_rule == "eft" else start, -level[task]), machine, start

    schedule_best_pair_first(partial, score)


def _schedule_highest_dynamic_level(partial: PartialSchedule, machine_rule: MachineRule) -> None:
    """Place the pair of the largest dynamic level: b-level less start, as in DLS.

    By ends, the task's mean cost less its cost on the machine is added.
    """
    mean_costs = MeanCosts.from_arrays(partial.arrays)
    level, scale = b_levels(partial.arrays, mean_costs), mean_costs.scale

    def score(task: int, ready: Sequence[Any]) -> tuple[Any, int, Any]:
        if machine_rule == "eft":
            machine, start, end = partial.earliest_finish(task, ready)
            return end * scale - mean_costs.task_costs[task] - level[task], machine, start
        machine, start, _ = partial.earliest_start(task, ready)
        return start * scale - level[task], machine, start

    schedule_best_pair_first(partial, score)


t_level = _static_method(_t_level_keys)
"""The least t-level first: tasks that can start early. Source: Chen 2001, section 2.3.2."""

b_level = _static_method(_b_level_keys)
"""The largest b-level first: the longest path to the end. Source: Chen 2001, section 2.3.2."""

static_b_level = _static_method(_static_b_level_keys)
"""The largest b-level without transfers first. Source: Chen 2001, section 2.3.2."""

p_level = _static_method(_p_level_keys)
"""The ready task of the largest mean cost first. Source: Chen 2001, section 2.3.2."""

b_minus_t = _static_method(_b_minus_t_keys)
"""The largest difference of b-level and t-level first. Source: Chen 2001, section 2.3.2."""

deadline_list = _static_method(_slack_keys)
"""The least deadline less static b-level first, over all graphs; tasks without a deadline last.

Source: Chen 2001, section 3.3.
"""

dynamic_t_level = ListMethod(_schedule_earliest_pair)
"""In each step the pair of ready task and machine that ends (or starts) first.

Source: Chen 2001, section 2.3.2; by starts it is ETF of Hwang, Chow, Anger and Lee 1989.
"""

dynamic_b_minus_t = ListMethod(_schedule_highest_dynamic_level)
"""In each step the pair of the largest b-level less start.

The t-level of a ready task is its earliest start in the partial schedule; b-levels of tasks that
are not placed do not change. By ends, the mean cost less the cost on the machine is added, as in
DLS of Sih and Lee 1993. Source: Chen 2001, section 2.3.2.
"""
