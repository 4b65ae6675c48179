"""Bid-price control: shares of the largest surplus, and no request of a negative one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.coreservation.algorithm_names import Algorithm
from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.bid_prices import (
    BidPrices,
    Share,
    useful_shares,
    window_length,
)
from dlopt.heuristics.coreservation.placement import BatchPlacement, benefit_of, covers
from dlopt.problems.coreservation.data import Machine, Part, Request

REMNANT_COST = 0.5
"""Part of the price that a machine costs for what is left on it and is too small for others.
Measured like `dlopt.heuristics.coreservation.bid_prices.TARGET_LOAD`: 0.3 to 0.8 make no
difference."""


class _Choice(NamedTuple):
    """A share of a part on a machine, and its benefit less its cost."""

    surplus: float
    machine: int
    cpu: Number


class _Room(NamedTuple):
    """What is free on a machine throughout a window, and throughout its margins."""

    free: Number
    margins: tuple[tuple[float, float], ...]
    """Of each margin its length, and what is free."""

    def taken(self, cpu: Number, length: float) -> float:
        """Return what a share takes of CPU times time, in a window of a length and its margins.

        Windows with their middle in a margin need both: they lose what neither of them limited.
        """
        free, left = float(self.free), float(self.free) - float(cpu)
        lost = (time * (min(free, side) - min(left, side)) for time, side in self.margins)
        return float(cpu) * length + sum(lost)


class PricedPlacement(BatchPlacement):
    """Places requests at the bid prices of their windows.

    Each part gets the machine and the share of the largest surplus: its benefit, weighted by the
    priority, less the price of the CPU that it takes of other windows, and of what it leaves on the
    machine if that is too small for others. Before and after its window it takes only what cannot
    be used with less in the window, which is nothing between others that leave no more. A request
    is rejected if its parts do not fit, or have a negative surplus together.

    Parameters
    ----------
    algorithm, ledger, machines, in_service
        As `dlopt.heuristics.coreservation.placement.BatchPlacement`.
    prices : BidPrices
        After the requests of earlier batches; those of each batch are added when it is ordered.

    Notes
    -----
    Guarantee: as the base class; the prices only reject what would fit, or give it less. Later
    requests change no earlier decision.

    Complexity: as the base class, and a pass over the forecast for each batch.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        ledger: AllocationLedger,
        machines: Sequence[Machine],
        in_service: Sequence[int] | None,
        prices: BidPrices,
    ) -> None:
        super().__init__(algorithm, ledger, machines, in_service)
        self.prices: BidPrices = prices

    def in_order(self, requests: Iterable[Request]) -> list[Request]:
        """Return requests in the order in which they are placed, after forecasting with them."""
        ordered = super().in_order(requests)
        self.prices = self.prices.with_requests(ordered, self.ledger.calendar.now)
        return ordered

    def place(self, request: Request) -> str | None:
        """Place all parts of a request, or none; return the reason of a rejection."""
        rooms = {machine: self._room(request, machine) for machine in self._in_service}
        price, surplus = self._price(request, rooms.values()), 0.0
        for index in self._parts_in_order(request):
            choice = self._choose_share(request, request.parts[index], price, rooms)
            if choice is None:
                reason = self._rejection_reason(request, index)
                self.ledger.release_all(request)
                return reason
            machine = choice.machine
            self.ledger.allocate(request, index, machine, choice.cpu)
            free = self.ledger.free_capacity(request, machine)
            rooms[machine] = rooms[machine]._replace(free=free)
            surplus += choice.surplus
        if surplus >= 0:
            return None
        self.ledger.release_all(request)
        return f"its benefit is {-surplus:.3g} less than the bid price of its CPU"

    def _room(self, request: Request, machine: int) -> _Room:
        """Return what is free on a machine around the window of a request."""
        margin, calendar = self.prices.margin, self.ledger.calendar
        start, end = float(request.start), float(request.end)
        first = max(calendar.now, start - margin)
        margins = tuple(
            (
                float(until) - float(since),
                max(0.0, float(calendar.smallest_free(machine, since, until))),
            )
            for since, until in ((first, request.start), (request.end, end + margin))
            if since < until
        )
        return _Room(self.ledger.free_capacity(request, machine), margins)

    def _price(self, request: Request, rooms: Iterable[_Room]) -> float:
        """Return the price of CPU in the window of a request."""
        free = sum(float(room.free) for room in rooms)
        capacity = sum(self._capacity(j, request.start) for j in self._in_service)
        lead = exact(request.start) - exact(self.ledger.calendar.now)
        return self.prices.price(free, capacity, lead)

    def _capacity(self, machine: int, at: Number) -> float:
        """Return the capacity of a machine at an instant."""
        steps = self.ledger.calendar.capacity(machine)
        return float(steps[bisect_right(steps, at, key=itemgetter(0)) - 1][1])

    def _choose_share(
        self, request: Request, part: Part, price: float, rooms: Mapping[int, _Room]
    ) -> _Choice | None:
        """Return the share of the largest surplus, on the first machine that has it."""
        length = window_length(request)
        weight = float(request.priority) / len(request.parts)
        shares, best = useful_shares(part), None
        for machine in self.machines(part):
            room = rooms[machine]
            for cpu, benefit in _in_room(part, shares, room.free):
                left = float(room.free) - float(cpu)
                remnant = REMNANT_COST * left if left < self.prices.least_useful_room else 0
                surplus = weight * benefit - price * (room.taken(cpu, length) + length * remnant)
                if best is None or surplus > best.surplus:
                    best = _Choice(surplus, machine, cpu)
        return best


def _in_room(part: Part, shares: Sequence[Share], room: Number) -> list[Share]:
    """Return the shares for which there is room, and all of the room if the part can use it."""
    found = [share for share in shares if covers(room, share.cpu)]
    if found and found[-1].cpu < min(room, part.cpu):
        found.append(Share(room, float(benefit_of(part, room))))
    return found
