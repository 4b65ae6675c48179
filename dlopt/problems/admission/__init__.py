"""Online admission of divisible loads with deadlines.

The head node of a cluster accepts or rejects every task at its arrival, irrevocably. The load of an
accepted task is cut into chunks; each is sent over the one channel of the head node and then
computed by its node, and all of them must be done by the task's deadline.
"""

from dlopt.problems.admission.checker import KINDS, violations
from dlopt.problems.admission.data import (
    Chunk,
    Commitment,
    Decision,
    Instance,
    Solution,
    Task,
    faults,
)
from dlopt.problems.admission.goals import OBJECTIVES, default_objective
from dlopt.problems.admission.objectives import late_tasks, objective
from dlopt.problems.admission.scenario import (
    Factor,
    Failure,
    Scenario,
    read_scenario,
    scenario_faults,
    write_scenario,
)
from dlopt.problems.admission.trace import (
    BrokenPromise,
    Dropped,
    Executed,
    Trace,
    missed,
    occupancy,
)
from dlopt.problems.admission.trace_checker import EXECUTED_KINDS, violations_executed
from dlopt.problems.cluster import Cluster

__all__ = [
    "EXECUTED_KINDS",
    "KINDS",
    "OBJECTIVES",
    "BrokenPromise",
    "Chunk",
    "Cluster",
    "Commitment",
    "Decision",
    "Dropped",
    "Executed",
    "Factor",
    "Failure",
    "Instance",
    "Scenario",
    "Solution",
    "Task",
    "Trace",
    "default_objective",
    "faults",
    "late_tasks",
    "missed",
    "objective",
    "occupancy",
    "read_scenario",
    "scenario_faults",
    "violations",
    "violations_executed",
    "write_scenario",
]
