"""Task graphs on heterogeneous machines with communication.

Each graph is a user's job: tasks that need data of each other, from an arrival to a deadline. A
task runs without pause on one machine; data between two machines takes time, directly or through
the schedulers of their LANs.

Source: Chen 2001; Topcuoglu, Hariri and Wu 2002 for costs as a matrix.
"""

from dlopt.problems.dag.data import (
    Edge,
    Graph,
    Instance,
    Placement,
    Solution,
    Task,
    cost_of,
    faults,
)
from dlopt.problems.dag.network import Lan, Link, Machine, Network, Paths
from dlopt.problems.dag.rules import KINDS, violations
from dlopt.problems.dag.worth import OBJECTIVES, completions, default_objective, objective

__all__ = [
    "KINDS",
    "OBJECTIVES",
    "Edge",
    "Graph",
    "Instance",
    "Lan",
    "Link",
    "Machine",
    "Network",
    "Paths",
    "Placement",
    "Solution",
    "Task",
    "completions",
    "cost_of",
    "default_objective",
    "faults",
    "objective",
    "violations",
]
