"""Event loop of discrete-event simulations, with ranks of simultaneous events."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any, Generic, TypeVar

from dlopt.arithmetic import Number

TimeT = TypeVar("TimeT", float, Number)


class Rank(IntEnum):
    """Order of simultaneous events.

    A task that ends at its deadline is in time, and one that ends when its node fails is done. What
    frees a node comes before what does not free it in time, and a task is decided on before
    anything is sent at its arrival, and after the reservations that are requested then.
    """

    END = 0
    OVERRUN = 1
    FAILURE = 2
    RECOVERY = 3
    DEADLINE = 4
    SAMPLE = 5
    RESERVATION = 6
    ARRIVAL = 7
    START = 8


class EventLoop(Generic[TimeT]):
    """A heap of events, ordered by time, rank and insertion.

    Parameters
    ----------
    start : Number
        The time at first; times are numbers of its type.

    Attributes
    ----------
    now : Number

    Examples
    --------
    >>> loop, seen = EventLoop(0.0), []
    >>> loop.at(2.0, Rank.ARRIVAL, seen.append, "b")
    >>> loop.at(2.0, Rank.END, seen.append, "a")
    >>> loop.run(lambda: seen.append(loop.now))
    >>> seen
    ['a', 'b', 2.0]
    """

    def __init__(self, start: TimeT) -> None:
        self.now: TimeT = start
        self._events: list[tuple[TimeT, int, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()

    @property
    def next_time(self) -> TimeT | None:
        """The time of the next event; None if there is none."""
        return self._events[0][0] if self._events else None

    @property
    def pending(self) -> bool:
        """Whether events are left."""
        return bool(self._events)

    def at(self, time: TimeT, rank: Rank, action: Callable[..., None], *given: Any) -> None:
        """Schedule an action at a time, or now if that is past."""
        heappush(self._events, (max(time, self.now), rank, next(self._numbers), action, given))

    def run(self, settled: Callable[[], None] | None = None, until: TimeT | None = None) -> None:
        """Process all events, or those before `until`; then that is the time.

        `settled` is called after the last event of each instant.
        """
        events = self._events
        while events and (until is None or events[0][0] < until):
            self.now, _, _, action, given = heappop(events)
            action(*given)
            if settled is not None and (not events or events[0][0] > self.now):
                settled()
        if until is not None:
            self.now = until
