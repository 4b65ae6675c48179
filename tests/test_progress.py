"""A solve tells its checked progress while it searches, and can be stopped with what it knows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from dlopt import Limits, check, generate, io, registry, solve
from dlopt.errors import NotApplicableError
from dlopt.incumbents import offer
from dlopt.interruption import ended_by, still_working, within
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.progress_reports import ProgressReports, improvement
from dlopt.result import Objective, Result, Status
from tests.method_table import MethodTable

PATIENCE_S = 120.0
"""How long a test waits for what comes soon: a protection against a test that hangs."""
THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
INSTANCES = Path(__file__).parents[1] / "instances"
LONG_SEARCHES = {
    "iit": (generate("iit", "random", nodes=20, spread=5, seed=3), "exact"),
    "admission": (generate("admission", "small", tasks=9, seed=2), "exact"),
    "multistage": (generate("multistage", "small", tasks=14, seed=1), "exact"),
    "coreservation": (generate("coreservation", "overloaded", requests=60, seed=1), "exact"),
    "dag": (generate("dag", "layered", tasks=40, seed=1), "exact"),
    "bag": (generate("bag", "braun", seed=1), "exact"),
    "bag by a MILP": (generate("bag", "braun", seed=1), "milp"),
}
"""Searches that take from seconds to hours."""


@contextmanager
def stopped_in_the_end() -> Iterator[threading.Event]:
    """Give an event that is set after `PATIENCE_S`, so that no search goes on for ever."""
    stop = threading.Event()
    timer = threading.Timer(PATIENCE_S, stop.set)
    timer.start()
    try:
        yield stop
    finally:
        timer.cancel()


def wait_for_released_solvers() -> None:
    """Wait until no solver goes on whose answer nobody wants."""
    turn = threading.Event()
    for _ in range(round(PATIENCE_S / 0.05)):
        if not still_working():
            return
        turn.wait(0.05)
    raise AssertionError("a solver goes on after a stop")


def no_worse(goal: Objective, later: Result[Any], earlier: Result[Any]) -> bool:
    """Tell whether neither value nor bound of a result is worse than those of another."""
    has_value, has_bound = earlier.value is not None, earlier.bound is not None
    value = not has_value or not goal.better(earlier.value, later.value)
    return value and (not has_bound or not goal.better(later.bound, earlier.bound))


@pytest.mark.parametrize("case", LONG_SEARCHES)
def test_a_stopped_search_gives_its_best_checked_plan_and_bound(case: str) -> None:
    instance, method = LONG_SEARCHES[case]
    told: list[Result[Any]] = []
    with stopped_in_the_end() as stop:

        def tell(found: Result[Any]) -> None:
            told.append(found)
            if found.bound is not None:
                stop.set()

        result = solve(instance, method, progress=tell, stop=stop)
    goal = registry.problem_of(instance).module.OBJECTIVES[result.objective]
    assert told and told[-1].solution is not None and told[-1].bound is not None
    assert result.status is Status.FEASIBLE
    assert result.reason is not None and result.reason.startswith("stopped; ")
    for found in (*told, result):
        assert check(instance, found) == () and found.method == method
        assert found.runtime_s is not None and found.runtime_s > 0
    assert all(no_worse(goal, later, earlier) for earlier, later in pairwise([*told, result]))
    wait_for_released_solvers()


def test_progress_of_a_search_that_comes_to_its_end() -> None:
    instance = generate("dag", "layered", tasks=25, seed=1)
    told: list[Result[Any]] = []
    result = solve(instance, progress=told.append)
    assert result == solve(instance) and result.status is Status.OPTIMAL
    assert (told[-1].value, told[-1].bound) == (result.value, result.bound)


@pytest.mark.parametrize(
    ("stem", "file"),
    [
        ("coreservation", "six-items"),
        ("coreservation", "four-shapes"),
        ("iit", "different-6"),
        ("bag", "small-grid"),
    ],
)
def test_who_listens_does_not_change_the_answer(stem: str, file: str) -> None:
    instance = io.read(INSTANCES / stem / f"{file}.json")
    told: list[Result[Any]] = []
    result = solve(instance, progress=told.append, stop=threading.Event())
    assert result == solve(instance) and told
    assert (told[-1].value, told[-1].bound) == (result.value, result.bound)


def test_a_heuristic_tells_its_answer_once() -> None:
    told: list[Result[Any]] = []
    result = solve(THREE, "opr", progress=told.append)
    assert [found.value for found in told] == [result.value]


class DiskFullError(Exception):
    """What a callback may raise."""


@pytest.mark.parametrize("instance", [LONG_SEARCHES["dag"][0], THREE], ids=["long", "short"])
def test_what_a_callback_raises_is_raised_by_solve(instance: Any) -> None:
    calls: list[Result[Any]] = []

    def fail(found: Result[Any]) -> None:
        calls.append(found)
        raise DiskFullError("no space for more progress")

    with stopped_in_the_end() as stop, pytest.raises(DiskFullError, match="no space"):
        solve(instance, progress=fail, stop=stop)
    assert len(calls) == 1
    wait_for_released_solvers()


def test_a_solve_that_is_stopped_before_it_starts() -> None:
    stop, told = threading.Event(), []
    stop.set()
    result = solve(THREE, progress=told.append, stop=stop)
    assert (result.status, result.reason, result.solution) == (Status.LIMIT, "stopped", None)
    assert told == []
    hint = solve(THREE, "opr").solution
    result = solve(THREE, hint=hint, stop=stop, limits=Limits(time_s=PATIENCE_S))
    assert (result.status, result.solution) == (Status.FEASIBLE, hint)
    assert check(THREE, result) == () and result.reason == "stopped"
    with pytest.raises(NotApplicableError, match="no valid plan"):
        solve(Instance(THREE.cluster, (0, 1, 4), load=4), hint=hint, stop=stop)


def test_a_stop_before_the_first_plan(method_table: MethodTable) -> None:
    begun = threading.Event()

    def method(instance: Instance, **_: Any) -> Result[Any]:
        begun.set()
        while True:
            pass

    registry.register("iit", "endless", method, kind="heuristic", claim="sound")
    with stopped_in_the_end() as stop:
        threading.Thread(target=lambda: (begun.wait(PATIENCE_S), stop.set())).start()
        result = solve(THREE, "endless", stop=stop)
    assert (result.status, result.reason) == (Status.LIMIT, "stopped")
    wait_for_released_solvers()


def test_an_offer_that_cannot_be_checked_is_not_told(method_table: MethodTable) -> None:
    offered = threading.Event()
    best = solve(THREE)

    def answer() -> Result[Any]:
        offered.set()
        return Result(Status.OPTIMAL, best.solution, value=best.value, bound=best.value + 1)

    def method(instance: Instance, **_: Any) -> Result[Any]:
        offer(instance, "completion", "hasty", answer)
        offered.wait(PATIENCE_S)
        return best

    registry.register("iit", "hasty", method, kind="exact", claim="optimal")
    told: list[Result[Any]] = []
    assert solve(THREE, "hasty", progress=told.append).value == best.value
    assert {found.bound for found in told} <= {None, best.bound}


@pytest.mark.parametrize("wrong", [{"progress": "told"}, {"stop": True}], ids=["progress", "stop"])
def test_what_is_no_callback_and_no_event_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(NotApplicableError, match="is a "):
        solve(THREE, **wrong)


def test_plan_and_bound_of_other_classes_are_not_put_together() -> None:
    goal = Objective("completion", "min")
    plan: Result[Any] = Result(Status.FEASIBLE, "plan", value=5, plan_class="any")
    other: Result[Any] = Result(Status.FEASIBLE, "chunks", value=6, bound=4, plan_class="single")
    assert improvement(goal, plan, other) is None
    same: Result[Any] = Result(Status.FEASIBLE, "chunks", value=6, bound=4, plan_class="any")
    joined = improvement(goal, plan, same)
    assert joined is not None
    assert (joined.solution, joined.value, joined.bound) == ("plan", 5, 4)
    assert improvement(goal, joined, other) is None


def test_reports_after_the_end_are_not_made() -> None:
    told: list[Result[Any]] = []
    offers = [Result(Status.FEASIBLE, "plan", value=5)]
    goal = Objective("completion", "min")
    reports = ProgressReports(goal, lambda: offers, lambda found: found, told.append)
    reports.end()
    best = reports.best_at_end()
    assert best is not None and best.value == 5 and told == []


def test_a_call_that_can_be_ended_is_ended_and_nothing_is_raised_in_it() -> None:
    asked, left = threading.Event(), threading.Event()

    def call() -> None:
        with ended_by(asked.set):
            asked.wait(PATIENCE_S)
            for _ in range(10_000):  # Python code that compiled code calls
                pass
            left.set()
        while True:
            pass

    with pytest.raises(TimeoutError):
        within(PATIENCE_S, call, lambda: True)
    assert left.wait(PATIENCE_S) and asked.is_set()
    wait_for_released_solvers()
