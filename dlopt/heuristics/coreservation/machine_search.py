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
    The earliest promises come first, each part on the machine where it was if that has room, else
    on the one with the least room. So what is left to place meets nothing of what was placed but
    the shares that have not ended; with the same of these on equal machines it is tried once. All
    searches together examine `MAX_NODES` nodes.
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
        items = sorted(
            ((promise, part) for promise in promises for part in promise.spans), key=_item_order
        )
        kinds = self._kinds(calendar, items)
        placed: list[Span] = []
        if not self._place(calendar, items, kinds, placed, set()):
            return None
        found: Places = {}
        for (promise, part), span in zip(items, placed, strict=True):
            found.setdefault(promise.name, {})[part] = span
        return found

    def _place(
        self,
        calendar: ResourceCalendar,
        items: list[tuple[Promise, int]],
        kinds: Sequence[int],
        placed: list[Span],
        failed: set[tuple[object, ...]],
    ) -> bool:
        """Place the parts that are not placed yet; tell whether all of them were."""
        if len(placed) == len(items):
            return True
        promise, part = items[len(placed)]
        span = promise.spans[part]
        if failed and _what_matters(kinds, placed, span.start) in failed:
            return False
        for machine in self._machines(calendar, promise, part):
            if not self._nodes:
                return False
            self._nodes -= 1
            placed.append(added(calendar, span._replace(machine=machine)))
            if self._place(calendar, items, kinds, placed, failed):
                return True
            calendar.remove_span(placed.pop().id)
        failed.add(_what_matters(kinds, placed, span.start))
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

    def _kinds(self, calendar: ResourceCalendar, items: list[tuple[Promise, int]]) -> list[int]:
        """Return for each machine the first one that is equal to it for all of the parts."""
        known: dict[object, int] = {}
        own = {promise.entry.request.parts[part].machine for promise, part in items}
        since = items[0][0].spans[items[0][1]].start
        own |= {span.machine for span in calendar.spans() if span.amount and span.end > since}
        return [
            known.setdefault(j if j in own else (machine.steps, j in self._state.failed), j)
            for j, machine in enumerate(self._state.machines)
        ]


def added(calendar: ResourceCalendar, span: Span, *, overbook: bool = True) -> Span:
    """Add a span like another one to a calendar, from now on; return it."""
    start = max(span.start, calendar.now)
    number = calendar.add_span(span.machine, start, span.end, span.amount, overbook=overbook)
    return calendar.span(number)


def _item_order(item: tuple[Promise, int]) -> tuple[Number, bool, Number]:
    """Order parts by their start; on a fixed machine first, then the largest first."""
    promise, part = item
    span = promise.spans[part]
    return span.start, promise.entry.request.parts[part].machine is None, -exact(span.amount)


def _what_matters(
    kinds: Sequence[int], placed: Sequence[Span], since: Number
) -> tuple[object, ...]:
    """Return what matters of the spans that were placed for those that begin later."""
    on_machines: list[list[tuple[Number, Number]]] = [[] for _ in kinds]
    for span in placed:
        if span.amount and span.end > since:
            on_machines[span.machine].append((span.end, span.amount))
    machines = ((kind, *sorted(shares)) for kind, shares in zip(kinds, on_machines, strict=True))
    return len(placed), *sorted(machines)
