"""What cannot have happened on a grid: the smallest wrong traces, each with its violation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.dag import (
    Edge,
    Graph,
    Instance,
    Lan,
    Link,
    Machine,
    Network,
    Task,
    violations,
)
from dlopt.problems.dag.executed import EXECUTED_KINDS, violations_executed
from dlopt.problems.dag.trace import Course, Outage, Run, Trace, late_or_lost, plan_of

F = Fraction
NETWORK = Network(
    "scheduler",
    "counted",
    bandwidth=2,
    latency=1,
    lans=(Lan("l", bandwidth=4), Lan("r", bandwidth=1)),
    wan_links=(Link(0, 1, bandwidth=1, latency=2), Link(1, 0, bandwidth=10)),
)
MACHINES = (Machine("a", 1, 0, delay=1), Machine("b", 2, 0), Machine("c", 1, 1))
GRAPH = Graph(
    "g",
    (Task("s", 4), Task("t", costs=(3, None, 3))),
    (Edge(0, 1, data=8),),
    arrival=10,
    absolute_deadline=40,
    lan=0,
    input=4,
    output=12,
)
ONE = Instance(MACHINES, (GRAPH,), NETWORK)
# Input to machine 1: 4/4; work 4/2; result 8/4. Then 1 + 8/4; 3; 1 + 12/4.
FIRST = Run(0, 0, 1, 11, "done", 12, 14, 16, 16)
SECOND = Run(0, 1, 0, 17, "done", 20, 23, 27, 27)
HOME = Course(0, 0, 10, 11, 27)
GOOD = Trace((HOME,), (FIRST, SECOND))
WAITED = Trace(
    (replace(HOME, returned=28),),
    (Run(0, 0, 1, 11, "done", 13, 15, 17, 17), Run(0, 1, 0, 18, "done", 21, 24, 28, 28)),
)
LOST = Run(0, 0, 1, 11, "lost", 12, 13, None, 15)
AGAIN = Run(0, 0, 1, 15, "done", 16, 18, 20, 20)
LATER = Run(0, 1, 0, 20, "done", 23, 26, 30, 30)
DOWN = Outage(1, 13, 15)
FAILED = Trace((replace(HOME, returned=30),), (LOST, AGAIN, LATER), (DOWN,), (Outage(1, 15, 15),))


def kinds(instance: Instance, trace: Trace, **options: Any) -> set[str]:
    return {found.kind for found in violations_executed(instance, trace, **options)}


def test_a_good_trace_has_no_violation() -> None:
    assert violations_executed(ONE, GOOD, queue_size=1) == ()
    assert violations_executed(ONE, FAILED, queue_size=1, failures=(DOWN,)) == ()
    assert violations_executed(ONE, WAITED) == ()
    for outage in (Outage(1, 11, 12), Outage(1, 13, 13)):  # it came, and ran, just after
        waited = replace(WAITED, down=(outage,))
        assert (violations_executed(ONE, waited) == ()) is (outage.until == 12)
    assert violations(ONE, plan_of(GOOD)) == () == violations(ONE, plan_of(FAILED))


def with_runs(*runs: Run, trace: Trace = GOOD) -> Trace:
    return replace(trace, runs=runs)


def with_course(**changes: Any) -> Trace:
    return replace(GOOD, courses=(replace(HOME, **changes),))


def first(**changes: Any) -> Trace:
    return with_runs(replace(FIRST, **changes), SECOND)


def second(**changes: Any) -> Trace:
    return with_runs(FIRST, replace(SECOND, **changes))


def failed(**changes: Any) -> Trace:
    return replace(FAILED, **changes)


WRONG: dict[str, tuple[set[str], Trace]] = {
    "graph of a course": ({"unknown-graph", "no-course"}, with_course(graph=1)),
    "graph of a run": ({"unknown-graph"}, with_runs(FIRST, SECOND, replace(FIRST, graph=4))),
    "task": ({"unknown-task"}, with_runs(FIRST, SECOND, replace(FIRST, task=2))),
    "machine": ({"unknown-machine"}, with_runs(FIRST, SECOND, replace(FIRST, machine=3))),
    "lan": ({"unknown-lan", "no-course"}, with_course(lan=2)),
    "no course": ({"no-course"}, replace(GOOD, courses=())),
    "two courses": ({"two-courses"}, replace(GOOD, courses=(HOME, HOME))),
    "never home": ({"unexplained"}, with_course(returned=None)),
    "decided early": ({"decided-before-arrival"}, with_course(decided=9)),
    "received early": ({"received-before-input"}, with_course(received=9)),
    "received undecided": ({"received-before-input"}, with_course(decided=None, received=9)),
    "never received": ({"sent-before-ready"}, with_course(decided=None, received=None)),
    "home early": ({"returned-before-results"}, with_course(returned=26)),
    "dropped": (
        {"task-missing", "returned-before-results"},
        with_runs(FIRST, trace=with_course(returned=9)),
    ),
    "dropped first": ({"task-missing", "sent-before-ready"}, with_runs(SECOND)),
    "done twice": (
        {"completed-twice"},
        with_runs(FIRST, replace(FIRST, sent=16, start=17, end=19, known=21, freed=21), SECOND),
    ),
    "where it cannot run": (
        {"cannot-run"},
        second(machine=1, start=19, end=21, known=24, freed=24),
    ),
    "in the other LAN": (
        {"wrong-lan"},
        with_runs(
            FIRST,
            replace(SECOND, machine=2, start=25, end=28, known=40, freed=40),
            trace=with_course(returned=40),
        ),
    ),
    "sent before received": ({"sent-before-ready"}, first(sent=F(21, 2))),
    "sent before a result": ({"sent-before-ready"}, second(sent=15)),
    "starts before data": ({"starts-before-data"}, second(start=19, end=22)),
    "starts before input": ({"starts-before-data"}, first(start=11, end=13)),
    "too short": ({"duration"}, second(end=22)),
    "too long": ({"duration"}, first(end=F(29, 2), known=F(33, 2), freed=F(33, 2))),
    "known early": ({"known-before-result"}, first(known=15, freed=15)),
    "sent while held": (
        {"sent-twice"},
        failed(runs=(replace(LOST, freed=16), AGAIN, LATER), presumed=()),
    ),
    "sent though never freed": (
        {"sent-twice"},
        failed(runs=(Run(0, 0, 1, 11, "unfinished"), AGAIN, LATER), presumed=()),
    ),
    "starts while down": ({"node-down"}, failed(down=(DOWN, Outage(1, 16, 17)))),
    "survives": ({"failure-survived"}, failed(down=(DOWN, Outage(1, 17)))),
    "down for ever": ({"node-down"}, failed(down=(Outage(1, 13),))),
    "lost without": ({"lost-without-failure"}, failed(down=())),
    "lost before it failed": (
        {"lost-without-failure", "failure-survived"},
        failed(down=(Outage(1, F(25, 2), 15),)),
    ),
    "waits and is lost without": (
        {"lost-without-failure"},
        failed(runs=(replace(LOST, start=None, end=None), AGAIN, LATER), down=(Outage(1, 5, 10),)),
    ),
    "presumed without cause": ({"presumed-without-cause"}, failed(presumed=(Outage(0, 5, 6),))),
    "sent to the dead": (
        {"sent-to-presumed-dead", "starts-on-presumed-dead"},
        failed(
            runs=(
                LOST,
                replace(
                    AGAIN,
                    sent=F(31, 2),
                    start=F(33, 2),
                    end=F(37, 2),
                    known=F(41, 2),
                    freed=F(41, 2),
                ),
                replace(
                    LATER,
                    sent=F(41, 2),
                    start=F(47, 2),
                    end=F(53, 2),
                    known=F(61, 2),
                    freed=F(61, 2),
                ),
            ),
            courses=(replace(HOME, returned=31),),
            presumed=(Outage(1, 15, 18),),
        ),
    ),
    "for ever": ({"starts-on-presumed-dead"}, failed(presumed=(Outage(1, 15),))),
    "waits in a failure": ({"failure-survived"}, replace(WAITED, down=(Outage(1, F(25, 2), 13),))),
    "comes in a failure": ({"failure-survived"}, replace(WAITED, down=(Outage(1, 11, 13),))),
    "not pulled back": (
        {"not-pulled-back", "presumed-without-cause"},
        failed(presumed=(Outage(1, 17, 17),)),
    ),
    "never pulled back": (
        {"not-pulled-back", "presumed-without-cause"},
        with_runs(
            Run(0, 0, 1, 11, "unfinished", 12),
            trace=Trace(
                (replace(HOME, returned=None, reason="stopped"),), (), (), (Outage(1, 15),)
            ),
        ),
    ),
    "sent though done": (
        {"sent-though-done"},
        with_runs(FIRST, Run(0, 0, 1, 19, "ignored", 20, 22, 24, 24), SECOND),
    ),
    "ignored though first": (
        {"dropped-needlessly"},
        with_runs(
            replace(FIRST, fate="ignored"),
            Run(0, 0, 1, 16, "done", 17, 19, 21, 21),
            replace(SECOND, sent=21, start=24, end=27, known=31, freed=31),
            trace=with_course(returned=31),
        ),
    ),
    "withdrawn before the other was done": (
        {"dropped-needlessly"},
        with_runs(
            Run(0, 0, 1, 11, "withdrawn", 12, 13, None, 14),
            Run(0, 0, 1, 16, "done", 17, 19, 21, 21),
            replace(SECOND, sent=21, start=24, end=27, known=31, freed=31),
            trace=with_course(returned=31),
        ),
    ),
    "pulled back without cause": (
        {"pulled-back-without-cause"},
        failed(runs=(Run(0, 0, 1, 11, "pulled-back", freed=14), AGAIN, LATER), presumed=()),
    ),
    "pulled back too late": (
        {"pulled-back-without-cause", "presumed-without-cause", "not-pulled-back"},
        failed(
            runs=(Run(0, 0, 1, 11, "pulled-back", freed=14), AGAIN, LATER),
            presumed=(Outage(1, 12, 13),),
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    wanted, trace = WRONG[name]
    assert kinds(ONE, trace) == wanted


INCOHERENT: list[dict[str, Any]] = [
    {"known": None},
    {"freed": None},
    {"start": None},
    {"end": None},
    {"sent": 13},
    {"freed": 10},
    {"fate": "lost"},
    {"fate": "pulled-back"},
    {"fate": "withdrawn"},
    {"fate": "unfinished"},
    {"fate": "ignored", "known": None},
    {"fate": "lost", "end": None, "known": None},
    {"fate": "unfinished", "start": None, "known": None},
]


@pytest.mark.parametrize("changes", INCOHERENT, ids=str)
def test_a_run_has_the_instants_of_its_fate(changes: dict[str, Any]) -> None:
    assert "incoherent-run" in kinds(ONE, first(**changes))


TWO = Instance(
    MACHINES,
    (replace(GRAPH, tasks=(Task("s", 4), Task("t", 4)), edges=(), input=0, output=0),),
    NETWORK,
)
UNDER = Run(0, 0, 1, 11, "done", 11, 13, 13, 13)
OVER = Run(0, 1, 1, 11, "done", 13, 15, 15, 15)
PAIR = Trace((replace(HOME, returned=15),), (UNDER, OVER))


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
    assert kinds(ONE, FAILED, failures=(Outage(1, 13),)) == {"failure-ignored"}
    assert kinds(ONE, FAILED, failures=(Outage(1, 12, 14),)) == {"failure-ignored"}
    assert kinds(ONE, FAILED, failures=(Outage(1, 13, 16),)) == {"failure-ignored"}
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
    assert kinds(instant, replace(explained, down=(Outage(1, 0, 1),))) == set()


def test_what_is_given_up_is_explained() -> None:
    unfinished = Run(0, 0, 1, 11, "unfinished", 12)
    withdrawn = Run(0, 0, 1, 11, "withdrawn", 12, 13, None, 13)
    course = replace(HOME, returned=None, reason="stopped")
    for run in (
        unfinished,
        withdrawn,
        replace(withdrawn, start=None, end=None),
        replace(FIRST, fate="ignored"),
    ):
        assert kinds(ONE, Trace((course,), (run,))) == set()
    back = replace(withdrawn, fate="pulled-back", start=None, end=None)
    for presumed in (Outage(1, 13), Outage(1, 13, 13), Outage(1, 13, 14)):
        assert kinds(ONE, Trace((course,), (back,), (), (presumed,))) == set()
    assert kinds(ONE, Trace((course,), (unfinished,), (Outage(1, 13),))) == {"failure-survived"}
    assert "dropped-needlessly" not in kinds(ONE, with_runs(replace(FIRST, fate="ignored")))
    assert "dropped-needlessly" not in kinds(
        ONE, with_runs(replace(FIRST, fate="ignored", freed=None))
    )


def test_whoever_waits_is_not_overtaken() -> None:
    """OVER starts at 13, though UNDER was sent before it and is still there."""
    waits = Run(0, 0, 1, 11, "withdrawn", freed=14)
    again = Run(0, 0, 1, 15, "done", 15, 17, 17, 17)
    other = replace(OVER, sent=12)
    late = replace(PAIR, courses=(replace(HOME, returned=17),))
    kind = {"not-first-in-first-out", "dropped-needlessly"}
    assert kinds(TWO, with_runs(waits, other, again, trace=late)) == kind
    gone = replace(waits, freed=13)
    assert kinds(TWO, with_runs(gone, other, again, trace=late)) == {"dropped-needlessly"}
    course = replace(HOME, returned=None, reason="stopped")
    never = with_runs(Run(0, 0, 1, 11, "unfinished"), other, trace=Trace((course,), ()))
    assert kinds(TWO, never) == {"not-first-in-first-out"}
    for outage in (Outage(1, 11), Outage(1, 11, F(23, 2))):  # it may have been lost, unheard of
        assert "not-first-in-first-out" not in kinds(TWO, replace(never, down=(outage,)))
    before = replace(never, down=(Outage(1, 5, 10),))
    assert kinds(TWO, before) == {"not-first-in-first-out"}
    lost = with_runs(Run(0, 0, 1, 11, "lost", freed=14), other, trace=Trace((course,), ()))
    assert "not-first-in-first-out" not in kinds(TWO, replace(lost, down=(Outage(1, 11, 11),)))


def test_every_kind_is_shown() -> None:
    shown = set().union(*(wanted for wanted, _ in WRONG.values()))
    elsewhere = {
        "incoherent-run",
        "queue-overflow",
        "machine-overlap",
        "not-first-in-first-out",
        "failure-ignored",
    }
    assert shown | elsewhere == set(EXECUTED_KINDS)


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
