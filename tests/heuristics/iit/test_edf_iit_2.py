"""The closed form for different ready times against brute force."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.iit.edf_iit_2 import maximum_loads, minimum_completion, n_min
from dlopt.problems.cluster import Cluster
from tests import oracles
from tests.strategies import iit


@pytest.mark.property
@given(iit(most=4))
def test_least_completion_is_that_of_brute_force_over_all_orders(instance):
    xi, loads = minimum_completion(instance.cluster, sorted(instance.ready_times), instance.load)
    assert sum(loads) == instance.load
    assert min(loads) > 0
    assert xi == oracles.least_completion(instance)


@pytest.mark.property
@given(iit(most=3), st.integers(1, 3))
def test_fewer_nodes_are_a_prefix_too(instance, most):
    ready = sorted(instance.ready_times)
    xi, loads = minimum_completion(instance.cluster, ready, instance.load, most)
    assert len(loads) <= most
    assert xi == oracles.least_completion(instance, min(most, len(ready)))


@pytest.mark.property
@given(iit(most=6))
def test_completion_and_capacity_are_inverse(instance):
    """By the least completion exactly the load can be done, and no less by any earlier time."""
    ready = sorted(instance.ready_times)
    xi, loads = minimum_completion(instance.cluster, ready, instance.load)
    assert maximum_loads(instance.cluster, ready, xi) == loads
    earlier = xi - Fraction(1, 10**9)
    assert sum(maximum_loads(instance.cluster, ready, earlier)) < instance.load


@pytest.mark.property
@given(iit(most=3, deadline=True))
def test_n_min_is_that_of_brute_force(instance):
    ready, deadline = sorted(instance.ready_times), instance.absolute_deadline
    assert n_min(instance.cluster, ready, instance.load, deadline) == oracles.fewest_nodes(instance)


@pytest.mark.property
@given(iit(most=8), st.integers(1, 9), st.integers(0, 50))
def test_scaling_time_or_load_and_shifting_the_clock(instance, factor, shift):
    cluster, ready = instance.cluster, sorted(instance.ready_times)
    xi, loads = minimum_completion(cluster, ready, instance.load)
    shifted = minimum_completion(cluster, [r + shift for r in ready], instance.load)
    assert shifted == (xi + shift, loads)
    slower = Cluster(
        cluster.nodes,
        cluster.tau * factor,
        cluster.chi * factor,
        cluster.theta_cm * factor,
        cluster.theta_cp * factor,
    )
    assert minimum_completion(slower, [r * factor for r in ready], instance.load) == (
        xi * factor,
        loads,
    )
    unit = Cluster(
        cluster.nodes,
        Fraction(cluster.tau, factor),
        Fraction(cluster.chi, factor),
        cluster.theta_cm,
        cluster.theta_cp,
    )
    assert minimum_completion(unit, ready, instance.load * factor) == (
        xi,
        [load * factor for load in loads],
    )


@pytest.mark.property
@given(iit(most=8), st.fractions(0, 20), st.integers(1, 10))
def test_an_earlier_node_or_less_load_never_hurts(instance, ready_time, less):
    cluster, ready = instance.cluster, sorted(instance.ready_times)
    xi, _ = minimum_completion(cluster, ready, instance.load)
    larger = Cluster(
        cluster.nodes + 1, cluster.tau, cluster.chi, cluster.theta_cm, cluster.theta_cp
    )
    assert minimum_completion(larger, sorted([*ready, ready_time]), instance.load)[0] <= xi
    assert minimum_completion(cluster, ready, instance.load / (1 + less))[0] <= xi


@pytest.mark.property
@given(
    st.integers(1, 60),
    st.integers(0, 1000),
    st.sampled_from([(1, 100, 0, 0), (1, 1000, 2, 5), (3, 7, 0, 1), (0, 5, 0, 0), (0, 5, 1, 0)]),
    st.integers(1, 3000),
)
def test_floats_agree_with_fractions(nodes, seed, costs, load):
    ready = sorted((seed * k * k) % 997 for k in range(nodes))
    cluster = Cluster(nodes, *costs)
    rational, _ = minimum_completion(cluster, ready, load)
    floating, loads = minimum_completion(cluster, [float(r) for r in ready], float(load))
    assert math.isclose(floating, rational, rel_tol=1e-12)
    assert math.isclose(math.fsum(loads), load, rel_tol=1e-12)


def test_worked_example():
    cluster = Cluster(3, tau=1, chi=2)
    assert minimum_completion(cluster, (0, 1, 4), 3) == (
        Fraction(39, 8),
        [Fraction(13, 8), Fraction(13, 12), Fraction(7, 24)],
    )


def test_fewest_nodes_of_the_worked_example():
    """By 9 the first node does 9/3; by 6 two do 2 + 4/3; by 4 all three do 20/9."""
    cluster, due = Cluster(3, tau=1, chi=2), (9, 6, Fraction(39, 8), 4)
    assert [n_min(cluster, (0, 1, 4), 3, deadline) for deadline in due] == [1, 2, 3, None]
    assert n_min(cluster, (0, 1, 4), 3, 4, allowance=Fraction(7, 9)) == 2


@pytest.mark.parametrize(("load", "xi"), [(4, 8), (5, 10), (7, 12)])
def test_capacity_is_not_concave_across_prefixes(load, xi):
    assert minimum_completion(Cluster(2, tau=1, chi=1), (0, 10), load)[0] == xi


def test_a_late_node_is_left_out():
    """A linear program over both nodes would end at 10, when the second is ready."""
    xi, loads = minimum_completion(Cluster(2, tau=1, chi=1), (0, 10), 1)
    assert (xi, loads) == (2, [1])


def test_a_far_epoch_costs_no_accuracy():
    """Seconds since 1970, as a real cluster has them."""
    cluster = Cluster(3, tau=1.0, chi=2.0)
    xi, loads = minimum_completion(cluster, (1.7e9, 1.7e9 + 1, 1.7e9 + 4), 3.0)
    assert xi - 1.7e9 == pytest.approx(39 / 8, abs=1e-6)
    assert loads == pytest.approx([13 / 8, 13 / 12, 7 / 24], rel=1e-9)
