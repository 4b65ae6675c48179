"""One divisible load over nodes that become ready at different times.

The nodes have *inserted idle times*: a node may be ready before the head node can send to it,
or be idle until the last node of its group is free. A plan is a list of chunks; each is sent
over the one channel of the head node and then computed by its node.
"""

from dlopt.problems.cluster import Cluster
from dlopt.problems.iit.checker import KINDS, allowed_gain, violations
from dlopt.problems.iit.data import Chunk, Instance, Solution, faults
from dlopt.problems.iit.goals import OBJECTIVES, default_objective, origin
from dlopt.problems.iit.objectives import objective

__all__ = [
    "KINDS",
    "OBJECTIVES",
    "Chunk",
    "Cluster",
    "Instance",
    "Solution",
    "allowed_gain",
    "default_objective",
    "faults",
    "objective",
    "origin",
    "violations",
]
