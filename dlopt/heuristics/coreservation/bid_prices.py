"""The bid price of CPU: the dual value of what is free in the window of a request.

The requests that arrived last are taken as the forecast of those to come. A part can be given more
CPU in steps, along the concave majorant of its benefit: step `i` adds the benefit ``v_i``, weighted
by the priority of the request, and takes ``a_i`` of CPU times time. The time is that of the window
with a `margin` on each side, half as long as windows are on average: a window of that length
overlaps it if its middle lies in between, and cannot use the CPU either. So a short window takes
more, for its length, than a long one. For a window that starts after ``lead``, the fluid program is

    maximise sum_i v_i x_i  subject to  F(lead) / T sum_i a_i x_i <= C  and  0 <= x_i <= 1,

where ``T`` is the time in which the forecast was decided, ``F(lead)`` the share of its requests
that were decided less than ``lead`` before their start, which is what is still to come for this
window, and ``C`` is what they can use of it. An optimal solution takes the steps of the largest
density ``v_i / a_i``, and the optimal dual value of the constraint is the density of the step that
is taken in part. This is the bid price: the benefit that later requests would have of a unit of CPU
for a unit of time.

Where the forecast is exact and parts can be divided, ``C`` is the CPU that is free in the window.
In a steady state that is ``F(lead)`` times the capacity ``A`` of the machines. The forecast is not
exact, so that the state says less of what will be left: ``C / F(lead)`` is the geometric mean of
``A`` and of ``free / F(lead)``, weighted by `STATE_WEIGHT`, times `TARGET_LOAD`.

The program has one constraint, so that its dual is found by bisection in the sorted steps, without
a solver. The price follows the load, and what is reserved already: windows that fill early become
expensive, and what is left shortly before the start becomes cheap, as seats of an aircraft.

References: Talluri and van Ryzin, The Theory and Practice of Revenue Management, 2004, chapter 3;
Agrawal, Wang and Ye, A dynamic near-optimal algorithm for online linear programming, Operations
Research 62, 2014.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from dlopt.arithmetic import Number, exact, is_exact, simplest
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Part, Request

FORECAST_REQUESTS = 500
"""Requests that the forecast is made of. Measured (docs/better.md): 100 to 2,000 make no
difference of more than one percent."""
LEAST_FORECAST = 10
"""Requests before which CPU has no price. Measured: 5 to 10 are best, 20 lose one percent."""
MARGIN = 0.5
"""Margin on each side of a window, by the mean length of windows. Measured like `TARGET_LOAD`: 0.25
loses half a percent, 0 loses two to four and 1 one."""
TARGET_LOAD = 1.3
"""CPU times time that later requests take with their margins, by what they can use: the margins of
neighbours overlap, and rigid parts leave gaps. Measured on seeds 101 to 104 of figure 5.9 of Min
2001 with 700 and 1,300 requests (docs/better.md): 1.1 and 1.5 lose up to two percent."""
SMALLEST = 1e-99
"""Least density and amount of a step: numbers of snapshots are positive, and at most 1e100."""
LARGEST = 1 / SMALLEST
"""Largest density and amount of a step."""
STATE_WEIGHT = 0.5
"""Weight of what is free in a window in the geometric mean with the capacity. Measured like
`TARGET_LOAD`: 0.35 and 0.7 lose half a percent."""


class Share(NamedTuple):
    """CPU that a part may be given, and its benefit between 0 and 1."""

    cpu: Number
    benefit: float


class DemandStep(NamedTuple):
    """A step along the concave majorant of a benefit function; sorted by falling density."""

    negative_density: float
    """Benefit times priority, per unit of CPU and time, negative."""
    amount: float
    """CPU times time."""


class ForecastRequest(NamedTuple):
    """A request that was decided, as the fluid program sees it."""

    at: float
    """When it was decided."""
    lead: float
    """Time from then to its start."""
    length: float
    """Length of its window."""
    least: float
    """Mean of the least CPU of its parts."""
    steps: tuple[DemandStep, ...]

    @classmethod
    def of(cls, request: Request, at: Number, margin: float) -> ForecastRequest:
        """Return a request that is decided at an instant as the fluid program sees it."""
        length = window_length(request)
        taken = length + 2 * margin
        weight = float(request.priority) / len(request.parts)
        return cls(
            float(at),
            float(exact(request.start) - exact(at)),
            length,
            sum(float(part.least) / len(request.parts) for part in request.parts),
            tuple(step for part in request.parts for step in _steps(part, taken, weight)),
        )


class BidPrices:
    """The price of CPU after the requests that arrived so far; it is not changed by later ones.

    Parameters
    ----------
    forecast : iterable of ForecastRequest
        The last requests, in the order of their decisions.

    Notes
    -----
    Complexity of the first price: O(s) for s steps of the forecast. Of each further one:
    O(log s).

    Examples
    --------
    A request every unit of time, for 4 units of CPU in a window of length 2, announced 10 before:
    with margins of 1 each takes 16 units. If 6 are free per unit of time, 7.8 can be taken, so that
    the price is that of the more important half:

    >>> asked = [
    ...     Request(str(at), at, at + 10, at + 12, 1 + at % 2, (Part(4),)) for at in range(101)
    ... ]
    >>> prices = BidPrices()
    >>> for request in asked:
    ...     prices = prices.with_requests([request], request.arrival)
    >>> prices.price(6, capacity=6, lead=20), prices.price(13, capacity=13, lead=20)
    (0.125, 0.0)

    Nobody comes later than 10 before the start, and what is free then has no price:

    >>> prices.price(6, capacity=6, lead=9)
    0.0
    """

    def __init__(self, forecast: Iterable[ForecastRequest] = ()) -> None:
        self.forecast = tuple(forecast)[-FORECAST_REQUESTS:]
        self._steps = sorted(step for request in self.forecast for step in request.steps)
        self._leads = sorted(request.lead for request in self.forecast)

    def with_requests(self, requests: Iterable[Request], at: Number) -> BidPrices:
        """Return the prices after a batch of further requests, accepted or not.

        Parameters
        ----------
        requests : iterable of Request
            In any order; of more than `FORECAST_REQUESTS` those that arrived last count.
        at : Number
            When they are decided, not before those that are known.
        """
        arrived = sorted(requests, key=lambda request: (exact(request.arrival), request.id))
        margin = _margin([*(one.length for one in self.forecast), *map(window_length, arrived)])
        new = [ForecastRequest.of(request, at, margin) for request in arrived]
        if self.forecast:  # of what was rejected at a later instant the clock did not stay
            latest = self.forecast[-1].at
            new = [one if one.at >= latest else one._replace(at=latest) for one in new]
        forecast = [*self.forecast, *new]
        dropped = forecast[:-FORECAST_REQUESTS]
        found = BidPrices.__new__(BidPrices)
        found.forecast = tuple(forecast[-FORECAST_REQUESTS:])
        found._steps, found._leads = self._steps.copy(), self._leads.copy()
        for request in new:
            insort(found._leads, request.lead)
            for step in request.steps:
                insort(found._steps, step)
        for request in dropped:
            del found._leads[bisect_left(found._leads, request.lead)]
            for step in request.steps:
                del found._steps[bisect_left(found._steps, step)]
        return found

    def price(self, free: Number, capacity: Number, lead: Number) -> float:
        """Return the price of a unit of CPU for a unit of time.

        Parameters
        ----------
        free : Number
            CPU of all machines that is free throughout the window.
        capacity : Number
            All their CPU.
        lead : Number
            Time until it starts.
        """
        if len(self.forecast) < LEAST_FORECAST:
            return 0.0
        later = bisect_left(self._leads, float(lead)) / len(self._leads)
        if not self._span or not later:
            return 0.0
        left = float(capacity) ** (1 - STATE_WEIGHT) * (float(free) / later) ** STATE_WEIGHT
        index = bisect_right(self._taken, TARGET_LOAD * left * self._span)
        return -self._steps[index].negative_density if index < len(self._steps) else 0.0

    @cached_property
    def least_useful_room(self) -> float:
        """The mean of the least CPU of parts: few can use a room that is smaller."""
        count = len(self.forecast)
        return sum(request.least for request in self.forecast) / count if count else 0.0

    @cached_property
    def margin(self) -> float:
        """The time before a window, and after it, in which others cannot use what is free."""
        return _margin([request.length for request in self.forecast])

    @cached_property
    def _span(self) -> float:
        """The time in which as many requests as in the forecast arrive; 0 if it is not known.

        Those of its first batch arrived before the time that it covers.
        """
        count, first = len(self.forecast), self.forecast[0].at
        later = sum(request.at > first for request in self.forecast)
        return (self.forecast[-1].at - first) * count / later if later else 0.0

    @cached_property
    def _taken(self) -> list[float]:
        """The CPU times time of the steps up to each, by falling density."""
        return list(accumulate(step.amount for step in self._steps))


def window_length(request: Request) -> float:
    """Return the length of the window of a request."""
    return float(exact(request.end) - exact(request.start))


def useful_shares(part: Part) -> list[Share]:
    """Return the least CPU of a part, and that at each further point of its benefit function.

    For every price the best share is one of them, or all the CPU that is free.

    Examples
    --------
    >>> from dlopt.problems.coreservation import staircase
    >>> [str(share.cpu) for share in useful_shares(Part(8, 3, staircase(4)))]
    ['3', '4', '6', '8']
    """
    least = exact(part.least)
    points = {exact(share) * exact(part.cpu) for share, _ in part.benefit}
    sizes = sorted({least, *(size for size in points if size > least)})
    return [
        Share(_of_kind(part, size), float(benefit_at(part.benefit, size / exact(part.cpu))))
        for size in sizes
    ]


def _of_kind(part: Part, size: Fraction) -> Number:
    """Return CPU as a number of the kind that a part has; of floats the next that is no less."""
    for own in (part.cpu, part.least):
        if exact(own) == size:
            return own
    if is_exact((part.cpu, part.least)):
        return simplest(size)
    near = float(size)
    near = near if exact(near) >= size else math.nextafter(near, math.inf)
    return near if exact(near) < exact(part.cpu) else part.cpu


def _margin(lengths: Sequence[float]) -> float:
    """Return the margin of windows, by the last ones of some lengths."""
    last = lengths[-FORECAST_REQUESTS:]
    return MARGIN * sum(last) / len(last) if last else 0.0


def _steps(part: Part, taken: float, weight: float) -> Iterator[DemandStep]:
    """Yield the steps of the concave majorant of the benefit of a part, from no CPU on."""
    corners = [(0.0, 0.0)]
    for share in useful_shares(part):
        new = float(share.cpu), share.benefit
        while len(corners) > 1 and _slope(corners[-2], new) >= _slope(corners[-2], corners[-1]):
            corners.pop()
        if new[1] > corners[-1][1] and new[0] > corners[-1][0]:
            corners.append(new)
    for (low, before), (high, after) in pairwise(corners):
        amount = _storable((high - low) * taken)
        yield DemandStep(-_storable((after - before) * weight / amount), amount)


def _storable(number: float) -> float:
    return min(max(number, SMALLEST), LARGEST)


def _slope(left: tuple[float, float], right: tuple[float, float]) -> float:
    return (right[1] - left[1]) / (right[0] - left[0]) if right[0] > left[0] else math.inf
