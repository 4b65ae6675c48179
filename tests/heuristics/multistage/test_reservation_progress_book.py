"""What a book with reservations does when chunks end earlier or later than planned."""

import json

import pytest

from dlopt import MultiStage
from dlopt.books import Consequences
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task
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


def chunks(head):
    return [(c.task, c.node, c.transmission_start, c.load) for c in head.upcoming_chunks()]


@BOTH_NUMBERS
def test_a_chunk_that_ends_early_leaves_time_before_a_reservation(number):
    head = book(ONE, Task("a", 0, 2, 9), Reservation("r", 0, 4, 6), number=number)
    head.advance(3)
    assert not head.ask(Task("b", 3, F(1, 2), 2)).accepted
    assert head.progress("a", 0, received=2, computed=3) == NOTHING
    assert head.submit(Task("b", 3, F(1, 2), 2)).accepted
    assert chunks(head) == [("b", 0, 3, F(1, 2))]
    stated(head)


@BOTH_NUMBERS
def test_a_late_chunk_moves_a_reservation_if_other_nodes_are_free(number):
    head = book(TWO, Reservation("n", 0, 0, 2, nodes=(1,)), Task("a", 0, 2, 9), number=number)
    assert head.reserve(Reservation("r", 0, 5, 7)).nodes == (1,)
    assert head.reserve(Reservation("q", 0, 5, 7, nodes=1)).nodes == (0,)
    head.cancel("r")
    head.advance(4)
    assert head.progress("a", 0, received=2, computed=6) == Consequences((), ("q",))
    assert nodes_of(head)["q"] == (1,)
    stated(head)


def test_a_late_chunk_breaks_a_reservation_that_can_have_no_other_node():
    head = book(ONE, Task("a", 0, 2, 9), Reservation("r", 0, 4, 6), Task("b", 0, 1, 12))
    head.advance(4)
    assert head.progress("a", 0, received=2, computed=5) == Consequences(("r",))
    assert chunks(head) == [("b", 0, 5, 1)]
    assert_refused(NotApplicableError, "reservation r is cancelled already", head.cancel, "r")


def test_a_late_transmission_breaks_a_reservation_of_the_channel_on_any_node():
    head = book(TWO, Task("a", 0, 2, 9), Reservation("r", 0, 2, 6, io_end=3))
    head.advance(F(3, 2))  # the first chunk was to be received by now
    assert head.progress("a", 0, received=F(5, 2), computed=4) == Consequences(("r",))


def test_a_late_end_is_in_nobodys_way_before_a_reservation():
    head = book(ONE, Task("a", 0, 2, 9), Reservation("r", 0, 5, 6))
    head.advance(4)
    assert head.progress("a", 0, received=2, computed=5) == NOTHING
    assert nodes_of(head) == {"r": (0,)}


@BOTH_NUMBERS
@pytest.mark.parametrize(("late", "start"), [(5, 6), (7, 7), (F(15, 2), 11)])
def test_committed_chunks_are_sent_later_around_reservations(number, late, start):
    """The second chunk takes 2 and was to start at 6; from 9 on, the node is reserved again."""
    reserved = (Reservation("r", 0, 4, 6), Reservation("s", 0, 9, 11))
    head = book(ONE, *reserved, Task("a", 0, 3, 30), number=number)
    assert chunks(head) == [("a", 0, 0, 2), ("a", 0, 6, 1)]
    head.advance(4)
    assert head.progress("a", 0, received=2, computed=late) == Consequences(("r",))
    assert chunks(head) == [("a", 0, start, 1)]
    assert nodes_of(head) == {"s": (0,)}


@pytest.mark.parametrize(("late", "start"), [(7, 7), (F(15, 2), 9)])
def test_committed_chunks_are_sent_later_around_the_input_of_reservations(late, start):
    """Node 2, which is reserved otherwise, receives its input in [8, 9)."""
    reserved = (
        Reservation("n", 0, 0, 20, nodes=(1,)),
        Reservation("m", 0, 0, 8, nodes=(2,)),
        Reservation("r", 0, 4, 6, nodes=(0,)),
        Reservation("s", 0, 8, 11, io_end=9, nodes=(2,)),
    )
    head = book(THREE, *reserved, Task("a", 0, 3, 30))
    assert chunks(head) == [("a", 0, 0, 2), ("a", 0, 6, 1)]
    head.advance(4)
    assert head.progress("a", 0, received=2, computed=late) == Consequences(("r",))
    assert chunks(head) == [("a", 0, start, 1)]


def test_what_does_not_fit_any_more_is_planned_again():
    """The third chunk, on node 0, would end a half late, where the node is reserved."""
    head = book(
        TWO,
        Reservation("r", 0, 3, 5, nodes=(1,)),
        Reservation("s", 0, 9, 12, nodes=(0,)),
        Task("a", 0, 6, 12),
    )
    head.advance(3)
    assert chunks(head)[0] == ("a", 0, 3, 3)
    assert head.progress("a", 0, received=F(3, 2), computed=F(7, 2)) == NOTHING
    assert chunks(head) == [("a", 0, F(7, 2), F(11, 4)), ("a", 1, F(25, 4), 1)]
    stated(head)


def test_a_late_reservation_takes_its_node_from_committed_chunks():
    reserved = (Reservation("r", 0, 4, 6), Reservation("s", 0, 9, 11))
    head = book(ONE, *reserved, Task("a", 0, 3, 30))
    head.advance(6)
    assert head.finished("r", F(15, 2)) == NOTHING
    assert chunks(head) == [("a", 0, F(15, 2), F(3, 4)), ("a", 0, 11, F(1, 4))]
    stated(head)


def small():
    """Return a book in which a small part of a task is sent to the node before it is reserved."""
    head = book(Cluster(1, tau=1, chi=1), Task("a", 0, 1000, 9000), Reservation("r", 0, 4, 5))
    assert chunks(head)[:2] == [("a", 0, 0, 2), ("a", 0, 5, 998)]
    return head


def test_small_chunks_that_end_early_free_nothing():
    head = small()
    head.advance(1)
    assert head.progress("a", 0, received=1, computed=4) == NOTHING
    assert head.plan().chunks[0].transmission_end == 1
    head.advance(3)
    assert head.progress("a", 0, received=1, computed=3) == NOTHING
    assert chunks(head) == [("a", 0, 5, 998)]
    assert not head.ask(Task("b", 3, F(1, 2), 1)).accepted


def test_what_a_small_chunk_has_computed_is_not_lost_with_its_node():
    """It was to end at 4, and ended at 3: a node that fails in between has nothing of it."""
    head = small()
    head.advance(3)
    head.progress("a", 0, received=2, computed=3)
    head.advance(F(7, 2))
    assert head.resources(fail=[0]) == Consequences(("a", "r"))
    again = small()
    again.advance(3)
    again.progress("a", 0, received=2, computed=3)
    again.advance(F(7, 2))
    again.resources(add=1, fail=[0])
    assert sum(load for *_, load in chunks(again)) == 998


def test_small_chunks_that_end_late_delay_what_follows():
    head = small()
    head.advance(1)
    assert head.progress("a", 0, received=1, computed=4) == NOTHING
    head.advance(3)
    assert_refused(
        InvalidInstanceError, "received", head.progress, "a", 0, received="soon", computed=5
    )
    assert head.progress("a", 0, received=1, computed=F(9, 2)) == Consequences(("r",))
    assert chunks(head) == [("a", 0, 5, 998)]


def test_a_reservation_that_was_to_end_now_may_still_end_later():
    head = book(ONE, Reservation("r", 0, 1, 3), Task("a", 0, F(1, 2), 20))
    head.advance(3)
    assert_refused(NotApplicableError, "reservation r is over", head.finished, "r", 3)
    assert head.finished("r", 4) == NOTHING
    assert not head.ask(Task("b", 3, F(1, 2), 1)).accepted
    again = MultiStage.restore(json.loads(json.dumps(head.snapshot())))
    assert again.plan() == head.plan()
    head.advance(4)
    assert_refused(NotApplicableError, "reservation r is over", head.cancel, "r")


def test_a_transmission_that_takes_no_time_does_not_wait_for_the_channel():
    reserved = (
        Reservation("n", 0, 0, 8, nodes=(1,)),
        Reservation("r", 0, 4, 6, nodes=(0,)),
        Reservation("s", 0, 8, 11, io_end=9, nodes=(1,)),
    )
    head = book(Cluster(2, tau=0, chi=1), *reserved, Task("a", 0, 6, 30))
    assert chunks(head) == [("a", 0, 0, 4), ("a", 0, 6, 2)]
    head.advance(4)
    assert head.progress("a", 0, received=0, computed=F(17, 2)) == Consequences(("r",))
    assert chunks(head) == [("a", 0, F(17, 2), 2)]
