"""The tasks that a schedule drops, and how they are named in messages."""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.problems.bag.data import Instance, Solution, Task

MOST_NAMED = 5
"""A message names no more tasks than this, and counts the others."""


def dropped_tasks(instance: Instance, solution: Solution) -> tuple[Task, ...]:
    """Return the tasks that do not run, in the order of the instance.

    Parameters
    ----------
    instance : Instance
    solution : Solution
        It need not be valid.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Placement
    >>> tasks = Task("a", 2, absolute_deadline=2), Task("b", 2, absolute_deadline=2)
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> [task.id for task in dropped_tasks(instance, Solution((Placement("a", 0, 0, 2),)))]
    ['b']
    """
    placed = {placement.task for placement in solution.placements}
    return tuple(task for task in instance.all_tasks if task.id not in placed)


def tasks_text(what: str, tasks: Sequence[str]) -> str:
    """Return how many tasks something holds for, and which; long lists are shortened.

    Parameters
    ----------
    what : str
        Such as ``"dropped"``.
    tasks : sequence of str
        Their identifiers, at least one.

    Examples
    --------
    >>> tasks_text("dropped", ["b"]), tasks_text("late", ["a", "c"])
    ('dropped: 1 task (b)', 'late: 2 tasks (a, c)')
    >>> tasks_text("dropped", [f"t{number}" for number in range(1200)])
    'dropped: 1,200 tasks (t0, t1, t2, t3, t4 and 1,195 more)'
    """
    named = ", ".join(tasks[:MOST_NAMED])
    more = f" and {len(tasks) - MOST_NAMED:,} more" if len(tasks) > MOST_NAMED else ""
    return f"{what}: {len(tasks):,} task{'s' * (len(tasks) != 1)} ({named}{more})"
