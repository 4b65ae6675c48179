"""What proves a bound: subproblems that cover everything, and multipliers for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from dlopt.arithmetic import PrintableRecord

Terms: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Coefficients by column, or multipliers by row."""
Sides: TypeAlias = tuple[tuple[Fraction | None, Fraction | None], ...]
"""Lower and upper bounds; None is no bound."""


@dataclass(frozen=True, slots=True)
class Leaf(PrintableRecord):
    """A subproblem, and what proves its bound.

    Parameters
    ----------
    fixed : tuple of (int, int)
        Binaries and their values, in the order in which they were branched on.
    multipliers : tuple of (int, Fraction)
        By row: positive ones of its lower bound, negative ones of its upper bound. What they
        leave of a cost is for the bounds of its variable.
    refuted : bool
        They prove that there is no point, instead of bounding the objective.
    """

    fixed: tuple[tuple[int, int], ...]
    multipliers: Terms
    refuted: bool


@dataclass(frozen=True, slots=True)
class BoundCertificate(PrintableRecord):
    """A program over binaries and reals, and the proof of a bound of its minimum.

    `dlopt.formats.vipr` writes it as a file that can be verified without dlopt.

    Parameters
    ----------
    names : tuple of str
        Of the columns; without spaces, no two the same.
    costs : tuple of Fraction
        Of the minimisation; only binaries have any.
    rows : tuple of tuple of (int, Fraction)
    row_bounds, column_bounds : tuple of (Fraction or None, Fraction or None)
    binaries : tuple of int
        Columns.
    cuts : int
        So many of the last rows are no part of the relaxation, but hold for what it relaxes.
    step : Fraction
        What binaries cost is a multiple of it, so that a bound may be rounded up to one.
    bound : Fraction or None
        No point costs less; None if there is no point.
    leaves : tuple of Leaf
        Together they cover all points.
    remarks : tuple of str
        What the program says, in words: of its units, columns and cuts.
    """

    names: tuple[str, ...]
    costs: tuple[Fraction, ...]
    rows: tuple[Terms, ...]
    row_bounds: Sides
    column_bounds: Sides
    binaries: tuple[int, ...]
    cuts: int
    step: Fraction
    bound: Fraction | None
    leaves: tuple[Leaf, ...]
    remarks: tuple[str, ...] = ()
