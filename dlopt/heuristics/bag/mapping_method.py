"""Schedules of mapping rules as results, with the tasks that are dropped or late."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from dlopt.heuristics.bag.instance_arrays import InstanceArrays, PartialSchedule
from dlopt.problems.bag.claimed_values import claimed_value
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.dropped import dropped_tasks
from dlopt.problems.bag.goals import default_objective
from dlopt.problems.named_tasks import named_tasks
from dlopt.result import PlanClass, Result, Status

PLAN_CLASS: PlanClass = "any"


PlaceTasks: TypeAlias = Callable[[PartialSchedule], object]
"""Places tasks on a partial schedule."""


@dataclass(frozen=True, slots=True)
class MappingMethod:
    """A mapping rule as a registered method.

    Parameters
    ----------
    place_tasks : callable
        The rule: it places tasks on a partial schedule.
    """

    place_tasks: PlaceTasks

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        tardy: str = "reject",
        sites: str = "all",
    ) -> Result[Solution]:
        """Return the schedule of the rule.

        Parameters
        ----------
        instance, objective
            See `dlopt.registry`.
        tardy : {"reject", "run"}
            Whether a task that would miss its deadline where the rule maps it is dropped, and takes
            no time, or is run late. A task without a deadline is run in either case.
        sites : {"all", "home"}
            Whether a task may run at all sites, after its input has come, or at its own only.

        Returns
        -------
        Result
            ``FEASIBLE``; ``UNKNOWN`` if a task that must be run cannot run at home, and may not
            leave.
        """
        arrays = InstanceArrays(instance, home_only=sites == "home")
        infeasible_task = arrays.task_without_machine()
        if infeasible_task is not None:
            goal = objective or default_objective(instance)
            reason = f"task {infeasible_task} must be run, and no machine at its site can"
            return Result(Status.UNKNOWN, objective=goal, plan_class=PLAN_CLASS, reason=reason)
        partial = PartialSchedule(arrays, run_late=tardy == "run")
        self.place_tasks(partial)
        return to_result(instance, partial.to_solution(), objective)


def to_result(instance: Instance, solution: Solution, objective: str | None) -> Result[Solution]:
    """Return a schedule with its value, and the tasks that are dropped or late."""
    goal = objective or default_objective(instance)
    late = [placement.task for placement in solution.placements if placement.late]
    dropped = [task.id for task in dropped_tasks(instance, solution)]
    messages = [
        named_tasks(what, tasks) for what, tasks in (("dropped", dropped), ("late", late)) if tasks
    ]
    return Result(
        Status.FEASIBLE,
        solution,
        objective=goal,
        value=claimed_value(instance, solution, goal),
        plan_class=PLAN_CLASS,
        reason="; ".join(messages) or None,
    )
