"""Powers of beta, and the partitioning rules looked up rather than computed."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.beta_powers import BetaPowers, ExecutionTimes, power_at_most
from dlopt.heuristics.iit.partitioning_rules import EqualPartition, OptimalPartition

F = Fraction
costs = st.tuples(st.integers(0, 5), st.integers(0, 9)).filter(lambda pair: sum(pair) > 0)
setups = st.tuples(st.sampled_from([0, 0, 1, 2, F(1, 3)]), st.sampled_from([0, 1, 3]))
loads = st.builds(F, st.integers(1, 60), st.integers(1, 4))
slacks = st.builds(F, st.integers(-9, 400), st.integers(1, 5))
sizes = st.integers(1, 12)


@st.composite
def rules(draw):
    kind = draw(st.sampled_from([OptimalPartition, EqualPartition]))
    return kind(*draw(costs), *draw(setups))


def durations(rule, most):
    return ExecutionTimes(rule, most)


@pytest.mark.parametrize("beta", [F(0), F(1, 2), F(3, 4), F(1)])
def test_tables_are_sums_of_powers(beta):
    table = BetaPowers(beta).extend_to(6)
    for n in range(7):
        assert table.powers[n] == beta**n
        assert table.sums[n] == sum(beta**j for j in range(n))
        assert table.double_sums[n] == sum(table.sums[j] for j in range(n))


def test_tables_grow_as_far_as_needed_and_never_shrink():
    table = BetaPowers(0.5)
    assert (table.powers, table.sums, table.double_sums) == ([1], [0], [0])
    assert table.extend_to(2) is table
    assert table.powers == [1, 0.5, 0.25]
    assert table.sums == [0, 1, 1.5]
    assert table.double_sums == [0, 0, 1]
    assert len(table.extend_to(1).powers) == 3
    assert {type(number) for number in table.extend_to(3).double_sums} == {float}


def test_of_fractions_only_what_is_asked_for_is_computed():
    table = BetaPowers(F(1, 2)).extend_to(10**9)
    assert table.double_sums[3] == F(5, 2)
    assert set(table.double_sums) == set(table.sums) == set(table.powers) == {3}
    assert {type(terms[3]) for terms in (table.powers, table.sums, table.double_sums)} == {F}


pairs = st.tuples(st.integers(0, 40), st.integers(0, 9)).filter(any)
betas = pairs.map(lambda pair: F(pair[0], sum(pair)))


@pytest.mark.property
@given(betas, sizes, sizes, st.data())
def test_reaching_is_the_first_sum_that_is_large_enough(beta, low, more, data):
    table, high = BetaPowers(beta), low + more
    near = table.sums[data.draw(st.integers(1, high + 1))]
    for sum_ in (near, near - F(1, 10**50), near + F(1, 10**50), data.draw(loads)):
        found = [n for n in range(low, high + 1) if table.sums[n] >= sum_]
        assert table.fewest_terms_reaching(sum_, low, high) == (found[0] if found else None)


@pytest.mark.property
@given(betas, st.integers(1, 400), st.sampled_from([0, 1, -1]), st.sampled_from([10, 40, 400]))
def test_a_power_is_compared_exactly(beta, n, side, digits):
    """However near the bound is; 128 bits are 38 digits."""
    bound = beta**n + F(side, 10**digits)
    assert power_at_most(beta, n, bound) is (side >= 0)


def test_powers_of_a_million_nodes_are_compared_by_some_of_their_digits():
    """beta^n = (1 + 1e-6)^-n is 1/2 at n = ln 2 / ln(1 + 1e-6) = 693147.53."""
    table = BetaPowers(F(10**6, 10**6 + 1))
    half = F(10**6 + 1, 2)
    assert table.fewest_terms_reaching(half, 1, 10**6) == 693_148
    assert table.fewest_terms_reaching(half, 1, 693_147) is None
    assert table.fewest_terms_reaching(2 * half, 1, 10**6) is None
    assert not table.sums


@pytest.mark.property
@given(rules(), loads, sizes)
def test_durations_are_those_of_the_rule(rule, load, most):
    fast = durations(rule, most)
    time = fast.of(load)
    for n in range(1, most + 1):
        assert time(n) == rule.execution_time(load, n)
    assert fast.n_star(load) == (rule.n_star(load, most) or most)


@pytest.mark.property
@given(rules(), loads, slacks, sizes)
def test_least_is_the_rule_s_fewest(rule, load, slack, most):
    fast = durations(rule, most)
    assert fast.least(load, slack, 1, fast.n_star(load)) == rule.n_min(load, slack, most)


@pytest.mark.property
@given(rules(), loads, slacks, sizes, st.data())
def test_least_of_a_range(rule, load, slack, most, data):
    fast = durations(rule, most)
    peak = fast.n_star(load)
    low = data.draw(st.integers(1, peak))
    high = data.draw(st.integers(low, peak))
    within = [n for n in range(low, high + 1) if rule.execution_time(load, n) <= slack]
    assert fast.least(load, slack, low, high) == (within[0] if within else None)


@pytest.mark.property
@given(rules(), loads, sizes)
def test_a_slack_that_is_met_exactly_is_met(rule, load, most):
    fast = durations(rule, most)
    for n in range(1, fast.n_star(load) + 1):
        slack = rule.execution_time(load, n)
        assert fast.least(load, slack, 1, fast.n_star(load)) == n
        assert fast.least(load, slack - F(1, 10**30), 1, n) is None


@pytest.mark.property
@given(
    st.integers(1, 50),
    st.integers(0, 5000),
    st.sampled_from([0, 0, 1, 7]),
    st.integers(0, 4),
    st.integers(1, 4000),
    st.integers(1, 300),
)
def test_floats_are_near(tau, chi, theta_cm, theta_cp, load, most):
    for kind in (OptimalPartition, EqualPartition):
        rational = kind(tau, chi, theta_cm, theta_cp)
        floating = durations(kind(*map(float, (tau, chi, theta_cm, theta_cp))), most)
        peak = floating.n_star(float(load))
        assert abs(peak - (rational.n_star(load, most) or most)) <= 1
        for n in {1, (1 + peak) // 2, peak}:
            near = rational.execution_time(load, n)
            assert math.isclose(floating.of(float(load))(n), near, rel_tol=1e-9)
            assert floating.least(float(load), float(near) * (1 + 1e-9), 1, peak) <= n


def test_fewest_nodes_by_hand():
    """Of load 3 at tau = 1, chi = 2: E(1) = 9, E(2) = 27/5, E(3) = 81/19."""
    fast = durations(OptimalPartition(1, 2), 3)
    assert [fast.of(F(3))(n) for n in (1, 2, 3)] == [9, F(27, 5), F(81, 19)]
    assert [fast.least(F(3), slack, 1, 3) for slack in (9, 8, F(27, 5), 5, F(81, 19), 4, 0)] == [
        1,
        2,
        2,
        3,
        3,
        None,
        None,
    ]


def test_set_up_costs_by_hand():
    """Load 1 at tau = chi = 1, theta_cm = 2: E(1) = 4; a second node would get nothing."""
    fast = durations(OptimalPartition(1, 1, 2, 0), 4)
    assert fast.n_star(F(1)) == 1
    assert fast.of(F(1))(1) == 4
    assert fast.least(F(1), 4, 1, 1) == 1
    assert fast.least(F(1), 3, 1, 1) is None


def test_set_up_costs_of_computing_alone():
    """They count for slack, but do not change how many nodes help."""
    fast = durations(OptimalPartition(1, 1, 0, 3), 4)
    assert fast.n_star(F(1)) == 4
    assert fast.of(F(1))(1) == 5
    assert fast.least(F(1), 5, 1, 4) == 1
    assert fast.least(F(1), 3, 1, 4) is None


@pytest.mark.parametrize("kind", [OptimalPartition, EqualPartition])
def test_transmission_for_nothing(kind):
    """With tau = 0 all nodes start at once: E(n) = load chi / n."""
    fast = durations(kind(0, 2), 3)
    assert fast.n_star(F(6)) == 3
    assert [fast.of(F(6))(n) for n in (1, 2, 3)] == [12, 6, 4]
    assert [fast.least(F(6), slack, 1, 3) for slack in (12, 11, 4, 3)] == [1, 2, 3, None]


@pytest.mark.parametrize("kind", [OptimalPartition, EqualPartition])
def test_computation_for_nothing(kind):
    """With chi = 0 a second node cannot help."""
    fast = durations(kind(2, 0, 1, 1), 3)
    assert fast.n_star(F(6)) == 1
    assert fast.of(F(6))(1) == 14
    assert [fast.least(F(6), slack, 1, 1) for slack in (14, 13)] == [1, None]


def test_a_range_of_no_nodes_holds_none():
    assert durations(EqualPartition(1, 2, 1), 4).least(F(3), 100, 3, 2) is None
