"""The allocation of each part of each request: spans of a calendar, and the history of changes.

The calendar stands for the time slot table of Min 2001, figure 3.3, whose slots it repairs: windows
are half-open, and capacity is free again from the instant at which its span ends.

Examples
--------
>>> from dlopt.problems.coreservation import Part
>>> ledger = AllocationLedger(ResourceCalendar([70]))
>>> request = Request("r", 0, 5, 15, 1, (Part(60),))
>>> ledger.allocate(request, 0, 0, 60)
>>> ledger.free_capacity(request, 0)
10
>>> ledger.release_all(request)
>>> [change.cpu for change in ledger.changes()]
[60, -60]
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dlopt.calendar import ResourceCalendar, Span
from dlopt.problems.coreservation.data import Change, Request, Share


class AllocationLedger:
    """The shares of requests, in a calendar; every change is recorded.

    Parameters
    ----------
    calendar : ResourceCalendar
    whole_slots : bool, default False
        Reserve whole slots of one time unit, counted from now, and one slot too many: as printed.
    """

    def __init__(self, calendar: ResourceCalendar, *, whole_slots: bool = False) -> None:
        self.calendar = calendar
        self._zero = 0 if calendar.exact_numbers else 0.0
        self._whole_slots = whole_slots
        self._spans: dict[str, dict[int, Span]] = {}
        self._changes: dict[int, Change] = {}
        self._serials: defaultdict[str, list[int]] = defaultdict(list)
        self._next_serial = 0
        self._revised: set[str] = set()

    def free_capacity(self, request: Request, machine: int) -> Any:
        """Return what is free on a machine throughout the window of a request.

        It is 0 where holdings exceed the capacity.
        """
        free = self.calendar.smallest_free(machine, *self._window(request))
        return free if free > 0 else self._zero

    def average_load(self, request: Request, machine: int) -> Any:
        """Return the average load of a machine over the window of a request."""
        return self.calendar.average_allocated(machine, *self._window(request))

    def span(self, request: Request, part: int) -> Span:
        """Return the span that is allocated to a part."""
        return self._spans[request.id][part]

    def spans(self, request: str) -> Mapping[int, Span]:
        """Return the span of each part of a request, in the order of the parts.

        Empty if nothing is allocated to it. A snapshot does not keep the order in which the parts
        were placed, so that no later decision may depend on it.
        """
        return dict(sorted(self._spans.get(request, {}).items()))

    def trial(self, calendar: ResourceCalendar) -> AllocationLedger:
        """Return a ledger without a share, on another calendar."""
        return AllocationLedger(calendar, whole_slots=self._whole_slots)

    def allocate(
        self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool = False
    ) -> None:
        """Allocate CPU on a machine to a part."""
        self._add_span(request, part, machine, cpu, overbook=overbook)
        self._record(Change(request.id, part, machine, cpu))

    def remove(self, request: Request, part: int) -> Span:
        """Remove the span of a part from the calendar, to be committed again; return it."""
        return self.calendar.remove_span(self.span(request, part).id)

    def commit(
        self,
        request: Request,
        part: int,
        machine: int,
        cpu: Any,
        *,
        mark_first: bool = False,
        overbook: bool = False,
    ) -> None:
        """Allocate the same or something else to a part whose span was removed.

        With `mark_first` the new share is recorded before the old one is cancelled.
        """
        old = self.span(request, part)
        self._add_span(request, part, machine, cpu, overbook=overbook)
        if (machine, cpu) == (old.machine, old.amount):
            return
        cancelled = Change(request.id, part, old.machine, -old.amount)
        marked = Change(request.id, part, machine, cpu)
        for change in (marked, cancelled) if mark_first else (cancelled, marked):
            self._record(change)
        self._revised.add(request.id)

    def release_all(self, request: Request) -> None:
        """Release the spans of all parts of a request."""
        for part, old in self._spans.pop(request.id, {}).items():
            self.calendar.remove_span(old.id)
            self._record(Change(request.id, part, old.machine, -old.amount))
            self._revised.add(request.id)

    def restart(self, request: str) -> None:
        """Forget a request and its history; spans that it still has stay in the calendar.

        It has none, but for what a printed erratum leaked.
        """
        self._spans.pop(request, None)
        for serial in self._serials.pop(request, ()):
            del self._changes[serial]
        self._revised.discard(request)

    def adopt(
        self, calendar: ResourceCalendar, allocations: Mapping[str, Mapping[int, Span]]
    ) -> None:
        """Go on with another calendar, in which the allocations of some requests are others.

        In the history they are allocated last, for it cannot say that a window was another before.
        """
        self.calendar = calendar
        for request, spans in allocations.items():
            self.restart(request)
            self._spans[request] = dict(spans)
            for part, span in sorted(spans.items()):
                self._record(Change(request, part, span.machine, span.amount))

    def history(self) -> tuple[Change, ...]:
        """Return all changes in order, also where nothing was ever released."""
        return tuple(self._changes.values())

    @property
    def revised(self) -> frozenset[str]:
        """The requests of which shares were changed or released."""
        return frozenset(self._revised)

    def load(
        self,
        spans: Mapping[str, dict[int, Span]],
        changes: Iterable[Change],
        revised: Iterable[str],
    ) -> None:
        """Take over what a saved ledger has; this one is empty, and the calendar has the spans."""
        self._spans = dict(spans)
        self._revised = set(revised)
        for change in changes:
            self._record(change)

    def shares(self) -> Iterator[Share]:
        """Yield all shares that are allocated."""
        for request, part, span in self.allocations():
            yield Share(request, part, span.machine, span.amount)

    def allocations(self) -> Iterator[tuple[str, int, Span]]:
        """Yield the request, the part and the span of each share."""
        for request, parts in self._spans.items():
            for part in sorted(parts):
                yield request, part, parts[part]

    def changes(self) -> tuple[Change, ...]:
        """Return all changes in order, or none where nothing was ever released."""
        return tuple(self._changes.values()) if self._revised else ()

    def _add_span(
        self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool
    ) -> None:
        start, end = self._window(request)
        number = self.calendar.add_span(machine, start, end, cpu, overbook=overbook)
        self._spans.setdefault(request.id, {})[part] = self.calendar.span(number)

    def _record(self, change: Change) -> None:
        self._changes[self._next_serial] = change
        self._serials[change.request].append(self._next_serial)
        self._next_serial += 1

    def _window(self, request: Request) -> tuple[Any, Any]:
        start, end, now = request.start, request.end, self.calendar.now
        if not self._whole_slots:
            return start, end
        first = math.floor(now)
        return max(first + math.floor(start - now), now), first + math.ceil(end - now) + 1
