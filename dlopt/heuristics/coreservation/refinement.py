"""How accepted requests of a batch are given more, once all of it is decided.

Source: Min 2001, figures 5.7 and 5.8, repaired: a part with a fixed machine stays there, an old
share is given back before a new one is marked, and a share is what is free on its own machine.
"""

from __future__ import annotations

from typing import Any

from dlopt.heuristics.coreservation.allocation_ledger import Ledger
from dlopt.heuristics.coreservation.placement import Batch, covers, greatest
from dlopt.problems.coreservation.data import Part, Request


class Refiner:
    """Moves and extends the parts of accepted requests; none of them ever loses benefit.

    Parameters
    ----------
    batch : Batch
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._ledger: Ledger = batch.ledger
        self._slips = batch.algorithm.slips
        self._looked_at_last: Any = None

    def refine(self, request: Request) -> None:
        """Give the parts of a request more: first on any machine, then where they are."""
        self._looked_at_last = None
        for index, part in enumerate(request.parts):
            if not part.hard:
                self._move(request, index, part)
        for index, part in enumerate(request.parts):
            if not covers(self._ledger.held(request, index).cpu, part.cpu):
                self._extend(request, index, part)

    def _move(self, request: Request, index: int, part: Part) -> None:
        """Move a part to the best fit for all it asks for, or to where it gains most."""
        batch, ledger = self._batch, self._ledger
        home = ledger.lift(request, index).machine
        others = batch.machines(Part(part.cpu)) if "fixed" in self._slips else batch.machines(part)
        rooms = [(ledger.free(request, j), j) for j in (home, *(j for j in others if j != home))]
        ample = [(room, place) for place, (room, _) in enumerate(rooms) if covers(room, part.cpu)]
        if ample:
            machine, cpu = rooms[min(ample)[1]][1], part.cpu
        else:
            found = greatest(part, rooms)
            assert found is not None  # there is always its home
            cpu, machine = found
        cpu = batch.fitting(part, cpu)
        if len(rooms) > 1:
            self._looked_at_last = rooms[-1][0]
        overbook = False
        if "stale" in self._slips and not ample and len(rooms) > 1:
            cpu, overbook = self._looked_at_last, True
        ledger.settle(
            request,
            index,
            machine,
            cpu,
            mark_first="mark-first" in self._slips,
            overbook=overbook,
        )

    def _extend(self, request: Request, index: int, part: Part) -> None:
        """Extend a part where it is; another one may have left since it was placed."""
        ledger = self._ledger
        home = ledger.lift(request, index).machine
        free = ledger.free(request, home)
        cpu = self._batch.fitting(part, free)
        overbook = False
        if (
            "stale" in self._slips
            and not covers(free, part.cpu)
            and self._looked_at_last is not None
        ):
            cpu, overbook = self._looked_at_last, True
        ledger.settle(request, index, home, cpu, overbook=overbook)
