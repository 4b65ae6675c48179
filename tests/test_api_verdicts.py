"""solve: what an answer is held against, and what becomes of one that the rules refute."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.api import InvalidResultError, check, compare, solve
from dlopt.errors import SolverError
from dlopt.problems.iit import Instance, Solution, violations
from dlopt.result import Result, Status, Violation
from tests.results import (
    ALONE,
    FLOATS,
    HALF,
    INFINITE,
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


def test_solutions_are_recomputed_not_believed(answering: Register) -> None:
    answering(valid(value=9.000001, method="liar", objective="nodes", seed=9, runtime_s=1e9))
    text = r"it reports completion 9\.000001, but the schedule has completion 9$"
    with pytest.raises(InvalidResultError, match=text):
        solve(THREE, "own")
    answering(valid(method="liar", objective="nodes", seed=9, runtime_s=1e9, tolerance=0.5))
    result = solve(THREE, "own", seed=2)
    assert (result.method, result.objective, result.seed) == ("own", "completion", 2)
    assert result.tolerance == 0 and result.runtime_s is not None and result.runtime_s < 1e9


# tolerances


@pytest.mark.parametrize(
    ("instance", "method", "tolerance"),
    [
        (THREE, "exact", 0),
        (THREE, "edf-iit-2", 0),
        (THREE, "bound-fluid", 0),
        (FLOATS, "edf-iit-2", 1e-9),
        (FLOATS, "opr", 1e-9),
        (FLOATS, "exact", 1e-6),
        (FLOATS, "bound-fluid", 1e-6),
    ],
)
def test_the_tolerance_of_the_check_is_recorded(
    instance: Instance, method: str, tolerance: float
) -> None:
    result = solve(instance, method)
    assert result.tolerance == tolerance
    numbers = [n for n in (result.value, result.bound) if n is not None]
    assert numbers and all(isinstance(n, float) == (instance is FLOATS) for n in numbers)
    assert check(instance, result) == ()


@pytest.mark.parametrize(("kind", "off", "invalid"), [
    ("heuristic", 1e-10, False),
    ("heuristic", 1e-7, True),
    ("exact", 1e-7, False),
    ("exact", 1e-5, True),
])  # fmt: skip
def test_floats_may_be_off_by_the_tolerance_of_their_kind(
    answering: Register, kind: str, off: float, invalid: bool
) -> None:
    plan = Solution((replace(ALONE.chunks[0], load=3 * (1 + off)),))
    answering(valid(solution=plan, value=9.0), kind=kind)
    if invalid:
        with pytest.raises(InvalidResultError, match="transmission-duration"):
            solve(FLOATS, "own")
    else:
        result = solve(FLOATS, "own")
        assert result.value == 9.0 and result.violations == ()


def test_a_float_in_the_plan_of_an_exact_instance_is_checked_as_a_float(
    answering: Register,
) -> None:
    answering(valid(solution=Solution((replace(ALONE.chunks[0], load=3.0),))))
    assert solve(THREE, "own").tolerance == 1e-9


# what "optimal" takes


def test_optimal_without_an_equal_bound_is_only_feasible(answering: Register) -> None:
    for bound in (None, 8):
        answering(valid(status=Status.OPTIMAL, bound=bound), claim="optimal")
        result = solve(THREE, "own")
        assert result.status is Status.FEASIBLE and result.reason == "value and bound differ"
        assert result.bound == bound
    answering(valid(status=Status.OPTIMAL, bound=9), claim="optimal")
    assert solve(THREE, "own").status is Status.OPTIMAL


def test_a_bound_in_exact_numbers_proves_nothing_unless_it_is_the_value(
    answering: Register,
) -> None:
    near = Fraction(9) - Fraction(1, 10**12)
    answering(valid(status=Status.OPTIMAL, bound=near), claim="optimal")
    result = solve(THREE, "own")
    assert result.status is Status.FEASIBLE and result.bound == near
    assert [v.kind for v in check(THREE, replace(result, status=Status.OPTIMAL))] == ["status"]
    answering(valid(status=Status.OPTIMAL, bound=float(near)), claim="optimal")
    assert solve(THREE, "own").status is Status.OPTIMAL
    answering(
        valid(status=Status.OPTIMAL, bound=Fraction(9) + Fraction(1, 10**12)), claim="optimal"
    )
    with pytest.raises(InvalidResultError, match="beyond its bound"):
        solve(THREE, "own")


def test_a_bound_beyond_the_value_by_rounding_is_weakened(answering: Register) -> None:
    """In exact numbers other plans may be as much better than it says; in floats, within 1e-6."""
    answering(valid(status=Status.OPTIMAL, bound=9 + 1e-8), claim="optimal")
    result = solve(THREE, "own")
    assert result.status is Status.OPTIMAL
    assert 9 * (1 - 1e-6) < result.bound <= (9 + 1e-8) * (1 - 1e-6)
    result = solve(FLOATS, "own")
    assert result.status is Status.OPTIMAL and result.bound == 9 and result.gap == 0


# refuted answers

INVALID = {
    "invalid plan": (valid(solution=HALF, value=Fraction(9, 2)), "load-not-conserved on load by 3"),
    "empty plan": (valid(solution=Solution(()), value=0), "load-not-conserved on load by 3"),
    "wrong value": (valid(value=8), "it reports completion 8, but the schedule has completion 9"),
    "no value": (valid(value=None), "it reports no completion, but the schedule has"),
    "value that is no number": (valid(value=NAN), "it reports completion nan, but the schedule"),
    "endless value": (valid(value=INFINITE), "it reports completion inf, but the schedule"),
    "value of two levels": (valid(value=(9, 9)), ", but the schedule has completion 9"),
    "optimal without a plan": (Result(Status.OPTIMAL, value=9), "says optimal and has no plan"),
    "feasible without a plan": (Result(Status.FEASIBLE, value=9), "has no plan"),
    "a plan beside unknown": (valid(status=Status.UNKNOWN), "says unknown and has a plan"),
    "bound": (valid(bound=9), "cannot prove a bound"),
    "infeasible": (Result(Status.INFEASIBLE), "cannot prove infeasibility"),
}  # fmt: skip


@pytest.mark.parametrize(("answer", "told"), INVALID.values(), ids=INVALID.keys())
def test_refuted(answering: Register, answer: Result[Solution], told: str) -> None:
    answering(answer)
    with pytest.raises(InvalidResultError, match=told) as caught:
        solve(THREE, "own")
    assert isinstance(caught.value, SolverError)
    assert caught.value.instance is THREE
    assert caught.value.result.method == "own"
    assert caught.value.result.solution == answer.solution
    (row,) = compare(THREE, ["own"]).rows
    assert row.invalid and row.result is None and told in str(row.failure)


BOUNDS = {
    "beyond the value": (10, "a plan of value 9 beyond its bound 10"),
    "no number": (NAN, "beyond its bound nan"),
    "of two levels": ((9, 9), "beyond its bound"),
}


@pytest.mark.parametrize(("bound", "told"), BOUNDS.values(), ids=BOUNDS.keys())
def test_refuted_bounds(answering: Register, bound: Any, told: str) -> None:
    answering(valid(bound=bound), claim="optimal")
    with pytest.raises(InvalidResultError, match=told):
        solve(THREE, "own")


def test_a_bound_that_is_no_number_to_compare_with_is_refuted_in_floats(
    answering: Register,
) -> None:
    for bound in ((9.0, 9.0), math.inf):
        answering(valid(bound=bound), kind="exact", claim="optimal")
        with pytest.raises(InvalidResultError, match="beyond its bound"):
            solve(FLOATS, "own")


def test_a_refuted_answer_carries_its_violations(answering: Register) -> None:
    answering(valid(solution=HALF, value=Fraction(9, 2)))
    with pytest.raises(InvalidResultError) as caught:
        solve(THREE, "own")
    lost = Violation("load-not-conserved", "load", amount=Fraction(3, 2))
    assert caught.value.result.violations == (lost,)


def test_a_claim_of_optimality_may_say_infeasible(answering: Register) -> None:
    answering(Result(Status.INFEASIBLE, reason="so"), claim="optimal")
    assert solve(THREE, "own").status is Status.INFEASIBLE


# literal methods


def test_literal_methods_are_shown_unsound() -> None:
    result = solve(ROOTS, "epr:literal-roots")
    assert result.status is Status.UNSOUND and result.objective == "nodes"
    assert result.value == 2 and result.bound is None and result.gap is None
    assert {v.kind for v in result.violations} == {"deadline"}
    assert result.violations == violations(ROOTS, result.solution)


def test_a_literal_method_keeps_the_value_that_it_claims(answering: Register) -> None:
    answering(valid(value=4, bound=4, status=Status.OPTIMAL), claim="literal-unsound")
    result = solve(THREE, "own")
    assert result.status is Status.UNSOUND and result.value == 4 and result.bound is None
    assert result.violations == ()
    assert check(THREE, result) == (Violation("value", "completion", amount=-5),)
    answering(valid(solution=Solution(()), value=0), claim="literal-unsound")
    assert solve(THREE, "own").status is Status.UNSOUND


def test_a_literal_method_may_be_right() -> None:
    result = solve(replace(ROOTS, absolute_deadline=60), "epr:literal-roots")
    assert result.status is Status.FEASIBLE and result.violations == ()
