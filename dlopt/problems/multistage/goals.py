"""The objectives of the problem; `objectives` and `claimed_values` compute their values."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.problems.multistage.data import Instance
from dlopt.result import Objective

OBJECTIVES: Mapping[str, Objective] = {
    "accepted": Objective("accepted", "max"),
    "accepted-tasks": Objective("accepted-tasks", "max"),
    "accepted-reservations": Objective("accepted-reservations", "max"),
    "accepted-load": Objective("accepted-load", "max", shown_in_comparison=False),
    "accepted-weight": Objective(
        "accepted-weight", "max", shown_with="weights", equal_to="accepted-tasks"
    ),
    "reject-ratio": Objective("reject-ratio", "min", shown_in_comparison=False),
    "utilization": Objective("utilization", "max"),
}


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named: ``accepted``."""
    return "accepted"
