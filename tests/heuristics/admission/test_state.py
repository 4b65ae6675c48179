"""Engines that start in the middle: what was promised before, and the methods of whole streams."""

from fractions import Fraction

import pytest
from hypothesis import given

from dlopt import NotApplicableError, Status, compare, registry, solve
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.methods import identical_nodes, nothing_promised, stream
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.admission import Commitment, Instance, Task, objective, violations
from dlopt.problems.cluster import Cluster
from tests import strategies
from tests.heuristics.admission.strategies import (
    LITERAL,
    PROMISING,
    REGISTERED,
    SOUND,
    few,
    streams,
)
from tests.heuristics.reference.admission_engine import ReferenceAdmission, admission

F = Fraction
TWO = Cluster(2, tau=1, chi=1)
BUSY = Instance(
    TWO,
    (Task("a", 0, 4, 20), Task("b", 1, 2, 30, remaining=F(1, 2)), Task("c", 5, 2, 9)),
    now=4,
    ready_times=(3, 6),
    channel_ready=1,
    committed=(Commitment("a", 0, 1, 3, 8), Commitment("gone", 1, 3, 2, 7)),
)
"""Node 0 is free at 8, node 1 at 7, the channel at 5; of `a` 1 is left, of `b` 1/2."""
LATE = Instance(TWO, (Task("a", 0, 4, 6), Task("b", 5, 1, 9)), now=4)
"""Of `a` all is left at 4, with 2 to go."""


def test_what_is_left_is_planned():
    head = Admission.of(BUSY, "edf-opr-mn")
    assert head.now == 4
    assert head.waiting == ("a", "b")
    assert [(d.task, d.accepted, d.at, d.promised) for d in head.decisions] == [
        ("a", True, 0, True),
        ("b", True, 1, True),
    ]
    assert [(chunk.task, chunk.node, chunk.load) for chunk in head.plan().chunks] == [
        ("a", 1, 1),
        ("b", 0, F(1, 2)),
    ]
    assert [chunk.transmission_start for chunk in head.plan().chunks] == [7, 8]
    assert head.submit(BUSY.tasks[2]).accepted
    assert violations(BUSY, head.plan()) == ()


def test_what_was_done_needs_no_plan():
    done = Task("a", 0, 4, 3, remaining=0)
    sent = Commitment("b", 0, 2, 1, 4)
    instance = Instance(TWO, (done, Task("b", 1, 1, 3), Task("c", 4, 1, 3)), 4, committed=(sent,))
    head = Admission.of(instance)
    assert head.waiting == ()
    assert [decision.accepted for decision in head.decisions] == [True, True]
    assert head.submit(instance.tasks[2]).accepted
    assert violations(instance, head.plan()) == ()


def test_first_come_first_served_in_the_order_of_the_instance():
    tasks = (Task("a", 0, 1, 50), Task("b", 0, 1, 20), Task("c", 1, 1, 30))
    instance = Instance(TWO, tasks, now=2)
    assert Admission.of(instance, "fifo-opr-mn").waiting == ("a", "b", "c")
    assert Admission.of(instance, "edf-opr-mn").waiting == ("b", "c", "a")


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-an", "fifo-epr-mn:literal"])
def test_the_plain_twin_starts_there_too(name):
    fast, reference = Admission.of(BUSY, name), ReferenceAdmission.of(BUSY, name)
    for head in (fast, reference):
        head.submit(BUSY.tasks[2])
    assert fast.plan() == reference.plan()


def test_a_float_of_the_instance_makes_all_numbers_floats():
    floating = Instance(TWO, (Task("a", 0, 4.0, 20), Task("b", 5, 1, 9)), now=4)
    assert type(Admission.of(floating).now) is float
    assert type(Admission.of(BUSY).now) is F


@pytest.mark.parametrize("name", PROMISING)
def test_a_promise_that_cannot_be_kept(name):
    with pytest.raises(PromiseError, match=f"{name} finds no plan that keeps the promise to a"):
        Admission.of(LATE, name)
    found = solve(LATE, name)
    assert found.status is Status.UNKNOWN
    assert (found.solution, found.value) == (None, None)
    assert found.reason == f"{name} finds no plan that keeps the promise to a"
    assert stream(name, LATE).objective == "accepted"


@pytest.mark.parametrize("name", ["fifo-anna", "edf-anna"])
def test_who_promises_nothing_cannot_keep_promises(name):
    reason = "the instance has promised tasks"
    entry = registry.method("admission", name)
    assert entry.reason_against(LATE).startswith(reason)
    with pytest.raises(NotApplicableError, match=reason):
        solve(BUSY, name)
    assert nothing_promised(Instance(TWO, BUSY.tasks[:1])) is None
    assert nothing_promised(Instance(Cluster(2, 1, (1, 2)), BUSY.tasks[:1])) == "the nodes differ"
    head = Admission.of(LATE, name)
    assert head.waiting == ("a",)
    assert [decision.promised for decision in head.decisions] == [False]


@pytest.mark.property
@few
@given(strategies.admission(most=3, tasks=5, state=True))
def test_plans_from_any_state_are_valid(instance):
    for name in PROMISING:
        found = solve(instance, name)
        if found.solution is None:
            assert found.status is Status.UNKNOWN
            assert found.reason.startswith(f"{name} finds no plan")
            assert instance.promised
        else:
            assert violations(instance, found.solution) == ()
            assert found.status is Status.FEASIBLE


@pytest.mark.property
@few
@given(streams(setup=False))
def test_a_stream_in_one_go_or_one_by_one(given_stream):
    instance = given_stream.instance
    for name in REGISTERED[::3]:
        found = stream(name, instance)
        plan = given_stream.decided(name).plan()
        assert found.solution == plan
        assert found.value == objective(instance, plan)
        assert found.plan_class == "single"
        rejected = [decision.reason for decision in plan.decisions if not decision.accepted]
        assert found.reason == (f"first rejection: {rejected[0]}" if rejected else None)


@pytest.mark.parametrize(
    "goal", ["accepted", "accepted-load", "accepted-weight", "reject-ratio", "utilization"]
)
def test_every_objective(goal):
    for name in ("edf-iit-2", "mcdf"):
        found = solve(BUSY, name, objective=goal)
        assert found.objective == goal
        assert found.value == objective(BUSY, found.solution, goal)


def test_misses_are_counted_where_nothing_is_promised():
    instance = Instance(TWO, (Task("a", 0, 1, 1), Task("b", 0, 1, 9), Task("c", 0, 1, 1)))
    assert solve(instance, "fifo-anna", objective="misses").value == 2
    assert solve(instance, "fifo-anna").value == 1
    assert solve(instance, "edf-iit-2", objective="misses").value == 0


def test_nodes_that_differ_are_for_others():
    mixed = Instance(Cluster(2, 1, (1, 2)), BUSY.tasks[:1])
    assert identical_nodes(mixed) == "the nodes differ"
    for name in REGISTERED:
        assert registry.method("admission", name).reason_against(mixed) == "the nodes differ"


def test_all_sound_methods_side_by_side():
    fresh = Instance(TWO, (Task("a", 0, 1, 2), Task("b", 0, 1, 3), Task("c", 1, 2, 9)))
    table = compare(fresh, SOUND)
    assert [row.method.name for row in table.rows] == list(SOUND)
    assert [row.failure for row in table.rows] == [None] * len(SOUND)
    assert not set(LITERAL) & {row.method.name for row in table.rows}


def test_the_first_new_task_is_told_from_the_last_promised():
    """Under FIFO it comes behind, whatever its name; plain and fast agree."""
    tasks = (Task("z", 0, 4, 19), Task("a", 1, 1, 6))
    for reference in (False, True):
        instance = Instance(Cluster(1, 1, 1), tasks, now=1)
        head = admission(reference).of(instance, "fifo-opr-mn")
        assert not head.submit(tasks[1]).accepted
        assert head.waiting == ("z",)
    for name in ("edf-opr-mn", "fast-edf-iit", "hybrid"):
        even = (Task("z", 0, 1, 9), Task("a", 1, 1, 8))
        head = Admission.of(Instance(Cluster(1, 1, 1), even, now=1), name)
        assert head.submit(even[1]).accepted
        assert head.waiting == ("z", "a")
