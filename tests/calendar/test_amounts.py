"""Amounts that are floats or fractions: sums are exact, and what is said to be free can be had."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from dlopt.arithmetic import exact
from dlopt.calendar import ResourceCalendar
from dlopt.calendar.profiles import MAX_DENOMINATOR, Profiles
from dlopt.errors import NotApplicableError
from tests.calendar.oracle import Allocation, BruteForceCalendar

HORIZON = 24


def drawn(kind: str, generator: random.Random) -> Any:
    if kind == "decimals":
        return generator.randint(0, 120) / 10
    if kind == "floats":
        return math.ldexp(generator.random(), generator.randint(-60, 3))
    if kind == "thirds":
        return Fraction(generator.randint(0, 36), 3)
    return Fraction(generator.randint(0, 12 * 10**9), generator.randint(10**9, 10**12))


@pytest.mark.parametrize("kind", ["decimals", "floats", "thirds", "unrelated fractions"])
@pytest.mark.parametrize("seed", range(3))
def test_answers_are_the_truth_or_the_float_below_it(kind: str, seed: int) -> None:
    generator = random.Random(seed)
    is_exact = kind in ("thirds", "unrelated fractions")
    capacities: list[Any] = [[(0, drawn(kind, generator)), (9, drawn(kind, generator))], [(0, 7)]]
    calendar = ResourceCalendar(capacities, exact_numbers=is_exact)
    oracle = BruteForceCalendar(capacities)

    def is_answer(number: Any, truth: Any) -> bool:
        if is_exact:
            return bool(number == truth)
        return isinstance(number, float) and exact(number) <= truth < exact(
            math.nextafter(number, math.inf)
        )

    for _ in range(150):
        machine = generator.randrange(2)
        start = generator.randrange(oracle.now, HORIZON)
        end = start + generator.randint(1, 9)
        window, amount = (machine, start, end), drawn(kind, generator)
        act = generator.random()
        if act < 0.5:
            fits = oracle.smallest_free(*window) >= exact(amount)
            overbook = not fits and generator.random() < 0.1
            if fits or overbook:
                number = calendar.add_span(*window, amount, overbook=overbook)
                oracle.spans[number] = Allocation(*window, amount)
            elif amount:
                with pytest.raises(NotApplicableError, match="asked for"):
                    calendar.add_span(*window, amount)
        elif act < 0.6 and (free := calendar.smallest_free(*window)) > 0:
            number = calendar.add_span(*window, free)
            oracle.spans[number] = Allocation(*window, free)
            assert oracle.smallest_free(*window) >= 0
        elif act < 0.8 and oracle.spans:
            number = generator.choice(sorted(oracle.spans))
            calendar.remove_span(number)
            del oracle.spans[number]
        elif act < 0.83:
            oracle.advance(min(oracle.now + 1, HORIZON - 1))
            calendar.advance(oracle.now)
        found = calendar.earliest_start(machine, amount, end - start)
        assert found == oracle.earliest_start(machine, amount, end - start, oracle.now)
        if start >= oracle.now:
            assert is_answer(calendar.smallest_free(*window), oracle.smallest_free(*window))
            assert is_answer(calendar.average_allocated(*window), oracle.average_allocated(*window))


def test_a_removed_span_leaves_no_trace_in_floats() -> None:
    """0.1 + 0.2 - 0.1 - 0.2 is not 0 in floats; here it is."""
    calendar = ResourceCalendar([1.0])
    spans = [calendar.add_span(0, 0.5 * k, 9.7, 0.1 * (k + 1)) for k in range(3)]
    assert calendar.smallest_free(0, 0, 10) == pytest.approx(0.4)
    for span in spans:
        calendar.remove_span(span)
    assert calendar.allocated(0, 0, 10) == ((0, 10, 0.0),)
    assert calendar.smallest_free(0, 0, 10) == 1.0 and len(calendar) == 0


def test_what_is_allocated_before_a_step_of_the_capacity_does_not_count_after_it() -> None:
    calendar = ResourceCalendar([((0, 10), (5, 8))])
    calendar.add_span(0, 0, 5, 6)
    assert calendar.smallest_free(0, 0, 10) == 4
    calendar.add_span(0, 6, 8, 3)
    assert calendar.smallest_free(0, 0, 10) == calendar.smallest_free(0, 4, 6) == 4
    assert calendar.smallest_free(0, 5, 10) == 5
    assert calendar.average_allocated(0, 4, 8) == 3
    assert calendar.allocated(0, 0, 9) == ((0, 5, 6), (5, 6, 0), (6, 8, 3), (8, 9, 0))


def test_long_windows_take_no_more_steps() -> None:
    """A week in slots of 0.6 s; 300 spans of a day each."""
    calendar = ResourceCalendar([1000])
    for k in range(300):
        calendar.add_span(0, 1000 * k, 1000 * k + 144_000, 1 + k % 3)
    steps = calendar.allocated(0, 0, 1_008_000)
    assert len(steps) <= 601
    assert calendar.smallest_free(0, 0, 1_008_000) == 1000 - max(amount for _, _, amount in steps)
    calendar.advance(400_000)
    assert len(calendar) == 43


def test_unrelated_fractions_do_not_lengthen_all_amounts() -> None:
    profiles = Profiles([[(0, 1000)]], 0, compiled=False)
    primes = [n for n in range(1000, 2000) if all(n % k for k in range(2, 45))]
    shares = [Fraction(prime - 1, prime) for prime in primes]
    for instant, share in enumerate(shares):
        profiles.change(0, instant, instant + 2, -profiles.units(share))
    assert 1 < profiles.denominator <= MAX_DENOMINATOR
    for instant, (before, share) in enumerate(pairwise(shares), 1):
        units = profiles[0].least_free(instant, instant + 1)
        assert profiles.amount(units) == 1000 - before - share
        assert profiles[0].earliest_start(units, 1, instant, instant + 1) == instant
