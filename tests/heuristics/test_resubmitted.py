"""Clients submit again, under the same identity, what was rejected."""

import copy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Admission, check
from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.coreservation.engine import CoReservation
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.heuristics.resubmitted import ACCEPTED_BEFORE
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Batch, Machine, Part, Request, linear
from dlopt.problems.multistage import Reservation
from tests.heuristics.admission.strategies import SOUND, few, streams

F = Fraction
TWO = Cluster(2, tau=1, chi=1)
Task = admission.Task


def faults_of(call, *arguments, **named):
    with pytest.raises(InvalidInstanceError) as caught:
        call(*arguments, **named)
    return [(fault.path, fault.value, fault.rule) for fault in caught.value.faults]


@pytest.mark.parametrize("name", ["edf-iit-2", "fifo-opr-an", "fast-edf-iit", "mwf-opr-mn"])
def test_a_rejected_task_takes_its_own_place_again(name):
    head = Admission(TWO, name)
    tight, loose = Task("a", 5, 1, F(1, 2)), Task("a", 6, 1, 9)
    other = Task("b", 5, 1, 9)
    assert not head.submit(tight).accepted
    assert head.submit(other).accepted
    assert head.submit(loose).accepted
    assert [(one.task, one.accepted, one.at) for one in head.decisions] == [
        ("b", True, 5),
        ("a", True, 6),
    ]
    assert head.plan().decisions == head.decisions
    assert check(admission.Instance(TWO, (other, loose)), head.plan()) == ()


def test_a_task_may_be_rejected_again_and_again():
    head = Admission(TWO)
    rejected = [head.submit(Task("a", arrival, 1, F(1, 2))) for arrival in (5, 5, F(11, 2))]
    assert [one.at for one in rejected] == [5, 5, F(11, 2)]
    assert head.decisions == (rejected[-1],) and head.now == 0
    last = admission.Instance(TWO, (Task("a", F(11, 2), 1, F(1, 2)),))
    assert check(last, head.plan()) == ()


@pytest.mark.parametrize("number", [F, float])
def test_a_rejection_is_not_taken_back_before_it_was_made(number):
    head = Admission(Cluster(2, number(1), number(1)))
    head.submit(Task("a", F(2, 3), 1, F(1, 2)))
    before = head.plan(), head.now
    rule = "must not lie before its rejection, " + ("2/3" if number is F else "0.666666666666667")
    assert faults_of(head.submit, Task("a", F(1, 3), 1, 9)) == [("arrival", F(1, 3), rule)]
    assert (head.plan(), head.now) == before
    assert head.submit(Task("b", F(1, 3), 1, 9)).accepted  # others may arrive before
    assert head.submit(Task("a", F(2, 3), 1, 9)).accepted


def test_what_was_accepted_stays_accepted():
    head = Admission(TWO)
    assert not head.submit(Task("a", 0, 1, 1)).accepted
    assert head.submit(Task("a", 0, 1, 9)).accepted
    before = head.plan()
    late = Task("a", 20, 1, 9)
    assert faults_of(head.submit, late) == [("id", "a", ACCEPTED_BEFORE)]
    assert head.plan() == before
    head.advance(30)
    assert faults_of(head.submit, replace(late, arrival=30)) == [("id", "a", ACCEPTED_BEFORE)]


@pytest.mark.parametrize("name", SOUND)
@few
@pytest.mark.property
@given(stream=streams(tasks=6), data=st.data())
def test_rejections_before_leave_no_trace(name, stream, data):
    """It decides as an engine that only saw what was submitted last, and its plan is valid."""
    often, once = stream.engine(name), stream.engine(name)
    for task in stream.tasks:
        clone = replace(task, load=task.load * 50, deadline=task.deadline / 50)
        if data.draw(st.booleans()) and not _accepted_by_a_copy(often, clone):
            assert not often.submit(clone).accepted
        assert often.submit(task) == once.submit(task)
    assert often.plan() == once.plan() and often.waiting == once.waiting
    ids = {decision.task for decision in often.decisions}
    told = replace(stream.instance, tasks=tuple(task for task in stream.tasks if task.id in ids))
    assert not ids or check(told, often.plan()) == ()


def _accepted_by_a_copy(engine, task):
    return copy.deepcopy(engine).submit(task).accepted


def test_tasks_and_reservations_of_one_identity_around_each_other():
    head = MultiStage(TWO)
    assert not head.submit(multistage.Task("x", 1, 9, 2)).accepted
    assert not head.reserve(Reservation("x", 1, 5, 9, nodes=3)).accepted
    assert head.reserve(Reservation("x", 2, 5, 9, nodes=1)).accepted
    assert head.submit(multistage.Task("x", 3, 1, 9)).accepted
    assert [(one.task, one.at) for one in head.decisions] == [("x", 3)]
    assert [(one.reservation, one.accepted, one.at) for one in head.grants] == [("x", True, 2)]
    last = multistage.Instance(
        TWO, (multistage.Task("x", 3, 1, 9),), (Reservation("x", 2, 5, 9, nodes=1),)
    )
    assert check(last, head.plan()) == ()
    taken = [("id", "x", ACCEPTED_BEFORE)]
    assert faults_of(head.submit, multistage.Task("x", 4, 1, 9)) == taken
    assert faults_of(head.reserve, Reservation("x", 4, 6, 9)) == taken


def test_refused_reservations_keep_their_instants_and_places():
    head = MultiStage(TWO)
    head.reserve(Reservation("r", 3, 5, 9, nodes=3))
    head.reserve(Reservation("s", 3, 5, 9))
    head.submit(multistage.Task("t", 4, 9, 1))
    before = head.plan()
    early = "must not lie before its rejection, "
    found = faults_of(head.reserve, Reservation("r", F(5, 2), 5, 9))
    assert found[-1] == ("arrival", F(5, 2), f"{early}3")
    found = faults_of(head.submit, multistage.Task("t", F(7, 2), 1, 9))
    assert found == [("arrival", F(7, 2), f"{early}4")]
    assert head.plan() == before
    assert not head.reserve(Reservation("r", 4, 5, 9, nodes=2)).accepted
    assert [(one.reservation, one.at) for one in head.grants] == [("s", 3), ("r", 4)]
    assert head.submit(multistage.Task("t", 4, 1, 9)).accepted
    assert [one.at for one in head.decisions] == [4]


def test_an_order_by_submission_goes_on_after_a_resubmission():
    """Two tasks of one deadline are served in the order in which they were submitted last."""
    heads = Admission(TWO, "fifo-opr-mn"), Admission(TWO), MultiStage(TWO)
    for head in heads:
        kind = multistage.Task if isinstance(head, MultiStage) else Task
        head.submit(kind("huge", 0, 10, 99))
        head.submit(kind("a", 1, 99, 2))
        head.submit(kind("b", 1, 1, 98))
        head.submit(kind("a", 1, 1, 98))
        head.submit(kind("c", 1, 1, 98))
        assert [name for name in head.waiting if name != "huge"] == ["b", "a", "c"]


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


@pytest.mark.parametrize("name", ["rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr"])
def test_rejected_requests_enter_a_later_batch(name):
    machines = (Machine("m", 10), Machine("n", 8))
    engine = CoReservation(machines, name)
    first = [
        wanted("a", 20, 30, Part(6), priority=3),
        wanted("r", 20, 30, Part(8), Part(8), Part(8), priority=2),
        wanted("s", 20, 30, Part(50), priority=1),
    ]
    decided = engine.submit(first, at=10)
    assert [one.accepted for one in decided] == [True, False, False]
    again = [
        wanted("s", 25, 30, Part(2, 1, linear()), arrival=10),
        wanted("r", 20, 40, Part(6), arrival=15),
    ]
    assert [one.accepted for one in engine.submit(again, at=20)] == [True, True]
    plan = engine.plan()
    assert [(one.request, one.at) for one in plan.decisions] == [("a", 10), ("s", 20), ("r", 20)]
    assert engine.decisions == plan.decisions
    told = coreservation.Instance(machines, (first[0], *again), Batch(10))
    assert check(told, plan) == ()


def test_changes_of_a_rejected_request_are_forgotten_with_its_content():
    """They speak of a window and of parts that the last content does not have."""
    machines = (Machine("m", 10),)
    engine = CoReservation(machines)
    a = wanted("a", 30, 40, Part(6))
    engine.submit([a, wanted("r", 5, 9, Part(7), Part(7))])
    assert len(engine.plan().changes) == 3
    again = wanted("r", 31, 40, Part(4), arrival=1)
    engine.submit([again])
    assert engine.plan().changes == ()
    b = wanted("b", 31, 40, Part(1), Part(1), arrival=1)
    c = wanted("c", 50, 60, Part(1), arrival=2)
    engine.submit([b])
    engine.submit([c])
    assert len(engine.plan().decisions) == 4
    told = coreservation.Instance(machines, (a, again, b, c))
    assert check(told, engine.plan()) == ()
    engine.cancel("r")
    assert engine.calendar.smallest_free(0, 31, 40) == 4
    assert faults_of(engine.submit, [replace(again, arrival=2)]) == [
        ("requests[0].id", "r", "was accepted before, and cancelled")
    ]


def test_batches_of_which_a_request_is_wrong_change_nothing():
    engine = CoReservation([Machine("m", 10)])
    engine.submit([wanted("a", 9, 12, Part(6)), wanted("r", 9, 12, Part(7))], at=5)
    before = engine.plan(), engine.calendar.allocated(0, engine.now, 99), engine.now
    new = wanted("new", 9, 12, Part(1))
    for batch, fault in (
        (
            [new, wanted("r", 9, 12, Part(1), arrival=4)],
            ("requests[1].arrival", 4, "must not lie before its rejection, 5"),
        ),
        (
            [new, wanted("a", 9, 12, Part(1), arrival=6)],
            ("requests[1].id", "a", ACCEPTED_BEFORE),
        ),
        (
            [wanted("r", 9, 12, Part(1), arrival=6), wanted("r", 9, 12, Part(2), arrival=6)],
            ("requests[1].id", "r", "must be given to one request only"),
        ),
    ):
        assert faults_of(engine.submit, batch) == [fault]
        assert (engine.plan(), engine.calendar.allocated(0, engine.now, 99), engine.now) == before


def test_what_a_printed_slip_leaks_stays_in_the_calendar():
    """It is in nobody's plan once the request is submitted again; the machine stays as full."""
    engine = CoReservation([Machine("m", 10)], "co-rspb:literal-leak")
    engine.submit([wanted("r", 5, 9, Part(6), Part(6), Part(6))])
    assert [share.cpu for share in engine.plan().shares] == [6]
    (again,) = engine.submit([wanted("r", 5, 9, Part(4), arrival=1)])
    assert again.accepted
    assert [share.cpu for share in engine.plan().shares] == [4]
    assert engine.calendar.smallest_free(0, 5, 9) == 0
