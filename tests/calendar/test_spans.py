"""Spans that change, end and are forgotten."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from dlopt.calendar import ResourceCalendar
from dlopt.errors import NotApplicableError


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 3},
        {"amount": 0},
        {"end": 8},
        {"start": 5},
        {"start": 4, "end": 14},
        {"end": 14, "amount": 1},
        {"start": 16, "end": 20, "amount": 2},
    ],
)
def test_what_a_span_has_already_counts_as_free_for_it(change: dict[str, Any]) -> None:
    calendar = ResourceCalendar([4])
    span = calendar.add_span(0, 2, 12, 4)
    calendar.add_span(0, 14, 20, 2)
    changed = calendar.resize_span(span, **change)
    assert calendar.span(span) == changed == calendar.spans()[0]
    expected = ResourceCalendar([4])
    expected.add_span(0, changed.start, changed.end, changed.amount)
    expected.add_span(0, 14, 20, 2)
    assert calendar.allocated(0, 0, 30) == expected.allocated(0, 0, 30)


@pytest.mark.parametrize("change", [{"end": 15}, {"amount": 5}, {"start": 16, "end": 18}])
def test_what_others_have_does_not(change: dict[str, Any]) -> None:
    calendar = ResourceCalendar([4])
    span = calendar.add_span(0, 2, 12, 4)
    calendar.add_span(0, 14, 20, 2)
    with pytest.raises(NotApplicableError):
        calendar.resize_span(span, **change)
    calendar.resize_span(span, **change, overbook=True)
    assert calendar.smallest_free(0, 0, 20) < 0


def test_a_span_that_overbooks_may_shrink() -> None:
    calendar = ResourceCalendar([4])
    span = calendar.add_span(0, 0, 10, 9, overbook=True)
    calendar.resize_span(span, amount=8)
    calendar.resize_span(span, start=1, end=9)
    with pytest.raises(NotApplicableError):
        calendar.resize_span(span, end=9, amount=8.5)
    assert calendar.allocated(0, 0, 10) == ((0, 1, 0), (1, 9, 8), (9, 10, 0))


def test_of_a_span_that_has_begun_only_what_is_left_changes() -> None:
    calendar = ResourceCalendar([4])
    span = calendar.add_span(0, 0, 10, 3)
    calendar.advance(4)
    assert calendar.resize_span(span, end=6, amount=2) == (span, 0, 0, 6, 2)
    assert calendar.allocated(0, 4, 8) == ((4, 6, 2), (6, 8, 0))
    calendar.remove_span(span)
    assert calendar.allocated(0, 4, 8) == ((4, 8, 0),)


def test_what_is_over_takes_no_memory() -> None:
    calendar = ResourceCalendar([40])
    sizes = []
    for start in range(30_000):
        calendar.advance(start)
        calendar.add_span(0, start, start + 20 + start % 7, 1)
        if start % 5000 == 4999:
            sizes.append(len(pickle.dumps(calendar)))
            assert len(calendar) == len(calendar.spans()) < 30
            assert len(calendar.allocated(0, start, start + 100)) < 60
    assert max(sizes) < 1.2 * min(sizes)
