"""The exact methods: smallest cases, limits, solvers, refusals."""

import warnings
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pulp
import pytest

from dlopt import Limits, NotApplicableError, SolverError, Status, check, compare, generate, solve
from dlopt.arithmetic import exact
from dlopt.backends.pulp import optimise
from dlopt.heuristics.iit.methods import edf_iit_2, opr
from dlopt.models.iit import fluid_relaxation
from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp
from dlopt.models.iit.methods import bound_fluid, exact_plan
from dlopt.models.iit.prefix_milp import PrefixSearch
from dlopt.models.iit.scaled_instance import ScaledInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Instance, violations

THREE = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
DIFFERENT = Instance(Cluster(3, tau=(1, 2, 1), chi=(3, 1, 2)), (0, 1, 4), load=5)


@pytest.mark.parametrize(("ready", "deadline"), [((0, 1), 3), ((0, 0), 2), ((0, 0), None)])
@pytest.mark.parametrize("formulation", ["sequence", "prefix", "order"])
def test_without_computation_one_node_does_it_all(ready, deadline, formulation):
    """With chi = 0 the program of two nodes has many optima, some of which load the second."""
    cluster = Cluster(2, tau=1, chi=0, theta_cm=1)
    instance = Instance(cluster, ready, load=1, absolute_deadline=deadline)
    found = solve(instance, formulation=formulation)
    assert (found.status, found.value) == (Status.OPTIMAL, 2)
    late = Instance(cluster, ready, load=9, absolute_deadline=2)
    assert "1 of load 9 can be done" in solve(late).reason


def test_too_many_heterogeneous_nodes_are_refused():
    instance = generate("iit", "random", nodes=501, spread=3)
    with pytest.raises(NotApplicableError, match="sequencing model too large"):
        solve(instance)
    assert "exact" in dict(compare(instance, ["exact", "equal-finish"]).skipped)
    with pytest.raises(NotApplicableError, match="binaries"):
        solve(THREE, installments=10**9)


def test_more_threads_than_cores_are_not_started():
    assert solve(DIFFERENT, limits=Limits(threads=100_000)).status is Status.OPTIMAL


@pytest.mark.parametrize("formulation", ["sequence", "prefix", "order"])
def test_one_node(formulation):
    instance = Instance(Cluster(1, tau=2, chi=3, theta_cm=1, theta_cp=4), (7,), load=2)
    found = exact_plan(instance, formulation=formulation)
    assert found.value == 7 + 1 + 4 + 2 * 5


@pytest.mark.parametrize("formulation", ["sequence", "prefix"])
def test_a_deadline_that_nothing_meets_is_infeasible_with_the_load_that_can_be_done(formulation):
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, absolute_deadline=4)
    for objective in ("completion", "nodes"):
        found = exact_plan(instance, objective=objective, formulation=formulation)
        assert found.status is Status.INFEASIBLE
        assert found.solution is None
        done = sum(_most(instance))
        assert f"{done} of load 3 can be done" in found.reason


@pytest.mark.parametrize("size", [Fraction(1, 10**9), Fraction(1, 10**14), Fraction(1, 10**20)])
def test_a_node_whose_part_is_too_small_for_floats_is_used_all_the_same(size):
    """The first node alone ends at 9; ready just before, the second takes size / 6 of the load."""
    instance = Instance(Cluster(2, tau=1, chi=2), (0, 9 - size), load=3)
    found = exact_plan(instance)
    assert (found.status, found.proof) == (Status.OPTIMAL, "exact")
    assert found.value == found.bound == 9 - size / 2
    assert [chunk.load for chunk in found.solution.chunks] == [3 - size / 6, size / 6]


def _most(instance):
    from dlopt.heuristics.iit.edf_iit_2 import maximum_loads

    return maximum_loads(instance.cluster, instance.ready_times, instance.absolute_deadline)


def test_free_order_says_infeasible_too():
    instance = Instance(
        DIFFERENT.cluster, DIFFERENT.ready_times, DIFFERENT.load, absolute_deadline=3
    )
    found = exact_plan(instance)
    assert found.status is Status.INFEASIBLE
    assert "the minimum completion time is" in found.reason


def test_a_deadline_met_to_the_instant_is_feasible():
    at = edf_iit_2(THREE).value
    instance = Instance(THREE.cluster, THREE.ready_times, THREE.load, absolute_deadline=at)
    for formulation in ("sequence", "prefix", "order"):
        found = exact_plan(instance, objective="nodes", formulation=formulation)
        assert (found.status, found.value) == (Status.OPTIMAL, 3)


def test_no_load_fits_before_set_up():
    instance = Instance(Cluster(2, 1, 1, theta_cm=5), (0, 0), load=1, absolute_deadline=4)
    found = exact_plan(instance)
    assert found.status is Status.INFEASIBLE
    assert "0 of load 1" in found.reason


def test_formulations_that_do_not_fit_are_refused():
    with pytest.raises(NotApplicableError, match="identical"):
        exact_plan(DIFFERENT, formulation="sequence")
    with pytest.raises(NotApplicableError, match="installment"):
        exact_plan(THREE, formulation="prefix", installments=2)


def test_another_solver_by_name():
    with warnings.catch_warnings(action="ignore"):
        if "PULP_CBC_CMD" not in pulp.listSolvers(onlyAvailable=True):
            pytest.skip("this PuLP brings no CBC")
    for formulation in ("sequence", "prefix", "order"):
        found = solve(THREE, formulation=formulation, solver="PULP_CBC_CMD")
        assert found.status is Status.OPTIMAL
        assert found.solver == "PULP_CBC_CMD"
        assert float(found.value) == pytest.approx(39 / 8, rel=1e-6)


def test_unknown_or_missing_solvers_are_reported():
    with pytest.raises(NotApplicableError, match="knows no solver"):
        exact_plan(THREE, solver="nonesuch")
    with warnings.catch_warnings(action="ignore"):
        here = pulp.listSolvers(onlyAvailable=True)
    absent = next(name for name in pulp.listSolvers() if name not in here)
    with pytest.raises(SolverError, match="not installed"):
        exact_plan(THREE, solver=absent)


def test_a_time_limit_leaves_the_hint_and_an_honest_status():
    instance = generate("iit", "random", nodes=14, seed=3, spread=4, theta_cm=2, load=500)
    found = solve(instance, limits=Limits(time_s=0.5))
    assert found.status is Status.FEASIBLE
    assert found.value <= solve(instance, "equal-finish").value
    assert "limit" in found.reason or "gap" in found.reason
    assert found.bound is None or found.bound < found.value


def test_a_limit_before_anything_is_found():
    instance = generate("iit", "random", nodes=40, seed=3)
    found = exact_plan(instance, limits=Limits(time_s=1e-9))
    assert found.status is Status.LIMIT
    assert (found.value, found.bound, found.solution) == (None, None, None)


def test_a_limit_between_the_linear_programs_keeps_the_best_plan(monkeypatch):
    solved = PrefixSearch.solve_prefix

    def solve_prefix(self, n, *, proven=True):
        if n > 4:
            raise TimeoutError
        return solved(self, n, proven=proven)

    monkeypatch.setattr(PrefixSearch, "solve_prefix", solve_prefix)
    found = exact_plan(generate("iit", "random", nodes=40, seed=3))
    assert found.status is Status.FEASIBLE
    assert len(found.solution.chunks) == 4


def test_a_limit_never_leaves_a_plan_that_misses_the_deadline():
    instance = generate("iit", "random", nodes=20, seed=3, slack=1)
    hint = opr(Instance(instance.cluster, instance.ready_times, instance.load)).solution
    late = Instance(
        instance.cluster,
        instance.ready_times,
        instance.load,
        absolute_deadline=max(instance.ready_times),
    )
    found = exact_plan(late, limits=Limits(time_s=1e-9), hint=hint)
    assert (found.status, found.solution) == (Status.LIMIT, None)


def test_a_hint_of_another_plan_class_is_not_taken():
    """With two chunks a node 24/7 is possible; with one it is 4."""
    instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    two = solve(instance, installments=2).solution
    for formulation in ("sequence", "prefix", "order"):
        found = solve(instance, hint=two, formulation=formulation)
        assert (found.status, found.value) == (Status.OPTIMAL, 4)


def test_a_bad_hint_costs_nothing_but_time():
    alone = earliest_plan(THREE, [2], [THREE.load])
    for formulation in ("sequence", "prefix", "order"):
        assert solve(THREE, hint=alone, formulation=formulation).value == edf_iit_2(THREE).value


def test_a_gap_is_not_called_optimal():
    instance = generate("iit", "random", nodes=8, seed=1, spread=3, theta_cm=3, load=300)
    found = solve(instance, limits=Limits(gap=0.5))
    assert found.status in (Status.FEASIBLE, Status.OPTIMAL)
    if found.status is Status.OPTIMAL:
        assert float(found.gap) < 1e-6


def test_work_limits_are_deterministic():
    instance = generate("iit", "random", nodes=7, seed=2, spread=3, load=200)
    first, second = (solve(instance, limits=Limits(work=1), seed=4) for _ in range(2))
    assert first == second
    assert first.status is Status.FEASIBLE  # the limit was reached


def test_the_fluid_bound_merges_many_ready_times():
    instance = generate("iit", "random", nodes=60, seed=5, span=1000)
    assert len(set(instance.ready_times)) > fluid_relaxation.MAX_GROUPS
    found = bound_fluid(instance)
    assert found.status is Status.BOUND
    assert 0 < found.bound <= edf_iit_2(instance).value


def test_the_fluid_bound_at_a_limit_is_no_bound():
    found = bound_fluid(THREE, limits=Limits(time_s=1e-9))
    assert found.status is Status.LIMIT
    assert found.bound is None


def test_models_work_in_floats():
    instance = Instance(DIFFERENT.cluster, (0.5, 1.25, 4.0), load=5.5, absolute_deadline=60.0)
    found = solve(instance, objective="nodes")
    assert found.status is Status.OPTIMAL
    assert violations(instance, found.solution, found.tolerance) == ()


def test_an_unbounded_model_is_a_solver_error():
    problem = pulp.LpProblem("unbounded", pulp.LpMinimize)
    problem += problem.add_variable("x")
    with pytest.raises(SolverError, match="ended with"):
        optimise(problem, Limits())


def test_a_bisection_misled_by_floats_is_corrected_by_proofs(monkeypatch):
    prefixes = PrefixSearch(THREE, Limits(), "HiGHS", 0)
    monkeypatch.setattr(prefixes, "max_useful_length", lambda: 3)
    honest = prefixes.solve_prefix
    fooled = {"last_load": 0}

    def solve_prefix(n, *, proven=True):
        timed = honest(n, proven=proven)
        return timed if proven or n == 1 else replace(timed, **fooled)

    monkeypatch.setattr(prefixes, "solve_prefix", solve_prefix)
    assert prefixes.longest_useful_prefix() == 3


def test_a_program_without_an_optimum_ends_the_search(monkeypatch):
    outcome = SimpleNamespace(status=Status.LIMIT)
    timed = SimpleNamespace(outcome=outcome)
    monkeypatch.setattr(FixedSequenceLp, "solve", lambda self, *rest: timed)
    with pytest.raises(TimeoutError):
        PrefixSearch(THREE, Limits(), "HiGHS", 0).solve_prefix(2)


def test_no_solution_stays_none_when_scaled():
    scaled = ScaledInstance.from_instance(THREE)
    assert scaled.scale_solution(None) is None
    assert scaled.unscale_solution(None) is None


def test_a_deadline_that_is_missed_by_rounding_alone_is_left_open():
    """At 1.7e9 seconds the check allows an instant 1.5e-5 s, and as much against its timeline."""
    start = 1.7e9
    free = Instance(Cluster(2, tau=1.0, chi=1.0), (start, start), load=3.0)
    found = [exact_plan(replace(free, absolute_deadline=start + 4 - off)) for off in (3e-5, 2e-4)]
    assert [one.status for one in found] == [Status.UNKNOWN, Status.INFEASIBLE]
    assert "tolerance or floating-point rounding" in found[0].reason
    tight = replace(free, absolute_deadline=start + 6 - 3e-5)
    fewest = exact_plan(tight, objective="nodes")
    assert (fewest.status, fewest.value, fewest.bound) == (Status.FEASIBLE, 2, 1)
    assert "tolerance or floating-point rounding" in fewest.reason


def test_a_fraction_and_a_float_that_is_nearly_the_same_are_both_an_origin() -> None:
    """The float is less than the fraction, and the decimal that it prints is more."""
    near = (Fraction(102_000_000_001, 60), 1700000000.0166667)
    assert near[1] < near[0] < exact(near[1])
    instance = Instance(Cluster(2, tau=0, chi=Fraction(1, 12)), near, 1)
    for method in ("exact", "bound-fluid", "opr", "edf-iit-2"):
        found = solve(instance, method)
        assert not check(instance, found) and found.origin == near[0]


def test_one_node_that_meets_the_deadline_needs_no_search():
    """The completion on all nodes is hard to find, and not needed."""
    nodes = 24
    cluster = Cluster(nodes, tuple(range(1, nodes + 1)), tuple(range(3, nodes + 3)), 2, 3)
    ready = tuple(1_700_000_000 + node * node % 7 for node in range(nodes))
    instance = Instance(cluster, ready, load=5, absolute_deadline=1_700_000_200)
    found = solve(instance, objective="nodes")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)
    assert (found.proof, found.solver) == ("exact", None)
    assert violations(instance, found.solution) == ()


def test_at_a_limit_the_fewest_nodes_have_a_bound():
    cluster = Cluster(6, (1, 2, 3, 4, 5, 6), (3, 4, 5, 6, 7, 8), 2, 3)
    instance = Instance(cluster, (0, 3, 1, 2, 0, 5), load=5, absolute_deadline=21)
    hint = solve(instance).solution
    found = solve(instance, objective="nodes", hint=hint, limits=Limits(time_s=1e-6))
    assert (found.status, found.bound, found.proof) == (Status.FEASIBLE, 1, "exact")
    assert found.value >= 2


def test_dates_in_nanoseconds_are_stated_in_full():
    cluster = Cluster(2, (1, 2), (3, 4), 1, 1)
    now = 1_700_000_000 * 10**9
    instance = Instance(cluster, (now, now), load=5, absolute_deadline=now + 9)
    found = solve(instance, objective="nodes")
    assert found.status is Status.INFEASIBLE
    assert "completion time is 17000000000000000" in found.reason
