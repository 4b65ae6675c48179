"""Nodes that differ, against brute force that shares no code with the models."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check, solve
from dlopt.arithmetic import exact
from dlopt.backends.pulp import DEFAULT
from dlopt.backends.time_budget import Budget
from dlopt.models.iit.all_sequences_lp import minimise_over_sequences
from dlopt.models.iit.methods import exact_plan
from dlopt.models.iit.sequencing_milp import SequencingMilp
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution, objective, violations
from dlopt.problems.validated_record import floating
from dlopt.registry import methods
from dlopt.result import NO_LIMITS, Limits, Status
from tests import oracles_iit as oracle
from tests.examples import share
from tests.strategies import iit

F = Fraction

# One node receives in no time: its plan of completion 8 overlaps nothing on the port.
NO_TRANSMISSION = Instance(Cluster(2, tau=(0, 1), chi=(1, 1)), (2, 0), load=10)
PLAN = Solution((Chunk(1, 4, 0, 4, 4, 8), Chunk(0, 6, 2, 2, 2, 8)))

CASES = [
    (NO_TRANSMISSION, F(8)),
    (Instance(Cluster(2, (0, 4), (5, 4)), (F(7, 3), 0), load=7), F(896, 39)),
    (Instance(Cluster(3, (0, 3, 3), (F(10, 7), F(13, 7), 1)), (2, 0, 0), load=6), F(5032, 681)),
    (Instance(Cluster(3, (0, 0, 2), (1, 2, 3)), (5, 0, 1), load=4), F(92, 17)),
]


def close(left, right):
    return abs(exact(left) - exact(right)) <= F(1, 10**6) * max(1, abs(exact(right)))


@pytest.mark.parametrize(("instance", "least"), CASES)
def test_a_transmission_of_no_length_does_not_hold_the_port(instance, least):
    assert oracle.least_completion(instance) == least
    found = solve(instance)
    assert found.status is Status.OPTIMAL and found.value == least and close(found.bound, least)
    met = solve(replace(instance, absolute_deadline=least))
    assert met.status is Status.OPTIMAL
    early = solve(replace(instance, absolute_deadline=least * F(9, 10)))
    assert early.status is Status.INFEASIBLE


def test_a_hint_that_overlaps_nothing_is_not_lost():
    assert check(NO_TRANSMISSION, PLAN) == ()
    assert objective(NO_TRANSMISSION, PLAN) == 8
    nodes = [chunk.node for chunk in PLAN.chunks]
    assert earliest_plan(NO_TRANSMISSION, nodes, [chunk.load for chunk in PLAN.chunks]) == PLAN
    assert earliest_plan(NO_TRANSMISSION, nodes[::-1], [6, 4]).chunks == PLAN.chunks[::-1]
    found = solve(NO_TRANSMISSION, "exact", hint=PLAN)
    assert found.value == 8


def test_no_transmission_starts_before_it_may():
    plan = earliest_plan(NO_TRANSMISSION, [0, 1], [6, 4], not_before=3)
    assert [chunk.transmission_start for chunk in plan.chunks] == [3, 3]


@given(iit(most=3, identical=False))
def test_the_least_completion_is_that_of_brute_force(instance):
    best = oracle.least_completion(instance)
    found = solve(instance)
    assert found.status is Status.OPTIMAL
    assert found.value == best and close(found.bound, best)
    assert exact(solve(instance, "bound-fluid").bound) <= best


@given(iit(most=3, identical=False, deadline=True))
def test_the_fewest_nodes_are_those_of_brute_force(instance):
    fewest = oracle.fewest_nodes(instance)
    found = solve(instance, objective="nodes")
    assert found.value == fewest
    assert found.status is (Status.INFEASIBLE if fewest is None else Status.OPTIMAL)


@given(st.booleans().flatmap(lambda same: iit(most=2, identical=same)))
def test_two_installments_are_those_of_brute_force(instance):
    best = oracle.least_completion(instance, installments=2)
    found = solve(instance, installments=2)
    assert found.status is Status.OPTIMAL
    assert found.value == best and close(found.bound, best)
    assert exact(solve(instance, "bound-fluid").bound) <= best


@given(st.booleans().flatmap(lambda same: iit(most=3, identical=same)))
def test_exact_is_never_worse_than_another_method(instance):
    best = solve(instance).value
    for entry in methods("iit"):
        if entry.claim == "literal-unsound" or entry.kind == "bound":
            continue
        if entry.reason_against(instance, "completion") is None:
            found = solve(instance, entry.name, objective="completion")
            assert found.value is None or found.value >= best, entry.name


UNIT = F(1, 10**9)
ALIKE = [
    Instance(
        Cluster(3, (3 + 1000 * UNIT, 3, 3 - 3 * UNIT), (3 - 8 * UNIT, 3 - 50 * UNIT, 3 - UNIT)),
        (200 * UNIT, 100 * UNIT, 1 + 10 * UNIT),
        load=12,
    ),
    Instance(
        Cluster(
            3,
            (2 - 400 * UNIT, 2 + 9 * UNIT, 2 - 8 * UNIT),
            (5 + 6000 * UNIT, 5 + 5000 * UNIT, 5 + 6000 * UNIT),
            theta_cm=1,
        ),
        (1 + 9000 * UNIT, 70 * UNIT, 1 + 3 * UNIT),
        load=7,
    ),
]


@pytest.mark.parametrize("instance", ALIKE)
def test_bounds_of_a_solver_leave_room_for_its_tolerances(instance):
    """In floats the solver cannot tell orders of nodes apart that are almost alike."""
    best = oracle.least_completion(instance)
    found = solve(instance)
    assert (found.status, found.proof) == (Status.OPTIMAL, "solver")
    assert found.value >= best >= exact(found.bound)
    assert close(found.value, best) and close(found.bound, best)
    met = solve(replace(instance, absolute_deadline=best))
    assert met.status is not Status.INFEASIBLE
    assert met.bound is None or exact(met.bound) <= best


@st.composite
def almost_alike(draw):
    """Return an instance whose nodes differ by less than a solver can tell, or by little more."""
    off = st.builds(F, st.integers(-9, 9), st.sampled_from([10**k for k in (5, 6, 7, 8, 9, 11)]))
    nodes, tau, chi = draw(st.integers(2, 3)), draw(st.integers(1, 5)), draw(st.integers(1, 5))
    costs = draw(st.lists(st.tuples(off, off), min_size=nodes, max_size=nodes))
    setup = st.sampled_from([0, 0, 1])
    ready = st.builds(lambda whole, part: whole + abs(part), setup, off)
    return Instance(
        Cluster(
            nodes,
            tuple(tau + more for more, _ in costs),
            tuple(chi + more for _, more in costs),
            theta_cm=draw(setup),
            theta_cp=draw(setup),
        ),
        tuple(draw(ready) for _ in range(nodes)),
        load=draw(st.integers(1, 20)),
    )


@given(almost_alike())
def test_bounds_hold_for_nodes_that_are_almost_alike(instance):
    best = oracle.least_completion(instance)
    found = solve(instance)
    assert found.value >= best >= exact(found.bound)
    assert close(found.value, best) and close(found.bound, best)
    tight = replace(instance, absolute_deadline=best)
    fewest = oracle.fewest_nodes(tight)
    for goal, least in (("completion", best), ("nodes", fewest)):
        met = solve(tight, objective=goal)
        assert met.status is not Status.INFEASIBLE
        assert met.bound is None or exact(met.bound) <= least
        assert met.value is None or exact(met.value) >= least


TINY_DELAY = Instance(
    Cluster(3, tau=(1, 1, 1), chi=(1, 1, F(50001, 50000))), (0, 0, F(1, 10**11)), load=2
)
"""The tolerances of a solver are wider than what its orders of nodes differ by."""


def test_a_gap_that_tolerances_leave_open_is_closed_by_all_sequences():
    best = oracle.least_completion(TINY_DELAY)
    found = solve(TINY_DELAY)
    assert (found.status, found.proof) == (Status.OPTIMAL, "exact")
    assert found.reason is not None and found.reason.startswith("no certificate: no proof was")
    assert found.value == found.bound == best == F(800008, 350003)
    assert check(TINY_DELAY, found) == ()
    more = solve(TINY_DELAY, limits=Limits(gap=0.01))  # nobody asked to close it
    assert (more.status, more.proof) == (Status.FEASIBLE, "certificate") and more.bound < best


@share(3 / 2)
@given(st.booleans().flatmap(lambda same: iit(most=3, identical=same)) | almost_alike())
def test_the_best_of_all_sequences_is_that_of_brute_force(instance):
    found = minimise_over_sequences(instance, Budget(NO_LIMITS), DEFAULT, 0)
    assert found.outcome.proven
    assert found.completion == found.bound == oracle.least_completion(instance)
    assert violations(instance, found.plan) == ()


def test_a_solver_that_proves_nothing_proves_no_minimum():
    budget = Budget(NO_LIMITS)
    assert minimise_over_sequences(floating(TINY_DELAY), budget, DEFAULT, 0) is None


def test_loads_that_flow_prove_exactly_what_a_solver_only_claims():
    found = solve(NO_TRANSMISSION)
    assert (found.status, found.proof, found.bound) == (Status.OPTIMAL, "certificate", 8)


def test_loads_that_flow_do_not_replace_a_bound_that_is_as_close():
    """Without the set-up of a billionth they end at 8; so the solver's word is what proves it."""
    cluster = Cluster(2, tau=(0, 1), chi=(1, 1), theta_cp=F(1, 10**9))
    instance = replace(NO_TRANSMISSION, cluster=cluster)
    best = oracle.least_completion(instance)
    found = solve(instance)
    assert (found.status, found.proof, found.value) == (Status.OPTIMAL, "solver", best)
    assert 0 < best - 8 < F(1, 10**8) and found.bound < 8


def test_loads_that_flow_bound_what_a_solver_leaves_open():
    cluster = Cluster(6, tau=(3, 2, 2, 1, 1, 2), chi=(4, 4, 6, 2, 5, 2))
    instance = Instance(cluster, (7, 1, 5, 3, 6, 4), load=6)
    found = solve(instance, limits=Limits(gap=0.9))
    flow = solve(instance, "bound-fluid").bound
    assert (found.status, found.proof, found.bound) == (Status.FEASIBLE, "certificate", flow)
    assert flow == 10 < exact(solve(instance).bound) < found.value


def test_nodes_off_the_port_count_among_those_used():
    """Together the two end at 8, alone the first at 12."""
    model = SequencingMilp(
        NO_TRANSMISSION, installments=1, max_nodes=1, upper=20
    ).minimise_completion()
    chunks, outcome = model.solve(NO_LIMITS, DEFAULT, 0)
    assert chunks == [0] and close(outcome.value, 12)


def test_nodes_of_equal_links_need_not_be_served_in_ready_order():
    """The slower node, if it came first, would keep the port from the faster one."""
    instance = Instance(Cluster(2, tau=1, chi=(8, 1), theta_cm=2), (0, 0), load=10)
    assert oracle.least_completion(instance) == F(102, 5)
    found = exact_plan(instance)
    assert (found.status, found.value) == (Status.OPTIMAL, F(102, 5))


def test_a_node_does_not_compute_while_it_receives():
    one = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    assert solve(one, "bound-fluid").bound == oracle.least_completion(one) == 2
