"""What each part of each request holds: the table, and how it came to be what it is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from dlopt.heuristics.coreservation.time_slot_table import Reservation, TimeSlotTable
from dlopt.problems.coreservation.data import Change, Request, Share


class Ledger:
    """The shares of requests, in a table; every change is written down.

    Parameters
    ----------
    table : TimeSlotTable
    slotted : bool, default False
        Mark whole slots of one time unit, counted from now, and one slot too many: as printed.
    """

    def __init__(self, table: TimeSlotTable, *, slotted: bool = False) -> None:
        self.table = table
        self._slotted = slotted
        self._held: dict[str, dict[int, Reservation]] = {}
        self._changes: dict[int, Change] = {}
        self._written: defaultdict[str, list[int]] = defaultdict(list)
        self._serial = 0
        self._revised: set[str] = set()

    def free(self, request: Request, machine: int) -> Any:
        """Return what is free on a machine throughout the window of a request."""
        return self.table.smallest_free(machine, *self._window(request))

    def load(self, request: Request, machine: int) -> Any:
        """Return the average load of a machine over the window of a request."""
        return self.table.average_load(machine, *self._window(request))

    def held(self, request: Request, part: int) -> Reservation:
        """Return what a part holds."""
        return self._held[request.id][part]

    def take(
        self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool = False
    ) -> None:
        """Let a part hold CPU on a machine."""
        self._hold(request, part, machine, cpu, overbook=overbook)
        self._write(Change(request.id, part, machine, cpu))

    def lift(self, request: Request, part: int) -> Reservation:
        """Take what a part holds off the table, to be settled anew at once; return what it was."""
        old = self.held(request, part)
        self.table.cancel(old)
        return old

    def settle(
        self,
        request: Request,
        part: int,
        machine: int,
        cpu: Any,
        *,
        mark_first: bool = False,
        overbook: bool = False,
    ) -> None:
        """Let a part whose share was lifted hold the same or something else.

        With `mark_first` the new share is written down before the old one is gone.
        """
        old = self.held(request, part)
        self._hold(request, part, machine, cpu, overbook=overbook)
        if (machine, cpu) == (old.machine, old.cpu):
            return
        gone = Change(request.id, part, old.machine, -old.cpu)
        made = Change(request.id, part, machine, cpu)
        for change in (made, gone) if mark_first else (gone, made):
            self._write(change)
        self._revised.add(request.id)

    def drop(self, request: Request) -> None:
        """Take back all that the parts of a request hold."""
        for part, old in self._held.pop(request.id, {}).items():
            self.table.cancel(old)
            self._write(Change(request.id, part, old.machine, -old.cpu))
            self._revised.add(request.id)

    def forget(self, request: str) -> None:
        """Take back all that a request holds, as if it had never been."""
        for old in self._held.pop(request).values():
            self.table.cancel(old)
        for serial in self._written.pop(request):
            del self._changes[serial]
        self._revised.discard(request)

    def restart(self, request: str) -> None:
        """Forget what was written of a request that was rejected and is submitted again.

        It holds nothing, but for what a printed slip left behind, which stays on the table.
        """
        self._held.pop(request, None)
        for serial in self._written.pop(request, ()):
            del self._changes[serial]
        self._revised.discard(request)

    def shares(self) -> Iterator[Share]:
        """Yield what is held."""
        for request, parts in self._held.items():
            for part in sorted(parts):
                yield Share(request, part, parts[part].machine, parts[part].cpu)

    def changes(self) -> tuple[Change, ...]:
        """Return all changes in order, or none where nothing was ever taken back."""
        return tuple(self._changes.values()) if self._revised else ()

    def _hold(self, request: Request, part: int, machine: int, cpu: Any, *, overbook: bool) -> None:
        window = self._window(request)
        made = self.table.reserve(machine, *window, cpu, overbook=overbook)
        self._held.setdefault(request.id, {})[part] = made

    def _write(self, change: Change) -> None:
        self._changes[self._serial] = change
        self._written[change.request].append(self._serial)
        self._serial += 1

    def _window(self, request: Request) -> tuple[Any, Any]:
        start, end, now = request.start, request.end, self.table.now
        if not self._slotted:
            return start, end
        first = math.floor(now)
        return max(first + math.floor(start - now), now), first + math.ceil(end - now) + 1
