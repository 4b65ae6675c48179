"""Why runs leave their queues and graphs stay away: what is not so is found, what is so passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems.dag import Graph, Instance, Task
from dlopt.problems.dag.trace import Course, Outage, Run, Trace
from dlopt.problems.dag.trace_checker import violations_executed
from dlopt.simulation.grid import simulate_grid
from tests.examples import share
from tests.problems.executed_grids import (
    DOWN,
    FAILED,
    FIRST,
    GOOD,
    GRAPH,
    HOME,
    LOST,
    MACHINES,
    NETWORK,
    ONE,
    OVER,
    PAIR,
    PRESUMED,
    SECOND,
    TWO,
    UNDER,
    kinds,
    with_runs,
)
from tests.simulation.grid.grids import failure_models, instances, policies

ENDS = {
    "suspicion-ended-without-cause",
    "left-queue-without-cause",
    "due-event-missing",
    "graph-not-returned",
    "graph-not-served",
    "graph-abandoned-without-cause",
}
AWAY = replace(HOME, returned=None, reason="given up")


def away(*runs: Run, **given: Any) -> Trace:
    return replace(Trace((AWAY,), runs), **given)


def changed(trace: Trace, index: int, **changes: Any) -> Trace:
    runs = list(trace.runs)
    runs[index] = replace(runs[index], **changes)
    return replace(trace, runs=tuple(runs))


def test_traces_that_can_have_happened() -> None:
    for trace in (GOOD, FAILED, PRESUMED, replace(FAILED, presumed=())):
        assert violations_executed(ONE, trace, queue_size=1) == ()
        assert violations_executed(ONE, trace, queue_size=1, until=100) == ()


# Queues


def test_a_queue_is_no_shorter_for_runs_that_leave_it_on_paper() -> None:
    """Three tasks of 5 on one machine, all sent at 0, and said to be off its queue at once."""
    graph = Graph("g", tuple(Task(name, 10) for name in "abc"), lan=0)
    instance = Instance(MACHINES, (graph,), NETWORK)
    runs = [Run(0, k, 1, 0, "done", 5 * k, 5 * k + 5, 5 * k + 5, 5 * k + 5) for k in range(3)]
    course = Course(0, 0, 0, 0, 15)
    honest = Trace((course,), tuple(runs))
    found = violations_executed(instance, honest, queue_size=1)
    assert [one.kind for one in found] == ["queue-overflow"] * 2
    assert violations_executed(instance, honest, queue_size=3) == ()
    paper = Trace((course,), tuple(replace(run, freed=0) for run in runs))
    found = violations_executed(instance, paper, queue_size=1)
    assert [one.kind for one in found] == ["left-queue-without-cause"] * 3
    assert str(found[0]) == "left-queue-without-cause on task 0 of graph 0 in [0, 0]"


def test_a_done_run_leaves_early_only_with_a_machine_that_is_presumed_dead() -> None:
    """It is presumed dead at 16, when the result could be back, and delivers it at 17."""
    slow = Run(0, 0, 1, 11, "done", 12, 15, 17, 16)
    trace = Trace(
        (replace(HOME, returned=28),), (slow, _later(SECOND, 1)), (), (Outage(1, 16, 17),)
    )
    assert kinds(ONE, trace, slowdown=(1, 2)) == set()
    assert kinds(ONE, replace(trace, presumed=()), slowdown=(1, 2)) == {"left-queue-without-cause"}
    other = replace(trace, presumed=(Outage(0, 16, 17),))
    assert kinds(ONE, other, slowdown=(1, 2)) == {
        "left-queue-without-cause",
        "suspected-without-cause",
    }
    assert kinds(ONE, changed(trace, 0, freed=18), slowdown=(1, 2), until=18) >= {
        "left-on-suspected-machine"
    }
    late = changed(GOOD, 0, freed=20)
    assert kinds(ONE, late) == set()  # it may take the scheduler some time


def _later(run: Run, by: int) -> Run:
    at = ("sent", "start", "end", "known", "freed")
    return replace(run, **{name: getattr(run, name) + by for name in at})


def test_a_lost_run_leaves_when_its_scheduler_knows() -> None:
    for freed, wanted in ((14, {"left-queue-without-cause"}), (15, set())):
        assert kinds(ONE, changed(FAILED, 0, freed=freed)) == wanted
    gone = replace(FAILED, down=(Outage(1, 13, 13), Outage(1, 5, 6)))
    assert kinds(ONE, gone) == set()
    before = replace(PRESUMED, presumed=())
    assert kinds(ONE, before) == {"left-queue-without-cause"}
    # It is lost, nobody knows, and the task is done elsewhere: then it is not needed any more.
    lost = Run(0, 0, 0, 11, "lost", freed=30)
    twice = with_runs(FIRST, SECOND, lost)
    twice = replace(twice, down=(Outage(0, 12, 13),))
    assert "left-queue-without-cause" not in kinds(ONE, twice)


def test_what_is_withdrawn_is_so_when_its_graph_is_given_up() -> None:
    """One task was sent in vain at 15, and so the graph was given up, and the other withdrawn."""
    lost = Run(0, 0, 1, 11, "lost", 11, 13, None, 15)
    waits = Run(0, 1, 0, 11, "withdrawn", 12, 15, None, 15)
    trace = away(lost, waits, down=(DOWN,))
    assert kinds(TWO, trace) == set()
    for freed in (11, 14, 16):
        wrong = changed(trace, 1, freed=freed, end=15)
        assert kinds(TWO, wrong) == {"left-queue-without-cause"}
    again = replace(trace, runs=(lost, waits, Run(0, 0, 1, 16, "lost", freed=18)))
    again = replace(again, down=(DOWN, Outage(1, 16, 18)))
    assert kinds(TWO, again) == {"left-queue-without-cause"}
    # No run of it was in vain: the other was withdrawn, too, or is still held.
    for other in (Run(0, 0, 1, 11, "withdrawn", 11, 12, None, 15), Run(0, 0, 1, 11, "unfinished")):
        assert "left-queue-without-cause" in kinds(TWO, away(other, waits), until=15)
    stray = Run(0, 0, 1, 11, "unfinished", 13, freed=15)
    presumed = away(stray, waits, presumed=(Outage(1, 15),))
    assert kinds(TWO, presumed, until=15, slowdown=(1, 9)) == set()
    assert "left-queue-without-cause" in kinds(TWO, replace(presumed, presumed=()), until=15)
    pulled = Run(0, 0, 1, 11, "pulled-back", freed=15)
    assert kinds(TWO, away(pulled, waits, presumed=(Outage(1, 15),))) == set()


# Presumptions


def test_a_machine_is_presumed_dead_for_a_result_that_could_be_back() -> None:
    """Input 1, work 2, result 2: what is sent at 11 can be back at 16, not after a second."""
    for begin in (12, 15, 16):
        run = Run(0, 0, 1, 11, "pulled-back", freed=begin)
        trace = away(run, presumed=(Outage(1, begin),))
        assert kinds(ONE, trace) == ({"suspected-without-cause"} if begin < 16 else set())
    cannot = away(Run(0, 1, 1, 11, "pulled-back", freed=50), presumed=(Outage(1, 50),))
    assert "suspected-without-cause" in kinds(ONE, cannot)


def test_nothing_is_heard_of_a_machine_that_is_down() -> None:
    for until in (17, 18):
        trace = replace(PRESUMED, presumed=(Outage(1, 16, 17),), down=(Outage(1, 13, until),))
        assert ("suspicion-ended-without-cause" in kinds(ONE, trace)) is (until == 18)
    for_ever = replace(PRESUMED, down=(Outage(1, 13),))
    assert "suspicion-ended-without-cause" in kinds(ONE, for_ever)
    # A result that was on its way comes from a machine that is down.
    slow = Run(0, 0, 1, 11, "done", 12, 15, 17, 16)
    runs = (slow, _later(SECOND, 1))
    trace = Trace((replace(HOME, returned=28),), runs, (Outage(1, 15, 40),), (Outage(1, 16, 17),))
    assert kinds(ONE, trace, slowdown=(1, 2)) == set()
    as_it_fails = replace(PRESUMED, down=(Outage(1, 13, 16), Outage(1, 17, 17)))
    assert "suspicion-ended-without-cause" not in kinds(ONE, as_it_fails)


# What is under way at the end


@pytest.mark.parametrize(
    ("run", "due"),
    [
        (Run(0, 0, 1, 11, "unfinished", 12, 14), 16),  # its result should be known
        (Run(0, 0, 1, 11, "unfinished", 12), 14),  # it should have ended
        (Run(0, 0, 1, 11, "unfinished"), 12),  # it should have started
    ],
)
def test_what_is_under_way_is_not_overdue(run: Run, due: int) -> None:
    assert kinds(ONE, away(run), until=due) == set()
    assert kinds(ONE, away(run), until=due + 1) == {"due-event-missing"}
    assert kinds(ONE, away(run)) == {"due-event-missing", "graph-abandoned-without-cause"}
    (found,) = violations_executed(ONE, away(run), until=1001)
    assert (found.start, found.end) == (due, 1001)


def test_what_waits_is_overdue_when_those_before_it_have_left() -> None:
    waits = Run(0, 1, 1, 12, "unfinished")
    ran = replace(UNDER, end=13)
    assert kinds(TWO, away(ran, waits), until=13) == set()
    assert kinds(TWO, away(ran, waits), until=14) == {"due-event-missing"}
    runs = replace(UNDER, fate="unfinished", end=None, known=None, freed=None)
    found = violations_executed(TWO, away(runs, waits), until=14)
    assert [one.resource for one in found] == ["task 0 of graph 0"]
    pulled = Run(0, 0, 1, 11, "withdrawn", freed=12)
    assert "due-event-missing" in kinds(TWO, away(pulled, waits), until=14)
    held = Run(0, 0, 1, 11, "unfinished")
    found = violations_executed(TWO, away(held, waits), until=14)
    assert [one.resource for one in found if one.kind == "due-event-missing"] == [
        "task 0 of graph 0"
    ]
    for outage in (Outage(1, 11), Outage(1, 11, 12)):  # it may have been lost, unheard of
        assert kinds(TWO, away(waits, down=(outage,)), until=99) == set()
    assert kinds(TWO, away(waits, down=(Outage(1, 5, 6),)), until=99) == {"due-event-missing"}


def test_where_it_cannot_run_nothing_is_overdue() -> None:
    run = Run(0, 1, 1, 20, "unfinished", 25)
    assert kinds(ONE, away(FIRST, run), until=99) == {"ineligible-machine"}


# Graphs that are not at home


def test_a_graph_that_is_done_comes_home() -> None:
    never = replace(GOOD, courses=(AWAY,))
    assert kinds(ONE, never) == {"graph-not-returned"}
    assert kinds(ONE, never, until=27) == set()
    assert kinds(ONE, never, until=28) == {"graph-not-returned"}


def test_results_are_on_their_way_for_as_long_as_the_wan_takes() -> None:
    graph = replace(GRAPH, tasks=(Task("s", 1),), edges=(), input=3, output=20)
    instance = Instance(MACHINES, (graph,), NETWORK)
    run = Run(0, 0, 2, 15, "done", 18, 19, 39, 39)
    trace = Trace((Course(0, 1, 10, 15, reason="stopped"),), (run,))
    assert kinds(instance, trace, until=41) == set()  # 39 + 20/10
    assert kinds(instance, trace, until=42) == {"graph-not-returned"}


def test_a_graph_is_served_where_a_lan_can_run_it() -> None:
    nowhere = Course(0, reason="no LAN has nodes for all of its subtasks")
    assert kinds(ONE, Trace((nowhere,), ())) == {"graph-not-served"}
    assert kinds(ONE, Trace((nowhere,), ()), until=99) == set()
    apart = replace(GRAPH, tasks=(Task("s", costs=(1, 1, None)), Task("t", costs=(None, None, 3))))
    assert kinds(Instance(MACHINES, (apart,), NETWORK), Trace((nowhere,), ())) == set()
    away_to = Course(0, 1, 10, reason="it was on its way to a LAN")
    assert kinds(ONE, Trace((away_to,), ())) == {"graph-not-served"}
    assert kinds(ONE, Trace((away_to,), ()), until=16) == set()  # 10 + 2 + 4/1
    assert kinds(ONE, Trace((away_to,), ()), until=17) == {"graph-not-served"}


def test_a_graph_is_given_up_for_a_cause() -> None:
    assert kinds(ONE, away()) == {"graph-abandoned-without-cause"}
    assert kinds(ONE, away(FIRST)) == {"graph-abandoned-without-cause"}
    assert kinds(ONE, away(FIRST), until=99) == set()
    assert kinds(ONE, away(LOST, down=(DOWN,))) == set()
    # It waits for machine 0, the only one that can run its second task, which is gone for ever.
    for gone in ({"down": (Outage(0, 5),)}, {"presumed": (Outage(0, 40),)}):
        found = kinds(ONE, away(FIRST, **gone))
        assert "graph-abandoned-without-cause" not in found
    assert kinds(ONE, away(FIRST, down=(Outage(0, 5, 6),))) == {"graph-abandoned-without-cause"}
    assert kinds(ONE, away(FIRST, down=(Outage(1, 5),))) >= {"graph-abandoned-without-cause"}
    assert kinds(ONE, away(down=(Outage(0, 5),))) == {"graph-abandoned-without-cause"}
    unheard = Run(0, 0, 1, 11, "unfinished")
    assert kinds(ONE, away(unheard, down=(Outage(1, 11),))) == set()


# Traces of the simulator, corrupted


@pytest.mark.property
@share(1 / 2)
@given(st.data(), instances(), policies(), st.integers(0, 3))
def test_true_traces_pass_and_paper_ones_do_not(
    data: Any, instance: Instance, policy: Any, seed: int
) -> None:
    what = data.draw(failure_models(len(instance.machines)))
    run = simulate_grid(instance, policy=policy, failure_model=what, seed=seed, exact_numbers=True)
    assert run.check() == ()
    assert run.trace is not None
    for index, one in enumerate(run.trace.runs):
        early = one.freed is not None and one.known is not None and one.freed == one.known
        if early and one.sent < one.known:  # type: ignore[operator]
            paper = changed(run.trace, index, freed=one.sent)
            found = {broken.kind for broken in replace(run, trace=paper).check()}
            begins = {
                outage.begin for outage in run.trace.presumed if outage.machine == one.machine
            }
            assert "left-queue-without-cause" in found or one.sent in begins
    for index, course in enumerate(run.trace.courses):
        if course.returned is not None:
            courses = list(run.trace.courses)
            courses[index] = replace(course, returned=None, reason="lost on the way")
            gone = replace(run, trace=replace(run.trace, courses=tuple(courses)))
            assert "graph-not-returned" in {broken.kind for broken in gone.check()}
            courses[index] = Course(course.graph, reason="nobody wanted it")
            rest = tuple(one for one in run.trace.runs if one.graph != course.graph)
            never = replace(run.trace, courses=tuple(courses), runs=rest)
            assert "graph-not-served" in {b.kind for b in replace(run, trace=never).check()}


@pytest.mark.property
@given(st.data(), instances(), policies(literal=True), st.integers(1, 40))
def test_traces_that_were_stopped_can_have_happened(
    data: Any, instance: Instance, policy: Any, until: int
) -> None:
    what = data.draw(failure_models(len(instance.machines)))
    run = simulate_grid(
        instance, policy=policy, failure_model=what, exact_numbers=True, until=until
    )
    assert run.until == until and run.check() == ()


def test_what_comes_after_the_stop_need_not_have_happened() -> None:
    assert kinds(ONE, Trace((), ()), until=10) == set()
    assert kinds(ONE, Trace((), ()), until=11) == {"graph-record-missing"}
    failures = (Outage(1, 30, 40),)
    assert kinds(ONE, GOOD, until=30, failures=failures) == set()
    assert kinds(ONE, GOOD, until=31, failures=failures) == {"failure-missing"}


def test_a_run_after_another_is_not_in_its_way() -> None:
    assert kinds(TWO, PAIR) == set() == kinds(TWO, PAIR, until=15)
    assert (OVER.start, UNDER.end) == (13, 13)
