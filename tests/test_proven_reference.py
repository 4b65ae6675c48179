"""What a comparison measures gaps from: an optimum, or the tightest bound of all of its methods."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import dlopt
from dlopt.presentation.wording import objective_text
from dlopt.problems.dag import Graph, Instance, Machine, Task
from dlopt.problems.validated_record import BestKnown
from dlopt.proven_reference import gap_to_proven, proven_best, stated_proofs
from dlopt.result import Objective, PlanClass, Result, Status

LEAST, MOST = Objective("makespan", "min"), Objective("accepted", "max")
PLAN: Result[Any] = Result(Status.FEASIBLE, value=6, plan_class="single")


def bound(value: Any, plan_class: PlanClass = "any") -> Result[Any]:
    return Result(Status.BOUND, bound=value, plan_class=plan_class)


def optimum(value: Any, method: str = "", plan_class: PlanClass = "any") -> Result[Any]:
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


def test_the_gap_of_levels_is_a_gap_of_each() -> None:
    best = optimum((2, 4), plan_class="any")
    gaps = {
        value: gap_to_proven(
            LEAST, Result(Status.FEASIBLE, value=value, plan_class="any"), [best], []
        )
        for value in [(2, 4), (2, 5), (3, 3), (math.inf, 4)]
    }
    assert gaps == {(2, 4): (0, 0), (2, 5): (0, 0.25), (3, 3): (0.5,), (math.inf, 4): None}
    none_late = optimum((0, 4), plan_class="any")
    late = Result[Any](Status.FEASIBLE, value=(1, 4), plan_class="any")
    assert gap_to_proven(LEAST, late, [none_late], []) is None  # one is no multiple of nothing
    below = dlopt.compare(dlopt.load("bag/counterexamples/gds-below-edf"), ["gds", "edf", "exact"])
    assert [row.gap_to_best for row in below.rows] == [(0, pytest.approx(1 / 3)), (0, 0), (0, 0)]


def test_heuristics_and_a_bound_are_compared_without_an_exact_method() -> None:
    instance = replace(dlopt.load("bag/small-etc"), best_known=())
    compared = dlopt.compare(instance, ["min-min", "max-min", "bound-lp"])
    assert compared.gap_reference == "bound" and compared.reference is not None
    assert compared.reference.method == "bound-lp" and compared.incomparable == ()
    least = compared.reference.bound
    for row in compared.rows[:2]:
        assert row.result is not None
        assert row.gap_to_best == pytest.approx(float(abs(row.result.value - least) / least))
    assert "%*" in str(compared)


def known(value: Any, bound: Any, plan_class: PlanClass = "any") -> BestKnown:
    return BestKnown("makespan", plan_class, value, bound, method="exact")


def test_of_what_an_instance_states_only_proofs_for_all_plans_count() -> None:
    def statuses(*stated: BestKnown, found: Result[Any] = PLAN) -> list[Status]:
        return [one.status for one in stated_proofs(stated, LEAST, 0, [found])]

    assert statuses(known(5, 5), known(6, 5), known(None, 4)) == [
        Status.OPTIMAL,
        Status.BOUND,
        Status.BOUND,
    ]
    assert statuses(known(5, None)) == []  # nobody has proven it
    assert statuses(known(5, 5, "k")) == []  # for how many chunks is not stated
    assert statuses(BestKnown("flowtime", "any", 5, 5)) == []
    wide: Result[Any] = Result(Status.FEASIBLE, value=6, plan_class="any")
    assert statuses(known(5, 5, "single")) == [Status.OPTIMAL]
    assert statuses(known(5, 5, "single"), found=wide) == []
    assert statuses(known(5, 5), found=bound(4)) == []  # without a plan there is no gap


def chain(*best_known: BestKnown) -> Instance:
    """Return two tasks on one machine, which end at 7."""
    graph = Graph("g", (Task("a", work=3), Task("b", work=4)))
    return Instance((Machine("m"),), (graph,), best_known=best_known)


def late(instance: Instance, **_: Any) -> Result[Any]:
    """Return a schedule that waits, and ends at 14."""
    plan = dlopt.problems.dag.Solution(
        (dlopt.problems.dag.Placement(0, 0, 0, 7), dlopt.problems.dag.Placement(0, 1, 0, 10))
    )
    return Result(Status.FEASIBLE, plan, value=14)


def test_a_comparison_takes_what_the_instance_states_where_no_method_proves_as_much(
    method_table: Any,
) -> None:
    dlopt.register("dag", "late", late, objectives=("makespan",))
    stated = dlopt.compare(chain(known(7, 7)), ["late"])
    assert [row.gap_to_best for row in stated.rows] == [1] and stated.gap_reference == "optimum"
    (used,) = stated.stated
    assert used is stated.reference and (used.value, used.method) == (7, "exact")
    assert "optimum 7: best known value of the instance, by exact, not proven here" in str(stated)
    below = dlopt.compare(chain(known(9, 5)), ["late"])
    assert below.gap_reference == "bound" and below.rows[0].gap_to_best == pytest.approx(9 / 5)
    assert "bound 5: best known value of the instance" in str(below) and below.incomparable == ()
    assert dlopt.compare(chain(known(7, None)), ["late"]).rows[0].gap_to_best is None


def test_a_method_that_proves_as_much_comes_first_and_takes_nothing_from_the_instance(
    method_table: Any,
) -> None:
    dlopt.register("dag", "late", late, objectives=("makespan",))
    own = dlopt.compare(chain(known(7, 7)), ["late", "exact"])
    assert own.stated == () and own.reference is own.rows[1].result
    bounded = dlopt.compare(chain(known(9, 5)), ["late", "bound-work"])
    assert bounded.stated == () and bounded.reference is bounded.rows[1].result
    # a claim of the file changes no result of a method
    alone = dlopt.solve(chain(known(9, 6)), "bound-work")
    assert (alone.bound, alone.status) == (7, Status.BOUND)


def test_what_a_result_contradicts_is_no_reference(method_table: Any) -> None:
    dlopt.register("dag", "late", late, objectives=("makespan",))
    wrong = dlopt.compare(chain(known(15, 15)), ["late"])
    assert wrong.contradictions and wrong.stated == () and wrong.rows[0].gap_to_best is None
    improved = dlopt.compare(chain(known(15, 5)), ["late"])  # the bound may still hold
    assert improved.contradictions and improved.rows[0].gap_to_best == pytest.approx(9 / 5)


def test_stated_dates_are_measured_from_their_origin() -> None:
    """The schedule of opr takes 6.4 from the first ready time on, the optimum 39/8."""
    instance = dlopt.load("iit/three-nodes")
    gaps = []
    for shift in (0, 1000):
        stated = BestKnown("completion", "any", Fraction(39, 8) + shift, Fraction(39, 8) + shift)
        ready = tuple(instant + shift for instant in instance.ready_times)
        moved = replace(instance, ready_times=ready, best_known=(stated,))
        gaps.append(dlopt.compare(moved, ["opr"]).rows[0].gap_to_best)
    assert gaps[0] is not None and gaps[0] > 0.3 and gaps[1] == pytest.approx(gaps[0])


@pytest.mark.parametrize("claimed", [math.inf, math.nan])
def test_values_that_an_unsound_method_claims_have_no_gap(
    method_table: Any, claimed: float
) -> None:
    def unsound(instance: Instance, **options: Any) -> Result[Any]:
        return replace(late(instance), value=claimed)

    dlopt.register("dag", "unsound", unsound, claim="literal-unsound", objectives=("makespan",))
    for methods in (["unsound"], ["unsound", "exact"]):
        compared = dlopt.compare(chain(known(7, 7)), methods)
        row = compared.rows[0]
        assert row.result is not None and row.result.status is Status.UNSOUND
        assert row.gap_to_best is None and str(claimed) in str(compared)
    assert objective_text(claimed) == str(claimed)  # as in the table on a terminal


def test_what_a_file_says_of_a_method_is_one_line(method_table: Any) -> None:
    dlopt.register("dag", "late", late, objectives=("makespan",))
    stated = BestKnown("makespan", "any", 7, 7, "exact\x1b[31m\nproven: optimal")
    text = str(dlopt.compare(chain(stated), ["late"]))
    assert "\x1b" not in text and "\nproven" not in text


def test_where_certificates_are_asked_for_a_claim_of_the_file_does_not_count(
    method_table: Any,
) -> None:
    dlopt.register("dag", "late", late, objectives=("makespan",))
    compared = dlopt.compare(chain(known(7, 7)), ["late"], certified=True)
    assert compared.certified and compared.stated == () and compared.rows[0].gap_to_best is None
