"""Independent tasks (a bag of tasks) on heterogeneous machines, at one site or at many.

Tasks have priorities and deadlines or neither; what runs away from home waits for its input. How
long a task takes is its work by the power of the machine, or an entry of an ETC matrix.

Source: Liu, Baskiyar and Li 2007; Chen 2001, chapter 2, for the matrix.
"""

from dlopt.problems.bag.checker import KINDS, allowed_gain, violations
from dlopt.problems.bag.data import (
    Instance,
    Link,
    Machine,
    Placement,
    Site,
    Solution,
    Task,
    faults,
)
from dlopt.problems.bag.dropped import dropped_tasks
from dlopt.problems.bag.goals import OBJECTIVES, default_objective, origin
from dlopt.problems.bag.network import transfer_times
from dlopt.problems.bag.objectives import objective, success_ratios

__all__ = [
    "KINDS",
    "OBJECTIVES",
    "Instance",
    "Link",
    "Machine",
    "Placement",
    "Site",
    "Solution",
    "Task",
    "allowed_gain",
    "default_objective",
    "dropped_tasks",
    "faults",
    "objective",
    "origin",
    "success_ratios",
    "transfer_times",
    "violations",
]
