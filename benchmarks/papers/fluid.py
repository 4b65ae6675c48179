"""Fluid bound of a stream: one linear program."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dlopt import solve
from dlopt.result import Limits

_SECONDS = 600.0
"""Limit of a bound, far above what its linear program takes: at a limit it would say nothing."""


def fluid_bound(instance: Any, objective: str, otherwise: float) -> float:
    """Return the bound of `bound-fluid`, its relaxation not branched on, or what else is known.

    Parameters
    ----------
    instance : dlopt.problems.admission.Instance or dlopt.problems.multistage.Instance
    objective : str
    otherwise : float
        If there is no bound.
    """
    limits = Limits(time_s=_SECONDS, threads=1)
    found = solve(instance, "bound-fluid", objective=objective, limits=limits, relax=True)
    return float(found.bound) if isinstance(found.bound, int | float | Fraction) else otherwise
