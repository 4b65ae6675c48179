"""Machines that fail, are repaired, grow, or come later."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pytest

from dlopt.calendar import ResourceCalendar
from dlopt.errors import InvalidInstanceError, NotApplicableError

COMPILED = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(not find_spec("numba"), reason="needs numba")),
]


@pytest.mark.parametrize("compiled", COMPILED)
def test_a_machine_fails_and_is_repaired_and_its_spans_stay(compiled: bool) -> None:
    calendar = ResourceCalendar([4], compiled=compiled)
    span = calendar.add_span(0, 0, 10, 3)
    before = calendar.copy()
    calendar.set_capacity(0, 0, start=5)
    assert calendar.smallest_free(0, 0, 5) == 1 and calendar.smallest_free(0, 0, 6) == -3
    assert calendar.earliest_start(0, 1, 6) is None
    calendar.set_capacity(0, 4, start=8)
    assert calendar.earliest_start(0, 1, 6) == 8 and calendar.earliest_start(0, 4, 1) == 10
    assert calendar.allocated(0, 0, 20) == before.allocated(0, 0, 20) == ((0, 10, 3), (10, 20, 0))
    assert before.smallest_free(0, 0, 20) == 1
    calendar.remove_span(span)
    assert calendar.smallest_free(0, 5, 8) == 0 and len(before) == 1


@pytest.mark.parametrize("compiled", COMPILED)
def test_a_change_replaces_those_before_it_in_its_window(compiled: bool) -> None:
    calendar = ResourceCalendar([[(0, 4), (10, 2), (20, 6)]], compiled=compiled)
    calendar.set_capacity(0, 5, start=8, end=15)
    assert calendar.snapshot()["capacities"] == [[[0, 4], [8, 5], [15, 2], [20, 6]]]
    calendar.set_capacity(0, 2, start=12, end=16)
    calendar.advance(9)
    assert calendar.snapshot()["capacities"] == [[[9, 5], [12, 2], [20, 6]]]
    calendar.set_capacity(0, 1)
    assert calendar.snapshot()["capacities"] == [[[9, 1]]]
    calendar.set_capacity(0, Fraction(5, 4), end=Fraction(19, 2))
    assert calendar.smallest_free(0, 9, 9.5) == 1.25 and calendar.smallest_free(0, 9, 10) == 1


@pytest.mark.parametrize("compiled", COMPILED)
def test_machines_come_later(compiled: bool) -> None:
    calendar = ResourceCalendar([1], now=3, compiled=compiled)
    alone = calendar.copy()
    assert calendar.earliest_common_start([1, 1], 2) is None
    assert calendar.add_machine([(0, 0), (7, Fraction(3, 2))]) == 1 == alone.machines
    assert calendar.earliest_common_start([1, 1], 2) == (7, (0, 1))
    calendar.add_span(1, 7, 9, 1)
    assert calendar.smallest_free(1, 7, 9) == 0.5
    twin = ResourceCalendar.restore(calendar.snapshot(), compiled=compiled)
    assert twin.machines == 2 and twin.snapshot() == calendar.snapshot()
    with pytest.raises(InvalidInstanceError, match="machine: must be one of the machines 0 to 0"):
        alone.smallest_free(1, 7, 9)


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize(
    ("call", "path"),
    [
        (lambda c: c.set_capacity(1, 1), "machine"),
        (lambda c: c.set_capacity(0, -1), "capacity"),
        (lambda c: c.set_capacity(0, 1, start=1), "start"),
        (lambda c: c.set_capacity(0, 1, start=5, end=5), "end"),
        (lambda c: c.set_capacity(0, 1, end=float("inf")), "end"),
        (lambda c: c.add_machine(-1), "capacity"),
        (lambda c: c.add_machine([(3, 1)]), "capacity"),
        (lambda c: c.add_machine([(0, "1")]), "capacity[0][1]"),
    ],
)
def test_bad_changes_change_nothing(call: Any, path: str, compiled: bool) -> None:
    calendar = ResourceCalendar([4], now=2, compiled=compiled)
    before = calendar.snapshot()
    with pytest.raises(InvalidInstanceError) as error:
        call(calendar)
    assert [fault.path for fault in error.value.faults] == [path]
    assert calendar.snapshot() == before


def test_compiled_calendars_refuse_capacities_that_they_cannot_keep() -> None:
    pytest.importorskip("numba")
    calendar = ResourceCalendar([2**50], compiled=True)
    calendar.add_span(0, 0, 9, 2**57 - 1, overbook=True)
    calendar.add_span(0, 0, 9, 2**50 - 2, overbook=True)
    before = calendar.snapshot()
    for capacity in (2**57, 0, Fraction(1, 2**20)):
        with pytest.raises(NotApplicableError, match="too large or too fine"):
            calendar.set_capacity(0, capacity)
        assert calendar.snapshot() == before
    with pytest.raises(NotApplicableError, match="too large"):
        calendar.add_machine(2**57)
    assert calendar.machines == 1 and calendar.snapshot() == before
