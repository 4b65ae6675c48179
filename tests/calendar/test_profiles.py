"""Availability profiles, plain and compiled, against a list with an entry for every instant."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import pytest

from dlopt.calendar import ProfileTree

CAPACITY = 40


def compiled_profile(steps: list[tuple[Any, int]]) -> Any:
    pytest.importorskip("numba")
    from dlopt.calendar.compiled_profile import CompiledProfile, NodeArrays

    return CompiledProfile(NodeArrays(), steps)


class ProfileInSevenths:
    """A profile whose amounts are fractions, asked for sevenths."""

    def __init__(self, steps: list[tuple[Any, int]], tree: ProfileTree | None = None) -> None:
        self.tree = tree or ProfileTree([(since, Fraction(units, 7)) for since, units in steps])

    def copy(self) -> ProfileInSevenths:
        return ProfileInSevenths([], self.tree.copy())

    def change(self, start: Any, end: Any, units: int) -> None:
        self.tree.change(start, end, Fraction(units, 7))

    def least_free(self, start: Any, end: Any) -> Any:
        return self.tree.least_free(start, end) * 7

    def earliest_start(self, units: int, *window: Any) -> Any:
        return self.tree.earliest_start(Fraction(units, 7), *window)

    def run_end(self, units: int, start: Any) -> Any:
        return self.tree.run_end(Fraction(units, 7), start)

    def steps(self, *window: Any) -> list[Any]:
        return [(since, until, units * 7) for since, until, units in self.tree.steps(*window)]

    def forget(self, now: Any) -> None:
        self.tree.forget(now)

    def scale(self, factor: int) -> None:
        self.tree.scale(factor)


MAKERS = [
    ProfileTree,
    ProfileInSevenths,
    pytest.param(
        compiled_profile,
        marks=[
            pytest.mark.skipif(not find_spec("numba"), reason="needs numba"),
            pytest.mark.compiles,
        ],
    ),
]


def steps_of(amounts: list[int], now: int) -> list[tuple[Any, Any, int]]:
    """Return what a profile should say of free amounts by instant, the last one for ever."""
    found = []
    since = now
    for instant in range(now + 1, len(amounts)):
        if amounts[instant] != amounts[instant - 1]:
            found.append((since, instant, amounts[instant - 1]))
            since = instant
    return [*found, (since, math.inf, amounts[-1])]


def first_fit(amounts: list[int], amount: int, duration: int, after: int) -> int | None:
    run = 0
    for instant in range(after, len(amounts)):
        run = run + 1 if amounts[instant] >= amount else 0
        if run == duration:
            return instant - duration + 1
    return len(amounts) - run if amounts[-1] >= amount else None


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_a_profile_agrees_with_a_list_of_instants(make: Any, seed: int) -> None:
    generator = random.Random(seed)
    horizon = generator.choice([40, 400, 2000])
    highest = generator.choice([1, 5, CAPACITY])  # units of a span
    amounts = [CAPACITY] * horizon
    profile, now, spans, copies = make([(0, CAPACITY)]), 0, [], []
    for step in range(3000):
        kind = generator.random()
        start = generator.randrange(now, horizon - 1)
        end = min(start + generator.randint(1, 40), horizon - 1)
        if kind < 0.45 and start < end:
            amount = generator.randint(1, highest)
            assert profile.least_free(start, end) == min(amounts[start:end])
            if min(amounts[start:end]) >= amount:
                spans.append((start, end, amount))
                profile.change(start, end, -amount)
                amounts[start:end] = [value - amount for value in amounts[start:end]]
        elif kind < 0.65 and spans:
            start, end, amount = spans.pop(generator.randrange(len(spans)))
            start = max(start, now)
            if start < end:
                profile.change(start, end, amount)
                amounts[start:end] = [value + amount for value in amounts[start:end]]
        elif kind < 0.66:
            now = min(now + generator.randint(0, horizon // 50), horizon // 2)
            profile.forget(now)
        elif kind < 0.67:
            copies.append((profile.copy(), steps_of(amounts, now), now))
        else:
            amount, duration = generator.randint(1, CAPACITY), generator.randint(1, 60)
            found = profile.earliest_start(amount, duration, start)
            assert found == first_fit(amounts, amount, duration, start)
            latest = start + generator.randint(1, 200)
            too_late = found is None or found + duration > latest
            limited = profile.earliest_start(amount, duration, start, latest)
            assert limited == (None if too_late else found)
            below = [i for i in range(start, horizon) if amounts[i] < amount]
            assert profile.run_end(amount, start) == (below[0] if below else math.inf)
        if step % 50 == 0:
            assert list(profile.steps(now)) == steps_of(amounts, now)
    for copy, steps, begin in copies:
        assert list(copy.steps(begin)) == steps
    for start, end, amount in spans:
        if max(start, now) < end:
            profile.change(max(start, now), end, amount)
    assert list(profile.steps(now)) == [(now, math.inf, CAPACITY)]  # nothing has left a trace


@pytest.mark.parametrize("make", MAKERS)
def test_gaps_that_are_all_too_short(make: Any) -> None:
    steps = [(k, 3 if k % 3 == 2 else 7) for k in range(3000)] + [(3000, 5)]
    profile = make(steps)
    assert profile.earliest_start(4, 2, 0) == 0
    assert profile.earliest_start(4, 3, 0) == 3000
    assert profile.earliest_start(6, 3, 0) is None
    assert profile.earliest_start(3, 10**6, 5) == 5
    profile.change(1500, 1520, 10)
    assert profile.earliest_start(6, 20, 0) == 1500
    assert profile.earliest_start(6, 22, 0) is None
    profile.change(1600, 1602, 10)  # the run begins in one step and ends in another
    assert profile.earliest_start(4, 6, 1520, 1610) is None
    profile.change(1602, 1605, 10)
    assert profile.earliest_start(4, 6, 1521, 1610) == 1599


@pytest.mark.parametrize("make", MAKERS)
def test_between_two_levels_only_the_amounts_count(make: Any) -> None:
    # The amount asked for falls between the same two levels as what is free in the gaps.
    steps = [(0, 0), (1, 10**6), (2, 0)] + [(k, 500_000 + k % 2) for k in range(3, 2000)]
    profile = make(steps)
    assert profile.earliest_start(500_001, 2, 0) == 1999
    assert profile.earliest_start(500_001, 1, 0) == 1
    assert profile.earliest_start(500_000, 5, 0) == 3


@pytest.mark.parametrize("make", MAKERS)
def test_ends_in_floats_are_rounded_as_the_caller_rounds_them(make: Any) -> None:
    start, duration = 0.1 + 0.2, 1e-17
    profile = make([(0.0, 1), (0.3, 0), (start, 1), (math.nextafter(start, 1), 0), (2.0, 1)])
    assert start + duration == start
    assert profile.earliest_start(1, duration, 0.25) == 0.25
    assert profile.earliest_start(1, duration, 0.3) == start
    assert profile.earliest_start(1, 6e-17, 0.3) == start
    assert profile.earliest_start(1, 1e-16, 0.3) == 2.0
    tenths = make([(0.0, 0), *((k / 10, k % 2) for k in range(1, 5000)), (500.0, 1)])
    for k in range(1, 4999, 2):
        length = (k + 1) / 10 - k / 10
        found = tenths.earliest_start(1, length, k / 10)
        assert k / 10 <= found and found + length <= max(found + 0.1, (k + 1) / 10)
        fits = k / 10 + length <= (k + 1) / 10
        assert (found == k / 10) == fits


@pytest.mark.parametrize("make", MAKERS)
def test_amounts_are_scaled(make: Any) -> None:
    profile = make([(0, 2), (1, 2), (3, 1), (4, 0)])
    copy = profile.copy()
    profile.scale(3)
    assert list(profile.steps(0)) == [(0, 3, 6), (3, 4, 3), (4, math.inf, 0)]
    assert list(copy.steps(2, 4)) == [(2, 3, 2), (3, 4, 1)]


@pytest.mark.parametrize("make", MAKERS)
def test_an_amount_may_be_added_for_ever(make: Any) -> None:
    profile = make([(0, 2)])
    profile.change(3, math.inf, 5)
    assert list(profile.steps(0)) == [(0, 3, 2), (3, math.inf, 7)]
    profile.change(0, math.inf, -2)
    profile.change(3, math.inf, -5)
    assert list(profile.steps(0)) == [(0, math.inf, 0)]


def test_rows_of_profiles_that_are_gone_are_used_again() -> None:
    pytest.importorskip("numba")
    from dlopt.calendar.compiled_profile import CompiledProfile, NodeArrays

    arrays = NodeArrays()
    profile = CompiledProfile(arrays, [(0, CAPACITY)])
    generator = random.Random(1)
    for trial in range(20_000):
        start = generator.randrange(10_000)
        profile.copy().change(start, start + 5, -1)
        if trial % 20 == 0:
            profile.change(start, start + 7, -1)
    assert len(arrays.whole) < 3000
    assert len(list(profile.steps(0))) > 1000
