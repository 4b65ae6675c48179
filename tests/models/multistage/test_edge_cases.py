"""What happens seldom: solvers that say little or nothing, and chunks that cannot meet."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends.highs import LinearSolver
from dlopt.backends.pulp import Outcome
from dlopt.models.multistage import (
    sequencing_milp,
    single_task_fluid,
    stage_milp,
    stage_sequence_lp,
    upper_bounds,
)
from dlopt.models.multistage.feasibility import Feasibility
from dlopt.models.multistage.fixed_sequence_lp import Part, plan_of
from dlopt.models.multistage.methods import bound_fluid, exact_plan
from dlopt.models.multistage.scaled_instance import Case
from dlopt.models.multistage.search import Search
from dlopt.models.multistage.sequencing_milp import OrderModel
from dlopt.models.multistage.single_task_capacity import fluid_capacity, structured_capacity
from dlopt.models.multistage.single_task_method import one_task
from dlopt.models.multistage.stage_sequence_lp import order_filled
from dlopt.models.multistage.stages import Timetable
from dlopt.problems.multistage import violations
from dlopt.result import Limits, Status
from tests.models.multistage.sample_instances import around
from tests.models.multistage.test_methods import CROWD, EITHER

NOTHING = Outcome(Status.LIMIT, None, None, {}, False, "HiGHS", None)
TWO_STAGES = around(2, 1, 2, (0, 6, 12), held=((0, 4, 6, 9, (1,)),))


def stated(instance):
    model = OrderModel(Case.of(instance), 1)
    model.state()
    return model


def test_a_bound_of_the_solver_that_says_less(monkeypatch):
    proven = bound_fluid(CROWD)
    monkeypatch.setattr(upper_bounds, "_PROOFS", 1)
    for said in ((-1e9, ()), (None, ())):
        monkeypatch.setattr(LinearSolver, "solve_integral", lambda *_, said=said: said)
        found = bound_fluid(CROWD)
        assert found.bound >= proven.bound
        assert "fractions" in found.reason


def test_a_flow_without_a_certificate_is_bounded_by_its_multipliers(monkeypatch):
    exactly = fluid_capacity(TWO_STAGES).bound
    monkeypatch.setattr(single_task_fluid.exact_lp, "certify", lambda *_: None)
    assert exactly <= fluid_capacity(TWO_STAGES).bound <= exactly * Fraction(1001, 1000)


def test_reservations_that_cannot_be_placed_have_no_quick_plan():
    two = around(2, 1, 1, (0, 1, 9), held=((0, 1, 1, 4, (1,)), (0, 2, 2, 5, 2)))
    assert Feasibility(Case.of(two, everyone=True), 1, Limits(), 0).quick_plan() is None


def test_tasks_without_a_node_in_time_have_no_quick_plan():
    late = around(1, 1, 1, (0, 2, 5), (0, 1, 30), ready_times=(9,))
    assert Feasibility(Case.of(late, everyone=True), 1, Limits(), 0).quick_plan() is None


def test_a_reservation_that_the_state_excludes_is_not_taken():
    busy = around(2, 1, 1, (0, 2, 20), (0, 2, 20), held=((0, 2, 4, 6, 1),), channel_ready=3)
    assert stated(busy).solve(Limits(), "HiGHS", 0).grants == {}
    assert exact_plan(busy).value == 2


@pytest.mark.parametrize(
    "instance",
    [
        # Two nodes alike, neither of which a reservation can have.
        around(3, 1, 1, (0, 2, 30), (0, 3, 30), held=((0, 1, 1, 3, 1),), ready_times=(9, 9, 0)),
        # Two nodes alike that are ready too late for the tasks.
        around(3, 1, 1, (0, 2, 6), (0, 3, 14), ready_times=(19, 19, 0)),
        # Sending takes no time, so that chunks on two nodes are in nobody's way.
        around(2, 0, 1, (0, 2, 6), (0, 3, 7)),
        # A task is due before a reservation without named nodes begins; another comes later.
        around(2, 1, 1, (0, 2, 5), (20, 2, 9), held=((0, 10, 11, 12, 1),)),
        around(2, 1, 1, (0, 2, 5), (0, 3, 30), held=((0, 10, 11, 12, 1), (0, 20, 21, 22, 2))),
    ],
)
def test_chunks_that_cannot_meet(instance):
    found = stated(instance).solve(Limits(), "HiGHS", 0)
    assert found.outcome.status is Status.OPTIMAL
    assert exact_plan(instance).value == len(instance.tasks) + len(instance.reservations)


def test_reservations_that_want_the_channel_at_once_bar_each_other():
    """On different nodes; the task has room behind them."""
    both = around(2, 1, 1, (0, 2, 9), held=((0, 1, 2, 3, (0,)), (0, 1, 2, 3, (1,))))
    found = stated(both).solve(Limits(), "HiGHS", 0)
    assert (found.accepted, len(found.grants)) == ((0,), 1)
    assert exact_plan(both).value == 2


def test_what_is_sent_in_no_time_is_sent_while_the_channel_is_reserved():
    """Node 0 has work to do until 2, and the channel is reserved until then."""
    held = ((0, 0, 2, 3, (1,)),)
    instance = around(2, 0, 1, (0, 2, 2), held=held)
    found = stated(instance).solve(Limits(), "HiGHS", 0)
    assert (found.accepted, found.grants) == ((0,), {0: (1,)})
    plan = exact_plan(instance).solution
    assert violations(instance, plan) == ()
    assert [(chunk.node, chunk.transmission_start) for chunk in plan.chunks] == [(0, 0)]
    assert exact_plan(around(2, 1, 1, (0, 1, 2), held=held)).value == 1


def test_an_order_program_without_a_solution_proves_the_plan_best(monkeypatch):
    outcome = replace(NOTHING, status=Status.INFEASIBLE)
    found = sequencing_milp.Found((), {}, (), outcome)
    monkeypatch.setattr(OrderModel, "solve", lambda *_: found)
    best = exact_plan(EITHER)
    assert (best.status, best.bound) == (Status.OPTIMAL, best.value)


def test_an_order_program_that_says_nothing_leaves_the_bound(monkeypatch):
    monkeypatch.setattr(OrderModel, "solve", lambda *_: sequencing_milp.Found((), {}, (), NOTHING))
    best = exact_plan(EITHER)
    assert best.status is Status.FEASIBLE
    assert best.bound > best.value


def test_what_is_no_better_is_not_looked_for():
    search = Search(Case.of(EITHER), 1, Limits(), 0, "HiGHS")
    search.run(None)
    plan = search.plan
    search._try((), (), hard=True)
    assert search.plan is plan


def test_a_stage_of_which_nothing_is_told(monkeypatch):
    known = structured_capacity(TWO_STAGES)
    monkeypatch.setattr(stage_milp, "optimise", lambda *_, **__: NOTHING)
    found = structured_capacity(TWO_STAGES)
    assert found.load == 0
    assert found.bound >= known.load


def test_an_order_without_a_solution_has_no_chunks(monkeypatch):
    monkeypatch.setattr(stage_sequence_lp, "optimise", lambda *_, **__: NOTHING)
    assert structured_capacity(TWO_STAGES).load == 0


@pytest.mark.parametrize(
    ("order", "sent"), [([0, 1], [(0, 2, 0)]), ([1, 0], [(1, 1, 0), (0, 1, 1)])]
)
def test_an_order_in_which_a_chunk_does_more_harm_than_good(order, sent):
    """Node 1 is taken at 2, when the channel is; what it could do in the end costs node 0 more."""
    timetable = Timetable.of(around(2, 1, 1, (0, 9, 9), held=((0, 2, 4, 9, (1,)),)))
    stream, stage = timetable.case.stream, timetable.stages()[0]
    chunks = order_filled(stream, stage, order)
    assert [
        (node, load * stream.load_unit, stream.instant_back(start)) for node, load, start in chunks
    ] == sent


def test_an_order_for_which_there_is_no_room_has_no_plan():
    """The chunk behind the reservation is sent first, and the one in front of it after that."""
    case = Case.of(around(1, 1, 1, (0, 2, 6), held=((0, 2, 4, 4, (0,)),)))
    front, behind = Part(0, 0, 0), Part(0, 0, 1)
    assert plan_of(case, [front, behind], [0], {0: (0,)}, Limits(), 0) is not None
    assert plan_of(case, [behind, front], [0], {0: (0,)}, Limits(), 0) is None


def test_a_stage_in_which_set_up_takes_all_the_time():
    short = around(1, 1, 1, (0, 2, 3), held=((0, 2, 2, 9, (0,)),))
    costly = replace(short, cluster=replace(short.cluster, theta_cm=5))
    found = structured_capacity(costly)
    assert (found.load, found.bound) == (0, 0)


def test_nothing_remains_of_the_task():
    state = around(1, 1, 1, (0, 2, 9), now=5)
    done = replace(state, tasks=(replace(state.tasks[0], remaining=0),))
    assert one_task(done) == "nothing remains of the task"
    assert one_task(state) is None
