"""What a plan in floats may be off for having been added up in floats."""

from __future__ import annotations

from fractions import Fraction

DRIFT = Fraction(1, 2**51)
"""What the rounding errors of one step of a plan come to at the most, relative to the time since
the first instant of the instance: four sums of floats. It counts once for each task."""
