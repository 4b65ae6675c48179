"""The allocation of each part of each request: the time slot table, and the history of changes.

Examples
--------
>>> from dlopt.problems.coreservation import Machine, Part
>>> ledger = AllocationLedger(TimeSlotTable([Machine("m", 70)]))
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
from collections.abc import Iterator
from typing import Any

from dlopt.heuristics.coreservation.time_slot_table import Reservation, TimeSlotTable
from dlopt.problems.coreservation.data import Change, Request, Share


class AllocationLedger:
    """The shares of requests, in a table; every change is recorded.

    Parameters
    ----------
    table : TimeSlotTable
    whole_slots : bool, default False
        Reserve whole slots of one time unit, counted from now, and one slot too many: as printed.
    """

    def __init__(self, table: TimeSlotTable, *, whole_slots: bool = False) -> None:
        self.table = table
        self._whole_slots = whole_slots
        self._reservations: dict[str, dict[int, Reservation]] = {}
        self._changes: dict[int, Change] = {}
        self._serials: defaultdict[str, list[int]] = defaultdict(list)
        self._next_serial = 0
        self._revised: set[str] = set()

    def free_capacity(self, request: Request, machine: int) -> Any:
        """Return what is free on a machine throughout the window of a request."""
        return self.table.smallest_free(machine, *self._window(request))

    def average_load(self, request: Request, machine: int) -> Any:
        """Return the average load of a machine over the window of a request."""
        return self.table.average_load(machine, *self._window(request))

    def reservation(self, request: Request, part: int) -> Reservation:
        """Return the reservation of a part."""
        return self._reservations[request.id][part]

    def allocate(
        self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool = False
    ) -> None:
        """Allocate CPU on a machine to a part."""
        self._reserve(request, part, machine, cpu, overbook=overbook)
        self._record(Change(request.id, part, machine, cpu))

    def remove(self, request: Request, part: int) -> Reservation:
        """Remove the reservation of a part from the table, to be committed again; return it."""
        old = self.reservation(request, part)
        self.table.cancel(old)
        return old

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
        """Allocate the same or something else to a part whose reservation was removed.

        With `mark_first` the new share is recorded before the old one is cancelled.
        """
        old = self.reservation(request, part)
        self._reserve(request, part, machine, cpu, overbook=overbook)
        if (machine, cpu) == (old.machine, old.cpu):
            return
        cancelled = Change(request.id, part, old.machine, -old.cpu)
        marked = Change(request.id, part, machine, cpu)
        for change in (marked, cancelled) if mark_first else (cancelled, marked):
            self._record(change)
        self._revised.add(request.id)

    def release_all(self, request: Request) -> None:
        """Release the reservations of all parts of a request."""
        for part, old in self._reservations.pop(request.id, {}).items():
            self.table.cancel(old)
            self._record(Change(request.id, part, old.machine, -old.cpu))
            self._revised.add(request.id)

    def purge(self, request: str) -> None:
        """Release all reservations of a request, and delete its history."""
        for old in self._reservations.pop(request).values():
            self.table.cancel(old)
        for serial in self._serials.pop(request):
            del self._changes[serial]
        self._revised.discard(request)

    def restart(self, request: str) -> None:
        """Delete the history of a request that was rejected and is submitted again.

        It has no reservation, but for what a printed erratum leaked, which stays on the table.
        """
        self._reservations.pop(request, None)
        for serial in self._serials.pop(request, ()):
            del self._changes[serial]
        self._revised.discard(request)

    def shares(self) -> Iterator[Share]:
        """Yield all shares that are allocated."""
        for request, parts in self._reservations.items():
            for part in sorted(parts):
                yield Share(request, part, parts[part].machine, parts[part].cpu)

    def changes(self) -> tuple[Change, ...]:
        """Return all changes in order, or none where nothing was ever released."""
        return tuple(self._changes.values()) if self._revised else ()

    def _reserve(
        self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool
    ) -> None:
        window = self._window(request)
        reservation = self.table.reserve(machine, *window, cpu, overbook=overbook)
        self._reservations.setdefault(request.id, {})[part] = reservation

    def _record(self, change: Change) -> None:
        self._changes[self._next_serial] = change
        self._serials[change.request].append(self._next_serial)
        self._next_serial += 1

    def _window(self, request: Request) -> tuple[Any, Any]:
        start, end, now = request.start, request.end, self.table.now
        if not self._whole_slots:
            return start, end
        first = math.floor(now)
        return max(first + math.floor(start - now), now), first + math.ceil(end - now) + 1
