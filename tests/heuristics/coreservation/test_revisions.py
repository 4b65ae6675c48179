"""Promises that are submitted again, cancelled, changed, or end at another time."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import CoReservation, check
from dlopt.books import Consequences
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.coreservation import Machine, Part, Request, linear

F = Fraction


def wanted(name, start, end, *parts, arrival=0, priority=1):
    return Request(name, arrival, start, end, priority, parts)


def refused(engine, error, match, verb, *arguments, **named):
    before = engine.snapshot()
    with pytest.raises(error, match=match):
        getattr(engine, verb)(*arguments, **named)
    assert engine.snapshot() == before


def shares(engine):
    return {(one.request, one.part): (one.machine, one.cpu) for one in engine.plan().shares}


def test_the_same_content_gets_its_decision_again():
    engine = CoReservation([Machine("m", 10)])
    good, bad = wanted("good", 5, 15, Part(8)), wanted("bad", 5, 15, Part(4))
    first = engine.submit([good, bad], at=1)
    engine.advance(3)
    before = engine.snapshot()
    assert engine.submit([bad]) + engine.submit([good]) == first[::-1]
    assert engine.submit([good, bad], at=2) == first  # whenever that is said to be
    engine.advance(16)
    assert engine.submit([bad, good]) == first[::-1]
    assert {**engine.snapshot(), "now": 3} == before
    (again, new) = engine.submit([good, wanted("new", 20, 30, Part(1), arrival=18)])
    assert again == first[0] and new.at == 18 == engine.now


def test_two_of_one_identity_are_refused_even_if_they_are_equal():
    engine = CoReservation([Machine("m", 10)])
    good = wanted("good", 5, 15, Part(8))
    refused(engine, InvalidInstanceError, "one request only", "submit", [good, good])
    engine.submit([good])
    refused(engine, InvalidInstanceError, "one request only", "submit", [good, good])
    other = replace(good, end=16)
    refused(engine, InvalidInstanceError, "was accepted before", "submit", [other])


def test_a_cancellation_has_no_consequences_and_is_made_once():
    engine = CoReservation([Machine("m", 10)])
    engine.submit([wanted("a", 5, 15, Part(8)), wanted("b", 5, 15, Part(8))])
    assert engine.cancel("a") == Consequences()
    for name, why in (("a", "was cancelled"), ("b", "was rejected"), ("c", "is not known")):
        match = f"request {name} holds nothing that can be cancelled: it {why}"
        refused(engine, NotApplicableError, match, "cancel", name)
    refused(engine, NotApplicableError, "is not known", "cancel", ["a"])


def test_a_change_is_made_or_leaves_the_promise():
    engine = CoReservation([Machine("m", 10)])
    a, b = wanted("a", 5, 15, Part(4)), wanted("b", 5, 15, Part(5))
    engine.submit([a, b])
    before = engine.snapshot()
    larger = engine.change(replace(a, parts=(Part(6),)))
    assert not larger.accepted and "no machine has more than 5 left" in larger.reason
    assert engine.snapshot() == before
    two = replace(a, parts=(Part(3), Part(2)), start=6, end=20, priority=7)
    assert engine.change(two).accepted
    assert shares(engine) == {("b", 0): (0, 5), ("a", 0): (0, 3), ("a", 1): (0, 2)}
    assert engine.calendar.allocated(0, 0, 30) == (
        (0, 5, 0),
        (5, 6, 5),
        (6, 15, 10),
        (15, 20, 5),
        (20, 30, 0),
    )
    assert engine.requests == (b, two)
    assert engine.change(two) == engine.decisions[1]  # nothing is different
    assert engine.submit([two]) == (engine.decisions[1],)
    refused(engine, InvalidInstanceError, "was accepted before", "submit", [a])


def test_what_has_begun_stays_on_its_machines():
    engine = CoReservation([Machine("m", 10), Machine("n", 20)], "first-fit")
    a = wanted("a", 5, 15, Part(4))
    engine.submit([a])
    engine.advance(8)
    assert not engine.change(replace(a, parts=(Part(12),))).accepted  # though n has room
    assert engine.change(replace(a, end=30, parts=(Part(10),))).accepted
    assert shares(engine) == {("a", 0): (0, 10)}
    assert engine.calendar.allocated(0, 8, 40) == ((8, 30, 10), (30, 40, 0))
    instance, plan = engine.state()
    assert check(instance, plan) == () and instance.requests[0].start == 8
    assert engine.change(replace(a, end=10, parts=(Part(3, 1, linear(), 0),))).accepted
    engine.advance(10)
    assert engine.state() is None


def test_what_has_begun_may_change_on_a_machine_that_was_removed():
    engine = CoReservation([Machine("m", 10), Machine("n", 10)], "first-fit")
    a = wanted("a", 5, 15, Part(4))
    engine.submit([a])
    engine.advance(8)
    engine.resources(remove=[0])
    assert engine.change(replace(a, end=20, parts=(Part(6),))).accepted
    assert shares(engine) == {("a", 0): (0, 6)} and check(*engine.state()) == ()
    assert engine.finished("a", 25) == Consequences() and check(*engine.state()) == ()


def test_a_change_that_is_impossible():
    engine = CoReservation([Machine("m", 10), Machine("n", 10)], "first-fit")
    a, b = wanted("a", 5, 15, Part(4)), wanted("b", 20, 25, Part(4))
    engine.submit([a, b, wanted("no", 5, 15, Part(40))])
    engine.advance(8)
    for wrong, text in (
        (replace(a, start=6), "start: must be kept, 5, for the request has begun"),
        (replace(a, end=8), "end: must lie after now, 8"),
        (replace(a, parts=(Part(1), Part(1))), "parts: must be 1 parts as before"),
        (replace(a, parts=(Part(1, machine=1),)), r"parts\[0\].machine: must be machine 0"),
        (replace(a, parts=(Part(1, machine=2),)), r"parts\[0\].machine: must be one of"),
        (replace(b, start=7), "start: must not lie before the decision, 8"),
        (replace(b, arrival=9), "arrival: must not lie after the decision, 8"),
        (replace(b, parts=(Part(1, machine=2),)), r"parts\[0\].machine: must be one of"),
    ):
        refused(engine, InvalidInstanceError, text, "change", wrong)
    for name, why in (("no", "was rejected"), ("x", "is not known")):
        refused(engine, NotApplicableError, why, "change", replace(b, id=name))
    refused(engine, NotApplicableError, "a request is needed", "change", "b")
    engine.advance(15)
    refused(engine, NotApplicableError, "changed: it is over", "change", replace(a, end=30))


def test_an_earlier_end_frees_the_rest():
    engine = CoReservation([Machine("m", 10)])
    engine.submit([wanted("a", 5, 15, Part(8)), wanted("b", 5, 15, Part(2))])
    engine.advance(8)
    assert engine.finished("a", 10) == Consequences()
    assert engine.calendar.allocated(0, 8, 20) == ((8, 10, 10), (10, 15, 2), (15, 20, 0))
    assert engine.finished("b", 8) == Consequences()
    assert engine.calendar.allocated(0, 8, 20) == ((8, 10, 8), (10, 20, 0))
    assert [request.end for request in engine.requests] == [10, 8]
    refused(engine, NotApplicableError, "it is over", "finished", "b", 9)
    assert engine.finished("a", 10) == Consequences()
    assert engine.submit([wanted("a", 5, 15, Part(8))])[0].accepted  # as it was submitted


def test_a_late_end_moves_or_breaks_what_is_in_conflict():
    engine = CoReservation([Machine("m", 10), Machine("n", 6)], "first-fit")
    engine.submit([wanted("a", 5, 15, Part(8)), wanted("small", 15, 20, Part(5), priority=3)])
    engine.submit([wanted("large", 15, 30, Part(4)), wanted("later", 20, 30, Part(6))])
    assert [place[0] for place in shares(engine).values()] == [0, 0, 0, 0]
    engine.advance(14)
    done = engine.finished("a", 18)
    assert done == Consequences(broken=("large",), moved=("small",))
    assert shares(engine)["small", 0] == (1, 5) and shares(engine)["a", 0] == (0, 8)
    assert check(*engine.state()) == ()
    refused(engine, NotApplicableError, "it was broken", "cancel", "large")
    refused(
        engine,
        InvalidInstanceError,
        "was accepted before, and broken",
        "submit",
        [wanted("large", 30, 40, Part(1))],
    )
    assert engine.finished("a", 19) == Consequences()  # there is room


def test_what_has_begun_is_broken_only_where_the_capacity_falls():
    engine = CoReservation([Machine("m", ((0, 10), (15, 5)))])
    engine.submit(
        [wanted("a", 5, 15, Part(4)), wanted("b", 5, 15, Part(3)), wanted("c", 6, 20, Part(3))]
    )
    engine.advance(10)
    refused(engine, NotApplicableError, "x holds nothing that can be ended", "finished", "x", 18)
    assert engine.finished("a", 18) == Consequences(broken=("c",))
    assert engine.finished("b", 15) == Consequences()
    assert check(*engine.state()) == ()


def test_an_end_that_is_impossible():
    engine = CoReservation([Machine("m", ((0, 10), (15, 5)))])
    engine.submit([wanted("a", 5, 15, Part(8)), wanted("b", 12, 15, Part(2))])
    refused(
        engine, NotApplicableError, "request b begins at 12: cancel or change", "finished", "b", 14
    )
    engine.advance(8)
    for at in (7, F(79, 10), float("nan"), float("inf"), None, True):
        refused(engine, InvalidInstanceError, "at: must", "finished", "a", at)
    refused(engine, NotApplicableError, "request a cannot go on until 16", "finished", "a", 16)


def test_a_request_that_begins_now_may_be_reported():
    engine = CoReservation([Machine("m", 10)])
    engine.submit([wanted("a", 5, 15, Part(8))])
    engine.advance(5)
    refused(engine, InvalidInstanceError, "must lie after the start", "finished", "a", 5)
    assert engine.finished("a", 6) == Consequences()
    assert engine.requests[0].end == 6


def test_archived_requests_are_handed_out_once():
    engine = CoReservation([Machine("m", 10)])
    engine.submit(
        [wanted("a", 5, 15, Part(8)), wanted("b", 5, 25, Part(2)), wanted("no", 5, 9, Part(3))]
    )
    engine.submit([wanted("gone", 16, 18, Part(2))])
    engine.cancel("gone")
    assert engine.archive().decisions == ()
    engine.advance(15)
    handed = engine.archive()
    assert handed.until == 15
    assert [(one.request, one.accepted) for one in handed.decisions] == [("a", True), ("no", False)]
    assert [(one.request, one.cpu) for one in handed.allocations] == [("a", 8)]
    assert engine.archive().decisions == () == engine.archive().allocations
    assert [one.request for one in engine.decisions] == ["b"]
    refused(engine, InvalidInstanceError, "cancelled", "submit", [wanted("gone", 16, 18, Part(2))])
    engine.advance(20)
    engine.archive()
    again = [wanted(name, 20, 30, Part(1), arrival=20) for name in ("a", "no", "gone")]
    assert all(one.accepted for one in engine.submit(again))


def test_after_many_requests_what_is_alive_is_kept_alone():
    engine = CoReservation([Machine("m", 10)], "co-rsbfr")
    sizes = []
    for k in range(200):
        engine.submit(
            [
                wanted(f"r{k}", k, k + 2, Part(8, 2, linear()), arrival=k),
                wanted(f"s{k}", k, k + 1, Part(20), arrival=k),
            ]
        )
        if k % 3 == 0:
            engine.cancel(f"r{k}")
        engine.archive()
        saved = engine.snapshot()
        sizes.append(
            [len(saved[name]) for name in ("requests", "shares", "changes", "revised", "withdrawn")]
        )
    assert max(map(max, sizes)) <= 12 and len(engine.calendar) <= 2
