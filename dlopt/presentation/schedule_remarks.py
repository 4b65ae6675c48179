"""What a value does not count: the tasks that a schedule drops, and those that end late."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.problems import admission, bag
from dlopt.problems.named_tasks import named_tasks
from dlopt.result import Result


def schedule_remarks(instance: object, result: Result[object]) -> Iterator[str]:
    """Yield remarks on the schedule of a result, but for those that its reason has.

    Parameters
    ----------
    instance : Instance or None
    result : Result

    Examples
    --------
    >>> from dlopt.problems.bag import Instance, Machine, Placement, Solution, Task
    >>> from dlopt.result import Status
    >>> tasks = Task("a", 2, absolute_deadline=2), Task("b", 2, absolute_deadline=2)
    >>> instance = Instance(tasks, (Machine("m"),))
    >>> result = Result(Status.FEASIBLE, Solution((Placement("a", 0, 0, 2),)))
    >>> list(schedule_remarks(instance, result))
    ['dropped: 1 task (b)']
    """
    for remark in _all_remarks(instance, result.solution):
        if remark not in (result.reason or ""):
            yield remark


def _all_remarks(instance: object, solution: object) -> Iterator[str]:
    if isinstance(instance, bag.Instance) and isinstance(solution, bag.Solution):
        dropped = [task.id for task in bag.dropped_tasks(instance, solution)]
        if dropped:
            yield named_tasks("dropped", dropped)
    if isinstance(instance, admission.Instance) and isinstance(solution, admission.Solution):
        late = [task.id for task in admission.late_tasks(instance, solution)]
        if late:
            yield named_tasks("late, not counted as accepted", late)
