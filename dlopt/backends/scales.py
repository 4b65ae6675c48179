"""Scaling of linear programs by powers of two, for coefficients that HiGHS cannot read.

HiGHS refuses a coefficient of 1e15, drops one of 1e-9 and treats a bound of 1e20 as none. A
program with such numbers is scaled: each variable by its largest value, each row so that its
largest term is about 1. All factors are powers of two, so nothing is rounded; terms that are still
too small are dropped, and the sides of their row relaxed so that no point is excluded.
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

MIN_COEFFICIENT_EXPONENT = -29
"""Binary exponent of the smallest coefficient that is kept next to one of about 1: 2e-9."""
MIN_READABLE = 2.0**-29
"""Smallest coefficient that is passed to HiGHS unscaled, 2e-9: it drops those below 1e-9."""
MAX_READABLE = 2.0**49
"""Largest coefficient that is passed to HiGHS unscaled, 6e14: it refuses those from 1e15 on."""
INFINITE_BOUND = 2.0**60
"""From here on, about 1e18, HiGHS may treat a bound or a side as infinite (1e20)."""


class Scaling(NamedTuple):
    """Binary exponents by which rows, columns and costs are multiplied.

    Parameters
    ----------
    rows, columns : tuple of int
        A coefficient is multiplied by ``2 ** (row + column)``, a side by ``2 ** row``, the bounds
        of a variable by ``2 ** -column``.
    objective : int
        A cost is multiplied by ``2 ** (objective + column)``.
    bounds : tuple of (Fraction or None, Fraction or None)
        Bounds of the variables after scaling.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    objective: int
    bounds: Bounds


def is_readable(coefficients: Iterable[Number], ends: Iterable[Number | None]) -> bool:
    """Return whether HiGHS reads the coefficients, bounds and sides correctly without scaling.

    Examples
    --------
    >>> is_readable([1, 1e-7], [None, 1e17]), is_readable([1, 1e-10], []), is_readable([], [1e30])
    (True, False, False)
    """
    try:
        return all(
            MIN_READABLE <= abs(float(a)) <= MAX_READABLE for a in coefficients if a
        ) and all(abs(float(end)) < INFINITE_BOUND or abs(end) == inf for end in ends if end)
    except OverflowError:
        return False


def scaling_of(program: LinearProgram, unscaled: Collection[int] = ()) -> Scaling:
    """Return the scaling with which HiGHS can read a program.

    Parameters
    ----------
    program : LinearProgram
    unscaled : collection of int
        Columns that are not scaled, because they are integral.

    Examples
    --------
    >>> costs, row = (Fraction(1),) * 2, ((0, Fraction(1)), (1, Fraction(2**70)))
    >>> bounds = (Fraction(0), Fraction(4)), (Fraction(0), Fraction(1, 2**68))
    >>> units = scaling_of(LinearProgram(2, costs, (row,), ((None, Fraction(5)),), bounds))
    >>> units.rows, units.columns, units.objective
    ((-4,), (3, -67), -4)
    """
    columns = _column_exponents(program, unscaled)
    costs = [_exponent(cost) + columns[j] for j, cost in enumerate(program.costs) if cost]
    bounds = scaled_bounds(program, columns)
    units = Scaling((), tuple(columns), -max(costs, default=0), bounds)
    for terms in program.rows:
        units, _ = add_scaled_row(units, (terms, None, None))
    return units


def _column_exponents(program: LinearProgram, unscaled: Collection[int]) -> list[int]:
    """Return the exponent of the unit of each variable: about the largest value that it takes.

    That is its larger bound, stated or implied by the rows. Where it has none on one side, its
    magnitude is estimated from the other variables of its rows, and propagated further. Its own
    bound is a lower estimate, and the only one where no row gives another.
    """
    columns, unknown = [], set()
    for j, pair in enumerate(implied_bounds(program)):
        columns.append(
            0 if j in unscaled else max((_exponent(end) for end in pair if end), default=0)
        )
        if None in pair and j not in unscaled:
            unknown.add(j)
    rows_of: dict[int, list[int]] = {j: [] for j in unknown}
    for at, terms in enumerate(program.rows):
        for j, _ in terms:
            if j in unknown:
                rows_of[j].append(at)
    seeds = {j for j in unknown if any(program.column_bounds[j])}
    _propagate_units(program, columns, unknown, rows_of, range(len(program.rows)))
    seeds &= unknown
    unknown -= seeds
    _propagate_units(program, columns, unknown, rows_of, {at for j in seeds for at in rows_of[j]})
    return columns


def _propagate_units(
    program: LinearProgram,
    columns: list[int],
    unknown: set[int],
    rows_of: Mapping[int, Sequence[int]],
    rows: Collection[int],
) -> None:
    """Estimate the units of unknown variables from these rows, and propagate the estimates."""
    while rows:
        estimates: dict[int, list[int]] = {}
        for at in rows:
            terms = [(j, _exponent(a)) for j, a in program.rows[at] if a]
            known = [_exponent(side) for side in program.row_bounds[at] if side]
            known += [exponent + columns[j] for j, exponent in terms if j not in unknown]
            for j, exponent in terms if known else ():
                if j in unknown:
                    estimates.setdefault(j, []).append(max(known) - exponent)
        for j, exponents in estimates.items():
            stated = [columns[j]] if any(program.column_bounds[j]) else []
            columns[j] = max(exponents + stated)
        unknown -= estimates.keys()
        rows = {at for j in estimates for at in rows_of[j]}


def scaled_bounds(program: LinearProgram, columns: Sequence[int]) -> Bounds:
    """Return the bounds of variables, each scaled by the exponent of its column."""
    pairs = zip(program.column_bounds, columns, strict=True)
    return tuple((_end(low, -power), _end(high, -power)) for (low, high), power in pairs)


def add_scaled_row(units: Scaling, row: Row) -> tuple[Scaling, Row]:
    """Return the scaling of a program with one more row, and the scaled row."""
    terms, low, high = row
    exponents = [_exponent(a) + units.columns[j] for j, a in terms if a]
    power = -max(exponents, default=0)
    return units._replace(rows=(*units.rows, power)), _scaled_row((terms, low, high), power, units)


def scaled_program(program: LinearProgram, units: Scaling) -> LinearProgram:
    """Return the scaled program: a relaxation if terms were dropped, otherwise equivalent."""
    rows = zip(program.rows, program.row_bounds, units.rows, strict=True)
    scaled = [_scaled_row((terms, *sides), power, units) for terms, sides, power in rows]
    costs = zip(program.costs, units.columns, strict=True)
    return replace(
        program,
        costs=tuple(_times_power(cost, units.objective + power) for cost, power in costs),
        rows=tuple(terms for terms, _, _ in scaled),
        row_bounds=tuple((low, high) for _, low, high in scaled),
        column_bounds=units.bounds,
    )


def _scaled_row(row: Row, power: int, units: Scaling) -> Row:
    """Return a scaled row; a term that is too small is replaced by its extreme value.

    So every point that satisfies the row satisfies the scaled one.
    """
    terms, low, high = row[0], _end(row[1], power), _end(row[2], power)
    scaled_terms = []
    for column, number in terms:
        a = _times_power(number, power + units.columns[column])
        if not a or _exponent(a) >= MIN_COEFFICIENT_EXPONENT:
            scaled_terms.append((column, a))
            continue
        ends = [None if end is None else a * end for end in units.bounds[column]]
        least, most = ends if a > 0 else ends[::-1]
        high = None if high is None or least is None else high - least
        low = None if low is None or most is None else low - most
    return tuple(scaled_terms), low, high


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


def _times_power(number: Fraction, exponent: int) -> Fraction:
    return Fraction(number) * Fraction(2) ** exponent


def _end(number: Fraction | None, exponent: int) -> Fraction | None:
    return None if number is None else _times_power(number, exponent)


def _exponent(number: Fraction) -> int:
    """Return the exponent of a power of two slightly larger than a number."""
    number = Fraction(number)  # some programs have floats
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
