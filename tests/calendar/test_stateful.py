"""The calendar, plain and compiled, against brute force: every verb in every order."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dlopt.arithmetic import exact
from dlopt.calendar import ResourceCalendar
from dlopt.errors import NotApplicableError
from tests.calendar.oracle import Allocation, BruteForceCalendar
from tests.examples import share

HORIZON = 60
# Halves and quarters are exact in floats; the amounts stand for decimals and for fractions.
INSTANTS = st.one_of(st.integers(0, HORIZON), st.integers(0, 4 * HORIZON).map(lambda k: k / 4))
DURATIONS = st.one_of(st.integers(1, HORIZON), st.sampled_from([0.25, 0.5, 2.5]))
AMOUNTS = st.one_of(
    st.integers(0, 6), st.sampled_from([0.1, 0.2, 0.7, 2.5, Fraction(1, 3), Fraction(7, 5)])
)
MACHINES = st.integers(0, 2)
CAPACITIES: list[Any] = [6, 1, [(0, 5), (12.5, 0), (20, 3), (40, 6)]]


class CalendarMachine(RuleBasedStateMachine):
    """Two calendars, and what they should answer."""

    def __init__(self) -> None:
        super().__init__()
        self.calendars = [ResourceCalendar(CAPACITIES)]
        if find_spec("numba") is not None:
            self.calendars.append(ResourceCalendar(CAPACITIES, compiled=True))
        steps = [each if isinstance(each, list) else [(0, each)] for each in CAPACITIES]
        self.oracle = BruteForceCalendar(steps)
        self.copies: list[tuple[list[ResourceCalendar], tuple[Any, ...], list[Any]]] = []

    @initialize(seed=st.integers(0, 2**32), count=st.sampled_from([0, 5, 60]))
    def begin(self, seed: int, count: int) -> None:
        """Overbook every machine a little, so that the trees have several levels of nodes."""
        generator = random.Random(seed)
        for _ in range(count):
            start = generator.randrange(4 * HORIZON) / 4
            end = start + generator.randint(1, 12) / 4
            self.add(generator.randrange(3), start, end, generator.randint(1, 2), True)

    @rule(machine=MACHINES, start=INSTANTS, end=INSTANTS, amount=AMOUNTS, overbook=st.booleans())
    def add(self, machine: int, start: Any, end: Any, amount: Any, overbook: bool) -> None:
        if not self.oracle.now <= start < end:
            return
        free = self.oracle.smallest_free(machine, start, end)
        if overbook or not amount or free >= exact(amount):
            numbers = {
                calendar.add_span(machine, start, end, amount, overbook=overbook)
                for calendar in self.calendars
            }
            (number,) = numbers
            self.oracle.spans[number] = Allocation(machine, start, end, amount)
        else:
            for calendar in self.calendars:
                with pytest.raises(NotApplicableError, match="asked for"):
                    calendar.add_span(machine, start, end, amount)

    @rule(machine=MACHINES, amount=AMOUNTS, duration=DURATIONS, after=INSTANTS, latest=INSTANTS)
    def add_earliest(
        self, machine: int, amount: Any, duration: Any, after: Any, latest: Any
    ) -> None:
        after = max(after, self.oracle.now)
        expected = self.oracle.earliest_start(machine, amount, duration, after, latest)
        for calendar in self.calendars:
            span = calendar.add_at_earliest_start(
                machine, amount, duration, after=after, latest_end=latest
            )
            assert (None if span is None else span.start) == expected
        if span is not None:
            self.oracle.spans[span.id] = Allocation(*span[1:])

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.oracle.spans:
            number = data.draw(st.sampled_from(sorted(self.oracle.spans)))
            del self.oracle.spans[number]
            for calendar in self.calendars:
                calendar.remove_span(number)

    @rule(data=st.data(), start=INSTANTS, end=INSTANTS, amount=AMOUNTS, overbook=st.booleans())
    def resize(
        self, data: st.DataObject, start: Any, end: Any, amount: Any, overbook: bool
    ) -> None:
        if not self.oracle.spans:
            return
        number = data.draw(st.sampled_from(sorted(self.oracle.spans)))
        old = self.oracle.spans[number]
        if old.start < self.oracle.now:
            start = old.start
        if max(start, self.oracle.now) >= end or (start != old.start and start < self.oracle.now):
            return
        new = Allocation(old.machine, start, end, amount)
        if overbook or self.oracle.can_resize(number, new):
            for calendar in self.calendars:
                calendar.resize_span(number, start=start, end=end, amount=amount, overbook=overbook)
            self.oracle.spans[number] = new
        else:
            for calendar in self.calendars:
                with pytest.raises(NotApplicableError, match="asked for"):
                    calendar.resize_span(number, start=start, end=end, amount=amount)

    @rule(now=INSTANTS)
    def advance(self, now: Any) -> None:
        now = min(now, self.oracle.now + 5)
        if now >= self.oracle.now:
            self.oracle.advance(now)
            for calendar in self.calendars:
                calendar.advance(now)

    @rule(go_on_with_copy=st.booleans())
    def copy(self, go_on_with_copy: bool) -> None:
        twins = [calendar.copy() for calendar in self.calendars]
        if go_on_with_copy:
            self.calendars, twins = twins, self.calendars
        self.copies.append((twins, twins[0].spans(), self.profiles(twins[0])))

    @rule()
    def restore(self) -> None:
        for index, calendar in enumerate(self.calendars):
            data = json.loads(json.dumps(calendar.snapshot()))
            twin = ResourceCalendar.restore(data, compiled=index > 0)
            assert twin.snapshot() == calendar.snapshot()
            self.calendars[index] = twin

    @rule(machine=MACHINES, amount=AMOUNTS, duration=DURATIONS, after=INSTANTS, latest=INSTANTS)
    def ask(self, machine: int, amount: Any, duration: Any, after: Any, latest: Any) -> None:
        after = max(after, self.oracle.now)
        for latest_end in (None, latest):
            end = math.inf if latest_end is None else latest_end
            expected = self.oracle.earliest_start(machine, amount, duration, after, end)
            for calendar in self.calendars:
                found = calendar.earliest_start(
                    machine, amount, duration, after=after, latest_end=latest_end
                )
                assert found == expected

    @rule(
        amounts=st.lists(AMOUNTS, min_size=1, max_size=3),
        duration=DURATIONS,
        after=INSTANTS,
        machines=st.lists(MACHINES, unique=True, min_size=1),
    )
    def ask_in_common(
        self, amounts: list[Any], duration: Any, after: Any, machines: list[int]
    ) -> None:
        after = max(after, self.oracle.now)
        expected = self.oracle.earliest_common_start(amounts, duration, after, math.inf, machines)
        for calendar in self.calendars:
            found = calendar.earliest_common_start(
                amounts, duration, after=after, machines=machines
            )
            assert (None if found is None else found.start) == expected
            if found is not None:
                assert len(set(found.machines)) == len(amounts)
                assert set(found.machines) <= set(machines)
                for machine, amount in zip(found.machines, amounts, strict=True):
                    assert self.oracle.fits(machine, found.start, duration, amount)

    @rule(machine=MACHINES, start=INSTANTS, end=INSTANTS)
    def free(self, machine: int, start: Any, end: Any) -> None:
        start = max(start, self.oracle.now)
        if start < end:
            expected = self.oracle.smallest_free(machine, start, end)
            average = self.oracle.average_allocated(machine, start, end)
            for calendar in self.calendars:
                assert calendar.smallest_free(machine, start, end) == expected
                assert calendar.average_allocated(machine, start, end) == average

    @rule(
        machine=MACHINES, capacity=AMOUNTS, start=INSTANTS, end=INSTANTS, is_limited=st.booleans()
    )
    def fail_or_repair(
        self, machine: int, capacity: Any, start: Any, end: Any, is_limited: bool
    ) -> None:
        start = max(start, self.oracle.now)
        until = end if is_limited else math.inf
        if start < until:
            for calendar in self.calendars:
                calendar.set_capacity(
                    machine, capacity, start=start, end=end if is_limited else None
                )
            self.oracle.set_capacity(machine, start, until, capacity)

    @invariant()
    def profiles_are_those_of_the_spans(self) -> None:
        for calendar in self.calendars:
            assert {span.id: Allocation(*span[1:]) for span in calendar.spans()} == (
                self.oracle.spans
            )
            assert len(calendar) == len(self.oracle.spans)
        for machine in range(3):
            capacity = self.oracle.capacities[machine]
            for since, until, allocated in self.profiles(self.calendars[0])[machine]:
                value = [value for start, value in capacity if start <= since][-1]
                assert exact(value) - self.oracle.free_at(machine, since) == allocated
                assert until > since
        if len(self.calendars) > 1:
            assert self.profiles(self.calendars[0]) == self.profiles(self.calendars[1])

    def profiles(self, calendar: ResourceCalendar) -> list[Any]:
        end = 10 * HORIZON
        return [calendar.allocated(machine, calendar.now, end) for machine in range(3)]

    def teardown(self) -> None:
        """What was copied is as it was, whatever became of the others."""
        for twins, spans, profiles in self.copies:
            for twin in twins:
                assert twin.spans() == spans and self.profiles(twin) == profiles


TestCalendar = CalendarMachine.TestCase
TestCalendar.settings = settings(share(1 / 2), stateful_step_count=40)
