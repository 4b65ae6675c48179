"""A bad call raises one kind of error that names every fault, and changes nothing."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pytest

from dlopt.calendar import ResourceCalendar
from dlopt.errors import InvalidInstanceError, MissingExtraError, NotApplicableError

COMPILED = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(not find_spec("numba"), reason="needs numba")),
]
NAN, INFINITE = math.nan, math.inf


def example(compiled: bool) -> ResourceCalendar:
    calendar = ResourceCalendar([4, [(0, 4), (20, 2)]], now=0, compiled=compiled)
    calendar.add_span(0, 2, 12, 3)
    calendar.add_span(0, 6, 30, 1)
    calendar.add_span(1, 0, 3, 1)
    calendar.advance(5)
    return calendar


BAD_CALLS: dict[str, Callable[[ResourceCalendar], object]] = {
    "machine": lambda c: c.add_span(2, 6, 7, 1),
    "machine negative": lambda c: c.smallest_free(-1, 6, 7),
    "machine true": lambda c: c.earliest_start(True, 1, 1),
    "start": lambda c: c.add_span(0, 4, 7, 1),
    "start nan": lambda c: c.add_span(0, NAN, 7, 1),
    "start text": lambda c: c.smallest_free(0, "6", 7),
    "end": lambda c: c.add_span(0, 7, 7, 1),
    "end infinite": lambda c: c.add_span(0, 7, INFINITE, 1),
    "end before": lambda c: c.allocated(0, 7, 6),
    "amount": lambda c: c.add_span(0, 6, 7, -1),
    "amount nan": lambda c: c.earliest_start(0, NAN, 1),
    "amount infinite": lambda c: c.add_span(0, 6, 7, INFINITE, overbook=True),
    "duration": lambda c: c.earliest_start(0, 1, 0),
    "duration infinite": lambda c: c.add_at_earliest_start(0, 1, INFINITE),
    "after": lambda c: c.earliest_start(0, 1, 1, after=4),
    "latest_end": lambda c: c.earliest_start(0, 1, 1, latest_end=NAN),
    "amounts": lambda c: c.earliest_common_start(3, 1),
    "amounts[1]": lambda c: c.earliest_common_start([1, -1], 1),
    "machines": lambda c: c.earliest_common_start([1], 1, machines=[0, 0]),
    "machines number": lambda c: c.earliest_common_start([1], 1, machines=1),
    "machines[0]": lambda c: c.earliest_common_start([1], 1, machines=[[2]]),
    "span_id": lambda c: c.remove_span(7),
    "span_id ended": lambda c: c.remove_span(2),
    "span_id text": lambda c: c.resize_span("0", end=9),
    "now": lambda c: c.advance(4),
    "now infinite": lambda c: c.advance(INFINITE),
    "start begun": lambda c: c.resize_span(0, start=6),
    "start past": lambda c: c.resize_span(1, start=4),
    "end past": lambda c: c.resize_span(0, end=5),
    "end nan": lambda c: c.resize_span(0, end=NAN),
    "amount resized": lambda c: c.resize_span(0, amount=-1),
}


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_names_what_is_wrong_and_changes_nothing(name: str, compiled: bool) -> None:
    calendar = example(compiled)
    before = calendar.snapshot()
    with pytest.raises(InvalidInstanceError) as error:
        BAD_CALLS[name](calendar)
    assert [fault.path for fault in error.value.faults] == [name.split(" ")[0]]
    assert calendar.snapshot() == before


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.add_span(0, 7, 13, 1),
        lambda c: c.add_span(1, 15, 21, 3),
        lambda c: c.resize_span(0, amount=4),
        lambda c: c.resize_span(1, start=8, amount=2),
        lambda c: c.resize_span(0, end=40, amount=Fraction(7, 2)),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    call: Callable[[ResourceCalendar], object], compiled: bool
) -> None:
    calendar = example(compiled)
    before = calendar.snapshot()
    with pytest.raises(NotApplicableError, match="asked for"):
        call(calendar)
    assert calendar.snapshot() == before


def test_every_fault_of_a_call_is_told() -> None:
    with pytest.raises(InvalidInstanceError) as error:
        example(False).add_span(9, 1, 0, -1)
    assert [fault.path for fault in error.value.faults] == ["machine", "start", "amount"]


@pytest.mark.parametrize(
    ("capacities", "path"),
    [
        ([], "capacities"),
        ("12", "capacities"),
        ([-1], "capacities[0]"),
        ([NAN], "capacities[0]"),
        ([None], "capacities[0]"),
        ([[]], "capacities[0]"),
        ([[(0, 1, 2)]], "capacities[0]"),
        ([[(1, 4)]], "capacities[0]"),
        ([[(0, 4), (0, 5)]], "capacities[0]"),
        ([[(0, -4)]], "capacities[0][0][1]"),
        ([[(NAN, 4)]], "capacities[0][0][0]"),
    ],
)
def test_bad_capacities(capacities: Any, path: str) -> None:
    with pytest.raises(InvalidInstanceError) as error:
        ResourceCalendar(capacities)
    assert error.value.faults[0].path == path


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("version", 2, "version"),
        ("now", True, "now"),
        ("now", "x", "now"),
        ("exact", 1, "exact"),
        ("next_span", -1, "next_span"),
        ("spans", {}, "spans"),
        ("spans", [[0, 0, 1]], "spans[0]"),
        ("spans", [[0, 0, 6, 7, 1], [0, 0, 6, 7, 1]], "spans[1].id"),
        ("spans", [[9, 0, 6, 7, 1]], "spans[0].id"),
        ("spans", [[0, 5, 6, 7, 1]], "spans[0].machine"),
        ("spans", [[0, 0, 1, 5, 1]], "spans[0].end"),
        ("spans", [[0, 0, NAN, 7, 1]], "spans[0].start"),
        ("spans", [[0, 0, 6, 7, "a"]], "spans[0].amount"),
        ("more", 1, "more"),
    ],
)
def test_bad_snapshots(field: str, value: object, path: str) -> None:
    data = {**example(False).snapshot(), field: value}
    with pytest.raises(InvalidInstanceError) as error:
        ResourceCalendar.restore(data)
    assert error.value.faults[0].path == path


@pytest.mark.parametrize(
    ("span", "path"),
    [
        ((0, 5, 6), "spans[1]"),
        (7, "spans[1]"),
        ((5, 6, 7, 1), "spans[1].machine"),
        ((0, 4.5, 7, 1), "spans[1].start"),
        ((0, 6, 6, 1), "spans[1].end"),
        ((0, 6, 7, -1), "spans[1].amount"),
    ],
)
def test_bad_spans_of_a_new_calendar(span: Any, path: str) -> None:
    with pytest.raises(InvalidInstanceError) as error:
        ResourceCalendar.with_spans([4], [(0, 5, 9, 9), span], now=5)
    assert [fault.path for fault in error.value.faults] == [path]


@pytest.mark.parametrize("spans", [iter([(0, 5, 9, 9)]), None, {}, "0599"])
def test_spans_of_a_new_calendar_are_a_list(spans: Any) -> None:
    with pytest.raises(InvalidInstanceError) as error:
        ResourceCalendar.with_spans([4], spans)
    assert [fault.path for fault in error.value.faults] == ["spans"]


def test_a_snapshot_is_an_object() -> None:
    with pytest.raises(InvalidInstanceError):
        ResourceCalendar.restore([])


@pytest.mark.parametrize("compiled", COMPILED)
def test_calendars_are_pickled_and_copied(compiled: bool) -> None:
    calendar = example(compiled)
    calendar.add_span(1, 7.5, 8, Fraction(1, 3))
    for twin in (
        pickle.loads(pickle.dumps(calendar)),
        copy.deepcopy(calendar),
        ResourceCalendar.restore(json.loads(json.dumps(calendar.snapshot())), compiled=compiled),
    ):
        assert twin.snapshot() == calendar.snapshot()
        assert twin.allocated(1, 5, 30) == calendar.allocated(1, 5, 30)
        assert twin.add_span(1, 9, 10, 1) == 4
        assert (twin.machines, twin.now) == (2, 5)
    assert len(calendar) == 3


def test_amounts_in_floats_stand_for_decimals_and_are_rounded_down() -> None:
    calendar = ResourceCalendar([0.3])
    calendar.add_span(0, 0, 9, 0.1)
    calendar.add_span(0, 0, 9, 0.2)
    assert calendar.smallest_free(0, 0, 9) == 0
    calendar.remove_span(0)
    assert calendar.smallest_free(0, 0, 9) == 0.1
    calendar.add_span(0, 0, 9, Fraction(1, 30))
    free = calendar.smallest_free(0, 0, 9)
    assert Fraction(str(free)) <= Fraction(2, 30)
    calendar.add_span(0, 0, 9, free)


def test_compiled_calendars_refuse_what_they_cannot_keep() -> None:
    pytest.importorskip("numba")
    with pytest.raises(NotApplicableError, match="too large"):
        ResourceCalendar([2**57], compiled=True)
    calendar = ResourceCalendar([2**50], compiled=True)
    before = calendar.snapshot()
    with pytest.raises(NotApplicableError, match="too fine"):
        calendar.add_span(0, 0, 1, Fraction(1, 10**6))
    with pytest.raises(NotApplicableError, match="too large"):
        calendar.add_span(0, 0, 1, 2**58, overbook=True)
    with pytest.raises(InvalidInstanceError, match="exact as a float"):
        calendar.add_span(0, Fraction(1, 3), 1, 1)
    with pytest.raises(InvalidInstanceError):
        calendar.smallest_free(0, 0, 2**53 + 1)
    assert calendar.earliest_start(0, 2**70, 1) is None
    assert calendar.snapshot() == before
    calendar.add_span(0, 0, 1, 2**56, overbook=True)
    before = calendar.snapshot()
    with pytest.raises(NotApplicableError, match="too large"):
        calendar.resize_span(0, amount=2**57 - 1, overbook=True)
    assert calendar.snapshot() == before
    calendar.add_span(0, 0, 1, 2**56, overbook=True)
    with pytest.raises(NotApplicableError, match="too large"):
        calendar.add_span(0, 0, 1, 2**56, overbook=True)
    assert calendar.smallest_free(0, 0, 1) == 2**50 - 2**57


def test_without_numba_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "dlopt.calendar.compiled_profile", None)
    with pytest.raises(MissingExtraError, match="fast"):
        ResourceCalendar([1], compiled=True)


def test_an_end_beyond_the_floats_is_refused() -> None:
    calendar = ResourceCalendar([1])
    with pytest.raises(InvalidInstanceError):
        calendar.add_at_earliest_start(0, 1, 1e308, after=1.7e308)
    assert len(calendar) == 0
