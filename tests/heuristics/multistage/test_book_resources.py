"""Ends that differ from the plan, nodes that come and go, and what is over: each rule alone."""

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


@BOTH_NUMBERS
def test_an_early_end_frees_nodes_and_channel_from_then_on(number):
    head = book(ONE, Reservation("r", 0, 0, 9, io_ratio=1), number=number)
    assert_refused(NotApplicableError, "reservation r has not begun", head.finished, "r", 3)
    head.advance(1)
    for wrong in (0, float("nan"), float("inf"), "soon"):
        assert_refused(InvalidInstanceError, "at: must", head.finished, "r", wrong)
    assert head.finished("r", 3) == NOTHING
    assert head.ask(Task("a", 1, 1, 3)).by == F(1, 2)
    assert head.finished("r", F(3, 2)) == NOTHING
    assert head.submit(Task("a", 1, 1, 3)).accepted
    assert head.plan().chunks[0].transmission_start == F(3, 2)
    stated(head)
    assert head.reserve(Reservation("r", 0, 0, 9, io_ratio=1)).accepted  # as it was submitted


@BOTH_NUMBERS
def test_a_late_end_moves_others_or_breaks_them(number):
    head = book(
        THREE,
        Reservation("late", 0, 0, 4, nodes=(2,)),
        Reservation("moved", 0, 4, 6),
        Reservation("named", 0, 7, 9, nodes=(2,)),
        Reservation("after", 0, 9, 10, nodes=(2,)),
        number=number,
    )
    assert nodes_of(head)["moved"] == (2,)
    head.advance(1)
    assert head.finished("late", 8) == Consequences(("named",), ("moved",))
    assert nodes_of(head) == {"late": (2,), "moved": (1,), "after": (2,)}
    assert len(stated(head).instance.reservations) == 3
    assert_refused(
        NotApplicableError, "reservation named is cancelled already", head.cancel, "named"
    )


def test_a_late_end_delays_tasks_and_breaks_those_that_miss():
    head = book(ONE, Reservation("r", 0, 0, 2), Task("a", 0, 1, 9), Task("b", 0, 1, 5))
    head.advance(1)
    assert head.finished("r", 4) == Consequences(("b",))
    assert [(chunk.task, chunk.transmission_start) for chunk in head.plan().chunks] == [("a", 4)]


def test_a_late_task_moves_reservations():
    head = book(TWO, Task("a", 0, 1, 9), Reservation("r", 0, 2, 5, nodes=(1,)))
    assert head.reserve(Reservation("q", 0, 5, 6, nodes=1)).nodes == (1,)
    assert head.change(Reservation("q", 0, 5, 6, nodes=(0,))).accepted
    assert head.change(Reservation("q", 0, 5, 6, nodes=1)).nodes == (0,)
    head.advance(1)
    assert head.finished("a", F(11, 2)) == Consequences((), ("q",))
    assert nodes_of(head) == {"r": (1,), "q": (1,)}
    stated(head)


def test_a_task_that_is_late_is_named_with_what_it_breaks():
    head = book(ONE, Task("a", 0, 1, 2), Reservation("r", 0, 3, 4), Task("b", 0, 1, 7))
    head.advance(1)
    assert head.finished("a", F(7, 2)) == Consequences(("a", "r"))
    assert [chunk.transmission_start for chunk in head.plan().chunks] == [0, F(7, 2)]


@BOTH_NUMBERS
def test_reservations_on_a_node_that_fails(number):
    head = book(
        TWO,
        Reservation("begun", 0, 0, 4),
        Reservation("count", 0, 4, 6),
        Reservation("named", 0, 6, 8, nodes=(1,)),
        Reservation("both", 0, 8, 9, nodes=2),
        Reservation("other", 0, 9, 12, nodes=(0,)),
        number=number,
    )
    head.advance(1)
    done = head.resources(fail=[1])
    assert done == Consequences(("begun", "named", "both"), ("count",))
    assert nodes_of(head) == {"count": (0,), "other": (0,)}
    assert stated(head).nodes == (0,)
    assert head.resources(repair=[1]) == NOTHING
    assert head.reserve(Reservation("new", 1, 1, 4, nodes=(1,))).accepted


def test_a_mandatory_reservation_that_has_begun_is_lost_with_its_node():
    head = book(TWO, Reservation("m", 0, 0, 4, nodes=2, mandatory=True), Task("a", 0, 1, 7))
    head.advance(1)
    assert head.resources(fail=[0]) == Consequences(("m",))
    assert head.plan().chunks[0].transmission_start == 1 and head.grants == ()


def test_reservations_on_a_node_that_is_removed_complete_what_has_begun():
    head = book(
        TWO,
        Reservation("begun", 0, 0, 4, io_ratio=F(3, 4), nodes=(1,)),
        Reservation("moved", 0, 5, 6),
        Task("a", 0, 1, 9),
    )
    head.advance(1)
    assert head.resources(remove=[1]) == Consequences((), ("moved",))
    assert nodes_of(head) == {"begun": (1,), "moved": (0,)}
    state = stated(head)
    assert state.nodes == (0,) and state.instance.channel_ready == 3
    assert [one.id for one in state.instance.reservations] == ["moved"]
    assert head.plan().chunks[0].transmission_start == 3
    assert head.change(Reservation("begun", 0, 0, 9, io_end=3, nodes=(1,))).accepted
    head.resources(repair=[1])
    assert head.ask(Reservation("new", 1, 8, 10, nodes=2)).conflict == "nodes"
    assert head.resources(fail=[1]) == Consequences(("begun",))


def test_a_reservation_that_has_begun_on_some_nodes_out_of_service():
    head = book(TWO, Reservation("r", 0, 0, 4, nodes=2))
    head.advance(1)
    assert head.resources(remove=[0]) == NOTHING
    (one,) = stated(head).instance.reservations
    assert (one.nodes, stated(head).nodes, nodes_of(head)) == ((0,), (1,), {"r": (0, 1)})


def test_mandatory_reservations_are_kept_first_then_others_then_tasks():
    head = book(
        THREE,
        Task("a", 0, 4, 8),
        Reservation("r", 0, 4, 8),
        Reservation("s", 0, 4, 8, mandatory=True),
    )
    assert nodes_of(head) == {"r": (2,), "s": (1,)}
    head.advance(1)
    copy = MultiStage.of(head.state().instance)
    assert head.resources(fail=[1]).broken == ("a",)
    assert nodes_of(head) == {"r": (2,), "s": (0,)}
    assert head.resources(fail=[2]) == Consequences(("r",))
    assert nodes_of(head) == {"s": (0,)}
    assert nodes_of(copy) == {"r": (2,), "s": (1,)}


def test_of_equally_many_the_promises_made_last_are_broken():
    head = book(THREE, *(Reservation(name, 0, 2, 4) for name in "abc"))
    assert nodes_of(head) == {"a": (2,), "b": (1,), "c": (0,)}
    assert head.resources(fail=[1]) == Consequences(("c",), ("b",))
    head = book(TWO, Task("a", 0, 1, 5), Task("b", 0, 1, F(9, 2)), Task("c", 0, 1, 4))
    assert head.waiting == ("c", "b", "a")  # so that a would miss first
    assert head.resources(fail=[1]) == Consequences(("c",))


def test_a_changed_promise_is_one_that_was_made_last():
    head = book(TWO, Reservation("a", 0, 2, 4), Reservation("b", 0, 2, 4))
    assert head.change(Reservation("a", 0, 2, 5)).accepted
    assert head.resources(fail=[0]).broken == ("a",)


def test_a_reservation_that_is_moved_keeps_the_nodes_that_are_left():
    head = book(Cluster(5, 1, 1), Reservation("block", 0, 2, 4, nodes=(3, 4)))
    assert head.reserve(Reservation("r", 0, 2, 4, nodes=2)).nodes == (1, 2)
    head.cancel("block")
    assert head.resources(fail=[2]).moved == ("r",)
    assert nodes_of(head) == {"r": (1, 4)}


def test_what_a_removed_node_receives_still_holds_the_channel():
    head = book(TWO, Task("a", 0, 4, 8))
    head.advance(1)
    assert head.resources(remove=[0]) == NOTHING
    assert head.submit(Task("b", 1, 1, 9)).accepted
    assert [chunk.transmission_start for chunk in stated(head).plan.chunks] == [4]


def test_one_promise_is_broken_rather_than_two():
    head = book(
        THREE,
        Reservation("two", 0, 2, 4, nodes=2),
        Reservation("b", 0, 2, 3),
        Reservation("c", 0, 3, 4),
    )
    assert head.resources(fail=[2]) == Consequences(("two",))
    assert nodes_of(head) == {"b": (0,), "c": (0,)}


def test_what_is_not_sent_of_a_task_gives_way_to_a_reservation_that_is_moved():
    head = book(TWO, Reservation("block", 0, 1, 3, nodes=(0,)), Reservation("r", 0, 4, 6))
    assert head.submit(Task("a", 0, 2, 9)).accepted
    starts = [(chunk.node, chunk.transmission_start) for chunk in head.plan().chunks]
    assert starts == [(0, 0), (0, 3), (0, 4)]
    head.advance(F(1, 4))
    assert head.resources(fail=[1]) == Consequences((), ("r",))
    starts = [(chunk.node, chunk.transmission_start) for chunk in stated(head).plan.chunks]
    assert starts == [(0, 3), (0, 6)]


def test_new_nodes_are_used():
    head = book(ONE, Reservation("r", 0, 2, 6))
    assert head.ask(Reservation("q", 0, 2, 6)).conflict == "nodes"
    assert_refused(
        InvalidInstanceError, "nodes 0 to 0", head.reserve, Reservation("q", 0, 2, 6, nodes=(1,))
    )
    assert head.resources(add=2) == NOTHING
    assert head.nodes == (0, 1, 2)
    assert head.reserve(Reservation("q", 0, 2, 6, nodes=(2, 1))).nodes == (2, 1)
    stated(head)


def test_a_cluster_with_equal_costs_a_node_gets_and_loses_nodes():
    head = book(Cluster(2, tau=1, chi=(2, 2)), Reservation("r", 0, 2, 6), Task("a", 0, 1, 30))
    assert head.resources(add=1) == NOTHING
    assert stated(head).instance.cluster == Cluster(3, tau=1, chi=2)
    assert head.resources(fail=[2]) == NOTHING
    stated(head)


def test_without_any_node_nothing_is_accepted():
    head = book(ONE, Reservation("r", 0, 2, 6), Task("a", 0, 1, 9))
    assert head.resources(fail=[0]) == Consequences(("r", "a"))
    assert head.state() is None and head.nodes == ()
    assert head.ask(Task("b", 0, 1, 9)).by == 1
    assert head.reserve(Reservation("q", 0, 2, 6)).conflict == "nodes"
    assert head.reserve(Reservation("n", 0, 2, 6, nodes=(0,))).conflict == "nodes"
    head.resources(repair=[0])
    assert head.submit(Task("c", 0, 1, 9)).accepted


@BOTH_NUMBERS
def test_what_is_over_is_handed_out_once_and_forgotten(number):
    head = book(
        TWO,
        Reservation("over", 0, 1, 9, io_ratio=F(1, 2), nodes=(1,)),
        Reservation("later", 0, 20, 22),
        Task("a", 0, 1, 9),
        number=number,
    )
    assert not head.reserve(Reservation("no", 0, 2, 4, nodes=2)).accepted
    head.advance(2)
    assert head.finished("over", 3) == NOTHING
    head.advance(4)
    done = head.archive()
    assert [one.task for one in done.decisions] == ["a"] and done.until == 4
    assert [(one.reservation, one.accepted) for one in done.grants] == [
        ("over", True),
        ("no", False),
    ]
    (ran,) = done.reservations
    assert (ran.id, ran.start, ran.io_end, ran.end, ran.nodes) == ("over", 1, 3, 3, (1,))
    assert [chunk.task for chunk in done.allocations] == ["a"]
    assert [one.reservation for one in head.grants] == ["later"] and head.plan().chunks == ()
    again = head.archive()
    assert (again.decisions, again.allocations, again.grants, again.reservations) == (
        (),
        (),
        (),
        (),
    )
    assert head.reserve(Reservation("over", 4, 5, 6)).accepted
