"""Counter-offers: each is accepted, the least are least, and the book stays what it was."""

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Admission
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.least_concession import ConcessionSearch
from dlopt.heuristics.admission.offers import PRECISION
from dlopt.heuristics.admission.records import Rejection
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.negotiations import (
    ALGORITHMS,
    EXACT,
    Negotiation,
    contents,
    negotiations,
)
from tests.heuristics.admission.strategies import few, random_stream

FIELDS = {"deadline": "deadline", "load": "load", "wait": "arrival"}
TINY = Fraction(1, 10**12)
shares = st.lists(st.fractions(0, 1, max_denominator=60), max_size=5)


def assert_no_smaller(found, offer, shares, gap):
    """No concession that is smaller, by a share of it down to a gap, is accepted."""
    field = FIELDS[offer.dimension]
    asked, offered = getattr(found.task, field), getattr(offer.submission, field)
    for share in [*shares, 1 - gap]:
        tried = asked + (offered - asked) * type(offered - asked)(share)
        if share < 1 and tried not in (asked, offered):
            assert not found.accepts(**{field: tried})


@pytest.mark.property
@pytest.mark.parametrize("name", ALGORITHMS)
@few
@given(st.data(), shares)
def test_offers_in_fractions(name, data, shares):
    found = data.draw(negotiations(name))
    before = contents(found.book)
    offers = found.book.offer(found.task)
    assert contents(found.book) == before
    assert len({offer.dimension for offer in offers}) == len(offers)
    concessions = [offer.concession for offer in offers]
    assert concessions == sorted(concessions)
    for offer in offers:
        assert deepcopy(found.book).submit(offer.submission).accepted
        if not offer.concession:
            assert offer.dimension == "deadline" and offer.value < found.task.deadline
        elif offer.least:
            assert_no_smaller(found, offer, shares, TINY)
        else:
            assert name not in EXACT or offer.dimension != "load" or "mwf" in name
    assert found.book.offer(found.task, k=1) == offers[:1]


@pytest.mark.property
@pytest.mark.parametrize("name", ALGORITHMS)
@few
@given(st.data(), shares)
def test_offers_in_floats(name, data, shares):
    found = data.draw(negotiations(name, floats=True))
    before = contents(found.book)
    offers = found.book.offer(found.task)
    assert contents(found.book) == before
    for offer in offers:
        assert deepcopy(found.book).submit(offer.submission).accepted
        if offer.concession and offer.least:
            field = FIELDS[offer.dimension]
            scale = found.task.absolute_deadline + abs(getattr(offer.submission, field))
            moved = abs(getattr(offer.submission, field) - getattr(found.task, field))
            gap = min(1, 1e-9 * scale / moved)
            assert_no_smaller(found, offer, [s for s in shares if s < 1 - gap], gap)


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit", "hybrid", "edf-iit-1"])
@few
@given(st.data())
def test_after_offers_a_book_decides_as_one_that_was_not_asked(name, data):
    found = data.draw(negotiations(name))
    asked, other = deepcopy(found.book), deepcopy(found.book)
    offers = asked.offer(found.task)
    asked.why(found.task)
    later = [offer.submission for offer in offers if offer.dimension != "wait"][:1]
    later += [
        replace(found.task, id=f"later {gap}", arrival=found.task.arrival + gap)
        for gap in (1, 4, 9)
    ]
    for task in later:
        assert asked.submit(task) == other.submit(task)
        assert contents(asked) == contents(other)


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit"])
@few
@given(st.data())
def test_the_clock_may_advance_to_the_arrival_that_is_offered(name, data):
    found = data.draw(negotiations(name, events=False))
    for offer in found.book.offer(found.task):
        book = deepcopy(found.book)
        if offer.dimension == "wait":
            assert offer.submission.arrival == found.task.arrival + offer.value
            book.advance(offer.submission.arrival)
        assert book.submit(offer.submission).accepted


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-iit-1", "edf-iit-an", "fast-edf-iit-minimal"])
@few
@given(st.data())
def test_by_bisection_a_millionth_less_is_rejected(name, data):
    found = data.draw(negotiations(name, events=False))
    for offer in found.book.offer(found.task):
        if offer.dimension == "load" and not offer.least:
            more = offer.value * (1 + Fraction(1, PRECISION))
            assert more >= found.task.load or not found.accepts(load=more)
        elif offer.dimension == "wait" and not offer.least:
            earlier = offer.value * (1 - Fraction(1, PRECISION))
            assert not found.accepts(arrival=found.task.arrival + earlier)


@pytest.mark.property
@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit"])
@few
@given(st.data())
def test_a_dimension_is_left_out_only_if_nothing_is_accepted(name, data):
    found = data.draw(negotiations(name))
    dimensions = {offer.dimension for offer in found.book.offer(found.task)}
    if "load" not in dimensions:
        for part in range(1, 12):
            assert not found.accepts(load=found.task.load * Fraction(part, 12))
    if "wait" not in dimensions:
        for part in range(1, 24):
            assert not found.accepts(arrival=found.task.arrival + Fraction(part, 2))
    if "deadline" not in dimensions:
        assert not found.accepts(deadline=10**6)


def two_nodes(name="edf-iit-2", **options):
    head = Admission(Cluster(2, tau=1, chi=1), name, **options)
    assert head.submit(Task("a", arrival=0, load=1, deadline=2)).accepted
    return head


def test_a_task_that_is_accepted_gets_no_offer():
    head = two_nodes()
    assert head.offer(Task("b", 0, 1, 9)) == ()
    assert head.offer(Task("a", 0, 1, 2)) == ()


def test_a_task_that_was_rejected_gets_offers():
    head, task = two_nodes(), Task("b", 0, 1, 2)
    assert not head.submit(task).accepted
    offers = head.offer(task)
    assert [offer.dimension for offer in offers] == ["deadline", "wait", "load"]
    assert head.submit(offers[0].submission).accepted


def test_the_same_submission_is_not_offered_again():
    """What was freed since would suffice, but the same task again gets the same answer."""
    head, task = two_nodes(), Task("b", 0, 1, 2)
    assert not head.submit(task).accepted
    head.cancel("a")
    offers = head.offer(task)
    assert offers and all(offer.submission != task for offer in offers)
    for offer in offers:
        assert deepcopy(head).submit(offer.submission).accepted
    assert head.why(task) is None


def test_an_earlier_deadline_is_no_concession():
    """With the deadline asked for it would go behind the other task, and get one node."""
    head = Admission(Cluster(2, tau=1, chi=1), "edf-opr-mn")
    assert head.submit(Task("a", 0, 1, 4)).accepted
    first = head.offer(Task("b", 0, 2, 4))[0]
    assert (first.dimension, first.value, first.concession) == ("deadline", Fraction(8, 3), 0)
    assert first.least


def test_right_after_an_instant_and_not_at_it():
    """At 4 the new task would go before a, which is sent from 4 on; right after, behind it."""
    head = Admission(Cluster(2, tau=1, chi=1), "edf-opr-mn", ready_times=[4, 4])
    assert head.submit(Task("a", arrival=0, load=1, deadline=6)).accepted
    found = Negotiation(head, Task("b", Fraction(7, 2), Fraction(2, 5), Fraction(9, 5)))
    assert not found.accepts(arrival=4) and found.accepts(arrival=4 + TINY)
    (wait,) = (offer for offer in head.offer(found.task) if offer.dimension == "wait")
    assert not wait.least
    assert Fraction(1, 2) < wait.value <= Fraction(1, 2) * (1 + Fraction(1, PRECISION))


def test_without_nodes():
    head = two_nodes()
    head.resources(fail=[0, 1])
    assert head.offer(Task("b", 0, 1, 2)) == ()


@pytest.mark.parametrize("name", ["edf-iit-2", "hybrid"])
@pytest.mark.parametrize(("load", "tau"), [(0.7, 1.0), (5e-324, 0.1)])
def test_no_load_is_offered_if_the_node_is_ready_too_late(name, load, tau):
    """Neither what rounding leaves of a load nor a load whose work is rounded to 0 is accepted."""
    head = Admission(Cluster(1, tau=tau, chi=2 * tau), name, ready_times=[9.0])
    offers = head.offer(Task("a", arrival=1.0, load=load, deadline=2.0))
    assert "load" not in {offer.dimension for offer in offers}


def test_no_concession_that_is_too_large_is_tried():
    """The step in floats beyond a breakpoint would make a load negative."""
    tried = []

    def decide(concession):
        tried.append(concession)
        return Rejection(None, None)

    search = ConcessionSearch(
        decide, high=1.0, scale=2.0**46, step=lambda _: 0.1, skip=lambda _: 0.75
    )
    assert search.run(parametric=False) is None
    assert tried == [0.0, 0.75]


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit"])
def test_milliseconds_at_a_date(name):
    """What the instants are rounded by is large for such a task: it is offered no less for that."""
    offered = []
    for epoch in (0.0, 1.7e9):
        book = Admission(Cluster(3, tau=2.0, chi=5.0), name, now=epoch)
        task = Task("a", epoch + 0.0007582, 0.001125, 0.00237877)
        offered.append({offer.dimension: offer for offer in book.offer(task)})
        assert offered[-1].keys() == {"load", "deadline"}
    for dimension, dated in offered[1].items():
        near = offered[0][dimension]
        assert dated.value == pytest.approx(near.value, rel=1e-3)
        assert near.least and not dated.least


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit"])
@pytest.mark.parametrize("number", [float, Fraction])
def test_in_a_long_queue(name, number):
    """Whatever the search costs, offers come, and are accepted."""
    stream = random_stream(4, nodes=8, tasks=60, number=number, load=1.3, backlog=10**4)
    book = stream.decided(name)
    last = stream.tasks[-1]
    task = replace(last, id="new", arrival=book.now, load=last.load * 40)
    found = Negotiation(book, task)
    offers = book.offer(task)
    assert {offer.dimension for offer in offers} == {"deadline", "load", "wait"}
    for offer in offers:
        assert found.accepts(
            **{FIELDS[offer.dimension]: getattr(offer.submission, FIELDS[offer.dimension])}
        )


def test_compiled_queues():
    pytest.importorskip("numba")
    offers = [
        two_nodes("fast-edf-iit", compiled=compiled, exact_numbers=False).offer(Task("b", 0, 1, 2))
        for compiled in (False, True)
    ]
    plain, compiled = ({offer.dimension: offer for offer in made} for made in offers)
    assert plain.keys() == compiled.keys()
    assert compiled["load"] == plain["load"]
    assert compiled["wait"].value == pytest.approx(plain["wait"].value)


def test_what_makes_no_sense():
    task = Task("b", 0, 1, 2)
    for name in ("edf-anna", "edf-opr-mn:literal", "fast-edf-iit:literal-chunk"):
        head = Admission(Cluster(2, tau=1, chi=1), name)
        for verb in (head.offer, head.why):
            with pytest.raises(NotApplicableError, match=name):
                verb(task)
    head = two_nodes()
    for k in (0, -1, 1.5, True, None):
        with pytest.raises(InvalidInstanceError, match="k"):
            head.offer(task, k=k)
    head.advance(1)
    for verb in (head.offer, head.why):
        with pytest.raises(InvalidInstanceError, match="before now"):
            verb(task)
        with pytest.raises(InvalidInstanceError, match="accepted before"):
            verb(Task("a", 1, 3, 4))
        with pytest.raises(NotApplicableError, match="a task is needed"):
            verb("b")
