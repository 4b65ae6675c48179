"""Families of requests for CPU shares."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from dlopt.generation import described, generate
from dlopt.generation.coreservation import FAMILIES, bins, min4, min5, overloaded, small
from dlopt.generation.request_distributions import SHAPES
from dlopt.io import instance_from_data, instance_to_data
from dlopt.problems.coreservation import Instance, batches, step

BRIEF: dict[str, dict[str, Any]] = {
    "min-4": {"horizon": 1000},
    "min-5": {"requests": 40},
    "overloaded": {"requests": 40},
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_gives_one_instance_in_exact_numbers(family: str) -> None:
    made, again, other = (
        generate("coreservation", family, seed=seed, **BRIEF.get(family, {})) for seed in (3, 3, 4)
    )
    assert made == again
    assert made != other
    assert made.exact
    assert made.name.endswith("-3")
    assert instance_from_data(instance_to_data(made)) == made


def test_every_parameter_says_what_it_is() -> None:
    for family in described("coreservation"):
        assert [p.name for p in family.parameters if not p.help] == []


def test_chapter_4() -> None:
    made = min4(horizon=20_000, seed=1)
    assert 1900 < len(made.requests) < 2300  # 2101 on average
    assert {machine.capacity for machine in made.machines} == {280}
    assert len(made.machines) == 10
    parts = [one.parts[0] for one in made.requests]
    assert all(len(one.parts) == 1 for one in made.requests)
    assert (min(part.cpu for part in parts), max(part.cpu for part in parts)) == (80, 280)
    assert {part.machine for part in parts} == {None}
    lengths = [one.end - one.start for one in made.requests]
    ahead = [one.start - one.arrival for one in made.requests]
    assert (min(lengths), max(lengths)) == (20, 300)
    assert 0 <= min(ahead) < 20
    assert 4300 < max(ahead) <= 4320
    assert {one.priority for one in made.requests} == set(range(1, 101))
    assert min(one.start - one.arrival for one in min4(horizon=2000, lead=300).requests) >= 300


def test_each_shape_has_a_quarter_and_soft_ones_take_a_quarter() -> None:
    made = min5(requests=120)
    counts = Counter(one.parts[0].benefit for one in made.requests)
    assert counts == dict.fromkeys(SHAPES.values(), 30)
    for part in (part for one in made.requests for part in one.parts):
        assert part.least == (part.cpu if part.benefit == step() else Fraction(part.cpu, 4))


def test_chapter_5() -> None:
    made = min5(requests=500, seed=2)
    assert {len(one.parts) for one in made.requests} == set(range(1, 7))
    assert all(200 <= machine.capacity <= 400 for machine in made.machines)
    assert len({machine.capacity for machine in made.machines}) > 1
    fixed = [one for one in made.requests if one.parts[0].machine is not None]
    assert 75 < len(fixed) < 125
    for one in fixed:
        named = [part.machine for part in one.parts]
        assert len(set(named)) == len(named)
    floating = [one for one in made.requests if one.parts[0].machine is None]
    assert all(part.machine is None for one in floating for part in one.parts)
    for share, count in ((0, 50), (1, 0)):
        parts = [one.parts[0].machine for one in min5(requests=50, floating=share).requests]
        assert sum(machine is not None for machine in parts) == count


def test_with_fewer_machines_than_parts_they_share() -> None:
    made = min5(requests=100, machines=2, floating=0)
    for one in made.requests:
        counts = Counter(part.machine for part in one.parts)
        assert max(counts.values()) == -(-len(one.parts) // 2)


def test_what_one_parameter_changes_leaves_the_rest() -> None:
    """Curves over a parameter differ by it alone, not by chance."""
    base = min5(requests=50, seed=7)

    def without_place(instance: Instance) -> list[tuple[Any, ...]]:
        return [
            (one.start, one.end, [(part.cpu, part.benefit) for part in one.parts])
            for one in instance.requests
        ]

    for changes in ({"machines": 4}, {"floating": 0}, {"most_priority": 10}):
        assert without_place(min5(requests=50, seed=7, **changes)) == without_place(base)
    assert base.requests[:20] == min5(requests=20, seed=7).requests


def test_overloaded_asks_for_as_much_as_it_says() -> None:
    made = overloaded(requests=60, seed=1)
    wanted = sum((one.end - one.start) * part.cpu for one in made.requests for part in one.parts)
    span = max(one.end for one in made.requests)
    assert Fraction(149, 100) < Fraction(wanted) / (4000 * span) < Fraction(8, 5)
    assert all(part.cpu % 20 == 0 for one in made.requests for part in one.parts)
    assert len(batches(made)) == 1
    assert {machine.capacity for machine in made.machines} == {400}
    # One request alone cannot overload the machines: its window is all the time there is.
    (alone,) = overloaded(requests=1).requests
    assert alone.start == 0


def test_small_ones_are_small() -> None:
    made = small(requests=9, machines=3, capacity=5, parts=2, span=6, floating=0, seed=5)
    assert (len(made.requests), len(made.machines)) == (9, 3)
    arrivals = [one.arrival for one in made.requests]
    assert arrivals == sorted(arrivals)
    for one in made.requests:
        assert one.end <= 6
        assert all(part.cpu <= 5 and part.machine in range(3) for part in one.parts)


def test_bins() -> None:
    made = bins(items=20, seed=1)
    assert {(one.start, one.end) for one in made.requests} == {(0, 1)}
    assert all(20 <= one.parts[0].cpu <= 100 for one in made.requests)
    temporal = bins(items=20, span=30, machines=2, seed=1)
    assert [one.parts for one in temporal.requests] == [one.parts for one in made.requests]
    assert len({one.start for one in temporal.requests}) > 5
    assert len(temporal.machines) == 2
    assert len(batches(temporal)) == 1


@pytest.mark.parametrize(
    ("family", "changes", "told"),
    [
        ("min-4", {"horizon": 0.001}, "no request arrives"),
        ("min-4", {"horizon": -1}, "horizon must be a positive number"),
        ("min-4", {"mean_interval": 1e-9}, "more than 10000000"),
        ("min-4", {"capacity": 101}, "capacity must be an integer from 1 to 100"),
        ("min-4", {"machines": 0}, "machines must be"),
        ("min-4", {"ahead": -1}, "ahead must be an integer, not negative"),
        ("min-4", {"least_cpu": 80}, "least_cpu=80 exceeds most_cpu=70"),
        ("min-4", {"batch": 0, "horizon": 500}, "batch must be a positive number, got 0"),
        ("min-5", {"batch": -1, "requests": 5}, "batch must be a positive number, got -1"),
        ("small", {"batch": 0}, "batch must be a positive number, got 0"),
        ("min-5", {"requests": 0}, "requests must be"),
        ("min-5", {"floating": 2}, "floating must lie between 0 and 1"),
        ("min-5", {"parts": "x"}, "parts must be an integer"),
        ("min-5", {"least_capacity": 101}, "least_capacity=101 exceeds"),
        ("min-5", {"most_priority": 0}, "most_priority must be"),
        ("overloaded", {"demand": 0}, "demand must be a positive number"),
        ("overloaded", {"grain": 7, "least_cpu": 8, "most_cpu": 13}, "no multiple of 7"),
        ("small", {"requests": 101}, "requests must be an integer from 1 to 100"),
        ("small", {"span": 0}, "span must be"),
        ("bins", {"most_size": 151}, "most_size must be an integer from 1 to 150"),
        ("bins", {"span": -1}, "span must be an integer, not negative"),
        ("bins", {"machines": 0}, "machines must be from 1"),
    ],
)
def test_parameters_out_of_range(family: str, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        generate("coreservation", family, **changes)
