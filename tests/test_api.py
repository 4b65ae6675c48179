"""solve: statuses, hints and limits, and what does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from dlopt import method_run, registry
from dlopt.api import check, compare, solve
from dlopt.errors import NotApplicableError
from dlopt.generation import generate
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution, objective, violations
from dlopt.result import Limits, Result, Status
from tests.method_table import MethodTable
from tests.results import (
    ALONE,
    BEST,
    DEADLINE,
    DIFFER,
    HALF,
    LATE,
    ROOTS,
    THREE,
    valid,
)
from tests.strategies import iit


def hard(nodes: int = 12) -> Instance:
    """Return an instance whose optimum takes minutes to prove."""
    instance = generate("iit", "random", nodes=nodes, spread=5, seed=3)
    assert isinstance(instance, Instance)
    return instance


# statuses


@pytest.mark.parametrize("method", ["exact", "edf-iit-2"])
def test_optimal(method: str) -> None:
    result = solve(THREE, method)
    assert result.status is Status.OPTIMAL and result.value == result.bound == BEST
    assert result.gap == 0 and result.tolerance == 0 and result.violations == ()
    assert result.method == method and result.objective == "completion"
    assert result.runtime_s is not None and result.runtime_s > 0
    assert violations(THREE, result.solution) == () and result.plan_class == "single"


def test_exact_is_the_default() -> None:
    assert solve(THREE) == solve(THREE, "exact")


def test_feasible_has_no_bound() -> None:
    result = solve(THREE, "opr")
    assert result.status is Status.FEASIBLE and result.value == Fraction(32, 5)
    assert result.bound is None and result.gap is None


def test_bound_has_no_plan() -> None:
    result = solve(THREE, "bound-fluid")
    assert result.status is Status.BOUND and result.bound == Fraction(14, 3)
    assert result.solution is None and result.value is None and result.tolerance == 0


def test_only_optimal_claims_say_infeasible() -> None:
    said = set()
    for method in registry.methods("iit"):
        if method.literal or method.kind == "bound":
            continue
        result = solve(LATE, method.name)
        assert result.solution is None and result.value is None and result.reason
        proven = method.claim == "optimal"
        assert result.status is (Status.INFEASIBLE if proven else Status.UNKNOWN)
        if proven:
            said.add(method.name)
            assert "5/3 of load 3 can be done" in result.reason
    assert said == {"exact", "edf-iit-2"}


@pytest.mark.property
@given(iit(deadline=True))
def test_whoever_says_infeasible_is_right_and_unknown_is_no_proof(instance: Instance) -> None:
    judge = solve(instance, "exact")
    closed = solve(instance, "edf-iit-2")
    assert closed.status is judge.status
    for name in ("opr", "epr", "edf-iit-1", "equal-finish"):
        result = solve(instance, name)
        assert result.status in (Status.FEASIBLE, Status.UNKNOWN)
        if judge.status is Status.INFEASIBLE:
            assert result.status is Status.UNKNOWN
        elif result.solution is not None:
            assert result.value >= judge.value and violations(instance, result.solution) == ()


def test_limit() -> None:
    instance = hard()
    done = solve(instance, "equal-finish").value
    assert isinstance(done, Fraction)
    # too early for any hint, and too little time for a model
    early = replace(instance, absolute_deadline=done * Fraction(999, 1000))
    result = solve(early, limits=Limits(time_s=1e-3))
    assert result.status is Status.LIMIT and result.solution is None and result.value is None
    assert result.reason is not None and "limit" in result.reason


# hints


def test_an_invalid_hint_is_refused() -> None:
    with pytest.raises(NotApplicableError, match="the hint is no valid plan: load-not-conserved"):
        solve(THREE, hint=HALF)
    early = Solution((Chunk(2, 3, 0, 3, 3, 9),))
    with pytest.raises(
        NotApplicableError, match="the hint is no valid plan: node-not-ready on node 2"
    ):
        solve(THREE, hint=early)
    with pytest.raises(NotApplicableError, match="the hint is no valid plan: deadline"):
        solve(LATE, hint=ALONE)


def test_a_valid_hint_is_the_answer_if_time_is_too_short() -> None:
    instance = hard()
    hint = solve(instance, "equal-finish")
    result = solve(instance, hint=hint.solution, limits=Limits(time_s=1e-3))
    assert result.status is Status.FEASIBLE and result.solution == hint.solution
    assert result.value == hint.value and result.reason


def test_a_hint_that_is_the_answer_has_the_tolerance_it_was_checked_with(
    method_table: MethodTable,
) -> None:
    cluster = Cluster(2, tau=1.0, chi=1.0)
    instance = Instance(cluster, (1000.0, 1000.0), load=3.0)
    solution = solve(instance, "edf-iit-2").solution
    assert solution is not None
    first, *rest = solution.chunks
    late = replace(first, computation_end=first.computation_end + 1e-6)
    hint = Solution((late, *rest))
    assert check(instance, hint) != ()

    def endless(*_: Any, **__: Any) -> Result[Any]:
        while True:
            pass

    exact = method_table["iit", "exact"]
    method_table["iit", "exact"] = replace(exact, target=endless, applies=None)
    result = solve(instance, hint=hint, limits=Limits(time_s=0.01))
    assert result.solution == hint and result.tolerance == 1e-6 and result.origin == 1000
    assert result.plan_class == "any"  # not that of the method: it may send several chunks a node
    assert check(instance, result) == ()


def test_hints_and_exact_method_share_the_time(
    monkeypatch: pytest.MonkeyPatch, method_table: MethodTable
) -> None:
    clock, given_limits = [0.0], {}
    monkeypatch.setattr(method_run.time, "perf_counter", lambda: clock[0])

    def slow(name: str, seconds: float) -> None:
        entry = registry.method("iit", name)

        def method(instance: Instance, *, limits: Limits, **_: Any) -> Result[Solution]:
            given_limits[name] = limits.time_s
            clock[0] += seconds
            return valid()

        method_table["iit", name] = replace(entry, target=method)

    slow("edf-iit-2", 3)
    slow("equal-finish", 4)
    slow("exact", 0)
    solve(THREE, limits=Limits(time_s=10))
    assert given_limits == pytest.approx({"edf-iit-2": 10 / 40, "equal-finish": 7 / 40, "exact": 3})
    given_limits.clear()
    solve(THREE, limits=Limits(time_s=2))  # spent by the first hint
    assert given_limits.keys() == {"edf-iit-2", "exact"} and given_limits["exact"] <= 1e-6
    solve(THREE)
    assert set(given_limits.values()) == {None}


def test_an_exact_method_with_no_time_left_hands_back_its_hint() -> None:
    result = solve(THREE, hint=ALONE, limits=Limits(time_s=1e-9))
    assert result.status is Status.FEASIBLE and result.solution == ALONE and result.reason


def test_the_best_heuristic_is_the_hint_by_default(method_table: MethodTable) -> None:
    given_hints = []
    entry = registry.method("iit", "exact")
    function = entry.load()

    def spy(instance: Instance, **arguments: Any) -> Result[Any]:
        given_hints.append(arguments["hint"])
        return function(instance, **arguments)

    method_table["iit", "exact"] = replace(entry, target=spy)
    assert solve(THREE).value == BEST
    assert objective(THREE, given_hints[-1]) == BEST
    # nodes that differ: one of the two heuristics does not apply
    differ = Instance(Cluster(2, tau=1, chi=(1, 2)), (0, 0), load=3)
    solve(differ)
    assert objective(differ, given_hints[-1]) == solve(differ, "equal-finish").value
    # no plan, no hint
    solve(LATE)
    assert given_hints[-1] is None
    solve(THREE, hint=ALONE)
    assert given_hints[-1] == ALONE


# what does not apply

ROOTS_WITHOUT = replace(ROOTS, absolute_deadline=None)
NOT_APPLICABLE = {
    "no instance": (lambda: solve({"load": 3}), "an instance is needed, not a dict"),
    "check of no instance": (lambda: check(None, ALONE), "an instance is needed"),
    "compare of no instance": (lambda: compare(3), "an instance is needed"),
    "method": (lambda: solve(THREE, "best"), "no method 'best'"),
    "no method": (lambda: solve(THREE, None), "no method None"),
    "no limits": (lambda: solve(THREE, limits=3), "limits are Limits, not a int"),
    "objective": (lambda: solve(THREE, objective="speed"), "iit has no objective 'speed'"),
    "objective of another method": (
        lambda: solve(DEADLINE, "bound-fluid", objective="nodes"),
        "bound-fluid does not support objective 'nodes'",
    ),
    "objective without a deadline": (
        lambda: solve(THREE, objective="nodes"),
        "objective nodes needs absolute_deadline",
    ),
    "only objective without a deadline": (
        lambda: solve(ROOTS_WITHOUT, "epr:literal-roots"),
        "objective nodes needs absolute_deadline",
    ),
    "option": (lambda: solve(THREE, "opr", speed=3), "opr has no option 'speed'"),
    "limit": (lambda: solve(THREE, "opr", time_limit=3), r"; limits are in limits=Limits\(time_s="),
    "value of an option": (lambda: solve(THREE, "opr", assignment="AN"), "takes best or all"),
    "nodes that differ": (
        lambda: solve(DIFFER, "opr"),
        "opr does not apply to this instance: its nodes differ",
    ),
    "compare with a method": (lambda: compare(THREE, ["best"]), "no method 'best'"),
    "compare by an objective": (lambda: compare(THREE, objective="x"), "no objective 'x'"),
    "compare without a deadline": (lambda: compare(THREE, objective="nodes"), "needs absolute"),
    "limits": (lambda: Limits(time_s=-1), "time_s .* must be a positive, finite number, got -1"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "told"), NOT_APPLICABLE.values(), ids=NOT_APPLICABLE.keys())
def test_not_applicable(call: Callable[[], object], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        call()


def test_a_method_with_one_objective_takes_it() -> None:
    assert solve(DEADLINE, "opr:literal-logarithm").objective == "nodes"
    assert solve(DEADLINE, "opr").objective == "completion"
