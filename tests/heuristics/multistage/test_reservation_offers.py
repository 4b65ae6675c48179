"""Counter-offers to a reservation, against brute force."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from dlopt import MultiStage
from dlopt.heuristics.multistage.reservation_offers import ReservationOffers
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation
from tests.examples import share

few = share(1 / 4)


@st.composite
def reservations(draw, name):
    start, length = draw(st.integers(0, 9)), draw(st.integers(1, 6))
    io_end = draw(st.sampled_from([None, start, start + length]))
    nodes = draw(st.integers(1, 3) | st.sampled_from([(0,), (1, 2)]))
    return Reservation(name, 0, start, start + length, io_end=io_end, nodes=nodes)


@st.composite
def refused(draw, *, tasks):
    """Return an engine, a reservation that it refuses, and all instants of what it accepted."""
    head = MultiStage(Cluster(3, tau=1, chi=2))
    instants = set()
    for number in range(draw(st.integers(1, 4))):
        if tasks and draw(st.booleans()):
            load, due = draw(st.integers(1, 3)), draw(st.integers(4, 20))
            head.submit(Task(f"t{number}", 0, load, due))
        one = draw(reservations(f"r{number}"))
        if head.reserve(one).accepted:
            instants |= {one.start, one.channel_end, one.end}
    for chunk in head.plan().chunks:
        instants |= {chunk.transmission_start, chunk.transmission_end, chunk.computation_end}
    new = draw(reservations("new"))
    if deepcopy(head).reserve(new).accepted:
        reject()
    return head, new, sorted(instants)


def offers(head, new, instants, proven):
    def accepts(one):
        return deepcopy(head).reserve(one).accepted

    found = ReservationOffers(new, accepts, instants, proven)
    made = {offer.dimension: offer for offer in found.all()}
    assert all(accepts(offer.submission) for offer in made.values())
    return accepts, made


@pytest.mark.property
@few
@given(refused(tasks=False), st.integers(1, 7))
def test_among_reservations(drawn, parts):
    """No earlier start, no later end and no larger number of nodes is accepted."""
    head, new, instants = drawn
    accepts, made = offers(head, new, instants, proven=True)
    start = made["start"].value  # when nothing is reserved any more, everything is accepted
    for part in range(1, 6 * parts):
        shift = Fraction(part, parts)
        if new.start + shift < start:
            moved = None if new.io_end is None else new.io_end + shift
            assert not accepts(
                replace(new, start=new.start + shift, end=new.end + shift, io_end=moved)
            )
    longest = made["end"].value if "end" in made else new.start
    for part in range(1, 6 * parts):
        end = new.end - Fraction(part, parts)
        if longest < end < new.end:
            io_end = None if new.io_end is None else min(new.io_end, end)
            assert not accepts(replace(new, end=end, io_end=io_end))
    most = made["nodes"].value if "nodes" in made else 0
    assert most <= new.count
    for count in range(most + 1, new.count):
        assert not accepts(replace(new, nodes=count))


@pytest.mark.property
@few
@given(refused(tasks=True))
def test_among_tasks(drawn):
    """Tasks are planned again around a reservation: offers are accepted, and not always least."""
    head, new, instants = drawn
    _, made = offers(head, new, instants, proven=False)
    assert not any(offer.least for offer in made.values() if offer.dimension != "nodes")
    for offer in made.values():
        assert offer.submission.arrival == new.arrival
        if offer.dimension == "start":
            assert offer.submission.end - offer.value == new.end - new.start
            assert offer.value > new.start
        elif offer.dimension == "end":
            assert new.start < offer.value < new.end


def test_named_nodes_that_are_reserved_already():
    head = MultiStage(Cluster(2, tau=1, chi=1))
    assert head.reserve(Reservation("a", 0, 2, 6, nodes=(1,))).accepted
    new = Reservation("b", 0, 3, 5, nodes=(1,))
    _, made = offers(head, new, (2, 6), proven=True)
    assert made["nodes"].submission.nodes == 1 and not made["nodes"].concession
    assert made["start"].value == 6 and made["start"].concession == Fraction(3, 2)
    assert "end" not in made


def test_windows_of_which_nothing_is_left_in_floats():
    """An end that is hardly later than the start, and a start that is far later than it."""
    asked = Reservation("r", 0.0, 9.666666666666666, 12.333333333333332)
    instants = (9.666666666666668, 1e300)
    made = list(ReservationOffers(asked, lambda one: False, instants, False).all())
    assert made == []


def test_a_window_that_a_task_makes_shorter():
    """The only node must be free again at 6 for a task of 4 that is due at 10."""
    head = MultiStage(Cluster(1, tau=0, chi=1))
    assert head.submit(Task("a", 0, 4, 10)).accepted
    new = Reservation("r", 0, 0, 9)
    for instants in ((0, 4, 10), ()):
        _, made = offers(head, new, instants, proven=False)
        assert made["end"].value == pytest.approx(6, rel=1e-5)
        assert not made["end"].least
    (shorter,) = (one for one in head.offer(new) if one.dimension == "end")
    assert shorter.value == pytest.approx(6, rel=1e-5) and not shorter.least
