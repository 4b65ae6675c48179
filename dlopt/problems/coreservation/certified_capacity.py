"""What machines have free, as the checker of certificates computes it.

Of an instance with a float, `check` accepts shares that fall short of the least CPU by a factor
``d = FLOATING + ROUNDING``, and machines that are overloaded by ``o``, which is `FLOATING` times
the smallest CPU that any part asks for and `ROUNDING` times the largest. If every share is raised
to the least CPU of its part, and lowered to what the part asks for, no machine is loaded beyond
``(free + o) / (1 - d)``, and no objective gets worse. So this is what counts as free there.

No model and no heuristic uses this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property

from dlopt.arithmetic import FLOATING, ROUNDING, Number, exact
from dlopt.problems.coreservation.data import Instance, Part, Request


class FreeCapacity:
    """The free CPU of all machines between the instants of an instance.

    Parameters
    ----------
    instance : Instance

    Attributes
    ----------
    instants : list of Fraction
        Steps of capacities, starts and ends of holdings and of requests; ascending.
    free : list of list of Fraction, shape (machines, instants)
        From each instant to the next.

    Examples
    --------
    >>> from dlopt.problems.coreservation.data import Holding, Machine
    >>> machine, wanted = Machine("m", ((0, 9), (4, 5))), Request("r", 0, 2, 6, 1, (Part(3),))
    >>> capacity = FreeCapacity(Instance((machine,), (wanted,), holdings=(Holding(0, 5, 8, 3),)))
    >>> [(int(at), int(free)) for at, free in zip(capacity.instants, capacity.free[0])]
    [(0, 9), (2, 9), (4, 5), (5, 2), (6, 2), (8, 5)]
    >>> capacity.window(wanted), capacity.room(0, wanted)
    (range(1, 4), Fraction(2, 1))
    """

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._steps = [_steps(machine.capacity) for machine in instance.machines]
        windows = [(exact(one.start), exact(one.end)) for one in instance.requests]
        windows += [(exact(one.start), exact(one.end)) for one in instance.holdings]
        dates = {instant for steps in self._steps for instant in steps}
        dates |= {instant for window in windows for instant in window}
        self.instants = sorted(dates)
        self._ranks = {instant: rank for rank, instant in enumerate(self.instants)}
        self.free = [self._of_machine(machine) for machine in range(len(self._steps))]
        first: dict[tuple[Fraction, ...], int] = {}
        self._identical = [first.setdefault(tuple(row), j) for j, row in enumerate(self.free)]
        self._rooms: dict[tuple[int, int, int], Fraction] = {}

    def window(self, request: Request) -> range:
        """Return the ranks of the instants at which a request is active."""
        return range(self._ranks[exact(request.start)], self._ranks[exact(request.end)])

    def room(self, machine: int, request: Request) -> Fraction:
        """Return what a request can have of a machine over its whole window."""
        window = self.window(request)
        key = self._identical[machine], window.start, window.stop
        if key not in self._rooms:
            self._rooms[key] = min(self.free[machine][window.start : window.stop])
        return self._rooms[key]

    def machines(self, request: Request, part: Part) -> list[int]:
        """Return the machines on which a part fits if nothing else is there."""
        candidates = range(len(self.free)) if part.machine is None else [part.machine]
        least = least_cpu(part)
        same = {self._identical[machine] for machine in candidates}
        fits = {machine for machine in same if self.room(machine, request) >= least}
        return [machine for machine in candidates if self._identical[machine] in fits]

    def rooms(self, machines: Iterable[int], request: Request) -> set[Fraction]:
        """Return what a request can have of some machines over its whole window."""
        same = {self._identical[machine] for machine in machines}
        return {self.room(machine, request) for machine in same}

    def _of_machine(self, machine: int) -> list[Fraction]:
        changes = dict.fromkeys(self.instants, Fraction(0))
        for holding in self.instance.holdings:
            if holding.machine == machine:
                changes[exact(holding.start)] += exact(holding.cpu)
                changes[exact(holding.end)] -= exact(holding.cpu)
        overload, share = self._allowance
        free, capacity, reserved = [], Fraction(0), Fraction(0)
        for instant, change in changes.items():
            capacity = self._steps[machine].get(instant, capacity)
            reserved += change
            free.append((max(capacity - reserved, Fraction(0)) + overload) / share)
        return free

    @cached_property
    def _allowance(self) -> tuple[Fraction, Fraction]:
        """By how much a machine may be overloaded, and what a share may be of the least CPU."""
        if self.instance.exact:
            return Fraction(0), Fraction(1)
        asked = [exact(part.cpu) for request in self.instance.requests for part in request.parts]
        overload = exact(FLOATING) * min(asked) + ROUNDING * max(asked)
        return overload, 1 - exact(FLOATING) - ROUNDING


def least_cpu(part: Part) -> Fraction:
    """Return the least CPU that a part accepts.

    Examples
    --------
    >>> least_cpu(Part(8)), least_cpu(Part(8, 2))
    (Fraction(8, 1), Fraction(2, 1))
    """
    return exact(part.cpu if part.cpu_min is None else part.cpu_min)


def _steps(capacity: Number | Sequence[tuple[Number, Number]]) -> dict[Fraction, Fraction]:
    """Return a capacity as a step function."""
    if isinstance(capacity, int | float | Fraction):
        return {Fraction(0): exact(capacity)}
    return {exact(instant): exact(value) for instant, value in capacity}
