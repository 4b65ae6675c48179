"""Statuses, limits, options, refusals; bin packing; machines that are alike."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Self

import pytest

from dlopt.api import solve
from dlopt.backends import cpsat
from dlopt.backends.budget import Budget
from dlopt.errors import NotApplicableError, SolverError
from dlopt.generation.coreservation import bins as drawn_bins
from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.models.coreservation import batched, linear, machines, neighbourhood, pooled
from dlopt.models.coreservation import bins as packing_bins
from dlopt.models.coreservation import search as searching
from dlopt.models.coreservation.batched import exact_per_batch
from dlopt.models.coreservation.bins import Packing, pack, simple_bound
from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.methods import cp_sat, exact_plan, lns, milp
from dlopt.models.coreservation.neighbourhood import Neighbourhood
from dlopt.models.coreservation.packing import PackingModel, alike, in_order
from dlopt.models.coreservation.search import Search, by_spans
from dlopt.models.coreservation.sufficing import all_or_nothing
from dlopt.models.coreservation.worth import Scale, key_of
from dlopt.problems.coreservation import (
    Batch,
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
from tests.data import data_folder

NOW = Limits(time_s=1e-9)


def packed(sizes, capacity, count):
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(size),)) for k, size in enumerate(sizes))
    return Instance(tuple(Machine(f"m{j}", capacity) for j in range(count)), requests, Batch(1))


def floats():
    part = Part(33.7, 8.1, line())
    requests = tuple(Request(f"r{k}", 0, 0, 1 + k, 1.5, (part,)) for k in range(3))
    return Instance((Machine("m", 70.3),), requests, Batch(1))


HOPELESS = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))


def test_nothing_that_fits_is_an_optimum() -> None:
    for method in (exact_plan, cp_sat, milp, lns):
        found = method(HOPELESS)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 0, 0)
        assert found.solution.decisions[0].because == "some part fits on no machine, even alone"
    found = exact_plan(HOPELESS, objective="rejections-then-machines")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, (1, 0), (1, 0))
    assert all_or_nothing(HOPELESS).reason == "1 requests do not fit even alone"


def test_without_time_there_is_a_plan_and_a_bound_all_the_same() -> None:
    instance = overloaded(requests=12, seed=1)
    for method in (exact_plan, cp_sat, milp, lns):
        for objective in ("benefit", "rejections-then-benefit"):
            found = method(instance, objective=objective, limits=NOW)
            assert found.status is Status.FEASIBLE
            assert violations(instance, found.solution) == ()
            assert found.reason.startswith("value and bound have not met")
    found = exact_per_batch(min5(requests=30, seed=1), limits=NOW)
    assert found.reason.endswith("are proven optimal by themselves")
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


def test_batches_are_left_open_for_what_they_cost_later(monkeypatch) -> None:
    # The first request is worth less than the second one, which comes later and overlaps.
    soon = Request("a", 0, 2, 5, 1, (Part(3),)), Request("b", 0, 2, 5, 2, (Part(1),))
    late = Request("c", 1, 2, 5, 9, (Part(4),))
    instance = Instance((Machine("m", 5),), (*soon, late), Batch(1))
    given = exact_plan(instance).solution
    monkeypatch.setattr(batched, "by_spans", lambda _, held, *__, **___: searching.Found(held))
    found = exact_per_batch(instance, hint=given)
    assert found.solution == given and found.reason.endswith("given is worth more")
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
        with pytest.raises(NotApplicableError, match="floats are binary fractions"):
            method(instance)
    with pytest.raises(NotApplicableError, match="in whole numbers: shares and capacities"):
        exact_plan(instance, formulation="cp-sat")
    assert isinstance(solve(instance, "bound-lp").bound, float)
    assert exact_per_batch(instance).value == pytest.approx(found.value)
    assert isinstance(exact_plan(instance, objective="rejections-then-benefit").value[1], float)
    assert all_or_nothing(instance).status is Status.OPTIMAL


def test_floats_with_a_common_unit_are_counted() -> None:
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
    case = Case.of(instance)
    assert not Scale.of(case, "benefit").exact
    found, other = exact_plan(instance), milp(instance)
    assert found.status is other.status is Status.OPTIMAL
    assert 0 <= found.bound - found.value <= found.value / 10**9
    assert other.value == found.value
    assert pooled.upper_bound(case, "benefit", Limits()).worth >= found.value


def test_machines_that_are_alike_are_used_in_order() -> None:
    instance = packed([3, 3, 2, 2], 5, 3)
    case = Case.of(instance, "rejections-then-machines")
    assert alike(case) == [[0, 1, 2]]
    held = {0: (2, 3), 1: (1, 3), 2: (2, 2), 3: (1, 2)}
    assert in_order(case, held, [[0, 1, 2]]) == {0: (0, 3), 1: (1, 3), 2: (0, 2), 3: (1, 2)}
    model = PackingModel(case)
    model.model.maximize(model.worth(Scale.of(case, "machines")))
    model.hint(held)
    assert model.solve(Limits(), 0).status is Status.OPTIMAL


def test_fewest_machines_where_parts_come_and_go() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    found = exact_plan(instance, objective="rejections-then-machines")
    assert (found.status, found.value) == (Status.OPTIMAL, (0, 2))
    bound = solve(instance, "bound-lp", objective="rejections-then-machines").bound
    assert bound == (0, 2)


def test_fewest_machines_where_some_are_named_or_small() -> None:
    named = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1, machine=k),)) for k in range(3))
    many = tuple(Machine(f"m{j}", 5) for j in range(3))
    found = exact_plan(Instance(many, named, Batch(1)), objective="rejections-then-machines")
    assert (found.status, found.value) == (Status.OPTIMAL, (0, 3))
    case = Case.of(Instance(many, named, Batch(1)), "rejections-then-machines")
    assert machines.fewest(case, Limits()).proof == "as many machines are named"
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


@pytest.mark.parametrize(
    ("sizes", "capacity", "count"),
    [([], 5, 0), ([5], 5, 1), ([3, 3, 3], 5, 3), ([2] * 5, 4, 3), ([6, 5, 5, 4, 4, 3, 3], 10, 3)],
)
def test_few_bins(sizes, capacity, count) -> None:
    found = pack(sizes, capacity, Limits())
    assert len(found.bins) == found.bound == count and found.proven
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)


def test_bins_that_first_fit_misses() -> None:
    for seed in range(6):
        instance = drawn_bins(items=40, seed=seed)
        sizes = [request.parts[0].cpu for request in instance.requests]
        capacity = instance.machines[0].capacity
        found = pack(sizes, capacity, Limits())
        assert simple_bound(sorted(sizes, reverse=True), capacity) <= found.bound
        assert found.bound <= len(found.bins) <= found.bound + 1
        assert sorted(size for one in found.bins for size in one) == sorted(sizes)
        assert max(map(sum, found.bins)) <= capacity


def test_bins_without_time() -> None:
    sizes = [366, 268, 366, 430, 263, 307, 414, 287, 299, 495, 251, 254]
    found = pack(sizes, 1000, NOW)
    assert found.bound <= len(found.bins)
    assert not Packing(((1,), (1,)), 1, "").proven


@pytest.mark.parametrize(("file", "count"), [("binpack1.txt", 3), ("binpack5.txt", 3)])
def test_falkenauers_bins_are_packed_at_the_proven_optimum(file, count) -> None:
    folder = data_folder("binpack") / "orlib"
    optima = {}
    for line_ in (folder / "optima.csv").read_text().splitlines()[1:]:
        name, instance, *_, best, _ = line_.split(",")
        optima[name, instance] = int(best)
    words = iter((folder / file).read_text().split())
    next(words)
    for _ in range(count):
        name, capacity = next(words), int(10 * Fraction(next(words)))
        items = int(next(words))
        next(words)
        sizes = [int(10 * Fraction(next(words))) for _ in range(items)]
        found = pack(sizes, capacity, Limits())
        assert len(found.bins) == found.bound == optima[file, name]


def test_a_program_that_refutes_a_plan_is_an_error(monkeypatch) -> None:
    instance = small(seed=3)
    wrong = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "")
    monkeypatch.setattr(PackingModel, "solve", lambda *_: wrong)
    with pytest.raises(SolverError, match="CP-SAT refutes"):
        cp_sat(instance)
    bounded = pooled.Bounded(None)
    monkeypatch.setattr(searching.pooled, "upper_bound", lambda *_, **__: bounded)
    with pytest.raises(SolverError, match="the relaxation refutes"):
        exact_plan(instance)
    low = pooled.Bounded(Fraction(-1))
    monkeypatch.setattr(searching.pooled, "upper_bound", lambda *_, **__: low)
    with pytest.raises(SolverError, match="but its bound is -1"):
        exact_plan(instance)


def test_an_integer_program_that_says_nothing_useful(monkeypatch) -> None:
    instance, original = small(seed=3), linear.LinearModel.maximise

    def refuted(self, *args):
        return replace(original(self, *args), status=Status.INFEASIBLE)

    def unbounded(self, *args):
        return replace(original(self, *args), bound=None, assignment={})

    monkeypatch.setattr(linear.LinearModel, "maximise", refuted)
    with pytest.raises(SolverError, match="HiGHS refutes"):
        milp(instance)
    monkeypatch.setattr(linear.LinearModel, "maximise", unbounded)
    assert milp(instance).status is Status.FEASIBLE
    monkeypatch.setattr(linear.LinearModel, "maximise", original)
    monkeypatch.setattr(linear, "fits", lambda *_: False)
    assert milp(instance).status is Status.FEASIBLE


def test_neighbourhoods_improve_a_plan_and_answer_alike(monkeypatch) -> None:
    monkeypatch.setattr(neighbourhood, "_EFFORT", 0.02)
    monkeypatch.setattr(searching, "_ROUNDS", 8)
    instance = overloaded(requests=14, seed=2)
    case = Case.of(instance)
    nothing = key_of(case, {})
    limits = Limits()
    once, again = (by_spans(case, {}, limits, 7, whole=False, relaxed=True) for _ in range(2))
    assert once.held == again.held
    assert key_of(case, once.held) > nothing


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


def test_a_search_by_hand_stops_at_the_level_that_is_open() -> None:
    case = Case.of(overloaded(requests=8, seed=0), "rejections-then-benefit")
    found = Search(case, Budget(NOW)).run({})
    assert found.proven == 0 and len(found.bounds) == 1


def test_shapes_become_pieces() -> None:
    part = Part(8, 2, staircase(4))
    request = Request("r", 0, 0, 1, 1, (part, Part(8, 3, line()), Part(8, 2, step())))
    case = Case.of(Instance((Machine("m", 40),), (request,)))
    pieces = [[(p.low, p.high, p.worth) for p in job.pieces] for job in case.jobs]
    quarter = Fraction(1, 4)
    assert pieces[0] == [(2 * k, 2 * k, k * quarter) for k in range(1, 5)]
    assert pieces[1] == [(3, 8, Fraction(3, 8))]
    assert pieces[2] == [(2, 2, 0), (8, 8, 1)]


def test_neighbourhoods_within_a_time_limit_and_with_machines_to_count() -> None:
    instance = overloaded(requests=14, seed=2)
    found = exact_plan(instance, limits=Limits(time_s=2))
    assert found.value > Fraction(1, 2) and violations(instance, found.solution) == ()
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    found = lns(instance, objective="rejections-then-machines")
    assert found.value == found.bound == (0, 2)


def test_a_relaxation_that_is_asked_for_too_much_or_has_no_time() -> None:
    case = Case.of(overloaded(requests=12, seed=1))
    limits = Limits()
    assert pooled.upper_bound(case, "benefit", limits, pinned=[("benefit", 2)]).worth is None
    assert pooled.upper_bound(case, "benefit", NOW).shares == ()
    apart = min5(requests=12, seed=1, mean_interval=1000)
    assert len(Case.of(apart).spans()) > 1
    everything = searching.trivial(Case.of(apart), "benefit")
    assert solve(apart, "bound-lp", limits=NOW).bound == everything
    found = Search(Case.of(packed([3, 3], 5, 2), "rejections-then-machines"), Budget(NOW)).run({})
    assert found.bounds == [0] and found.proven == 0


def test_prices_bound_where_sizes_do_not() -> None:
    sizes = [44, 34, 30, 30, 30, 30, 27, 27, 27, 21]
    found = pack(sizes, 100, Limits())
    assert simple_bound(sizes, 100) == 3
    assert found.bound == len(found.bins) == 4 and found.proof.startswith("a linear program")
    case = Case.of(packed(sizes, 100, 4), "rejections-then-machines")
    assert machines.fewest(case, Limits()).bound == 4
    assert "at least 4 machines" in all_or_nothing(packed(sizes, 100, 3)).reason


def test_neighbourhoods_count_machines_over_all_requests() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(6))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    case = Case.of(instance, "rejections-then-machines")
    search = Neighbourhood(case, {}, Budget(Limits()), 0)
    search.sweep()
    assert key_of(case, search.held) >= (0, -3)


def test_solvers_that_end_without_an_answer(monkeypatch) -> None:
    case = Case.of(overloaded(requests=40, seed=1))
    found = linear.LinearModel(case).maximise("benefit", Limits(time_s=1e-3), "HiGHS", 0)
    assert not found.assignment
    nothing = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    monkeypatch.setattr(PackingModel, "solve", lambda *_: nothing)
    assert cp_sat(packed([3, 3], 5, 1)).status is Status.FEASIBLE
    unknown = machines.Fewest(None, 0, "")
    monkeypatch.setattr(machines, "fewest", lambda *_: unknown)
    free = pooled.Bounded(Fraction(0))
    monkeypatch.setattr(searching.pooled, "upper_bound", lambda *_, **__: free)
    verdict = all_or_nothing(packed([3, 3], 5, 1))
    assert (verdict.status, verdict.reason) == (
        Status.LIMIT,
        "neither a plan nor a proof was found",
    )


def test_patterns_when_there_are_too_many_and_when_they_do_not_do(monkeypatch) -> None:
    sizes = [495, 474, 473, 475, 472, 444, 439, 430, 268, 266, 263, 254, 253, 252, 251, 299]
    best = pack(sizes, 1000, Limits())
    monkeypatch.setattr(packing_bins, "_MANY", 0)
    again = pack(sizes, 1000, Limits())
    assert best.bound == again.bound <= len(again.bins)
    monkeypatch.setattr(packing_bins._Patterns, "_dived", lambda _, best, __: best)
    assert len(pack(sizes, 1000, Limits()).bins) >= best.bound
    monkeypatch.undo()
    monkeypatch.setattr(packing_bins._Patterns, "_dived", lambda _, best, __: best)
    said = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "")
    monkeypatch.setattr(cpsat, "optimise", lambda *_, **__: said)
    assert len(pack(sizes, 1000, Limits()).bins) >= best.bound


def triplets(seed: int) -> list[int]:
    """Return 60 sizes of which three each fill a bin of 1000."""
    draw, sizes = random.Random(seed), list[int]()
    for _ in range(20):
        large = draw.randint(380, 490)
        middle = draw.randint(250, (1000 - large) // 2)
        sizes += [large, middle, 1000 - large - middle]
    return sizes


def test_triplets_need_the_program_over_patterns() -> None:
    sizes = triplets(11)
    found = pack(sizes, 1000, Limits())
    assert len(found.bins) == found.bound == 20
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)


def test_a_dive_ends_when_all_is_packed_though_the_aim_is_out_of_reach() -> None:
    sizes = triplets(0)
    first = [(size,) for size in sorted(sizes, reverse=True)]
    search = packing_bins._Patterns(sizes, 1000, Budget(Limits()), 0, first)
    assert search.price() == 20
    best = search._dived(first, aim=0)
    assert 20 <= len(best) < 60
    assert sorted(size for one in best for size in one) == sorted(sizes)


def test_prices_that_no_solver_gives_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def __init__(self, *given: object) -> None:
            self.status = Status.LIMIT

        def solve(self) -> Self:
            return self

    monkeypatch.setattr(packing_bins, "LinearSolver", Silent)
    sizes = triplets(0)
    search = packing_bins._Patterns(sizes, 1000, Budget(Limits()), 0, [(size,) for size in sizes])
    assert search.price() == 0
