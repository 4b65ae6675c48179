"""Bounds of linear programs that hold whatever a solver's rounding did.

Every vector of multipliers bounds a linear program whose variables are bounded: what the
multipliers leave of each cost goes to the bound of its variable that costs least. So the
multipliers of a floating-point solver, read as fractions, prove a bound in integers; it is off
from the optimum by about as much as they are (Neumaier and Shcherbina, Math. Program. 99, 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram, Row

_SPARE = 64  # binary digits that rounding keeps of a multiplier, beyond those of its row
_PRECISE = 32  # digits to which the term of a row that counts most is kept
_MOST = 1 << 256  # common denominators up to this keep multipliers of few digits exact


class Multipliers(NamedTuple):
    """Multipliers as they count in a bound: integers a row, over a unit; the others are 0."""

    terms: tuple[tuple[int, int], ...]
    unit: int


NO_MULTIPLIERS = Multipliers((), 1)


class SafeProgram:
    """A program whose columns all have bounds, in integers, to be bounded by any multipliers.

    Parameters
    ----------
    program : LinearProgram

    Raises
    ------
    ValueError
        If a variable has no lower or no upper bound.

    Examples
    --------
    >>> unit = (Fraction(0), Fraction(1))
    >>> row = ((0, Fraction(1)), (1, Fraction(1)))
    >>> sides = ((Fraction(3, 2), None),)
    >>> program = SafeProgram(LinearProgram(2, (Fraction(1),) * 2, (row,), sides, (unit, unit)))
    >>> [program.bound(program.read([y]), program.bounds) for y in (1.0, 0.5)]
    [Fraction(3, 2), Fraction(3, 4)]
    """

    def __init__(self, program: LinearProgram) -> None:
        self.bounds: list[tuple[Fraction, Fraction]] = []
        for lower, upper in program.column_bounds:
            if lower is None or upper is None:
                raise ValueError("every variable needs a lower and an upper bound")
            self.bounds.append((lower, upper))
        self.cost_scale = lcm(*(cost.denominator for cost in program.costs))
        self.costs = [int(cost * self.cost_scale) for cost in program.costs]
        self.rows: list[tuple[int, list[tuple[int, int]], int | None, int | None]] = []
        self.digits, self.common = _SPARE, 1
        for row, (lower, upper) in zip(program.rows, program.row_bounds, strict=True):
            self.add((row, lower, upper))

    def add(self, row: Row) -> None:
        """Add a constraint."""
        terms, lower, upper = row
        sides = [side.denominator for side in (lower, upper) if side is not None]
        scale = lcm(*(a.denominator for _, a in terms), *sides)
        low, high = (None if side is None else int(side * scale) for side in (lower, upper))
        self.rows.append((scale, [(j, int(a * scale)) for j, a in terms], low, high))
        largest = max((abs(a) for _, a in self.rows[-1][1]), default=0)
        digits = max(_SPARE + scale.bit_length(), _PRECISE + largest.bit_length())
        self.digits = max(self.digits, digits)
        common = lcm(self.common, scale)
        self.common = common if common < _MOST else self.common

    def stated(self, r: int) -> Row:
        """Return a constraint as it was stated, instead of in integers."""
        scale, terms, *sides = self.rows[r]
        low, high = (None if side is None else Fraction(side, scale) for side in sides)
        return tuple((j, Fraction(a, scale)) for j, a in terms), low, high

    def read(self, multipliers: Iterable[float]) -> Multipliers:
        """Return the multipliers of a solver as they count here.

        Those that lean on a bound that is not there are 0, all are rounded to the digits that
        their row needs, and what they bound is computed from these numbers alone.
        """
        unit = self.common << self.digits
        terms = []
        for r, (multiplier, row) in enumerate(zip(multipliers, self.rows, strict=True)):
            scale, _, low, high = row
            if multiplier and (low if multiplier > 0 else high) is not None:
                top, bottom = multiplier.as_integer_ratio()
                terms.append((r, top * unit // (bottom * scale)))
        return Multipliers(tuple(terms), unit)

    def bound(
        self, multipliers: Multipliers, bounds: Sequence[tuple[Fraction, Fraction]]
    ) -> Fraction:
        """Return what the objective is not below, for any multipliers of the minimisation.

        Parameters
        ----------
        multipliers : Multipliers
            One a row: positive at its lower bound, negative at its upper.
        bounds : sequence of (Fraction, Fraction)
            Of the variables, for a part of the program in which some of them are fixed.
        """
        return self._bound(self.costs, multipliers, bounds)

    def refutes(self, ray: Multipliers, bounds: Sequence[tuple[Fraction, Fraction]]) -> bool:
        """Tell whether multipliers prove that no point satisfies all rows (after Farkas)."""
        return self._bound([0] * len(self.costs), ray, bounds) > 0

    def hopeless_row(self, bounds: Sequence[tuple[Fraction, Fraction]]) -> Multipliers | None:
        """Return the ray of a row that no point within the bounds satisfies, if there is one."""
        for r, (_, terms, low, high) in enumerate(self.rows):
            most = sum(a * bounds[j][a > 0] for j, a in terms)
            least = sum(a * bounds[j][a < 0] for j, a in terms)
            if low is not None and most < low:
                return Multipliers(((r, 1),), 1)
            if high is not None and least > high:
                return Multipliers(((r, -1),), 1)
        return None

    def of_rows(self, multipliers: Multipliers) -> tuple[tuple[int, Fraction], ...]:
        """Return multipliers of the rows as they were stated, instead of as integers."""
        return tuple(
            (r, Fraction(weight * self.rows[r][0], multipliers.unit))
            for r, weight in multipliers.terms
            if weight
        )

    def _bound(
        self,
        costs: list[int],
        multipliers: Multipliers,
        bounds: Sequence[tuple[Fraction, Fraction]],
    ) -> Fraction:
        unit = multipliers.unit
        reduced = [cost * unit for cost in costs]
        total = 0
        for r, multiplier in multipliers.terms:
            _, terms, low, high = self.rows[r]
            if not multiplier:
                continue
            side = low if multiplier > 0 else high
            if side is None:
                raise ValueError("a multiplier leans on a side that its row does not have")
            weight = self.cost_scale * multiplier
            total += weight * side
            for j, a in terms:
                reduced[j] -= weight * a
        value = Fraction(total)
        for rest, (lower, upper) in zip(reduced, bounds, strict=True):
            if rest:
                value += rest * (lower if rest > 0 else upper)
        return value / (self.cost_scale * unit)
