"""A calendar that is made with its spans is the one to which they are added one by one."""

from __future__ import annotations

from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.calendar import ResourceCalendar
from tests.examples import share

CAPACITIES: list[Any] = [6, Fraction(7, 3), [(0, 5), (12.5, 0), (20, 3)]]
COMPILED = [False, True] if find_spec("numba") is not None else [False]
INSTANTS = st.one_of(st.integers(2, 40), st.integers(8, 160).map(lambda k: k / 4))
AMOUNTS = st.one_of(
    st.integers(0, 6), st.sampled_from([0.1, 0.7, 2.5, Fraction(1, 3), Fraction(7, 5)])
)
SPANS = st.tuples(st.integers(0, 2), INSTANTS, INSTANTS, AMOUNTS).filter(
    lambda span: span[1] < span[2]
)


def answers(calendar: ResourceCalendar) -> list[Any]:
    """Return what a calendar says of itself, and whatever an engine may ask."""
    found: list[Any] = [calendar.snapshot(), calendar.spans(), len(calendar)]
    for machine in range(calendar.machines):
        found.append(calendar.allocated(machine, 2, 50))
        for amount in (1, Fraction(1, 3), 2.5):
            found.append(calendar.earliest_start(machine, amount, 3.5))
    return found


@pytest.mark.property
@pytest.mark.parametrize("compiled", COMPILED)
@share(1 / 6)
@given(
    spans=st.lists(SPANS, max_size=40),
    removed=st.sets(st.integers(0, 39), max_size=9),
    now=st.integers(2, 45),
)
def test_it_equals_one_by_one(
    compiled: bool, spans: list[Any], removed: set[int], now: int
) -> None:
    """Also after spans were removed and added, and the clock has gone on."""
    at_once = ResourceCalendar.with_spans(CAPACITIES, spans, now=2, compiled=compiled)
    one_by_one = ResourceCalendar(CAPACITIES, now=2, compiled=compiled)
    for number, span in enumerate(spans):
        assert one_by_one.add_span(*span, overbook=True) == number
    assert answers(at_once) == answers(one_by_one)
    later = []
    for calendar in (at_once, one_by_one):
        for number in removed:
            if number < len(spans):
                calendar.remove_span(number)
        added = calendar.add_span(0, 46, 47, 0.25, overbook=True)
        calendar.advance(now)
        later.append([added, calendar.snapshot(), calendar.allocated(0, now, 50)])
    assert later[0] == later[1]


def test_the_numbers_of_the_answers_are_exact_if_asked_for() -> None:
    calendar = ResourceCalendar.with_spans([1.0], [(0, 0, 1, 0.5)], exact_numbers=True)
    assert calendar.exact_numbers and calendar.smallest_free(0, 0, 1) == Fraction(1, 2)
