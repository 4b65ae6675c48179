"""Event loop of discrete-event simulations, with ranks of simultaneous events."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any, Generic, TypeVar

from dlopt.arithmetic import Number

InstantT = TypeVar("InstantT", float, Number)


class Rank(IntEnum):
    """Order of simultaneous events.

    A task that ends at its deadline is in time, and one that ends when its node fails is done. What
    frees a node comes before what does not free it in time, and a task is decided on before
    anything is sent at its arrival.
    """

    END = 0
    OVERRUN = 1
    FAILURE = 2
    RECOVERY = 3
    DEADLINE = 4
    SAMPLE = 5
    ARRIVAL = 6
    START = 7


class EventLoop(Generic[InstantT]):
    """A heap of events, ordered by time, rank and insertion.

    Parameters
    ----------
    start : float or Fraction
        The first instant.

    Attributes
    ----------
    now : float or Fraction

    Examples
    --------
    >>> loop, seen = EventLoop(0.0), []
    >>> loop.at(2.0, Rank.ARRIVAL, seen.append, "b")
    >>> loop.at(2.0, Rank.END, seen.append, "a")
    >>> loop.run(lambda: seen.append(loop.now))
    >>> seen
    ['a', 'b', 2.0]
    """

    def __init__(self, start: InstantT) -> None:
        self.now: InstantT = start
        self._events: list[tuple[InstantT, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()

    def at(self, time: InstantT, rank: Rank, action: Callable[..., None], *given: Any) -> None:
        """Schedule an action at a time, or now if that is past."""
        heappush(self._events, (max(time, self.now), rank, next(self._numbers), action, given))

    @property
    def next_instant(self) -> InstantT | None:
        """The instant of the next event; None if there is none."""
        return self._events[0][0] if self._events else None

    def run(self, settled: Callable[[], None]) -> None:
        """Process all events; call `settled` after the last one of each instant."""
        events = self._events
        while events:
            self.now, _, _, action, given = heappop(events)
            action(*given)
            if not events or events[0][0] > self.now:
                settled()
