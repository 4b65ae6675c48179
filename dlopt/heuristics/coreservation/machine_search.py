"""Machines for all parts of several promises at once, by depth-first search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number, exact
from dlopt.calendar import ResourceCalendar, Span
from dlopt.heuristics.coreservation.engine_state import EngineState, Entry
from dlopt.heuristics.coreservation.placement import covers

MAX_NODES = 20_000
"""Spans that one search adds to a calendar, at the most, and all searches after one failure:
about a second. Chosen by hand: with more, fewer promises may be broken after longer."""

Places: TypeAlias = dict[str, dict[int, Span]]
"""Of promises by name the span of each part."""


class Promise(NamedTuple):
    """A promise, and the span of each of its parts in the calendar.

    Parameters
    ----------
    entry : Entry
    spans : dict of int to Span
    rank : tuple
        What is kept before what: the lower rank before the higher one.
    """

    entry: Entry
    spans: dict[int, Span]
    rank: tuple[int, Number]

    @property
    def name(self) -> str:
        """The identity of the request."""
        return self.entry.request.id


class MachineSearch:
    """Finds machines for promises that keep their shares.

    Parameters
    ----------
    state : EngineState

    Notes
    -----
    The largest promises come first, each part on the machine where it was if that has room, else
    on the one with the least room. All searches together examine `MAX_NODES` nodes.
    """

    def __init__(self, state: EngineState) -> None:
        self._state = state
        self._nodes = MAX_NODES

    @property
    def is_complete(self) -> bool:
        """Whether all promises that were not placed cannot be placed."""
        return self._nodes > 0

    def places(self, calendar: ResourceCalendar, promises: Sequence[Promise]) -> Places | None:
        """Return where all promises can be, or None if nothing was found.

        Their spans are in the calendar then, else it is as it was.
        """
        largest_first = sorted(promises, key=_size, reverse=True)
        items = [(promise, part) for promise in largest_first for part in _parts(promise)]
        found: Places = {}
        return found if self._place(calendar, items, 0, found) else None

    def _place(
        self,
        calendar: ResourceCalendar,
        items: list[tuple[Promise, int]],
        index: int,
        found: Places,
    ) -> bool:
        """Place the parts from an index on; tell whether all of them were placed."""
        if index == len(items):
            return True
        promise, part = items[index]
        span = promise.spans[part]
        for machine in self._machines(calendar, promise, part):
            if not self._nodes:
                return False
            self._nodes -= 1
            placed = added(calendar, span._replace(machine=machine))
            found.setdefault(promise.name, {})[part] = placed
            if self._place(calendar, items, index + 1, found):
                return True
            calendar.remove_span(placed.id)
            if not span.amount:
                return False  # it is on any machine as well
        return False

    def _machines(self, calendar: ResourceCalendar, promise: Promise, part: int) -> Iterator[int]:
        """Yield the machines with room for a part, in the order in which they are tried."""
        span, fixed = promise.spans[part], promise.entry.request.parts[part].machine
        rooms = [
            (
                machine != span.machine,
                calendar.smallest_free(machine, span.start, span.end),
                machine,
            )
            for machine in self._state.in_service()
            if fixed in (None, machine)
        ]
        for _, room, machine in sorted(rooms):
            if not span.amount or covers(room, span.amount):
                yield machine


def added(calendar: ResourceCalendar, span: Span, *, overbook: bool = True) -> Span:
    """Add a span like another one to a calendar, from now on; return it."""
    start = max(span.start, calendar.now)
    number = calendar.add_span(span.machine, start, span.end, span.amount, overbook=overbook)
    return calendar.span(number)


def _size(promise: Promise) -> Number:
    return sum((exact(span.amount) for span in promise.spans.values()), exact(0))


def _parts(promise: Promise) -> list[int]:
    """Return the parts of a promise: on a fixed machine first, then the largest first."""
    parts, spans = promise.entry.request.parts, promise.spans
    return sorted(spans, key=lambda part: (parts[part].machine is None, -exact(spans[part].amount)))
