"""Plans as results, with what was dropped or is late; and what all mapping rules share."""

from __future__ import annotations

from collections.abc import Callable

from dlopt.heuristics.bag.instance_arrays import Board, Case
from dlopt.problems.bag.claims import claimed_value
from dlopt.problems.bag.data import Instance, Solution
from dlopt.problems.bag.goals import default_objective
from dlopt.result import PlanClass, Result, Status

PLAN_CLASS: PlanClass = "any"


def mapped(
    instance: Instance,
    objective: str | None,
    tardy: str,
    sites: str,
    fill: Callable[[Board], object],
) -> Result[Solution]:
    """Return the plan that a rule fills a board with.

    Parameters
    ----------
    instance : Instance
    objective : str, optional
    tardy : {"reject", "run"}
        What becomes of a task that would miss its deadline where the rule puts it: it is not run
        and takes no time, or it is run all the same, and is late. One without a deadline is run
        in either case.
    sites : {"all", "home"}
        Whether a task may run at all sites, after its input has come, or at its own only.
    fill : callable
        Places tasks on a board.

    Returns
    -------
    Result
        ``FEASIBLE``; ``UNKNOWN`` if a task that must be run cannot run at home, and may not leave.
    """
    case = Case(instance, home=sites == "home")
    stranded = case.stranded()
    if stranded is not None:
        goal = objective or default_objective(instance)
        reason = f"task {stranded} must be run, and no machine at its site can"
        return Result(Status.UNKNOWN, objective=goal, plan_class=PLAN_CLASS, reason=reason)
    board = Board(case, late=tardy == "run")
    fill(board)
    return answer(instance, board.plan(), objective)


def answer(instance: Instance, plan: Solution, objective: str | None) -> Result[Solution]:
    """Return a plan with what it is worth, and which tasks it does not meet."""
    goal = objective or default_objective(instance)
    late = [placed.task for placed in plan.placements if placed.late]
    run = {placed.task for placed in plan.placements}
    dropped = [task.id for task in instance.all_tasks if task.id not in run]
    told = [_some(what, some) for what, some in (("dropped", dropped), ("late", late)) if some]
    return Result(
        Status.FEASIBLE,
        plan,
        objective=goal,
        value=claimed_value(instance, plan, goal),
        plan_class=PLAN_CLASS,
        reason="; ".join(told) or None,
    )


def _some(what: str, tasks: list[str]) -> str:
    return f"{what}: {len(tasks)} task{'s' * (len(tasks) > 1)}, first {tasks[0]}"
