"""The partitioning rules for nodes that are all ready at once."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.iit.monotone_search import smallest_satisfying
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition
from dlopt.problems.cluster import Cluster

costs = st.tuples(st.integers(0, 5), st.integers(0, 9)).filter(lambda c: sum(c) > 0)
setups = st.tuples(st.integers(0, 3), st.integers(0, 3))
loads = st.builds(Fraction, st.integers(1, 40), st.integers(1, 3))


@st.composite
def rules(draw, kind):
    return kind(*draw(costs), *draw(setups))


def ends(rule, loads):
    """Return when each node ends, straight from the model."""
    channel, instants = Fraction(0), []
    for load in loads:
        channel += rule.theta_cm + load * rule.tau
        instants.append(channel + rule.theta_cp + load * rule.chi)
    return instants


@given(rules(OptimalPartition), loads, st.integers(1, 9))
def test_optimal_partition_ends_everywhere_together(rule, load, n):
    if rule.chi == 0 and n > 1:
        return  # beyond n*: the formula has no plan
    shares = rule.loads(load, n)
    assert sum(shares) == load
    assert set(ends(rule, shares)) == {rule.execution_time(load, n)}


@given(rules(EqualPartition), loads, st.integers(1, 9))
def test_equal_partition_ends_with_the_node_served_last(rule, load, n):
    shares = rule.loads(load, n)
    assert sum(shares) == load
    assert max(ends(rule, shares)) == rule.execution_time(load, n)


@given(st.integers(1, 5), st.integers(1, 9), setups, loads, st.integers(1, 9))
def test_execution_time_is_the_printed_equation(tau, chi, setup, load, n):
    """Mamat 2011, (4.6) with (4.5), term by term."""
    theta_cm, theta_cp = setup
    beta = Fraction(chi, tau + chi)
    phi = Fraction(theta_cm) / (load * (tau + chi))
    share = (1 - beta) / (1 - beta**n) + n * phi / (1 - beta**n) - phi / (1 - beta)
    printed = theta_cm + theta_cp + load * (tau + chi) * share
    assert OptimalPartition(tau, chi, *setup).execution_time(load, n) == printed


@given(rules(OptimalPartition), loads)
def test_n_star_is_the_last_count_with_positive_loads_and_the_best(rule, load):
    peak = rule.n_star(load)
    horizon = 12 if peak is None else peak + 3
    times = [rule.execution_time(load, n) for n in range(1, horizon + 1)]
    assert peak is None or peak <= 60
    falling = times if peak is None else times[:peak]
    assert all(left > right for left, right in zip(falling, falling[1:], strict=False))
    for n in range(1, horizon + 1):
        if rule.chi > 0:
            assert (min(rule.loads(load, n)) > 0) == (peak is None or n <= peak)
    if peak is not None and rule.chi > 0:
        rising = times[peak - 1 :]
        assert all(left <= right for left, right in zip(rising, rising[1:], strict=False))


@given(rules(EqualPartition), loads)
def test_n_star_of_equal_loads_is_the_first_best_count(rule, load):
    peak = rule.n_star(load)
    times = {n: rule.execution_time(load, n) for n in range(1, 80)}
    if peak is None:
        assert all(times[n] > times[n + 1] for n in range(1, 79))
    elif peak < 80:
        assert peak == min(times, key=lambda n: (times[n], n))


@given(
    st.one_of(rules(OptimalPartition), rules(EqualPartition)),
    loads,
    st.builds(Fraction, st.integers(1, 300), st.integers(1, 5)),
    st.integers(1, 12),
)
def test_n_min_is_the_first_count_that_meets_the_slack(rule, load, slack, most):
    peak = rule.n_star(load)
    last = most if peak is None else min(most, peak)
    naive = next((n for n in range(1, last + 1) if rule.execution_time(load, n) <= slack), None)
    assert rule.n_min(load, slack, most) == naive


@given(rules(OptimalPartition), loads, st.integers(1, 8))
def test_cost_grows_with_the_nodes(rule, load, n):
    """Lin et al. 2005, theorem 5.3."""
    if rule.chi > 0:
        assert rule.cost(load, n + 1) > rule.cost(load, n) or rule.tau == 0
        assert rule.cost_derivative(load, n) == rule.cost(load, n + 1) - rule.cost(load, n)


@given(
    st.integers(1, 50),
    st.integers(1, 5000),
    st.integers(0, 4),
    st.integers(0, 4),
    st.integers(1, 400),
    st.integers(1, 300),
)
def test_floats_agree_with_fractions(tau, chi, theta_cm, theta_cp, load, n):
    for kind in (OptimalPartition, EqualPartition):
        rational = kind(tau, chi, theta_cm, theta_cp).execution_time(load, n)
        floating = kind(float(tau), chi, theta_cm, theta_cp).execution_time(float(load), n)
        assert math.isclose(floating, rational, rel_tol=1e-12)


@pytest.mark.parametrize("rate", [1e-12, 1e-6, 9e-5, 1.1e-4, 1e-2, 0.5])
@pytest.mark.parametrize("n", [1, 2, 50, 400])
def test_no_cancellation_where_transmission_is_cheap(rate, n):
    tau, chi = Fraction(rate), 1 - Fraction(rate)
    rational = OptimalPartition(tau, chi, 1, 0).execution_time(7, n)
    floating = OptimalPartition(float(tau), float(chi), 1.0, 0.0).execution_time(7.0, n)
    assert math.isclose(floating, rational, rel_tol=1e-12)


def test_binary_search_beyond_n_star_refuses_what_can_be_done():
    rule = OptimalPartition(tau=1, chi=1, theta_cm=2)
    assert [rule.execution_time(1, n) for n in (1, 2)] == [4, Fraction(14, 3)]
    assert rule.n_min(1, slack=4, most=2) == 1
    assert smallest_satisfying(lambda n: rule.execution_time(1, n) <= 4, 2) is None


def test_execution_time_rises_only_beyond_n_star():
    """Lin et al. 2005, theorem 5.2, holds only where the cluster has more than n* nodes."""
    rule = OptimalPartition(tau=1, chi=100, theta_cm=1)
    peak = rule.n_star(1000)
    times = [rule.execution_time(1000, n) for n in range(1, peak + 2)]
    assert times[:peak] == sorted(times[:peak], reverse=True)
    assert times[peak] >= times[peak - 1]


def test_a_rule_takes_its_costs_from_a_cluster():
    cluster = Cluster(4, tau=1, chi=2, theta_cm=3, theta_cp=4)
    assert OptimalPartition.of(cluster) == OptimalPartition(1, 2, 3, 4)
