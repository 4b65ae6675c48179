"""Event loop of discrete-event simulations, with ranks of simultaneous events."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any


class Rank(IntEnum):
    """Order of simultaneous events.

    A task that ends at its deadline is in time, and one that ends when its node fails is done.
    """

    END = 0
    FAILURE = 1
    RECOVERY = 2
    DEADLINE = 3
    SAMPLE = 4
    ARRIVAL = 5


class EventLoop:
    """A heap of events, ordered by time, rank and insertion.

    Attributes
    ----------
    now : float

    Examples
    --------
    >>> loop, seen = EventLoop(), []
    >>> loop.at(2.0, Rank.ARRIVAL, seen.append, "b")
    >>> loop.at(2.0, Rank.END, seen.append, "a")
    >>> loop.run(lambda: seen.append(loop.now))
    >>> seen
    ['a', 'b', 2.0]
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()

    def at(self, time: float, rank: Rank, action: Callable[..., None], *given: Any) -> None:
        """Schedule an action at a time, or now if that is past."""
        heappush(self._events, (max(time, self.now), rank, next(self._numbers), action, given))

    def run(self, settled: Callable[[], None]) -> None:
        """Process all events; call `settled` after the last one of each instant."""
        events = self._events
        while events:
            self.now, _, _, action, given = heappop(events)
            action(*given)
            if not events or events[0][0] > self.now:
                settled()
