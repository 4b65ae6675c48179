"""What cannot have happened: the smallest wrong traces."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.problems.admission import (
    EXECUTED_KINDS,
    BrokenPromise,
    Decision,
    Dropped,
    Executed,
    Factor,
    Failure,
    Instance,
    Scenario,
    Task,
    Trace,
    missed,
    violations_executed,
)
from dlopt.problems.cluster import Cluster
from dlopt.result import Violation

F = Fraction
NOTHING = Scenario()
ONE = Instance(Cluster(1, tau=1, chi=2, theta_cm=3, theta_cp=4), (Task("a", 0, 6, 60),))
TWICE = Scenario((Factor("a", tau=2, chi=F(1, 2)),))
YES, NO = Decision("a", True, 0, promised=False), Decision("a", False, 0)
SURE = Decision("a", True, 0)
CHUNK = Executed("a", 0, 6, 0, 15, 15, 25)  # 3 + 6 * 2, then 4 + 6 * 2 / 2
TWO = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 1, 9), Task("b", 0, 1, 9)))
BOTH = (YES, Decision("b", True, 0, promised=False))
DOWN = Scenario(failures=(Failure(0, 1, 4),))
LOST = Executed("a", 0, 1, F(1, 2), F(3, 2), F(3, 2), F(5, 2), lost=1)
AGAIN = Executed("a", 0, 1, 4, 5, 5, 6)
ALONE = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 9),))
Case = tuple[Instance, Scenario, Trace, tuple[Violation, ...]]


def one(*chunks: Executed, said: Decision = YES) -> Trace:
    return Trace((said,), chunks)


SMALLEST: dict[str, Case] = {
    "unknown-task": (
        ONE,
        TWICE,
        Trace(
            (NO, Decision("b", True, 0)),
            (replace(CHUNK, task="c"),),
            (Dropped("d", 1, 0),),
        ),
        (
            Violation("unknown-task", "task b"),
            Violation("unknown-task", "task c", amount=6),
            Violation("unknown-task", "task d", amount=1),
        ),
    ),
    "unknown-node": (
        ONE,
        TWICE,
        one(CHUNK, replace(CHUNK, node=1)),
        (Violation("unknown-node", "node 1", amount=6),),
    ),
    "undecided": (ONE, TWICE, Trace((), ()), (Violation("undecided", "task a"),)),
    "duplicate-decision": (
        ONE,
        TWICE,
        Trace((NO, NO), ()),
        (Violation("duplicate-decision", "task a", amount=2),),
    ),
    "wrong-decision-time": (
        ONE,
        TWICE,
        Trace((replace(NO, at=1),), ()),
        (Violation("wrong-decision-time", "task a", 1, amount=1),),
    ),
    "promised-task-rejected": (
        replace(ONE, now=1),
        TWICE,
        Trace((NO,), ()),
        (Violation("promised-task-rejected", "task a"),),
    ),
    "rejected-task-served": (
        ONE,
        TWICE,
        Trace((NO,), (CHUNK,), (Dropped("a", 0, 1),)),
        (Violation("rejected-task-served", "task a", amount=2),),
    ),
    "channel-overlap": (
        TWO,
        NOTHING,
        Trace(
            BOTH,
            (
                Executed("a", 0, 1, 0, 1, 1, 2),
                Executed("b", 1, 1, F(1, 3), F(4, 3), F(4, 3), F(7, 3)),
            ),
        ),
        (Violation("channel-overlap", "channel", F(1, 3), 1, F(2, 3)),),
    ),
    "channel-not-ready": (
        replace(ALONE, channel_ready=1),
        NOTHING,
        one(Executed("a", 0, 1, F(1, 2), F(3, 2), F(3, 2), F(5, 2))),
        (Violation("channel-not-ready", "channel", F(1, 2), 1, F(1, 2)),),
    ),
    "node-overlap": (
        TWO,
        NOTHING,
        Trace(BOTH, (Executed("a", 0, 1, 0, 1, 1, 2), Executed("b", 0, 1, 1, 2, 2, 3))),
        (Violation("node-overlap", "node 0", 1, 2, 1),),
    ),
    "node-not-ready": (
        replace(ONE, ready_times=(2,)),
        TWICE,
        one(CHUNK),
        (Violation("node-not-ready", "node 0", 0, 2, 2),),
    ),
    "starts-during-failure": (
        ALONE,
        DOWN,
        one(Executed("a", 0, 1, 2, 3, 3, 4)),
        (Violation("starts-during-failure", "task a on node 0", 2, 4, 2),),
    ),
    "continues-through-failure": (
        ALONE,
        DOWN,
        one(Executed("a", 0, 1, F(1, 2), F(3, 2), F(3, 2), F(5, 2))),
        (Violation("continues-through-failure", "task a on node 0", 1, F(5, 2), F(3, 2)),),
    ),
    "lost-without-failure": (
        ALONE,
        NOTHING,
        one(LOST, AGAIN),
        (Violation("lost-without-failure", "task a on node 0", 1),),
    ),
    "broken-off-without-cause": (
        ALONE,
        NOTHING,
        Trace((YES,), (replace(LOST, lost=None, broken_off=1), AGAIN)),
        (Violation("broken-off-without-cause", "task a on node 0", 1, amount=1),),
    ),
    "broken-without-promise": (
        ALONE,
        DOWN,
        Trace((YES,), (LOST, AGAIN), broken=(BrokenPromise("a", 1, "failure"),)),
        (Violation("broken-without-promise", "task a", 1),),
    ),
    "broken-without-cause": (
        ALONE,
        DOWN,
        Trace((SURE,), (LOST, AGAIN), broken=(BrokenPromise("a", 4, "failure"),)),
        (Violation("broken-without-cause", "task a", 4),),
    ),
    "starts-before-arrival": (
        replace(ALONE, tasks=(Task("a", 1, 1, 9),)),
        NOTHING,
        one(Executed("a", 0, 1, 0, 1, 1, 2), said=replace(YES, at=1)),
        (Violation("starts-before-arrival", "task a on node 0", 0, 1, 1),),
    ),
    "dropped-before-arrival": (
        replace(ALONE, tasks=(Task("a", 1, 1, 9),)),
        NOTHING,
        Trace((replace(YES, at=1),), (), (Dropped("a", 1, F(1, 2)),)),
        (Violation("dropped-before-arrival", "task a", F(1, 2), amount=F(1, 2)),),
    ),
    "computes-before-received": (
        ONE,
        TWICE,
        one(replace(CHUNK, computation_start=14, computation_end=24)),
        (Violation("computes-before-received", "task a on node 0", 14, 15, 1),),
    ),
    "transmission-duration": (
        ONE,
        TWICE,
        one(replace(CHUNK, transmission_end=9)),  # what the estimate says
        (Violation("transmission-duration", "task a on node 0", 0, 9, 6),),
    ),
    "computation-duration": (
        ONE,
        TWICE,
        one(replace(CHUNK, computation_end=31)),  # what the estimate says
        (Violation("computation-duration", "task a on node 0", 15, 31, 6),),
    ),
    "negative-load": (
        ALONE,
        NOTHING,
        Trace((YES,), (Executed("a", 0, 2, 0, 2, 2, 4),), (Dropped("a", -1, 5),)),
        (Violation("negative-load", "task a", 5, amount=1),),
    ),
    "load-not-conserved": (
        ALONE,
        DOWN,
        one(LOST),
        (Violation("load-not-conserved", "task a", amount=1),),
    ),
    "deadline": (
        replace(ONE, tasks=(Task("a", 0, 6, 24),)),
        TWICE,
        one(CHUNK, said=replace(YES, promised=True)),
        (Violation("deadline", "task a", 24, 25, 1),),
    ),
}


WITHOUT_TOLERANCE = [kind for kind in EXECUTED_KINDS if kind != "earlier-than-possible"]


@pytest.mark.parametrize("kind", WITHOUT_TOLERANCE)
def test_the_smallest_trace_of_each_kind(kind: str) -> None:
    instance, scenario, trace, expected = SMALLEST[kind]
    found = violations_executed(instance, scenario, trace)
    assert found == expected
    assert {violation.kind for violation in found} == {kind}


def test_every_kind_has_a_smallest_trace() -> None:
    assert set(SMALLEST) == set(WITHOUT_TOLERANCE)
    assert len(set(EXECUTED_KINDS)) == len(EXECUTED_KINDS)


def test_smallest_valid_traces() -> None:
    assert violations_executed(ONE, TWICE, one(CHUNK)) == ()
    assert violations_executed(ONE, TWICE, Trace((NO,), ())) == ()
    assert violations_executed(ALONE, DOWN, one(LOST, AGAIN)) == ()
    given_up = Trace((YES,), (LOST,), (Dropped("a", 1, 1),))
    assert violations_executed(ALONE, DOWN, given_up) == ()
    before = replace(ALONE, now=2)
    late = Executed("a", 0, 1, 2, 3, 3, 4)
    said = Decision("a", True, 1)
    assert violations_executed(before, NOTHING, one(late, said=said)) == ()


def test_what_ends_as_its_node_fails_is_done_and_what_begins_as_it_is_back_runs() -> None:
    until = Scenario(failures=(Failure(0, 2, 3),))
    for start in (0, 3):
        chunk = Executed("a", 0, 1, start, start + 1, start + 1, start + 2)
        assert violations_executed(ALONE, until, one(chunk)) == ()


def test_a_channel_is_free_of_what_is_lost() -> None:
    lost = replace(LOST, transmission_end=F(3, 2))
    other = Executed("b", 1, 1, 1, 2, 2, 3)
    assert violations_executed(TWO, DOWN, Trace(BOTH, (lost, other, AGAIN))) == ()


def test_a_chunk_that_outlives_the_loss_it_tells_of_is_told() -> None:
    late = replace(LOST, lost=2)
    kinds = [v.kind for v in violations_executed(ALONE, DOWN, one(late, AGAIN))]
    assert kinds == ["continues-through-failure", "lost-without-failure"]
    after = replace(LOST, lost=F(1, 2), transmission_start=F(1, 2))
    kinds = [v.kind for v in violations_executed(ALONE, DOWN, one(after, AGAIN))]
    assert kinds == ["lost-without-failure"]


def test_a_chunk_of_negative_load() -> None:
    pair = (Executed("a", 0, 2, 0, 2, 2, 4), Executed("a", 1, -1, 4, 3, 4, 3))
    found = violations_executed(TWO, NOTHING, Trace((YES, replace(NO, task="b")), pair))
    assert found == (Violation("negative-load", "task a on node 1", 4, 3, 1),)


def test_a_node_that_never_comes_back() -> None:
    forever = Scenario(failures=(Failure(0, 1),))
    found = violations_executed(ALONE, forever, one(LOST, AGAIN))
    assert found == (Violation("starts-during-failure", "task a on node 0", 4, 6, 2),)


def test_misses_are_counted_and_only_promised_ones_are_violations() -> None:
    short = replace(ONE, tasks=(Task("a", 0, 6, 24),))
    assert missed(short, one(CHUNK)) == {"a"}
    assert missed(short, one(CHUNK), tolerance=0.05) == frozenset()
    assert violations_executed(short, TWICE, one(CHUNK)) == ()
    assert missed(ONE, one(CHUNK)) == frozenset()
    gone = Trace((YES,), (LOST,), (Dropped("a", 1, 1),))
    assert missed(ALONE, gone) == {"a"}
    promised = replace(gone, decisions=(replace(YES, promised=True),))
    found = violations_executed(ALONE, DOWN, promised)
    assert found == (Violation("deadline", "task a", 9, 9, 0),)
    assert missed(ALONE, Trace((NO, Decision("x", True, 0)), (replace(CHUNK, task="x"),))) == set()


def test_a_scenario_must_speak_of_the_instance() -> None:
    other = Scenario((Factor("x"),), (Failure(3, 1),))
    with pytest.raises(InvalidInstanceError) as caught:
        violations_executed(ALONE, other, one(AGAIN))
    assert str(caught.value).splitlines() == [
        "factors[0].task: must be a task of the instance, got 'x'",
        "failures[0].node: must be one of the nodes 0 to 0, got 3",
    ]


@pytest.mark.parametrize(("off", "good"), [(F(1, 10**11), True), (F(1, 10**7), False)])
def test_a_tolerance_forgives_what_it_says(off: Fraction, good: bool) -> None:
    """Every instant of a chunk is off, and all its load."""
    chunk = Executed("a", 0, 1 - off, 4 - off, 5, 5 - off, 6 + off)
    found = violations_executed(ALONE, DOWN, one(LOST, chunk), 1e-9)
    assert (found == ()) is good
    assert violations_executed(ALONE, DOWN, one(LOST, chunk)) != ()


@pytest.mark.parametrize(("off", "good"), [(F(1, 10**11), True), (F(1, 10**7), False)])
def test_what_overlaps_by_less_than_the_tolerance_does_not(off: Fraction, good: bool) -> None:
    pair = (
        Executed("a", 0, 1, 0, 1, 1, 2),
        Executed("b", 0, 1, 2 - off, 3 - off, 3 - off, 4 - off),
    )
    found = violations_executed(TWO, NOTHING, Trace(BOTH, pair), 1e-9)
    assert (found == ()) is good


def test_what_is_done_as_its_node_fails_is_not_lost_later() -> None:
    until = Scenario(failures=(Failure(0, 2, 3),))
    chunk = Executed("a", 0, 1, 0, 1, 1, 2, lost=F(5, 2))
    kinds = [v.kind for v in violations_executed(ALONE, until, one(chunk, AGAIN))]
    assert kinds == ["lost-without-failure"]


def test_a_promise_made_before_now_is_not_taken_back() -> None:
    """Task a is promised: it is due at 4, and ends at 12."""
    instance = Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 4),), now=1)
    late = Executed("a", 0, 1, 10, 11, 11, 12)
    for said, kinds in (
        (Decision("a", True, 0, promised=False), ["promised-task-rejected"]),
        (Decision("a", True, 0), ["deadline"]),
        (Decision("a", False, 0), ["promised-task-rejected", "rejected-task-served"]),
    ):
        found = violations_executed(instance, NOTHING, Trace((said,), (late,)))
        assert [violation.kind for violation in found] == kinds


def test_what_is_done_as_its_node_fails_cannot_be_lost_by_that() -> None:
    """Else it could be done again, or be given up, at will."""
    until = Scenario(failures=(Failure(0, 2, 3),))
    done = Executed("a", 0, 1, 0, 1, 1, 2)
    again = Executed("a", 0, 1, 3, 4, 4, 5)
    assert violations_executed(ALONE, until, one(done)) == ()
    found = violations_executed(ALONE, until, one(replace(done, lost=2), again))
    assert found == (Violation("lost-without-failure", "task a on node 0", 2),)
    begun = Executed("a", 0, 1, 2, 3, 3, 4, lost=2)
    assert violations_executed(ALONE, until, one(begun, again)) == ()
    before = Executed("a", 0, 1, F(1, 4), F(5, 4), F(5, 4), F(9, 4), lost=2)
    assert violations_executed(ALONE, until, one(before, again)) == ()
    late = Scenario(failures=(Failure(0, 3, 4),))
    found = violations_executed(ALONE, late, one(replace(done, lost=3), replace(again, node=0)))
    assert "lost-without-failure" in {violation.kind for violation in found}


def test_a_rejected_task_takes_no_tolerance_away() -> None:
    tasks = (*TWO.tasks, Task("c", 0, 1, 0))
    off = F(1, 10**10)
    pair = (
        Executed("a", 0, 1, 0, 1, 1, 2),
        Executed("b", 0, 1, 2 - off, 3 - off, 3 - off, 4 - off),
    )
    three = replace(TWO, tasks=tasks)
    said = (*BOTH, replace(NO, task="c"))
    assert violations_executed(three, NOTHING, Trace(said, pair), 1e-9) == ()
    none = Trace(tuple(replace(NO, task=task.id) for task in tasks), ())
    assert violations_executed(three, NOTHING, none, 1e-9) == ()


def test_a_promise_in_floats_may_be_off_by_units_in_the_last_place() -> None:
    """At 1.7e9 these are more than 1e-9 of a second; exact numbers have none."""
    instance = Instance(Cluster(1, 0, 1), (Task("a", 1.7e9, 1.0, 1 - 1e-5),))
    chunk = Executed("a", 0, 1.0, 1.7e9, 1.7e9, 1.7e9, 1.7e9 + 1)
    trace = Trace((Decision("a", True, 1.7e9),), (chunk,))
    assert violations_executed(instance, NOTHING, trace, 1e-9) == ()
    assert missed(instance, trace, 1e-9) == frozenset()
    assert missed(instance, trace) == {"a"}
    later = replace(trace, chunks=(replace(chunk, computation_end=1.7e9 + 1 + 2e-5),))
    assert missed(instance, later, 1e-9) == {"a"}
