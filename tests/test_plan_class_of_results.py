"""The plan class of a result: stated, or that of its plan; own methods get gaps by it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import dlopt
from dlopt import registry
from dlopt.batch import plan_runs, write_report
from dlopt.batch.metrics import evaluate
from dlopt.batch.runs import solve_run
from dlopt.cli.comparison_tables import notes
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.result import Result, Status
from dlopt.result_checker import InvalidResultError

pytestmark = pytest.mark.usefixtures("method_table")
INSTANCE = dlopt.load("iit/three-nodes")


def answer(nodes: list[int], **stated: Any) -> Result[Any]:
    """Return a plan that sends equal chunks to nodes, in this order."""
    plan = earliest_plan(INSTANCE, nodes, [INSTANCE.load / len(nodes)] * len(nodes))
    return replace(Result(Status.FEASIBLE, plan, value=last_result(plan)), **stated)


def register(found: Result[Any], **entry: Any) -> None:
    dlopt.register("iit", "own", lambda *_, **__: found, objectives=("completion",), **entry)


@pytest.mark.parametrize(
    ("nodes", "plan_class", "installments"),
    [([0], "single", None), ([0, 1], "single", None), ([0, 1, 0], "k", 2)],
)
def test_a_plan_is_of_the_narrowest_class(
    nodes: list[int], plan_class: str, installments: int | None
) -> None:
    register(answer(nodes))
    result = dlopt.solve(INSTANCE, "own")
    assert (result.plan_class, result.installments) == (plan_class, installments)


def test_what_a_result_states_holds() -> None:
    register(answer([0], plan_class="any"), plan_class="single")
    assert dlopt.solve(INSTANCE, "own").plan_class == "any"


def test_a_bound_is_for_the_class_of_the_method() -> None:
    register(answer([0], bound=1), kind="exact", claim="optimal", plan_class="any")
    assert dlopt.solve(INSTANCE, "own").plan_class == "any"


def test_a_method_ranges_over_the_plans_of_the_exact_method_by_default() -> None:
    for stem in registry.stems():
        entry = dlopt.register(stem, "own-default", answer)
        assert entry.plan_class == registry.method(stem, "exact").plan_class
    assert registry.method("iit", "own-default").plan_class == "single"


@pytest.mark.parametrize("stated", [{"plan_class": "single"}, {"bound": 1}])
def test_a_plan_outside_of_its_class_is_invalid(stated: dict[str, Any]) -> None:
    register(answer([0, 0], **stated), kind="exact", claim="optimal", plan_class="single")
    with pytest.raises(InvalidResultError, match="plan class is single, and a node gets 2 chunks"):
        dlopt.solve(INSTANCE, "own")


def test_a_method_that_states_nothing_has_the_same_gap_in_comparisons_and_reports(
    tmp_path: Any,
) -> None:
    register(answer([0]))
    rows = {row.method.name: row.gap_to_best for row in dlopt.compare(INSTANCE).rows}
    records = [solve_run(run).record for run in plan_runs([INSTANCE], ["own", "exact"]).runs]
    gaps = {one.record.key.method: one.gap for one in evaluate(records)}
    assert gaps["own"] == pytest.approx(rows["own"]) and gaps["own"] > 0.5
    assert write_report(records, tmp_path / "page.html").unmeasured == []


def test_a_method_of_a_wider_class_has_no_gap_and_a_comparison_says_why() -> None:
    register(answer([0, 1, 0]))
    compared = dlopt.compare(INSTANCE, ["own", "opr", "exact"])
    (row,) = compared.incomparable
    assert (row.method.name, row.gap_to_best) == ("own", None)
    message = "no gap: own: no optimum is proven for plans of class k with 2 chunks for each node"
    assert message in str(compared).splitlines()
    assert message in compared._repr_html_()
    assert f"{message} (three)" in notes([("three", compared)])
