"""Units in which a program is told to a solver in floats that could not read it as it stands.

HiGHS refuses a coefficient of 1e15, leaves out one of 1e-9 and takes a bound of 1e20 for none. A
program with such numbers is told in other units: each variable as a part of its largest value, each
row so that its largest term is about 1. All factors are powers of two, so nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.backends.linear_program import LinearProgram, Row

_LEAST = -29
"""Binary exponent of the smallest coefficient beside one of about 1: 2e-9."""
_READ = 2.0**-29, 2.0**49
"""HiGHS reads coefficients between these, 2e-9 and 6e14."""
_INFINITE = 2.0**60
"""From here on, about 1e18, a bound or a side may count as none."""


class Scales(NamedTuple):
    """Binary exponents by which rows and columns are multiplied.

    Parameters
    ----------
    rows, columns : tuple of int
        A coefficient is multiplied by ``2 ** (row + column)``, a side by ``2 ** row``, a cost by
        ``2 ** column`` and the bounds of a variable by ``2 ** -column``.
    complete : bool
        Whether no coefficient is left out even so. If one is, terms of a row are so far apart that
        what a solver in floats claims says nothing.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    complete: bool


def is_readable(coefficients: Iterable[Number], ends: Iterable[Number | None]) -> bool:
    """Tell whether HiGHS takes the coefficients, and the bounds and sides, as they are.

    Examples
    --------
    >>> is_readable([1, 1e-7], [None, 1e17]), is_readable([1, 1e-10], []), is_readable([], [1e30])
    (True, False, False)
    """
    least, most = _READ
    try:
        return all(least <= abs(float(a)) <= most for a in coefficients if a) and all(
            abs(float(end)) < _INFINITE or abs(end) == inf for end in ends if end
        )
    except OverflowError:
        return False


def scales(program: LinearProgram, kept: Collection[int] = ()) -> Scales:
    """Return the units in which a program can be told.

    Parameters
    ----------
    program : LinearProgram
    kept : collection of int
        Columns whose unit stays, for they are integral.

    Examples
    --------
    >>> costs, row = (Fraction(1),) * 2, ((0, Fraction(1)), (1, Fraction(2**70)))
    >>> for most in (Fraction(1, 2**68), Fraction(1)):
    ...     bounds = (Fraction(0), Fraction(4)), (Fraction(0), most)
    ...     print(scales(LinearProgram(2, costs, (row,), ((None, Fraction(5)),), bounds)))
    Scales(rows=(-4,), columns=(3, -67), complete=True)
    Scales(rows=(-72,), columns=(3, 1), complete=False)
    """
    bounds = program.column_bounds
    columns = [max((_exponent(end) for end in pair if end), default=0) for pair in bounds]
    for column in kept:
        columns[column] = 0
    # Variables without a bound are told as parts of what the sides of their rows let them be.
    free = {j for j, pair in enumerate(bounds) if not any(pair)} - set(kept)
    found: dict[int, list[int]] = {}
    for terms, sides in zip(program.rows, program.row_bounds, strict=True):
        known = [_exponent(side) for side in sides if side]
        known = known or [_exponent(a) + columns[j] for j, a in terms if a and j not in free]
        for j, a in terms:
            if a and j in free and known:
                found.setdefault(j, []).append(max(known) - _exponent(a))
    for j, exponents in found.items():
        columns[j] = max(exponents)
    units = Scales((), tuple(columns), True)
    for terms in program.rows:
        units, _ = with_row(units, (terms, None, None))
    return units


def with_row(units: Scales, row: Row) -> tuple[Scales, Row]:
    """Return the units of a program with one more row, and the row in them."""
    terms, low, high = row
    exponents = [_exponent(a) + units.columns[j] for j, a in terms if a]
    power = -max(exponents, default=0)
    complete = not exponents or min(exponents) + power >= _LEAST
    told = tuple((j, _shifted(a, power + units.columns[j])) for j, a in terms)
    more = Scales((*units.rows, power), units.columns, units.complete and complete)
    return more, (told, _end(low, power), _end(high, power))


def in_units(program: LinearProgram, units: Scales) -> LinearProgram:
    """Return a program whose points are those of another, each variable in its unit."""
    rows = tuple(
        tuple((j, _shifted(a, power + units.columns[j])) for j, a in terms)
        for terms, power in zip(program.rows, units.rows, strict=True)
    )
    sides = tuple(
        (_end(low, power), _end(high, power))
        for (low, high), power in zip(program.row_bounds, units.rows, strict=True)
    )
    bounds = tuple(
        (_end(low, -power), _end(high, -power))
        for (low, high), power in zip(program.column_bounds, units.columns, strict=True)
    )
    prices = zip(program.costs, units.columns, strict=True)
    costs = tuple(_shifted(cost, power) for cost, power in prices)
    return replace(program, costs=costs, rows=rows, row_bounds=sides, column_bounds=bounds)


def _shifted(number: Fraction, exponent: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** exponent


def _end(number: Fraction | None, exponent: int) -> Fraction | None:
    return None if number is None else _shifted(number, exponent)


def _exponent(number: Fraction) -> int:
    """Return the exponent of a power of two that is larger than a number, by little."""
    number = Fraction(number)  # some programs have floats
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
