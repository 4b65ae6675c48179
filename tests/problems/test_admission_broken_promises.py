"""Broken promises in executed traces: which of them the checker excuses, and when."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.problems.admission import (
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
    violations_executed,
)
from dlopt.problems.admission.trace import BreakCause
from dlopt.problems.cluster import Cluster

F = Fraction
ALONE = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 1, 9),))
SURE = Decision("a", True, 0)


def test_no_scheduler_keeps_a_promise_if_its_only_node_fails() -> None:
    """The smallest case in which a miss is nobody's fault; the trace must say so, and in time."""
    short = replace(ALONE, tasks=(Task("a", 0, 1, 2),))
    forever = Scenario(failures=(Failure(0, 1),))
    lost = Executed("a", 0, 1, 0, 1, 1, 2, lost=1)
    silent = Trace((SURE,), (lost,), (Dropped("a", 1, 1),))
    assert [v.kind for v in violations_executed(short, forever, silent)] == ["deadline"]
    said = replace(silent, broken=(BrokenPromise("a", 1, "failure"),))
    assert violations_executed(short, forever, said) == ()
    overrun = replace(silent, broken=(BrokenPromise("a", 1, "overrun"),))
    kinds = [v.kind for v in violations_executed(short, forever, overrun)]
    assert kinds == ["broken-without-cause"]


def test_a_promise_that_is_broken_after_its_deadline_was_missed() -> None:
    short = replace(ALONE, tasks=(Task("a", 0, 1, 2), Task("b", 0, 1, 9)))
    down = Scenario(failures=(Failure(0, 8, 9),))
    said = (SURE, Decision("b", True, 0))
    chunks = (Executed("a", 0, 1, 9, 10, 10, 11), Executed("b", 0, 1, 4, 5, 5, 6))
    trace = Trace(said, chunks, broken=(BrokenPromise("a", 8, "failure"),))
    assert [v.kind for v in violations_executed(short, down, trace)] == ["deadline"]


@pytest.mark.parametrize(
    ("cluster", "chunk", "scenario", "broken"),
    [
        pytest.param(
            Cluster(1, tau=1, chi=1),
            Executed("a", 0, 1, 15, 16, 16, 17),
            Scenario(failures=(Failure(0, 2, 3),)),
            BrokenPromise("a", 10, "failure"),
            id="the node was repaired before the beginning",
        ),
        pytest.param(
            Cluster(1, tau=0, chi=1),
            Executed("a", 0, 1, 11, 11, 11, 12),
            Scenario((Factor("a", tau=2),)),
            BrokenPromise("a", 11, "overrun"),
            id="a transmission that takes no time does not take longer",
        ),
        pytest.param(
            Cluster(2, tau=0, chi=1),
            Executed("a", 0, 1, 11, 11, 11, 12),
            Scenario(failures=(Failure(1, F(23, 2)),)),
            BrokenPromise("a", F(23, 2), "failure"),
            id="another node fails after all was sent",
        ),
    ],
)
def test_what_cannot_delay_a_task_is_no_cause(
    cluster: Cluster, chunk: Executed, scenario: Scenario, broken: BrokenPromise
) -> None:
    instance = Instance(cluster, (Task("a", 0, 1, 12),), now=10)
    trace = Trace((SURE,), (chunk,), broken=(broken,))
    assert [v.kind for v in violations_executed(instance, scenario, trace)] == [
        "broken-without-cause"
    ]


SLOW = Scenario((Factor("a", chi=2),))


@pytest.mark.parametrize(
    ("at", "cause", "expected"),
    [
        (2, "overrun", []),
        (1, "overrun", ["broken-without-cause"]),
        (3, "overrun", ["broken-without-cause", "deadline"]),
        (2, "failure", ["broken-without-cause"]),
    ],
)
def test_an_overrun_is_known_when_the_computation_should_have_ended(
    at: int, cause: BreakCause, expected: list[str]
) -> None:
    short = replace(ALONE, tasks=(Task("a", 0, 1, 2),))
    late = Executed("a", 0, 1, 0, 1, 1, 3)
    trace = Trace((SURE,), (late,), broken=(BrokenPromise("a", at, cause),))
    assert [v.kind for v in violations_executed(short, SLOW, trace)] == expected
    twice = replace(trace, broken=trace.broken * 2)
    assert "broken-without-promise" in {v.kind for v in violations_executed(short, SLOW, twice)}


def test_what_is_broken_off_frees_node_and_channel() -> None:
    two = replace(ALONE, tasks=(Task("a", 0, 4, 8), Task("b", 0, 1, 9)))
    said = (SURE, Decision("b", True, 0))
    cut = Executed("a", 0, 4, 0, 4, 4, 12, broken_off=4)
    after = Executed("b", 0, 1, 4, 5, 5, 6)
    slow = Scenario((Factor("a", chi=2), Factor("b", chi=1)), (Failure(0, 4, 4 + F(1, 2)),))
    trace = Trace(said, (cut, after), (Dropped("a", 4, 4),), (BrokenPromise("a", 4, "failure"),))
    kinds = [v.kind for v in violations_executed(two, slow, trace)]
    assert kinds == ["starts-during-failure"]  # "b" starts while the node is down
    later = replace(trace, chunks=(cut, Executed("b", 0, 1, 5, 6, 6, 7)))
    for tolerance in (0, 1e-9):
        assert violations_executed(two, slow, later, tolerance) == ()
    outside = replace(later, chunks=(replace(cut, broken_off=13), later.chunks[1]))
    assert "broken-off-without-cause" in {v.kind for v in violations_executed(two, slow, outside)}
