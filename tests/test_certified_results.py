"""Results that state no bound without a certificate that the checker has accepted."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

import dlopt
from dlopt import api, registry
from dlopt.certificate_files import check_own_certificate
from dlopt.certified_results import BOUND_TIME_SHARE, CertifiedAttempt, certified_result
from dlopt.errors import NotApplicableError
from dlopt.models.iit import proof_cases
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.query import Query
from dlopt.result import Limits, Result, Status
from tests.heuristics.admission.strategies import streams
from tests.once import solve

BURSTS = dlopt.load("admission/bursts-6")
CHAIN = dlopt.load("dag/chain")


@pytest.fixture(scope="module", autouse=True)
def no_proofs_by_order() -> Iterator[None]:
    """Leave the optimum of `BURSTS` without a certificate, as those of larger streams are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlopt.models.admission.proof_sequences.EFFORT", 0)
        patch.setattr("dlopt.models.admission.request_conflicts.EFFORT_OF_PROOF", 0)
        yield


def query_of(instance: Any, method: str = "exact") -> Query:
    return Query.of(instance, registry.method(instance.problem, method))


def test_what_a_solver_claims_is_feasible_with_the_best_certified_bound() -> None:
    claimed = dlopt.solve(BURSTS)
    assert (claimed.status, claimed.bound, claimed.proof) == (Status.OPTIMAL, 3, "solver")
    found = dlopt.solve(BURSTS, certified=True)
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 3, 5)
    assert (found.proof, found.plan_class, found.method) == ("certificate", "single", "exact")
    assert check_own_certificate(BURSTS, found) == ()
    assert found.reason is not None and found.reason.startswith("a bound of 3 is claimed, not")
    assert "reported by HiGHS, and not proven" in found.reason
    assert "bound is that of bound-window-cuts, with a certificate" in found.reason


@pytest.mark.parametrize("name", ["admission/two-of-three", "dag/fork-join", "bag/small-etc"])
def test_what_is_certified_is_the_same_answer(name: str) -> None:
    instance = dlopt.load(name)
    found = dlopt.solve(instance, certified=True)
    assert found == solve(instance, "exact") and found.status is Status.OPTIMAL
    assert found.proof == "certificate" and check_own_certificate(instance, found) == ()


def test_what_is_proven_without_a_program_is_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof_cases, "MAX_CHUNKS", 2)
    instance = dlopt.load("iit/three-nodes")
    found = dlopt.solve(instance, certified=True)
    fluid = dlopt.solve(instance, "bound-fluid").bound
    assert (found.status, found.bound, found.proof) == (Status.FEASIBLE, fluid, "certificate")
    assert "a bound of 39/8 is claimed, not certified: the bound is proven in exact" in str(found)
    assert "(its program would have more than 2 chunks)" in str(found)


def test_a_heuristic_that_claims_nothing_is_as_without() -> None:
    assert dlopt.solve(CHAIN, "heft", certified=True) == solve(CHAIN, "heft")


def test_the_bound_of_a_bound_method_needs_a_certificate() -> None:
    found = dlopt.solve(BURSTS, "bound-window-cuts", certified=True)
    assert (found.status, found.bound) == (Status.BOUND, 5)
    bare = certified_result(query_of(BURSTS, "bound-window-cuts"), replace(found, certificate=None))
    assert (bare.status, bare.bound, bare.solution) == (Status.UNKNOWN, None, None)


def test_a_certificate_that_is_refused_is_none() -> None:
    other = solve(dlopt.load("dag/fork-join"), "exact").certificate
    proven = solve(CHAIN, "exact")
    assert certified_result(query_of(CHAIN), proven) == proven
    forged = certified_result(query_of(CHAIN), replace(proven, certificate=other))
    assert (forged.status, forged.bound, forged.certificate) == (Status.FEASIBLE, None, None)
    assert forged.reason is not None and "its certificate is refused: program on" in forged.reason


def test_a_certificate_that_cannot_be_written_is_refused() -> None:
    proven = solve(dlopt.load("bag/small-etc"), "exact")
    leafless = replace(proven, certificate=replace(proven.certificate, leaves=()))
    (violation,) = check_own_certificate(dlopt.load("bag/small-etc"), leafless)
    assert violation.kind == "proof" and "do not cover everything" in str(violation)
    with pytest.raises(NotApplicableError, match="heft proves no bound"):
        check_own_certificate(CHAIN, solve(CHAIN, "heft"))
    with pytest.raises(NotApplicableError, match="iit has no objective 'makespan'"):
        check_own_certificate(dlopt.load("iit/three-nodes"), proven)


def test_that_there_is_no_plan_needs_a_certificate() -> None:
    tasks = (Task("a", 0, 2, 6), Task("b", 0, 2, 6), Task("c", 0, 1, 50))
    instance = Instance(Cluster(1, 1, 1), tasks)
    found = dlopt.solve(instance, "feasibility", certified=True)
    assert (found.status, found.proof) == (Status.INFEASIBLE, "certificate")
    query = query_of(instance, "feasibility")
    bound = dlopt.solve(instance, "bound-window-cuts", objective="accepted")
    claimed = replace(found, certificate=None, proof="solver", solver="CP-SAT")
    bare = certified_result(query, claimed, [bound])
    assert (bare.status, bare.proof, bare.bound) == (Status.UNKNOWN, None, None)
    text = "infeasibility is claimed, not certified: infeasibility is reported by CP-SAT, and not"
    assert bare.reason is not None and bare.reason.startswith(text)


def test_a_certified_bound_that_equals_the_value_proves_it() -> None:
    proven = solve(CHAIN, "exact")
    claimed = replace(proven, certificate=None, proof="solver", stopped_by="time")
    bounds = iter([solve(CHAIN, "bound-work"), proven, solve(CHAIN, "heft")])
    found = certified_result(query_of(CHAIN), claimed, bounds)
    assert (found.status, found.bound, found.proof) == (Status.OPTIMAL, proven.value, "certificate")
    assert found.stopped_by is None and check_own_certificate(CHAIN, found) == ()
    assert len(list(bounds)) > 0  # nothing is asked for after a proof


def test_the_best_of_several_bounds_is_taken_and_none_of_a_narrower_class() -> None:
    query = query_of(BURSTS)
    claimed = replace(dlopt.solve(BURSTS), plan_class="k", installments=2)
    single, every = solve(BURSTS, "bound-window-cuts"), solve(BURSTS, "bound-fluid")
    assert single.plan_class == "single" and every.plan_class == "any"
    found = certified_result(query, claimed, [single])
    assert found.bound is None  # of plans with two chunks it says nothing
    found = certified_result(query, claimed, [single, every])
    assert found.bound == every.bound and "that of bound-fluid" in str(found.reason)
    loose = replace(every, bound=every.bound + 1, method="loose")
    for order in ([loose, every], [every, loose]):
        found = certified_result(query, claimed, order)
        assert found.bound == every.bound and "that of loose" not in str(found.reason)
    uncertified = replace(every, certificate=None)
    assert certified_result(query, claimed, [uncertified]).bound is None
    better = replace(every, bound=every.bound - 1)  # than its certificate proves
    assert certified_result(query, claimed, [better]).bound is None


def test_a_bound_that_the_plan_exceeds_is_none() -> None:
    claimed = dlopt.solve(BURSTS)
    wrong = replace(solve(BURSTS, "bound-fluid"), bound=2)
    assert certified_result(query_of(BURSTS), claimed, [wrong]).bound is None
    task = Task("a", 0, 1.5, 30.0)
    floats = Instance(Cluster(1, 1.0, 1.0), (task,))
    plan = dlopt.solve(floats, objective="accepted-load")
    assert plan.value == 1.5 and plan.certificate is not None
    query = Query.of(floats, registry.method("admission", "exact"), "accepted-load")
    bare = replace(plan, certificate=None)
    for bound, expected in ((1.5 - 1e-12, 1.5), (1.4, None)):
        near = replace(plan, bound=bound, method="near")
        found = certified_result(query, bare, [near])
        assert found.bound == expected


def test_bound_methods_get_the_options_of_the_method() -> None:
    instance = Instance(Cluster(2, 1, 1), (Task("a", 0, 2, 4), Task("b", 0, 2, 4)))
    query = query_of(instance)
    claimed = dlopt.solve(instance, installments=2)
    bounds = CertifiedAttempt(query, Limits(), 0, {"installments": 2}).bound_results()
    found = {bound.method: bound for bound in bounds}
    assert found.keys() == {"bound-window-cuts", "bound-fluid"}
    assert found["bound-window-cuts"].installments == 2
    bare = replace(claimed, certificate=None)
    certified = certified_result(query, bare, [found["bound-window-cuts"]])
    assert certified.bound is not None and check_own_certificate(instance, certified) == ()


def test_no_bound_method_is_begun_without_time_or_after_a_stop() -> None:
    stop = threading.Event()
    stop.set()
    found = dlopt.solve(BURSTS, certified=True, stop=stop)
    assert found.bound is None and found.stopped_by == "request"
    stopped = CertifiedAttempt(query_of(BURSTS), Limits(), 0, {}, stop)
    assert list(stopped.bound_results()) == []
    found = dlopt.solve(BURSTS, certified=True, limits=Limits(time_s=1e-4))
    assert found.bound is None


def test_an_exact_method_leaves_time_for_bound_methods() -> None:
    limits = Limits(time_s=10, work=7)
    for name, method, seconds in (
        ("admission/bursts-6", "exact", 10 * (1 - BOUND_TIME_SHARE)),
        ("admission/bursts-6", "bound-fluid", 10),
        ("iit/three-nodes", "exact", 10 * (1 - BOUND_TIME_SHARE)),
    ):
        attempt = CertifiedAttempt(query_of(dlopt.load(name), method), limits, 0, {})
        assert attempt.method_limits == replace(limits, time_s=seconds)


def test_a_bound_method_that_fails_is_passed_over(method_table: None) -> None:
    def broken(instance: Instance, **rest: Any) -> Result[Any]:
        raise ValueError("boom")

    dlopt.register("admission", "broken", broken, kind="bound", objectives=("accepted",))
    found = dlopt.solve(BURSTS, certified=True)
    assert (found.status, found.bound) == (Status.FEASIBLE, 5)


@pytest.mark.property
@given(streams(tasks=3, most=2, huge=False))
def test_every_bound_of_a_certified_answer_has_an_accepted_certificate(stream: Any) -> None:
    """Plain and certified answers have equal values; what is optimal is so in both."""
    instance = stream.instance
    plain = api.solve(instance)
    found = api.solve(instance, certified=True)
    assert found.value == plain.value
    assert (found.bound is None) == (found.certificate is None)
    if found.bound is not None:
        assert found.proof == "certificate" and check_own_certificate(instance, found) == ()
    if found.status is Status.OPTIMAL:
        assert plain.status is Status.OPTIMAL
    else:
        assert plain.proof != "certificate" or plain.status is not Status.OPTIMAL
