"""Divisible loads with deadlines around advance reservations.

Some nodes are promised to somebody else for a while, and the channel for a part of it. Divisible
loads arrive, too, and flow around what is reserved. Both are accepted or rejected at their arrival.

Source: Mamat 2011, chapter 5.
"""

from dlopt.problems.admission import Chunk, Commitment, Decision, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.checker import KINDS, violations
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution, faults
from dlopt.problems.multistage.goals import OBJECTIVES, default_objective
from dlopt.problems.multistage.objectives import objective

__all__ = [
    "KINDS",
    "OBJECTIVES",
    "Chunk",
    "Cluster",
    "Commitment",
    "Decision",
    "Grant",
    "Instance",
    "Reservation",
    "Solution",
    "Task",
    "default_objective",
    "faults",
    "objective",
    "violations",
]
