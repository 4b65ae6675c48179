"""How the requests of a batch are placed, one after the other: all parts of each, or none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from dlopt.arithmetic import exact, is_exact, shown, simplest
from dlopt.heuristics.coreservation.algorithm_names import Algorithm
from dlopt.heuristics.coreservation.allocation_ledger import Ledger
from dlopt.problems.coreservation.benefit_functions import benefit_at
from dlopt.problems.coreservation.data import Part, Request


class Batch:
    """Decides on requests that are collected.

    Parameters
    ----------
    algorithm : Algorithm
    ledger : Ledger

    Notes
    -----
    Complexity of a batch of n requests with k parts on m machines: O(n log n + n k m q), with q
    the cost of a query to the table; refining costs as much again.

    Source: Min 2001, figures 4.2 and 5.1 to 5.6, repaired: parts of a request that is rejected
    are all undone, a part that gets less is marked with what it gets, and all machines are looked
    at. A request may mix parts with a fixed machine and others; those that have no choice come
    first.
    """

    def __init__(self, algorithm: Algorithm, ledger: Ledger) -> None:
        self.algorithm = algorithm
        self.ledger = ledger
        self._everywhere = range(len(ledger.table.machines))

    def ordered(self, requests: Iterable[Request]) -> list[Request]:
        """Return requests in the order in which they are tried."""
        order = self.algorithm.order
        if order == "arrival":
            return list(requests)
        if order == "priority":
            return sorted(requests, key=lambda one: one.priority, reverse=True)
        if order == "density":
            return sorted(requests, key=self._density, reverse=True)
        return sorted(requests, key=self._size, reverse=order == "descending")

    def place(self, request: Request) -> str | None:
        """Place all parts of a request, or none; return why not."""
        for index in self._parts(request):
            found = self._machine(request, request.parts[index])
            if found is None:
                because = self._because(request, index)
                if "leak" not in self.algorithm.slips:
                    self.ledger.drop(request)
                return because
            machine, cpu, overbook = found
            self.ledger.take(request, index, machine, cpu, overbook=overbook)
        return None

    def machines(self, part: Part) -> Sequence[int]:
        """Return the machines on which a part may be."""
        return self._everywhere if part.machine is None else (part.machine,)

    def fitting(self, part: Part, free: Any) -> Any:
        """Return how much of what is free a part takes, not more than it asks for."""
        cpu = part.cpu if covers(free, part.cpu) else free
        return least_for(part, cpu) if self.algorithm.trimmed else cpu

    def _size(self, request: Request) -> Fraction:
        return sum((exact(self._needs(part)) for part in request.parts), Fraction(0))

    def _density(self, request: Request) -> tuple[bool, Fraction]:
        """Return what a unit of a request counts for; first those that need no unit."""
        length, size = exact(request.end) - exact(request.start), self._size(request)
        return not size, exact(request.priority) / (length * (size or 1))

    def _needs(self, part: Part) -> Any:
        return part.cpu if self.algorithm.allocation == "full" else part.least

    def _parts(self, request: Request) -> list[int]:
        """Return the order of parts: on a fixed machine first, then what needs most."""
        parts = list(enumerate(request.parts))
        fixed = [index for index, part in parts if part.machine is not None]
        floating = [index for index, part in parts if part.machine is None]
        floating.sort(key=lambda index: self._needs(request.parts[index]), reverse=True)
        return fixed + floating

    def _machine(self, request: Request, part: Part) -> tuple[int, Any, bool] | None:
        """Return on which machine a part is to be, with how much, and if that may be too much."""
        whole = part.least if self.algorithm.allocation == "min" else part.cpu
        rooms = ((self.ledger.free(request, j), j) for j in self.machines(part))
        if self.algorithm.allocation != "max" or part.hard:
            best = self._fit(request, (room for room in rooms if covers(room[0], whole)))
            return None if best is None else (best, self.fitting(part, whole), False)
        seen: list[tuple[Any, int]] = []
        best = self._fit(request, _ample(rooms, whole, seen))
        if best is not None:
            return best, self.fitting(part, whole), False
        return self._soft(part, seen)

    def _fit(self, request: Request, rooms: Iterator[tuple[Any, int]]) -> int | None:
        """Return the machine of those with room that fits, or None if there are none."""
        fit = self.algorithm.fit
        if fit == "first":
            return next((machine for _, machine in rooms), None)
        if fit == "best":
            best = min(rooms, default=None)
        elif fit == "worst":
            best = min(((-room, machine) for room, machine in rooms), default=None)
        else:
            loads = ((self.ledger.load(request, machine), machine) for _, machine in rooms)
            best = min(loads, default=None)
        return None if best is None else best[1]

    def _soft(self, part: Part, rooms: list[tuple[Any, int]]) -> tuple[int, Any, bool] | None:
        """Return the machine of the greatest benefit, where none has room for the whole."""
        enough = [(room, machine) for room, machine in rooms if covers(room, part.least)]
        best = greatest(part, enough)
        if best is None:
            return None
        if "requested" in self.algorithm.slips:
            return best[1], part.cpu, True
        return best[1], self.fitting(part, best[0]), False

    def _because(self, request: Request, index: int) -> str:
        part = request.parts[index]
        table, needs = self.ledger.table, shown(self._needs(part))
        names = [table.machines[j] for j in self.machines(part)]
        most = max(value for machine in names for _, value in machine.steps)
        who = "no machine" if part.machine is None else f"machine {names[0].id}"
        if most < self._needs(part):
            than = "any machine" if part.machine is None else who
            return f"part {index} needs {needs}, more than {than} has"
        free = max(self.ledger.free(request, j) for j in self.machines(part))
        window = f"[{shown(request.start)}, {shown(request.end)})"
        return f"part {index} needs {needs}, {who} has more than {shown(free)} left in {window}"


def covers(room: Any, needed: Any) -> bool:
    """Tell whether there is room for what is needed, as the numbers that floats stand for.

    Examples
    --------
    >>> covers(Fraction(1, 10), 0.1), Fraction(1, 10) >= 0.1
    (True, False)
    """
    if {type(room), type(needed)} == {float, Fraction}:
        return exact(room) >= exact(needed)
    return bool(room >= needed)


def greatest(part: Part, rooms: Iterable[tuple[Any, int]]) -> tuple[Any, int] | None:
    """Return the first machine, with its room, that gives a part the greatest benefit."""
    best, worth = None, Fraction(-1)
    for room, machine in rooms:
        if best is None or room > best[0]:  # no less room gives more
            benefit = benefit_of(part, room)
            if benefit > worth:
                best, worth = (room, machine), benefit
    return best


def benefit_of(part: Part, cpu: Any) -> Fraction:
    """Return what some CPU is worth to a part."""
    return benefit_at(part.benefit, exact(cpu) / exact(part.cpu))


def least_for(part: Part, cpu: Any) -> Any:
    """Return the least CPU that is worth as much to a part as `cpu` is, and that it accepts.

    Of floats it is the least float, so that it is never worth less.

    Examples
    --------
    >>> from dlopt.problems.coreservation import staircase
    >>> least_for(Part(8, 2, staircase(4)), 5)
    4
    """
    worth = benefit_of(part, cpu)
    points = [(exact(share), exact(benefit)) for share, benefit in part.benefit]
    (left, low), (right, high) = next(
        piece for piece in pairwise([points[0], *points]) if piece[1][1] >= worth
    )
    share = right if high == low else left + (right - left) * (worth - low) / (high - low)
    least = max(share * exact(part.cpu), exact(part.least))
    if is_exact((cpu, part.cpu, part.least)):
        return simplest(least)
    near = float(least)
    return min(cpu, near if exact(near) >= least else math.nextafter(near, math.inf))


def _ample(
    rooms: Iterable[tuple[Any, int]], whole: Any, seen: list[tuple[Any, int]]
) -> Iterator[tuple[Any, int]]:
    """Yield where there is room for the whole, and keep what is seen."""
    for room in rooms:
        seen.append(room)
        if covers(room[0], whole):
            yield room
