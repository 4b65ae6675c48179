"""Best known values: a file that says what results refute is told so, and no other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlopt import compare, read
from dlopt.best_known_check import contradictions
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import BestKnown
from dlopt.result import Objective, Result, Status

SHORT, MANY = Objective("completion", "min"), Objective("accepted", "max")
PLAN = object()
SHIPPED = Path(__file__).parents[1] / "instances"
F = Fraction


def known(**fields: Any) -> BestKnown:
    return BestKnown(**({"objective": "completion", "plan_class": "single"} | fields))


def plan(value: Any, **fields: Any) -> Result[Any]:
    given = {"method": "m", "plan_class": "single"} | fields
    return Result(Status.FEASIBLE, PLAN, value=value, **given)


def proof(bound: Any, plan_class: Any = "single", method: str = "p") -> Result[Any]:
    return Result(Status.BOUND, bound=bound, plan_class=plan_class, method=method)


def told(best: BestKnown, *results: Result[Any], goal: Objective = SHORT) -> list[tuple[Any, ...]]:
    found = contradictions([best], goal, results)
    assert all(wrong.known is best for wrong in found)
    return [(wrong.kind, wrong.method, wrong.found) for wrong in found]


def test_a_plan_that_is_better_than_value_or_bound() -> None:
    assert told(known(value=5, bound=4), plan(5), plan(6)) == []
    assert told(known(value=5, bound=4), plan(4)) == [("better-plan", "m", 4)]
    assert told(known(value=5, bound=4), plan(3)) == [("plan-beyond-bound", "m", 3)]
    assert told(known(bound=4), plan(3)) == [("plan-beyond-bound", "m", 3)]
    assert told(known(bound=4), plan(5)) == told(known(), plan(1)) == []
    more = known(objective="accepted", value=3, bound=3)
    assert told(more, plan(4), goal=MANY) == [("plan-beyond-bound", "m", 4)]
    assert told(more, plan(2), goal=MANY) == []


def test_dates_count_from_the_origin_of_the_results() -> None:
    """At 1.7e9 seconds a millionth of the date is half an hour."""
    late = known(value=1.7e9 + 20.0)
    assert told(late, plan(1.7e9 + 10.0, origin=1.7e9)) == [("better-plan", "m", 1.7e9 + 10.0)]
    assert told(late, plan(1.7e9 + 10.0)) == []
    early = known(value=1.7e9 + 5.0)
    bound = replace(proof(1.7e9 + 10.0), origin=1.7e9)
    assert told(early, bound) == [("value-beyond-bound", "p", 1.7e9 + 10.0)]


def test_a_value_that_is_better_than_a_proof() -> None:
    assert told(known(value=5), proof(5), plan(7, bound=4)) == []
    assert told(known(value=5), proof(6)) == [("value-beyond-bound", "p", 6)]
    assert told(known(bound=5), proof(6)) == []  # weaker, not wrong
    more = known(objective="accepted", value=3)
    assert told(more, proof(2), goal=MANY) == [("value-beyond-bound", "p", 2)]


def test_a_value_where_it_is_proven_that_there_is_no_plan() -> None:
    none: Result[Any] = Result(Status.INFEASIBLE, method="exact", plan_class="single")
    assert told(known(value=5), none) == [("no-plan", "exact", None)]
    assert told(known(value=5), replace(none, method="feasibility")) == []  # not all tasks
    assert told(known(bound=5), none) == []
    (wrong,) = contradictions([known(value=5)], SHORT, [none])
    assert str(wrong).endswith("exact proves that there is no plan, and its value is 5")


def test_the_best_plan_and_the_strictest_proof_are_told_once() -> None:
    results = [plan(4, method="a"), plan(3, method="b"), proof(8), proof(9, method="q"), proof(7)]
    assert told(known(value=5, bound=5), *results) == [
        ("plan-beyond-bound", "b", 3),
        ("value-beyond-bound", "q", 9),
    ]


@pytest.mark.parametrize(
    ("inner", "outer", "holds"),
    [
        ("single", "single", True),
        ("single", "any", True),
        ("single", "k", True),
        ("k", "any", True),
        ("any", "any", True),
        ("any", "single", False),
        ("k", "single", False),
        ("k", "k", False),  # of another k, perhaps
        ("single", None, False),
        (None, "any", False),
    ],
)
def test_only_classes_that_hold_one_another_are_compared(
    inner: Any, outer: Any, holds: bool
) -> None:
    if outer is not None:
        assert bool(told(known(value=5, plan_class=outer), plan(4, plan_class=inner))) is holds
    if inner is not None:
        assert bool(told(known(value=5, plan_class=inner), proof(6, outer))) is holds


def test_floats_may_be_off_and_exact_numbers_not() -> None:
    assert told(known(value=5), plan(5 - F(1, 10**9)))
    assert told(known(value=5.0), plan(5 - F(1, 10**9))) == []
    assert told(known(value=5, bound=5), plan(4.999999), proof(5.000001)) == []
    assert told(known(value=5, bound=5), plan(4.9999))
    assert told(known(value=0), proof(0)) == told(known(value=0.0), plan(0)) == []


def test_lexicographic_values_are_compared_level_by_level() -> None:
    best = known(value=(3, 2.5), bound=(3, 2))
    assert told(best, plan((3, 2.4))) == [("better-plan", "m", (3, 2.4))]
    assert told(best, plan((2, 9))) == [("plan-beyond-bound", "m", (2, 9))]
    assert told(best, plan((3.0000000001, 1.0))) == [
        ("plan-beyond-bound", "m", (3.0000000001, 1.0))
    ]
    assert told(best, plan((2.9999999999, 9.0))) == told(best, plan((4, 0))) == []
    assert told(best, plan(1)) == told(known(value=3), plan((1, 1))) == []
    (wrong,) = contradictions([best], SHORT, [plan((2, 9))])
    assert "value (2, 9), better than its bound (3, 2)" in str(wrong)


def test_levels_of_differing_sense_are_compared_each_in_its_own() -> None:
    mixed = Objective("few-much", "min", ("few", "much"), senses=("min", "max"))
    best = known(objective="few-much", value=(1, F(1, 2)), bound=(1, F(1, 2)))
    better = plan((1, F(3, 4)))
    assert told(best, better, goal=mixed) == [("plan-beyond-bound", "m", (1, F(3, 4)))]
    assert told(best, plan((1, F(1, 4))), plan((2, 1)), goal=mixed) == []
    assert told(best, proof((1, F(1, 4))), goal=mixed) == [
        ("value-beyond-bound", "p", (1, F(1, 4)))
    ]


def test_what_proves_nothing_is_left_out() -> None:
    assert told(known(value=5), replace(plan(4), status=Status.UNSOUND)) == []
    assert told(known(objective="nodes", value=5), plan(4)) == []
    assert told(known(value=5), proof(float("inf")), plan(4, plan_class=None)) == []
    assert told(known(value=5), Result(Status.UNKNOWN, method="m", plan_class="single")) == []


def test_what_is_shipped_is_not_contradicted() -> None:
    for stem, name in (("iit", "three-nodes"), ("admission", "two-of-three")):
        instance = read(SHIPPED / stem / f"{name}.json")
        assert instance.best_known and compare(instance).contradictions == ()


def test_compare_questions_the_best_known_values() -> None:
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, absolute_deadline=7)
    right = known(value="39/8", bound="39/8", method="by hand")
    assert compare(replace(instance, best_known=(right,)), ["exact"]).contradictions == ()
    wrong = known(value=4, bound=4, method="by hand")
    other = known(objective="nodes", value=1, bound=1)
    (found,) = compare(replace(instance, best_known=(wrong, other)), ["exact"]).contradictions
    assert (found.kind, found.method, found.found) == ("value-beyond-bound", "exact", F(39, 8))
    high = known(value=6, bound=5, plan_class="any")
    (found,) = compare(replace(instance, best_known=(high,)), ["opr", "exact"]).contradictions
    assert (found.kind, found.method) == ("plan-beyond-bound", "exact")
    (found,) = compare(replace(instance, best_known=(other,)), objective="nodes").contradictions
    assert found.kind == "value-beyond-bound"
