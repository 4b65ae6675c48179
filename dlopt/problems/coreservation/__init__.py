"""Co-reservation of CPU shares on several machines for a time window.

Requests arrive and are decided batch by batch: each is accepted with all of its parts, or rejected.
A part may be allocated less than it requests, with the benefit that its benefit function gives.

Source: Min 2001, chapters 3 to 5.
"""

from dlopt.problems.coreservation.batches import batch_times, batches
from dlopt.problems.coreservation.benefit_functions import (
    affine,
    benefit_at,
    linear,
    staircase,
    step,
)
from dlopt.problems.coreservation.checker import KINDS, violations
from dlopt.problems.coreservation.data import (
    Batch,
    Change,
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    faults,
)
from dlopt.problems.coreservation.goals import OBJECTIVES, default_objective
from dlopt.problems.coreservation.objectives import objective

__all__ = [
    "KINDS",
    "OBJECTIVES",
    "Batch",
    "Change",
    "Decision",
    "Holding",
    "Instance",
    "Machine",
    "Part",
    "Request",
    "Share",
    "Solution",
    "affine",
    "batch_times",
    "batches",
    "benefit_at",
    "default_objective",
    "faults",
    "linear",
    "objective",
    "staircase",
    "step",
    "violations",
]
