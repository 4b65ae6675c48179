"""The relaxations: what they merge, what they cut off, and what they do at a limit."""

from fractions import Fraction

import pytest

from dlopt.models.admission import fluid_relaxation, upper_bounds, window_cuts
from dlopt.models.admission.fluid_relaxation import FluidRelaxation
from dlopt.models.admission.methods import bound_fluid, bound_window, exact_plan
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.upper_bounds import upper_bound
from dlopt.models.admission.window_capacity import WindowCapacity
from dlopt.models.admission.window_cuts import WindowCuts
from dlopt.models.common import stream_bounds
from dlopt.problems.admission import Commitment
from dlopt.result import Limits, Status
from tests.models.admission.sample_instances import stream

CROWD = stream(2, 1, 2, *[(k, 2 + k % 3, 8) for k in range(8)])
DIFFERENT = stream(5, (1, 2, 1, 3, 2), (4, 1, 2, 2, 3), (0, 6, 9), (1, 4, 6), (1, 8, 9), (2, 3, 4))


def test_one_port_bounds_what_flows():
    """The port sends 3 units by 3: of two tasks with 2 units each, one."""
    assert bound_fluid(stream(9, 1, 1, (0, 2, 3), (0, 2, 3))).bound == 1
    assert bound_fluid(stream(9, 1, 1, (0, 2, 4), (0, 2, 4))).bound == 2


def test_node_time_bounds_what_flows():
    assert bound_fluid(stream(1, 1, 3, (0, 1, 4), (0, 1, 7))).bound == 1
    assert bound_fluid(stream(1, 1, 3, (0, 1, 4), (0, 1, 8))).bound == 2


def test_what_is_computed_was_received_before():
    """The first task holds the port until 4; the second must wait, though nodes are idle."""
    late = stream(4, (1,) * 4, (0, 0, 0, 9), (0, 4, 4), (0, 1, 4))
    assert bound_fluid(late).bound == 1


def test_set_up_times_flow_too():
    assert bound_fluid(stream(1, 1, 1, (0, 1, 3), (0, 1, 5), theta_cm=1)).bound == 1
    assert bound_fluid(stream(1, 1, 1, (0, 1, 3), (0, 1, 6), theta_cm=1)).bound == 2
    assert bound_fluid(stream(1, 1, 1, (0, 1, 3), (0, 1, 5), theta_cp=1)).bound == 1
    needs_two = stream(2, 1, 2, (0, 2, Fraction(26, 5)), (0, 2, 20), theta_cm=3)
    assert bound_fluid(needs_two).bound == 1


def test_a_task_that_no_nodes_can_do_is_left_out():
    assert bound_fluid(stream(2, 1, 1, (0, 9, 4), (0, 1, 4))).bound == 1


def test_merged_groups_of_nodes_bound_more_loosely(monkeypatch):
    tight = bound_fluid(DIFFERENT, objective="accepted-load").bound
    optimum = exact_plan(DIFFERENT, objective="accepted-load", limits=Limits(time_s=60)).value
    monkeypatch.setattr(fluid_relaxation, "MAX_GROUPS", 2)
    loose = bound_fluid(DIFFERENT, objective="accepted-load").bound
    assert loose >= tight >= optimum
    assert bound_window(DIFFERENT, objective="accepted-load").bound >= optimum
    assert len(FluidRelaxation(ScaledInstance.from_instance(DIFFERENT)).groups) == 2


def test_merged_intervals_bound_more_loosely(monkeypatch):
    tight, optimum = bound_fluid(CROWD).bound, exact_plan(CROWD).value
    many = len(FluidRelaxation(ScaledInstance.from_instance(CROWD)).instants)
    monkeypatch.setattr(fluid_relaxation, "MAX_CELLS", 20)
    few = FluidRelaxation(ScaledInstance.from_instance(CROWD)).instants
    assert len(few) < many
    assert bound_fluid(CROWD).bound >= tight >= bound_window(CROWD).bound >= optimum


def test_many_ready_times_do_not_divide_time(monkeypatch):
    busy = stream(3, 1, 1, (0, 2, 6), (0, 3, 6), ready_times=(1, 2, 3))
    fine = bound_fluid(busy).bound
    monkeypatch.setattr(fluid_relaxation, "MAX_FREE_TIMES", 2)
    assert len(FluidRelaxation(ScaledInstance.from_instance(busy)).instants) == 2
    assert bound_fluid(busy).bound >= fine


def test_window_cuts_strengthen_the_fluid_relaxation():
    """Two tasks with one chunk on each of two nodes: (1 - 1/16) 2 < 2."""
    instance = stream(2, 1, 1, (0, 1, 2), (0, 1, 2))
    assert (bound_fluid(instance).bound, bound_window(instance).bound) == (2, 1)
    assert bound_window(instance, installments=9).plan_class == "k"


def test_window_capacity_without_time_to_send_is_node_time():
    capacity = WindowCapacity(ScaledInstance.from_instance(stream(2, 0, 3, (0, 2, 6))), 1)
    assert capacity.max_load(Fraction(0), Fraction(6), 5) == 2 * Fraction(
        6
    ) / capacity.scaled.unit_time(0)
    instance = stream(2, 0, 3, (0, 2, 3), (0, 2, 6))
    assert bound_window(instance).bound == exact_plan(instance).value == 2


def test_windows_with_many_tasks_are_skipped(monkeypatch):
    scaled = ScaledInstance.from_instance(CROWD)
    model = FluidRelaxation(scaled)
    model.maximise_weight()
    everything = WindowCuts(model).batches
    monkeypatch.setattr(window_cuts, "MAX_TASKS_PER_WINDOW", 2)
    fewer = WindowCuts(model).batches
    assert all(
        len(few.windows) < len(all_.windows) for few, all_ in zip(fewer, everything, strict=True)
    )
    assert max(len(window.tasks) for batch in fewer for window in batch.windows) == 2


def test_no_windows_no_cuts(monkeypatch):
    monkeypatch.setattr(window_cuts, "MAX_TASKS_PER_WINDOW", 0)
    assert bound_window(CROWD).bound == bound_fluid(CROWD).bound


@pytest.mark.parametrize("method", [bound_fluid, bound_window])
def test_the_solver_is_asked_where_rational_branching_does_not_end(method, monkeypatch):
    proven = method(CROWD)
    assert proven.reason.startswith("fluid relaxation")
    monkeypatch.setattr(upper_bounds, "MAX_EXACT_NODES", 1)
    said = method(CROWD)
    assert said.bound == proven.bound
    assert "HiGHS" in said.reason or "exact arithmetic" in said.reason
    monkeypatch.setattr(stream_bounds, "MAX_CUT_ROUNDS", 1)
    assert method(CROWD).bound >= proven.bound


def test_a_bound_that_flows_and_is_branched_on_by_the_solver(monkeypatch):
    monkeypatch.setattr(upper_bounds, "MAX_EXACT_NODES", 0)
    instance = stream(2, 1, 1, (0, 1, 2), (0, 1, 2))
    found = upper_bound(ScaledInstance.from_instance(instance), Limits(), installments=1)
    assert (found.value, found.derivation) == (
        1,
        "HiGHS dual bound (floating point, not certified)",
    )
    assert found.accepted is not None
    assert len(found.accepted) == 1


def test_at_a_limit_the_bound_still_holds():
    for limits in (Limits(time_s=1e-9), Limits(work=1)):
        found = bound_window(CROWD, limits=limits)
        assert found.status is Status.BOUND
        assert bound_window(CROWD).bound <= found.bound <= len(CROWD.tasks)


def test_partly_accepted_tasks_bound_more_loosely():
    assert bound_fluid(CROWD, relax=True).bound >= bound_fluid(CROWD).bound


def test_a_known_plan_ends_the_proof():
    scaled = ScaledInstance.from_instance(CROWD)
    best = upper_bound(scaled, Limits(), installments=1)
    assert best.accepted is not None
    again = upper_bound(scaled, Limits(), installments=1, known_value=best.value)
    assert (again.value, again.proof_kind) == (best.value, "exact")


def test_bounds_of_promises_that_cannot_be_kept_are_of_nothing():
    broken = stream(1, 1, 1, (0, 9, 4), (3, 1, 9), now=2)
    found = bound_fluid(broken)
    assert (found.status, found.bound) == (Status.BOUND, 0)
    assert "no feasible schedule" in found.reason
    assert bound_fluid(broken, objective="reject-ratio").bound == 1
    tight = stream(1, 1, 1, (0, 2, 4), (1, 1, 9), now=2)
    assert bound_fluid(tight).bound == 0


def test_where_nothing_remains_all_is_accepted():
    done = stream(1, 1, 1, (0, 2, 5), now=3, committed=(Commitment("a", 0, 0, 2, 4),))
    for method in (bound_fluid, bound_window, exact_plan):
        assert method(done).bound == 1
    assert exact_plan(done).status is Status.OPTIMAL


def test_floats_are_bounded_with_the_tolerance_of_the_check():
    tenth = 0.1 + 0.2
    instance = stream(1, 1.0, 1.0, (0.0, tenth / 2, 0.3))
    assert tenth > 0.3
    assert bound_fluid(instance).bound == 1
    assert bound_fluid(instance, objective="accepted-load").bound == pytest.approx(0.15)
    assert bound_fluid(stream(1, 1.0, 1.0, (0.0, 0.1501, 0.3))).bound == 0
