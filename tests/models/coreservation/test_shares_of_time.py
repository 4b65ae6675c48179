"""Components whose windows do not interact share the time; none is given up while time is left.

A component counts the two requests of the other one as rejected: its bounds are 2 below its own.
"""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import pytest

from dlopt.backends.time_budget import Budget
from dlopt.models.common.lexicographic import SearchResult
from dlopt.models.coreservation import search
from dlopt.models.coreservation.objective import Assignment
from dlopt.models.coreservation.portfolio_state import AssignmentResult
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch, solve_by_components
from dlopt.problems.coreservation import Instance, Machine, Part, Request
from dlopt.result import Limits

EARLY = [Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab"]
LATE = [Request(name, 0, 5, 6, 1, (Part(3),)) for name in "cd"]
TWO = Instance((Machine("m", 5),), (*EARLY, *LATE))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[float | None]:
    """Stop the first search at its limit with nothing proven; return the limits of all."""
    limits: list[float | None] = []

    class Stopped(PortfolioSearch):
        def __init__(
            self, scaled: ScaledInstance, budget: Budget, seed: int = 0, **options: Any
        ) -> None:
            super().__init__(scaled, budget, seed, **options)
            self.budget = budget
            limits.append(budget.limits.time_s)

        def run(self, hint: Assignment) -> AssignmentResult:
            if len(limits) > 1:
                return super().run(hint)
            self.budget.stop = min(self.budget.stop, time.monotonic())
            return SearchResult(dict(hint), [Fraction(-2)], ["trivial"])

    monkeypatch.setattr(search, "PortfolioSearch", Stopped)
    return limits


def solved(limits: Limits) -> AssignmentResult:
    return solve_by_components(ScaledInstance.from_instance(TWO, "rejections"), {}, limits, 0)


def test_a_component_that_its_share_stopped_gets_what_the_others_leave(
    calls: list[float | None],
) -> None:
    result = solved(Limits(time_s=1000))
    assert (result.proven_levels, result.bounds) == (1, [Fraction(-2)])
    first, _, again = calls
    assert first is not None and again is not None and first < 501 < again


def test_what_ends_before_its_limit_is_not_searched_again(calls: list[float | None]) -> None:
    result = solved(Limits())
    assert (result.proven_levels, result.bounds) == (0, [Fraction(-1)])
    assert calls == [None, None]


def test_a_search_that_proves_less_than_the_one_before_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds = iter([Fraction(-3), Fraction(-3), Fraction(-2), Fraction(-2)])

    class Given(PortfolioSearch):
        def __init__(self, scaled: ScaledInstance, budget: Budget, *rest: Any, **more: Any) -> None:
            super().__init__(scaled, budget, *rest, **more)
            budget.stop = time.monotonic()

        def run(self, hint: Assignment) -> AssignmentResult:
            return SearchResult(dict(hint), [next(bounds)], ["given"])

    monkeypatch.setattr(search, "PortfolioSearch", Given)
    assert solved(Limits(time_s=1000)).bounds == [Fraction(-2)]
    assert next(bounds, None) is None
