"""The full model next to cheap bounds, where its integers are very large."""

from fractions import Fraction

import pytest

from dlopt import solve
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import overloaded
from dlopt.models.coreservation import full_model_bound
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch
from dlopt.models.coreservation.solutions import build_solution
from dlopt.models.coreservation.upper_bounds import STEPS
from dlopt.problems.coreservation import Instance, Machine, Part, Request
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import NOW, is_proven_without_a_solver

FINE = Fraction(1, 10**9)
HALF = Fraction(1, 2) + FINE


def fine_instance():
    """Return requests whose CPU differs in the ninth digit: CP-SAT alone needs minutes for them."""
    soft = ((0, 0), (0, 0), (1, Fraction(1, 2)))
    return Instance(
        (Machine("m", ((0, 5 - 4 * FINE), (6, Fraction(10, 3) + FINE / 3))),),
        (
            Request("a", 5, 7, 9, 1, (Part(6 + 3 * FINE), Part(1 + FINE / 10))),
            Request(
                "b",
                6,
                8,
                Fraction(21, 2),
                5,
                (Part(1 + FINE, 0, soft), Part(3 - 3 * FINE / 10, 0, ((0, 0), (1, 1)))),
            ),
            Request(
                "c", 7, 10, 12, 4, (Part(2 + FINE, Fraction(1, 2), ((0, 0), (0, FINE), (1, 1))),)
            ),
        ),
    )


def test_fine_units_are_proven_without_a_limit() -> None:
    """The MILP finds a schedule that fractional knapsacks prove to be optimal."""
    result = solve(fine_instance(), objective="benefit-then-rejections")
    assert result.status is Status.OPTIMAL
    assert is_proven_without_a_solver(result)
    assert "fractional knapsacks" in (result.reason or "")


def test_the_milp_is_tried_within_the_time() -> None:
    result = solve(fine_instance(), objective="benefit", limits=Limits(time_s=5))
    assert result.status is Status.OPTIMAL
    knapsacks = solve(fine_instance(), "bound-knapsack", objective="benefit")
    assert result.bound == knapsacks.bound


@pytest.mark.parametrize(("unit", "is_tried"), [(10**7, False), (10**8, True)])
def test_the_milp_is_tried_where_integers_are_very_large(unit: int, is_tried: bool) -> None:
    """CPU of 3 and of 2 units and 1: nothing is a common multiple."""
    requests = tuple(
        Request(f"r{k}", 0, 0, 1, 1, (Part(units * unit + k),)) for k, units in enumerate((3, 2))
    )
    scaled = ScaledInstance.from_instance(Instance((Machine("m", 4 * unit + 1),), requests))
    state = PortfolioSearch(scaled, Budget(Limits())).state
    step = next(step for step in STEPS if step.name == "full model as a MILP")
    assert step.applies(state, "rejections") is is_tried
    assert not step.applies(state, "machines")


def test_a_milp_that_excludes_the_schedule_of_a_proven_level_is_no_error() -> None:
    """HiGHS calls infeasible what the proven benefit leaves, which differs in the ninth digit."""
    soft = ((0, 0), (HALF, 0), (HALF, Fraction(2, 3)), (1, Fraction(2, 3)), (1, 1))
    parts = (
        (Part(2 + FINE / 3, 1 + FINE / 6), Part(2 - FINE, 0)),
        (Part(3 + FINE / 3, (3 + FINE / 3) / 2, soft), Part(1, 0), Part(4 - FINE, 0)),
        (Part(4 - FINE, (4 - FINE) / 2, soft),),
        (Part(2 + 3 * FINE, 1 + 3 * FINE / 2),),
    )
    spans = ((3, 6, 8), (4, 5, 9), (1, 2, 3 + FINE), (3, 7, 3))
    instance = Instance(
        (Machine("m", ((0, 9 + FINE / 3), (3, 8 + FINE / 3))),),
        tuple(
            Request(f"r{k}", 0, start, end, priority, parts[k])
            for k, (start, end, priority) in enumerate(spans)
        ),
    )
    found = solve(instance, objective="benefit-then-rejections")
    best = solve(instance, objective="benefit")
    assert best.status is Status.OPTIMAL
    assert isinstance(found.value, tuple) and found.value[0] == best.value


@pytest.mark.parametrize("formulation", ["cp-sat", "milp"])
def test_no_model_is_stated_when_the_time_is_up(monkeypatch, formulation: str) -> None:
    stated: list[object] = []
    monkeypatch.setattr(full_model_bound, "new_model", lambda *_, **__: stated.append("CP-SAT"))
    monkeypatch.setattr(full_model_bound.milp, "MilpModel", lambda *_, **__: stated.append("MILP"))
    scaled = ScaledInstance.from_instance(overloaded(requests=8, seed=0))
    minute = Limits(time_s=60)
    for limits, seconds_per_term in ((NOW, 5e-6), (minute, 1)):
        monkeypatch.setattr(full_model_bound, "SECONDS_PER_TERM", seconds_per_term)
        search = PortfolioSearch(scaled, Budget(limits), formulation=formulation)
        with pytest.raises(TimeoutError):
            full_model_bound.full_model_bound(search.state, "benefit")
        assert not stated


def test_a_solution_of_many_requests_looks_at_all_numbers_a_few_times_only(monkeypatch) -> None:
    instance, looks = overloaded(requests=40, seed=0), []
    monkeypatch.setattr(Instance, "exact", property(lambda _: looks.append(1) or True))
    assert len(build_solution(instance, []).decisions) == 40
    assert 1 <= len(looks) <= 3
