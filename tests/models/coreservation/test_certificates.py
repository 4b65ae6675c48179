"""Certificates of CPU shares: they are accepted, prove the optimum, and nothing beyond it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dlopt import Status, solve
from dlopt.arithmetic import exact
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.formats import vipr
from dlopt.generation.coreservation import small
from dlopt.instance_library import load
from dlopt.models.coreservation import proof_knapsack_cuts, proof_search
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Instance,
    Machine,
    Part,
    Request,
    certified_knapsacks,
    linear,
    staircase,
)
from dlopt.problems.coreservation.certified_program import proven_value
from dlopt.result import Limits, Result, levels_of
from tests.examples import share
from tests.models.coreservation.sample_instances import packed
from tests.oracles_coreservation import optima
from tests.strategies_coreservation import any_numbers, coreservation

STAIRS = Request("b", 0, 1, 5, Fraction(3, 2), (Part(5, 1, staircase(2)), Part(2)))
CROWDED = Instance(
    (Machine("m", 8), Machine("n", ((0, 8), (3, 5)))),
    (
        Request("a", 0, 0, 4, 2, (Part(8, 2, linear()), Part(3))),
        STAIRS,
        Request("c", 2, 2, 6, 1, (Part(4, machine=0),)),
        Request("d", 2, 3, 7, 1, (Part(4, 3), Part(5))),
        Request("e", 2, 3, 5, 3, (Part(20),)),
    ),
)
NAMES = tuple(OBJECTIVES)


@pytest.mark.property
@share(1 / 10)
@given(coreservation())
def test_certificates_prove_the_optimum_and_no_more(instance):
    best = optima(instance)
    for name in NAMES:
        result = solve(instance, objective=name)
        assert result.certificate is not None, result.reason
        certificate = vipr.parse(vipr.to_text(result.certificate))
        assert certificate.flaw() is None
        proven, flaw = proven_value(instance, result, certificate)
        assert flaw is None
        assert levels_of(proven) == tuple(map(exact, levels_of(best[name])))


@pytest.mark.property
@share(1 / 10)
@given(any_numbers())
def test_certificates_of_instances_in_floats(tmp_path_factory, instance):
    path = tmp_path_factory.getbasetemp() / "shares.vipr"
    for name in NAMES:
        result = solve(instance, objective=name)
        if result.certificate is None:
            assert "; no certificate: " in result.reason
        else:
            write_certificate(result, path)
            assert check_certificate(instance, result, path) == ()


@pytest.mark.parametrize("name", NAMES)
def test_a_benefit_in_floats_is_certified_where_it_is_an_integer(name, tmp_path):
    requests = tuple(Request(f"r{cpu}", 0, 0, 1, 1, (Part(cpu),)) for cpu in (41.5, 54.6))
    instance = Instance((Machine("m", 100.0), Machine("n", 66.6)), requests)
    result, path = solve(instance, objective=name), tmp_path / "p.vipr"
    if result.certificate is not None:
        write_certificate(result, path)
        assert check_certificate(instance, result, path) == ()
    assert (result.certificate is None) == (name == "benefit-then-rejections")


@pytest.mark.parametrize("name", NAMES)
def test_every_objective_has_certificates(name, tmp_path):
    result, path = solve(CROWDED, objective=name), tmp_path / "p.vipr"
    assert (result.status, result.proof) == (Status.OPTIMAL, "certificate")
    write_certificate(result, path)
    assert check_certificate(CROWDED, result, path) == ()
    for at, sense in enumerate(OBJECTIVES[name].senses_of(result.bound)):
        sharper = list(levels_of(result.bound))
        sharper[at] += Fraction(1, 1000) * (1 if sense == "min" else -1)
        bound = tuple(sharper) if len(sharper) > 1 else sharper[0]
        found = check_certificate(CROWDED, replace(result, bound=bound), path)
        assert [one.kind for one in found] == ["bound"]


def test_lns_has_certificates_and_models_alone_have_none():
    found = solve(CROWDED, "lns", objective="rejections")
    assert (found.bound, found.proof) == (2, "certificate")
    for method in ("cp-sat", "milp"):
        found = solve(CROWDED, method, objective="rejections")
        assert found.certificate is None
        assert "certificate" not in found.reason


def test_what_is_known_at_once_needs_no_search(monkeypatch):
    monkeypatch.setattr(proof_search, "MAX_COLUMNS_OF_SEARCH", 0)
    monkeypatch.setattr(proof_search, "MAX_ENTRIES_OF_ROOT", 0)
    roomy = Instance((Machine("m", 60), Machine("n", 9)), CROWDED.requests)
    for name in NAMES:
        result = solve(roomy, objective=name)
        assert (result.certificate is None) == (name == "rejections-then-machines")
        if name == "benefit-then-rejections":
            assert len(result.certificate.leaves) == 2
        elif result.certificate is not None:
            assert len(result.certificate.leaves) == 1


def test_a_bound_that_no_proof_reaches_has_no_certificate():
    for goal in NAMES:
        result = solve(CROWDED, objective=goal)
        bounds = list(levels_of(result.bound))
        bounds[0] += 1 if OBJECTIVES[goal].sense == "min" else Fraction(-1, 1000)
        scaled = proof_search.ScaledInstance.from_instance(CROWDED, goal)
        outcome = proof_search.certify_bound(scaled, bounds)
        assert outcome.certificate is None
        assert outcome.reason.startswith("no proof was found in ")


@pytest.mark.parametrize(
    ("constant", "limit", "reason"),
    [
        ("MAX_CHOICES", 3, "more than 3 choices of machines for parts"),
        ("MAX_COLUMNS_OF_SEARCH", 3, "its program would have more than 3 columns"),
        ("SEARCH_EFFORT", 1, "no proof was found in 1 subproblem"),
    ],
)
def test_limits_are_stated_as_reasons(constant, limit, reason, monkeypatch):
    monkeypatch.setattr(proof_search, constant, limit)
    result = solve(CROWDED)
    assert result.certificate is None
    assert result.reason.endswith(f"; no certificate: {reason}")


def test_exact_bases_are_limited_too(monkeypatch):
    instance = small(requests=8, span=4, machines=1, capacity=8, seed=0)
    assert solve(instance).proof == "certificate"
    monkeypatch.setattr(proof_search, "EFFORT_OF_EXACT_LEAF", 10**9)
    assert solve(instance).certificate is None


def test_amounts_without_a_common_unit_have_no_certificate():
    odd = Request("r", 0, 0, 1, 1, (Part(Fraction(1, 3**30), Fraction(1, 7**30), linear()),))
    result = solve(Instance((Machine("m", 1), Machine("n", Fraction(1, 5**30))), (odd,)))
    assert "no certificate: shares and capacities have no common integer unit" in result.reason


def test_many_machines_are_one_where_the_program_would_be_too_large(monkeypatch):
    monkeypatch.setattr(proof_search, "MAX_COLUMNS_OF_SEARCH", 8)
    result = solve(packed([3, 4, 4], 5, 1), objective="rejections")
    assert result.certificate is not None
    requests = packed([3, 4, 4], 5, 1).requests
    machines = (Machine("m", 5), Machine("n", 4))
    result = solve(Instance(machines, requests), objective="rejections")
    assert "groups: 0 0" in result.certificate.remarks


def test_shipped_instances_have_certificates():
    for name in ("best-effort", "six-items"):
        assert solve(load(f"coreservation/{name}")).proof == "certificate"


def test_a_gap_that_is_open_has_a_certificate_of_its_bound(tmp_path):
    instance = small(requests=8, span=4, machines=2, capacity=8, seed=1)
    result = solve(instance, objective="rejections", limits=Limits(gap=0.9))
    write_certificate(result, tmp_path / "p.vipr")
    assert check_certificate(instance, result, tmp_path / "p.vipr") == ()


@pytest.mark.parametrize(
    ("name", "change", "flaw"),
    [
        ("benefit", ("unit: 1", "unit: 0"), "do not state the unit"),
        ("benefit", ("unit: 1", "unit: -1"), "do not state the unit"),
        ("benefit", ("unit: 1", "unit: 2"), "may have more benefit on group"),
        ("benefit", ("groups: 0 1", "groups: 0"), "do not state the group of every machine"),
        ("benefit", ("groups: 0 1", "groups: 1 0"), "may have more benefit on group"),
        ("benefit", ("groups: 0 1", "groups: zero one"), "do not state the group"),
        ("benefit-then-rejections", ("rejections: 2", "rejections: 3"), "may reach less"),
        (
            "benefit-then-rejections",
            ("rejections: 2", "rejected: 2"),
            "state the fewest rejections",
        ),
        ("rejections", ("x_3", "x_4"), "request 3 may be accepted"),
    ],
)
def test_what_a_file_says_is_compared_with_the_instance(name, change, flaw):
    result = solve(CROWDED, objective=name)
    text = vipr.to_text(result.certificate)
    assert change[0] in text
    _, found = proven_value(CROWDED, result, vipr.parse(text.replace(*change, 1)))
    assert flaw in (found or ""), found


def test_plans_are_never_excluded_as_a_whole():
    result = solve(CROWDED, objective="rejections")
    text = vipr.to_text(result.certificate)
    (claim,) = [line for line in text.splitlines() if line.startswith("RTP")]
    certificate = vipr.parse(text.replace(claim, "RTP infeas"))
    assert "all requests may be rejected" in proven_value(CROWDED, result, certificate)[1]


def test_certificates_of_other_instances_are_refused(tmp_path):
    for name in ("benefit", "rejected-priority", "rejections-then-machines"):
        result = solve(CROWDED, objective=name)
        write_certificate(result, tmp_path / "p.vipr")
        wider = replace(CROWDED, machines=(Machine("m", 9), Machine("n", ((0, 8), (3, 9)))))
        longer = replace(STAIRS, start=Fraction(1, 2), parts=(Part(5, 1, linear()), Part(1)))
        requests = (CROWDED.requests[0], longer, *CROWDED.requests[2:])
        for other in (wider, replace(CROWDED, requests=requests)):
            (violation,) = check_certificate(other, result, tmp_path / "p.vipr")
            assert violation.kind == "program"


ITEMS = (10, (6, 3, 6, 5), 3)
"""A capacity, sizes, and the fewest bins: rows that count multiples of units need branching."""


def bins_of(capacity, sizes, bins):
    asked = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(size),)) for k, size in enumerate(sizes))
    machines = tuple(Machine(f"m{j}", capacity) for j in range(bins + 1))
    return ScaledInstance.from_instance(Instance(machines, asked), "rejections-then-machines")


def test_items_that_do_not_fit_together_prove_bins_without_branching():
    proof = proof_search.certify_bound(bins_of(*ITEMS), (0, 3)).certificate
    assert len(proof.leaves) == 1
    assert any(name.startswith("knapsack") for name in proof.row_names)
    assert proof_search.certify_bound(bins_of(*ITEMS), (0, 4)).certificate is None


def test_no_row_has_more_sums_than_its_checker_forms(monkeypatch):
    assert proof_knapsack_cuts.MAX_SUMS == certified_knapsacks.MAX_STEPS
    proven = []
    for most in range(30, 150, 4):
        monkeypatch.setattr(proof_knapsack_cuts, "MAX_SUMS", most)
        monkeypatch.setattr(certified_knapsacks, "MAX_STEPS", most)
        found = proof_search.certify_bound(bins_of(*ITEMS), (0, 3), effort=1).certificate
        proven.append(found is not None)
        if found is not None:
            result = Result(Status.OPTIMAL, objective="rejections-then-machines", bound=(0, 3))
            certificate = vipr.parse(vipr.to_text(found))
            assert proven_value(bins_of(*ITEMS).instance, result, certificate) == ((0, 3), None)
    assert proven == sorted(proven) and set(proven) == {False, True}


def test_large_programs_of_machines_are_proven_at_once_or_not_at_all(monkeypatch):
    monkeypatch.setattr(proof_search, "MAX_COLUMNS_OF_SEARCH", 8)
    assert proof_search.certify_bound(bins_of(*ITEMS), (0, 3)).certificate is not None
    monkeypatch.setattr(proof_search, "MAX_ENTRIES_OF_ROOT", 8)
    assert proof_search.certify_bound(bins_of(*ITEMS), (0, 3)).certificate is None
