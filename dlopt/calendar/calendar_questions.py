"""What can be asked of a calendar of machines, without a change of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dlopt.arithmetic import Number, exact, simplest
from dlopt.calendar.calendar_state import CalendarState
from dlopt.calendar.common_start import earliest_common_start
from dlopt.calendar.input_rules import refuse
from dlopt.calendar.profile_nodes import Instant, Units
from dlopt.errors import Fault


class CommonStart(NamedTuple):
    """What `ResourceCalendar.earliest_common_start` has found.

    Parameters
    ----------
    start : Number
    machines : tuple of int
        The machine for each of the amounts.
    """

    start: Number
    machines: tuple[int, ...]


class CalendarQuestions(CalendarState):
    """The questions to a calendar; see `dlopt.calendar.resource_calendar.ResourceCalendar`."""

    def smallest_free(self, machine: int, start: Number, end: Number) -> Number:
        """Return how much is free on a machine throughout a window; where overbooked, less than 0.

        Raises
        ------
        InvalidInstanceError
            If the window is empty or begins before now, or the machine does not exist.
        """
        refuse(self._rules.window(machine, start, end, self._now))
        return self._shown(self._profiles[machine].least_free(start, end))

    def capacity(self, machine: int) -> tuple[tuple[Number, Number], ...]:
        """Return the capacity of a machine from now on: from when on there is how much.

        Raises
        ------
        InvalidInstanceError
            If the machine does not exist.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar([[(0, 4), (20, 2)]], now=5)
        >>> calendar.set_capacity(0, 0, start=7, end=9)
        >>> calendar.capacity(0)
        ((5, 4), (7, 0), (9, 4), (20, 2))
        """
        refuse(self._rules.machine(machine))
        steps = self._profiles.capacity(machine)
        return tuple((since, self._rounded(value)) for since, value in steps)

    def allocated(
        self, machine: int, start: Number, end: Number
    ) -> tuple[tuple[Number, Number, Number], ...]:
        """Return from when to when each amount is allocated on a machine, within a window.

        No two amounts in succession are the same.

        Raises
        ------
        InvalidInstanceError
            As `smallest_free`.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar([9])
        >>> _ = calendar.add_span(0, 2, 5, 4), calendar.add_span(0, 5, 7, 4)
        >>> calendar.allocated(0, 1, 6)
        ((1, 2, 0), (2, 6, 4))
        """
        refuse(self._rules.window(machine, start, end, self._now))
        steps = self._profiles.allocated(machine, start, end)
        return tuple((since, until, self._shown(units)) for since, until, units in steps)

    def average_allocated(self, machine: int, start: Number, end: Number) -> Number:
        """Return how much is allocated on a machine, averaged over the time of a window.

        Raises
        ------
        InvalidInstanceError
            As `smallest_free`.

        Examples
        --------
        >>> from dlopt.calendar import ResourceCalendar
        >>> calendar = ResourceCalendar([9])
        >>> _ = calendar.add_span(0, 2, 5, 4)
        >>> calendar.average_allocated(0, 1, 5)
        3
        """
        refuse(self._rules.window(machine, start, end, self._now))
        steps = self._profiles.allocated(machine, start, end)
        area = sum(_length(since, until) * units for since, until, units in steps if units)
        return self._rounded(Fraction(area, _length(start, end) * self._profiles.denominator))

    def earliest_start(
        self,
        machine: int,
        amount: Number,
        duration: Number,
        *,
        after: Number | None = None,
        latest_end: Number | None = None,
    ) -> Number | None:
        """Return the first instant from which on an amount is free for a duration.

        Parameters
        ----------
        machine : int
        amount, duration : Number
            The duration is positive.
        after : Number, optional
            Not before now, which is the default.
        latest_end : Number, optional

        Returns
        -------
        Number or None
            None if the amount is never free for so long, or only later.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        """
        after = self._now if after is None else after
        rules = self._rules
        faults = rules.machine(machine) + rules.amount(amount)
        refuse(faults + rules.search(duration, after, latest_end, self._now))
        end: Instant = math.inf if latest_end is None else latest_end
        if not amount:
            return after if after + duration <= end else None
        units = self._profiles.enough(amount)
        found: Number | None = self._profiles[machine].earliest_start(units, duration, after, end)
        return found

    def earliest_common_start(
        self,
        amounts: Sequence[Number],
        duration: Number,
        *,
        after: Number | None = None,
        latest_end: Number | None = None,
        machines: Sequence[int] | None = None,
    ) -> CommonStart | None:
        """Return the first instant from which on each amount is free on a machine of its own.

        Parameters
        ----------
        amounts : sequence of Number
            ``[a] * k`` asks for k machines.
        duration : Number
        after, latest_end : Number, optional
            As `earliest_start`.
        machines : sequence of int, optional
            Which machines may be used; by default all.

        Returns
        -------
        CommonStart or None
            Larger amounts choose first, each the first machine that has enough.

        Raises
        ------
        InvalidInstanceError
            With every fault.
        """
        after = self._now if after is None else after
        chosen = range(self.machines) if machines is None else machines
        faults = self._rules.search(duration, after, latest_end, self._now)
        if not isinstance(amounts, (list, tuple)):
            faults.append(Fault("amounts", amounts, "must be a list of amounts"))
            amounts = ()
        for index, amount in enumerate(amounts):
            faults += self._rules.amount(amount, f"amounts[{index}]")
        if not isinstance(chosen, (list, tuple, range)):
            faults.append(Fault("machines", machines, "must be a list of machines"))
            chosen = ()
        for index, machine in enumerate(chosen):
            faults += self._rules.machine(machine, f"machines[{index}]")
        if not faults and len(set(chosen)) < len(chosen):
            faults.append(Fault("machines", machines, "must be different machines"))
        refuse(faults)
        end: Instant = math.inf if latest_end is None else latest_end
        units = [self._profiles.enough(amount) for amount in amounts]
        profiles = [self._profiles[machine] for machine in chosen]
        start = None
        if len(amounts) <= len(profiles) and after + duration <= end:
            positive = [amount for amount in units if amount > 0]
            start = earliest_common_start(profiles, positive, duration, after, end)
        if start is None:
            return None
        free = {
            machine: max(profile.least_free(start, start + duration), 0)
            for machine, profile in zip(chosen, profiles, strict=True)
        }
        places = [0] * len(units)
        for index in sorted(range(len(units)), key=lambda index: -units[index]):
            places[index] = next(m for m, amount in free.items() if amount >= units[index])
            del free[places[index]]
        return CommonStart(start, tuple(places))

    def _shown(self, units: Units) -> Number:
        """Return an amount as the calendar answers."""
        return self._rounded(self._profiles.amount(units))

    def _rounded(self, amount: Number) -> Number:
        """Return an exact number as it is, or the float at or below it."""
        if self._exact:
            return simplest(amount)
        near = float(amount)
        return near if exact(near) <= amount else math.nextafter(near, -math.inf)


def _length(start: Instant, end: Instant) -> Instant:
    """Return the exact length of a window."""
    if type(start) is int and type(end) is int:
        return end - start
    return exact(end) - exact(start)
