"""Fractions, decimals and floats beside each other: models range over what the check accepts."""

import random
from dataclasses import replace
from fractions import Fraction
from math import inf

import pytest

from dlopt import Status, api
from dlopt.arithmetic import FLOATING, ROUNDING, SOLVER, exact
from dlopt.backends import cpsat
from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.time_budget import Budget
from dlopt.generation import generate
from dlopt.models.common import leaf_proofs
from dlopt.models.coreservation import aggregated_relaxation
from dlopt.models.coreservation.lns import LargeNeighbourhoodSearch
from dlopt.models.coreservation.methods import exact_plan
from dlopt.models.coreservation.objective import ObjectiveScaling
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import (
    cpu_is_exact,
    is_overloaded,
    round_down_to_float,
    round_up_to_float,
    to_feasible_solution,
    to_objective_bound,
)
from dlopt.problems.coreservation import (
    Batch,
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
    violations,
)
from dlopt.result import Limits
from tests.models.coreservation.sample_instances import is_proven_without_a_solver
from tests.oracles_coreservation import optimum

F = Fraction
EXACT = ("exact", "cp-sat", "milp", "lns")


def together(sizes, capacity, *, parts=(), end=1):
    """Return requests of one part each, all at one time on one machine."""
    given = (*(Part(size) for size in sizes), *parts)
    requests = tuple(Request(f"r{k}", 0, 0, end, 1, (part,)) for k, part in enumerate(given))
    return Instance((Machine("m", capacity),), requests, Batch(1))


@pytest.mark.parametrize("method", [*EXACT, "rolling-exact"])
def test_a_share_stays_on_its_breakpoint_where_only_an_instant_is_a_float(method) -> None:
    instance = together([F(7, 5)], F(7, 5), end=1.5)
    found = api.solve(instance, method)
    assert found.value == 1 and found.solution.shares == (Share("r0", 0, 0, F(7, 5)),)
    if method != "rolling-exact":
        assert (found.status, found.bound) == (Status.OPTIMAL, 1)
    assert cpu_is_exact(instance) and not instance.exact


@pytest.mark.parametrize("method", [*EXACT, "rolling-exact"])
def test_a_share_in_floats_is_not_below_its_breakpoint(method) -> None:
    third = F(1, 3)
    part = Part(0.1, 0.01, ((0, 0), (third, 0), (third, 1), (1, 1)))
    instance = together([], 0.05, parts=(part,))
    found = api.solve(instance, method)
    assert found.value == 1 and isinstance(found.solution.shares[0].cpu, float)
    assert exact(found.solution.shares[0].cpu) >= F(1, 30)
    assert api.check(instance, found.solution) == ()


def test_the_next_floats_of_a_fraction() -> None:
    for number in (F(1, 3), F(2, 3), F(1, 7), F(10**17, 3)):
        below, above = round_down_to_float(number), round_up_to_float(number)
        assert exact(below) < number < exact(above)
        assert below == float(number) or above == float(number)
    assert round_down_to_float(F(1, 10)) == round_up_to_float(F(1, 10)) == 0.1


def test_a_bound_is_not_overwritten_by_the_value(monkeypatch) -> None:
    """A plan that lost something on its way out is not optimal."""
    from dlopt.models.coreservation import methods

    def rejecting(scaled, assignment):
        return Solution((Decision("r0", False, 0.0),), ())

    monkeypatch.setattr(methods, "to_feasible_solution", rejecting)
    found = exact_plan(together([0.1], 0.3))
    assert (found.value, found.bound) == (0, 1)
    assert api.check(together([0.1], 0.3), found) != ()


def test_decimals_are_what_they_print() -> None:
    instance = together([0.1, 0.2], 0.3)
    for method in (*EXACT, "feasibility", "co-rspb", "portfolio"):
        found = api.solve(instance, method, objective="rejections")
        assert found.value == 0 and api.check(instance, found.solution) == ()
    sizes = [0.41, 0.33, 0.26, 0.45, 0.3, 0.25, 0.38, 0.36, 0.26]
    machines = tuple(Machine(f"m{j}", 1.0) for j in range(3))
    triplets = Instance(machines, together(sizes, 1).requests, Batch(1))
    scaled = ScaledInstance.from_instance(triplets, "rejections")
    assert (scaled.unit, scaled.capacity_allowance, scaled.scaling_failure) == (F(1, 100), 0, None)
    assert {*scaled.free} == {(100, 100)}
    assert api.solve(triplets, "feasibility").value == 0


@pytest.mark.parametrize(
    ("more", "values"),
    [(1e-4, (1, 0)), (1e-3, (0.5, 0)), (1e-2, (0.5, 1))],
)
def test_models_range_over_what_the_check_accepts(more, values) -> None:
    """A little more than there is: allowed, allowed of least shares that fall short, too much."""
    instance = together([5e5, 5e5 + more], 1e6)
    for goal, value in zip(("benefit", "rejections"), values, strict=True):
        for method in ("exact", "cp-sat"):
            found = api.solve(instance, method, objective=goal)
            assert found.value == value and api.check(instance, found.solution) == ()
            optimal = found.status is Status.OPTIMAL
            assert optimal == (goal == "rejections" or more != 1e-3)
    found = api.solve(instance, "feasibility")
    assert found.status is (Status.INFEASIBLE if values[1] else Status.OPTIMAL)
    assert found.proof == "exact"
    for method in ("bound-aggregated-lp", "bound-aggregated", "bound-knapsack"):
        assert api.solve(instance, method, objective="rejections").bound <= values[1]


def test_no_more_than_the_check_accepts() -> None:
    """A plan at the very edge of the check is in the case, and one beyond it in neither."""
    instance = together([5e5, 5e5 + 1e-3], 1e6)
    scaled = ScaledInstance.from_instance(instance, "rejections")
    plan = to_feasible_solution(
        scaled, {i: (0, part.minimum) for i, part in enumerate(scaled.parts)}
    )
    short = 1 - exact(FLOATING) - ROUNDING
    assert sorted(exact(share.cpu) for share in plan.shares) == [
        500000 * short,
        (500000 + F(1, 1000)) * short,
    ]
    assert violations(instance, plan, FLOATING) == () != violations(instance, plan, 5e-10)
    assert (
        ScaledInstance.from_instance(instance, "rejections", widened=False).capacity_allowance == 0
    )


def test_batches_keep_the_capacity() -> None:
    """What each allows for itself would add up."""
    instance = together([1e6 + 1.5e-3], 1e6)
    assert (
        ScaledInstance.from_instance(instance).parts
        and not ScaledInstance.from_instance(instance, widened=False).parts
    )
    found = api.solve(instance, "rolling-exact")
    assert found.value == 0 and found.proof is None
    assert api.check(instance, found.solution) == ()


def test_soft_shares_fall_on_their_segments_where_units_are_fine() -> None:
    """Best with all that is allowed; the plan gives back what exceeds it."""
    part = Part(600000.001, 1e5, linear())
    instance = together([], 1e6, parts=(part, part))
    found = api.solve(instance)
    assert found.status is Status.OPTIMAL and api.check(instance, found.solution) == ()
    assert ScaledInstance.from_instance(instance).capacity_allowance > 0
    assert found.value == pytest.approx(1e6 / 1200000.002)


def test_what_is_rounded_off_is_added_where_it_counts() -> None:
    """A benefit so steep that less than a unit is worth much."""
    steep = ((0, 0), (0.5, 0), (F(500000005, 10**9), 1), (1, 1))
    instance = together([], 5.0, parts=(Part(10, 1, steep),))
    scaled = ScaledInstance.from_instance(instance)
    assert F(1, 4) < scaled.benefit_allowance < F(1, 2) and scaled.capacity_allowance == 0
    assert to_objective_bound(scaled, "benefit", F(0)) > 0.25
    assert to_objective_bound(scaled, "rejections", F(0)) == 0
    found = api.solve(instance)
    assert found.status is Status.FEASIBLE and found.value == 0
    more = 5 + F(9, 10**9)
    better = Solution((Decision("r0", True, 0),), (Share("r0", 0, 0, more),))
    assert api.check(instance, better) == ()
    assert 0.15 < objective(instance, better) < found.bound
    plain = together([], 5.0, parts=(Part(10, 1, linear()),))
    assert ScaledInstance.from_instance(plain).benefit_allowance > 0
    assert api.solve(plain).bound == 0.5


def linears(count, capacity=100):
    """Return requests whose benefits have no small common denominator."""
    primes = [n for n in range(23, 200) if all(n % k for k in range(2, n))]
    requests = tuple(
        Request(f"r{k}", 0, 0, 1, 1 + k, (Part(primes[k], 1, linear()),)) for k in range(count)
    )
    return Instance((Machine("m", capacity),), requests, Batch(1))


@pytest.mark.parametrize("count", [9, 12, 16, 35])
def test_linear_benefits_of_any_sizes_are_proven(count) -> None:
    instance = linears(count)
    found = api.solve(instance)
    assert (found.status, found.value) == (Status.OPTIMAL, found.bound)
    assert is_proven_without_a_solver(found)
    dense = sorted(instance.requests, key=lambda one: one.priority / one.parts[0].cpu)
    value, left = F(0), 100  # after Dantzig: the densest first, the others nothing
    for one in reversed(dense):
        share = min(left, one.parts[0].cpu)
        value, left = value + F(one.priority * share, one.parts[0].cpu), left - share
    assert found.value == value / sum(one.priority for one in instance.requests)
    bounded = api.solve(instance, "bound-aggregated")
    assert bounded.bound == found.value and bounded.proof == "exact"


def test_rounded_coefficients_alone_prove_nothing_exact() -> None:
    instance = linears(12)
    assert not ObjectiveScaling.for_level(ScaledInstance.from_instance(instance), "benefit").exact
    found = api.solve(instance, "cp-sat")
    assert found.status is Status.FEASIBLE and found.proof == "solver"
    assert found.value < found.bound < found.value * (1 + F(1, 10**9))


def test_a_solver_in_floats_does_not_settle_the_tenth_digit() -> None:
    """Of two requests that differ in priority by 1e-9 only one fits."""
    nothing = Solution((Decision("r0", False, 0), Decision("r1", False, 0)), ())
    for much in (10**7, 10**9, 10**10):
        asked = tuple(Request(f"r{k}", 0, 0, 1, much + k, (Part(1),)) for k in range(2))
        instance = Instance((Machine("m", 1),), asked, Batch(1))
        best = F(much + 1, 2 * much + 1)
        found = api.solve(instance, "milp", hint=nothing)
        assert found.value <= best <= found.bound
        assert found.status is not Status.OPTIMAL or found.value == best
        assert found.status is Status.FEASIBLE or much == 10**7
        assert api.solve(instance).value == api.solve(instance).bound == best


def test_the_dual_bound_of_a_solver_in_floats_is_not_below_a_plan_by_rounding() -> None:
    """The dual bound of HiGHS is 2e-15 less than the benefit of the best plan."""
    instance = generate("coreservation", "min-5", seed=2, requests=25, machines=4)
    found = api.solve(instance, "milp", objective="rejections-then-benefit")
    best = F(952538838352433, 1051729138765800)
    assert found.value == (1, best) and found.status is not Status.OPTIMAL
    assert found.bound[0] == 1 and best < found.bound[1] <= best + F(2, 10**7)


def ugly(seed):
    """Return a small instance with steps, jumps and slopes over large primes."""
    draw = random.Random(seed)
    primes = [1000003, 1000033, 1000037, 1000039, 1000081, 1000099, 1000117, 1000121]
    cpus = draw.sample(primes, 4)
    half = ((0, 0), (F(1, 2), F(1, 4)), (F(1, 2), F(3, 4)), (1, 1))
    requests = tuple(
        Request(
            f"r{k}",
            0,
            draw.randrange(2),
            2 + draw.randrange(2),
            draw.choice(primes),
            (Part(cpus[k], draw.randint(200_000, 500_000), (half, linear())[k % 2]),),
        )
        for k in range(4)
    )
    return Instance((Machine("m", 1_500_000), Machine("n", 900_000)), requests, Batch(9))


@pytest.mark.parametrize("seed", range(6))
def test_sharpened_bounds_are_bounds(seed) -> None:
    instance = ugly(seed)
    scaled, best = ScaledInstance.from_instance(instance), optimum(instance)
    assert not ObjectiveScaling.for_level(scaled, "benefit").exact
    for most in (1, 3, 2000):
        assert (
            aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=most).value
            >= best
        )
    found = api.solve(instance)
    assert found.value == best <= found.bound


@pytest.mark.parametrize(("capacity", "best"), [(5, -F(37, 3)), (4, F(-10))])
def test_every_leaf_counts_that_may_have_the_least(capacity, best) -> None:
    """Two items; the linear program takes the second in part, and it is branched on."""
    unit = (F(0), F(1))
    row = (((0, F(3)), (1, F(4))), (None, F(capacity)))
    program = LinearProgram(2, (F(-10), F(-9)), (row[0],), (row[1],), (unit, unit))
    search = BranchAndBound(program, range(2), F(1, 10**9))
    found = search.minimise(None, 1)
    assert not found.complete and len(search.leaves) == 2
    assert aggregated_relaxation.exact_leaf_bound(search, found.bound, inf) == best
    assert (
        found.bound - search.step
        <= aggregated_relaxation.exact_leaf_bound(search, found.bound, 0.0)
        <= best
    )
    first, *_ = search.leaves
    search.leaves = [replace(first, infeasible=True)]
    assert aggregated_relaxation.exact_leaf_bound(search, found.bound, inf) == found.bound


def test_leaves_that_are_not_solved_in_fractions_stay_as_they_are(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(ugly(1))
    best = aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=3).value
    monkeypatch.setattr(leaf_proofs, "certify", lambda *_, **__: None)
    rough = aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=3).value
    assert best <= rough <= best * (1 + F(1, 10**9))


def test_a_hint_beyond_the_default_tolerance_is_no_plan() -> None:
    """Of answers a check forgives more than of plans: what is returned is held to the less."""
    instance = together([5e5, 5e5 + 1e-2], 1e6)
    decisions = tuple(Decision(one.id, True, 0) for one in instance.requests)
    shares = (Share("r0", 0, 0, 5e5), Share("r1", 0, 0, 5e5 + 1e-2))
    hint = Solution(decisions, shares)
    assert violations(instance, hint, SOLVER) == () != violations(instance, hint, FLOATING)
    for method in ("exact", "cp-sat", "lns", "rolling-exact"):
        found = api.solve(instance, method, objective="rejections", hint=hint)
        assert found.value == 1 and api.check(instance, found.solution) == ()
    limits = Limits(time_s=1e-9)
    found = api.solve(instance, "rolling-exact", objective="rejections", hint=hint, limits=limits)
    assert api.check(instance, found.solution) == ()


@pytest.mark.parametrize("method", ["exact", "milp"])
def test_a_steep_piece_is_no_coefficient_that_solvers_refuse(method) -> None:
    third, hard = F(1, 3), Part(F(1))
    points = ((0, 0), (third, third), (0.6666666666666666, third), (2 * third, 1), (1, 1))
    soft = Part(F(1), F(1, 4), points)
    requests = (
        Request("first", 0, 0, 1, 1, (hard,)),
        Request("second", 0, 0, 1, 1, (hard,)),
        Request("third", 0, 0, 1, 1, (hard, soft)),
    )
    machine = Machine("m", ((0, F(4000000003, 2 * 10**9)),))
    instance = Instance((machine,), requests)
    found = api.solve(instance, method, objective="benefit-then-rejections")
    assert not api.check(instance, found)
    assert found.value == (pytest.approx(2 / 3), 1) and found.value[0] <= found.bound[0] < 0.75


def test_a_plan_in_floats_that_takes_more_than_is_free() -> None:
    """Half is held until 3, and twice the capacity from 3 to 4; a third is taken from 2 to 5."""
    steps = ((0, 6.0), (4.5, 1.0))
    holdings = (Holding(0, 0, 3, 3.0), Holding(0, 3, 4, 12.0))
    for start, end, cpu, expected in (
        (0, 3, 3.0, False),
        (0, 3, 3.0 + 1e-12, False),
        (0, 3, 3.0 + 1e-6, True),
        (3, 4, 1e-3, True),  # nothing is free, and no less than nothing
        (4, 5, 2.0, True),
        (4, 5, 1.0, False),
        (5, 6, 1.0, False),
    ):
        request = Request("r", 0, start, end, 1, (Part(6.0, 1e-4),))
        instance = Instance((Machine("m", steps),), (request,), holdings=holdings)
        plan = Solution((Decision("r", True, 0),), (Share("r", 0, 0, cpu),))
        assert is_overloaded(instance, plan) is expected
        assert bool(violations(instance, plan, FLOATING)) is expected


def test_a_neighbourhood_in_which_cpsat_does_not_count_its_work_ends_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounds of two wide domains approach each other step by step: it took more than 15 minutes."""
    monkeypatch.setattr(cpsat, "SECONDS_PER_EFFORT", 0.5)
    half = ((0, 0), (F(1, 2), 0), (F(1, 2), F(1, 2)), (1, F(1, 2)), (1, 1))
    least = Part(
        F(9999999999, 17500000000),
        F(1249999999, 8750000000),
        benefit=((0, 0), (0, F(1, 3)), (1, 1)),
    )
    pinned = Part(F(10000000001, 13125000000), F(8, 21), benefit=linear(), machine=0)
    first = Request("a", 0, 6, 10, F(7, 2), (Part(F(5200000013, 8400000000), benefit=half),))
    machines = (
        Machine("m", F(1249999999, 1250000000)),
        Machine("n", ((0, F(1428571429, 1000000000)), (3, F(1, 7)))),
    )
    instance = Instance(machines, (first, Request("b", 0, 6, 10, 1, (pinned, least))))
    scaled = ScaledInstance.from_instance(instance, "benefit")
    search = LargeNeighbourhoodSearch(
        scaled, {0: (0, scaled.parts[0].minimum)}, Budget(Limits()), 0
    )
    search.systematic_pass()
    assert search.is_stalled
    with pytest.raises(TimeoutError):
        search.random_neighbourhood()
    found = api.solve(instance, "lns", objective="benefit")
    assert found.value == F(7, 9) and found.bound >= F(7, 9)
