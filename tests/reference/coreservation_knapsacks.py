"""Whether a row of a certificate of `coreservation` says which parts fit one machine together.

Each column `y` that it has takes its `l` units of CPU; a machine has at most the heaviest set of
columns that fits in what is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from tests.reference.vipr import RefusedError

MOST_SUMS = 32_000_000
"""Sums that are formed of the units of a row."""


class Column(Protocol):
    """A column of the program."""

    kind: str
    request: int
    group: int
    low: int


C = TypeVar("C", bound=Column)


class Shares(Protocol[C]):
    """What is asked of the instance."""

    groups: Sequence[int]

    def instants(self) -> set[Fraction]: ...

    def is_active(self, column: C, instant: Fraction) -> bool: ...

    def free(self, machine: int, instant: Fraction) -> Fraction: ...


def holds_for_knapsack(program: Shares[C], terms: Mapping[C, Fraction], most: Fraction) -> bool:
    """Whether a row holds by which parts are on one machine of a group together at an instant."""
    wanted = [column for column, value in terms.items() if value > 0]
    groups = {column.group for column in wanted}
    if len(groups) != 1 or any(column.kind != "y" or not column.low for column in wanted):
        return False
    allowed = {c.request: -value for c, value in terms.items() if c.kind == "m"}
    members = [machine for machine, group in enumerate(program.groups) if group in groups]
    for instant in program.instants():
        if all(program.is_active(column, instant) for column in wanted):
            weights = {m: heaviest(wanted, terms, program.free(m, instant)) for m in members}
            beyond = (max(w - allowed.get(m, 0), Fraction(0)) for m, w in weights.items())
            if sum(beyond, Fraction(0)) <= most:
                return True
    return False


def heaviest(columns: Sequence[C], weights: Mapping[C, Fraction], free: Fraction) -> Fraction:
    """Return the largest weight of columns whose units fit in what is free.

    Of all sets, only those are kept that are heavier than every one with no more units.
    """
    kept = [(Fraction(0), Fraction(0))]
    for column in columns:
        more = [(units + column.low, weight + weights[column]) for units, weight in kept]
        heavier, most = [], Fraction(-1)
        for units, weight in sorted(kept + more, key=lambda pair: (pair[0], -pair[1])):
            if units <= free and weight > most:
                most = weight
                heavier.append((units, weight))
        kept = heavier or kept
        if len(kept) * len(columns) > MOST_SUMS:
            raise RefusedError("a row has too many sums")
    return kept[-1][1]
