"""The chunks that may be sent around reservations, and which of them could meet."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.admission.sequencing_milp import SPARE
from dlopt.models.multistage.fixed_sequence_lp import gaps
from dlopt.models.multistage.scaled_instance import Case

MOST_SLOTS = 1_000
MOST_PAIRS = 10_000
"""A larger model would hardly fit into memory, let alone be solved."""
TOO_MANY = (
    "there are too many orders of chunks to model: the program would have more than "
    f"{MOST_SLOTS:,} chunks, or {MOST_PAIRS:,} pairs of them"
)
"""Why the program over orders is left out."""


class Slot(NamedTuple):
    """A chunk that may be sent."""

    job: int
    node: int
    gap: int
    number: int


class Reach(NamedTuple):
    """When a chunk can be sent at the earliest, and when it must be sent, and computed."""

    first: Fraction
    sent: Fraction
    done: Fraction


class Stage(NamedTuple):
    """Chunks that start before a mark, and behind it: all of them are to end by `end`."""

    mark: Fraction
    end: Fraction
    before: list[Slot]
    after: list[Slot]


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
        self.reach = {a[:3]: self._reach(a) for a in slots}
        slots = [a for a in slots if self._fits(a)]
        self.slots = sorted(slots, key=lambda a: (self.first(a), self.last(a), a))
        self.pairs = self._pairs()

    @property
    def too_large(self) -> bool:
        """Whether the model had better not be stated."""
        return self.pairs is None

    def first(self, a: Slot) -> Fraction:
        """Return when a chunk can be sent at the earliest."""
        return self.reach[a.job, a.node, a.gap].first

    def last(self, a: Slot) -> Fraction:
        """Return when the gap of a chunk ends."""
        return self.gaps[a.job][a.gap][1]

    def until(self, a: Slot, port: bool) -> Fraction:
        """Return when a chunk must be sent, or computed, whatever else is accepted."""
        reach = self.reach[a.job, a.node, a.gap]
        return reach.sent if port else reach.done

    def _windows(
        self, slots: list[Slot], port: bool
    ) -> Iterator[tuple[Fraction, Fraction, list[Slot]]]:
        """Yield start and end of windows, and the chunks whose own windows lie inside."""
        for start in sorted({self.first(a) for a in slots}):
            later = [a for a in slots if self.first(a) >= start]
            for end in sorted({self.until(a, port) for a in later}):
                inside = [a for a in later if self.until(a, port) <= end]
                costs = [(self._costs(a, port), self._room(a)) for a in inside]
                reserved = bool(self.case.bookings)
                if reserved or sum(c + u * room for (c, u), room in costs) > end - start:
                    yield start, end, inside

    def _stages(self, slots: list[Slot], port: bool) -> Iterator[Stage]:
        """Yield what lies on either side of the start of a reservation."""
        for mark in self.case.marks:
            ahead = [a for a in slots if self.last(a) <= mark]
            behind = [a for a in slots if self.first(a) >= mark]
            for end in sorted({self.until(a, port) for a in behind}):
                before, after = (
                    [a for a in side if self.until(a, port) <= end] for side in (ahead, behind)
                )
                if before:
                    yield Stage(mark, end, before, after)

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
        """Return the latest end of a chunk, whether it is there or not: its gap ends its starts.

        The later it starts the later it can end, though it may have to be smaller; but what must
        be sent by an instant is computed the later the earlier it starts, for it can be larger.
        """
        start, (setup, unit) = self.last(a), self._costs(a, port)
        ends = [self.until(a, port), start + setup + unit * self.case.jobs[a.job].load]
        ends.append(start + setup + unit * self._most(a, start, False))
        if port:
            ends.append(start + setup + unit * self._most(a, start, True))
        else:
            first = self.first(a)
            ends.append(first + setup + unit * self._most(a, first, True))
        return max(start, min(ends))

    def _fits(self, a: Slot) -> bool:
        """Tell whether something can be sent, without what the solver is granted."""
        ends = ((self.until(a, port) - self._costs(a, port)[0], port) for port in (True, False))
        late = any(self.first(a) + SPARE >= end for end, port in ends if self._costs(a, port)[1])
        return self.first(a) <= self.last(a) and not late

    def _room(self, a: Slot) -> Fraction:
        return min(self._most(a, self.first(a), port) for port in (True, False))

    def _most(self, a: Slot, start: Fraction, port: bool) -> Fraction:
        """Return how much of a chunk that starts at an instant is sent, or computed, in time."""
        load, (setup, unit) = self.case.jobs[a.job].load, self._costs(a, port)
        return min(load, (self.until(a, port) - start - setup) / unit) if unit else load

    def _reach(self, a: Slot) -> Reach:
        """Return when a chunk may be sent between the reservations that cannot be refused."""
        begin, done = self.gaps[a.job][a.gap][0], self.due[a.job]
        first, sent = max(begin, self.stream.free[a.node]), done - self.stream.theta_cp
        ported = takes_port(self.stream, a.node)
        for booking in self.case.bookings:
            if not (booking.must or self.everyone):
                continue
            mine = booking.named and a.node in booking.able
            on_port = ported and booking.sent > booking.start
            if booking.start <= begin:
                first = max(first, booking.sent) if on_port else first
                first = max(first, booking.end) if mine else first
                continue
            sent = min(sent, booking.start + SPARE) if on_port else sent
            done = min(done, booking.start + SPARE) if mine else done
        return Reach(first, min(sent, done - self.stream.theta_cp), done)

    def _costs(self, a: Slot, port: bool) -> tuple[Fraction, Fraction]:
        """Return the set-up time of a chunk, and its time for each unit of load."""
        if port:
            return self.stream.theta_cm, self.stream.tau[a.node]
        return self.stream.overhead, self.stream.unit(a.node)
