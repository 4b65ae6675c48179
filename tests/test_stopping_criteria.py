"""Stopping criteria: searches that end once they are good enough, and results that say so."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import dlopt
from dlopt import Limits, Result, Status, registry, solve
from dlopt.errors import NotApplicableError
from dlopt.incumbents import offer
from dlopt.interruption import ended_by
from dlopt.result import Objective
from dlopt.stopping_criteria import StoppingCriteria
from tests.method_table import MethodTable
from tests.results import ALONE, BEST, THREE
from tests.test_progress import LONG_SEARCHES, PATIENCE_S, wait_for_released_solvers


@pytest.fixture(autouse=True)
def released() -> Iterator[None]:
    """No search of a test goes on after it: a command in this process would end it."""
    yield
    wait_for_released_solvers()


def register_search(found: Result[Any]) -> None:
    """Register a method that offers a result at once, and then searches until it is given up."""

    def search(instance: Any, *, objective: str, **_: Any) -> Result[Any]:
        offer(instance, objective, "searching", lambda: found)
        given_up = threading.Event()
        with ended_by(given_up.set):
            given_up.wait(PATIENCE_S)
        raise AssertionError("it was not given up")

    dlopt.register("iit", "searching", search, kind="exact", claim="optimal")


@pytest.fixture
def searching(method_table: MethodTable) -> None:
    """A method that has found a schedule at once."""
    register_search(Result(Status.FEASIBLE, ALONE, value=9, bound=4, plan_class="single"))


@pytest.mark.usefixtures("searching")
@pytest.mark.parametrize(
    ("limits", "stopped_by", "reason"),
    [
        (Limits(target_value=9), "target-value", "its value is as good as the target"),
        (Limits(target_value=Fraction(19, 2)), "target-value", "as good as the target"),
        (Limits(no_improvement_s=0.3), "no-improvement", "no better schedule within 0.3 s"),
        (Limits(target_value=3, no_improvement_s=0.3), "no-improvement", "no better schedule"),
        (Limits(time_s=0.1), "time", "given up: searching overran its limit of 0.1 s"),
        (Limits(time_s=0.1, target_value=3), "time", "given up: searching overran"),
    ],
)
def test_a_search_is_ended_by_each_criterion(limits: Limits, stopped_by: str, reason: str) -> None:
    result = solve(THREE, "searching", limits=limits)
    assert (result.status, result.stopped_by) == (Status.FEASIBLE, stopped_by)
    assert (reason in str(result.reason) and result.value == 9) or result.value == BEST


@pytest.mark.parametrize("case", LONG_SEARCHES)
def test_every_exact_method_ends_at_a_target(case: str) -> None:
    instance, method = LONG_SEARCHES[case]
    module = registry.problem_of(instance).module
    goal = module.OBJECTIVES[module.default_objective(instance)]
    easy = 0 if goal.sense == "max" else 10**9
    limits = Limits(target_value=(easy,) * len(goal.levels) if goal.levels else easy)
    result = solve(instance, method, limits=limits)
    assert result.stopped_by == "target-value" and result.solution is not None
    assert "as good as the target" in str(result.reason)


def test_a_request_is_said() -> None:
    stop = threading.Event()
    stop.set()
    assert solve(THREE, stop=stop).stopped_by == "request"


def test_what_is_proven_was_not_stopped() -> None:
    limits = Limits(time_s=PATIENCE_S, work=10**9, gap=0.5, target_value=-1, no_improvement_s=99)
    result = solve(THREE, limits=limits)
    assert (result.status, result.stopped_by) == (Status.OPTIMAL, None)
    assert solve(THREE, "opr").stopped_by is None


@pytest.mark.usefixtures("method_table")
def test_what_is_proven_when_the_method_is_given_up_was_not_stopped() -> None:
    register_search(solve(THREE))
    result = solve(THREE, "searching", limits=Limits(time_s=0.1))
    assert (result.status, result.stopped_by) == (Status.OPTIMAL, None)
    assert "given up" not in str(result.reason)


def test_methods_observe_gap_work_and_time_themselves() -> None:
    goal = Objective("load", "max")
    half = Result(Status.FEASIBLE, "plan", value=4, bound=6)
    unknown = Result(Status.LIMIT)
    criteria = StoppingCriteria(goal, Limits(gap=0.5, work=3, time_s=10))
    assert criteria.limit_of(half, "exact", 1) == "gap"
    assert criteria.limit_of(unknown, "exact", 9.9) == "time"
    assert criteria.limit_of(unknown, "exact", 1) == "work"
    assert criteria.limit_of(unknown, "heuristic", 1) is None
    assert criteria.limit_of(Result(Status.INFEASIBLE), "exact", 11) is None
    none = StoppingCriteria(goal, Limits())
    assert none.limit_of(half, "exact", 99) is None and not none.are_watched


def test_levels_are_compared_in_their_order() -> None:
    goal = Objective("both", "max", ("count", "load"))
    criteria = StoppingCriteria(goal, Limits(target_value=(3, 5)))
    reached = {
        value: criteria.reached(Result(Status.FEASIBLE, "plan", value=value), 0)
        for value in ((3, 4), (3, 5), (4, 0), (2, 9))
    }
    assert [value for value, by in reached.items() if by == "target-value"] == [(3, 5), (4, 0)]
    for target in (3, (3,), (1, 2, 3)):
        with pytest.raises(NotApplicableError, match="must be a tuple of count, load for both"):
            StoppingCriteria(goal, Limits(target_value=target))
    with pytest.raises(NotApplicableError, match=r"must be a number for completion, got \(1, 2\)"):
        solve(THREE, limits=Limits(target_value=(1, 2)))


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"target_value": "3"}, "target_value .--target-value. must be a finite number, or a t"),
        ({"target_value": float("nan")}, "target_value"),
        ({"target_value": ()}, "target_value"),
        ({"no_improvement_s": 0}, "no_improvement_s .--no-improvement. must be a positive"),
        ({"no_improvement_s": "1"}, "no_improvement_s"),
    ],
)
def test_limits_that_are_wrong(limits: dict[str, Any], message: str) -> None:
    with pytest.raises(NotApplicableError, match=message):
        Limits(**limits)
