"""The search: neighbourhoods, the relaxation, and solvers that say little."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.api import solve
from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.models.coreservation import (
    aggregated_relaxation,
    machine_minimisation,
    primal_heuristics,
)
from dlopt.models.coreservation import lns as lns_module
from dlopt.models.coreservation import milp as milp_module
from dlopt.models.coreservation import search as searching
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Knapsacks
from dlopt.models.coreservation.cpsat import PackingModel
from dlopt.models.coreservation.feasibility import all_or_nothing
from dlopt.models.coreservation.lns import Neighbourhood
from dlopt.models.coreservation.methods import cp_sat, exact_plan, lns, milp
from dlopt.models.coreservation.objective import key_of
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.search import Search, by_spans
from dlopt.problems.coreservation import (
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    violations,
)
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import NOW, packed


def test_a_program_that_refutes_a_plan_is_an_error(monkeypatch) -> None:
    instance = small(seed=3)
    wrong = cpsat.Outcome(Status.INFEASIBLE, None, None, None, "")
    monkeypatch.setattr(PackingModel, "solve", lambda *_: wrong)
    with pytest.raises(SolverError, match="CP-SAT refutes"):
        cp_sat(instance)
    bounded = aggregated_relaxation.Bounded(None)
    monkeypatch.setattr(searching.aggregated_relaxation, "upper_bound", lambda *_, **__: bounded)
    with pytest.raises(SolverError, match="the relaxation refutes"):
        exact_plan(instance)
    low = aggregated_relaxation.Bounded(Fraction(-1))
    monkeypatch.setattr(searching.aggregated_relaxation, "upper_bound", lambda *_, **__: low)
    with pytest.raises(SolverError, match="but its bound is -1"):
        exact_plan(instance)


def test_an_integer_program_that_says_nothing_useful(monkeypatch) -> None:
    instance, original = small(seed=3), milp_module.LinearModel.maximise

    def refuted(self, *args):
        return replace(original(self, *args), status=Status.INFEASIBLE)

    def unbounded(self, *args):
        return replace(original(self, *args), bound=None, assignment={})

    monkeypatch.setattr(milp_module.LinearModel, "maximise", refuted)
    with pytest.raises(SolverError, match="HiGHS refutes"):
        milp(instance)
    monkeypatch.setattr(milp_module.LinearModel, "maximise", unbounded)
    assert milp(instance).status is Status.FEASIBLE
    monkeypatch.setattr(milp_module.LinearModel, "maximise", original)
    monkeypatch.setattr(milp_module, "fits", lambda *_: False)
    assert milp(instance).status is Status.FEASIBLE


def test_neighbourhoods_improve_a_plan_and_answer_alike(monkeypatch) -> None:
    monkeypatch.setattr(lns_module, "_EFFORT", 0.02)
    monkeypatch.setattr(primal_heuristics, "_ROUNDS", 8)
    instance = overloaded(requests=14, seed=2)
    case = Case.of(instance)
    nothing = key_of(case, {})
    limits = Limits()
    once, again = (by_spans(case, {}, limits, 7, whole=False, relaxed=True) for _ in range(2))
    assert once.held == again.held
    assert key_of(case, once.held) > nothing


def test_a_search_by_hand_stops_at_the_level_that_is_open() -> None:
    case = Case.of(overloaded(requests=8, seed=0), "rejections-then-benefit")
    found = Search(case, Budget(NOW)).run({})
    assert found.proven == 0 and len(found.bounds) == 1


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
    assert (
        aggregated_relaxation.upper_bound(case, "benefit", limits, pinned=[("benefit", 2)]).worth
        is None
    )
    assert aggregated_relaxation.upper_bound(case, "benefit", NOW).shares == ()
    apart = min5(requests=12, seed=1, mean_interval=1000)
    assert len(Case.of(apart).spans()) > 1
    everything = searching.trivial(Case.of(apart), "benefit")
    assert solve(apart, "bound-aggregated-lp", limits=NOW).bound == everything
    found = Search(Case.of(packed([3, 3], 5, 2), "rejections-then-machines"), Budget(NOW)).run({})
    assert found.bounds == [0] and found.proven == 0


def test_neighbourhoods_count_machines_over_all_requests() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(6))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    case = Case.of(instance, "rejections-then-machines")
    search = Neighbourhood(case, {}, Budget(Limits()), 0)
    search.sweep()
    assert key_of(case, search.held) >= (0, -3)


def test_solvers_that_end_without_an_answer(monkeypatch) -> None:
    case = Case.of(overloaded(requests=40, seed=1))
    found = milp_module.LinearModel(case).maximise("benefit", Limits(time_s=1e-3), "HiGHS", 0)
    assert not found.assignment
    nothing = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    monkeypatch.setattr(PackingModel, "solve", lambda *_: nothing)
    assert cp_sat(packed([3, 3], 5, 1)).status is Status.FEASIBLE
    unknown = machine_minimisation.Fewest(None, 0, "")
    monkeypatch.setattr(machine_minimisation, "fewest", lambda *_: unknown)
    free = aggregated_relaxation.Bounded(Fraction(0))
    monkeypatch.setattr(searching.aggregated_relaxation, "upper_bound", lambda *_, **__: free)
    monkeypatch.setattr(Knapsacks, "applies", lambda *_: False)
    verdict = all_or_nothing(packed([3, 3], 5, 1))
    assert (verdict.status, verdict.reason) == (
        Status.LIMIT,
        "neither a plan nor a proof was found",
    )
