"""The objectives of the problem; `objectives` and `claimed_values` compute their values."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.arithmetic import Number, exact
from dlopt.problems.bag.data import PRIORITIES, Instance
from dlopt.result import Objective

OBJECTIVES: Mapping[str, Objective] = {
    goal.name: goal
    for goal in (
        Objective("makespan", "min", requires_field="without_deadlines"),
        Objective("flowtime", "min", requires_field="without_deadlines"),
        Objective(
            "critical-then-all",
            "max",
            ("critical", "all"),
            requires_field="deadlines",
            shown_with="critical_tasks",
        ),
        Objective("accepted", "max", requires_field="deadlines", shown_with="deadlines"),
        Objective(
            "by-priority", "max", PRIORITIES, requires_field="deadlines", shown_in_comparison=False
        ),
    )
}


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named.

    ``critical-then-all`` where tasks have deadlines, else ``makespan``.
    """
    return "critical-then-all" if instance.deadlines else "makespan"


def origin(instance: Instance, name: str) -> Number:
    """Return the instant from which an objective counts if it is a date.

    Only ``makespan`` is a date: it counts from when a task is known and a machine is ready. Of the
    other objectives it is 0.

    Examples
    --------
    >>> from dlopt.problems.bag import Machine, Task
    >>> instance = Instance((Task("t", 1, release=7),), (Machine("m", ready=9),))
    >>> origin(instance, "makespan"), origin(instance, "flowtime")
    (9, 0)
    """
    if name != "makespan":
        return 0
    known = min((task.release for task in instance.all_tasks), key=exact)
    return max(known, min((one.ready for one in instance.all_machines), key=exact), key=exact)
