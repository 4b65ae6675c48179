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
    upper_bounds,
)
from dlopt.models.coreservation import lns as lns_module
from dlopt.models.coreservation import milp as milp_module
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import MachineKnapsack
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.feasibility import all_or_nothing
from dlopt.models.coreservation.lns import LargeNeighbourhoodSearch
from dlopt.models.coreservation.methods import cp_sat, exact_plan, lns, milp
from dlopt.models.coreservation.objective import objective_key, trivial_bound
from dlopt.models.coreservation.requests import time_components
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch, solve_by_components
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
    monkeypatch.setattr(CpSatModel, "solve", lambda *_: wrong)
    with pytest.raises(SolverError, match="CP-SAT excludes"):
        cp_sat(instance)
    bounded = aggregated_relaxation.RelaxationBound(None)
    monkeypatch.setattr(upper_bounds.aggregated_relaxation, "upper_bound", lambda *_, **__: bounded)
    with pytest.raises(SolverError, match="the aggregated relaxation excludes"):
        exact_plan(instance)
    low = aggregated_relaxation.RelaxationBound(Fraction(-1))
    monkeypatch.setattr(upper_bounds.aggregated_relaxation, "upper_bound", lambda *_, **__: low)
    with pytest.raises(SolverError, match="but the bound is -1"):
        exact_plan(instance)


def test_an_integer_program_that_says_nothing_useful(monkeypatch) -> None:
    instance, original = small(seed=3), milp_module.MilpModel.maximise

    def refuted(self, *args):
        return replace(original(self, *args), status=Status.INFEASIBLE)

    def unbounded(self, *args):
        return replace(original(self, *args), bound=None, assignment={})

    for useless in (refuted, unbounded):
        monkeypatch.setattr(milp_module.MilpModel, "maximise", useless)
        assert milp(instance).status is Status.FEASIBLE
    monkeypatch.setattr(milp_module.MilpModel, "maximise", original)
    monkeypatch.setattr(milp_module, "is_feasible", lambda *_: False)
    assert milp(instance).status is Status.FEASIBLE


def test_neighbourhoods_improve_a_schedule_and_are_deterministic(monkeypatch) -> None:
    monkeypatch.setattr(lns_module, "NEIGHBOURHOOD_EFFORT", 0.02)
    monkeypatch.setattr(primal_heuristics, "MAX_NEIGHBOURHOODS", 8)
    monkeypatch.setattr(cpsat, "SECONDS_PER_EFFORT", 3600)  # else 1.2 s may end a neighbourhood
    instance = overloaded(requests=14, seed=2)
    scaled = ScaledInstance.from_instance(instance)
    nothing = objective_key(scaled, {})
    limits = Limits()
    once, again = (
        solve_by_components(scaled, {}, limits, 7, full_model=False, relaxation=True)
        for _ in range(2)
    )
    assert once.incumbent == again.incumbent
    assert objective_key(scaled, once.incumbent) > nothing


def test_a_search_by_hand_stops_at_the_level_that_is_open() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=8, seed=0), "rejections-then-benefit")
    found = PortfolioSearch(scaled, Budget(NOW)).run({})
    assert found.proven_levels == 0 and len(found.bounds) == 1


def test_neighbourhoods_within_a_time_limit_and_with_machines_to_count() -> None:
    instance = overloaded(requests=14, seed=2)
    found = exact_plan(instance, limits=Limits(time_s=2))
    assert found.value > Fraction(1, 2) and violations(instance, found.solution) == ()
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    found = lns(instance, objective="rejections-then-machines")
    assert found.value == found.bound == (0, 2)


def test_a_relaxation_that_is_asked_for_too_much_or_has_no_time() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=12, seed=1))
    limits = Limits()
    assert (
        aggregated_relaxation.upper_bound(
            scaled, "benefit", limits, fixed_levels=[("benefit", 2)]
        ).value
        is None
    )
    assert aggregated_relaxation.upper_bound(scaled, "benefit", NOW).shares == ()
    apart = min5(requests=12, seed=1, mean_interval=1000)
    assert len(time_components(ScaledInstance.from_instance(apart).requests)) > 1
    everything = trivial_bound(ScaledInstance.from_instance(apart), "benefit")
    assert solve(apart, "bound-aggregated-lp", limits=NOW).bound == everything
    found = PortfolioSearch(
        ScaledInstance.from_instance(packed([3, 3], 5, 2), "rejections-then-machines"), Budget(NOW)
    ).run({})
    assert found.bounds == [0] and found.proven_levels == 0


def test_neighbourhoods_count_machines_over_all_requests() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(6))
    instance = Instance(tuple(Machine(f"m{j}", 5) for j in range(4)), requests, Batch(9))
    scaled = ScaledInstance.from_instance(instance, "rejections-then-machines")
    search = LargeNeighbourhoodSearch(scaled, {}, Budget(Limits()), 0)
    search.systematic_pass()
    assert objective_key(scaled, search.assignment) >= (0, -3)


def test_solvers_that_end_without_an_answer(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=40, seed=1))
    found = milp_module.MilpModel(scaled).maximise("benefit", Limits(time_s=1e-3), "HiGHS", 0)
    assert not found.assignment
    nothing = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    monkeypatch.setattr(CpSatModel, "solve", lambda *_: nothing)
    assert cp_sat(packed([3, 3], 5, 1)).status is Status.FEASIBLE
    unknown = machine_minimisation.MachineBound(None, 0, "")
    monkeypatch.setattr(machine_minimisation, "minimise_machines", lambda *_: unknown)
    free = aggregated_relaxation.RelaxationBound(Fraction(0))
    monkeypatch.setattr(upper_bounds.aggregated_relaxation, "upper_bound", lambda *_, **__: free)
    monkeypatch.setattr(upper_bounds.knapsack_bound, "upper_bound", trivial_bound)
    monkeypatch.setattr(MachineKnapsack, "applies", lambda *_: False)
    verdict = all_or_nothing(packed([3, 3], 5, 1))
    assert (verdict.status, verdict.reason) == (
        Status.LIMIT,
        "neither a schedule nor a proof was found",
    )
