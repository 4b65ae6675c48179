"""The tasks that a schedule drops."""

from __future__ import annotations

from dlopt.problems.bag.data import Instance, Solution, Task


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
