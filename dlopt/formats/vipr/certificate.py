"""Statements of a certificate, and the verification of its derivations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import TypeAlias

# Without exponents: a few letters would spell a number of a billion digits.
_NUMBER = re.compile(r"[+-]?[0-9]+(/0*[1-9][0-9]*|\.[0-9]*)?")
_WHOLE = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True)
class Constraint:
    """``terms . x >= side`` (sign 1), ``<= side`` (-1) or ``= side`` (0).

    Parameters
    ----------
    terms : dict of int to Fraction
        Without zeros.
    sign : int
    side : Fraction
    given : frozenset of int
        Assumptions it rests on, by their numbers.
    """

    terms: dict[int, Fraction]
    sign: int
    side: Fraction
    given: frozenset[int] = frozenset()

    @property
    def is_contradiction(self) -> bool:
        """Whether no point satisfies it, because its left side is 0."""
        if self.terms:
            return False
        return self.side * self.sign > 0 or (self.sign == 0 and self.side != 0)

    def implies(self, other: Constraint) -> bool:
        """Return whether it dominates the other one, or is a contradiction."""
        if self.is_contradiction:
            return True
        if self.terms != other.terms or self.sign not in (0, other.sign):
            return False
        if other.sign == 0:
            return self.side == other.side
        return (self.side - other.side) * other.sign >= 0


Step: TypeAlias = tuple[str, Constraint, tuple[str, ...], int | None]
"""Name, derived constraint, the words of its reason, and the last step that may use it: None if it
is not stated."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """The program, derivations and claim of a file.

    Parameters
    ----------
    names : tuple of str
        Of the variables.
    integers : frozenset of int
        Those that are integral.
    costs : dict of int to Fraction
        Of the minimisation.
    constraints : tuple of (str, Constraint)
        Of the program, with their names.
    claim : Fraction or None
        Claimed lower bound of the minimum; None claims infeasibility.
    steps : iterable of Step
        A tuple; an iterator, if they are read while they are followed, see `parse_lines`.
    remarks : dict of str to str
        Comments of the form ``% key: value``. Those that are read with the steps are added.
    """

    names: tuple[str, ...]
    integers: frozenset[int]
    costs: dict[int, Fraction]
    constraints: tuple[tuple[str, Constraint], ...]
    claim: Fraction | None
    steps: Iterable[Step]
    remarks: dict[str, str] = field(default_factory=dict)

    def flaw(self) -> str | None:
        """Return the first derivation that is invalid, or None if the claim is proven.

        If it is proven, all steps have been read, to the end of the file.

        Complexity: linear in the length of the file, in rational arithmetic; in memory are the
        constraints of the program, and those steps whose last use is to come or not stated.
        """
        known = _KnownConstraints(one for _, one in self.constraints)
        last: Constraint | None = None
        for name, claimed, reason, last_use in self.steps:
            try:
                found = self._derived(claimed, reason, known)
            except (ValueError, ZeroDivisionError) as error:
                return f"{name} does not follow: {error}"
            if not found.implies(claimed):
                return f"{name} does not follow from what it is said to follow from"
            last = Constraint(claimed.terms, claimed.sign, claimed.side, found.given)
            known.add(last, last_use)
        if last is None:
            return "nothing is derived"
        if last.given:
            return "the last step rests on assumptions"
        costs, least = ({}, Fraction(1)) if self.claim is None else (self.costs, self.claim)
        goal = Constraint(costs, 1, least)
        return None if last.implies(goal) else "the last step is not what is claimed"

    def _derived(
        self, claimed: Constraint, reason: Sequence[str], known: _KnownConstraints
    ) -> Constraint:
        kind, *words = reason or ("nothing",)
        if kind == "asm":
            if words:
                raise ValueError("what is assumed has no reason")
            return Constraint(claimed.terms, claimed.sign, claimed.side, frozenset({known.count}))
        if kind in ("lin", "rnd"):
            found = _linear_combination(_pairs(words), known, claimed.sign)
            return found if kind == "lin" else self._rounded(found)
        if kind == "uns":
            return self._disjunction(claimed, [whole(word) for word in words], known)
        raise ValueError(f"{kind} is no reason")

    def _rounded(self, found: Constraint) -> Constraint:
        if found.sign == 0 or not self._integral(found):
            raise ValueError("only inequalities of integers can be rounded")
        side = ceil(found.side) if found.sign > 0 else floor(found.side)
        return Constraint(found.terms, found.sign, Fraction(side), found.given)

    def _disjunction(
        self, claimed: Constraint, numbers: list[int], known: _KnownConstraints
    ) -> Constraint:
        """Resolve a disjunction: an integral expression is at most `d`, or at least ``d + 1``."""
        one, low, two, high = (known.at(number) for number in numbers)
        lower, upper = (low, high) if low.sign < 0 else (high, low)
        if not (
            (lower.sign, upper.sign) == (-1, 1)
            and lower.terms == upper.terms
            and lower.side + 1 == upper.side
            and lower.side.denominator == 1
            and self._integral(lower)
        ):
            raise ValueError("the two cases do not cover everything")
        if not (one.implies(claimed) and two.implies(claimed)):
            raise ValueError("it does not hold in both cases")
        given = (one.given - {numbers[1]}) | (two.given - {numbers[3]})
        return Constraint(claimed.terms, claimed.sign, claimed.side, given)

    def _integral(self, one: Constraint) -> bool:
        return all(j in self.integers and a.denominator == 1 for j, a in one.terms.items())


class _KnownConstraints:
    """Constraints by their numbers; a derived one is forgotten after its last use."""

    def __init__(self, stated: Iterable[Constraint]) -> None:
        self.kept = dict(enumerate(stated))
        self.count = len(self.kept)
        self.forgotten_after: dict[int, list[int]] = {}

    def add(self, derived: Constraint, last_use: int | None) -> None:
        """Add the constraint of a step, and forget those that no later step may use."""
        step = self.count
        self.kept[step] = derived
        if last_use is not None:  # one before the step itself says that no step uses it
            self.forgotten_after.setdefault(max(last_use, step), []).append(step)
        for number in self.forgotten_after.pop(step, ()):
            del self.kept[number]
        self.count += 1

    def at(self, number: int) -> Constraint:
        """Return the constraint of a number."""
        if not 0 <= number < self.count:
            raise ValueError(f"there is no constraint {number} before it")
        if number not in self.kept:
            raise ValueError(f"constraint {number} is used after what is stated as its last use")
        return self.kept[number]


def _linear_combination(
    pairs: Iterable[tuple[int, Fraction]], known: _KnownConstraints, sign: int
) -> Constraint:
    """Return a linear combination of constraints; multipliers must preserve the direction."""
    terms: dict[int, Fraction] = {}
    side, given = Fraction(0), frozenset[int]()
    for number, multiplier in pairs:
        one = known.at(number)
        if one.sign and (sign == 0 or one.sign * multiplier * sign < 0):
            raise ValueError(f"the multiplier of constraint {number} turns it round")
        side += multiplier * one.side
        given |= one.given
        for j, a in one.terms.items():
            terms[j] = terms.get(j, Fraction(0)) + multiplier * a
    return Constraint({j: a for j, a in terms.items() if a}, sign, side, given)


def _pairs(words: Sequence[str]) -> list[tuple[int, Fraction]]:
    """Read a count, and as many pairs of a constraint's number and its multiplier."""
    count, *rest = words or ("",)
    if len(rest) != 2 * whole(count):
        raise ValueError(f"it announces {count} multipliers and has others")
    return [(whole(n), number(m)) for n, m in zip(rest[::2], rest[1::2], strict=True)]


@lru_cache(maxsize=10_000)
def number(text: str) -> Fraction:
    """Return the number that a text spells.

    Raises
    ------
    ValueError
        If it is no number, or one with an exponent, or has more digits than Python reads.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:30]!r} is no number")
    return Fraction(text)


def whole(text: str) -> int:
    """Return the whole number, not negative, that a text of the digits 0 to 9 spells.

    Raises
    ------
    ValueError
        If it spells none, or has more digits than Python reads.
    """
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:30]!r} is no whole number")
    return int(text)
