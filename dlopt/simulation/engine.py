"""The engine: what happens next, and in which order at one instant."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any


class Rank(IntEnum):
    """Who comes first at one instant.

    What ends at a deadline is in time, and what ends as its node fails is done.
    """

    END = 0
    FAILURE = 1
    RECOVERY = 2
    DEADLINE = 3
    SAMPLE = 4
    ARRIVAL = 5


class Engine:
    """A heap of events, in the order of time, rank and call.

    Attributes
    ----------
    now : float

    Examples
    --------
    >>> engine, seen = Engine(), []
    >>> engine.at(2.0, Rank.ARRIVAL, seen.append, "b")
    >>> engine.at(2.0, Rank.END, seen.append, "a")
    >>> engine.run(lambda: seen.append(engine.now))
    >>> seen
    ['a', 'b', 2.0]
    """

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()

    def at(self, time: float, rank: Rank, action: Callable[..., None], *given: Any) -> None:
        """Let something happen, at that time or, if it is past, now."""
        heappush(self._events, (max(time, self.now), rank, next(self._numbers), action, given))

    def run(self, settled: Callable[[], None]) -> None:
        """Go on until nothing more happens; call `settled` when all of an instant has happened."""
        events = self._events
        while events:
            self.now, _, _, action, given = heappop(events)
            action(*given)
            if not events or events[0][0] > self.now:
                settled()
