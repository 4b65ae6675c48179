"""Units in which a program is told to a solver in floats that could not read it as it stands.

HiGHS refuses a coefficient of 1e15, leaves out one of 1e-9 and takes a bound of 1e20 for none. A
program with such numbers is told in other units: each variable as a part of its largest value, each
row so that its largest term is about 1. All factors are powers of two, so nothing is rounded; terms
that are too small even so are left out in a way that excludes no point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import copysign, inf, ldexp
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.backends.implied_bounds import implied_bounds
from dlopt.backends.linear_program import Bounds, LinearProgram, Row

_LEAST = -29
"""Binary exponent of the smallest coefficient beside one of about 1: 2e-9."""
_READ = 2.0**-29, 2.0**49
"""HiGHS reads coefficients between these, 2e-9 and 6e14."""
_INFINITE = 2.0**60
"""From here on, about 1e18, a bound or a side may count as none."""


class Scales(NamedTuple):
    """Binary exponents by which rows, columns and costs are multiplied.

    Parameters
    ----------
    rows, columns : tuple of int
        A coefficient is multiplied by ``2 ** (row + column)``, a side by ``2 ** row``, the bounds
        of a variable by ``2 ** -column``.
    objective : int
        A cost is multiplied by ``2 ** (objective + column)``.
    bounds : tuple of (Fraction or None, Fraction or None)
        Of the variables in their units.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    objective: int
    bounds: Bounds


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
    >>> bounds = (Fraction(0), Fraction(4)), (Fraction(0), Fraction(1, 2**68))
    >>> units = scales(LinearProgram(2, costs, (row,), ((None, Fraction(5)),), bounds))
    >>> units.rows, units.columns, units.objective
    ((-4,), (3, -67), -4)
    """
    columns = _columns(program, kept)
    costs = [_exponent(cost) + columns[j] for j, cost in enumerate(program.costs) if cost]
    told = bounds_in_units(program, columns)
    units = Scales((), tuple(columns), -max(costs, default=0), told)
    for terms in program.rows:
        units, _ = with_row(units, (terms, None, None))
    return units


def _columns(program: LinearProgram, kept: Collection[int]) -> list[int]:
    """Return the exponent of the unit of each variable: about the largest value that it takes.

    That is its larger bound, stated or implied by the rows. Where it has none on one side, the
    variables beside it say how large it may be, and it passes that on. Its own bound says how large
    it is at the least, and is all that is known where no row says more.
    """
    columns, unknown = [], set()
    for j, pair in enumerate(implied_bounds(program)):
        columns.append(0 if j in kept else max((_exponent(end) for end in pair if end), default=0))
        if None in pair and j not in kept:
            unknown.add(j)
    rows_of: dict[int, list[int]] = {j: [] for j in unknown}
    for at, terms in enumerate(program.rows):
        for j, _ in terms:
            if j in unknown:
                rows_of[j].append(at)
    seeds = {j for j in unknown if any(program.column_bounds[j])}
    _spread(program, columns, unknown, rows_of, range(len(program.rows)))
    seeds &= unknown
    unknown -= seeds
    _spread(program, columns, unknown, rows_of, {at for j in seeds for at in rows_of[j]})
    return columns


def _spread(
    program: LinearProgram,
    columns: list[int],
    unknown: set[int],
    rows_of: Mapping[int, Sequence[int]],
    rows: Collection[int],
) -> None:
    """Set units of unknown variables as these rows let them be, and on from there."""
    while rows:
        found: dict[int, list[int]] = {}
        for at in rows:
            terms = [(j, _exponent(a)) for j, a in program.rows[at] if a]
            known = [_exponent(side) for side in program.row_bounds[at] if side]
            known += [exponent + columns[j] for j, exponent in terms if j not in unknown]
            for j, exponent in terms if known else ():
                if j in unknown:
                    found.setdefault(j, []).append(max(known) - exponent)
        for j, exponents in found.items():
            own = [columns[j]] if any(program.column_bounds[j]) else []
            columns[j] = max(exponents + own)
        unknown -= found.keys()
        rows = {at for j in found for at in rows_of[j]}


def bounds_in_units(program: LinearProgram, columns: Sequence[int]) -> Bounds:
    """Return the bounds of variables, each in the unit of its column."""
    pairs = zip(program.column_bounds, columns, strict=True)
    return tuple((_end(low, -power), _end(high, -power)) for (low, high), power in pairs)


def with_row(units: Scales, row: Row) -> tuple[Scales, Row]:
    """Return the units of a program with one more row, and the row in them."""
    terms, low, high = row
    exponents = [_exponent(a) + units.columns[j] for j, a in terms if a]
    power = -max(exponents, default=0)
    return units._replace(rows=(*units.rows, power)), _told((terms, low, high), power, units)


def in_units(program: LinearProgram, units: Scales) -> LinearProgram:
    """Return a program that every point of another satisfies, each variable in its unit."""
    rows = zip(program.rows, program.row_bounds, units.rows, strict=True)
    told = [_told((terms, *sides), power, units) for terms, sides, power in rows]
    prices = zip(program.costs, units.columns, strict=True)
    return replace(
        program,
        costs=tuple(_shifted(cost, units.objective + power) for cost, power in prices),
        rows=tuple(terms for terms, _, _ in told),
        row_bounds=tuple((low, high) for _, low, high in told),
        column_bounds=units.bounds,
    )


def _told(row: Row, power: int, units: Scales) -> Row:
    """Return a row in units; what is too small beside other terms is what it may be at the most.

    So every point that satisfies the row satisfies the one that is told.
    """
    terms, low, high = row[0], _end(row[1], power), _end(row[2], power)
    kept = []
    for column, number in terms:
        a = _shifted(number, power + units.columns[column])
        if not a or _exponent(a) >= _LEAST:
            kept.append((column, a))
            continue
        ends = [None if end is None else a * end for end in units.bounds[column]]
        least, most = ends if a > 0 else ends[::-1]
        high = None if high is None or least is None else high - least
        low = None if low is None or most is None else low - most
    return tuple(kept), low, high


def times_power(number: float, exponent: int) -> float:
    """Return a float times a power of two, infinite if that is no float.

    Examples
    --------
    >>> times_power(3.0, -1), times_power(-3.0, 2000)
    (1.5, -inf)
    """
    try:
        return ldexp(number, exponent)
    except OverflowError:
        return copysign(inf, number)


def _shifted(number: Fraction, exponent: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** exponent


def _end(number: Fraction | None, exponent: int) -> Fraction | None:
    return None if number is None else _shifted(number, exponent)


def _exponent(number: Fraction) -> int:
    """Return the exponent of a power of two that is larger than a number, by little."""
    number = Fraction(number)  # some programs have floats
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
