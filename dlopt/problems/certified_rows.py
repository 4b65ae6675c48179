"""Rows that every plan satisfies, and those that follow from them, as all columns are 0 or more."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from dlopt.certificates import StatedConstraint, StatedProgram

ZERO = Fraction(0)
ONE = Fraction(1)
INDEX = r"(0|[1-9]\d{0,6})"
"""Pattern of an index in the name of a column or a row."""
_ROW = re.compile(rf"([a-z]+)((?:_{INDEX}){{0,5}})(?:_[GL])?", re.ASCII)


class StrongestRow(NamedTuple):
    """The row ``sum_c terms[c] * c <= side`` over columns by name.

    Parameters
    ----------
    terms : mapping of str to Fraction
    side : Fraction
    """

    terms: Mapping[str, Fraction]
    side: Fraction = ZERO

    def implies(self, row: StatedConstraint, program: StatedProgram) -> bool:
        """Tell whether a row of a program follows: its coefficients, as of <=, are no larger.

        Examples
        --------
        >>> from dlopt.formats.vipr import Certificate, Constraint
        >>> program = Certificate(("x", "y"), frozenset(), {}, (), None, ())
        >>> at_least = Constraint({0: ONE, 1: 2 * ONE}, 1, ONE)  # x + 2 y >= 1
        >>> StrongestRow({"x": -ONE, "y": -ONE}, -ONE).implies(at_least, program)
        True
        >>> StrongestRow({"x": -ONE, "y": -3 * ONE}, -ONE).implies(at_least, program)
        False
        """
        if row.sign == 0 or -row.sign * row.side < self.side:
            return False
        stated = {program.names[column]: -row.sign * a for column, a in row.terms.items()}
        names = stated.keys() | self.terms.keys()
        return all(stated.get(name, ZERO) <= self.terms.get(name, ZERO) for name in names)


def kind_and_numbers(name: str) -> tuple[str, list[int]] | None:
    """Return the word in the name of a row, and its indices; None if it is no such name.

    Examples
    --------
    >>> kind_and_numbers("next_0_1_12_G"), kind_and_numbers("next_01")
    (('next', [0, 1, 12]), None)
    """
    match = _ROW.fullmatch(name)
    if match is None:
        return None
    return match[1], [int(text) for text in match[2].split("_")[1:]]


def flaw_of_rows(
    program: StatedProgram, holds: Callable[[str, StatedConstraint], bool]
) -> str | None:
    """Return the first row that some plan may not satisfy, or None if there is none.

    Parameters
    ----------
    program : StatedProgram
    holds : callable
        Tells of a row with its name whether every plan satisfies it; that columns are at least 0 is
        known.
    """
    at_least_nothing, names = StrongestRow({}), {f"{name}_G" for name in program.names}
    for name, row in program.constraints:
        is_bound = name in names and at_least_nothing.implies(row, program)
        if not is_bound and not holds(name, row):
            return f"{name}: it is no constraint of the plans"
    return None
