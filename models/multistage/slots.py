"""The chunks that may be sent around reservations, and which of them could meet."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from dlopt.models.admission.order import SPARE
from dlopt.models.admission.sequence import takes_port
from dlopt.models.multistage.case import Case
from dlopt.models.multistage.sequence import gaps

MOST_SLOTS = 1_000
MOST_PAIRS = 10_000
"""A larger model would hardly fit into memory, let alone be solved."""


class Slot(NamedTuple):
    """A chunk that may be sent."""

    job: int
    node: int
    gap: int
    number: int


class Slots:
    """The chunks of a case, with their windows.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node in a gap.
    late : Fraction, optional
        By how much deadlines may be missed, if all tasks are accepted.
    """

    def __init__(self, case: Case, installments: int, late: Fraction | None = None) -> None:
        self.case, self.stream, self.installments = case, case.stream, installments
        self.everyone, self.late = late is not None, late or Fraction(0)
        self.due = [job.due + self.late + SPARE for job in case.jobs]
        self.gaps = [gaps(case, i) for i in range(len(case.jobs))]
        slots = [
            Slot(i, j, g, number)
            for i in range(len(case.jobs))
            for j in self.stream.nodes
            for g in range(len(self.gaps[i]))
            for number in range(installments)
        ]
        slots = [a for a in slots if self.first(a) <= self.last(a) and self._room(a) > 0]
        self.slots = sorted(slots, key=lambda a: (self.first(a), self.last(a), a))
        self.pairs = self._pairs()

    @property
    def too_large(self) -> bool:
        """Whether the model had better not be stated."""
        return self.pairs is None

    def first(self, a: Slot) -> Fraction:
        """Return when a chunk can be sent at the earliest."""
        return max(self.gaps[a.job][a.gap][0], self.stream.free[a.node])

    def last(self, a: Slot) -> Fraction:
        """Return when the gap of a chunk ends."""
        return self.gaps[a.job][a.gap][1]

    def _windows(
        self, slots: list[Slot], port: bool
    ) -> Iterator[tuple[Fraction, Fraction, list[Slot]]]:
        """Yield start and end of windows, and the chunks whose own windows lie inside."""
        for start in sorted({self.first(a) for a in slots}):
            later = [a for a in slots if self.first(a) >= start]
            for end in sorted({self.due[a.job] for a in later}):
                inside = [a for a in later if self.due[a.job] <= end]
                costs = [(self._costs(a, port), self._room(a)) for a in inside]
                reserved = bool(self.case.bookings)
                if reserved or sum(c + u * room for (c, u), room in costs) > end - start:
                    yield start, end, inside

    def _pairs(self) -> list[tuple[Slot, Slot]] | None:
        """Return the chunks that could be in each other's way, the first one in an earlier gap or
        the same; None if they are too many.
        """
        if len(self.slots) > MOST_SLOTS:
            return None
        pairs: list[tuple[Slot, Slot]] = []
        for one, other in combinations(self.slots, 2):
            a, b = (other, one) if self.last(other) <= self.first(one) else (one, other)
            port = a.node != b.node
            if port and not all(takes_port(self.stream, c.node) for c in (a, b)):
                continue
            free = self.last(a) > self.first(b)
            if self._end(a, port) > self.first(b) and (
                not free or self._end(b, port) > self.first(a)
            ):
                pairs.append((a, b))
                if len(pairs) > MOST_PAIRS:
                    return None
        return pairs

    def _end(self, a: Slot, port: bool) -> Fraction:
        """Return when a chunk must be sent, or computed, at the latest."""
        return self.due[a.job] - (self.stream.theta_cp if port else 0)

    def _room(self, a: Slot) -> Fraction:
        time = self.due[a.job] - self.first(a) - self.stream.overhead
        return min(self.case.jobs[a.job].load, time / self.stream.unit(a.node))

    def _costs(self, a: Slot, port: bool) -> tuple[Fraction, Fraction]:
        """Return the set-up time of a chunk, and its time for each unit of load."""
        if port:
            return self.stream.theta_cm, self.stream.tau[a.node]
        return self.stream.overhead, self.stream.unit(a.node)
