"""Placement of the requests of a batch, one after the other: all parts of each, or none.

Examples
--------
>>> from dlopt.problems.coreservation import linear
>>> soft = Part(8, 2, linear())
>>> max_benefit_machine(soft, [(3, 0), (6, 1), (5, 2)])
(6, 1)
>>> min_share_of_same_benefit(soft, 6)
6
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dlopt.arithmetic import exact, is_exact, shown, simplest
from dlopt.heuristics.coreservation.algorithm_names import Algorithm
from dlopt.heuristics.coreservation.allocation_ledger import AllocationLedger
from dlopt.heuristics.coreservation.bid_prices import BidPrices
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Machine, Part, Request


class BatchPlacement:
    """Decides on the requests of a batch.

    Parameters
    ----------
    algorithm : Algorithm
    ledger : AllocationLedger
    machines : sequence of Machine
    in_service : sequence of int, optional
        The machines on which something may be placed; by default all.

    Notes
    -----
    Complexity of a batch of n requests with k parts on m machines: O(n log n + n k m q), with q
    the cost of a question to the calendar; refinement costs as much again.

    Source: Min 2001, figures 4.2 and 5.1 to 5.6, repaired: parts of a request that is rejected
    are all released, a part that gets less is allocated what it gets, and all machines are
    considered. A request may mix parts with a fixed machine and others; those that have no choice
    come first.
    """

    prices: BidPrices | None = None
    """Where requests are priced, those that hold after the batch."""

    def __init__(
        self,
        algorithm: Algorithm,
        ledger: AllocationLedger,
        machines: Sequence[Machine],
        in_service: Sequence[int] | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.ledger = ledger
        self._machines = machines
        self._in_service = range(len(machines)) if in_service is None else in_service

    def in_order(self, requests: Iterable[Request]) -> list[Request]:
        """Return requests in the order in which they are placed."""
        order = self.algorithm.order
        if order == "arrival":
            return list(requests)
        if order == "priority":
            return sorted(requests, key=lambda request: request.priority, reverse=True)
        if order == "density":
            return sorted(requests, key=self._density, reverse=True)
        return sorted(requests, key=self._size, reverse=order == "descending")

    def place(self, request: Request) -> str | None:
        """Place all parts of a request, or none; return the reason of a rejection."""
        for index in self._parts_in_order(request):
            allocation = self._choose_allocation(request, request.parts[index])
            if allocation is None:
                reason = self._rejection_reason(request, index)
                if "leak" not in self.algorithm.slips:
                    self.ledger.release_all(request)
                return reason
            machine, cpu, overbook = allocation
            self.ledger.allocate(request, index, machine, cpu, overbook=overbook)
        return None

    def machines(self, part: Part) -> Sequence[int]:
        """Return the machines on which a part may be."""
        if part.machine is None:
            return self._in_service
        return (part.machine,) if part.machine in self._in_service else ()

    def place_shares(self, request: Request, shares: Mapping[int, Any]) -> bool:
        """Place all parts of a request with given shares, or none; tell whether they fit."""
        parts = request.parts
        order = sorted(shares, key=lambda index: (parts[index].machine is None, -shares[index]))
        for index in order:
            rooms = (
                (self.ledger.free_capacity(request, j), j) for j in self.machines(parts[index])
            )
            share = shares[index]
            machine = self._choose_fit(request, (room for room in rooms if covers(room[0], share)))
            if machine is None:
                self.ledger.release_all(request)
                return False
            self.ledger.allocate(request, index, machine, share)
        return True

    def share_of(self, part: Part, free: Any) -> Any:
        """Return how much of the free capacity a part gets, not more than it asks for."""
        cpu = part.cpu if covers(free, part.cpu) else free
        return min_share_of_same_benefit(part, cpu) if self.algorithm.trimmed else cpu

    def _size(self, request: Request) -> Fraction:
        return sum((exact(self._required(part)) for part in request.parts), Fraction(0))

    def _density(self, request: Request) -> tuple[bool, Fraction]:
        """Return the priority per unit of CPU and time; requests that need no CPU come first."""
        length, size = exact(request.end) - exact(request.start), self._size(request)
        return not size, exact(request.priority) / (length * (size or 1))

    def _required(self, part: Part) -> Any:
        return part.cpu if self.algorithm.allocation == "full" else part.least

    def _parts_in_order(self, request: Request) -> list[int]:
        """Return the order of parts: on a fixed machine first, then the largest first."""
        parts = list(enumerate(request.parts))
        fixed = [index for index, part in parts if part.machine is not None]
        floating = [index for index, part in parts if part.machine is None]
        floating.sort(key=lambda index: self._required(request.parts[index]), reverse=True)
        return fixed + floating

    def _choose_allocation(self, request: Request, part: Part) -> tuple[int, Any, bool] | None:
        """Return the machine of a part, its share, and whether that may overbook the machine."""
        whole = part.least if self.algorithm.allocation == "min" else part.cpu
        rooms = ((self.ledger.free_capacity(request, j), j) for j in self.machines(part))
        if self.algorithm.allocation != "max" or part.hard:
            best = self._choose_fit(request, (room for room in rooms if covers(room[0], whole)))
            return None if best is None else (best, self.share_of(part, whole), False)
        seen: list[tuple[Any, int]] = []
        best = self._choose_fit(request, _with_room(rooms, whole, seen))
        if best is not None:
            return best, self.share_of(part, whole), False
        return self._choose_soft(part, seen)

    def _choose_fit(self, request: Request, rooms: Iterator[tuple[Any, int]]) -> int | None:
        """Return a machine with room by the algorithm's rule, or None if there is none."""
        fit = self.algorithm.fit
        if fit == "first":
            return next((machine for _, machine in rooms), None)
        if fit == "best":
            best = min(rooms, default=None)
        elif fit == "worst":
            best = min(((-room, machine) for room, machine in rooms), default=None)
        else:
            loads = ((self.ledger.average_load(request, machine), machine) for _, machine in rooms)
            best = min(loads, default=None)
        return None if best is None else best[1]

    def _choose_soft(
        self, part: Part, rooms: list[tuple[Any, int]]
    ) -> tuple[int, Any, bool] | None:
        """Return the machine of the largest benefit, where none has room for the whole share."""
        sufficient = [(room, machine) for room, machine in rooms if covers(room, part.least)]
        best = max_benefit_machine(part, sufficient)
        if best is None:
            return None
        if "requested" in self.algorithm.slips:
            return best[1], part.cpu, True
        return best[1], self.share_of(part, best[0]), False

    def _rejection_reason(self, request: Request, index: int) -> str:
        part = request.parts[index]
        required = shown(self._required(part))
        machines = [self._machines[j] for j in self.machines(part)]
        named = None if part.machine is None else f"machine {self._machines[part.machine].id}"
        if not machines:
            return f"part {index} needs {required}, {named or 'every machine'} is out of service"
        largest = max(value for machine in machines for _, value in machine.steps)
        if largest < self._required(part):
            return f"part {index} needs {required}, more than {named or 'any machine'} has"
        free = shown(max(self.ledger.free_capacity(request, j) for j in self.machines(part)))
        window = f"[{shown(request.start)}, {shown(request.end)})"
        left = f"no machine has more than {free}" if named is None else f"{named} has only {free}"
        return f"part {index} needs {required}, {left} left in {window}"


def covers(room: Any, required: Any) -> bool:
    """Tell whether there is room for what is required, as the numbers that floats stand for.

    Examples
    --------
    >>> covers(Fraction(1, 10), 0.1), Fraction(1, 10) >= 0.1
    (True, False)
    """
    if {type(room), type(required)} == {float, Fraction}:
        return exact(room) >= exact(required)
    return bool(room >= required)


def max_benefit_machine(part: Part, rooms: Iterable[tuple[Any, int]]) -> tuple[Any, int] | None:
    """Return the first machine, with its room, that gives a part the largest benefit."""
    best, best_benefit = None, Fraction(-1)
    for room, machine in rooms:
        if best is None or room > best[0]:  # no less room gives more
            benefit = benefit_of(part, room)
            if benefit > best_benefit:
                best, best_benefit = (room, machine), benefit
    return best


def benefit_of(part: Part, cpu: Any) -> Fraction:
    """Return the benefit of some CPU for a part."""
    return benefit_at(part.benefit, exact(cpu) / exact(part.cpu))


def min_share_of_same_benefit(part: Part, cpu: Any) -> Any:
    """Return the least CPU that a part accepts with the benefit of `cpu`.

    Of floats it is the least float, so that its benefit is never less.

    Examples
    --------
    >>> from dlopt.problems.coreservation import staircase
    >>> min_share_of_same_benefit(Part(8, 2, staircase(4)), 5)
    4
    """
    benefit = benefit_of(part, cpu)
    points = [(exact(share), exact(height)) for share, height in part.benefit]
    (left, low), (right, high) = next(
        segment for segment in pairwise([points[0], *points]) if segment[1][1] >= benefit
    )
    share = right if high == low else left + (right - left) * (benefit - low) / (high - low)
    least = max(share * exact(part.cpu), exact(part.least))
    if is_exact((cpu, part.cpu, part.least)):
        return simplest(least)
    near = float(least)
    return min(cpu, near if exact(near) >= least else math.nextafter(near, math.inf))


def _with_room(
    rooms: Iterable[tuple[Any, int]], whole: Any, seen: list[tuple[Any, int]]
) -> Iterator[tuple[Any, int]]:
    """Yield the machines with room for the whole share, and list all that were seen."""
    for room in rooms:
        seen.append(room)
        if covers(room[0], whole):
            yield room
