"""What plans count for, as whole numbers: solvers that add whole numbers need no tolerance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TypeAlias

from dlopt.models.coreservation.requests import Piece
from dlopt.models.coreservation.scaled_instance import Case

LARGEST = 1 << 43
"""Common denominators beyond this are rounded off, see `Scale`."""

Held: TypeAlias = Mapping[int, tuple[int, int]]
"""Machine and units of each job that is accepted; all jobs of a wish, or none."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of a level is 1 to a solver.

    Parameters
    ----------
    level : str
    factor : int
        So many make one.
    exact : bool
        Whether all coefficients are whole so. If not they are rounded up, all of them: what
        bounds the rounded ones bounds the true ones.
    """

    level: str
    factor: int
    exact: bool

    @classmethod
    def of(cls, case: Case, level: str, largest: int = LARGEST) -> Scale:
        """Return the coarsest scale that is exact, or a fine one that rounds up."""
        numbers = [number for k in range(len(case.wishes)) for number in _numbers(case, level, k)]
        factor = lcm(*{number.denominator for number in numbers})
        if factor * max(1, ceil(sum(numbers, Fraction(0)))) <= largest * 1024:
            return cls(level, factor, True)
        total = sum(case.weight(level, k) for k in range(len(case.wishes)))
        return cls(level, max(1, floor(largest / total)), False)

    def units(self, number: Fraction) -> int:
        """Return a coefficient, rounded up."""
        return ceil(number * self.factor)


def coefficients(case: Case, job: int, piece: Piece) -> tuple[Fraction, Fraction]:
    """Return what a piece of a job adds to the benefit: at its low end, and a unit above it."""
    weight = case.weight("benefit", case.jobs[job].wish)
    return weight * piece.worth, weight * piece.slope


def level_of(case: Case, level: str, held: Held) -> Fraction:
    """Return a level of the objective of a plan."""
    if level == "machines":
        return Fraction(len({machine for machine, units in held.values() if units}))
    accepted = {case.jobs[i].wish for i in held}
    if level != "benefit":
        weights = (case.weight(level, k) for k in accepted)
        return case.value(level, sum(weights, Fraction(0)))
    return sum(
        (
            case.weight(level, case.jobs[i].wish) * worth_at(case.jobs[i].pieces, units)
            for i, (_, units) in held.items()
        ),
        Fraction(0),
    )


def worth_at(pieces: tuple[Piece, ...], units: int) -> Fraction:
    """Return the benefit of a share that is at least the least one."""
    best = Fraction(0)
    for piece in pieces:
        if piece.low <= units:
            reached = min(units, piece.high) - piece.low
            best = max(best, piece.worth + piece.slope * reached)
    return best


def key_of(case: Case, held: Held) -> tuple[Fraction, ...]:
    """Return the levels of a plan, each such that more is better."""
    return tuple(signed(level, level_of(case, level, held)) for level in case.levels)


def signed(level: str, value: Fraction) -> Fraction:
    """Return a level's value such that more is better."""
    return value if level == "benefit" else -value


def trivial(case: Case, level: str) -> Fraction:
    """Return what a level would be if all that could be accepted alone were, at its best."""
    if level == "machines":
        return Fraction(0)
    if level != "benefit":
        everything = sum((case.weight(level, k) for k in range(len(case.wishes))), Fraction(0))
        return signed(level, case.value(level, everything))
    return sum((most_of(case, level, k) for k in range(len(case.wishes))), Fraction(0))


def most_of(case: Case, level: str, wish: int) -> Fraction:
    """Return what accepting a request adds to a level at the most, such that more is better."""
    weight = case.weight(level, wish)
    if level != "benefit":
        return weight
    best = (max(p.best for p in case.jobs[i].pieces) for i in case.wishes[wish].jobs)
    return weight * sum(best, Fraction(0))


def offset(case: Case, level: str) -> Fraction:
    """Return a level, such that more is better, of a plan that accepts nothing."""
    return Fraction(0) if level == "machines" else signed(level, case.value(level, Fraction(0)))


def _numbers(case: Case, level: str, wish: int) -> Iterator[Fraction]:
    if level != "benefit":
        yield case.weight(level, wish)
        return
    for i in case.wishes[wish].jobs:
        for piece in case.jobs[i].pieces:
            yield from coefficients(case, i, piece)
