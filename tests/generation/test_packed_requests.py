"""Requests that fill machines: how they are made, and that their optimum is what they say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dlopt import Status, api
from dlopt.arithmetic import exact
from dlopt.generation import generate
from dlopt.generation.packed_requests import (
    intervals,
    knapsacks,
    near_equal,
    strips,
    tiles,
    triplets,
)
from tests.oracles_coreservation import optimum


def area(instance: Any) -> tuple[Fraction, Fraction]:
    """Return CPU times duration of all requests, and of all machines."""
    wanted = sum(
        exact(part.cpu) * (exact(one.end) - exact(one.start))
        for one in instance.requests
        for part in one.parts
    )
    span = max(one.end for one in instance.requests)
    return wanted, span * sum(exact(machine.capacity) for machine in instance.machines)


@pytest.mark.parametrize(
    "instance",
    [
        triplets(machines=2, seed=1),
        triplets(machines=2, parts=2, spread=30, seed=2),
        tiles(machines=2, instants=4, pieces=3, capacity=6, seed=1),
        tiles(machines=1, instants=4, pieces=4, capacity=6, extra=1, seed=2),
        strips(machines=1, strips=2, instants=6, mean_duration=3, capacity=7, seed=1),
        near_equal(machines=2, fit=2, extra=1, capacity=20, seed=1),
    ],
    ids=lambda instance: instance.name,
)
def test_the_optimum_is_what_the_instance_says(instance: Any) -> None:
    (known,) = instance.best_known
    assert known.value == known.bound == optimum(instance, "rejections")
    assert api.solve(instance, objective="rejections").value == known.value


@pytest.mark.parametrize(
    "instance", [triplets(layers=3, spread=10), tiles(), strips(), triplets(machines=5, parts=4)]
)
def test_machines_are_filled(instance: Any) -> None:
    wanted, able = area(instance)
    assert wanted == able


def test_triplets() -> None:
    for capacity in range(4, 30):
        sizes = [one.parts[0].cpu for one in triplets(capacity=capacity).requests]
        assert min(sizes) >= capacity // 4 and sum(sizes) == 12 * capacity
    made = triplets(machines=4, capacity=800, slack=Fraction(1, 2), seed=3)
    assert {machine.capacity for machine in made.machines} == {804}
    assert all(200 <= one.parts[0].cpu <= 392 for one in made.requests)
    decimal = triplets(machines=4, capacity=800, unit=0.001, seed=3)
    assert not decimal.exact
    assert [exact(one.parts[0].cpu) * 1000 for one in decimal.requests] == [
        one.parts[0].cpu for one in made.requests
    ]
    grouped = triplets(machines=4, layers=2, parts=5)
    assert [len(one.parts) for one in grouped.requests] == [5, 5, 2] * 2


def test_pieces_that_cannot_be_cut_further_stay() -> None:
    made = tiles(machines=1, instants=2, pieces=4, capacity=2)
    assert sorted((one.start, one.end, one.parts[0].cpu) for one in made.requests) == [
        (0, 1, 1),
        (0, 1, 1),
        (1, 2, 1),
        (1, 2, 1),
    ]


def test_knapsacks() -> None:
    made = knapsacks(requests=30, grain=2, most_priority=0, seed=1)
    assert all(one.priority == one.parts[0].cpu for one in made.requests)
    assert all(one.parts[0].cpu % 2 == 0 for one in made.requests)
    assert made.machines[0].capacity % 2 == 1
    soft = knapsacks(requests=8, machines=2, shapes="linear")
    assert all(one.parts[0].least == Fraction(one.parts[0].cpu, 4) for one in soft.requests)
    assert len(soft.machines) == 2


def test_intervals() -> None:
    made = intervals(requests=50, machines=2, span=30, most_duration=4, most_priority=3)
    assert all(1 <= one.end - one.start <= 4 and one.start <= 30 for one in made.requests)
    assert {one.priority for one in made.requests} == {1, 2, 3}


@pytest.mark.parametrize(
    ("family", "changes", "told"),
    [
        ("triplets", {"machines": 0}, "machines must be an integer"),
        ("triplets", {"capacity": 3}, "capacity must be at least 4"),
        ("triplets", {"spread": -1}, "spread must be an integer, not negative"),
        ("triplets", {"spread": 101}, "spread must be at most 100"),
        ("triplets", {"slack": -5}, "slack must be a number from 0"),  # not all fit then
        ("triplets", {"slack": float("nan")}, "slack must be a number from 0"),
        ("triplets", {"unit": 0}, "unit must be a positive number"),
        ("triplets", {"parts": 0}, "parts must be an integer"),
        ("tiles", {"instants": 2, "capacity": 2, "pieces": 5}, "exceeds instants times capacity"),
        ("strips", {"strips": 101}, "strips must be an integer from 1 to 100"),
        ("near-equal", {"capacity": 5, "fit": 4, "machines": 1}, "no size of which 4 fit"),
        ("knapsacks", {"demand": 0}, "demand must be a positive number"),
        ("knapsacks", {"demand": float("inf")}, "demand must be a positive number"),
        ("intervals", {"span": -1}, "span must be an integer"),
        ("tiles", {"extra": 10**9}, "extra must be an integer, from 0 to 1000000, got 1000000000"),
        ("near-equal", {"extra": 10**29}, "extra must be an integer, from 0 to 1000000"),
    ],
)
def test_parameters_out_of_range(family: str, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        generate("coreservation", family, **changes)


def test_families_for_which_exact_was_blind_are_proven() -> None:
    for instance, value in (
        (triplets(machines=8, spread=30), 0),
        (triplets(machines=12, capacity=10**9), 0),
        (near_equal(fit=12, capacity=1500, machines=4, extra=2), 2),
        (tiles(machines=4, instants=8), 0),
    ):
        found = api.solve(instance, objective="rejections")
        assert (found.status, found.value) == (Status.OPTIMAL, value), instance.name
