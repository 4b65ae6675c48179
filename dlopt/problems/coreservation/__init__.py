"""Shares of CPUs, reserved on several machines at once for a window of time.

Requests arrive and are decided batch by batch: each is accepted with all of its parts, or rejected.
A part may take less than it asks for, which is worth less; how much less its benefit function says.

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
