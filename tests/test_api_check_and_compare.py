"""check and compare: what is found in a plan, and how gaps are measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt import api, registry
from dlopt.api import check, compare, solve
from dlopt.errors import NotApplicableError
from dlopt.problems.iit import OBJECTIVES, Solution, violations
from dlopt.result import Result, Status, Violation
from dlopt.result_checker import InvalidResultError, default_tolerance, disproof
from tests.results import (
    ALONE,
    BEST,
    DEADLINE,
    DIFFER,
    FLOATS,
    HALF,
    INFINITE,
    LATE,
    NAN,
    ROOTS,
    THREE,
    Register,
    answers,
    valid,
)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Register:
    return answers(monkeypatch)


# check


def test_check_of_a_plan() -> None:
    assert check(THREE, ALONE) == ()
    assert check(THREE, HALF) == violations(THREE, HALF) != ()
    off = Solution((replace(ALONE.chunks[0], load=3 + 1e-8),))
    assert check(THREE, off) and check(THREE, off, 1e-6) == ()


def test_the_tolerance_is_that_of_the_instance_whatever_the_plan() -> None:
    near = Solution((replace(ALONE.chunks[0], load=3 + 1e-10),))
    assert default_tolerance(THREE) == 0 and default_tolerance(FLOATS) == 1e-9
    assert check(THREE, near) != () == check(THREE, near, 1e-9)
    assert check(FLOATS, near) == () != check(FLOATS, near, 0)
    inexact = replace(ALONE.chunks[0], load=3 + Fraction(1, 10**10))
    assert check(THREE, Solution((inexact,))) != () == check(FLOATS, Solution((inexact,)))


@dataclass(frozen=True)
class Strange:
    """Stands for the plan of another problem."""

    chunks: tuple[Any, ...] = ()


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"chunks": []}, "not a dict"),
        (None, "not a NoneType"),
        (ALONE.chunks, "not a tuple"),
        (Strange(), r"not a tests\..*\.Strange"),
        (valid(solution=Strange()), r"not a tests\..*\.Strange"),
    ],
)
def test_check_of_what_is_no_plan(plan: Any, told: str) -> None:
    told = rf"a plan of iit is a dlopt\.problems\.iit\.data\.Solution, {told}"
    for tolerance in (None, 1e-6):
        with pytest.raises(NotApplicableError, match=told):
            check(THREE, plan, tolerance)


def test_check_of_results() -> None:
    good = solve(THREE)
    assert check(THREE, good) == ()

    def found(**changes: Any) -> tuple[Violation, ...]:
        return check(THREE, replace(good, **changes))

    assert found(value=4) == (Violation("value", "completion", amount=Fraction(-7, 8)),)
    assert found(value=None) == (Violation("value", "completion"),)
    assert found(bound=5) == (Violation("bound", "completion", amount=Fraction(1, 8)),)
    unproven = (Violation("status", "optimal"),)
    assert found(bound=4) == found(bound=None) == unproven
    assert found(bound=4, status=Status.FEASIBLE) == ()
    assert found(status=Status.INFEASIBLE) == (Violation("status", "infeasible"),)
    assert found(solution=None) == unproven
    assert found(objective="speed") == (Violation("unknown-objective", "speed"),)
    assert found(objective="") == (Violation("unknown-objective", "none"),)
    feasible = {"status": Status.FEASIBLE, "bound": None}
    assert found(value=3, objective="nodes", **feasible) == ()
    for strange in (NAN, INFINITE, (BEST, BEST)):
        assert found(value=strange) == (Violation("value", "completion"),)
        assert found(bound=strange) == (Violation("bound", "completion"),)
    kinds = [v.kind for v in found(solution=HALF)]
    assert kinds == ["load-not-conserved", "value", "bound"]
    assert "load-not-conserved" in [v.kind for v in found(solution=Solution(()))]


def test_the_tolerance_of_check_is_the_results_own_or_the_callers() -> None:
    near = replace(solve(THREE), value=float(BEST) + 1e-8, tolerance=1e-6)
    assert check(THREE, near) == ()
    assert [v.kind for v in check(THREE, near, 0)] == ["value"]
    assert check(THREE, near, 1e-9) != ()


def test_a_result_without_a_plan_has_nothing_to_check() -> None:
    assert check(LATE, solve(LATE)) == () == check(THREE, solve(THREE, "bound-fluid"))


# compare


def test_compare_measures_gaps_from_the_optimum() -> None:
    table = compare(THREE)
    assert table.instance is THREE and table.objective == "completion" and table.skipped == ()
    assert table.reference is not None and table.reference.value == BEST
    names = [row.method.name for row in table.rows]
    assert names == [m.name for m in registry.methods("iit") if not m.literal]
    gaps = {row.method.name: row.gap_to_best for row in table.rows}
    assert gaps["exact"] == gaps["edf-iit-2"] == 0
    assert gaps["opr"] == pytest.approx(Fraction(32, 5) / BEST - 1)
    assert gaps["epr"] == pytest.approx(7 / BEST - 1)
    assert gaps["bound-fluid"] is None
    for row in table.rows:
        assert row.result.method == row.method.name and row.result.objective == "completion"


def test_compare_says_what_it_left_out_and_why() -> None:
    table = compare(DIFFER, literal=True)
    assert {row.method.name for row in table.rows} == {"equal-finish", "exact", "bound-fluid"}
    why = dict(table.skipped)
    assert why["opr"] == why["edf-iit-2"] == why["opr:literal-timeline"] == "its nodes differ"
    assert why["epr:literal-roots"] == "does not support objective 'completion'"
    nodes = compare(DEADLINE, objective="nodes", literal=True)
    assert dict(nodes.skipped) == {
        "opr:literal-timeline": "does not support objective 'nodes'",
        "epr:literal-roots": "its transmissions have no set-up cost",
        "bound-fluid": "does not support objective 'nodes'",
    }


def test_compare_of_named_methods_keeps_their_order() -> None:
    table = compare(THREE, ["exact", "epr"])
    assert [row.method.name for row in table.rows] == ["exact", "epr"]
    alone = compare(THREE, ["epr"])
    assert alone.reference is None and alone.rows[0].gap_to_best is None
    assert compare(THREE, []).rows == ()
    twice = compare(THREE, ["epr", "opr", "epr"])
    assert [row.method.name for row in twice.rows] == ["epr", "opr"]


def test_compare_without_a_proven_optimum_measures_from_the_bound(answering: Register) -> None:
    answering(valid(bound=6), kind="exact", claim="optimal", plan_class="single")
    table = compare(THREE, ["own", "epr"])
    assert table.gap_reference == "bound"
    gaps = {row.method.name: row.gap_to_best for row in table.rows}
    assert gaps == {"own": pytest.approx(1 / 2), "epr": pytest.approx(1 / 6)}
    answering(valid(), kind="exact", claim="optimal", plan_class="single")
    assert {row.gap_to_best for row in compare(THREE, ["own", "epr"]).rows} == {None}


def test_compare_holds_no_wider_plan_against_a_narrower_optimum(answering: Register) -> None:
    answering(valid(plan_class="any"))
    rows = {row.method.name: row.gap_to_best for row in compare(THREE, ["exact", "own"]).rows}
    assert rows == {"exact": 0, "own": None}


def test_compare_holds_no_plan_of_other_chunks_against_an_optimum(answering: Register) -> None:
    answering(valid(bound=9, plan_class="k", installments=2), kind="exact", claim="optimal")
    registry.register("iit", "three", lambda *_, **__: valid(plan_class="k", installments=3))
    rows = {row.method.name: row.gap_to_best for row in compare(THREE, ["own", "three"]).rows}
    assert rows == {"own": 0, "three": None}


def test_compare_refutes_a_bound_that_the_plan_of_another_method_beats(
    answering: Register,
) -> None:
    answering(Result(Status.BOUND, bound=5, plan_class="any"), kind="bound", plan_class="any")
    table = compare(THREE, ["opr", "own", "edf-iit-2"])
    rows = {row.method.name: row for row in table.rows}
    assert rows["own"].result is None and isinstance(rows["own"].error, InvalidResultError)
    assert "but the checked plan of edf-iit-2 has the value 39/8" in str(rows["own"].failure)
    assert rows["opr"].result is not None and rows["edf-iit-2"].result is not None
    answering(Result(Status.BOUND, bound=BEST, plan_class="any"), kind="bound", plan_class="any")
    assert all(row.result for row in compare(THREE, ["opr", "own", "edf-iit-2"]).rows)


def test_what_the_plans_of_others_disprove() -> None:
    goal = OBJECTIVES["completion"]
    plan = valid(method="plan")
    none = Result(Status.INFEASIBLE, method="exact", reason="none", plan_class="any")
    assert "no plan exists" in str(disproof(goal, none, [plan]))
    assert disproof(goal, replace(none, method="feasibility"), [plan]) is None
    bound = Result(Status.BOUND, bound=10, plan_class="single")
    assert "no plan is better than 10" in str(disproof(goal, bound, [plan]))
    assert disproof(goal, replace(bound, bound=9), [plan]) is None
    unknown = Result(Status.UNKNOWN, reason="none was found", plan_class="single")
    flawed = valid(status=Status.UNSOUND, violations=violations(THREE, HALF))
    for other in (unknown, flawed, replace(plan, plan_class="any")):
        assert disproof(goal, bound, [other]) is None


def test_compare_of_what_cannot_be_done() -> None:
    table = compare(LATE)
    assert table.reference is not None and table.reference.status is Status.INFEASIBLE
    assert {row.gap_to_best for row in table.rows} == {None}


def test_compare_shows_the_unsound_beside_the_others() -> None:
    rows = {r.method.name: r for r in compare(ROOTS, objective="nodes", literal=True).rows}
    unsound = rows["epr:literal-roots"]
    assert unsound.result.status is Status.UNSOUND and unsound.result.violations
    assert rows["exact"].result.status is Status.OPTIMAL and rows["exact"].result.value == 2


def test_every_public_name_of_the_door() -> None:
    import dlopt

    assert (dlopt.solve, dlopt.check, dlopt.compare) == (api.solve, api.check, api.compare)
    assert dlopt.InvalidResultError is api.InvalidResultError
