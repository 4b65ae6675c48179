"""Counter-offers of a book of tasks and reservations: each is accepted when it is submitted."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import MultiStage
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.offers import PRECISION
from dlopt.heuristics.multistage.algorithm_names import NAMES
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task
from tests.examples import share
from tests.heuristics.multistage.book_calls import BOTH_NUMBERS, ONE, TWO, book
from tests.heuristics.multistage.negotiations import accepts, contents, negotiations, numbers
from tests.heuristics.reference.multistage_engine import multistage

F = Fraction
few = share(1 / 4)
DIMENSIONS = {"task": {"deadline", "load", "wait"}, "reservation": {"start", "end", "nodes"}}
shares = st.lists(st.fractions(0, 1, max_denominator=60), max_size=5)


@pytest.mark.property
@pytest.mark.parametrize("kind", DIMENSIONS)
@few
@given(st.data(), numbers)
def test_each_offer_is_accepted_and_nothing_changes(kind, data, number):
    head, new = data.draw(negotiations(kind, number))
    before = contents(head)
    offers = head.offer(new)
    assert contents(head) == before
    concessions = [offer.concession for offer in offers]
    assert concessions == sorted(concessions)
    dimensions = [offer.dimension for offer in offers]
    assert len(set(dimensions)) == len(dimensions) and DIMENSIONS[kind].issuperset(dimensions)
    for offer in offers:
        assert accepts(head, offer.submission)
        assert head.offer(offer.submission) == () and head.why(offer.submission) is None
    assert head.offer(new, k=1) == offers[:1]


@pytest.mark.property
@few
@given(st.data(), numbers)
def test_a_task_that_was_rejected_gets_the_offers_of_one_that_is_asked_for(data, number):
    head, new = data.draw(negotiations("task", number))
    asked = deepcopy(head).offer(new)
    assert not head.submit(new).accepted
    assert head.offer(new) == asked


@pytest.mark.property
@few
@given(st.data(), shares)
def test_the_largest_load(data, shares):
    """Where the load is proven to be the largest, no larger one is accepted."""
    head, new = data.draw(negotiations("task", F))
    loads = [offer for offer in head.offer(new) if offer.dimension == "load"]
    largest = loads[0].value if loads else 0
    if not loads or loads[0].least:
        for part in (*shares, F(1, 10**9)):
            tried = largest + (new.load - largest) * part
            if largest < tried < new.load and loads:
                assert not accepts(head, replace(new, load=tried))
    else:
        more = largest * (1 + F(1, PRECISION))
        assert more >= new.load or not accepts(head, replace(new, load=more))


@pytest.mark.property
@few
@given(st.data(), shares)
def test_where_no_task_waits_start_and_end_are_the_best(data, shares):
    head, new = data.draw(negotiations("reservation", F))
    for name in head.waiting:
        head.cancel(name, kind="task")
    if accepts(head, new):
        return
    length = new.end - new.start
    for offer in head.offer(new):
        assert offer.least
        value = offer.value
        for part in (*shares, F(1, 10**9)):
            if offer.dimension == "start":
                start = new.start + (value - new.start) * (1 - part)
                tried = replace(new, start=start, end=start + length)
            elif offer.dimension == "end":
                tried = replace(new, end=value + (new.end - value) * part)
            else:
                tried = replace(new, nodes=value + 1)
                if tried.count >= new.count:
                    continue
            if (tried.start, tried.end) != (offer.submission.start, offer.submission.end) or (
                offer.dimension == "nodes"
            ):
                assert not accepts(head, tried)


@BOTH_NUMBERS
def test_a_task_before_a_reservation(number):
    """Without the reservation, 4 of it would be done by 8 on one node; it ends at 4."""
    head = book(ONE, Reservation("r", 0, 4, 8), number=number)
    offers = {one.dimension: one for one in head.offer(Task("a", number(0), number(4), number(8)))}
    assert offers["load"].value == 2 and offers["load"].least
    assert offers["deadline"].value == pytest.approx(12, rel=1e-5)
    assert offers["wait"].value == pytest.approx(8, rel=1e-5)


def test_the_io_that_a_ratio_states_ends_when_the_channel_is_reserved():
    head = book(TWO, Reservation("r", 0, 4, 7, io_ratio=F(1, 2)))
    offers = {
        one.dimension: one for one in head.offer(Reservation("q", 0, 0, 12, io_ratio=F(1, 2)))
    }
    assert offers["end"].value == 8 and offers["end"].least
    assert offers["start"].value == F(11, 2)
    assert "nodes" not in offers


def test_a_window_after_instants_that_are_no_sums_in_floats():
    """The start that is offered is not before the end of what is reserved, by rounding."""
    for part in range(1, 60):
        end = 3 + part / 7
        head = book(ONE, Reservation("r", 0.0, 1.0, end), number=float)
        (offer,) = (
            one for one in head.offer(Reservation("q", 0.0, 1.1, 3.1)) if one.dimension == "start"
        )
        assert offer.value == pytest.approx(end, rel=1e-15)


def test_mandatory_reservations():
    head = book(TWO, Reservation("r", 0, 2, 6))
    new = Reservation("q", 0, 4, 8, nodes=2, mandatory=True)
    later, fewer = head.offer(new)
    assert (later.dimension, later.value, fewer.dimension, fewer.value) == ("start", 6, "nodes", 1)
    assert head.reserve(later.submission).accepted


def test_what_is_accepted_gets_no_offer():
    task, reservation = Task("a", 0, 1, 9), Reservation("r", 0, 2, 6)
    head = book(TWO, task, reservation)
    for known in (task, reservation, Task("b", 0, 1, 9), Reservation("q", 0, 2, 6)):
        assert head.offer(known) == () and head.why(known) is None


def test_without_nodes():
    head = book(TWO)
    head.resources(fail=[0, 1])
    assert head.offer(Task("a", 0, 1, 9)) == head.offer(Reservation("r", 0, 2, 6)) == ()


def test_after_a_cancellation_that_no_plan_could_use():
    """What was freed counts as far as it does for a decision."""
    head = book(ONE, Reservation("r", 0, 2, 6), Task("a", 0, 1, 9))
    head.cancel("r")
    new = Reservation("q", 0, 1, 9)
    for offer in head.offer(new):
        assert accepts(head, offer.submission)


@pytest.mark.parametrize("name", [name for name in NAMES if ":literal" in name])
def test_printed_algorithms(name):
    head = MultiStage(TWO, name)
    for new in (Task("a", 0, 1, 9), Reservation("r", 0, 2, 6)):
        for verb in (head.offer, head.why):
            with pytest.raises(NotApplicableError, match="does not keep"):
                verb(new)


def test_what_makes_no_sense():
    head = book(TWO, Reservation("r", 0, 2, 6))
    for k in (0, True, 1.5):
        with pytest.raises(InvalidInstanceError, match="k"):
            head.offer(Reservation("q", 0, 2, 6), k=k)
    with pytest.raises(NotApplicableError, match="a task is needed"):
        head.offer("r")
    head.advance(1)
    for verb in (head.offer, head.why):
        with pytest.raises(InvalidInstanceError, match="before now"):
            verb(Reservation("q", 0, 2, 6))
        with pytest.raises(InvalidInstanceError, match="accepted before"):
            verb(Reservation("r", 1, 2, 9))
        with pytest.raises(InvalidInstanceError, match="nodes 0 to 1"):
            verb(Reservation("q", 1, 2, 9, nodes=(2,)))


@pytest.mark.parametrize("reference", [False, True])
def test_the_reference_implementation(reference):
    head = multistage(reference)(Cluster(2, tau=1, chi=1))
    assert head.reserve(Reservation("r", 0, 4, 8)).accepted
    assert head.submit(Task("a", 0, 1, 6)).accepted
    offers = {one.dimension: one for one in head.offer(Task("b", 0, 6, 9))}
    assert offers.keys() == {"deadline", "load", "wait"}
    assert all(accepts(head, offer.submission) for offer in offers.values())
    assert offers["load"].least is not reference


def test_an_offer_for_a_later_arrival_does_not_delay_an_earlier_task():
    head = MultiStage(Cluster(1, tau=1, chi=1))
    assert head.offer(Task("later", arrival=5, load=9, deadline=4))
    assert head.submit(Task("earlier", arrival=0, load=1, deadline=2)).accepted
