"""Families of instances of one divisible load: what they promise, at every size."""

from __future__ import annotations

import inspect
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt import api
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation import families, generate
from dlopt.io import instance_from_data, instance_hash, instance_to_data
from dlopt.problems.iit import Instance, violations
from dlopt.result import Status

NAMES = ("ramp", "burst", "random", "snapshot")
RANDOM = ("burst", "random", "snapshot")
MOST = {"ramp": 10**6, "burst": 10**6, "random": 10**6, "snapshot": 10**4}


def made(family: str, **parameters: Any) -> Instance:
    instance = generate("iit", family, **parameters)
    assert isinstance(instance, Instance)
    return instance


def test_the_families() -> None:
    assert tuple(families("iit")) == NAMES
    assert dlopt.generate is generate
    with pytest.raises(NotApplicableError, match="no problem 'xyz'"):
        families("xyz")


# sizes


@pytest.mark.parametrize("nodes", [1, 2, 3, 5, 16, 127, 1000, 10_000, 100_000])
@pytest.mark.parametrize("family", NAMES)
def test_every_size(family: str, nodes: int) -> None:
    if nodes > MOST[family]:
        with pytest.raises(NotApplicableError, match=f"from 1 to {MOST[family]}, got {nodes}"):
            made(family, nodes=nodes)
        return
    instance = made(family, nodes=nodes, seed=3)
    assert instance.cluster.nodes == len(instance.ready_times) == nodes
    assert instance.exact and all(type(t) is int and t >= 0 for t in instance.ready_times)
    assert instance.load == 10 * nodes and instance.absolute_deadline is None
    assert instance.cluster.tau == 1 and instance.cluster.chi == 100
    assert not instance.cluster.has_setup_costs
    assert instance.name == f"{family}-{nodes}-3"
    assert instance.origin == f"dlopt generate iit --family {family}, seed 3"


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("nodes", [1, 2, 7])
def test_small_ones_can_be_solved(family: str, nodes: int) -> None:
    costs: dict[str, Any] = {"theta_cm": 3, "theta_cp": Fraction(1, 2)}
    for instance in (made(family, nodes=nodes), made(family, nodes=nodes, **costs)):
        result = api.solve(instance, "edf-iit-2")
        assert result.status is Status.OPTIMAL and violations(instance, result.solution) == ()
        assert api.solve(instance, "opr").value >= result.value


# seeds


@pytest.mark.property
@given(st.sampled_from(NAMES), st.integers(1, 40), st.integers(0, 2**64), st.sampled_from([1, 3]))
def test_a_seed_settles_everything(family: str, nodes: int, seed: int, spread: int) -> None:
    state = random.getstate()
    first = made(family, nodes=nodes, seed=seed, spread=spread)
    assert random.getstate() == state
    random.seed(seed + 1)
    again = made(family, nodes=nodes, seed=seed, spread=spread)
    random.setstate(state)
    assert first == again and instance_hash(first) == instance_hash(again)
    assert (first.name, first.origin) == (again.name, again.origin)
    assert instance_from_data(instance_to_data(first)) == first


@pytest.mark.parametrize("family", RANDOM)
def test_another_seed_gives_another_instance(family: str) -> None:
    assert len({instance_hash(made(family, seed=seed)) for seed in range(20)}) > 18
    assert made(family) == made(family, seed=0)


def test_a_ramp_draws_nothing_but_its_spread() -> None:
    assert made("ramp", seed=1) == made("ramp", seed=2)
    assert made("ramp", seed=1, spread=2) != made("ramp", seed=2, spread=2)


# what each family promises


@pytest.mark.parametrize("step", [0, 7, Fraction(1, 3)])
def test_ramp(step: Any) -> None:
    assert made("ramp", nodes=5, step=step).ready_times == tuple(i * step for i in range(5))


@pytest.mark.property
@given(st.integers(1, 50), st.integers(1, 9), st.integers(1, 500), st.integers(0, 99))
def test_burst(nodes: int, bursts: int, span: int, seed: int) -> None:
    times = made("burst", nodes=nodes, bursts=bursts, span=span, seed=seed).ready_times
    assert min(times) == 0 and max(times) <= span
    assert len(set(times)) <= bursts


def test_burst_makes_as_many_groups_as_it_is_asked_for() -> None:
    groups = Counter(len(set(made("burst", nodes=200, seed=s).ready_times)) for s in range(30))
    assert max(groups) == 4 and groups[4] > 25  # two bursts may fall on one instant


@pytest.mark.property
@given(st.integers(1, 50), st.integers(0, 500), st.integers(0, 99))
def test_random(nodes: int, span: int, seed: int) -> None:
    times = made("random", nodes=nodes, span=span, seed=seed).ready_times
    assert all(0 <= time <= span for time in times)


def test_random_fills_its_span() -> None:
    times = made("random", nodes=2000, span=9, seed=1).ready_times
    counts = Counter(times)
    assert set(counts) == set(range(10)) and min(counts.values()) > 140


def test_snapshot_leaves_the_utilization_busy_that_it_was_asked_for() -> None:
    for share in (Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)):
        busy = 0
        for seed in range(60):
            times = made("snapshot", utilization=share, seed=seed).ready_times
            assert list(times) == sorted(times)
            busy += sum(time > 0 for time in times)
        assert abs(busy / (60 * 128) - float(share)) < 0.1


def test_snapshot_of_longer_jobs_waits_longer() -> None:
    def total(mean: int) -> float:
        return float(
            sum(sum(made("snapshot", mean_run_time=mean, seed=s).ready_times) for s in range(20))
        )

    assert total(6000) > 3 * total(600) > 0


# parameters that all share


@pytest.mark.parametrize("family", NAMES)
def test_costs_load_and_deadline(family: str) -> None:
    costs: dict[str, Any] = {"tau": 2, "chi": Fraction(7, 2), "theta_cm": 1, "theta_cp": 3}
    instance = made(family, nodes=6, load=Fraction(9, 4), slack=Fraction(3, 2), **costs)
    for name, value in costs.items():
        assert getattr(instance.cluster, name) == value
    assert instance.load == Fraction(9, 4) and instance.exact
    alone = Fraction(9, 4) * (2 + Fraction(7, 2)) / 6
    assert instance.absolute_deadline == max(instance.ready_times) + Fraction(3, 2) * alone


@pytest.mark.parametrize("family", NAMES)
def test_spread_makes_nodes_differ_in_exact_numbers(family: str) -> None:
    instance = made(family, nodes=50, chi=30, spread=3, seed=5)
    cluster = instance.cluster
    assert isinstance(cluster.tau, tuple) and isinstance(cluster.chi, tuple)
    assert not cluster.identical and instance.exact
    factors = [*cluster.tau, *(Fraction(chi) / 30 for chi in cluster.chi)]
    assert all(1 <= factor <= 3 and Fraction(factor * 10).denominator == 1 for factor in factors)
    assert max(factors) > 2.5 and min(factors) < 1.5
    # drawn apart, and the ready times are none the wiser
    assert list(cluster.tau) != [Fraction(chi) / 30 for chi in cluster.chi]
    assert instance.ready_times == made(family, nodes=50, seed=5).ready_times
    result = api.solve(made(family, nodes=5, spread=3), "equal-finish")
    assert result.status is Status.FEASIBLE and result.tolerance == 0


def test_no_spread_leaves_nodes_identical() -> None:
    for spread in (1, 1.0, Fraction(1, 2)):
        assert made("ramp", spread=spread).cluster.identical


def test_floats_are_taken_as_they_are() -> None:
    instance = made("ramp", nodes=3, step=0.5)
    assert instance.ready_times == (0.0, 0.5, 1.0) and not instance.exact


# bad parameters


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("nodes", [0, -1, 1.5, True, "ten", None, 10**7, Fraction(2)])
def test_bad_numbers_of_nodes(family: str, nodes: Any) -> None:
    with pytest.raises(
        NotApplicableError, match=f"nodes must be an integer from 1 to {MOST[family]}"
    ):
        made(family, nodes=nodes)


@pytest.mark.parametrize(
    ("family", "parameters", "told"),
    [
        ("snapshot", {"utilization": 0}, "utilization must lie between 0 and 1"),
        ("snapshot", {"utilization": 1}, "utilization must lie between 0 and 1"),
        ("snapshot", {"utilization": "high"}, "does not fit"),
        ("snapshot", {"mean_run_time": 0}, "mean_run_time must be at least 1, got 0"),
        ("burst", {"bursts": 10**9}, "bursts must be at most 1000000"),
        ("burst", {"bursts": "x"}, "does not fit"),
        ("burst", {"span": Fraction(1, 2)}, "does not fit"),
        ("random", {"span": 1.5}, "does not fit"),
        ("ramp", {"spread": "wide"}, "does not fit"),
        ("ramp", {"step": "x"}, "step must be a number, not negative, got 'x'"),
        ("ramp", {"step": -1}, "step must be a number, not negative, got -1"),
        ("ramp", {"step": float("nan")}, "step must be a number, not negative, got nan"),
        ("ramp", {"nodes": 10**400}, r"from 1 to 1000000, got 10+\.\.\.$"),
        ("ramp", {"spread": float("nan")}, "does not fit"),
        ("ramp", {"slack": "some"}, "does not fit"),
        ("ramp", {"tau": None}, "does not fit"),
        ("ramp", {"bursts": 3}, r"family ramp has no parameter 'bursts' \(known: nodes, step, "),
        ("waves", {}, r"iit has no family 'waves' \(known: ramp, burst, random, snapshot\)"),
    ],
)
def test_bad_parameters(family: str, parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        made(family, **parameters)


@pytest.mark.parametrize("parameters", [{"tau": -1}, {"load": 0}, {"slack": -100}, {"chi": "x"}])
def test_parameters_that_give_no_valid_instance(parameters: dict[str, Any]) -> None:
    with pytest.raises((InvalidInstanceError, NotApplicableError)) as caught:
        made("ramp", nodes=2, **parameters)
    if parameters != {"chi": "x"}:
        assert isinstance(caught.value, InvalidInstanceError)


@pytest.mark.parametrize("family", NAMES)
def test_every_family_takes_the_same_and_a_seed(family: str) -> None:
    shared = {"nodes", "tau", "chi", "theta_cm", "theta_cp", "load", "slack", "spread", "seed"}
    arguments = inspect.signature(families("iit")[family]).parameters
    assert shared <= set(arguments)
    assert all(a.kind is inspect.Parameter.KEYWORD_ONLY for a in arguments.values())
