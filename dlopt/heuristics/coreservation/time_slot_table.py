"""The time slot table: how much of each machine is reserved, at every instant from now on.

The thesis keeps a number for every slot of one time unit. Here a machine is a step function, in a
sorted container of its breakpoints: the size depends on the reservations, not on how fine the slots
are. Windows are half-open; capacity whose reservation ends at an instant is free from then on.

Source: Min 2001, figure 3.3, with its slots repaired: they are counted from the table's origin, and
the last one is the one before the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any

from sortedcontainers import SortedDict

from dlopt.arithmetic import Number, exact, is_exact, shown, simplest
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.guarded import Guarded
from dlopt.problems.coreservation.benefit_functions import is_number
from dlopt.problems.coreservation.data import Machine


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """CPU that is reserved on a machine, as `TimeSlotTable.reserve` returns it.

    Reservations are compared by identity.

    Parameters
    ----------
    machine : int
        0-based.
    start, end : Number
        The window ``[start, end)``.
    cpu : Number
    """

    machine: int
    start: Any
    end: Any
    cpu: Any


class TimeSlotTable(Guarded):
    """The reservations on each machine at every instant from now on.

    Parameters
    ----------
    machines : sequence of Machine
    now : Number, default 0
        The earliest start of a reservation.
    exact_numbers : bool, optional
        Return integers and fractions, or floats; by default fractions if no capacity is a float.

    Attributes
    ----------
    machines : tuple of Machine
    now : Number
        The origin of the table, see `advance`.

    Raises
    ------
    InvalidInstanceError
        If `now` is not a number of at least 0.
    NotApplicableError
        If there are no machines, or objects of another type.

    Notes
    -----
    It is thread-safe: a call waits until those before it have ended. Copies and pickles are
    independent of it; copy or pickle reservations that are to be cancelled together with it.

    Guarantee: all sums are exact, of floats too. So a cancelled reservation leaves no residue, in
    any order; and free capacity in floats is rounded down, so that it can be reserved.

    Complexity: O(log n + k) for `reserve`, `cancel`, `smallest_free` and `average_load`, with n
    reservations and k of their ends in the window; O(log n) for each end that `advance` passes.
    Memory: O(n), whatever the length of the windows.

    Examples
    --------
    >>> table = TimeSlotTable([Machine("m", 100), Machine("half", ((0, 100), (20, 50)))])
    >>> reservation = table.reserve(0, 10, 20, 70)
    >>> table.smallest_free(0, 15, 30), table.smallest_free(0, 20, 30)
    (30, 100)
    >>> table.average_load(0, 10, 30)
    35
    >>> table.smallest_free(1, 10, 30)
    50
    >>> table.cancel(reservation)
    >>> table.smallest_free(0, 0, 30)
    100
    """

    def __init__(
        self, machines: Sequence[Machine], *, now: Number = 0, exact_numbers: bool | None = None
    ) -> None:
        self.machines = tuple(machines) if isinstance(machines, Iterable) else ()
        if not self.machines or not all(isinstance(one, Machine) for one in self.machines):
            raise NotApplicableError("machines are needed, each a dlopt Machine")
        if not is_number(now) or now < 0:
            raise InvalidInstanceError([Fault("now", now, "must be a finite number from 0 on")])
        self.now: Any = now
        if exact_numbers is None:
            steps = (pair for machine in self.machines for pair in machine.steps)
            exact_numbers = is_exact(value for _, value in steps)
        self.exact = exact_numbers
        self._capacity = [_StepFunction(machine.steps) for machine in self.machines]
        self._load = [_StepFunction(((now, 0),)) for _ in self.machines]
        for capacity in self._capacity:
            capacity.truncate(now)
        self._serials = count()
        self._numbers: dict[Reservation, int] = {}
        self._by_end: SortedDict[tuple[Any, int], Reservation] = SortedDict()

    def __len__(self) -> int:
        """Return the number of reservations that have not ended."""
        with self._lock:
            return len(self._by_end)

    def reserve(
        self, machine: int, start: Number, end: Number, cpu: Number, *, overbook: bool = False
    ) -> Reservation:
        """Reserve CPU on a machine for a window.

        Parameters
        ----------
        machine : int
        start, end : Number
            Not before `now`.
        cpu : Number
        overbook : bool, default False
            Allow more than the free capacity, as holdings of others may exceed it.

        Returns
        -------
        Reservation
            Keep it to cancel.

        Raises
        ------
        InvalidInstanceError
            If the window is empty or begins in the past, the machine does not exist, or the CPU is
            negative.
        NotApplicableError
            If less is free. Nothing is changed then.
        """
        with self._lock:
            faults = self._faults(machine, start, end)
            if not is_number(cpu) or cpu < 0:
                faults.append(Fault("cpu", cpu, "must be a finite number, not negative"))
            if faults:
                raise InvalidInstanceError(faults)
            amount = simplest(exact(cpu))
            if not overbook and amount:
                most = self._smallest(machine, start, end)
                if most < amount:
                    name, window = self.machines[machine].id, f"[{shown(start)}, {shown(end)})"
                    text = f"{shown(amount)} asked for, {shown(most)} free"
                    raise NotApplicableError(f"machine {name} in {window}: {text}")
            reservation = Reservation(machine, start, end, cpu)
            serial = self._numbers[reservation] = next(self._serials)
            self._by_end[end, serial] = reservation
            self._load[machine].add(start, end, amount)
            return reservation

    def cancel(self, reservation: Reservation) -> None:
        """Cancel a reservation; of one that has begun, the rest from `now` on.

        Raises
        ------
        NotApplicableError
            If it is not in the table: it ended, was cancelled before, or is of another table.
        """
        with self._lock:
            serial = self._numbers.pop(reservation, None)
            if serial is None:
                raise NotApplicableError("the table does not hold this reservation")
            del self._by_end[reservation.end, serial]
            start = max(reservation.start, self.now)
            amount = simplest(exact(reservation.cpu))
            self._load[reservation.machine].add(start, reservation.end, -amount)

    def smallest_free(self, machine: int, start: Number, end: Number) -> Number:
        """Return the free capacity of a machine throughout a window.

        It is 0 where the machine is overbooked.

        Raises
        ------
        InvalidInstanceError
            As `reserve`.
        """
        with self._lock:
            self._check(machine, start, end)
            return self._to_number(self._smallest(machine, start, end))

    def average_load(self, machine: int, start: Number, end: Number) -> Number:
        """Return the reserved capacity of a machine, averaged over the time of a window.

        Raises
        ------
        InvalidInstanceError
            As `reserve`.
        """
        with self._lock:
            self._check(machine, start, end)
            area: Any = 0
            for since, until, load in self._load[machine].within(start, end):
                if load:
                    area += load * (exact(until) - exact(since))
            return self._to_number(area / (exact(end) - exact(start)))

    def loads(self, machine: int) -> tuple[tuple[Number, Number], ...]:
        """Return the loads from now on, as pairs of an instant and the load from then on.

        Consecutive loads differ.

        Examples
        --------
        >>> table = TimeSlotTable([Machine("m", 9)])
        >>> _ = table.reserve(0, 2, 5, 4), table.reserve(0, 5, 7, 4)
        >>> table.loads(0)
        ((0, 0), (2, 4), (7, 0))
        """
        with self._lock:
            return tuple(
                (since, self._to_number(load)) for since, load in self._load[machine].pairs()
            )

    def advance(self, now: Number) -> None:
        """Advance the origin of the table, and delete what was before it.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the table's origin.
        """
        with self._lock:
            if not is_number(now) or now < self.now:
                rule = f"must be a finite number, not before {shown(self.now, 15)}"
                raise InvalidInstanceError([Fault("now", now, rule)])
            self.now = now
            while self._by_end and self._by_end.peekitem(0)[0][0] <= now:
                del self._numbers[self._by_end.popitem(0)[1]]
            for steps in (*self._load, *self._capacity):
                steps.truncate(now)

    def _smallest(self, machine: int, start: Any, end: Any) -> Any:
        load, capacity = self._load[machine], self._capacity[machine]
        if len(capacity) == 1:  # the usual case, without a merge of two step functions
            most = capacity.values(start, end)[0] - max(load.values(start, end))
        else:
            most = min(
                value - max(load.values(max(since, start), until))
                for since, until, value in capacity.within(start, end)
            )
        return max(most, 0)

    def _to_number(self, number: Any) -> Number:
        """Return an exact number in the table's type: as it is, or rounded down to a float."""
        if self.exact:
            return simplest(number)
        near = float(number)
        return near if exact(near) <= number else math.nextafter(near, -math.inf)

    def _check(self, machine: int, start: Number, end: Number) -> None:
        faults = self._faults(machine, start, end)
        if faults:
            raise InvalidInstanceError(faults)

    def _faults(self, machine: int, start: Number, end: Number) -> list[Fault]:
        faults = []
        if type(machine) is not int or not 0 <= machine < len(self.machines):
            rule = f"must be one of the machines 0 to {len(self.machines) - 1}"
            faults.append(Fault("machine", machine, rule))
        if not is_number(start) or start < self.now:
            rule = f"must be a finite number, not before now, {shown(self.now, 15)}"
            faults.append(Fault("start", start, rule))
        elif not is_number(end) or end <= start:
            rule = f"must be a finite number after the start, {shown(start, 15)}"
            faults.append(Fault("end", end, rule))
        return faults


class _StepFunction:
    """A step function over time, from some instant on.

    Instants are kept as they were given, which compare exactly; values are exact. Consecutive
    values differ, so that there are no more breakpoints than needed.
    """

    __slots__ = ("_at",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self._at: SortedDict[Any, Any] = SortedDict()
        before = None
        for since, value in pairs:
            height = simplest(exact(value))
            if height != before:
                self._at[since] = before = height

    def __len__(self) -> int:
        return len(self._at)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._at.items())

    def values(self, start: Any, end: Any) -> list[Any]:
        """Return the values in a window."""
        at = self._at
        return [at[since] for since in self._instants(start, end)]

    def within(self, start: Any, end: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the intervals of a window and the value on each."""
        for since, until in pairwise((*self._instants(start, end), end)):
            yield max(since, start), until, self._at[since]

    def _instants(self, start: Any, end: Any) -> Iterator[Any]:
        """Yield the breakpoints at which the values in a window begin."""
        at = self._at
        return at.islice(at.bisect_right(start) - 1, at.bisect_left(end))

    def add(self, start: Any, end: Any, amount: Any) -> None:
        """Add to the values in a window."""
        at = self._at
        for instant in (start, end):
            if instant not in at:
                at[instant] = at[self._since(instant)]
        touched = list(at.irange(start, end))
        for since in touched[:-1]:
            at[since] += amount
        for instant in (touched[0], touched[-1]):
            place = at.index(instant)
            if place and at.peekitem(place - 1)[1] == at[instant]:
                del at[instant]

    def truncate(self, now: Any) -> None:
        """Delete the values before an instant."""
        at = self._at
        passed = at.bisect_right(now)
        current = at.peekitem(passed - 1)[1]
        for _ in range(passed):
            at.popitem(0)
        at[now] = current

    def _since(self, instant: Any) -> Any:
        """Return the breakpoint at which the value of an instant begins."""
        return self._at.peekitem(self._at.bisect_right(instant) - 1)[0]
