"""Refinement: accepted requests of a batch are given more, once all of it is decided.

Source: Min 2001, figures 5.7 and 5.8, repaired: a part with a fixed machine stays there, an old
share is released before a new one is allocated, and a share is what is free on its own machine.

Examples
--------
>>> from dlopt.heuristics.coreservation.engine import CoReservation
>>> from dlopt.problems.coreservation import Machine, linear
>>> engine = CoReservation([Machine("m", 10)], "co-rsbfr")
>>> _ = engine.submit([Request("r", 0, 0, 5, 1, (Part(8, 2, linear()),))])
>>> engine.plan().shares[0].cpu  # the minimum share 2, then extended to all that is requested
8
"""

from __future__ import annotations

from typing import Any

from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.placement import BatchPlacement, covers, max_benefit_machine
from dlopt.problems.coreservation.data import Part, Request


class Refiner:
    """Moves and extends the parts of accepted requests; none of them ever loses benefit.

    Parameters
    ----------
    placement : BatchPlacement
    """

    def __init__(self, placement: BatchPlacement) -> None:
        self._placement = placement
        self._ledger: AllocationLedger = placement.ledger
        self._errata = placement.algorithm.slips
        self._last_free: Any = None  # of the machine looked at last: what erratum "stale" allocates

    def refine(self, request: Request) -> None:
        """Give the parts of a request more: first on any machine, then where they are."""
        self._last_free = None
        for index, part in enumerate(request.parts):
            if not part.hard:
                self._move(request, index, part)
        for index, part in enumerate(request.parts):
            if not covers(self._ledger.span(request, index).amount, part.cpu):
                self._extend(request, index, part)

    def _move(self, request: Request, index: int, part: Part) -> None:
        """Move a part to the best fit for all it asks for, or to where it gains most."""
        placement, ledger = self._placement, self._ledger
        current = ledger.remove(request, index).machine
        machines = placement.machines(Part(part.cpu) if "fixed" in self._errata else part)
        candidates = (current, *(j for j in machines if j != current))
        rooms = [(ledger.free_capacity(request, j), j) for j in candidates]
        ample = [(room, place) for place, (room, _) in enumerate(rooms) if covers(room, part.cpu)]
        if ample:
            machine, cpu = rooms[min(ample)[1]][1], part.cpu
        else:
            best = max_benefit_machine(part, rooms)
            assert best is not None  # there is always its current machine
            cpu, machine = best
        cpu = placement.share_of(part, cpu)
        if len(rooms) > 1:
            self._last_free = rooms[-1][0]
        overbook = False
        if "stale" in self._errata and not ample and len(rooms) > 1:
            cpu, overbook = self._last_free, True
        ledger.commit(
            request,
            index,
            machine,
            cpu,
            mark_first="mark-first" in self._errata,
            overbook=overbook,
        )

    def _extend(self, request: Request, index: int, part: Part) -> None:
        """Extend a part where it is; another one may have left since it was placed."""
        ledger = self._ledger
        machine = ledger.remove(request, index).machine
        free = ledger.free_capacity(request, machine)
        cpu = self._placement.share_of(part, free)
        overbook = False
        if "stale" in self._errata and not covers(free, part.cpu) and self._last_free is not None:
            cpu, overbook = self._last_free, True
        ledger.commit(request, index, machine, cpu, overbook=overbook)
