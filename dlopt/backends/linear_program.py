"""Linear programs in fractions, and certificates of optimality.

minimise    c x
subject to  lower_i <= a_i x <= upper_i  for each row i,   l <= x <= u
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from math import lcm
from typing import TypeAlias

Bounds = tuple[tuple[Fraction | None, Fraction | None], ...]
Row: TypeAlias = tuple[tuple[tuple[int, Fraction], ...], Fraction | None, Fraction | None]
"""Coefficients by column, lower bound and upper bound of a constraint."""


def whole_multiple(number: Fraction, scale: int) -> int:
    """Return ``number * scale``, where `scale` is a multiple of its denominator.

    It takes no gcd, which dominates with numbers of thousands of bits.

    Examples
    --------
    >>> whole_multiple(Fraction(3, 4), 12)
    9
    """
    return number.numerator * (scale // number.denominator)


class BasisStatus(IntEnum):
    """Status of a variable or a row in a basis; a nonbasic free variable is zero."""

    BASIC = 0
    AT_LOWER = 1
    AT_UPPER = 2
    FREE = 3


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Minimise ``c.x`` subject to ``lower <= a_i.x <= upper`` per row and bounds on ``x``.

    Parameters
    ----------
    columns : int
        Number of variables.
    costs : tuple of Fraction
        ``c``, of the minimisation (negated if the original problem maximises).
    rows : tuple of tuple of (int, Fraction)
        Each ``a_i`` as (column, coefficient) pairs.
    row_bounds, column_bounds : tuple of (Fraction or None, Fraction or None)
        Lower and upper bounds; None is no bound.
    offset : Fraction
        Constant of the objective, in the original sense.
    sense : int
        1 if the original problem minimises, -1 if it maximises: its objective is
        ``sense * c.x + offset``.
    """

    columns: int
    costs: tuple[Fraction, ...]
    rows: tuple[tuple[tuple[int, Fraction], ...], ...]
    row_bounds: Bounds
    column_bounds: Bounds
    offset: Fraction = Fraction(0)
    sense: int = 1

    def __post_init__(self) -> None:
        """Check the shapes."""
        if len(self.costs) != self.columns or len(self.column_bounds) != self.columns:
            raise ValueError(f"{self.columns} columns need as many costs and bounds")
        if len(self.rows) != len(self.row_bounds):
            raise ValueError(f"{len(self.rows)} rows, but {len(self.row_bounds)} row bounds")
        if not all(0 <= j < self.columns for row in self.rows for j, _ in row):
            raise ValueError("a row names a column that does not exist")
        if self.sense not in (1, -1):
            raise ValueError(f"sense must be 1 or -1, got {self.sense}")


@dataclass(slots=True)
class ProgramBuilder:
    """States a linear program column by column and row by row.

    Parameters
    ----------
    costs, column_bounds, rows, row_bounds
        As of `LinearProgram`, so far.

    Examples
    --------
    >>> builder, one = ProgramBuilder(), Fraction(1)
    >>> x, y = (builder.add_column(Fraction(0), one, cost=-one) for _ in range(2))
    >>> builder.add_row([(x, one), (y, one)], None, one)
    >>> program = builder.build()
    >>> program.columns, program.rows == (((x, one), (y, one)),)
    (2, True)
    """

    costs: list[Fraction] = field(default_factory=list)
    column_bounds: list[tuple[Fraction | None, Fraction | None]] = field(default_factory=list)
    rows: list[tuple[tuple[int, Fraction], ...]] = field(default_factory=list)
    row_bounds: list[tuple[Fraction | None, Fraction | None]] = field(default_factory=list)

    def add_column(
        self, lower: Fraction | None, upper: Fraction | None, cost: Fraction = Fraction(0)
    ) -> int:
        """Add a column between bounds, and return its index."""
        self.column_bounds.append((lower, upper))
        self.costs.append(cost)
        return len(self.costs) - 1

    def add_row(
        self, terms: Iterable[tuple[int, Fraction]], lower: Fraction | None, upper: Fraction | None
    ) -> None:
        """Add the row ``lower <= terms <= upper``."""
        self.rows.append(tuple(terms))
        self.row_bounds.append((lower, upper))

    def build(self, sense: int = 1) -> LinearProgram:
        """Return the program as stated so far; see `LinearProgram` for its sense."""
        return LinearProgram(
            len(self.costs),
            tuple(self.costs),
            tuple(self.rows),
            tuple(self.row_bounds),
            tuple(self.column_bounds),
            sense=sense,
        )


@dataclass(frozen=True, slots=True)
class Certificate:
    """A primal solution and the dual solution that proves it optimal.

    Parameters
    ----------
    value : Fraction
        Objective in the original sense, offset included.
    primal : tuple of Fraction
        One per column.
    dual : tuple of Fraction
        One multiplier per row, of the minimisation: positive at lower bounds, negative at upper.
    """

    value: Fraction
    primal: tuple[Fraction, ...]
    dual: tuple[Fraction, ...]


def verify(program: LinearProgram, certificate: Certificate) -> bool:
    """Check exactly that a certificate proves its value to be the optimum of the program.

    The solution must be primal feasible, no dual value or reduced cost may refer to a bound that
    does not exist (dual feasibility), and the dual objective must equal the primal one.
    """
    if (len(certificate.primal), len(certificate.dual)) != (program.columns, len(program.rows)):
        return False
    # Over a common denominator most sums need no gcd, which dominates with numbers of 10 000 bits.
    scale = lcm(*{x.denominator for x in certificate.primal})
    point = [x.numerator * (scale // x.denominator) for x in certificate.primal]
    dual_scale = lcm(*{y.denominator for y in certificate.dual})
    duals = [y.numerator * (dual_scale // y.denominator) for y in certificate.dual]
    activities = [sum((a * point[j] for j, a in row), Fraction(0)) for row in program.rows]
    reduced = [cost * dual_scale for cost in program.costs]
    for row, dual in zip(program.rows, duals, strict=True):
        for j, a in row:
            reduced[j] -= a * dual
    dual_objective = Fraction(0)
    sides: tuple[tuple[Sequence[Fraction | int], Sequence[Fraction | int], Bounds], ...] = (
        (activities, duals, program.row_bounds),
        (point, reduced, program.column_bounds),
    )
    for values, weights, bounds in sides:
        for value, weight, (lower, upper) in zip(values, weights, bounds, strict=True):
            if lower is not None and value < lower * scale:
                return False
            if upper is not None and value > upper * scale:
                return False
            bound = lower if weight > 0 else upper
            if weight != 0:
                if bound is None:
                    return False
                dual_objective += weight * bound
    objective = sum((c * x for c, x in zip(program.costs, point, strict=True)), Fraction(0))
    claimed = (certificate.value - program.offset) * program.sense
    return objective == claimed * scale and dual_objective == claimed * dual_scale
