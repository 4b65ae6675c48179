"""All formulations agree with each other and with brute force; bounds bound."""

import random
from fractions import Fraction

import pytest
from hypothesis import given

from dlopt import Limits, Status, registry
from dlopt.api import solve
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation import cpsat, milp
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch, solve_by_components
from dlopt.models.coreservation.solutions import to_assignment
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Instance,
    Machine,
    Part,
    Request,
    Solution,
    violations,
)
from tests.examples import share
from tests.oracles_coreservation import is_feasible, optimum
from tests.strategies_coreservation import coreservation, planned

FEW = share(1 / 5)
BOUNDS = ("bound-aggregated", "bound-aggregated-lp", "bound-knapsack")
SINGLE = ("benefit", "rejections", "rejected-priority")


def answer(instance, method, objective, **options):
    function = registry.method("coreservation", method).load()
    return function(instance, objective=objective, **options)


@pytest.mark.property
@given(instance=coreservation())
def test_exact_is_the_optimum_by_brute_force(instance):
    for objective in OBJECTIVES:
        found = answer(instance, "exact", objective)
        assert found.status is Status.OPTIMAL
        assert found.value == found.bound == optimum(instance, objective)
        assert violations(instance, found.solution) == ()


@pytest.mark.property
@share(1 / 2)
@given(instance=coreservation())
def test_both_formulations_agree_with_brute_force(instance):
    for objective in ("benefit", "rejections-then-benefit", "rejections-then-machines"):
        best = optimum(instance, objective)
        for method in ("cp-sat", "milp"):
            for breaking in (True, False):
                found = answer(instance, method, objective, symmetry_breaking=breaking)
                assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
                assert violations(instance, found.solution) == ()


@pytest.mark.parametrize("objective", ["benefit", "rejections-then-machines"])
def test_machines_stay_in_order_where_many_parts_could_come_before(objective, monkeypatch):
    """With few earlier parts listed, one variable for the others, the optimum is the same."""
    for one in (milp, cpsat):
        monkeypatch.setattr(one, "MAX_LISTED_PARTS", 1)
    draw = random.Random(5)
    machines = tuple(Machine(name, 4) for name in "abc")
    for _ in range(4):
        asked = tuple(
            Request(f"r{k}", 0, 0, draw.randint(1, 3), 1, (Part(draw.randint(1, 4)),))
            for k in range(5)
        )
        instance = Instance(machines, asked)
        best = optimum(instance, objective)
        for method in ("cp-sat", "milp"):
            found = answer(instance, method, objective)
            assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)


@pytest.mark.property
@given(instance=coreservation(requests=4))
def test_bounds_are_not_below_the_optimum(instance):
    for objective in SINGLE:
        best, goal = optimum(instance, objective), OBJECTIVES[objective]
        for method in BOUNDS:
            found = answer(instance, method, objective)
            assert found.status is Status.BOUND
            assert not goal.better(best, found.bound)
    for objective in set(OBJECTIVES) - set(SINGLE):
        for method in BOUNDS[:2]:
            bound = answer(instance, method, objective).bound
            assert not OBJECTIVES[objective].better(optimum(instance, objective), bound)


@pytest.mark.property
@given(instance=coreservation(requests=4))
def test_spans_apart_are_as_good_as_together(instance):
    scaled = ScaledInstance.from_instance(instance, "benefit")
    together = PortfolioSearch(scaled, Budget(Limits())).run({})
    apart = solve_by_components(scaled, {}, Limits(), 0)
    assert together.bounds == apart.bounds


@pytest.mark.property
@share(1 / 2)
@given(instance=coreservation(requests=4))
def test_neighbourhoods_stay_between_nothing_and_the_optimum(instance):
    found = answer(instance, "lns", "benefit")
    best = optimum(instance, "benefit")
    assert 0 <= found.value <= best <= found.bound
    assert found.status is not Status.OPTIMAL or found.value == best
    assert violations(instance, found.solution) == ()


@pytest.mark.property
@given(instance=coreservation())
def test_batches_decided_one_by_one_are_no_better_than_all_together(instance):
    for objective in ("benefit", "rejections-then-benefit"):
        found = answer(instance, "rolling-exact", objective)
        assert violations(instance, found.solution) == ()
        assert not OBJECTIVES[objective].better(found.value, optimum(instance, objective))


@pytest.mark.property
@given(instance=coreservation(together=True))
def test_one_batch_by_itself_is_the_whole_problem(instance):
    for objective in ("benefit", "rejections"):
        found = answer(instance, "rolling-exact", objective)
        assert found.value == optimum(instance, objective)


@pytest.mark.property
@given(instance=coreservation(requests=4))
def test_all_or_nothing_is_brute_force(instance):
    found = answer(instance, "feasibility", "rejections")
    able = is_feasible(instance, range(len(instance.requests)))
    assert found.status is (Status.OPTIMAL if able else Status.INFEASIBLE)
    if able:
        assert violations(instance, found.solution) == ()


@pytest.mark.property
@FEW
@given(drawn=planned())
def test_a_plan_is_a_hint_and_a_corrupted_one_is_harmless(drawn):
    instance, plan = drawn
    best = optimum(instance)
    broken = Solution(plan.decisions[1:], plan.shares)
    doubled = Solution(plan.decisions, plan.shares + plan.shares)
    for hint in (plan, broken, doubled):
        for method in ("exact", "cp-sat", "milp"):
            assert answer(instance, method, "benefit", hint=hint).value == best
    assignment = to_assignment(ScaledInstance.from_instance(instance), plan)
    assert bool(assignment) == bool(plan.shares)


@pytest.mark.property
@FEW
@given(drawn=planned(requests=4))
def test_through_the_api_every_method_is_checked(drawn):
    instance, _ = drawn
    best = solve(instance).value
    for entry in registry.methods("coreservation"):
        if entry.kind == "exact" and "benefit" in entry.objectives:
            assert solve(instance, entry.name).value <= best
    assert isinstance(best, int | Fraction)
