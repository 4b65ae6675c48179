"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dlopt.arithmetic import Number, exact, simplest
from dlopt.errors import NotApplicableError
from dlopt.problems.bag.data import PRIORITIES, Instance, Solution, Task
from dlopt.problems.bag.goals import OBJECTIVES
from dlopt.result import Value


def objective(instance: Instance, solution: Solution, name: str) -> Value:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : str
        ``makespan``: when the last task ends. ``flowtime``: the sum of the ends of all tasks,
        each less its release. ``accepted``: how many tasks are met, that is, run and not late.
        ``critical-then-all``: how many critical tasks are met, then how many of all.
        ``by-priority``: how many critical ones, then firm ones, then soft ones.

    Raises
    ------
    NotApplicableError
        If there is no such objective.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Placement
    >>> tasks = (Task("a", 2, priority="critical", absolute_deadline=2), Task("b", 1))
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> plan = Solution((Placement("a", 0, 0, 2), Placement("b", 0, 2, 3)))
    >>> objective(instance, plan, "critical-then-all")
    (1, 2)
    """
    tasks = {task.id: task for task in instance.all_tasks}
    if name == "makespan":
        return simplest(
            max((exact(placement.end) for placement in solution.placements), default=Fraction(0))
        )
    if name == "flowtime":
        spans = (
            exact(placement.end) - exact(tasks[placement.task].release)
            for placement in solution.placements
            if placement.task in tasks
        )
        return simplest(sum(spans, Fraction(0)))
    met = _met(tasks, solution)
    classes = {priority: sum(task.priority == priority for task in met) for priority in PRIORITIES}
    if name == "accepted":
        return len(met)
    if name == "critical-then-all":
        return classes["critical"], len(met)
    if name == "by-priority":
        return tuple(classes.values())
    raise NotApplicableError(f"bag has no objective {name!r}: {', '.join(OBJECTIVES)}")


def success_ratios(instance: Instance, solution: Solution) -> tuple[Number | None, Number]:
    """Return the share of critical tasks that are met, and that of all tasks.

    Returns
    -------
    critical : Fraction, optional
        None if there is no critical task.
    overall : Fraction

    Notes
    -----
    Source: Liu, Baskiyar and Li 2007, section 6: "critical" and "overall" successful schedulable
    ratio.
    """
    tasks = {task.id: task for task in instance.all_tasks}
    met = _met(tasks, solution)
    critical = [task for task in tasks.values() if task.priority == "critical"]
    good = sum(task.priority == "critical" for task in met)
    return Fraction(good, len(critical)) if critical else None, Fraction(len(met), len(tasks))


def _met(tasks: Mapping[str, Task], solution: Solution) -> list[Task]:
    """Return the tasks that are run and not marked as late."""
    return [
        tasks[name]
        for name in dict.fromkeys(
            placement.task for placement in solution.placements if not placement.late
        )
        if name in tasks
    ]
