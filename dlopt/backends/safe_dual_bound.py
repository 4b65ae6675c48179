"""Safe dual bounds of linear programs: valid whatever the rounding errors of the solver.

Every vector y of dual multipliers bounds a linear program with bounded variables,

    min {c x : lower <= A x <= upper, l <= x <= u}
        >= sum_i y_i (lower_i if y_i > 0 else upper_i) + sum_j r_j (l_j if r_j > 0 else u_j),

with the reduced costs ``r = c - A' y``. So the multipliers of a floating-point solver, converted
to fractions, prove a bound in integers; it differs from the optimum by about as much as they do
(Neumaier and Shcherbina, Math. Program. 99, 2004).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram, Row, whole_multiple

_MULTIPLIER_BITS = 64
"""Binary digits of a multiplier that rounding keeps, beyond those of the scales of rows."""
_TERM_BITS = 32
"""Binary digits to which the product of a multiplier and its row's largest coefficient is kept."""
_MAX_COMMON_DENOMINATOR = 1 << 256
"""Common denominators up to this size keep multipliers with few digits exact; beyond it the
integers would grow for little. All three were chosen by hand: precision against speed."""


class DualVector(NamedTuple):
    """Dual multipliers as integers per row, over a common unit; rows not listed have 0."""

    terms: tuple[tuple[int, int], ...]
    unit: int


ZERO_DUALS = DualVector((), 1)


class SafeDualBound:
    """A program with bounded variables, in integers, and its safe dual bounds.

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
    >>> program = SafeDualBound(LinearProgram(2, (Fraction(1),) * 2, (row,), sides, (unit, unit)))
    >>> [program.bound(program.quantise([y]), program.bounds) for y in (1.0, 0.5)]
    [Fraction(3, 2), Fraction(3, 4)]
    """

    def __init__(self, program: LinearProgram) -> None:
        self.bounds: list[tuple[Fraction, Fraction]] = []
        for lower, upper in program.column_bounds:
            if lower is None or upper is None:
                raise ValueError("every variable needs a lower and an upper bound")
            self.bounds.append((lower, upper))
        self.cost_scale = lcm(*(cost.denominator for cost in program.costs))
        self.costs = [whole_multiple(cost, self.cost_scale) for cost in program.costs]
        self.rows: list[tuple[int, list[tuple[int, int]], int | None, int | None]] = []
        self.digits, self.common = _MULTIPLIER_BITS, 1
        for row, (lower, upper) in zip(program.rows, program.row_bounds, strict=True):
            self.add((row, lower, upper))

    def add(self, row: Row) -> None:
        """Add a constraint."""
        terms, lower, upper = row
        sides = [side.denominator for side in (lower, upper) if side is not None]
        scale = lcm(*(a.denominator for _, a in terms), *sides)
        low, high = (
            None if side is None else whole_multiple(side, scale) for side in (lower, upper)
        )
        self.rows.append((scale, [(j, whole_multiple(a, scale)) for j, a in terms], low, high))
        largest = max((abs(a) for _, a in self.rows[-1][1]), default=0)
        digits = max(_MULTIPLIER_BITS + scale.bit_length(), _TERM_BITS + largest.bit_length())
        self.digits = max(self.digits, digits)
        common = lcm(self.common, scale)
        self.common = common if common < _MAX_COMMON_DENOMINATOR else self.common

    def original_row(self, r: int) -> Row:
        """Return a constraint with its original coefficients, instead of integers."""
        scale, terms, *sides = self.rows[r]
        low, high = (None if side is None else Fraction(side, scale) for side in sides)
        return tuple((j, Fraction(a, scale)) for j, a in terms), low, high

    def quantise(self, multipliers: Iterable[float]) -> DualVector:
        """Return the multipliers of a solver, rounded to integers over a common unit.

        Those of a side that the row does not have become 0, all are rounded to the digits that
        the row with the most digits needs; bounds are computed from the rounded numbers alone.
        """
        unit = self.common << self.digits
        terms = []
        for r, (multiplier, row) in enumerate(zip(multipliers, self.rows, strict=True)):
            scale, _, low, high = row
            if multiplier and (low if multiplier > 0 else high) is not None:
                top, bottom = multiplier.as_integer_ratio()
                terms.append((r, top * unit // (bottom * scale)))
        return DualVector(tuple(terms), unit)

    def bound(
        self, multipliers: DualVector, bounds: Sequence[tuple[Fraction, Fraction]]
    ) -> Fraction:
        """Return the safe dual bound: a lower bound of the objective, for any multipliers.

        Parameters
        ----------
        multipliers : DualVector
            One a row: positive at its lower bound, negative at its upper.
        bounds : sequence of (Fraction, Fraction)
            Of the variables, for a part of the program in which some of them are fixed.
        """
        return self._bound(self.costs, multipliers, bounds)

    def proves_infeasible(
        self, ray: DualVector, bounds: Sequence[tuple[Fraction, Fraction]]
    ) -> bool:
        """Return whether multipliers prove that no point satisfies all rows (Farkas' lemma)."""
        return self._bound([0] * len(self.costs), ray, bounds) > 0

    def infeasible_row(self, bounds: Sequence[tuple[Fraction, Fraction]]) -> DualVector | None:
        """Return the dual ray of a row that no point within the bounds satisfies, if any."""
        for r, (_, terms, low, high) in enumerate(self.rows):
            most = sum(a * bounds[j][a > 0] for j, a in terms)
            least = sum(a * bounds[j][a < 0] for j, a in terms)
            if low is not None and most < low:
                return DualVector(((r, 1),), 1)
            if high is not None and least > high:
                return DualVector(((r, -1),), 1)
        return None

    def in_row_units(self, multipliers: DualVector) -> tuple[tuple[int, Fraction], ...]:
        """Return multipliers of the rows with their original coefficients, as fractions."""
        return tuple(
            (r, Fraction(weight * self.rows[r][0], multipliers.unit))
            for r, weight in multipliers.terms
            if weight
        )

    def _bound(
        self,
        costs: list[int],
        multipliers: DualVector,
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
