"""The objectives of the problem; `objectives` and `claimed_values` compute their values."""

from __future__ import annotations

from collections.abc import Mapping

from dlopt.problems.coreservation.data import Instance
from dlopt.result import Objective

OBJECTIVES: Mapping[str, Objective] = {
    goal.name: goal
    for goal in (
        Objective("benefit", "max"),
        Objective("rejections", "min"),
        Objective("rejected-priority", "min"),
        Objective(
            "benefit-then-rejections",
            "max",
            levels=("benefit", "rejections"),
            senses=("max", "min"),
            shown_in_comparison=False,
        ),
        Objective(
            "rejections-then-benefit",
            "min",
            levels=("rejections", "benefit"),
            senses=("min", "max"),
            shown_in_comparison=False,
        ),
        Objective(
            "rejected-priority-then-benefit",
            "min",
            levels=("rejected-priority", "benefit"),
            senses=("min", "max"),
            shown_in_comparison=False,
        ),
        Objective(
            "rejections-then-machines", "min", ("rejections", "machines"), shown_in_comparison=False
        ),
    )
}


def default_objective(instance: Instance) -> str:
    """Return the objective that is meant where none is named: ``benefit``."""
    return "benefit"
