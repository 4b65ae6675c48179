"""Bid-price control: shares of the largest surplus, and no request of a negative one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from dlopt.arithmetic import Number, exact
from dlopt.heuristics.coreservation.algorithm_names import Algorithm
from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.bid_prices import BidPrices, Share, useful_shares
from dlopt.heuristics.coreservation.placement import BatchPlacement, benefit_of, covers
from dlopt.problems.coreservation.data import Machine, Part, Request

REMNANT_COST = 0.5
"""Part of the price that a machine costs for what is left on it and is too small for others.
Measured like `dlopt.heuristics.coreservation.bid_prices.TARGET_UTILIZATION`."""


class _Choice(NamedTuple):
    """A share of a part on a machine, and its benefit less its cost."""

    surplus: float
    machine: int
    cpu: Number


class PricedPlacement(BatchPlacement):
    """Places requests at the bid prices of their windows.

    Each part gets the machine and the share of the largest surplus: its benefit, weighted by the
    priority, less the price of the CPU, and of what it leaves on the machine if that is too small
    for others. A request is rejected if its parts do not fit, or have a negative surplus together.

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
        price, surplus = self._price(request), 0.0
        for index in self._parts_in_order(request):
            choice = self._choose_share(request, request.parts[index], price)
            if choice is None:
                reason = self._rejection_reason(request, index)
                self.ledger.release_all(request)
                return reason
            self.ledger.allocate(request, index, choice.machine, choice.cpu)
            surplus += choice.surplus
        if surplus >= 0:
            return None
        self.ledger.release_all(request)
        return f"its benefit is {-surplus:.3g} less than the bid price of its CPU"

    def _price(self, request: Request) -> float:
        """Return the price of CPU in the window of a request."""
        free = sum(float(self.ledger.free_capacity(request, j)) for j in self._in_service)
        capacity = sum(self._capacity(j, request.start) for j in self._in_service)
        lead = exact(request.start) - exact(self.ledger.calendar.now)
        return self.prices.price(free, capacity, lead)

    def _capacity(self, machine: int, at: Number) -> float:
        """Return the capacity of a machine at an instant."""
        steps = self.ledger.calendar.capacity(machine)
        return float(steps[bisect_right(steps, at, key=itemgetter(0)) - 1][1])

    def _choose_share(self, request: Request, part: Part, price: float) -> _Choice | None:
        """Return the share of the largest surplus, on the first machine that has it."""
        length = float(exact(request.end) - exact(request.start))
        weight = float(request.priority) / len(request.parts)
        shares, best = useful_shares(part), None
        for machine in self.machines(part):
            room = self.ledger.free_capacity(request, machine)
            for cpu, benefit in _in_room(part, shares, room):
                left = float(room) - float(cpu)
                remnant = REMNANT_COST * left if left < self.prices.least_useful_room else 0
                surplus = weight * benefit - price * length * (float(cpu) + remnant)
                if best is None or surplus > best.surplus:
                    best = _Choice(surplus, machine, cpu)
        return best


def _in_room(part: Part, shares: Sequence[Share], room: Number) -> list[Share]:
    """Return the shares for which there is room, and all of the room if the part can use it."""
    found = [share for share in shares if covers(room, share.cpu)]
    if found and found[-1].cpu < min(room, part.cpu):
        found.append(Share(room, float(benefit_of(part, room))))
    return found
