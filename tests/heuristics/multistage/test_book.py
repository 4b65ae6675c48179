"""The verbs of the book of tasks and reservations, on the smallest case of each rule."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import MultiStage, check
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from tests.heuristics.book_machine import visible
from tests.heuristics.multistage.book_calls import (
    BOTH_NUMBERS,
    NOTHING,
    ONE,
    THREE,
    TWO,
    F,
    assert_refused,
    book,
    nodes_of,
    stated,
)
from tests.heuristics.reference.multistage_engine import ReferenceMultiStage


@BOTH_NUMBERS
def test_the_same_reservation_again_has_the_same_answer(number):
    head = book(TWO, Reservation("r", 0, 2, 6), number=number)
    before = visible(head)
    for one in (Reservation("r", 0, 2, 6), Reservation("all", 0, 5, 9, nodes=2)):
        grant = head.reserve(one)
        assert head.reserve(one) is grant and head.ask(one) is grant
    assert visible(head)[1:] == before[1:]
    head.advance(20)
    assert head.reserve(Reservation("r", 0, 2, 6)).accepted
    assert_refused(
        InvalidInstanceError, "id: was accepted", head.reserve, Reservation("r", 20, 22, 26)
    )


@BOTH_NUMBERS
@pytest.mark.parametrize("name", ["multi-stage", "multi-stage:literal", "multi-stage:literal-M2"])
def test_ask_is_the_decision_and_changes_nothing(name, number):
    head = MultiStage(TWO, name, exact_numbers=number is F)
    for content in (
        Task("a", 0, 2, 6),
        Reservation("r", 0, 2, 6, io_ratio=F(1, 2)),
        Reservation("s", 1, 1, 7, nodes=2),
        Task("b", 1, 9, 3),
        Reservation("t", 1, 4, 7, io_ratio=1),
        Task("c", 3, 2, 30),
    ):
        before = visible(head)
        foretold = head.ask(content)
        assert visible(head) == before
        assert foretold == (head.submit if isinstance(content, Task) else head.reserve)(content)
    assert_refused(NotApplicableError, "a task is needed, not a int", head.ask, 7)
    assert_refused(InvalidInstanceError, "arrival", head.ask, Reservation("late", 0, 5, 6))


def test_a_mandatory_reservation_that_conflicts_is_an_error_to_ask_for():
    head = book(ONE, Reservation("r", 0, 2, 6))
    wanted = Reservation("m", 0, 3, 4, mandatory=True)
    for call in (head.ask, head.reserve):
        assert_refused(
            PromiseError, "mandatory reservation m: .* reservation r holds until 6", call, wanted
        )
    head = book(
        TWO, Reservation("other", 0, 2, 6, nodes=(0,)), Reservation("r", 0, 2, 7, nodes=(1,))
    )
    wanted = replace(wanted, nodes=(1,))
    assert_refused(PromiseError, "reservation r holds until 7", head.ask, wanted)


@BOTH_NUMBERS
def test_cancelling_frees_nodes_and_channel_from_now_on(number):
    head = book(ONE, Reservation("r", 0, 0, 8, io_ratio=F(1, 2)), number=number)
    head.advance(2)
    task = Task("a", 2, 2, 4)
    assert not head.ask(task).accepted
    assert head.cancel("r") == NOTHING
    assert head.grants == () and head.state() is None
    assert head.submit(task).accepted
    assert [chunk.transmission_start for chunk in head.plan().chunks] == [2]
    assert_refused(NotApplicableError, "reservation r is cancelled already", head.cancel, "r")
    assert_refused(InvalidInstanceError, "taken back", head.reserve, Reservation("r", 2, 3, 4))
    head.advance(9)
    head.archive()
    assert head.reserve(Reservation("r", 9, 10, 11)).accepted


def test_identities_that_say_nothing():
    head = book(TWO, Reservation("r", 0, 2, 3))
    assert not head.reserve(Reservation("q", 0, 2, 4, nodes=2)).accepted
    for identity, text in (
        ("x", "no task and no reservation x was ever accepted"),
        ("q", "no task and no reservation q was ever accepted"),
        (5, "an identity is needed, not a int"),
    ):
        assert_refused(NotApplicableError, text, head.cancel, identity)
        assert_refused(NotApplicableError, text, head.finished, identity, 9)
    assert_refused(
        NotApplicableError, "reservation x was never", head.change, Reservation("x", 0, 2, 3)
    )
    assert_refused(NotApplicableError, "task r was never", head.change, Task("r", 0, 2, 3))
    assert_refused(NotApplicableError, "a task is needed, not a str", head.change, "r")
    head.advance(3)
    assert_refused(NotApplicableError, "reservation r is over", head.cancel, "r")
    assert_refused(NotApplicableError, "reservation r is over", head.finished, "r", 3)
    head.advance(4)
    assert_refused(NotApplicableError, "reservation r is over", head.finished, "r", 5)


def test_kind_is_needed_only_where_a_task_and_a_reservation_have_the_identity():
    head = book(TWO, Task("a", 0, 1, 30), Reservation("a", 0, 2, 8), Reservation("r", 0, 2, 8))
    head.advance(3)
    text = "both a task and a reservation are named a: kind='task' or kind='reservation' is needed"
    assert_refused(NotApplicableError, text, head.cancel, "a")
    assert_refused(NotApplicableError, text, head.finished, "a", 5)
    rule = "kind: must be 'task' or 'reservation'"
    assert_refused(InvalidInstanceError, rule, head.cancel, "a", kind="both")
    assert_refused(NotApplicableError, "task r was never accepted", head.cancel, "r", kind="task")
    assert head.finished("a", 4, kind="reservation") == NOTHING
    assert head.cancel("a", kind="reservation") == NOTHING
    assert [one.task for one in head.decisions] == ["a"] and nodes_of(head).keys() == {"r"}
    assert_refused(NotApplicableError, "task a is over", head.cancel, "a")
    assert_refused(NotApplicableError, "cancelled already", head.cancel, "a", kind="reservation")
    assert head.cancel("r") == NOTHING


@BOTH_NUMBERS
def test_a_reservation_that_waits_may_change_in_every_way(number):
    head = book(
        TWO, Reservation("r", 0, 4, 6, io_ratio=F(1, 2)), Task("a", 0, 2, 40), number=number
    )
    head.advance(1)
    for content, nodes in (
        (Reservation("r", 0, 4, 9), (1,)),
        (Reservation("r", 0, 4, 5, nodes=2), (0, 1)),
        (Reservation("r", 0, 1, 5, io_ratio=1, nodes=1), (1,)),
        (Reservation("r", 0, 30, 50, nodes=(0,), mandatory=True), (0,)),
    ):
        if content.start == 1:  # task a uses the channel until 2, and node 0 until 4
            assert head.change(content).conflict == "channel"
            content = replace(content, io_ratio=0)
        grant = head.change(content)
        assert (grant.accepted, grant.at, grant.nodes) == (True, 1, nodes)
        assert head.grants == (grant,) and head.reserve(content) is grant
        (one,) = stated(head).instance.reservations
        assert (one.start, one.end, one.nodes) == (content.start, content.end, nodes)


@BOTH_NUMBERS
def test_a_change_that_breaks_a_promise_is_refused_and_changes_nothing(number):
    head = book(
        TWO, Reservation("r", 0, 9, 10), Reservation("s", 0, 12, 14, nodes=2), number=number
    )
    assert head.submit(Task("a", 0, 3, F(13, 2))).accepted
    before = visible(head)
    for content, because, missed in (
        (Reservation("r", 0, 9, 13), "nodes", None),
        (Reservation("r", 0, 9, 13, nodes=(0,)), "nodes", None),
        (Reservation("r", 0, 9, 10, nodes=3), "nodes", None),
        (Reservation("r", 0, 2, 10, nodes=2), "task", "a"),
        (Reservation("r", 0, 2, 10, nodes=2, mandatory=True), "task", "a"),
    ):
        grant = head.change(content)
        assert (grant.accepted, grant.conflict, grant.missed) == (False, because, missed)
        assert visible(head) == before


@pytest.mark.parametrize(
    ("cluster", "reservation", "task", "changes"),
    [
        (ONE, Reservation("r", 0, 5, 9), Task("a", 0, 2, 4), {"start": 3}),
        (ONE, Reservation("r", 0, 1, 2), Task("a", 0, 2, 6), {"end": 5}),
        (TWO, Reservation("r", 0, 2, 8, nodes=(1,)), Task("a", 0, F(5, 2), 5), {"io_end": 5}),
    ],
)
def test_more_of_one_thing_alone_may_break_a_promise(cluster, reservation, task, changes):
    head = book(cluster, reservation, task)
    before = visible(head)
    grant = head.change(replace(reservation, **changes))
    assert (grant.conflict, grant.missed) == ("task", "a") and visible(head) == before


def test_the_channel_of_a_changed_reservation_must_be_free():
    head = book(TWO, Reservation("r", 0, 2, 4, io_ratio=1), Reservation("s", 0, 6, 9))
    assert head.change(Reservation("s", 0, 3, 9, io_ratio=F(1, 2))).conflict == "channel"
    assert head.change(Reservation("s", 0, 4, 9, io_ratio=1)).accepted


def test_what_cannot_be_changed():
    head = book(TWO, Reservation("r", 1, 4, 8, io_ratio=F(1, 2)))
    change, r = head.change, Reservation("r", 1, 4, 8)
    head.advance(2)
    for wrong, text in (
        (replace(r, arrival=2), "arrival: must be that of the accepted reservation, 1, got 2"),
        (replace(r, start=1), "start: must not lie before now, 2, got 1"),
        (replace(r, nodes=(1, 2)), "nodes: must be one of the nodes 0 to 1, got 2"),
    ):
        assert_refused(InvalidInstanceError, text, change, wrong)
    head.advance(5)
    for wrong, text in (
        (replace(r, start=5), "start: must stay 4, for it has begun, got 5"),
        (replace(r, end=F(9, 2)), "end: must not lie before now, 5, got 9/2"),
        (replace(r, nodes=(0,)), "nodes: must stay, for it has begun"),
        (replace(r, nodes=2), "nodes: must stay, for it has begun, got 2"),
    ):
        assert_refused(InvalidInstanceError, text, change, wrong)


@BOTH_NUMBERS
@pytest.mark.parametrize("nodes", [1, (1,)])
def test_of_what_has_begun_the_end_moves_both_ways(number, nodes):
    r = Reservation("r", 0, 2, 10, io_ratio=F(1, 2))
    head = book(TWO, r, Reservation("s", 0, 12, 14, nodes=(1,)), number=number)
    head.advance(4)  # its I/O lasts until 6
    for content, until, sent in (
        (replace(r, end=12), 12, 7),
        (replace(r, end=9, io_ratio=None, io_end=8), 9, 8),
        (replace(r, end=3 + F(3, 2)), F(9, 2), 4),  # I/O until 13/4 would lie in the past
        (replace(r, end=12), 12, 4),  # what is over stays over
    ):
        assert head.change(replace(content, nodes=nodes)).nodes == (1,)
        one = stated(head).instance.reservations[0]
        assert (one.start, one.io_end, one.end, one.nodes) == (2, sent, until, (1,))
    assert head.change(replace(r, end=13)).conflict == "nodes"


def test_a_reservation_is_not_extended_into_what_has_begun():
    head = book(ONE, Reservation("r", 0, 1, 2), Task("a", 0, 2, 9))
    assert [(one.transmission_start, one.computation_end) for one in head.plan().chunks] == [
        (0, 1),
        (2, 5),
    ]
    head.advance(F(3, 2))
    assert head.change(Reservation("r", 0, 1, F(5, 2))).conflict == "nodes"
    assert head.change(Reservation("r", 0, 1, F(7, 4))).accepted


def test_books_of_states_go_on():
    head = book(TWO, Reservation("r", 0, 0, 8, io_end=1), Task("b", 0, 3, 9), Task("a", 0, 3, 20))
    head.advance(2)
    other = MultiStage.of(head.state().instance)
    assert other.now == 2 and nodes_of(other) == {"r": (1,)}
    for one in (head, other):
        assert one.finished("r", 4) == NOTHING
        assert one.cancel("a") == NOTHING
        stated(one)


def test_a_state_may_come_with_what_is_over():
    past = Reservation("past", 0, 1, 2, nodes=(0,))
    head = MultiStage.of(Instance(ONE, reservations=(past,), now=5))
    assert head.state() is None and nodes_of(head) == {"past": (0,)}
    assert_refused(NotApplicableError, "reservation past is over", head.cancel, "past")
    assert [one.id for one in head.archive().reservations] == ["past"]


@pytest.mark.parametrize("name", ["multi-stage:literal", "multi-stage:literal-F4"])
def test_the_printed_algorithms_do_not_keep_what_they_promise(name):
    head = MultiStage(ONE, name)
    assert head.reserve(Reservation("r", 0, 2, 6)).accepted
    assert head.submit(Task("a", 0, F(1, 2), 9)).accepted
    text = f"{name} does not keep what it promises"
    for call, *arguments in (
        (head.cancel, "r"),
        (head.cancel, "a"),
        (head.change, Reservation("r", 0, 3, 6)),
        (head.finished, "r", 9),
    ):
        assert_refused(NotApplicableError, text, call, *arguments)
    assert_refused(NotApplicableError, text, head.resources, add=1)
    head.advance(30)
    assert len(head.plan().chunks) == 1 and head.waiting == ()
    assert [one.id for one in head.archive().reservations] == ["r"]
    assert head.plan().chunks == () and head.decisions == ()


def test_the_reference_implementation_is_a_book_too():
    heads = MultiStage(THREE), ReferenceMultiStage(THREE)
    for head in heads:
        assert head.reserve(Reservation("r", 0, 2, 6, io_ratio=F(1, 2))).accepted
        assert head.submit(Task("a", 0, 5, 12)).accepted
        assert head.submit(Task("b", 0, 1, 40)).accepted
        head.advance(1)
        assert head.resources(fail=[0]).broken in ((), ("a",))
        head.cancel("r")
    assert heads[0].plan() == heads[1].plan()


def test_a_reservation_without_io_whose_start_is_a_fraction_and_whose_end_a_float():
    head = MultiStage(Cluster(1, tau=1, chi=1))
    assert head.reserve(Reservation("r", arrival=0, start=Fraction(11, 6), end=5.0)).accepted
    instance, plan, _ = head.state()
    assert check(instance, plan) == ()
    assert instance.reservations[0].io_end == Fraction(11, 6)
