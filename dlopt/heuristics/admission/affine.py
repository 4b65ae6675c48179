"""Parametric numbers: affine functions of a parameter, and where their comparisons change."""

from __future__ import annotations

from typing import Any

from dlopt.arithmetic import Number


class ComparisonTracker:
    """Tracks the comparisons of parametric numbers, to find the next breakpoint.

    Parameters
    ----------
    at : Number
        The value of the parameter at which the comparisons are evaluated.

    Attributes
    ----------
    next : Number or None
        The next breakpoint: the least larger value at which the result of a comparison changes.
    count : int
        How many comparisons were made.
    """

    __slots__ = ("at", "count", "next")

    def __init__(self, at: Number) -> None:
        self.at = at
        self.count = 0
        self.next: Number | None = None

    def compare(self, difference: Number, slope: Number) -> None:
        """Record that a number was compared with 0."""
        self.count += 1
        if difference < 0 < slope or slope < 0 < difference:
            root = self.at - difference / slope
            if root > self.at and (self.next is None or root < self.next):
                self.next = root


class AffineNumber:
    """A number ``value + slope (d - at)``, with the operations that planners need.

    Comparisons are evaluated for a parameter `d` just after `at`. What does not depend on the
    parameter is a plain number.

    Parameters
    ----------
    value, slope : Number
    trace : ComparisonTracker

    Examples
    --------
    >>> from fractions import Fraction
    >>> trace = ComparisonTracker(Fraction(4))
    >>> deadline = AffineNumber(Fraction(4), Fraction(1), trace)
    >>> (deadline - 1) / 2 < 3, trace.next
    (True, Fraction(7, 1))
    >>> deadline - deadline
    Fraction(0, 1)
    """

    __slots__ = ("slope", "trace", "value")

    def __init__(self, value: Number, slope: Number, trace: ComparisonTracker) -> None:
        self.value, self.slope, self.trace = value, slope, trace

    __hash__ = None  # type: ignore[assignment]

    def _with(self, value: Number, slope: Number) -> AffineNumber | Number:
        return AffineNumber(value, slope, self.trace) if slope else value

    def __add__(self, other: AffineNumber | Number) -> AffineNumber | Number:
        value, slope = _value_and_slope(other)
        return self._with(self.value + value, self.slope + slope)

    __radd__ = __add__

    def __sub__(self, other: AffineNumber | Number) -> AffineNumber | Number:
        value, slope = _value_and_slope(other)
        return self._with(self.value - value, self.slope - slope)

    def __rsub__(self, other: Number) -> AffineNumber | Number:
        return self._with(other - self.value, -self.slope)

    def __neg__(self) -> AffineNumber | Number:
        return self._with(-self.value, -self.slope)

    def __mul__(self, factor: Number) -> AffineNumber | Number:
        return self._with(self.value * factor, self.slope * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Number) -> AffineNumber | Number:
        return self._with(self.value / divisor, self.slope / divisor)

    def __lt__(self, other: AffineNumber | Number) -> bool:
        return bool(self._difference(other) < 0)

    def __le__(self, other: AffineNumber | Number) -> bool:
        return bool(self._difference(other) <= 0)

    def __gt__(self, other: AffineNumber | Number) -> bool:
        return bool(self._difference(other) > 0)

    def __ge__(self, other: AffineNumber | Number) -> bool:
        return bool(self._difference(other) >= 0)

    def __eq__(self, other: object) -> bool:
        return bool(self._difference(other) == 0)

    def __bool__(self) -> bool:
        return bool(self._difference(0) != 0)

    def _difference(self, other: Any) -> Number:
        value, slope = _value_and_slope(other)
        difference = self.value - value
        self.trace.compare(difference, self.slope - slope)
        return difference or self.slope - slope


def _value_and_slope(number: Any) -> tuple[Number, Number]:
    return (number.value, number.slope) if isinstance(number, AffineNumber) else (number, 0)
