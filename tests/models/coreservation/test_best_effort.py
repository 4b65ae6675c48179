"""Parts that accept nothing: all methods, bounds and brute force agree on their values."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from dlopt import Status, api, registry
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.bound_methods import bound_knapsack, bound_lp, bound_pooled
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.machine_minimisation import minimise_machines
from dlopt.models.coreservation.milp import MilpModel
from dlopt.models.coreservation.objective import ObjectiveScaling, objective_level, value_of_empty
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Decision,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    Share,
    Solution,
    linear,
    objective,
    staircase,
    violations,
)
from dlopt.result import Limits
from tests.examples import share
from tests.oracles_coreservation import optimum
from tests.strategies_coreservation import any_numbers, coreservation

F = Fraction
LIMITS = Limits()
SINGLE = ("benefit", "rejections", "rejected-priority")
SOUND = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
EXACT = ("exact", "cp-sat", "milp")


def best_effort(instance):
    """Return an instance whose soft parts accept nothing, where their benefit allows it."""

    def part(one):
        jumps = one.benefit[1][0] == 0 < one.benefit[1][1]
        return one if one.hard or jumps else replace(one, cpu_min=0)

    requests = [replace(one, parts=tuple(map(part, one.parts))) for one in instance.requests]
    return replace(instance, requests=tuple(requests))


def asked(name, *parts, start=0, end=4, priority=1):
    return Request(name, 0, start, end, priority, parts)


EVERYTHING = Part(6, 0, linear())
HARD = Part(6)
CROWDED = Instance(
    (Machine("m", 6), Machine("none", 0)),
    (asked("a", HARD), asked("b", EVERYTHING, EVERYTHING), asked("c", Part(4, 0, staircase(2)))),
)


@share(1 / 4)
@pytest.mark.property
@given(instance=coreservation().map(best_effort))
def test_formulations_and_bounds_agree_with_brute_force(instance):
    for goal in OBJECTIVES:
        best = optimum(instance, goal)
        for name in EXACT:
            found = api.solve(instance, name, objective=goal)
            assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
            assert violations(instance, found.solution) == ()
        for method in (bound_knapsack, bound_lp, bound_pooled) if goal in SINGLE else ():
            bound = method(instance, objective=goal).bound
            assert not OBJECTIVES[goal].better(best, bound), method


@share(1 / 2)
@pytest.mark.property
@given(instance=coreservation(requests=4).map(best_effort))
def test_heuristics_accept_what_needs_nothing(instance):
    needless = {one.id for one in instance.requests if all(part.least == 0 for part in one.parts)}
    for name in SOUND:
        plan = api.solve(instance, name).solution
        assert violations(instance, plan) == ()
        if name != "rb":  # which gives all that is asked for or rejects
            accepted = {one.request for one in plan.decisions if one.accepted}
            assert needless <= accepted, name


@share(1 / 4)
@pytest.mark.property
@given(instance=any_numbers().map(best_effort))
def test_they_are_bounded_in_all_kinds_of_numbers(instance):
    for goal in SINGLE:
        values = [api.solve(instance, name, objective=goal).value for name in SOUND]
        for method in ("exact", "bound-aggregated-lp", "bound-aggregated", "bound-knapsack"):
            bound = api.solve(instance, method, objective=goal).bound
            for value in values:
                slack = 0 if instance.exact else F(1, 10**6)
                sign = 1 if goal == "benefit" else -1
                assert sign * F(value) <= sign * F(bound) + slack * max(1, abs(F(value)))


@pytest.mark.parametrize("name", [*EXACT, "lns", "rolling-exact"])
@pytest.mark.parametrize("goal", list(OBJECTIVES))
def test_a_machine_without_room_holds_shares_of_nothing(name, goal):
    if goal not in registry.method("coreservation", name).objectives:
        return
    found = api.solve(CROWDED, name, objective=goal)
    assert violations(CROWDED, found.solution) == ()
    best = optimum(CROWDED, goal)
    assert best[0] == 0 if goal.startswith("rejections-") else best is not None
    assert found.value == best or name == "rolling-exact"


def test_what_brute_force_says_of_the_crowded_machine():
    """All are accepted: one has all there is; what the others hold is worth nothing."""
    assert optimum(CROWDED, "rejections-then-machines") == (0, 1)
    assert optimum(CROWDED, "rejections-then-benefit") == (0, F(1, 3))
    nothing = replace(CROWDED, requests=CROWDED.requests[1:], machines=CROWDED.machines[1:])
    for name in EXACT:
        found = api.solve(nothing, name, objective="rejections-then-machines")
        assert (found.status, found.value) == (Status.OPTIMAL, (0, 0))
        assert [one.cpu for one in found.solution.shares] == [0, 0, 0]
    assert api.solve(nothing, "feasibility").status is Status.OPTIMAL


def test_the_fewest_machines_are_those_that_hold_something():
    scaled = ScaledInstance.from_instance(CROWDED, "rejections-then-machines")
    found = minimise_machines(scaled, LIMITS)
    assert (found.bound, objective_level(scaled, "machines", found.assignment)) == (1, 1)
    assert is_feasible(scaled, found.assignment) and len(found.assignment) == 4
    none = ScaledInstance.from_instance(
        Instance((Machine("m", 1), Machine("n", 1)), (asked("a", Part(5, 0, machine=1)),)),
        "rejections-then-machines",
    )
    found = minimise_machines(none, LIMITS)
    assert (found.assignment, found.bound, found.proof) == ({0: (1, 0)}, 0, "no part needs CPU")
    assert objective_level(none, "machines", found.assignment) == 0


def test_machines_are_packed_next_to_fixed_parts_that_need_nothing():
    """Two bins hold all that needs something; the machine that is named holds nothing."""
    machines = tuple(Machine(name, 10) for name in "abc")
    sized = [asked(f"r{n}", Part(size)) for n, size in enumerate((6, 5, 5, 4))]
    instance = Instance(machines, (*sized, asked("nothing", Part(9, 0, machine=2), start=1)))
    for name in EXACT:
        found = api.solve(instance, name, objective="rejections-then-machines")
        assert (found.status, found.value) == (Status.OPTIMAL, (0, 2))


@pytest.mark.parametrize("method", [bound_knapsack, bound_lp, bound_pooled])
def test_bounds_know_that_what_needs_nothing_is_accepted(method):
    """One of two that need all there is must be rejected; the third, of the same instant, not."""
    two = (asked("a", Part(6), priority=3), asked("b", Part(6)), asked("c", Part(9, 0), priority=5))
    instance = Instance((Machine("m", 6),), two)
    assert optimum(instance, "rejections") == optimum(instance, "rejected-priority") == 1
    for goal in ("rejections", "rejected-priority"):
        assert 0 < method(instance, objective=goal).bound <= 1


def test_a_machine_that_is_named_by_a_part_without_need_is_not_needed():
    requests = (asked("a", Part(4, machine=0)), asked("b", Part(4, 0, machine=1)))
    instance = Instance((Machine("m", 4), Machine("n", 4)), requests)
    scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
    found = minimise_machines(scaled, LIMITS)
    assert (found.assignment, found.bound) == ({0: (0, 1), 1: (1, 0)}, 1)


def test_bins_are_packed_without_what_needs_nothing():
    """In the order of sizes 5, 4, 4, 3, 2, 2 need three bins of 10; two of 5 + 3 + 2, 4 + 4 + 2 do.

    One part without need is there with them, another one at another time.
    """
    sized = [asked(f"r{n}", Part(size)) for n, size in enumerate((5, 4, 4, 3, 2, 2))]
    free = [asked("beside", Part(9, 0)), asked("later", Part(9, 0), start=4, end=6)]
    instance = Instance(tuple(Machine(name, 10) for name in "abc"), (*sized, *free))
    scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
    found = minimise_machines(scaled, LIMITS)
    assert found.bound == 2 and is_feasible(scaled, found.assignment)
    assert (len(found.assignment), objective_level(scaled, "machines", found.assignment)) == (8, 2)


def test_programs_count_no_machine_for_what_needs_nothing():
    requests = (asked("a", Part(4, machine=0)), asked("b", Part(4, 0, machine=1)))
    instance = Instance((Machine("m", 4), Machine("n", 5)), requests)
    scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
    whole = CpSatModel(scaled)
    for accepted in whole.accept:
        whole.model.add(accepted == 1)
    whole.model.maximize(whole.objective_expression(ObjectiveScaling.for_level(scaled, "machines")))
    found = whole.solve(LIMITS, 0)
    assert (found.bound, whole.read_assignment(found)) == (-1, {0: (0, 1), 1: (1, 0)})
    program = MilpModel(scaled)
    program.require("rejections", F(2))
    outcome = program.maximise("machines", LIMITS, "HiGHS", 0)
    assert [round(float(outcome[used])) for used in program.machine_used] == [1, 0]
    assert program.read_assignment(outcome) == {0: (0, 1), 1: (1, 0)}


def test_greedy_plans_take_first_what_needs_nothing():
    free = asked("free", Part(9, 0), priority=F(1, 9))
    instance = Instance((Machine("m", 4),), (asked("x", Part(4)), free, asked("y", Part(3))))
    scaled = ScaledInstance.from_instance(instance, "rejections")
    assignment = greedy_assignment(scaled)
    assert {
        instance.requests[scaled.requests[scaled.parts[i].request].index].id for i in assignment
    } >= {"free"}
    assert len(assignment) == 2 and is_feasible(scaled, assignment)


def test_moves_put_back_what_needs_nothing():
    """The size of a request counts for a little at least, by which its worth is divided."""
    scaled = ScaledInstance.from_instance(CROWDED, "rejections-then-benefit")
    search = RuinAndRecreate(scaled, {}, 1, fast=False)
    assignment = search.run(200)
    assert (
        is_feasible(scaled, assignment) and objective_level(scaled, "rejections", assignment) == 0
    )


@pytest.mark.parametrize("level", SINGLE)
def test_branch_and_price_selects_columns_of_parts_with_a_share_of_0(level):
    instance = Instance(
        (Machine("a", 5), Machine("b", 3)),
        (
            asked("r", Part(5, 0, linear()), Part(4), priority=2),
            asked("s", Part(3, 0, staircase(3)), start=1, end=6),
            asked("t", Part(5, 0, linear(), machine=1), Part(3, 1, linear()), start=2, end=5),
        ),
    )
    scaled = ScaledInstance.from_instance(instance, level)
    found = BranchAndPrice(scaled, level, {}, Budget(LIMITS)).run()
    best = optimum(instance, level)
    assert found.bound + value_of_empty(scaled, level) == (best if level == "benefit" else -best)
    assert is_feasible(scaled, found.assignment)


def test_the_checker_wants_a_share_of_nothing_on_the_right_machine():
    machines = (Machine("m", 6), Machine("n", 0))
    part = Part(4, 0, linear(), machine=1)
    instance = Instance(machines, (asked("a", part),), holdings=(Holding(1, 0, 9, 3),))
    yes = (Decision("a", True, 0),)

    def kinds(*shares, tolerance=0):
        return [one.kind for one in violations(instance, Solution(yes, shares), tolerance)]

    assert kinds(Share("a", 0, 1, 0)) == kinds(Share("a", 0, 1, -0.0)) == []
    assert kinds() == ["part-missing"]
    assert kinds(Share("a", 0, 0, 0)) == ["wrong-machine"]
    assert kinds(Share("a", 0, 2, 0)) == ["unknown-machine", "wrong-machine"]
    assert kinds(Share("a", 0, 1, 0), Share("a", 0, 1, 0)) == ["duplicate-part"]
    assert kinds(Share("a", 0, 1, F(-1, 10**12)), tolerance=1e-6) == ["share-below-minimum"]
    assert kinds(Share("a", 0, 1, 1)) == ["overload"]
    no = (Decision("a", False, 0),)
    found = violations(instance, Solution(no, (Share("a", 0, 1, 0),)))
    assert [one.kind for one in found] == ["rejected-request-allocated"]
    plan = Solution(yes, (Share("a", 0, 1, 0),))
    assert objective(instance, plan, "rejections-then-machines") == (0, 0)
    assert objective(instance, plan) == 0
