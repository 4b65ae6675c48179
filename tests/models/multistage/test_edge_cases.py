"""What happens seldom: solvers that say little or nothing, and chunks that cannot meet."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends.highs import LinearSolver
from dlopt.backends.pulp import Outcome
from dlopt.models.multistage import (
    chunk_sequence_lp,
    search,
    sequencing_milp,
    single_stage_milp,
    single_task_fluid,
    upper_bounds,
)
from dlopt.models.multistage.chunk_sequence_lp import maximise_sequence_load
from dlopt.models.multistage.feasibility import FeasibilityTest
from dlopt.models.multistage.fixed_sequence_lp import UnsizedChunk, schedule_sequence
from dlopt.models.multistage.methods import bound_fluid, exact_plan
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.search import MultistageSearch
from dlopt.models.multistage.sequencing_milp import SequencingMilp
from dlopt.models.multistage.single_task_capacity import fluid_capacity, stage_capacity
from dlopt.models.multistage.single_task_method import reason_against_structured
from dlopt.models.multistage.stages import SingleTaskInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, violations
from dlopt.result import Limits, Status
from tests.models.multistage.sample_instances import CROWD, EITHER, around

NOTHING = Outcome(Status.LIMIT, None, None, {}, False, "HiGHS", None)
TWO_STAGES = around(2, 1, 2, (0, 6, 12), held=((0, 4, 6, 9, (1,)),))


def built_milp(instance):
    model = SequencingMilp(ScaledInstance.from_instance(instance), 1)
    model.build()
    return model


def test_a_bound_of_the_solver_that_says_less(monkeypatch):
    proven = bound_fluid(CROWD)
    monkeypatch.setattr(upper_bounds, "MAX_EXACT_NODES", 1)
    for said in ((-1e9, ()), (None, ())):
        monkeypatch.setattr(LinearSolver, "solve_integral", lambda *_, said=said: said)
        found = bound_fluid(CROWD)
        assert found.bound >= proven.bound
        assert "exact arithmetic" in found.reason


def test_a_relaxation_without_an_exact_basis_has_a_safe_dual_bound(monkeypatch):
    exactly = fluid_capacity(TWO_STAGES).bound
    monkeypatch.setattr(single_task_fluid.exact_lp, "certify", lambda *_: None)
    assert exactly <= fluid_capacity(TWO_STAGES).bound <= exactly * Fraction(1001, 1000)


def test_reservations_without_nodes_have_no_schedule_by_deadline():
    two = around(2, 1, 1, (0, 1, 9), held=((0, 1, 1, 4, (1,)), (0, 2, 2, 5, 2)))
    assert (
        FeasibilityTest(
            ScaledInstance.from_instance(two, accept_all=True), 1, Limits(), 0
        ).schedule_by_deadline()
        is None
    )


def test_tasks_without_a_node_in_time_have_no_schedule_by_deadline():
    late = around(1, 1, 1, (0, 2, 5), (0, 1, 30), ready_times=(9,))
    assert (
        FeasibilityTest(
            ScaledInstance.from_instance(late, accept_all=True), 1, Limits(), 0
        ).schedule_by_deadline()
        is None
    )


def test_a_reservation_that_the_state_excludes_is_rejected():
    busy = around(2, 1, 1, (0, 2, 20), (0, 2, 20), held=((0, 2, 4, 6, 1),), channel_ready=3)
    assert built_milp(busy).solve(Limits(), "HiGHS", 0).grants == {}
    assert exact_plan(busy).value == 2


@pytest.mark.parametrize(
    "instance",
    [
        # Two identical nodes, neither of which a reservation can have.
        around(3, 1, 1, (0, 2, 30), (0, 3, 30), held=((0, 1, 1, 3, 1),), ready_times=(9, 9, 0)),
        # Two identical nodes that are ready too late for the tasks.
        around(3, 1, 1, (0, 2, 6), (0, 3, 14), ready_times=(19, 19, 0)),
        # Sending takes no time, so that chunks on two nodes are in nobody's way.
        around(2, 0, 1, (0, 2, 6), (0, 3, 7)),
        # A task is due before a reservation without named nodes begins; another comes later.
        around(2, 1, 1, (0, 2, 5), (20, 2, 9), held=((0, 10, 11, 12, 1),)),
        around(2, 1, 1, (0, 2, 5), (0, 3, 30), held=((0, 10, 11, 12, 1), (0, 20, 21, 22, 2))),
    ],
)
def test_chunks_that_cannot_conflict(instance):
    found = built_milp(instance).solve(Limits(), "HiGHS", 0)
    assert found.outcome.status is Status.OPTIMAL
    assert exact_plan(instance).value == len(instance.tasks) + len(instance.reservations)


def test_reservations_of_the_channel_at_one_time_exclude_each_other():
    """On different nodes; the task fits after them."""
    both = around(2, 1, 1, (0, 2, 9), held=((0, 1, 2, 3, (0,)), (0, 1, 2, 3, (1,))))
    found = built_milp(both).solve(Limits(), "HiGHS", 0)
    assert (found.accepted, len(found.grants)) == ((0,), 1)
    assert exact_plan(both).value == 2


def test_what_is_sent_in_no_time_is_sent_while_the_channel_is_reserved():
    """Node 0 has work to do until 2, and the channel is reserved until then."""
    held = ((0, 0, 2, 3, (1,)),)
    instance = around(2, 0, 1, (0, 2, 2), held=held)
    found = built_milp(instance).solve(Limits(), "HiGHS", 0)
    assert (found.accepted, found.grants) == ((0,), {0: (1,)})
    plan = exact_plan(instance).solution
    assert violations(instance, plan) == ()
    assert [(chunk.node, chunk.transmission_start) for chunk in plan.chunks] == [(0, 0)]
    assert exact_plan(around(2, 1, 1, (0, 1, 2), held=held)).value == 1


def test_an_infeasible_milp_proves_the_incumbent_optimal(monkeypatch):
    outcome = replace(NOTHING, status=Status.INFEASIBLE)
    found = sequencing_milp.SequencingSolution((), {}, (), outcome)
    monkeypatch.setattr(SequencingMilp, "solve", lambda *_: found)
    best = exact_plan(EITHER)
    assert (best.status, best.bound) == (Status.OPTIMAL, best.value)


def test_a_milp_without_an_answer_leaves_the_bound(monkeypatch):
    monkeypatch.setattr(
        SequencingMilp, "solve", lambda *_: sequencing_milp.SequencingSolution((), {}, (), NOTHING)
    )
    best = exact_plan(EITHER)
    assert best.status is Status.FEASIBLE
    assert best.bound > best.value


def test_what_is_no_better_is_not_scheduled(monkeypatch):
    player = MultistageSearch(ScaledInstance.from_instance(EITHER), 1, Limits(), 0, "HiGHS")
    player.run(None)
    plan = player.plan
    loose = upper_bounds.UpperBound(player.value + 1, "loose", accepted=(0,))
    monkeypatch.setattr(search, "upper_bound", lambda *_, **__: loose)
    player.compute_upper_bound()
    assert not player.is_within_gap and player.plan is plan


def test_a_stage_without_an_answer_of_the_solver(monkeypatch):
    known = stage_capacity(TWO_STAGES)
    monkeypatch.setattr(single_stage_milp, "optimise", lambda *_, **__: NOTHING)
    found = stage_capacity(TWO_STAGES)
    assert found.load == 0
    assert found.bound >= known.load


def test_a_sequence_without_a_solution_has_no_chunks(monkeypatch):
    monkeypatch.setattr(chunk_sequence_lp, "optimise", lambda *_, **__: NOTHING)
    assert stage_capacity(TWO_STAGES).load == 0


@pytest.mark.parametrize(
    ("order", "sent"), [([0, 1], [(0, 2, 0)]), ([1, 0], [(1, 1, 0), (0, 1, 1)])]
)
def test_a_sequence_in_which_a_chunk_costs_more_than_it_does(order, sent):
    """Node 1 is taken at 2, when the channel is; what it could do in the end costs node 0 more."""
    single = SingleTaskInstance.from_instance(
        around(2, 1, 1, (0, 9, 9), held=((0, 2, 4, 9, (1,)),))
    )
    tasks_only, stage = single.scaled.tasks_only, single.stages()[0]
    chunks = maximise_sequence_load(tasks_only, stage, order)
    assert [
        (node, load * tasks_only.load_unit, tasks_only.unscale_instant(start))
        for node, load, start in chunks
    ] == sent


def test_a_sequence_that_does_not_fit_has_no_schedule():
    """The chunk after the reservation is sent first, and the one before it after that."""
    scaled = ScaledInstance.from_instance(around(1, 1, 1, (0, 2, 6), held=((0, 2, 4, 4, (0,)),)))
    before, after = UnsizedChunk(0, 0, 0), UnsizedChunk(0, 0, 1)
    assert schedule_sequence(scaled, [before, after], [0], {0: (0,)}, Limits(), 0) is not None
    assert schedule_sequence(scaled, [after, before], [0], {0: (0,)}, Limits(), 0) is None


def test_a_stage_in_which_set_up_takes_all_the_time():
    short = around(1, 1, 1, (0, 2, 3), held=((0, 2, 2, 9, (0,)),))
    costly = replace(short, cluster=replace(short.cluster, theta_cm=5))
    found = stage_capacity(costly)
    assert (found.load, found.bound) == (0, 0)


def test_nothing_remains_of_the_task():
    state = around(1, 1, 1, (0, 2, 9), now=5)
    done = replace(state, tasks=(replace(state.tasks[0], remaining=0),))
    assert reason_against_structured(done) == "no load of the task remains"
    assert reason_against_structured(state) is None


def test_reservations_that_rounding_hides_from_the_model_do_not_share_a_node():
    """At such a date the windows of the model are shorter than the reservations by 0.028."""
    begin = 1e12
    ends = {"r": 0.015, "s": 0.001, "t": 0.015}
    wanted = tuple(
        Reservation(name, begin, begin, begin + end, io_end=begin, nodes=(0,))
        for name, end in ends.items()
    )
    cluster, ready = Cluster(1, tau=0.0, chi=0.001), {"ready_times": (begin,)}
    instance = Instance(cluster, (), wanted, now=begin, channel_ready=begin, **ready)
    found = exact_plan(instance)
    assert found.status is Status.FEASIBLE and (found.value, found.bound) == (2, 3)
    assert violations(instance, found.solution, 1e-9) == ()
