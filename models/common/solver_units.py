"""Units in which a solver computes times and loads: powers of two, so that scaling is exact."""

from __future__ import annotations

import math
from fractions import Fraction

from dlopt.arithmetic import Number

_TARGET_BITS = 10
"""Binary logarithm of the horizon and of the largest load after scaling, so that the solver's
absolute tolerance of 1e-7 is about 1e-10 of them. Chosen by hand."""

_LONG_BITS = 256
"""Binary digits from which on a scale that only approximates is shortened. Chosen by hand: a file
states the unit in decimals, and checks refuse those of thousands of digits."""
_SHORT_BITS = 64


def short_scale(scale: Fraction) -> Fraction:
    """Return a scale that is no larger, by less than 2^-62 of it, and has not too many digits.

    Of times that are rounded down to a grid anyway.

    Parameters
    ----------
    scale : Fraction
        Positive.

    Examples
    --------
    >>> short_scale(Fraction(1, 3)), short_scale(Fraction(10**400 - 1, 10**400)) < 1
    (Fraction(1, 3), True)
    """
    size, divisor = scale.numerator.bit_length(), scale.denominator.bit_length()
    if max(size, divisor) <= _LONG_BITS:
        return scale
    unit = Fraction(2) ** (size - divisor - _SHORT_BITS)
    return math.floor(scale / unit) * unit


def power_of_two(number: Number) -> Fraction:
    """Return the power of two that scales a number to about a thousand; 1 for 0 and less.

    Examples
    --------
    >>> power_of_two(4000), power_of_two(Fraction(1, 2)), power_of_two(0)
    (Fraction(4, 1), Fraction(1, 1024), Fraction(1, 1))
    """
    if number <= 0:
        return Fraction(1)
    return Fraction(2) ** (math.frexp(float(number))[1] - _TARGET_BITS)
