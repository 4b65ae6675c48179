"""The plan that models start from: a plan, never better than the optimum, and close to it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.backends.pulp import Outcome, optimise
from dlopt.heuristics.iit.methods import edf_iit_2
from dlopt.models.iit import fixed_sequence_lp, prefix_milp, search, sequencing_milp
from dlopt.models.iit.fixed_sequence_lp import CompletionResult, FixedSequenceLp
from dlopt.models.iit.initial_solution import fill_nodes_in_ready_order
from dlopt.models.iit.methods import exact_plan
from dlopt.models.iit.prefix_milp import PrefixMilp, PrefixSearch
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit import Instance, violations
from dlopt.result import Limits, Status
from tests import oracles
from tests.examples import share
from tests.strategies import iit

F = Fraction
FEW = share(5 / 12)


@pytest.mark.property
@given(iit(most=4), st.integers(1, 4))
def test_the_incumbent_is_a_plan_and_never_better_than_the_optimum(instance, most):
    plan = fill_nodes_in_ready_order(instance, most)
    assert violations(instance, plan) == ()
    assert sum(chunk.load for chunk in plan.chunks) == instance.load
    assert len(plan.chunks) <= most
    least = oracles.least_completion(instance, min(most, instance.cluster.nodes))
    assert least <= last_result(plan) <= least * (1 + 1e-6)


@pytest.mark.property
@given(iit(most=7))
def test_larger_incumbents_too(instance):
    """Against the rational proof of the linear programs."""
    plan = fill_nodes_in_ready_order(instance, instance.cluster.nodes)
    assert violations(instance, plan) == ()
    proven = exact_plan(instance, formulation="sequence").bound
    assert proven <= last_result(plan) <= proven * (1 + 1e-6)


@pytest.mark.property
@FEW
@given(iit(most=3, identical=False))
def test_of_different_nodes_it_is_a_plan_too(instance):
    plan = fill_nodes_in_ready_order(instance, instance.cluster.nodes)
    assert violations(instance, plan) == ()
    assert last_result(plan) >= exact_plan(instance).value


def test_a_load_lost_beside_the_set_up_times_goes_to_the_first_node():
    instance = Instance(Cluster(2, tau=1.0, chi=1.0, theta_cm=1e17), (5.0, 0.0), load=1.0)
    (chunk,) = fill_nodes_in_ready_order(instance, 2).chunks
    assert (chunk.node, chunk.load) == (1, 1.0)


def says(monkeypatch, status, bound):
    """Let the solver find no plan of a MILP, and claim a bound."""
    outcome = Outcome(status, None, bound, {}, False, "HiGHS", None)
    for module in (sequencing_milp, prefix_milp):
        monkeypatch.setattr(module, "optimise", lambda *_, **__: outcome)


MILPS = pytest.mark.parametrize("formulation", ["prefix", "order"])
THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
FLOATS = Instance(Cluster(3, tau=1.0, chi=2.0), (0.0, 1.0, 4.0), load=3.0)


@MILPS
def test_a_solver_that_finds_nothing_leaves_the_incumbent(formulation, monkeypatch):
    says(monkeypatch, Status.LIMIT, 1.0)
    found = exact_plan(THREE, formulation=formulation, limits=Limits(time_s=60))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, F(39, 8), F(39, 8))
    monkeypatch.setattr(search, "minimise_over_sequences", out_of_time)
    found = exact_plan(THREE, formulation=formulation, limits=Limits(time_s=60))
    assert found.status is Status.FEASIBLE
    assert float(found.value) == pytest.approx(39 / 8, rel=1e-9)
    assert found.bound < found.value
    assert violations(THREE, found.solution) == ()


def out_of_time(*_, **__):
    raise TimeoutError


@MILPS
def test_a_solver_without_plan_and_bound_leaves_the_incumbent(formulation, monkeypatch):
    """As the time may end: the relaxation gives no bound either, and then not the sequences."""
    says(monkeypatch, Status.LIMIT, None)
    monkeypatch.setattr(search, "completion_lower_bound", out_of_time)
    found = exact_plan(THREE, formulation=formulation, limits=Limits(time_s=60))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, F(39, 8), F(39, 8))
    monkeypatch.setattr(search, "minimise_over_sequences", out_of_time)
    found = exact_plan(THREE, formulation=formulation, limits=Limits(time_s=60))
    assert (found.status, found.bound, found.proof) == (Status.FEASIBLE, None, None)
    assert violations(THREE, found.solution) == ()


@MILPS
def test_an_incumbent_that_is_late_is_no_answer(formulation, monkeypatch):
    says(monkeypatch, Status.LIMIT, 1.0)
    late = replace(THREE, absolute_deadline=4)
    found = exact_plan(late, formulation=formulation, limits=Limits(time_s=60))
    assert (found.status, found.solution) == (Status.LIMIT, None)
    found = exact_plan(late, formulation=formulation)
    assert (found.status, found.solution) == (Status.UNKNOWN, None)


@MILPS
def test_fewest_nodes_keep_the_incumbent_that_meets_the_deadline(formulation, monkeypatch):
    says(monkeypatch, Status.LIMIT, None)
    tight = replace(THREE, absolute_deadline=5)
    found = exact_plan(tight, objective="nodes", formulation=formulation)
    assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 3, 1)
    assert violations(tight, found.solution) == ()


@MILPS
def test_a_bound_that_a_plan_refutes_is_not_used(formulation, monkeypatch):
    """What flows in infinitesimal chunks bounds the plan instead."""
    says(monkeypatch, Status.INFEASIBLE, 1e6)
    found = exact_plan(THREE, formulation=formulation)
    assert found.status is Status.FEASIBLE
    assert float(found.value) == pytest.approx(39 / 8, rel=1e-9)
    assert (found.bound, found.proof) == (Fraction(14, 3), "exact")
    assert "refutes the dual bound of HiGHS" in found.reason


@MILPS
def test_no_time_for_a_milp(formulation):
    found = exact_plan(THREE, formulation=formulation, limits=Limits(time_s=1e-9))
    assert (found.status, found.value) == (Status.LIMIT, None)


def test_the_prefix_model_needs_no_hint_to_leave_late_nodes_out():
    """Alone, the first node ends at 3000; with the second the third is too late to help."""
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 0, 2000), load=1000)
    assert (
        len(PrefixMilp(instance, 3, last_result(fill_nodes_in_ready_order(instance, 3))).nodes) == 2
    )
    assert PrefixSearch(instance, Limits(), "HiGHS", 0).longest_useful_prefix() == 2


@pytest.mark.property
@FEW
@given(iit(most=6))
def test_needed_nodes_cut_no_optimum_off(instance):
    """Against the same program that knows no better than the first node alone, and needs none."""
    nodes = instance.cluster.nodes
    unit = instance.cluster.tau + instance.cluster.chi
    overhead = instance.cluster.theta_cm + instance.cluster.theta_cp
    alone = min(instance.ready_times) + overhead + instance.load * unit
    loose = PrefixMilp(instance, nodes, alone * 2).minimise_completion()
    tight = PrefixMilp(instance, nodes, last_result(fill_nodes_in_ready_order(instance, nodes)))
    tight.minimise_completion()
    assert sum(used.lowBound for used in loose.used) == 1
    needed = int(sum(used.lowBound for used in tight.used))
    best = edf_iit_2(instance)
    assert 1 <= needed <= len(best.solution.chunks)
    for model in (loose, tight):
        _, outcome = model.solve(Limits(), "HiGHS", 0)
        assert outcome.status is Status.OPTIMAL
        assert float(outcome.value) == pytest.approx(float(best.value), rel=1e-6)


def test_all_nodes_that_a_tight_completion_needs_are_used():
    model = PrefixMilp(
        THREE, 3, last_result(fill_nodes_in_ready_order(THREE, 3))
    ).minimise_completion()
    assert [used.lowBound for used in model.used] == [1, 1, 1]


def test_an_optimum_that_no_plan_attains_is_solved_again_with_a_proof(monkeypatch):
    """The solver reports 9/10 of the optimum: at first, then always."""
    always = False

    def lying(problem, *arguments, exact, **named):
        outcome = optimise(problem, *arguments, exact=exact, **named)
        less = replace(outcome, value=outcome.value * 0.9, bound=outcome.bound * 0.9)
        return outcome if exact and not always else less

    monkeypatch.setattr(fixed_sequence_lp, "optimise", lying)
    found = exact_plan(FLOATS)
    assert (found.status, found.value) == (Status.OPTIMAL, pytest.approx(39 / 8, rel=1e-9))
    always = True
    found = exact_plan(FLOATS)
    assert (found.status, found.bound) == (Status.FEASIBLE, None)
    assert "no schedule attains the optimum that HiGHS reports" in found.reason
    assert violations(FLOATS, found.solution, 1e-9) == ()


def test_the_plan_of_a_program_at_a_limit_counts_as_attained():
    model = FixedSequenceLp(THREE, [0, 1, 2]).minimise_completion()
    timed = model.solve(Limits(), "HiGHS", 0, True)
    assert timed.is_attained and timed.completion == timed.bound
    assert not replace(timed, bound=timed.bound * Fraction(99, 100)).is_attained
    assert replace(timed, bound=None).is_attained and replace(timed, plan=None).is_attained
    stopped = replace(timed.outcome, status=Status.LIMIT)
    assert replace(timed, bound=0, outcome=stopped).is_attained


class Claimed(PrefixSearch):
    """Optima of prefixes that a solver in floats claims: the third node gets what is no load."""

    def solve_prefix(self, n, *, proven=True):
        ends, loads = {1: 9.0, 2: 8.0, 3: 8.0}, {1: 3.0, 2: 1.0, 3: 1e-6}
        outcome = Outcome(Status.OPTIMAL, None, ends[n], {}, False, "HiGHS", None)
        return CompletionResult(None, ends[n], ends[n], loads[n], outcome)


def test_a_node_whose_load_is_rounding_does_not_count():
    assert Claimed(FLOATS, Limits(), "HiGHS", 0).longest_useful_prefix() == 2
