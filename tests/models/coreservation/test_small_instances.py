"""Bounds, programs and rare turns, on fixed instances: no branch is left to chance."""

from fractions import Fraction

import pytest

from dlopt.api import solve
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation import aggregated_relaxation
from dlopt.models.coreservation.branch_and_price import search
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.master import Pricer
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.methods import exact_plan, milp
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    linear,
    staircase,
)
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import packed
from tests.oracles_coreservation import optimum

PLAIN = ("benefit", "rejections", "rejected-priority")


@pytest.mark.parametrize("goal", PLAIN)
@pytest.mark.parametrize("method", ["bound-aggregated-lp", "bound-aggregated", "bound-knapsack"])
def test_bounds_are_not_passed_by_the_optimum(method, goal) -> None:
    for seed in range(4):
        instance = small(requests=5, span=4, machines=1 + seed % 2, capacity=6, seed=seed)
        best, found = optimum(instance, goal), solve(instance, method, objective=goal)
        assert found.status is Status.BOUND
        assert found.bound >= best if goal == "benefit" else found.bound <= best


def test_knapsacks_of_jumps_and_of_nothing_lost() -> None:
    stairs = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(8, 2, staircase(4)),)) for k in range(2))
    instance = Instance((Machine("m", 12),), stairs, Batch(1))
    assert solve(instance, "bound-knapsack").bound == optimum(instance, "benefit") == Fraction(3, 4)
    wide = Instance((Machine("m", 16),), stairs, Batch(1))
    assert solve(wide, "bound-knapsack").bound == 1


def test_knapsacks_of_a_jump_from_a_slope_have_its_upper_value() -> None:
    half = Fraction(1, 2)
    jump = ((0, 0), (half, Fraction(1, 4)), (half, Fraction(3, 4)), (1, 1))
    asked = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(8, 2, jump),)) for k in range(2))
    instance = Instance((Machine("m", 8),), asked, Batch(1))
    assert optimum(instance) == Fraction(3, 4)
    for method in ("bound-knapsack", "bound-aggregated-lp", "bound-aggregated", "exact"):
        assert solve(instance, method).bound == Fraction(3, 4)


def test_bounds_of_levels() -> None:
    found = solve(packed([3, 3], 5, 1), "bound-aggregated", objective="rejections-then-benefit")
    assert found.bound[0] == 1
    found = solve(packed([3, 3], 5, 3), "bound-aggregated-lp", objective="rejections-then-machines")
    assert found.bound == (0, 2)


@pytest.mark.parametrize("goal", list(OBJECTIVES))
def test_the_integer_program_agrees_in_every_objective(goal) -> None:
    instance = small(requests=4, span=3, machines=2, capacity=5, seed=6)
    one, other = milp(instance, objective=goal), exact_plan(instance, objective=goal)
    assert one.status is other.status is Status.OPTIMAL and one.value == other.value


def test_a_jump_to_where_the_line_before_ends_is_no_piece() -> None:
    half = Fraction(1, 2)
    flat = ((0, 0), (half, half), (half, half), (1, 1))
    request = Request("r", 0, 0, 1, 1, (Part(8, 2, flat),))
    (part,) = ScaledInstance.from_instance(Instance((Machine("m", 9),), (request,))).parts
    assert [(p.low, p.high) for p in part.segments] == [(1, 4), (4, 8)] or len(part.segments) == 2


def test_shares_beyond_all_machines_are_in_no_segment() -> None:
    parts = (Part(8, 2, linear()), Part(8, 2, staircase(4)), Part(8, 2, linear(), machine=1))
    request = Request("r", 0, 0, 2, 1, parts)
    machines = (Machine("m", ((0, 9), (1, 6))), Machine("n", 4))
    scaled = ScaledInstance.from_instance(Instance(machines, (request,)))
    most = [part.segments[-1].high * scaled.unit for part in scaled.parts]
    assert most == [6, 6, 4]
    found = exact_plan(Instance(machines, (request,)))
    assert found.status is Status.OPTIMAL
    assert found.value == optimum(Instance(machines, (request,)), "benefit")


def test_one_subproblem_without_a_time_limit() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=8, seed=1))
    once = aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=1)
    more = aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=40)
    assert once.value >= more.value and len(once.shares) == len(scaled.parts)


@pytest.mark.usefixtures("without_knapsacks")
def test_a_pair_of_which_one_cannot_be_there_is_nothing_to_cp_sat() -> None:
    parts = (Part(2, machine=0),), (Part(3),), (Part(1, machine=0),)
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, own) for k, own in enumerate(parts))
    instance = Instance((Machine("m", 9), Machine("n", 8)), requests, Batch(1))
    pool, budget = ColumnPool(ScaledInstance.from_instance(instance), "benefit"), Budget(Limits())
    apart_ = BranchingDecisions({1: False}, {(0, 1): False, (0, 2): False, (1, 2): True})
    for n, allowed in ((0, {2}), (1, set())):
        _, assignment = Pricer(pool, n, apart_, budget, 0).price([0, -10, -10])
        assert assignment.keys() <= allowed | {0}
    together = BranchingDecisions({}, {(0, 1): True})
    assert Pricer(pool, 1, together, budget, 0).price([0, -10, 0])[1] == {}


def test_a_better_assignment_from_all_columns_is_kept(monkeypatch) -> None:
    monkeypatch.setattr(search, "ENUMERATION_GAP", Fraction(10))
    monkeypatch.setattr(BranchAndPrice, "solve_restricted_master", lambda _: None)
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=2)
    scaled = ScaledInstance.from_instance(instance)
    found = BranchAndPrice(scaled, "benefit", {}, Budget(Limits())).run()
    assert found.bound == optimum(instance, "benefit") and is_feasible(scaled, found.assignment)
    assert found.nodes == 1
