"""Requests of the scaled instance: parts, benefit segments and cliques, in integers.

CPU is counted in integer units, instants by their rank; see `scaled_instance`.

Examples
--------
>>> linear = Segment(low=2, high=8, benefit=Fraction(1, 4), slope=Fraction(1, 8))
>>> linear.max_benefit
Fraction(1, 1)
>>> [(segment.low, segment.high) for segment in linear.split([5])]
[(2, 5), (6, 8)]
>>> ScaledPart(0, 0, start=0, end=3, segments=(linear,), machines=(0, 1)).minimum
2
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Protocol

from dlopt.arithmetic import Number


class Window(Protocol):
    """What lasts from one instant to another."""

    @property
    def start(self) -> Number:
        """The first instant."""

    @property
    def end(self) -> Number:
        """The instant at which it is over."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a piecewise linear benefit: ``benefit + slope * (share - low)``.

    Where the benefit function is constant, less CPU gives the same benefit: then `high` is `low`.

    Parameters
    ----------
    low, high : int
        The shares of the segment, in units of CPU.
    benefit : Fraction
        At `low`.
    slope : Fraction, default 0
        Benefit of a unit above `low`.
    """

    low: int
    high: int
    benefit: Fraction
    slope: Fraction = Fraction(0)

    @property
    def max_benefit(self) -> Fraction:
        """The benefit of the largest share of the segment."""
        return self.benefit + self.slope * (self.high - self.low)

    def split(self, sizes: Iterable[int]) -> list[Segment]:
        """Return the segment as several that end at sizes, which ascend."""
        segments, low = [], self.low
        for end in (*(size for size in sizes if self.low <= size < self.high), self.high):
            benefit = self.benefit + self.slope * (low - self.low)
            segments.append(Segment(low, end, benefit, self.slope if end > low else Fraction(0)))
            low = end + 1
        return segments


@dataclass(frozen=True, slots=True)
class ScaledPart:
    """A part of a request.

    Parameters
    ----------
    request : int
        The request it belongs to, by its position in `ScaledInstance.requests`.
    index : int
        Its position among the parts of that request.
    start, end : int
        Ranks of instants.
    segments : tuple of Segment
        Of its benefit function, ascending.
    machines : tuple of int
        The machines on which it fits while nothing else is allocated there.
    """

    request: int
    index: int
    start: int
    end: int
    segments: tuple[Segment, ...]
    machines: tuple[int, ...]

    @property
    def minimum(self) -> int:
        """The least share that it accepts."""
        return self.segments[0].low


@dataclass(frozen=True, slots=True)
class ScaledRequest:
    """A request that could be accepted if it were the only one.

    Parameters
    ----------
    index : int
        Its position in `Instance.requests`.
    start, end : int
        Ranks of instants.
    priority : Fraction
    parts : tuple of int
        Positions in `ScaledInstance.parts`.
    """

    index: int
    start: int
    end: int
    priority: Fraction
    parts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Clique:
    """Parts whose windows share an instant: a clique of the interval graph.

    Parameters
    ----------
    instant : int
    parts : tuple of int
    free : tuple of int
        What is free on each machine at the instant. Cliques that others imply are left out.
    """

    instant: int
    parts: tuple[int, ...]
    free: tuple[int, ...]


def overlapping_requests(requests: Sequence[ScaledRequest]) -> list[list[int]]:
    """Return the requests that share an instant with each, itself first; they are given by start.

    Examples
    --------
    >>> windows = [ScaledRequest(k, k, k + 2, Fraction(1), ()) for k in range(3)]
    >>> overlapping_requests(windows)
    [[0, 1], [1, 0, 2], [2, 1]]
    """
    starts = [request.start for request in requests]
    longest = max((request.end - request.start for request in requests), default=0)
    neighbours = []
    for centre, request in enumerate(requests):
        first = bisect_right(starts, request.start - longest - 1)
        last = bisect_right(starts, request.end - 1)
        others = (k for k in range(first, last) if requests[k].end > request.start)
        neighbours.append([centre, *(k for k in others if k != centre)])
    return neighbours


def time_components(requests: Sequence[Window]) -> list[range]:
    """Return the components of requests: those of different components share no instant.

    Requests are given by start, and components as ranges of their positions.

    Examples
    --------
    >>> windows = [ScaledRequest(k, k, k + 2, Fraction(1), ()) for k in (0, 1, 3)]
    >>> time_components(windows)
    [range(0, 2), range(2, 3)]
    """
    firsts: list[int] = []
    until: Number = -1
    for n, request in enumerate(requests):
        if request.start >= until:
            firsts.append(n)
        until = max(until, request.end)
    return [range(first, end) for first, end in pairwise([*firsts, len(requests)])]
