"""The heuristics as methods: sound, above the optimum, within their promises."""

import math
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, Status, generate, solve
from dlopt.heuristics.iit.edf_iit_1 import heterogeneous_view
from dlopt.heuristics.iit.equal_finish import equal_finish as divide
from dlopt.heuristics.iit.methods import edf_iit_1, edf_iit_2, epr, equal_finish, opr
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit import Instance, objective, violations
from tests import oracles
from tests.strategies import iit

WAITING = (opr, epr)
SOUND = (*WAITING, edf_iit_1, edf_iit_2, equal_finish)


@pytest.mark.property
@given(iit(most=6))
def test_plans_are_valid_and_no_better_than_the_optimum(instance):
    optimum = edf_iit_2(instance).value
    for method in SOUND:
        found = method(instance)
        assert violations(instance, found.solution) == ()
        assert found.value == objective(instance, found.solution, "completion") >= optimum


@pytest.mark.property
@given(iit(most=5, deadline=True))
def test_fewest_nodes_are_valid_and_no_fewer_than_needed(instance):
    fewest = edf_iit_2(instance, objective="nodes")
    for method in SOUND:
        found = method(instance, objective="nodes")
        if found.solution is None:
            assert found.status in (Status.UNKNOWN, Status.INFEASIBLE)
            assert found.reason
        else:
            assert violations(instance, found.solution) == ()
            assert found.value == objective(instance, found.solution, "nodes") >= fewest.value


@pytest.mark.property
@given(iit(most=6, identical=False))
def test_nodes_that_differ_get_valid_plans(instance):
    found = equal_finish(instance)
    assert violations(instance, found.solution) == ()
    assert found.value == objective(instance, found.solution, "completion")


@pytest.mark.property
@given(iit(most=6, setup=False))
def test_equal_finish_is_optimal_for_identical_nodes_without_set_up_costs(instance):
    assert equal_finish(instance).value == edf_iit_2(instance).value


@pytest.mark.property
@given(iit(most=6))
def test_waiting_rules_start_when_the_last_of_their_nodes_is_ready(instance):
    for method in WAITING:
        chunks = method(instance).solution.chunks
        begin = max(instance.ready_times[chunk.node] for chunk in chunks)
        assert min(chunk.transmission_start for chunk in chunks) == begin


@pytest.mark.property
@given(iit(most=5))
def test_the_best_number_of_nodes_is_no_worse_than_all(instance):
    for method in WAITING:
        assert method(instance).value <= method(instance, assignment="all").value


@pytest.mark.property
@given(iit(most=7), st.data())
def test_edf_iit_1_delivers_what_it_promises(instance, data):
    ready = sorted(instance.ready_times)
    order = sorted(range(len(ready)), key=instance.ready_times.__getitem__)
    n = data.draw(st.integers(1, len(ready)))
    view = heterogeneous_view(instance.cluster, ready, instance.load, n)
    if view is None:
        assert instance.cluster.theta_cm > 0 or instance.cluster.chi == 0
        return
    assert sum(view.loads) == instance.load
    assert min(view.loads) > 0
    assert last_result(earliest_plan(instance, order, view.loads)) <= view.promise
    execution = OptimalPartition.of(instance.cluster).execution_time(instance.load, n)
    assert view.promise <= ready[n - 1] + execution


def test_edf_iit_1_stops_at_a_time_limit():
    instance = generate("iit", "random", nodes=200, span=3000, load=4000)
    found = edf_iit_1(instance, limits=Limits(time_s=1e-9))
    assert found.status is Status.UNKNOWN
    assert "untried" in found.reason


def test_edf_iit_1_says_what_it_promises_when_that_is_too_late():
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 1), load=3, absolute_deadline=4)
    found = edf_iit_1(instance, objective="nodes")
    assert found.status is Status.UNKNOWN
    assert "the earliest promise is 4.85714" in found.reason


def test_edf_iit_1_keeps_an_exact_deadline_that_floats_cannot_see():
    """The promise of two nodes is 34/7; the deadline is 10^-20 earlier."""
    costs = Cluster(2, tau=1, chi=1)
    for short, status in ((0, Status.FEASIBLE), (Fraction(1, 10**20), Status.UNKNOWN)):
        deadline = Fraction(34, 7) - short
        instance = Instance(costs, (0, 1), load=3, absolute_deadline=deadline)
        assert edf_iit_1(instance, objective="nodes").status is status


def test_edf_iit_1_leaves_out_a_prefix_whose_last_load_is_exactly_nothing():
    """In floats the last load is 10^-17, in fractions it is 0."""
    found = edf_iit_1(_last_load_lost_in_rounding())
    assert len(found.solution.chunks) == 1


def _last_load_lost_in_rounding():
    for denominator in range(2, 200):
        theta_cm = Fraction(1, denominator)
        cluster = Cluster(2, tau=1, chi=2, theta_cm=theta_cm)
        load = theta_cm / 2  # node 1 gets beta X_1 - theta_cm = 0
        assert heterogeneous_view(cluster, (0, 0), load, 2) is None
        floating = Cluster(2, tau=1.0, chi=2.0, theta_cm=float(theta_cm))
        if heterogeneous_view(floating, (0.0, 0.0), float(load), 2) is not None:
            return Instance(cluster, (0, 0), load)
    raise AssertionError("floats are better than they should be")


def test_edf_iit_2_says_what_can_be_done_by_the_deadline():
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, absolute_deadline=4)
    found = edf_iit_2(instance)
    assert found.status is Status.INFEASIBLE
    assert found.reason == "at most 20/9 of load 3 can be done by then"


def test_a_deadline_that_a_rule_misses_leaves_the_question_open():
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, absolute_deadline=5)
    assert opr(instance).status is Status.UNKNOWN
    assert "misses the deadline by 7/5" in opr(instance).reason
    assert edf_iit_2(instance).status is Status.OPTIMAL


def test_equal_finish_tries_cut_orders_for_fewest_nodes():
    instance = generate("iit", "random", nodes=9, seed=5, spread=3, slack=2, load=60)
    found = equal_finish(instance, objective="nodes")
    assert violations(instance, found.solution) == ()
    assert 1 < found.value < 9
    hopeless = Instance(
        instance.cluster, instance.ready_times, 10**6, absolute_deadline=max(instance.ready_times)
    )
    assert equal_finish(hopeless, objective="nodes").status is Status.UNKNOWN


@pytest.mark.property
@given(iit(most=4, identical=False))
def test_equal_finish_keeps_every_order_valid(instance):
    for order in permutations(range(instance.cluster.nodes)):
        nodes, loads = divide(instance, order)
        assert sum(loads) == instance.load
        assert violations(instance, earliest_plan(instance, nodes, loads)) == ()


@pytest.mark.property
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40), st.floats(1e-3, 1e6))
def test_floats_are_valid_within_their_tolerance(ready, load):
    cluster = Cluster(len(ready), tau=0.3, chi=17.1, theta_cm=0.01, theta_cp=0.2)
    instance = Instance(cluster, tuple(ready), load)
    for method in SOUND:
        found = method(instance)
        assert violations(instance, found.solution, 1e-9) == ()
        assert found.value >= edf_iit_2(instance).value * (1 - 1e-9)


@pytest.mark.property
@given(iit(most=3))
def test_the_oracle_itself_gives_valid_plans(instance):
    """What brute force says can be attained: its value is that of a checked plan."""
    assert oracles.least_completion(instance) == edf_iit_2(instance).value


def test_exact_answers_of_a_thousand_nodes():
    instance = generate("iit", "random", nodes=1000, span=1000, load=900)
    found = edf_iit_2(instance)
    assert isinstance(found.value, Fraction)
    assert violations(instance, found.solution) == ()
    floating = Instance(
        instance.cluster, tuple(float(r) for r in instance.ready_times), float(instance.load)
    )
    assert math.isclose(edf_iit_2(floating).value, found.value, rel_tol=1e-12)


def at_the_epoch(late: float) -> Instance:
    """Two nodes are done at 4 seconds, one at 6, after an instant at which a float is 2.4e-7 s."""
    start = 1.7e9
    cluster = Cluster(2, tau=1.0, chi=1.0)
    return Instance(cluster, (start, start), load=3.0, absolute_deadline=start + late)


def test_a_deadline_that_is_missed_by_rounding_alone_is_left_open() -> None:
    """The check allows an instant 1.5e-5 s, twice: what lies between is neither met nor proven."""
    statuses = [edf_iit_2(at_the_epoch(4 - off)).status for off in (1e-6, 3e-5, 2e-4)]
    assert statuses == [Status.OPTIMAL, Status.UNKNOWN, Status.INFEASIBLE]
    fewest = [edf_iit_2(at_the_epoch(6 - off), objective="nodes") for off in (1e-6, 3e-5, 2e-4)]
    assert [(found.status, found.value, found.bound) for found in fewest] == [
        (Status.OPTIMAL, 1, 1),
        (Status.FEASIBLE, 2, None),
        (Status.OPTIMAL, 2, 2),
    ]


def test_exact_numbers_keep_the_time_limit() -> None:
    """Digits grow with the number of nodes: 3,000 of them would take minutes."""
    many = Instance(Cluster(3000, tau=1, chi=1000), tuple(range(3000)), load=9 * 10**5)
    found = edf_iit_2(many, limits=Limits(time_s=0.01))
    assert found.status is Status.LIMIT and "--float-numbers" in (found.reason or "")
    few = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    assert edf_iit_2(few, limits=Limits(time_s=60)).value == Fraction(39, 8)


@pytest.mark.parametrize("method", ["edf-iit-1", "edf-iit-2", "equal-finish", "opr", "epr"])
@pytest.mark.parametrize("load", [1e-12, 1e-17, 1e-300])
@pytest.mark.parametrize("readiness", [(0.0, 0.0, 0.0), (0.0, 1e-9, 2e10)])
def test_a_load_that_is_lost_in_rounding_beside_the_setup_times(method, load, readiness):
    cluster = Cluster(3, tau=1.0, chi=1.0, theta_cm=1e10, theta_cp=0.5)
    result = solve(Instance(cluster, readiness, load=load), method)
    assert result.violations == ()
    assert 1e10 <= result.value < 2.1e10
    assert math.fsum(chunk.load for chunk in result.solution.chunks) == pytest.approx(load)
