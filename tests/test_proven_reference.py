"""What a comparison measures gaps from: an optimum, or the tightest bound of all of its methods."""

from __future__ import annotations

from typing import Any

import pytest

import dlopt
from dlopt.proven_reference import gap_to_proven, proven_best
from dlopt.result import Objective, PlanClass, Result, Status

LEAST, MOST = Objective("makespan", "min"), Objective("accepted", "max")
PLAN: Result[Any] = Result(Status.FEASIBLE, value=6, plan_class="single")


def bound(value: Any, plan_class: PlanClass = "any") -> Result[Any]:
    return Result(Status.BOUND, bound=value, plan_class=plan_class)


def optimum(value: int, method: str = "", plan_class: PlanClass = "any") -> Result[Any]:
    return Result(Status.OPTIMAL, value=value, bound=value, method=method, plan_class=plan_class)


def test_an_optimum_comes_before_any_bound_and_an_exact_method_before_a_heuristic() -> None:
    own, exact = optimum(5, "own"), optimum(5, "exact")
    assert proven_best(LEAST, [bound(4)], [bound(3), own]) is own
    assert proven_best(LEAST, [bound(4), exact], [own]) is exact


def test_without_an_optimum_it_is_the_tightest_bound_of_all_methods() -> None:
    loose, tight = bound(3), bound(4)
    assert proven_best(LEAST, [loose], [tight]) is tight
    assert proven_best(MOST, [loose], [tight]) is loose
    assert proven_best(LEAST, [loose], [bound(3)]) is loose


def test_only_bounds_that_hold_for_the_class_of_the_plan_count() -> None:
    wide: Result[Any] = Result(Status.FEASIBLE, value=6, plan_class="any")
    narrow, any_plan = bound(5, "single"), bound(3)
    assert gap_to_proven(LEAST, PLAN, [narrow], [any_plan]) == pytest.approx(1 / 5)
    assert gap_to_proven(LEAST, wide, [narrow], [any_plan]) == 1
    assert gap_to_proven(LEAST, wide, [narrow], []) is None
    assert gap_to_proven(LEAST, wide, [optimum(5, plan_class="single")], [any_plan]) is None


def test_a_method_that_asks_for_more_than_a_plan_is_no_reference() -> None:
    """`feasibility` proves that not all can be accepted, and says nothing of how many can be."""
    not_all: Result[Any] = Result(Status.INFEASIBLE, method="feasibility", plan_class="single")
    assert proven_best(MOST, [not_all, bound(9)], []) == bound(9)
    none: Result[Any] = Result(Status.INFEASIBLE, method="exact", plan_class="single")
    assert proven_best(MOST, [not_all, none], [bound(9)]) is none
    assert gap_to_proven(MOST, PLAN, [none], [bound(9)]) is None
    assert proven_best(MOST, [not_all], []) is not_all and proven_best(MOST, [], []) is None


def test_what_has_no_gap() -> None:
    levels: Result[Any] = Result(Status.FEASIBLE, value=(1, 2), plan_class="any")
    assert gap_to_proven(LEAST, levels, [bound(4)], []) is None
    assert gap_to_proven(LEAST, PLAN, [bound((4, 1))], []) is None
    assert gap_to_proven(LEAST, bound(4), [bound(4)], []) is None
    assert gap_to_proven(LEAST, None, [bound(4)], []) is None
    assert gap_to_proven(LEAST, PLAN, [Result(Status.UNKNOWN, reason="none")], []) is None


def test_heuristics_and_a_bound_are_compared_without_an_exact_method() -> None:
    instance = dlopt.load("bag/small-etc")
    compared = dlopt.compare(instance, ["min-min", "max-min", "bound-lp"])
    assert compared.gap_reference == "bound" and compared.reference is not None
    assert compared.reference.method == "bound-lp" and compared.incomparable == ()
    least = compared.reference.bound
    for row in compared.rows[:2]:
        assert row.result is not None
        assert row.gap_to_best == pytest.approx(float(abs(row.result.value - least) / least))
    assert "%*" in str(compared)
