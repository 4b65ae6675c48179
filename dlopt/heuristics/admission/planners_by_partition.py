"""What plans one task, by how it is partitioned."""

from __future__ import annotations

from collections.abc import Callable

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm, Partition
from dlopt.heuristics.admission.dispatching_rules import TaskPlanner
from dlopt.heuristics.admission.edf_iit_1 import EdfIit1Planner
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.reference_planner import (
    ReferenceEdfIit2Planner,
    ReferenceOprEprPlanner,
)

TASK_PLANNERS: dict[Partition, Callable[[Algorithm, tuple[Number, ...], int], TaskPlanner]] = {
    "opr": OprEprPlanner,
    "epr": OprEprPlanner,
    "iit": EdfIit2Planner,
    "iit-1": EdfIit1Planner,
}
"""Made of an algorithm, costs and the number of nodes."""

REFERENCE_PLANNERS: dict[Partition, Callable[[Algorithm, tuple[Number, ...], int], object]] = {
    "opr": ReferenceOprEprPlanner,
    "epr": ReferenceOprEprPlanner,
    "iit": ReferenceEdfIit2Planner,
}
"""Those of the reference implementation."""
