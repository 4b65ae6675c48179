"""Divisible loads with deadlines around advance reservations.

Some nodes are promised to somebody else for a while, and the channel for a part of it. Divisible
loads arrive, too, and flow around what is reserved. Both are accepted or rejected at their arrival.

Source: Mamat 2011, chapter 5.
"""

from dlopt.problems.admission import (
    BrokenPromise,
    Chunk,
    Commitment,
    Decision,
    Dropped,
    Executed,
    Factor,
    Failure,
    Task,
    write_scenario,
)
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.checker import KINDS, violations
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution, faults
from dlopt.problems.multistage.goals import OBJECTIVES, default_objective
from dlopt.problems.multistage.objectives import objective
from dlopt.problems.multistage.scenario import Scenario, TrueEnd, read_scenario, scenario_faults
from dlopt.problems.multistage.trace import (
    BrokenReservation,
    ExecutedReservation,
    Move,
    Trace,
)
from dlopt.problems.multistage.trace_checker import EXECUTED_KINDS, violations_executed

__all__ = [
    "EXECUTED_KINDS",
    "KINDS",
    "OBJECTIVES",
    "BrokenPromise",
    "BrokenReservation",
    "Chunk",
    "Cluster",
    "Commitment",
    "Decision",
    "Dropped",
    "Executed",
    "ExecutedReservation",
    "Factor",
    "Failure",
    "Grant",
    "Instance",
    "Move",
    "Reservation",
    "Scenario",
    "Solution",
    "Task",
    "Trace",
    "TrueEnd",
    "default_objective",
    "faults",
    "objective",
    "read_scenario",
    "scenario_faults",
    "violations",
    "violations_executed",
    "write_scenario",
]
