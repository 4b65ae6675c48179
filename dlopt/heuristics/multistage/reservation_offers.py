"""Counter-offers to a reservation that is refused: a later start, a shorter window, fewer nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf, nextafter

from dlopt.arithmetic import Number, simplest
from dlopt.books import Offer
from dlopt.books.bisection import bisected_concession, sampled_concession
from dlopt.books.verb_results import concession
from dlopt.heuristics.admission.offers import PRECISION
from dlopt.problems.multistage.data import Reservation

MAX_TRIED_INSTANTS = 300
"""Instants that are tried at the most where the decision may change at others as well. Chosen by
hand: a second or two with a hundred tasks."""


@dataclass(frozen=True, slots=True)
class ReservationOffers:
    """The counter-offers to a reservation.

    Parameters
    ----------
    reservation : Reservation
        One that is refused. Its numbers are in the field that the engine computes in.
    accepts : callable
        Tells whether another one would be accepted.
    instants : iterable of Number
        When something that is promised or sent begins or ends.
    proven : bool
        Whether decisions change at these instants alone: there are no bid prices, and there is no
        task that could be planned again around the reservation.

    Examples
    --------
    A node that is reserved from 2 to 4 and from 7 on:

    >>> def accepts(one):
    ...     return one.end <= 2 or (one.start >= 4 and one.end <= 7)
    >>> asked = Reservation("r", arrival=0, start=1, end=3)
    >>> for offer in ReservationOffers(asked, accepts, (2, 4, 7), True).all():
    ...     print(offer.dimension, offer.value, offer.submission.end, offer.least)
    start 4 6 True
    end 2 2 True
    """

    reservation: Reservation
    accepts: Callable[[Reservation], bool]
    instants: Iterable[Number]
    proven: bool

    def all(self) -> Iterator[Offer[Reservation]]:
        """Yield an offer for each dimension in which there is one."""
        for offer in (self.start(), self.end(), self.nodes()):
            if offer is not None:
                yield offer

    def start(self) -> Offer[Reservation] | None:
        """Return an offer of the earliest later start, with the same length and I/O."""
        asked = self.reservation.start
        later = sorted({_shift(asked, instant) for instant in self.instants if instant > asked})
        shift = self._smallest(later, self._accepts_later)
        if shift is None:
            return None
        submission = self._later(shift)
        share = concession(shift + self._length, self._length)
        return Offer("start", submission.start, submission, share, self.proven)

    def end(self) -> Offer[Reservation] | None:
        """Return an offer of the longest window with the same start."""
        start, end = self.reservation.start, self.reservation.end
        shorter = sorted({_shift(-end, -last) for last in self._last_ends() if start < last < end})
        less = self._smallest(shorter, self._accepts_shorter)
        if less is None and not self.proven:
            low = shorter[-1] if shorter else 0 * self._length
            less = sampled_concession(self._accepts_shorter, low, self._length, self._step)
        if less is None:
            return None
        submission = self._shorter(less)
        share = concession(self._length - less, self._length)
        return Offer("end", submission.end, submission, share, self.proven)

    def nodes(self) -> Offer[Reservation] | None:
        """Return an offer of the largest number of nodes; as many others, if nodes were named."""
        asked = self.reservation.count
        for count in range(asked - isinstance(self.reservation.nodes, int), 0, -1):
            submission = replace(self._later(0 * self._length), nodes=count)
            if self.accepts(submission):
                return Offer("nodes", count, submission, concession(count, asked), True)
        return None

    def _last_ends(self) -> Iterator[Number]:
        """Yield the ends of windows which, or the I/O in which, end when something begins."""
        start, ratio = self.reservation.start, self.reservation.io_ratio
        for instant in self.instants:
            yield instant
            if ratio:
                yield start + (instant - start) / ratio

    @property
    def _length(self) -> Number:
        length: Number = self.reservation.end - self.reservation.start
        return length

    def _step(self, smaller: Number) -> Number:
        return (smaller or self._length) / PRECISION

    def _smallest(
        self, candidates: list[Number], accepts: Callable[[Number], bool]
    ) -> Number | None:
        """Return the first accepted candidate; made smaller, if it is not proven to be least."""
        rejected: Number = 0 * self._length
        if not self.proven:
            candidates = candidates[:: len(candidates) // MAX_TRIED_INSTANTS + 1]
        for candidate in candidates:
            if accepts(candidate):
                if self.proven:
                    return candidate
                return bisected_concession(accepts, rejected, candidate, self._step)
            rejected = candidate
        return None

    def _accepts_later(self, shift: Number) -> bool:
        one = self.reservation  # in floats, nothing of a short window may be left
        return one.start + shift < one.end + shift and self.accepts(self._later(shift))

    def _accepts_shorter(self, less: Number) -> bool:
        one = self.reservation
        return one.start < one.end - less and self.accepts(self._shorter(less))

    def _later(self, shift: Number) -> Reservation:
        one = self.reservation
        return replace(
            one,
            start=simplest(one.start + shift),
            end=simplest(one.end + shift),
            io_end=None if one.io_end is None else simplest(one.io_end + shift),
        )

    def _shorter(self, less: Number) -> Reservation:
        one = self.reservation
        end = simplest(one.end - less)
        io_end = None if one.io_end is None else min(simplest(one.io_end), end)
        return replace(one, start=simplest(one.start), end=end, io_end=io_end)


def _shift(asked: Number, instant: Number) -> Number:
    """Return by how much a start is to be later, in floats rounded so that it reaches an instant.

    With both negative, it is by how much an end is to be earlier.

    Examples
    --------
    >>> all(0.1 + _shift(0.1, instant / 7) >= instant / 7 for instant in range(1, 100))
    True
    >>> all(9.1 - _shift(-9.1, -instant / 7) <= instant / 7 for instant in range(1, 60))
    True
    """
    shift = instant - asked
    while asked + shift < instant:
        shift = nextafter(shift, inf)
    return shift
