"""What proves a bound: multipliers for subproblems that cover everything, or cutting planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol, TypeAlias

from dlopt.arithmetic import PrintableRecord

Terms: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Coefficients by column, or multipliers by row."""
Sides: TypeAlias = tuple[tuple[Fraction | None, Fraction | None], ...]
"""Lower and upper bounds; None is no bound."""
_BEYOND = 10**2000


def can_be_stated(*numbers: Fraction) -> bool:
    """Tell whether the remarks of a file can state numbers: none of more than 2000 digits is read.

    Examples
    --------
    >>> can_be_stated(Fraction(1, 3), Fraction(-7)), can_be_stated(Fraction(1, 10**2000))
    (True, False)
    """
    return all(max(abs(one.numerator), one.denominator) < _BEYOND for one in numbers)


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
        Of the minimisation; only binaries have any, unless `step` is None.
    rows : tuple of tuple of (int, Fraction)
    row_bounds, column_bounds : tuple of (Fraction or None, Fraction or None)
    binaries : tuple of int
        Columns.
    cuts : int
        So many of the last rows are no part of the relaxation, but hold for what it relaxes.
    step : Fraction or None
        What binaries cost is a multiple of it, so that a bound may be rounded up to one. None if
        no bound is rounded.
    bound : Fraction or None
        No point costs less; None if there is no point.
    leaves : tuple of Leaf
        Together they cover all points.
    remarks : tuple of str
        What the program says, in words: of its units, columns and cuts.
    row_names : tuple of str
        Of the rows, where the names say which constraints they are; else they are numbered.
    """

    names: tuple[str, ...]
    costs: tuple[Fraction, ...]
    rows: tuple[Terms, ...]
    row_bounds: Sides
    column_bounds: Sides
    binaries: tuple[int, ...]
    cuts: int
    step: Fraction | None
    bound: Fraction | None
    leaves: tuple[Leaf, ...]
    remarks: tuple[str, ...] = ()
    row_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derivation(PrintableRecord):
    """A constraint that follows from others, and why.

    Parameters
    ----------
    terms : tuple of (int, Fraction)
        By column.
    sign : int
        Of ``terms . x >= side`` (1) and ``<= side`` (-1).
    side : Fraction
    reason : {"lin", "rnd", "asm", "uns"}
        A linear combination; one whose side is rounded; an assumption; a claim that holds in both
        of two cases that cover everything.
    used : tuple of (int, Fraction)
        Numbers of earlier constraints, with their multipliers. Of ``uns`` these are: the claim in
        one case, the assumption of that case, and the same of the other case.
    """

    terms: Terms
    sign: int
    side: Fraction
    reason: Literal["lin", "rnd", "asm", "uns"]
    used: Terms = ()


@dataclass(frozen=True, slots=True)
class InfeasibilityProof(PrintableRecord):
    """An infeasible program over binaries, and the proof of that by cutting planes and cases.

    Parameters
    ----------
    names : tuple of str
        Of the columns, which are all binary.
    constraints : tuple of (str, tuple of (int, Fraction), int, Fraction)
        Name, terms, sign and side; numbered from 0.
    derivations : tuple of Derivation
        Numbered after the constraints. The last one is a contradiction.
    remarks : tuple of str
        What the program says, in words.
    """

    names: tuple[str, ...]
    constraints: tuple[tuple[str, Terms, int, Fraction], ...]
    derivations: tuple[Derivation, ...]
    remarks: tuple[str, ...] = ()


Certificate: TypeAlias = BoundCertificate | InfeasibilityProof


class StatedConstraint(Protocol):
    """A constraint as a file states it, see `dlopt.formats.vipr.Constraint`."""

    @property
    def terms(self) -> Mapping[int, Fraction]:
        """Coefficients by column, without zeros."""

    @property
    def sign(self) -> int:
        """1 for ``>=``, -1 for ``<=``, 0 for ``=``."""

    @property
    def side(self) -> Fraction:
        """The right-hand side."""


class StatedProgram(Protocol):
    """The program that a file states, see `dlopt.formats.vipr.Certificate`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""

    @property
    def integers(self) -> Set[int]:
        """The columns that are integral."""

    @property
    def costs(self) -> Mapping[int, Fraction]:
        """Of the minimisation."""

    @property
    def constraints(self) -> Sequence[tuple[str, StatedConstraint]]:
        """Constraints with their names."""

    @property
    def claim(self) -> Fraction | None:
        """Claimed lower bound of the minimum; None claims infeasibility."""

    @property
    def remarks(self) -> Mapping[str, str]:
        """Comments by their keys."""
