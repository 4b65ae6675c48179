"""The registered methods: streams as instances, and clusters as they stand."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage import algorithm_names, methods
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    OBJECTIVES,
    Commitment,
    Instance,
    Reservation,
    Task,
    objective,
    violations,
)
from dlopt.result import Status
from tests.heuristics.multistage.strategies import streams
from tests.heuristics.reference.multistage_engine import reference_decisions

F = Fraction
ONE = Cluster(1, tau=1, chi=1)


@pytest.mark.parametrize("name", algorithm_names.NAMES)
def test_every_name_is_a_method(name):
    target = name.replace("-", "_").replace(":", "_").lower()
    method = getattr(methods, target)
    assert method is getattr(methods, target)
    assert method.__name__ == target
    tasks = (Task("a", 0, 1, 9), Task("b", 0, 9, 9))
    instance = Instance(ONE, tasks, (Reservation("r", 0, 2, 4), Reservation("q", 0, 3, 5)))
    result = method(instance, objective="accepted-load")
    assert (result.status, result.objective, result.value) == (
        Status.FEASIBLE,
        "accepted-load",
        1,
    )
    assert result.plan_class == "any"
    first, second = result.reason.split("; ")
    assert first.startswith("first rejection: ") and "of task b would miss" in first
    assert second == "first refusal: too few of its nodes are free"


def test_no_other_name_is():
    with pytest.raises(AttributeError, match="has no attribute 'single_stage'"):
        _ = methods.single_stage


@pytest.mark.parametrize("goal", OBJECTIVES)
def test_objectives(goal):
    instance = Instance(ONE, (Task("a", 0, 1, 9),), (Reservation("r", 0, 2, 4),))
    result = methods.multi_stage(instance, objective=goal)
    assert result.value == objective(instance, result.solution, goal)
    assert result.reason is None


def test_reservations_alone():
    result = methods.multi_stage(Instance(ONE, reservations=(Reservation("r", 0, 2, 4),)))
    assert result.value == 1 and result.solution.chunks == ()


def test_reservations_of_an_instant_come_before_its_tasks():
    instance = Instance(ONE, (Task("a", 0, 1, 2),), (Reservation("r", 0, 1, 4),))
    plan = methods.multi_stage(instance).solution
    assert [one.accepted for one in (*plan.grants, *plan.decisions)] == [True, False]
    later = replace(instance, reservations=(Reservation("r", F(1, 2), 1, 4),))
    plan = methods.multi_stage(later).solution
    assert [one.accepted for one in (*plan.grants, *plan.decisions)] == [False, True]


def test_maintenance_that_cannot_be_is_told():
    wanted = Reservation("m", 1, 1, 3, mandatory=True)
    result = methods.multi_stage(Instance(ONE, (Task("a", 0, 1, 2),), (wanted,)))
    assert (result.status, result.solution) == (Status.UNKNOWN, None)
    assert result.reason == (
        "mandatory reservation m: too few of its nodes are free: task a holds until 2"
    )


def test_where_the_methods_apply():
    task = (Task("a", 0, 1, 9),)
    assert methods.applies(Instance(ONE, task)) is None
    assert methods.applies(Instance(Cluster(2, (1, 2), 1), task)) == "the nodes differ"
    assert methods.applies(Instance(Cluster(2, 1, 1, 0, 1), task)) == "there are set-up costs"


STANDING = Instance(
    Cluster(2, tau=1, chi=1),
    (Task("old", 0, 3, 12), Task("gone", 1, 1, 9), Task("new", 5, 1, 9)),
    (
        Reservation("past", 0, 1, 3, nodes=(1,)),
        Reservation("now", 1, 3, 8, nodes=(1,)),
        Reservation("ahead", 2, 9, 10, io_ratio=1, nodes=(0,)),
        Reservation("late", 6, 6, 7, io_ratio=1),
    ),
    now=4,
    ready_times=(5, 0),
    channel_ready=F(9, 2),
    committed=(Commitment("gone", 0, 2, 1, 4), Commitment("old", 0, 4, F(1, 2), 5)),
)


def test_a_cluster_as_it_stands():
    """The rest of the old task is planned again, around what is reserved."""
    head = MultiStage.of(STANDING)
    assert head.waiting == ("old",)
    assert [grant.reservation for grant in head.grants] == ["past", "now", "ahead"]
    assert [(one.task, one.at) for one in head.decisions] == [("old", 0), ("gone", 1)]
    assert sum(chunk.load for chunk in head.plan().chunks) == F(5, 2)
    for decide in (methods.decide_all, reference_decisions):
        plan = decide("multi-stage", STANDING).plan()
        assert violations(STANDING, plan) == ()
        assert [one.accepted for one in plan.decisions] == [True, True, True]
    assert methods.multi_stage(STANDING).value == objective(STANDING, plan)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"ready_times": (10, 0)}, "promised reservation ahead: too few of its nodes .* not ready"),
        ({"channel_ready": F(19, 2)}, "promised reservation ahead: the channel is not free: "),
        (
            {"reservations": (*STANDING.reservations[:2], Reservation("r", 2, 5, 7, nodes=(1,)))},
            "promised reservation r: .*: reservation now holds until 8",
        ),
        (
            {"tasks": (Task("old", 0, 3, 8), *STANDING.tasks[1:])},
            "multi-stage finds no plan that keeps the promise to old",
        ),
    ],
)
def test_promises_that_cannot_be_kept(change, text):
    instance = replace(STANDING, **change)
    with pytest.raises(PromiseError, match=text):
        MultiStage.of(instance)
    assert methods.multi_stage(instance).status is Status.UNKNOWN


def test_a_literal_one_starts_from_a_state_too():
    plan = methods.multi_stage_literal_m3(STANDING).solution
    assert violations(STANDING, plan) == ()
    tasks = (Task("old", 0, 3, 5), *STANDING.tasks[1:])
    late = replace(STANDING, tasks=tasks, reservations=(), ready_times=(5, 5))
    result = methods.multi_stage_literal(late)
    assert result.status is Status.UNKNOWN
    assert result.reason == "multi-stage:literal finds no plan that keeps the promise to old"


@pytest.mark.property
@given(streams(), st.integers(0, 12).map(lambda k: F(k, 2)))
def test_a_stream_that_is_cut_in_two(instance, now):
    """What is told before an instant, committed and handed over, is continued the same way."""
    head = MultiStage(
        instance.cluster,
        ready_times=instance.ready_times,
        channel_ready=instance.channel_ready,
    )
    for one in sorted((*instance.reservations, *instance.tasks), key=lambda one: one.arrival):
        if one.arrival < now:
            head.submit(one) if isinstance(one, Task) else head.reserve(one)
    head.advance(now)
    plan = head.plan()
    waiting = set(head.waiting)
    kept = {one.task for one in plan.decisions if one.accepted}
    granted = {one.reservation: one.nodes for one in plan.grants if one.accepted}
    begun = [chunk for chunk in plan.chunks if chunk.task not in waiting]
    tasks = tuple(task for task in instance.tasks if task.arrival >= now or task.id in waiting)
    held = tuple(
        replace(one, nodes=granted[one.id]) if one.id in granted else one
        for one in instance.reservations
        if one.arrival >= now or one.id in granted
    )
    if any(chunk.transmission_start > now for chunk in begun) or not (tasks or held):
        return  # a file cannot say what a task that has begun will still be sent
    nodes = instance.cluster.nodes
    free = list(instance.ready_times or [0] * nodes)
    for chunk in begun:
        free[chunk.node] = max(free[chunk.node], chunk.computation_end)
    channel = max([instance.channel_ready, *(chunk.transmission_end for chunk in begun)])
    if channel > now or any(instant > now for instant in free):
        return  # nor that a node is free between a reservation and a chunk
    later = replace(
        instance,
        tasks=tasks,
        reservations=held,
        now=now,
        ready_times=tuple(free),
        channel_ready=channel,
    )
    other = MultiStage.of(later)
    mine = {chunk for chunk in plan.chunks if chunk.task in waiting}
    assert mine == set(other.plan().chunks)
    assert head.waiting == other.waiting
    assert kept >= set(other.waiting)
    assert violations(later, methods.decide_all("multi-stage", later).plan()) == ()


def test_a_promise_that_is_over_is_in_nobodys_way():
    """The node computes something else by now; one reservation is over, one is running."""
    tasks = (Task("a", 3, 1, 9),)
    sent = (Commitment("x", 0, Fraction(5, 2), 1, Fraction(9, 2)),)
    wanted = (
        Reservation("over", 0, 1, 2, nodes=(0,)),
        Reservation("running", 0, 1, 6, io_end=2, nodes=(1,)),
    )
    instance = Instance(Cluster(2, 1, 1), tasks, wanted, now=3, committed=sent)
    result = dlopt.solve(instance, "multi-stage")
    assert [grant.accepted for grant in result.solution.grants] == [True, True]
    assert result.value == 3
    assert dlopt.solve(instance, "exact").value == 3


def test_promises_of_the_past_that_exclude_each_other_are_found() -> None:
    """Each was over before now, and yet no plan can have kept both."""
    windows = {"r": (0, 2, 0, (0,)), "s": (1, 3, 1, (0,)), "t": (2, 4, 2, (0,))}

    def plan_of(*names: str) -> Status:
        wanted = tuple(
            Reservation(name, 0, start, end, io_end=io, nodes=nodes)
            for name, (start, end, io, nodes) in windows.items()
            if name in names
        )
        instance = Instance(Cluster(2, 1, 1), (Task("a", 5, 1, 9),), wanted, now=5)
        found = dlopt.solve(instance, "multi-stage")
        if found.status is Status.UNKNOWN:
            assert "promised reservations" in str(found.reason)
            assert dlopt.solve(instance, "exact").status is Status.INFEASIBLE
        return found.status

    assert plan_of("r", "t") is Status.FEASIBLE
    assert plan_of("r", "s") is Status.UNKNOWN
    windows["s"] = (1, 3, 2, (1,))  # other nodes, the channel at one time
    windows["r"] = (0, 2, 2, (0,))
    assert plan_of("r", "s") is Status.UNKNOWN
    windows["r"] = (0, 2, 1, (0,))
    assert plan_of("r", "s") is Status.FEASIBLE
    windows["s"] = (0, 1, 0, (0,))  # within the window of another, which goes on
    windows["r"], windows["t"] = (0, 4, 0, (0,)), (2, 3, 2, (0,))
    assert plan_of("r", "s") is Status.UNKNOWN


@pytest.mark.parametrize(("arrival", "now"), [(F(1, 10), 0.1), (0.3, F(3, 10))])
def test_what_arrives_now_is_not_promised_in_whatever_numbers(arrival, now):
    """A float is the decimal that it prints, though it is stored a little above or below."""
    reservations = (Reservation("r", arrival, 4, 6),)
    instance = Instance(ONE, (Task("t", arrival, 1, 9),), reservations, now=now)
    assert dlopt.solve(instance, "multi-stage").value == 2
