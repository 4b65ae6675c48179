"""Rows with names, as certificates state them, and their relaxation with the rows scaled.

Examples
--------
>>> row = NamedRow("total", ((0, Fraction(4)), (1, Fraction(6))), None, Fraction(8), Fraction(2))
>>> program = scaled_relaxation([row], [-ONE, -ONE], [ONE, ONE])
>>> program.rows, program.row_bounds
((((0, Fraction(2, 1)), (1, Fraction(3, 1))),), ((None, Fraction(4, 1)),))
>>> multipliers_of([row], ((0, -ONE),))
((0, Fraction(-1, 2)),)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.certificates import Terms

ZERO = Fraction(0)
ONE = Fraction(1)

Expression = dict[int, Fraction]
"""Coefficients by column."""


class NamedRow(NamedTuple):
    """A row with its name, and what it is divided by for the solver of linear programs."""

    name: str
    terms: Terms
    lower: Fraction | None
    upper: Fraction | None
    scale: Fraction = ONE

    @property
    def scaled(self) -> Row:
        """The row as the solver has it."""
        low, high = (None if s is None else s / self.scale for s in (self.lower, self.upper))
        return tuple((j, a / self.scale) for j, a in self.terms), low, high


def scaled_relaxation(
    rows: Sequence[NamedRow], costs: Sequence[Fraction], upper: Sequence[Fraction]
) -> LinearProgram:
    """Return the program of scaled rows, over columns between 0 and their upper bounds."""
    scaled = [row.scaled for row in rows]
    return LinearProgram(
        len(costs),
        tuple(costs),
        tuple(terms for terms, _, _ in scaled),
        tuple((low, high) for _, low, high in scaled),
        tuple((ZERO, high) for high in upper),
    )


def multipliers_of(rows: Sequence[NamedRow], of_scaled: Terms) -> Terms:
    """Return the multipliers of rows that those of the scaled rows stand for."""
    return tuple((r, multiplier / rows[r].scale) for r, multiplier in of_scaled)


def difference(one: Expression, other: Expression) -> Expression:
    """Return a difference without the terms that vanish."""
    terms = ((j, one.get(j, ZERO) - other.get(j, ZERO)) for j in one | other)
    return {j: a for j, a in terms if a}
