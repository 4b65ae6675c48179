"""How much of a task can be done: stages, installments, flows, curves."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given

from dlopt.errors import NotApplicableError
from dlopt.models.multistage import single_task_fluid
from dlopt.models.multistage.single_task_capacity import (
    capacity_by_deadline,
    fluid_capacity,
    stage_capacity,
)
from dlopt.models.multistage.single_task_method import reason_against_structured, structured_plan
from dlopt.models.multistage.stages import SingleTaskInstance
from dlopt.problems.multistage import Decision, Grant, Solution, violations
from dlopt.result import Limits, Status
from tests import oracles_multistage as oracle
from tests.examples import share
from tests.models.multistage.sample_instances import alone, around

FEW = share(5 / 12)
# Instances on which the algorithms of the chapter, as printed, go wrong; and the truth: what
# flows, and what the stages do.
PRINTED = (
    (around(1, 1, 1, (0, 1, 2), held=((0, 4, 5, 5, (0,)),)), 1, 1),
    (
        around(2, 1, 1, (2, 1, 2), held=((0, 1, 3, 4, (1,)),), ready_times=(0, 4)),
        Fraction(1, 2),
        Fraction(1, 2),
    ),
    (around(1, 1, 1, (1, 1, 2), held=((0, 1, 2, 3, (0,)),)), 0, 0),
    (around(1, 1, 1, (0, 1, 4), held=((0, 1, 2, 4, (0,)),)), Fraction(1, 2), Fraction(1, 2)),
    (
        around(1, 1, 1, (0, 1, 4), held=((0, 1, 2, 4, (0,)),), ready_times=(1,)),
        0,
        0,
    ),
    (around(2, 1, 1, (0, 1, 2), held=((0, 2, 4, 4, (1,)),)), Fraction(3, 2), Fraction(3, 2)),
)


@pytest.mark.parametrize(("instance", "flows", "stages"), PRINTED)
def test_what_the_chapter_gets_wrong(instance, flows, stages):
    found = stage_capacity(instance)
    assert (found.load, found.bound) == (stages, stages)
    assert fluid_capacity(instance).bound == oracle.fluid(instance) >= flows
    assert _is_valid(instance, found)


def test_no_simple_order_is_best():
    """Neither that of readiness nor that of what ends first: the other one is better."""
    ready = around(2, 1, 2, (0, 2, 4), held=((0, 2, 4, 9, (1,)),))
    assert stage_capacity(ready).load == Fraction(16, 9) == oracle.structured(ready)
    smallest = around(2, 4, 8, (0, 2, 15), held=((0, 8, 15, 20, (0,)),), ready_times=(1, 0))
    assert stage_capacity(smallest).load == oracle.structured(smallest)


def test_what_is_sent_in_no_time_flows():
    """Node 0 is free all the time, node 1 until 2 and from 5 on."""
    instance = around(2, 0, 1, (0, 9, 6), held=((0, 2, 4, 5, (1,)),))
    found = stage_capacity(instance)
    assert (found.load, found.bound) == (9, 9)
    assert _is_valid(instance, found)
    assert fluid_capacity(instance).bound == 9 == oracle.fluid(instance)


def test_more_installments_come_closer_to_what_flows():
    instance = around(2, 1, 1, (0, 1, 3))
    loads = [stage_capacity(instance, installments=k).load for k in (1, 2, 3)]
    assert loads == sorted(set(loads))
    assert loads[-1] < fluid_capacity(instance).bound == 3
    assert stage_capacity(instance, installments=2).plan_class == "k"


@pytest.mark.property
@given(alone())
def test_stages_are_the_best_of_all_orders(instance):
    found = stage_capacity(instance)
    assert found.load == found.bound == oracle.structured(instance)
    assert found.load <= fluid_capacity(instance).bound
    assert _is_valid(instance, found)


@pytest.mark.property
@FEW
@given(alone(most=2, wanted=2))
def test_installments_lie_between_stages_and_flows(instance):
    one = stage_capacity(instance)
    two = stage_capacity(instance, installments=2, limits=Limits(time_s=20))
    assert one.load <= two.load <= two.bound
    assert two.load <= fluid_capacity(instance).bound
    assert _is_valid(instance, two)


@pytest.mark.property
@FEW
@given(alone(most=3, identical=False, setup=True))
def test_set_up_costs_and_nodes_that_differ(instance):
    found = stage_capacity(instance, limits=Limits(time_s=20))
    assert found.load <= found.bound
    assert found.load <= fluid_capacity(instance).bound
    assert _is_valid(instance, found)


@pytest.mark.property
@given(alone(identical=False))
def test_what_flows_is_a_program_over_what_is_received_and_computed(instance):
    found = fluid_capacity(instance)
    assert found.bound == oracle.fluid(instance)
    assert found.derivation.startswith(("fluid relaxation", "nothing"))


@pytest.mark.property
@FEW
@given(alone(most=2))
def test_the_curve_is_what_flows_by_each_deadline(instance):
    curve = capacity_by_deadline(instance)
    task = instance.tasks[0]

    def at(due):
        by = replace(task, deadline=due - task.arrival)
        return fluid_capacity(replace(instance, tasks=(by,))).bound

    assert curve[-1][0] == task.absolute_deadline
    assert [load for _, load in curve] == sorted(load for _, load in curve)
    for (start, low), (end, high) in pairwise(curve):
        assert at(end) == high
        for part in (Fraction(1, 3), Fraction(1, 2)):
            assert at(start + (end - start) * part) == low + (high - low) * part


def test_a_curve_has_corners_where_nothing_begins_or_ends():
    """From 17 on the port is busy since the arrival, and nodes wait for it."""
    ready = around(6, 1, 2, (0, 1, 90), ready_times=(0, 4, 10, 10, 10, 10))
    assert capacity_by_deadline(ready) == (
        (0, 0),
        (4, Fraction(4, 3)),
        (10, Fraction(16, 3)),
        (17, 17),
        (90, 90),
    )
    held = ((0, 3, 5, 6, (0,)),)
    paused = around(4, 1, 2, (0, 1, 60), ready_times=(0, 0, 6, 6), held=held)
    assert capacity_by_deadline(paused) == ((0, 0), (3, 2), (6, 3), (9, 7), (60, 58))


def test_large_programs_have_a_safe_dual_bound(monkeypatch):
    instance = around(2, 1, 2, (0, 2, 14), held=((0, 2, 4, 9, (1,)), (0, 6, 7, 8, (0,))))
    exact = fluid_capacity(instance)
    monkeypatch.setattr(single_task_fluid, "MAX_EXACT_COLUMNS", 0)
    bound = fluid_capacity(instance)
    assert exact.bound <= bound.bound == pytest.approx(float(exact.bound))
    assert bound.derivation == "fluid relaxation, safe dual bound, in exact arithmetic"
    curve = capacity_by_deadline(instance)
    assert curve[-1][1] == bound.bound
    assert fluid_capacity(instance, limits=Limits(time_s=1e-9)).bound >= exact.bound


def test_which_task_and_which_reservations():
    instance = around(
        2, 1, 1, (0, 1, 4), (1, 1, 2), held=((0, 0, 4, 4, (0,)), (1, 2, 2, 3, 1)), now=0
    )
    no = (Grant("r", False, 0), Grant("s", True, 1, (1,)))
    assert fluid_capacity(instance, grants=()).bound == 4
    assert fluid_capacity(instance, "b", ()).bound == 2
    assert fluid_capacity(instance, grants=no).bound < 4
    with pytest.raises(NotApplicableError, match="s does not name its nodes"):
        fluid_capacity(instance)
    with pytest.raises(NotApplicableError, match="there is no task 'z'"):
        stage_capacity(instance, "z", ())
    with pytest.raises(NotApplicableError, match=r"there is no task$"):
        fluid_capacity(around(1, 1, 1, held=((0, 1, 1, 2, (0,)),)))


def test_stages_of_a_single_task():
    instance = around(
        2, 1, 1, (0, 1, 9), held=((0, 2, 4, 6, (0,)), (0, 4, 5, 7, (1,)), (0, 8, 8, 9, (0,)))
    )
    single = SingleTaskInstance.from_instance(instance)
    back = single.scaled.tasks_only.unscale_instant
    stages = single.stages()
    assert [(back(s.start), back(s.send_by), back(s.due)) for s in stages] == [
        (0, 2, 5),
        (5, 8, 8),
        (8, 9, 9),
    ]
    first, second, third = (
        {w.node: (back(w.ready), back(w.due)) for w in s.windows} for s in stages
    )
    assert first == {0: (0, 2), 1: (0, 4)}
    assert second == {0: (6, 8), 1: (7, 8)}
    assert third == {1: (8, 9)}


def test_nothing_before_the_deadline():
    late = around(1, 1, 1, (0, 1, 2), ready_times=(3,), channel_ready=3)
    assert (fluid_capacity(late).bound, stage_capacity(late).load) == (0, 0)
    assert capacity_by_deadline(late) == ((2, 0),)


def test_floats():
    instance = around(2, 1.0, 2.0, (0.0, 1.7, 4.0), held=((0.0, 2.0, 4.0, 9.0, (1,)),))
    assert fluid_capacity(instance).bound == pytest.approx(2)
    assert stage_capacity(instance).load == pytest.approx(16 / 9)
    assert capacity_by_deadline(instance)[-1] == pytest.approx((4.0, 2.0), rel=1e-5)
    found = structured_plan(instance)
    assert (found.status, found.value) == (Status.OPTIMAL, 2)
    assert violations(instance, found.solution, 1e-6) == ()


def test_at_a_limit_there_is_a_bound():
    held = ((0, 30, 32, 40, (0, 2)), (0, 31, 32, 45, (1,)), (0, 33, 34, 50, (3,)))
    instance = around(6, 1, 3, (0, 1, 50), held=held, ready_times=(0, 3, 1, 4, 2, 5))
    found = stage_capacity(instance, installments=2, limits=Limits(time_s=0.2))
    assert found.load <= found.bound
    assert stage_capacity(instance).load <= found.bound
    assert _is_valid(instance, found)


@pytest.mark.parametrize("load", [Fraction(16, 9), Fraction(5, 3), 2])
def test_the_method_of_a_single_task(load):
    instance = around(2, 1, 2, (0, load, 4), held=((0, 2, 4, 9, (1,)),))
    found = structured_plan(instance)
    assert violations(instance, found.solution) == ()
    if load <= Fraction(16, 9):
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 2, 2)
    else:
        assert (found.status, found.value, found.bound) == (Status.FEASIBLE, 1, None)
        assert "16/9 fits in the stages" in found.reason


def test_where_the_method_of_a_single_task_says_nothing():
    two = around(1, 1, 1, (0, 1, 9), held=((0, 1, 2, 4, 1), (0, 3, 3, 5, 1)))
    found = structured_plan(two)
    assert (found.status, found.solution) == (Status.UNKNOWN, None)
    promised = around(1, 1, 1, (0, 4, 5), now=1)
    assert structured_plan(promised).status is Status.UNKNOWN
    assert "promised" in structured_plan(promised).reason
    assert (
        reason_against_structured(around(1, 1, 1, (0, 1, 1), (0, 1, 1)))
        == "it supports a single task only"
    )
    assert reason_against_structured(promised) is None
    wanted = around(2, 1, 2, (0, 1, 9), held=((0, 2, 4, 9, 1),))
    assert violations(wanted, structured_plan(wanted).solution) == ()


def _is_valid(instance, found):
    """Tell whether chunks keep all rules but those that say how much the task wants."""
    load = sum((chunk.load for chunk in found.chunks), Fraction(0))
    assert load == found.load
    task = instance.tasks[0]
    grants = tuple(Grant(one.id, True, one.arrival, one.nodes) for one in instance.reservations)
    others = (
        {"reservation-node-overlap", "reservation-channel-overlap"} if _clash(instance) else set()
    )
    wanted = replace(instance, tasks=(replace(task, load=load or 1),))
    plan = Solution((Decision(task.id, bool(load), task.arrival),), grants, found.chunks)
    return {one.kind for one in violations(wanted, plan)} <= others


def _clash(instance):
    """Tell whether the reservations break the rules among themselves."""
    grants = tuple(Grant(one.id, True, one.arrival, one.nodes) for one in instance.reservations)
    no = tuple(Decision(task.id, False, task.arrival) for task in instance.tasks)
    return bool(violations(instance, Solution(no, grants, ())))
