"""What may be asked of a calendar: every fault of a call, before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from dlopt.arithmetic import Number, is_number, shown
from dlopt.errors import Fault, InvalidInstanceError


def refuse(faults: list[Fault]) -> None:
    """Raise an error with all faults, if there are any."""
    if faults:
        raise InvalidInstanceError(faults)


class InputRules:
    """The rules for the arguments of a calendar's methods.

    Parameters
    ----------
    machines : int
        How many there are.
    compiled : bool
        Whether instants must be exact as floats.
    """

    __slots__ = ("_compiled", "_machines")

    def __init__(self, machines: int, compiled: bool) -> None:
        self._machines = machines
        self._compiled = compiled

    def instant(self, path: str, value: Any, least: Number | None = None) -> list[Fault]:
        """Return what is wrong with an instant, which may have to be no earlier than another."""
        if self._is_instant(value) and (least is None or value >= least):
            return []
        rule = "must be a finite number"
        if self._compiled:
            rule += " that is exact as a float"
        if least is not None:
            rule += f", not before {shown(least, 15)}"
        return [Fault(path, value, rule)]

    def machine(self, value: object, path: str = "machine") -> list[Fault]:
        """Return what is wrong with the number of a machine."""
        if type(value) is int and 0 <= value < self._machines:
            return []
        return [Fault(path, value, f"must be one of the machines 0 to {self._machines - 1}")]

    def amount(self, value: Any, path: str = "amount") -> list[Fault]:
        """Return what is wrong with an amount."""
        if is_number(value) and value >= 0:
            return []
        return [Fault(path, value, "must be a finite number, not negative")]

    def window(self, machine: object, start: Any, end: Any, now: Number) -> list[Fault]:
        """Return what is wrong with a window on a machine."""
        return self.machine(machine) + (self.instant("start", start, now) or self.end(start, end))

    def end(self, start: Number, end: Any) -> list[Fault]:
        """Return what is wrong with the end of a window."""
        if self._is_instant(end) and end > start:
            return []
        rule = f"must be a finite number after the start, {shown(start, 15)}"
        return [Fault("end", end, rule)]

    def search(self, duration: Any, after: Any, latest_end: Any, now: Number) -> list[Fault]:
        """Return what is wrong with the question for an earliest start."""
        faults = self.instant("after", after, now)
        if not self._is_instant(duration) or duration <= 0:
            faults.append(Fault("duration", duration, "must be a finite positive number"))
        if latest_end is not None:
            faults += self.instant("latest_end", latest_end)
        return faults

    def capacities(self, values: Sequence[Any], now: Any) -> list[Fault]:
        """Return what is wrong with the capacities of all machines."""
        faults = self.instant("now", now)
        for machine, capacity in enumerate(values):
            faults += self.capacity(capacity, now, f"capacities[{machine}]")
        return faults

    def capacity(self, value: Any, now: Any, path: str = "capacity") -> list[Fault]:
        """Return what is wrong with the capacity of a machine."""
        if not isinstance(value, (list, tuple)):
            return self.amount(value, path)
        if not value or any(
            not isinstance(pair, (list, tuple)) or len(pair) != 2 for pair in value
        ):
            rule = "must be a number, or pairs of an instant and the capacity from then on"
            return [Fault(path, value, rule)]
        faults = []
        for index, (since, amount) in enumerate(value):
            faults += self.instant(f"{path}[{index}][0]", since)
            faults += self.amount(amount, f"{path}[{index}][1]")
        if not faults and self._is_instant(now):
            instants = [since for since, _ in value]
            if instants[0] > now or any(a >= b for a, b in pairwise(instants)):
                rule = f"must begin by {shown(now, 15)}, and their instants must increase"
                faults.append(Fault(path, value, rule))
        return faults

    def _is_instant(self, value: Any) -> bool:
        if not is_number(value):
            return False
        return not self._compiled or isinstance(value, float) or bool(float(value) == value)
