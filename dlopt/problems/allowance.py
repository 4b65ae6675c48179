"""Rounding errors that schedules in floats accumulate, and those of dates."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

from dlopt.arithmetic import exact

DRIFT = Fraction(1, 2**51)
"""Largest rounding error of one step of a schedule, relative to the time since the first instant of
the instance: four sums of floats. It counts once for each task."""


def rounded_down(instant: Fraction) -> float:
    """Return the largest float whose decimal is no later than an instant.

    Examples
    --------
    >>> rounded_down(Fraction(1, 3)), rounded_down(Fraction(5, 6)), float(Fraction(5, 6))
    (0.3333333333333333, 0.8333333333333333, 0.8333333333333334)
    """
    nearest = float(instant)
    return nearest if exact(nearest) <= instant else nextafter(nearest, -inf)
