"""What a certificate says of its units, in comments that the checkers read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor

_NUMBER = re.compile(r"-?[0-9]{1,2000}(/0*[1-9][0-9]{0,2000})?")
"""Without exponents: a few letters would spell a number of a billion digits."""


@dataclass(frozen=True, slots=True)
class TimeGrid:
    """A grid of instants: times are rounded down to it, so that no schedule gets longer.

    Parameters
    ----------
    unit : Fraction
        Distance of two instants; positive.
    origin : Fraction
        The instant 0 of the grid.

    Examples
    --------
    >>> grid = TimeGrid(Fraction(1, 2), Fraction(10))
    >>> grid.duration(Fraction(7, 4)), grid.instant(Fraction(12)), grid.time_of(5)
    (3, 4, Fraction(25, 2))
    """

    unit: Fraction
    origin: Fraction

    def duration(self, time: Fraction) -> int:
        """Return a duration in units, rounded down."""
        return floor(time / self.unit)

    def instant(self, date: Fraction) -> int:
        """Return an instant in units since the origin, rounded down."""
        return floor((date - self.origin) / self.unit)

    def time_of(self, units: int | Fraction) -> Fraction:
        """Return the date of an instant."""
        return self.origin + units * self.unit


def stated_grid(remarks: Mapping[str, str]) -> TimeGrid | None:
    """Return the grid that the remarks ``unit`` and ``origin`` state; None if they state none.

    Examples
    --------
    >>> stated_grid({"unit": "1/2", "origin": "3"})
    TimeGrid(unit=Fraction(1, 2), origin=Fraction(3, 1))
    >>> stated_grid({"unit": "0", "origin": "3"}), stated_grid({"unit": "one"})
    (None, None)
    """
    unit, origin = stated_number(remarks, "unit"), stated_number(remarks, "origin")
    if unit is None or origin is None or unit <= 0:
        return None
    return TimeGrid(unit, origin)


def stated_number(remarks: Mapping[str, str], key: str) -> Fraction | None:
    """Return the number that a remark states; None if it states none.

    Examples
    --------
    >>> stated_number({"makespan": "12"}, "makespan"), stated_number({}, "makespan")
    (Fraction(12, 1), None)
    """
    text = remarks.get(key, "")
    return Fraction(text) if _NUMBER.fullmatch(text) else None
