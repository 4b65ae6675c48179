"""What happens seldom: solvers that say little or nothing, and chunks that cannot meet."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends.highs import LinearSolver
from dlopt.backends.pulp import Outcome
from dlopt.models.multistage import bounds, flow, order, stage, stage_order
from dlopt.models.multistage.capacity import fluid_capacity, structured_capacity
from dlopt.models.multistage.case import Case
from dlopt.models.multistage.feasibility import Feasibility
from dlopt.models.multistage.methods import bound_fluid, exact_plan
from dlopt.models.multistage.order import OrderModel
from dlopt.models.multistage.search import Search
from dlopt.models.multistage.structured import one_task
from dlopt.result import Limits, Status
from tests.models.multistage.around import around
from tests.models.multistage.test_methods import CROWD, EITHER

NOTHING = Outcome(Status.LIMIT, None, None, {}, False, "HiGHS", None)
TWO_STAGES = around(2, 1, 2, (0, 6, 12), held=((0, 4, 6, 9, (1,)),))


def stated(instance):
    model = OrderModel(Case.of(instance), 1)
    model.state()
    return model


def test_a_bound_of_the_solver_that_says_less(monkeypatch):
    proven = bound_fluid(CROWD)
    monkeypatch.setattr(bounds, "_PROOFS", 1)
    for said in ((-1e9, ()), (None, ())):
        monkeypatch.setattr(LinearSolver, "solve_integral", lambda *_, said=said: said)
        found = bound_fluid(CROWD)
        assert found.bound >= proven.bound
        assert "fractions" in found.reason


def test_a_flow_without_a_certificate_is_bounded_by_its_multipliers(monkeypatch):
    exactly = fluid_capacity(TWO_STAGES).bound
    monkeypatch.setattr(flow.rational, "certify", lambda *_: None)
    assert exactly <= fluid_capacity(TWO_STAGES).bound <= exactly * Fraction(1001, 1000)


def test_reservations_that_cannot_be_placed_have_no_quick_plan():
    two = around(2, 1, 1, (0, 1, 9), held=((0, 1, 1, 4, (1,)), (0, 2, 2, 5, 2)))
    assert Feasibility(Case.of(two, everyone=True), 1, Limits(), 0).quick_plan() is None


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


def test_an_order_program_without_a_solution_proves_the_plan_best(monkeypatch):
    outcome = replace(NOTHING, status=Status.INFEASIBLE)
    found = order.Found((), {}, (), outcome)
    monkeypatch.setattr(OrderModel, "solve", lambda *_: found)
    best = exact_plan(EITHER)
    assert (best.status, best.bound) == (Status.OPTIMAL, best.value)


def test_an_order_program_that_says_nothing_leaves_the_bound(monkeypatch):
    monkeypatch.setattr(OrderModel, "solve", lambda *_: order.Found((), {}, (), NOTHING))
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
    monkeypatch.setattr(stage, "optimise", lambda *_, **__: NOTHING)
    found = structured_capacity(TWO_STAGES)
    assert found.load == 0
    assert found.bound >= known.load


def test_an_order_without_a_solution_has_no_chunks(monkeypatch):
    monkeypatch.setattr(stage_order, "optimise", lambda *_, **__: NOTHING)
    assert structured_capacity(TWO_STAGES).load == 0


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
