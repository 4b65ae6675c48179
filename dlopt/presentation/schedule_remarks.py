"""What a value does not count: the tasks that a schedule drops, and those that end late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlopt.arithmetic import Number, exact
from dlopt.problems import admission, bag


def schedule_remarks(instance: object, solution: object) -> Iterator[str]:
    """Yield remarks on a schedule, whatever the method said about it.

    Parameters
    ----------
    instance : Instance or None
    solution : Solution or None

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Placement, Solution, Task
    >>> tasks = Task("a", 2, absolute_deadline=2), Task("b", 2, absolute_deadline=2)
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> list(schedule_remarks(instance, Solution((Placement("a", 0, 0, 2),))))
    ['dropped: 1 task (b)']
    """
    if isinstance(instance, bag.Instance) and isinstance(solution, bag.Solution):
        dropped = [task.id for task in bag.dropped_tasks(instance, solution)]
        if dropped:
            yield bag.tasks_text("dropped", dropped)
    if isinstance(instance, admission.Instance) and isinstance(solution, admission.Solution):
        ends = task_ends([(one.task, one.computation_end) for one in solution.chunks])
        late = [task for task, is_late in late_tasks(instance, solution, ends).items() if is_late]
        if late:
            yield bag.tasks_text("late, not counted as accepted", late)


def late_tasks(
    instance: admission.Instance, solution: admission.Solution, ends: dict[str, Number]
) -> dict[str, bool]:
    """Return which of the tasks that were accepted without a promise end after their deadlines."""
    due = {task.id: task.absolute_deadline for task in instance.tasks}
    return {
        one.task: one.task in ends and exact(ends[one.task]) > exact(due[one.task])
        for one in solution.decisions
        if one.accepted and not one.promised and one.task in due
    }


def task_ends(chunks: Sequence[tuple[str, Number]]) -> dict[str, Number]:
    """Return when the last chunk of each task is computed, by the task and end of each chunk."""
    ends: dict[str, Number] = {}
    for task, end in chunks:
        ends[task] = max(ends.get(task, end), end, key=exact)
    return ends
