"""What can have happened on a grid, and what cannot: machines, data, failures, and who waits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.dag import Edge, Graph, Instance, Link, Task, violations
from dlopt.problems.dag.trace import Course, Outage, Run, Trace, late_or_lost, plan_of
from dlopt.problems.dag.trace_checker import violations_executed
from tests.problems.executed_grids import (
    AGAIN,
    DOWN,
    FAILED,
    FIRST,
    GOOD,
    GRAPH,
    HOME,
    LATER,
    LOST,
    MACHINES,
    NETWORK,
    ONE,
    OVER,
    PAIR,
    TWO,
    UNDER,
    WAITED,
    F,
    failed,
    first,
    kinds,
    second,
    with_runs,
)


def test_a_good_trace_has_no_violation() -> None:
    assert violations_executed(ONE, GOOD, queue_size=1) == ()
    assert violations_executed(ONE, FAILED, queue_size=1, failures=(DOWN,)) == ()
    assert violations_executed(ONE, WAITED) == ()
    for outage in (Outage(1, 11, 12), Outage(1, 13, 13)):  # it came, and ran, just after
        waited = replace(WAITED, down=(outage,))
        assert (violations_executed(ONE, waited) == ()) is (outage.until == 12)
    assert violations(ONE, plan_of(GOOD)) == () == violations(ONE, plan_of(FAILED))


def test_a_machine_runs_one_at_a_time_in_the_order_in_which_they_came() -> None:
    assert violations_executed(TWO, PAIR, queue_size=2) == ()
    assert kinds(TWO, PAIR, queue_size=1) == {"queue-overflow"}
    early = replace(OVER, start=12, end=14, known=14, freed=14)
    assert kinds(TWO, with_runs(UNDER, early, trace=PAIR)) == {"machine-overlap"}
    swapped = with_runs(replace(OVER, sent=11), replace(UNDER, sent=12, start=F(12)), trace=PAIR)
    swapped = with_runs(
        replace(UNDER, start=13, end=15, known=15, freed=15),
        replace(OVER, sent=F(23, 2), start=F(23, 2), end=F(27, 2), known=F(27, 2), freed=F(27, 2)),
        trace=PAIR,
    )
    assert "not-first-in-first-out" in kinds(TWO, swapped)


def test_failures_must_have_happened() -> None:
    assert kinds(ONE, FAILED, failures=(Outage(1, 13),)) == {"failure-missing"}
    assert kinds(ONE, FAILED, failures=(Outage(1, 12, 14),)) == {"failure-missing"}
    assert kinds(ONE, FAILED, failures=(Outage(1, 13, 16),)) == {"failure-missing"}
    for_ever = failed(down=(*FAILED.down, Outage(0, 26)))
    assert kinds(ONE, for_ever, failures=(Outage(0, 50, 60), Outage(0, 26))) == set()


def test_data_that_stays_on_a_machine_need_not_travel() -> None:
    free = replace(NETWORK, same_machine="zero")
    graph = replace(
        GRAPH,
        tasks=(Task("s", 4), Task("t", 4), Task("u", 4)),
        edges=(Edge(0, 2, data=8), Edge(1, 2, data=4)),
        input=0,
        output=0,
    )
    instance = Instance(MACHINES, (graph,), free)
    one = Run(0, 0, 1, 11, "done", 11, 13, 15, 15)
    other = Run(0, 1, 1, 11, "done", 13, 15, 16, 16)
    both = Run(0, 2, 1, 16, "done", 16, 18, 18, 18)
    course = replace(HOME, returned=18)
    assert violations_executed(instance, Trace((course,), (one, other, both))) == ()
    counted = replace(instance, network=NETWORK)
    assert kinds(counted, Trace((course,), (one, other, both))) == {"starts-before-data"}
    away = Run(0, 1, 0, 11, "done", 12, 16, 18, 18)
    mixed = replace(both, sent=18, start=19, end=21, known=21, freed=21)
    late = replace(course, returned=21)
    assert violations_executed(instance, Trace((late,), (one, away, mixed))) == ()
    early = replace(mixed, start=F(37, 2), end=F(41, 2))
    assert kinds(instance, Trace((late,), (one, away, early))) == {"starts-before-data"}


def test_data_goes_over_the_wan_and_back() -> None:
    graph = Graph("g", (Task("s", 1),), arrival=10, lan=0, input=3, output=20)
    instance = Instance(MACHINES, (graph,), NETWORK)
    run = Run(0, 0, 2, 15, "done", 18, 19, 39, 39)  # there 2 + 3/1, back 20/10
    good = Trace((Course(0, 1, 10, 15, 41),), (run,))
    assert violations_executed(instance, good) == ()
    for changes, kind in (
        ({"received": 14}, "received-before-input"),
        ({"returned": 40}, "returned-before-results"),
    ):
        wrong = replace(good, courses=(replace(good.courses[0], **changes),))
        assert kinds(instance, wrong) == {kind}
    one_way = replace(NETWORK, wan_links=(Link(1, 0, bandwidth=1, latency=2),))
    assert "returned-before-results" in kinds(replace(instance, network=one_way), good)


def test_slowdown_and_tolerance_allow_what_they_say() -> None:
    slow = first(end=15, known=17, freed=17)
    assert kinds(ONE, slow, slowdown=(1, 2)) == set()
    assert kinds(ONE, slow, slowdown=(2, 2)) == {"duration"}
    early = second(start=20 - F(1, 10**9))
    assert kinds(ONE, early) == {"starts-before-data", "duration"}
    assert kinds(ONE, early, tolerance=1e-9) == set()
    close = replace(OVER, start=13 - F(1, 10**9), end=15 - F(1, 10**9))
    assert kinds(TWO, with_runs(UNDER, close, trace=PAIR)) == {"machine-overlap"}
    assert kinds(TWO, with_runs(UNDER, close, trace=PAIR), tolerance=1e-9) == set()
    ends_with_failure = failed(runs=(LOST, replace(AGAIN), LATER), down=(DOWN, Outage(1, 18, 19)))
    assert kinds(ONE, ends_with_failure) == set()
    instant = Instance(MACHINES, (Graph("g", (Task("s", 0),), lan=0),), NETWORK)
    nothing = Run(0, 0, 1, 0, "lost", 0, 0, None, 0)
    explained = Trace((Course(0, 0, 0, 0, reason="failed"),), (nothing,), (Outage(1, 0, 0),))
    assert kinds(instant, explained) == set()
    longer = replace(explained, down=(Outage(1, 0, 1),))
    assert kinds(instant, longer) == {"left-queue-without-cause", "graph-abandoned-without-cause"}
    heard = replace(longer, runs=(replace(nothing, freed=1),))
    assert kinds(instant, heard) == set()


def test_what_is_given_up_is_explained() -> None:
    unfinished = Run(0, 0, 1, 11, "unfinished", 12)
    withdrawn = Run(0, 0, 1, 11, "withdrawn", 12, 13, None, 13)
    course = replace(HOME, returned=None, reason="stopped")
    for run in (unfinished, replace(FIRST, fate="ignored")):
        assert kinds(ONE, Trace((course,), (run,)), until=14) == set()
    for run in (withdrawn, replace(withdrawn, start=None, end=None)):
        assert kinds(ONE, Trace((course,), (run,)), until=14) == {"left-queue-without-cause"}
    back = Run(0, 0, 1, 11, "pulled-back", freed=16)
    for presumed in (Outage(1, 16), Outage(1, 16, 16), Outage(1, 16, 17)):
        assert kinds(ONE, Trace((course,), (back,), (), (presumed,))) == set()
    failing = Trace((course,), (unfinished,), (Outage(1, 13),))
    assert kinds(ONE, failing, until=14) == {"continues-through-failure"}
    assert "discarded-without-other-result" not in kinds(
        ONE, with_runs(replace(FIRST, fate="ignored"))
    )
    assert "discarded-without-other-result" not in kinds(
        ONE, with_runs(replace(FIRST, fate="ignored", freed=None))
    )


def test_whoever_waits_is_not_overtaken() -> None:
    """OVER starts at 13, though UNDER was sent before it and is still there."""
    waits = Run(0, 0, 1, 11, "withdrawn", freed=14)
    again = Run(0, 0, 1, 15, "done", 15, 17, 17, 17)
    other = replace(OVER, sent=12)
    late = replace(PAIR, courses=(replace(HOME, returned=17),))
    kind = {"not-first-in-first-out", "discarded-without-other-result"}
    assert kinds(TWO, with_runs(waits, other, again, trace=late)) == kind
    gone = replace(waits, freed=13)
    assert kinds(TWO, with_runs(gone, other, again, trace=late)) == {
        "discarded-without-other-result"
    }
    course = replace(HOME, returned=None, reason="stopped")
    never = with_runs(Run(0, 0, 1, 11, "unfinished"), other, trace=Trace((course,), ()))
    assert kinds(TWO, never, until=11) == {"not-first-in-first-out"}
    assert kinds(TWO, never, until=12) == {"not-first-in-first-out", "due-event-missing"}
    for outage in (Outage(1, 11), Outage(1, 11, F(23, 2))):  # it may have been lost, unheard of
        assert "not-first-in-first-out" not in kinds(TWO, replace(never, down=(outage,)))
    before = replace(never, down=(Outage(1, 5, 10),))
    assert kinds(TWO, before, until=11) == {"not-first-in-first-out"}
    lost = with_runs(Run(0, 0, 1, 11, "lost", freed=14), other, trace=Trace((course,), ()))
    assert "not-first-in-first-out" not in kinds(TWO, replace(lost, down=(Outage(1, 11, 11),)))


def test_who_is_late_or_lost() -> None:
    due = Instance(MACHINES, (GRAPH, replace(GRAPH, id="h", absolute_deadline=None)), NETWORK)
    courses = (replace(HOME, returned=41), replace(HOME, graph=1, returned=99))
    assert late_or_lost(due, Trace(courses, ())) == {0}
    assert late_or_lost(due, Trace(courses[1:], ())) == {0}
    assert late_or_lost(due, Trace((HOME,), ())) == {1}


def test_an_outage_does_not_end_before_it_begins() -> None:
    with pytest.raises(InvalidInstanceError, match="must not lie before begin, 5"):
        Outage(0, 5, 4)


def test_records_go_through_json() -> None:
    assert Trace.from_data(FAILED.to_data()) == FAILED
