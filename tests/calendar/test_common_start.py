"""The earliest common start on several machines, against every instant in turn."""

from __future__ import annotations

import random
from importlib.util import find_spec
from typing import Any

import pytest

from dlopt.calendar import CommonStart, ResourceCalendar
from dlopt.calendar.common_start import earliest_common_start
from dlopt.calendar.profile_tree import ProfileTree

HORIZON = 300


def fits(free: list[list[int]], amounts: list[int], start: int, duration: int) -> bool:
    """Tell whether the largest amount fits on the machine with the most, and so on."""
    least = sorted((min(row[start : start + duration]) for row in free), reverse=True)
    return all(a <= b for a, b in zip(sorted(amounts, reverse=True), least, strict=False))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_instant_before_it_would_do(seed: int, compiled: bool) -> None:
    if compiled and not find_spec("numba"):
        pytest.skip("needs numba")
    generator = random.Random(seed)
    count = generator.choice([3, 12, 40])
    calendar = ResourceCalendar([8] * count, compiled=compiled)
    free = [[8] * (2 * HORIZON) for _ in range(count)]
    for _ in range(60 * count):
        machine, start = generator.randrange(count), generator.randrange(HORIZON)
        end = min(start + generator.randint(1, 30), HORIZON)
        amount = generator.randint(1, 8)
        if end > start and min(free[machine][start:end]) >= amount:
            calendar.add_span(machine, start, end, amount)
            free[machine][start:end] = [value - amount for value in free[machine][start:end]]
    late = 0
    for _ in range(60):
        kinds = generator.sample(range(1, 9), generator.randint(1, 3))
        amounts = [generator.choice(kinds) for _ in range(generator.randint(1, count))]
        duration, after = generator.randint(1, 40), generator.randrange(HORIZON)
        expected = next(
            start for start in range(after, HORIZON + 1) if fits(free, amounts, start, duration)
        )
        late += after < expected < HORIZON
        found = calendar.earliest_common_start(amounts, duration, after=after)
        assert found is not None and found.start == expected
        assert len(set(found.machines)) == len(amounts)
        for machine, amount in zip(found.machines, amounts, strict=True):
            assert min(free[machine][expected : expected + duration]) >= amount
        latest = after + generator.randint(1, 100)
        limited = calendar.earliest_common_start(amounts, duration, after=after, latest_end=latest)
        assert limited == (found if expected + duration <= latest else None)
    assert late > 3


def test_what_needs_no_search() -> None:
    calendar = ResourceCalendar([2, 1])
    calendar.add_span(1, 0, 4, 1)
    assert calendar.earliest_common_start([], 3) == CommonStart(0, ())
    assert calendar.earliest_common_start([0, 2, 0], 3) is None
    assert calendar.earliest_common_start([0, 2], 3) == CommonStart(0, (1, 0))
    assert calendar.earliest_common_start([1, 2], 3) == CommonStart(4, (1, 0))
    assert calendar.earliest_common_start([1], 3, machines=[1]) == CommonStart(4, (1,))
    assert calendar.earliest_common_start([1], 3, latest_end=2) is None
    assert calendar.earliest_common_start([3], 1) is None
    assert calendar.earliest_common_start([2, 2], 1) is None


def test_a_run_that_ended_does_not_hide_one_that_begins_earlier() -> None:
    def machine(*free: tuple[int, int]) -> Any:
        steps = [(0, 0)]
        for start, end in free:
            steps += [(start, 1), (end, 0)]
        return ProfileTree(steps)

    profiles = [machine((0, 4), (5, 12)), machine((6, 11)), machine((9, 20)), machine((9, 20))]
    assert earliest_common_start(profiles, [1, 1], 4, 0, 100) == 6
    assert earliest_common_start(profiles, [1, 1], 6, 0, 100) == 9
    assert earliest_common_start(profiles, [1, 1, 1], 2, 0, 100) == 9
    assert earliest_common_start(profiles, [1] * 4, 3, 0, 100) is None
