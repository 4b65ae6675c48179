"""Task graphs on heterogeneous machines with communication.

Each graph is a user's job: tasks that need data of each other, from an arrival to a deadline. A
task runs without pause on one machine; data between two machines takes time, directly or through
the schedulers of their LANs. A `Solution` is a plan; a `Trace` is what became of graphs on a grid
of LANs whose machines fail, as any simulator may tell it.

Source: Chen 2001; Topcuoglu, Hariri and Wu 2002 for costs as a matrix.
"""

from dlopt.problems.dag.checker import KINDS, allowed_gain, violations
from dlopt.problems.dag.data import (
    Edge,
    Graph,
    Instance,
    Placement,
    Solution,
    Task,
    faults,
)
from dlopt.problems.dag.goals import OBJECTIVES, default_objective, origin
from dlopt.problems.dag.network import Lan, Link, Machine, Network
from dlopt.problems.dag.objectives import completions, objective, value_explanation
from dlopt.problems.dag.task_and_transfer_times import Paths, cost_of
from dlopt.problems.dag.trace import Course, Outage, Run, Trace, late_or_lost, plan_of
from dlopt.problems.dag.trace_checker import EXECUTED_KINDS, violations_executed

__all__ = [
    "EXECUTED_KINDS",
    "KINDS",
    "OBJECTIVES",
    "Course",
    "Edge",
    "Graph",
    "Instance",
    "Lan",
    "Link",
    "Machine",
    "Network",
    "Outage",
    "Paths",
    "Placement",
    "Run",
    "Solution",
    "Task",
    "Trace",
    "allowed_gain",
    "completions",
    "cost_of",
    "default_objective",
    "faults",
    "late_or_lost",
    "objective",
    "origin",
    "plan_of",
    "value_explanation",
    "violations",
    "violations_executed",
]
