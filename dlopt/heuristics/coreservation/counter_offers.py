"""What would be accepted instead of a request that is rejected.

Each offer was placed on a copy of the calendar. With one part, or with parts on one machine each,
less capacity never turns a rejection into an acceptance, so that the first candidate that is
accepted is proven to be the smallest concession. With other parts the fit may depend on what is
free in a way that is not monotone, and prices depend on when a request starts; then it is the best
that was found.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, islice

from dlopt.arithmetic import Number, exact, simplest
from dlopt.books import Offer
from dlopt.books.verb_results import concession, ranked
from dlopt.heuristics.coreservation.engine_state import EngineState, place_batch
from dlopt.problems.coreservation.data import Part, Request

MAX_STARTS = 1000
"""Starts that are tried, at the most, after which no later start is offered. Chosen by hand: a
trial takes as long as a decision."""

MAX_SUBSET_PARTS = 6
"""Parts of a request of which all subsets are considered for a factor of their CPU: 63 subsets.
Of more, each is considered alone, and all together. Chosen by hand."""

PRECISION = Fraction(1, 10**6)
"""Where an offer is not proven to be the least, one that concedes less by this share of its value
is rejected: what `dlopt.books.Offer` promises."""


class CounterOffers:
    """Looks for what would be accepted instead of a request.

    Parameters
    ----------
    state : EngineState
        It is not changed.
    request : Request
        As it could be submitted now.
    at : Number
        When it would be decided.
    """

    def __init__(self, state: EngineState, request: Request, at: Number) -> None:
        self._state = state
        self._request = request
        self._calendar = state.calendar.copy()
        self._calendar.advance(at)
        self._placement = state.trial(self._calendar)
        fixed = [part.machine for part in request.parts if part.machine is not None]
        single = len(request.parts) == 1
        without_choice = single or len(set(fixed)) == len(fixed) == len(request.parts)
        self._monotone = without_choice and not state.algorithm.priced

    def offers(self, count: int) -> tuple[Offer[Request], ...]:
        """Return the offers of the smallest concessions; none if the request would be accepted."""
        if self._accepts(self._request):
            return self._offer_to_wait()
        found = (self._later_start(), self._less_cpu(), self._earlier_end())
        return ranked([offer for offer in found if offer is not None], count)

    def _accepts(self, request: Request) -> bool:
        """Tell whether a request would be accepted; the calendar is left as it was."""
        placement = self._state.trial(self._calendar.copy())
        return place_batch(placement, [request])[request.id] is None

    def _offer_to_wait(self) -> tuple[Offer[Request], ...]:
        """Return the offer to submit later what was rejected then and would be accepted now."""
        request, entry = self._request, self._state.entries.get(self._request.id)
        if entry is None or replace(request, arrival=entry.submitted.arrival) != entry.submitted:
            return ()
        wait = simplest(request.arrival - entry.submitted.arrival)
        if not wait:
            return ()
        return (Offer("wait", wait, request, concession(wait, 0), True),)

    def _later_start(self) -> Offer[Request] | None:
        """Return the offer of the earliest start with the same length of the window."""
        before = self._request.start
        length = self._request.end - before
        for start in islice(self._candidate_starts(length), MAX_STARTS):
            if self._accepts(self._starting(start)):
                start = self._tightened(start, before, self._starting)
                amount = concession(start, self._request.start)
                return Offer("start", start, self._starting(start), amount, self._monotone)
            before = start
        return None

    def _starting(self, start: Number) -> Request:
        request = self._request
        return replace(request, start=start, end=start + (request.end - request.start))

    def _candidate_starts(self, length: Number) -> Iterator[Number]:
        """Yield starts at which capacity becomes free and each part has room by itself."""
        ends = (span.end for span in self._calendar.spans())
        start = self._request.start
        changes = sorted({since for since in (*ends, *self._steps()) if since > start})
        while True:
            index = bisect_right(changes, start)
            if index == len(changes):
                return
            found = self._start_of_each_part(changes[index], length)
            if found is None:
                return
            start = found
            yield start

    def _start_of_each_part(self, after: Number, length: Number) -> Number | None:
        """Return the first instant from which on each part has room, if it were alone."""
        start = after
        while True:
            latest = start
            for part in self._request.parts:
                own = [
                    self._calendar.earliest_start(
                        machine, self._required(part), length, after=start
                    )
                    for machine in self._placement.machines(part)
                ]
                possible = [instant for instant in own if instant is not None]
                if not possible:
                    return None
                latest = max(latest, min(possible))
            if latest == start:
                return start
            start = latest

    def _required(self, part: Part) -> Number:
        return part.cpu if self._state.algorithm.allocation == "full" else part.least

    def _steps(self) -> Iterator[Number]:
        """Yield the instants at which the capacity of a machine changes."""
        for machine in range(self._calendar.machines):
            yield from (since for since, _ in self._calendar.capacity(machine))

    def _less_cpu(self) -> Offer[Request] | None:
        """Return the offer of the largest factor for the CPU of all parts."""
        request = self._request
        lowest = max(
            (exact(part.least) / exact(part.cpu) for part in request.parts if not part.hard),
            default=Fraction(0),
        )
        factors = {factor for factor in self._critical_factors() if lowest <= factor < 1}
        ascending = sorted(factors | ({lowest} if 0 < lowest < 1 else set()))
        found = self._last_accepted(ascending, self._shrunk)
        if found is None:
            return None
        higher = next((factor for factor in ascending if factor > found), Fraction(1))
        found = self._tightened(found, higher, self._shrunk)
        shrunk = self._shrunk(found)
        floating = any(isinstance(part.cpu, float) for part in shrunk.parts)
        value = _float_below(exact(found)) if floating else simplest(found)
        return Offer("cpu", value, shrunk, concession(value, 1), self._monotone)

    def _critical_factors(self) -> Iterator[Fraction]:
        """Yield the factors with which some parts together take all that a machine has free."""
        request, calendar = self._request, self._calendar
        asked = [exact(part.cpu) for part in request.parts]
        sizes = range(1, len(asked) + 1) if len(asked) <= MAX_SUBSET_PARTS else (1, len(asked))
        totals = {sum(some) for size in sizes for some in combinations(asked, size)}
        for machine in range(calendar.machines):
            free = exact(calendar.smallest_free(machine, request.start, request.end))
            if free > 0:
                yield from (free / total for total in totals)

    def _shrunk(self, factor: Number) -> Request:
        """Return the request with so much less CPU, rounded down in floats."""
        parts = []
        for part in self._request.parts:
            whole = exact(part.cpu) * exact(factor)
            cpu = _float_below(whole) if isinstance(part.cpu, float) else simplest(whole)
            least = cpu if part.hard and part.cpu_min is not None else part.cpu_min
            parts.append(replace(part, cpu=cpu, cpu_min=least))
        return replace(self._request, parts=tuple(parts))

    def _earlier_end(self) -> Offer[Request] | None:
        """Return the offer of the longest window from the same start."""
        request = self._request
        starts = (span.start for span in self._calendar.spans())
        ends = sorted(
            {since for since in (*starts, *self._steps()) if request.start < since < request.end}
        )
        end = self._last_accepted(ends, self._ending)
        if end is None:
            return None
        later = next((since for since in ends if since > end), request.end)
        end = self._tightened(end, later, self._ending)
        return Offer("end", end, self._ending(end), concession(end, request.end), self._monotone)

    def _ending(self, end: Number) -> Request:
        return replace(self._request, end=end)

    def _last_accepted(
        self, ascending: Sequence[Number], made: Callable[[Number], Request]
    ) -> Number | None:
        """Return a value with which the request is accepted, and with the next one is not."""
        low, high = -1, len(ascending)
        while high - low > 1:
            middle = (low + high) // 2
            if self._accepts(made(ascending[middle])):
                low = middle
            else:
                high = middle
        return None if low < 0 else ascending[low]

    def _tightened(
        self, accepted: Number, rejected: Number, made: Callable[[Number], Request]
    ) -> Number:
        """Return a value of which one that is closer to a rejected one by `PRECISION` is rejected.

        Where less capacity never leads to acceptance this is the accepted one.
        """
        while not self._monotone:
            step = exact(accepted) * PRECISION
            gap = exact(rejected) - exact(accepted)
            if abs(gap) <= step:
                break
            closer = _of_kind(accepted, exact(accepted) + (step if gap > 0 else -step))
            if not self._accepts(made(closer)):
                break
            middle = _of_kind(accepted, (exact(closer) + exact(rejected)) / 2)
            if self._accepts(made(middle)):
                accepted = middle
            else:
                accepted, rejected = closer, middle
        return accepted


def _of_kind(other: Number, value: Fraction) -> Number:
    """Return a value as a float if another one is a float."""
    return float(value) if isinstance(other, float) else simplest(value)


def _float_below(number: Fraction) -> float:
    """Return the largest float that is at most a number."""
    near = float(number)
    return near if exact(near) <= number else math.nextafter(near, -math.inf)
