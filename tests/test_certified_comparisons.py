"""Comparisons whose bounds and optima count only with certificates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dlopt
from dlopt import registry
from dlopt.api import Comparison
from dlopt.certificate_files import check_own_certificate
from dlopt.plain_data import comparison_to_data
from dlopt.result import Result, Status
from tests.method_table import MethodTable

BURSTS = dlopt.load("admission/bursts-6")
CHAIN = dlopt.load("dag/chain")
METHODS = {
    "admission/bursts-6": ["edf-iit-2", "exact", "bound-window-cuts"],
    "dag/chain": ["heft", "exact", "milp", "bound-work"],
    "bag/small-etc": ["min-min", "lns", "exact", "bound-lp"],
    "iit/three-nodes": ["opr", "edf-iit-2"],
    "coreservation/across-machines": ["co-rspb", "bound-knapsack"],
}


@pytest.fixture(scope="module", autouse=True)
def no_proofs_by_order() -> Iterator[None]:
    """Leave the optimum of `BURSTS` without a certificate, as those of larger streams are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlopt.models.admission.proof_sequences.EFFORT", 0)
        patch.setattr("dlopt.models.admission.request_conflicts.EFFORT_OF_PROOF", 0)
        yield


@pytest.fixture(scope="module")
def compared() -> dict[str, Comparison]:
    return {
        name: dlopt.compare(dlopt.load(name), methods, certified=True)
        for name, methods in METHODS.items()
    }


def rows_of(comparison: Comparison) -> dict[str, Result[Any]]:
    return {row.method.name: row.result for row in comparison.rows if row.result is not None}


@pytest.mark.parametrize("name", METHODS)
def test_no_row_states_a_bound_without_an_accepted_certificate(
    compared: dict[str, Comparison], name: str
) -> None:
    comparison = compared[name]
    assert comparison.certified and list(rows_of(comparison)) == METHODS[name]
    for found in rows_of(comparison).values():
        assert (found.bound is None) == (found.certificate is None) == (found.proof is None)
        if found.certificate is not None:
            assert found.proof == "certificate"
            assert check_own_certificate(comparison.instance, found) == ()
        assert found.status is not Status.OPTIMAL or found.certificate is not None


def test_what_is_claimed_is_feasible_with_the_bound_that_is_proven(
    compared: dict[str, Comparison],
) -> None:
    plain = dlopt.compare(BURSTS, METHODS["admission/bursts-6"])
    assert plain.gap_reference == "optimum" and not plain.certified
    assert rows_of(plain)["exact"].status is Status.OPTIMAL
    comparison = compared["admission/bursts-6"]
    found = rows_of(comparison)["exact"]
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 3, 5)
    assert comparison.gap_reference == "bound"
    gaps = {row.method.name: row.gap_to_best for row in comparison.rows}
    assert gaps == {"edf-iit-2": 0.4, "exact": 0.4, "bound-window-cuts": None}


def test_optima_that_are_certified_remain(compared: dict[str, Comparison]) -> None:
    for name, value in (("dag/chain", 10), ("bag/small-etc", 7)):
        found = rows_of(compared[name])["exact"]
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, value, value)
        assert compared[name].gap_reference == "optimum"


def test_without_certificates_nothing_is_proven(compared: dict[str, Comparison]) -> None:
    found: dict[str, Result[Any]] = {}
    for name in ("iit/three-nodes", "coreservation/across-machines"):
        comparison = compared[name]
        found |= rows_of(comparison)
        assert comparison.gap_reference is None
        assert all(row.gap_to_best is None for row in comparison.rows)
    assert {name: str(one.status) for name, one in found.items()} == {
        "opr": "feasible",
        "edf-iit-2": "feasible",
        "co-rspb": "feasible",
        "bound-knapsack": "unknown",
    }
    for name in ("edf-iit-2", "bound-knapsack"):
        assert "is claimed, not certified" in (found[name].reason or "")


def test_texts_and_json_say_what_counts(compared: dict[str, Comparison]) -> None:
    note = "certified: bounds and optima count only with a certificate that is accepted"
    certified, plain = compared["dag/chain"], dlopt.compare(CHAIN, ["heft"])
    assert note in str(certified) and note in certified._repr_html_()
    assert note not in str(plain)
    assert comparison_to_data(certified)["certified"] is True
    assert comparison_to_data(plain)["certified"] is False


def test_a_comparison_states_what_it_was_asked_for() -> None:
    chunks = {"installments": "2"}
    limits = dlopt.Limits(work=5, gap=0.25)
    found = dlopt.compare(
        dlopt.load("iit/three-nodes"), ["opr", "exact"], limits=limits, seed=3, options=chunks
    )
    assert (found.limits, found.seed, found.options) == (limits, 3, {"exact.installments": 2})
    data = comparison_to_data(found)
    assert data["limits"]["work"] == 5 and data["limits"]["time_s"] is None
    assert (data["seed"], data["options"]) == (3, {"exact.installments": 2})


def test_a_claim_of_a_heuristic_needs_a_certificate_too(method_table: MethodTable) -> None:
    def prophet(instance: Any, **rest: Any) -> Result[Any]:
        plan = dlopt.solve(instance, "heft").solution
        return Result(Status.OPTIMAL, plan, value=10, bound=10, proof="exact", plan_class="any")

    registry.register("dag", "prophet", prophet, claim="optimal", objectives=("makespan",))
    for certified, status in ((False, Status.OPTIMAL), (True, Status.FEASIBLE)):
        (row,) = dlopt.compare(CHAIN, ["prophet"], certified=certified).rows
        assert row.result is not None and row.result.status is status
