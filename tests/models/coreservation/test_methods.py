"""Statuses, limits, options, refusals; floats; machines that are alike."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.api import solve
from dlopt.errors import NotApplicableError
from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.heuristics.coreservation.methods import portfolio
from dlopt.models.common.lexicographic import SearchResult
from dlopt.models.coreservation import (
    aggregated_relaxation,
    machine_minimisation,
    rolling_horizon,
)
from dlopt.models.coreservation.cpsat import CpSatModel, identical_machines, relabel_symmetric
from dlopt.models.coreservation.feasibility import all_or_nothing
from dlopt.models.coreservation.methods import cp_sat, exact_plan, lns, milp
from dlopt.models.coreservation.objective import ObjectiveScaling
from dlopt.models.coreservation.rolling_horizon import exact_per_batch
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import (
    OBJECTIVES,
    Batch,
    Holding,
    Instance,
    Machine,
    Part,
    Request,
    staircase,
    step,
    violations,
)
from dlopt.problems.coreservation import (
    linear as line,
)
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import NOW, packed

HOPELESS = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))


def floats(finest: float = 1e-12):
    """Return an instance of so many digits that capacities have no common unit, by default."""
    part = Part(33.7, 8.1 + finest, line())
    requests = tuple(Request(f"r{k}", 0, 0, 1 + k, 1.5, (part,)) for k in range(3))
    return Instance((Machine("m", 70.3 - finest),), requests, Batch(1))


def test_nothing_that_fits_is_an_optimum() -> None:
    for method in (exact_plan, cp_sat, milp, lns):
        found = method(HOPELESS)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 0, 0)
        assert (
            found.solution.decisions[0].reason
            == "some part fits on no machine, even if it is alone"
        )
    found = exact_plan(HOPELESS, objective="rejections-then-machines")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (1, 0), (1, 0))
    assert all_or_nothing(HOPELESS).reason == "1 request does not fit on empty machines"


def test_without_time_there_is_a_plan_and_a_bound_all_the_same() -> None:
    instance = overloaded(requests=12, seed=1)
    for method in (exact_plan, cp_sat, milp, lns):
        for objective in ("benefit", "rejections-then-benefit"):
            found = method(instance, objective=objective, limits=NOW)
            assert found.status is Status.FEASIBLE
            assert violations(instance, found.solution) == ()
            assert found.reason.startswith("gap not closed; source of the bound: ")
    found = exact_per_batch(min5(requests=30, seed=1), limits=NOW)
    assert found.reason.endswith("batches proven optimal on their own")
    assert all_or_nothing(instance, limits=NOW).status is Status.LIMIT


def test_batches_without_time_are_no_worse_than_the_plan_that_is_given() -> None:
    instance = min5(requests=30, seed=1)
    best = exact_per_batch(instance)
    given = exact_plan(instance, hint=best.solution, limits=Limits(time_s=2)).solution
    found = exact_per_batch(instance, hint=given, limits=NOW)
    assert found.value >= best.value and violations(instance, found.solution) == ()
    broken = replace(given, shares=given.shares * 2)
    found = exact_per_batch(instance, hint=broken, limits=NOW)
    assert violations(instance, found.solution) == () and found.value > 0


def test_a_batch_sees_only_overlapping_holdings(monkeypatch) -> None:
    """Windows touch, or overlap; the machine is held before, in and after all of them."""
    windows = (0, 2), (2, 4), (3, 6), (6, 9), (1, 7)
    requests = tuple(
        Request(f"r{k}", k, start + 5, end + 5, 1, (Part(2),))
        for k, (start, end) in enumerate(windows)
    )
    busy = Holding(0, 0, 3, 5), Holding(0, 9, 10, 1), Holding(0, 20, 30, 5)
    instance = Instance((Machine("m", 5),), requests, Batch(1), holdings=busy)
    seen, of = [], ScaledInstance.from_instance

    def noted(instance, objective, **options):
        own = {(one.start - 5, one.end - 5) for one in instance.holdings}
        seen.append((instance.requests[0].id, own))
        return of(instance, objective, **options)

    monkeypatch.setattr(rolling_horizon.ScaledInstance, "from_instance", noted)
    found = exact_per_batch(instance)
    assert violations(instance, found.solution) == ()
    assert seen == [
        ("r0", set()),
        ("r1", set()),
        ("r2", {(2, 4), (4, 5)}),
        ("r3", set()),
        ("r4", {(0, 2), (2, 4), (3, 6), (4, 5), (6, 9)}),
    ]


@pytest.mark.parametrize("seconds", [1e-9, 1e-3])
def test_batches_under_tiny_limits_are_no_worse_than_the_whole_portfolio(seconds) -> None:
    for objective in ("benefit", "rejections-then-benefit"):
        instance = min5(requests=12, seed=4, ahead=100)
        best = portfolio(instance, objective=objective)
        found = solve(
            instance,
            "rolling-exact",
            objective=objective,
            hint=best.solution,
            limits=Limits(time_s=seconds),
        )
        assert violations(instance, found.solution) == ()
        goal = OBJECTIVES[objective]
        assert found.value == best.value or goal.better(found.value, best.value)


def test_batches_are_left_open_for_what_they_cost_later(monkeypatch) -> None:
    # The first request is worth less than the second one, which comes later and overlaps.
    soon = Request("a", 0, 2, 5, 1, (Part(3),)), Request("b", 0, 2, 5, 2, (Part(1),))
    late = Request("c", 1, 2, 5, 9, (Part(4),))
    instance = Instance((Machine("m", 5),), (*soon, late), Batch(1))
    given = exact_plan(instance).solution
    monkeypatch.setattr(
        rolling_horizon,
        "solve_by_components",
        lambda _, assignment, *__, **___: SearchResult(assignment),
    )
    found = exact_per_batch(instance, hint=given)
    assert found.solution == given and found.reason.endswith(
        "the initial schedule has a better value"
    )
    assert exact_per_batch(instance).value < found.value


def test_a_gap_that_is_good_enough_ends_the_search() -> None:
    found = exact_plan(overloaded(requests=12, seed=1), limits=Limits(gap=0.5))
    assert found.status is Status.FEASIBLE and found.gap <= Fraction(1, 2)


def test_floats_are_solved_by_the_integer_program_and_refused_in_whole_numbers() -> None:
    instance = floats()
    found = solve(instance)
    assert found.status is Status.OPTIMAL and found.solver == "HiGHS"
    assert found.value == pytest.approx((70.3 / 33.7) / 3 if 70.3 < 3 * 33.7 else 1)
    for method in (cp_sat, lns):
        with pytest.raises(NotApplicableError, match="stands for the decimal"):
            method(instance)
    with pytest.raises(NotApplicableError, match="needs integers: shares and capacities"):
        exact_plan(instance, formulation="cp-sat")
    assert isinstance(solve(instance, "bound-aggregated-lp").bound, float)
    assert exact_per_batch(instance).value == pytest.approx(found.value)
    assert isinstance(exact_plan(instance, objective="rejections-then-benefit").value[1], float)
    assert all_or_nothing(instance).status is Status.OPTIMAL


def test_floats_with_a_common_unit_are_counted() -> None:
    found = solve(floats(0))
    assert (found.status, found.solver) == (Status.OPTIMAL, "CP-SAT")
    assert found.value == pytest.approx(solve(floats()).value)
    part = Part(0.5, 0.25, line())
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (part,)) for k in range(3))
    found = solve(Instance((Machine("m", 1.25),), requests, Batch(1)))
    assert (found.status, found.solver) == (Status.OPTIMAL, "CP-SAT")
    assert found.value == found.bound == pytest.approx(5 / 6)


def test_formulations_by_option() -> None:
    instance = small(seed=3)
    best = exact_plan(instance).value
    assert exact_plan(instance, formulation="milp").value == best
    assert exact_plan(instance, formulation="cp-sat").value == best
    with pytest.raises(NotApplicableError, match="PuLP knows no solver 'no'"):
        exact_plan(instance, solver="no")


def test_coefficients_without_a_small_common_denominator_are_rounded_up() -> None:
    primes = (61, 67, 71, 73, 79, 83, 89, 97)
    parts = [(Part(p, Fraction(p, 4), line()),) for p in primes]
    requests = [Request(f"r{k}", 0, 0, 9, 1 + k, part) for k, part in enumerate(parts)]
    instance = Instance((Machine("m", 200),), tuple(requests), Batch(1))
    scaled = ScaledInstance.from_instance(instance)
    assert not ObjectiveScaling.for_level(scaled, "benefit").exact
    found, other = exact_plan(instance), milp(instance)
    assert found.status is Status.OPTIMAL and found.bound == found.value == other.value
    assert other.status is Status.FEASIBLE and other.proof == "solver"
    assert 0 < other.bound - other.value <= Fraction(3, 10**7)
    assert aggregated_relaxation.upper_bound(scaled, "benefit", Limits()).value >= found.value


def test_identical_machines_are_used_in_order() -> None:
    instance = packed([3, 3, 2, 2], 5, 3)
    scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
    assert identical_machines(scaled) == [(0, 1, 2)]
    assignment = {0: (2, 3), 1: (1, 3), 2: (2, 2), 3: (1, 2)}
    assert relabel_symmetric(scaled, assignment, [[0, 1, 2]]) == {
        0: (0, 3),
        1: (1, 3),
        2: (0, 2),
        3: (1, 2),
    }
    model = CpSatModel(scaled)
    model.model.maximize(model.objective_expression(ObjectiveScaling.for_level(scaled, "machines")))
    model.hint(assignment)
    assert model.solve(Limits(), 0).status is Status.OPTIMAL


def test_fewest_machines_where_parts_come_and_go() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    found = exact_plan(instance, objective="rejections-then-machines")
    assert (found.status, found.value) == (Status.OPTIMAL, (0, 2))
    bound = solve(instance, "bound-aggregated-lp", objective="rejections-then-machines").bound
    assert bound == (0, 2)


def test_fewest_machines_where_some_are_named_or_small() -> None:
    named = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1, machine=k),)) for k in range(3))
    many = tuple(Machine(f"m{j}", 5) for j in range(3))
    found = exact_plan(Instance(many, named, Batch(1)), objective="rejections-then-machines")
    assert (found.status, found.value) == (Status.OPTIMAL, (0, 3))
    scaled = ScaledInstance.from_instance(
        Instance(many, named, Batch(1)), "rejections-then-machines"
    )
    assert (
        machine_minimisation.minimise_machines(scaled, Limits()).proof
        == "parts are fixed to as many machines"
    )
    uneven = replace(packed([4, 4, 2], 5, 3), machines=(Machine("a", 5), Machine("b", 6)))
    found = exact_plan(uneven, objective="rejections-then-machines")
    assert (found.status, found.value) == (Status.OPTIMAL, (0, 2))


def test_more_rejections_than_needed_never_save_a_machine() -> None:
    found = exact_plan(packed([4, 4, 4], 5, 2), objective="rejections-then-machines")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (1, 2), (1, 2))


def test_machines_that_do_not_suffice() -> None:
    # 3 x 4 fits by what the sizes amount to, not side by side
    found = all_or_nothing(packed([4, 4, 4], 7, 2))
    assert found.status is Status.INFEASIBLE
    apart = (Request("a", 0, 0, 2, 1, (Part(2),)), Request("b", 0, 1, 3, 1, (Part(3),)))
    steps = Machine("m", ((0, 9), (1, 4)))
    found = all_or_nothing(Instance((steps,), apart, Batch(1)))
    assert found.status is Status.INFEASIBLE and "are rejected" in found.reason


def test_levels_are_proven_one_after_another() -> None:
    # zero rejections are worth .318 here, rejecting the hard one .909
    soft = Request("a", 0, 0, 1, 10, (Part(4, 1, line()),))
    hard = Request("b", 0, 0, 1, 1, (Part(3),))
    instance = Instance((Machine("m", 4),), (soft, hard))
    value = {
        goal: exact_plan(instance, objective=goal).value
        for goal in ("benefit-then-rejections", "rejections-then-benefit")
    }
    assert value["benefit-then-rejections"] == (Fraction(10, 11), 1)
    assert value["rejections-then-benefit"] == (0, Fraction(7, 22))


def test_benefit_shapes_become_segments() -> None:
    part = Part(8, 2, staircase(4))
    request = Request("r", 0, 0, 1, 1, (part, Part(8, 3, line()), Part(8, 2, step())))
    scaled = ScaledInstance.from_instance(Instance((Machine("m", 40),), (request,)))
    segments = [[(p.low, p.high, p.benefit) for p in part.segments] for part in scaled.parts]
    quarter = Fraction(1, 4)
    assert segments[0] == [(2 * k, 2 * k, k * quarter) for k in range(1, 5)]
    assert segments[1] == [(3, 8, Fraction(3, 8))]
    assert segments[2] == [(2, 2, 0), (8, 8, 1)]
