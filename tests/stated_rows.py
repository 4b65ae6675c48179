"""Rows of certificates, schedules as points of them, and what two checkers say of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dlopt.formats.vipr import Certificate, Constraint
from dlopt.io import instance_to_data
from dlopt.registry import problem_of
from dlopt.result import Result, Status
from tests.reference import coreservation_program, load_program
from tests.reference.certificates import check_stream
from tests.reference.vipr import File, RefusedError, Row

MARGINS = (Fraction(1, 10**12), Fraction(1, 1000), Fraction(1, 2))
CHANGES = (-1, Fraction(1, 2), 1, 1, 2)


@dataclass(frozen=True)
class StatedRow:
    """The row that terms are at most a side; names of columns are their numbers."""

    name: str
    terms: Mapping[int, Fraction]
    side: Fraction
    letter: str = "L"
    """As it stands in a file: of ``G`` both sides have the other sign there."""

    def value(self, point: Mapping[int, Fraction]) -> Fraction:
        """The left side at a point."""
        return sum((a * point.get(column, 0) for column, a in self.terms.items()), Fraction(0))

    @property
    def in_file(self) -> tuple[dict[int, Fraction], Fraction]:
        """Terms and side as a file has them."""
        sign = 1 if self.letter == "L" else -1
        return {column: sign * a for column, a in self.terms.items() if a}, sign * self.side


def rows_of(
    name: str,
    terms: Iterable[tuple[int, Fraction]],
    lower: Fraction | None,
    upper: Fraction | None,
    *,
    with_letter: bool = True,
) -> Iterator[StatedRow]:
    """Yield the rows of both sides."""
    known = dict(terms)
    if upper is not None:
        yield StatedRow(f"{name}_L" if with_letter else name, known, upper)
    if lower is not None:
        other = {column: -a for column, a in known.items()}
        yield StatedRow(f"{name}_G" if with_letter else name, other, -lower, "G")


@dataclass(frozen=True)
class Statement:
    """A program as a certificate states it, and the point of one schedule that it is about."""

    instance: Any
    objective: str
    remarks: dict[str, str]
    names: tuple[str, ...]
    integers: frozenset[int]
    costs: dict[int, Fraction]
    claim: Fraction | None
    rows: tuple[StatedRow, ...]
    point: dict[int, Fraction]
    plan_class: str = "any"
    installments: int | None = None

    @property
    def cost(self) -> Fraction:
        """The objective at the point."""
        return sum((a * self.point.get(j, 0) for j, a in self.costs.items()), Fraction(0))

    def violated(self) -> list[str]:
        """Names of the rows that the schedule violates."""
        return [row.name for row in self.rows if row.value(self.point) > row.side]

    def flaws(self, rows: Iterable[StatedRow]) -> tuple[str | None, str | None]:
        """Why dlopt and the second checker refuse the program with some rows, None if not."""
        rows = list(rows)
        stated = tuple(
            (row.name, Constraint(*row.in_file[:1], 1 - 2 * (row.letter == "L"), row.in_file[1]))
            for row in rows
        )
        certificate = Certificate(
            self.names, self.integers, self.costs, stated, self.claim, (), self.remarks
        )
        result: Result[Any] = Result(
            Status.BOUND,
            objective=self.objective,
            bound=0,
            plan_class=self.plan_class,
            installments=self.installments,
        )
        first = problem_of(self.instance).load_certified()(self.instance, result, certificate)
        own = [Row(row.name, row.letter, row.in_file[1], row.in_file[0]) for row in rows]
        columns = list(self.names)
        file = File(self.remarks, columns, set(self.integers), self.costs, own, self.claim)
        try:
            self._second(instance_to_data(self.instance), file)
        except RefusedError as error:
            return first[1], str(error)
        return first[1], None

    def _second(self, data: dict[str, Any], file: File) -> None:
        if self.instance.problem == "iit":
            chunks = 1 if self.plan_class == "single" else self.installments
            load_program.check(data, self.objective, file, chunks)
        elif self.instance.problem == "coreservation":
            coreservation_program.check(data, self.objective, file)
        else:
            check_stream(data, self.objective, file, self.installments)

    def tightened(self, draw: random.Random) -> StatedRow:
        """Return a row that the schedule violates: one of the program, now and then changed."""
        row = draw.choice(self.rows)
        terms = dict(row.terms)
        for _ in range(draw.choice((0, 0, 1, 1, 2))):
            some = (terms, self.point, range(len(self.names)))
            column = draw.choice([*draw.choice([columns for columns in some if columns])])
            terms[column] = terms.get(column, Fraction(0)) + draw.choice(CHANGES)
        least = replace(row, terms=terms).value(self.point) - draw.choice(MARGINS)
        return replace(row, terms=terms, side=least)


def share_of(
    event: tuple[Fraction, Fraction], interval: tuple[Fraction, Fraction], *, at_end: bool
) -> Fraction:
    """Return how much of an event is in an interval.

    What takes no time, at an instant that ends an interval, is in that one or in the next.
    """
    (start, end), (begin, stop) = event, interval
    if start == end:
        return Fraction(begin < end <= stop if at_end else begin <= start < stop)
    return max(Fraction(0), min(end, stop) - max(start, begin)) / (end - start)


def assert_rows_hold(statement: Statement, seed: int, changes: int) -> None:
    """The schedule satisfies all rows, both checkers accept them, and none that it violates."""
    assert statement.violated() == []
    flaws = statement.flaws(statement.rows)
    assert flaws == (None, None), flaws
    draw = random.Random(seed)
    for _ in range(changes if statement.rows else 0):
        row = statement.tightened(draw)
        assert None not in statement.flaws([row]), (row, statement)
