"""Counting cuts hold for everything that fits, and are there where nothing else bounds as well."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, api
from dlopt.generation.packed_requests import near_equal
from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation, upper_bound
from dlopt.models.coreservation.counting_cuts import counted_sizes
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, linear
from dlopt.result import Limits
from tests import examples
from tests.models.coreservation.sample_instances import is_proven_without_a_solver, packed


def most_that_fit(free, shares):
    """Return how many shares fit at the most, by trying every machine for each."""
    best = 0
    for machines in product([None, *range(len(free))], repeat=len(shares)):
        loads = [0] * len(free)
        for machine, share in zip(machines, shares, strict=True):
            if machine is not None:
                loads[machine] += share
        if all(load <= room for load, room in zip(loads, free, strict=True)):
            best = max(best, sum(machine is not None for machine in machines))
    return best


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=2),
    st.lists(st.integers(1, 12), min_size=1, max_size=6),
)
def test_no_more_fit_than_are_counted(free, shares) -> None:
    for size in counted_sizes(free, shares):
        large = [share for share in shares if share > size]
        assert most_that_fit(free, large) <= sum(room // (size + 1) for room in free)


@examples.share(3)
@given(
    st.lists(st.integers(20, 60), min_size=1, max_size=3),
    st.lists(st.integers(1, 20), min_size=1, max_size=40),
)
def test_what_is_left_out_is_implied_by_the_aggregate_capacity(free, shares) -> None:
    kept = counted_sizes(free, shares)
    for size in (max(free) // (max(free) // share + 1) for share in shares):
        large = sorted(share for share in shares if share > size)
        count = sum(room // (size + 1) for room in free)
        if size not in kept and len(large) > count:
            assert sum(large[:count]) >= sum(free)


@pytest.mark.parametrize(("fit", "capacity", "extra"), [(4, 860, 1), (7, 1500, 2), (12, 1500, 3)])
def test_items_of_nearly_equal_sizes_are_counted(fit, capacity, extra) -> None:
    instance = near_equal(fit=fit, capacity=capacity, extra=extra, machines=3, seed=2)
    scaled = ScaledInstance.from_instance(instance, "rejections")
    assert upper_bound(scaled, "rejections", Limits(), max_nodes=1).value == -extra
    found = api.solve(instance, objective="rejections")
    assert (found.status, found.value) == (Status.OPTIMAL, extra)
    assert is_proven_without_a_solver(found)


def test_machines_that_differ_are_counted_one_by_one() -> None:
    instance = packed([11] * 14, 65, 2)  # five on each, four on a smaller one: fourteen
    for capacity, lost in ((54, 0), (43, 1)):
        machines = (*instance.machines, Machine("smaller", capacity))
        scaled = ScaledInstance.from_instance(replace(instance, machines=machines), "rejections")
        assert upper_bound(scaled, "rejections", Limits(), max_nodes=1).value == -lost


def test_best_effort_parts_use_capacity_in_the_relaxation() -> None:
    """The capacity row once left out all segments that begin at share 0."""
    soft = tuple(Request(f"r{k}", 0, 0, 1, k + 1, (Part(10 + k, 0, linear()),)) for k in range(40))
    instance = Instance((Machine("m", 300),), soft, Batch(1))
    model = AggregatedRelaxation(ScaledInstance.from_instance(instance))
    assert any(len(row) >= 40 for row in model.rows)
    found = api.solve(instance, limits=Limits(work=100))
    assert (found.status, found.value) == (Status.OPTIMAL, found.bound)
    assert is_proven_without_a_solver(found)
    weight = Fraction(sum(range(1, 41)))
    left, value = Fraction(300), Fraction(0)
    for k in sorted(range(40), key=lambda k: Fraction(k + 1, 10 + k), reverse=True):
        share = min(left, Fraction(10 + k))
        left, value = left - share, value + (k + 1) / weight * share / (10 + k)
    assert found.value == value
