"""Certificates of single loads: both checkers accept them, with the bound that is claimed."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dlopt
from benchmarks.second_checker import first_verdict, second_verdict
from dlopt.certificate_files import certificate_text, check_own_certificate
from dlopt.models.common.searched_program import ProofError
from dlopt.models.iit import proof_cases, proof_orders
from dlopt.models.iit.proof_cases import certify_completion, certify_lateness, certify_nodes
from dlopt.models.iit.proof_claims import certified
from dlopt.models.iit.proof_flow import certify_flow
from dlopt.models.iit.proof_orders import certify_orders
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Result, Status
from tests.examples import share
from tests.oracles_iit import least_completion

HALF, THIRD, TINY = Fraction(1, 2), Fraction(1, 3), Fraction(1, 10**6)


def bound_of(instance, certificate, objective="completion", plan_class="single"):
    """Return the bound that both checkers accept; empty if there is no plan."""
    status = Status.BOUND if certificate.bound is not None else Status.INFEASIBLE
    claim = Result(
        status,
        objective=objective,
        plan_class=plan_class,
        installments=2 if plan_class == "k" else None,
        certificate=certificate,
    )
    text = certificate_text(claim)
    first, second = (check(instance, claim, text) for check in (first_verdict, second_verdict))
    assert first == second, (first, second)
    assert first.bound is not None, first
    return first.bound


@st.composite
def identical_nodes(draw):
    size = draw(st.integers(1, 6))
    tau = draw(st.sampled_from([0, 1, 2, THIRD]))
    chi = draw(st.sampled_from([0, 1, 2, 5] if tau else [1, 2]))
    setups = (draw(st.sampled_from([0, 0, HALF, 1])), draw(st.sampled_from([0, 1])))
    dates = st.sampled_from([3, 3, 4, 5, 6, 8, 11, Fraction(7, 2)])
    ready = draw(st.lists(dates, min_size=size, max_size=size))
    load = draw(st.sampled_from([1, 2, 3, 6]))
    due = min(ready) + draw(st.sampled_from([1, 2, 3, 4, 6, 9, 14, 30]))
    return Instance(Cluster(size, tau, chi, *setups), ready, load, absolute_deadline=due)


@pytest.mark.property
@share(1 / 2)
@given(identical_nodes())
def test_optima_of_identical_nodes_are_certified_and_nothing_better(instance):
    """Whatever digits suffice: the least completion, and a little less than that."""
    free = replace(instance, absolute_deadline=None)
    least = Fraction(dlopt.solve(free, "edf-iit-2").value)
    early = min(instance.ready_times) * THIRD + least * 2 * THIRD
    for claim in (least, early, least * Fraction(999, 1000)):
        assert bound_of(free, certify_completion(free, claim)) == (claim,)
    with pytest.raises(ProofError, match="may be complete before"):
        certify_completion(free, least + Fraction(1, 10**9))


@pytest.mark.property
@share(1 / 2)
@given(identical_nodes())
def test_the_fewest_identical_nodes_are_certified_and_no_more(instance):
    found = dlopt.solve(instance, "edf-iit-2", objective="nodes")
    due = Fraction(instance.absolute_deadline)
    if found.status is Status.INFEASIBLE:
        for objective in ("completion", "nodes"):
            late = certify_lateness(instance, due, objective)
            assert bound_of(instance, late, objective) == ()
        return
    fewest = certify_nodes(instance, due, found.value)
    assert bound_of(instance, fewest, "nodes") == (found.value,)
    with pytest.raises(ProofError):
        certify_lateness(instance, due, "nodes")
    if found.value < instance.cluster.nodes:
        with pytest.raises(ProofError):
            certify_nodes(instance, due, found.value + 1)


def test_several_numbers_of_chunks_are_one_case():
    """Plans of few chunks are far from the claim: one dual solution refutes many of them."""
    ready = tuple(range(0, 80, 2))
    instance = Instance(Cluster(40, tau=1, chi=30, theta_cm=HALF), ready, load=60)
    result = dlopt.solve(instance)
    assert result.proof == "certificate"
    assert 2 < len(result.certificate.leaves) < len(result.solution.chunks)


def test_programs_of_many_chunks_are_not_written(monkeypatch):
    monkeypatch.setattr(proof_cases, "MAX_CHUNKS", 2)
    instance = dlopt.load("iit/four-nodes")
    result = dlopt.solve(replace(instance, absolute_deadline=None))
    assert (result.status, result.proof) == (Status.OPTIMAL, "exact")
    assert result.reason == "no certificate: its program would have more than 2 chunks"


DIFFERENT = Instance(Cluster(3, (2, 1, 1), (1, 3, 2), THIRD), (0, 1, 1), load=5)


@pytest.mark.parametrize("formulation", ["prefix", "order"])
def test_the_optimum_of_a_solver_is_proven_itself(formulation):
    """The bound of a MILP solver is a little lower."""
    result = dlopt.solve(dlopt.load("iit/three-nodes"), formulation=formulation)
    assert (result.bound, result.proof) == (Fraction(39, 8), "certificate")


def test_nodes_that_differ_are_certified_by_all_orders():
    result = dlopt.solve(DIFFERENT)
    assert result.status is Status.OPTIMAL and result.bound == result.value
    assert bound_of(DIFFERENT, result.certificate) == (result.value,)
    better = result.value + Fraction(1, 1000)
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_orders(DIFFERENT, "completion", better, better)
    due = replace(DIFFERENT, absolute_deadline=result.value)
    nodes = dlopt.solve(due, objective="nodes")
    assert (nodes.value, nodes.proof) == (3, "certificate")
    assert bound_of(due, nodes.certificate, "nodes") == (3,)
    late = replace(DIFFERENT, absolute_deadline=result.value - Fraction(1, 1000))
    for objective in ("completion", "nodes"):
        refused = dlopt.solve(late, objective=objective)
        assert (refused.status, refused.proof) == (Status.INFEASIBLE, "certificate")
        assert bound_of(late, refused.certificate, objective) == ()
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_orders(due, "completion", Fraction(result.value), None)


def test_many_nodes_of_few_kinds_are_certified():
    """Ten nodes of two kinds, no two of which become ready at once: too many that all differ."""
    tau, chi = (1,) * 5 + (3,) * 5, (6,) * 5 + (2,) * 5
    instance = Instance(Cluster(10, tau, chi, HALF), tuple(range(10)), load=4)
    optimum = Fraction(4688611, 560414)
    certificate = certify_orders(instance, "completion", optimum, optimum)
    assert bound_of(instance, certificate) == (optimum,)
    better = optimum + Fraction(1, 1000)
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_orders(instance, "completion", better, better)


def test_why_orders_are_not_searched(monkeypatch):
    free = Instance(Cluster(2, (0, 1), 1, theta_cp=1), (0, 0), load=2)
    result = dlopt.solve(free)
    assert (result.status, result.proof) == (Status.OPTIMAL, "solver")
    text = "no certificate: some transmissions take no time, so that chunks have no order"
    assert result.reason == text
    monkeypatch.setattr(proof_orders, "MAX_COLUMNS", 9)
    text = "no certificate: its program would have more than 9 columns"
    assert dlopt.solve(DIFFERENT).reason == text
    monkeypatch.undo()
    begun = time.monotonic()
    with pytest.raises(ProofError, match="in 0 subproblems"):
        certify_orders(DIFFERENT, "completion", Fraction(9), Fraction(9), begun - 1)


PAIR = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3, absolute_deadline=4)


def test_several_chunks_a_node_are_certified():
    """Two nodes need 4 with one chunk each, 24/7 with two."""
    two = dlopt.solve(PAIR, installments=2, certified=True)
    assert (two.status, two.bound, two.proof) == (Status.OPTIMAL, Fraction(24, 7), "certificate")
    assert bound_of(PAIR, two.certificate, plan_class="k") == (Fraction(24, 7),)
    nodes = dlopt.solve(PAIR, objective="nodes", installments=2)
    assert nodes.value == 2 and bound_of(PAIR, nodes.certificate, "nodes", "k") == (2,)
    for due in (Fraction(2), Fraction(24, 7) - Fraction(1, 1000)):
        late = replace(PAIR, absolute_deadline=due)
        for objective in ("completion", "nodes"):
            refused = dlopt.solve(late, objective=objective, installments=2)
            assert refused.status is Status.INFEASIBLE
            assert bound_of(late, refused.certificate, objective, "k") == ()
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_orders(PAIR, "nodes", Fraction(4), Fraction(3), installments=2)


def test_too_many_chunks_are_not_searched(monkeypatch):
    monkeypatch.setattr(proof_orders, "MAX_COLUMNS", 9)
    result = dlopt.solve(PAIR, installments=2)
    assert result.reason == "no certificate: its program would have more than 9 columns"
    fluid = replace(result, plan_class="any")
    assert "fluid relaxation does not" in certified(PAIR, fluid, "completion").reason
    late = replace(PAIR, absolute_deadline=Fraction(13, 4))
    refused = replace(dlopt.solve(late, installments=2), plan_class="any")
    assert "fluid relaxation does not" in certified(late, refused, "completion").reason


@pytest.mark.property
@share(1 / 6)
@given(
    st.tuples(*map(st.sampled_from, [(0, 1, 2), (1, 3, THIRD), (0, 0, 1)])),
    st.tuples(*map(st.sampled_from, [(1, 2), (2, 1), (0, 1, 4)])),
    st.booleans(),
    st.sampled_from([0, THIRD]),
)
def test_optima_with_two_chunks_a_node_are_certified_and_nothing_better(one, two, same, setup):
    """What no order of four chunks attains is not proven."""
    two = (*one[:2], two[2]) if same else two
    assume(setup or one[0])
    tau, chi, ready = zip(one, two, strict=True)
    instance = Instance(Cluster(2, tau, chi, setup), ready, load=2)
    least = least_completion(instance, 2)
    for claim in (least, least * Fraction(99, 100)):
        certificate = certify_orders(instance, "completion", claim, claim, installments=2)
        assert bound_of(instance, certificate, plan_class="k") == (claim,)
    better = least + TINY
    with pytest.raises(ProofError, match="no proof was found in"):
        certify_orders(instance, "completion", better, better, installments=2)


@pytest.mark.property
@share(1 / 3)
@given(
    st.lists(st.tuples(*map(st.sampled_from, [(0, 1, 2), (1, 5, THIRD), (3, 3, 4, 9)])), max_size=4)
)
def test_bounds_of_flows_are_certified_and_nothing_more(nodes):
    tau, chi, ready = zip(*nodes, (1, 2, 3), strict=True)
    instance = Instance(Cluster(len(tau), tau, chi), ready, load=2)
    bound = Fraction(dlopt.solve(instance, "bound-fluid").bound)
    assert bound_of(instance, certify_flow(instance, bound), plan_class="any") == (bound,)
    for claim, is_late in ((bound + Fraction(1, 10**9), False), (bound, True)):
        with pytest.raises(ProofError, match="the fluid relaxation does not prove it"):
            certify_flow(instance, claim, is_late=is_late)
    with pytest.raises(ProofError, match="no node is ready before"):
        certify_flow(instance, Fraction(3))


@pytest.mark.parametrize("origin", [0.0, 1.7e9])
def test_floats_are_certified_up_to_rounding(origin):
    ready = (origin, origin + 1.5, origin + 1.5, origin + 2.25)
    instance = Instance(Cluster(4, 0.7, 2.3, 0.1, 0.2), ready, load=3.3)
    for method in ("exact", "bound-fluid"):
        result = dlopt.solve(instance, method)
        assert result.proof == "certificate", result.reason
        assert check_own_certificate(instance, result) == ()
    least = dlopt.solve(instance).value
    due = replace(instance, absolute_deadline=least + 1e-3)
    nodes = dlopt.solve(due, objective="nodes")
    assert nodes.proof == "certificate" and check_own_certificate(due, nodes) == ()
    late = replace(instance, absolute_deadline=least - 1e-3)
    refused = dlopt.solve(late)
    assert (refused.status, refused.proof) == (Status.INFEASIBLE, "certificate")
    assert check_own_certificate(late, refused) == ()


def test_certificates_of_other_instances_are_refused():
    instance = dlopt.load("iit/four-nodes-setup")
    for objective in ("completion", "nodes"):
        result = dlopt.solve(instance, objective=objective)
        slower = replace(instance.cluster, chi=instance.cluster.chi + Fraction(1, 100))
        setup = replace(instance.cluster, theta_cm=instance.cluster.theta_cm + Fraction(1, 100))
        ready = (*instance.ready_times[:-1], instance.ready_times[-1] + 1)
        better = [replace(instance, cluster=one) for one in (slower, setup)]
        better += [replace(instance, load=instance.load + 1), replace(instance, ready_times=ready)]
        for other in better:
            theirs = dlopt.solve(other, objective=objective)
            if theirs.certificate is not None:
                forged = replace(result, certificate=theirs.certificate)
                found = [one.kind for one in check_own_certificate(instance, forged)]
                assert found == ["program"] or theirs.certificate == result.certificate
