"""What a book does when it hears that a chunk ends earlier or later than planned."""

from __future__ import annotations

import json
import random
from fractions import Fraction

import pytest

from dlopt import Admission, check
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.random_verbs import RandomCaller, new_book

ONE = Cluster(1, tau=1, chi=1)


def accepted(head: Admission, *tasks: Task) -> Admission:
    for task in tasks:
        assert head.submit(task).accepted
    return head


def ends(head: Admission) -> dict[str, Fraction]:
    return {chunk.task: chunk.computation_end for chunk in head.plan().chunks}


def test_a_chunk_that_ends_early_frees_its_node_for_what_follows() -> None:
    head = accepted(Admission(ONE), Task("a", 0, 3, 6), Task("b", 0, 1, 9))
    head.advance(4)
    assert head.progress("a", 0, received=3, computed=4).broken == ()
    assert ends(head) == {"a": 4, "b": 6}


def test_a_transmission_that_ends_early_frees_the_channel() -> None:
    head = accepted(
        Admission(Cluster(2, tau=1, chi=1), "edf-opr-mn"), Task("a", 0, 3, 6), Task("b", 0, 2, 9)
    )
    assert [chunk.transmission_start for chunk in head.upcoming_chunks()] == [0, 3]
    head.advance(2)
    head.progress("a", 0, received=2, computed=5)
    assert [chunk.transmission_start for chunk in head.upcoming_chunks()] == [2]
    assert head.upcoming_chunks(until=2) == ()


def test_a_late_chunk_delays_what_follows_on_its_node() -> None:
    head = accepted(Admission(ONE), Task("a", 0, 3, 8), Task("b", 0, 1, 10))
    head.advance(6)
    assert head.progress("a", 0, received=3, computed=8).broken == ()
    assert ends(head) == {"a": 8, "b": 10}


def test_a_late_chunk_breaks_the_promises_that_it_leaves_no_time_for() -> None:
    head = accepted(Admission(ONE), Task("a", 0, 3, 6), Task("b", 0, 1, 9), Task("c", 0, 1, 13))
    head.advance(6)
    done = head.progress("a", 0, received=3, computed=9)
    assert (done.broken, done.least) == (("a", "b"), True)
    # What is only late is completed; what cannot be done any more is given up.
    assert ends(head) == {"a": 9, "c": 11}


def tasks_of(head: Admission) -> tuple[Task, ...]:
    state = head.state()
    assert state is not None
    return state.instance.tasks


def tight(head: Admission, identity: str, load: float) -> Admission:
    """Let a book accept a task with the earliest deadline."""
    task = Task(identity, head.now, load, 99)
    due = head.earliest_deadline(task)
    assert due is not None
    return accepted(head, Task(identity, head.now, load, due))


@pytest.mark.parametrize("verb", ["progress", "finished"])
def test_a_late_end_is_named_in_floats_too(verb: str) -> None:
    """Some of the planned ends are after the deadlines by rounding."""
    rounded = 0
    for load in (0.1, 0.3, 0.7, 1.1, 1.3):
        head = tight(Admission(Cluster(2, tau=1.0, chi=2.1), "edf-opr-an"), "a", load)
        first, last = head.plan().chunks
        rounded += last.computation_end > tasks_of(head)[0].deadline
        head.advance(last.transmission_end)
        assert first.computation_end > head.now
        if verb == "finished":
            done = head.finished("a", last.computation_end + 1)
        else:
            sent, late = last.transmission_end, last.computation_end + 1
            done = head.progress("a", last.node, received=sent, computed=late)
        assert done.broken == ("a",)
    assert rounded


def test_what_is_in_time_but_for_rounding_is_not_broken_by_a_delay_of_others() -> None:
    rounded = 0
    for load in (2.9, 3.0, 3.2, 3.7, 3.8):
        head = Admission(Cluster(4, tau=1.0, chi=5.1), "edf-opr-mn")
        head = tight(accepted(head, Task("late", 0.0, 1.0, 6.6)), "tight", load)
        late, first, *rest = accepted(head, Task("later", 0.0, 0.5, 500.0)).plan().chunks
        due = next(task.deadline for task in tasks_of(head) if task.id == "tight")
        rounded += any(due < one.computation_end for one in rest if one.task == "tight")
        head.advance((first.transmission_start + first.transmission_end) / 2)
        sent, end = late.transmission_end, late.computation_end + 30
        assert head.progress("late", late.node, received=sent, computed=end).broken == ("late",)
    assert rounded


def test_committed_chunks_are_sent_later_with_the_same_loads() -> None:
    head = accepted(Admission(Cluster(3, tau=1, chi=1), "edf-opr-an"), Task("a", 0, 7, 30))
    before = head.plan().chunks
    end = before[0].transmission_end
    head.advance(end)
    head.progress("a", before[0].node, received=end + 1, computed=before[0].computation_end + 1)
    after = sorted(head.plan().chunks, key=lambda chunk: chunk.transmission_start)
    assert [chunk.load for chunk in after] == [chunk.load for chunk in before]
    assert after[1].transmission_start == before[1].transmission_start + 1
    state = head.state()
    assert state is not None and check(state.instance, state.plan) == ()


def test_committed_chunks_are_planned_again_where_that_keeps_a_promise() -> None:
    head = accepted(Admission(Cluster(3, tau=1, chi=1)), Task("a", 0, 3, Fraction(21, 5)))
    assert [(chunk.node, chunk.load) for chunk in head.plan().chunks] == [(0, 2), (1, 1)]
    head.advance(2)
    # Sent half a unit of time later, the second chunk would end at 4.5.
    late = head.progress("a", 0, received=Fraction(5, 2), computed=Fraction(21, 5))
    assert late.broken == ()
    assert {chunk.node for chunk in head.plan().chunks} == {0, 1, 2}


def test_a_report_that_is_as_planned_changes_nothing() -> None:
    head = accepted(Admission(ONE), Task("a", 0, 3, 6), Task("b", 0, 1, 9))
    head.advance(2)
    before = head.plan()
    assert head.progress("a", 0, received=3, computed=6).broken == ()
    assert set(head.plan().chunks) == set(before.chunks)


def test_a_node_that_is_late_in_nobody_s_way_gets_nothing_before_it_is_free() -> None:
    """Planned again, EDF-OPR-MN would miss t1; the plan as it is keeps it."""
    head = accepted(
        Admission(Cluster(3, tau=1, chi=2), "edf-opr-mn"),
        Task("t0", 0, 4, 10),
        Task("t1", 0, 5, 16),
    )
    head.advance(6)
    before = head.upcoming_chunks()
    late = Fraction(46, 5)
    assert head.progress("t0", 0, received=Fraction(12, 5), computed=late).broken == ()
    assert head.upcoming_chunks() == before
    assert Admission.restore(head.snapshot()).plan() == head.plan()
    half = Fraction(1, 2)
    assert not head.submit(Task("soon", arrival=6, load=half, deadline=4)).accepted
    assert head.submit(Task("n", arrival=6, load=half, deadline=10)).accepted
    state = head.state()
    assert state is not None
    assert not check(state.instance, state.plan)


def report_progress(head: Admission, draw: random.Random, number: type) -> bool:
    """Let a chunk that is in progress end at another instant; return whether there is one."""
    running = [
        chunk
        for chunk in head.plan().chunks
        if chunk.transmission_start < head.now <= chunk.computation_end
    ]
    if not running:
        return False
    chunk = draw.choice(running)
    received = chunk.transmission_end
    if received >= head.now:
        received = head.now + number(draw.randint(0, 4)) / 2
    computed = max(received, head.now, chunk.computation_end + number(draw.randint(-3, 4)) / 2)
    head.progress(chunk.task, chunk.node, received=received, computed=computed)
    return True


@pytest.mark.parametrize("number", [Fraction, float])
@pytest.mark.parametrize("name", ["edf-opr-mn", "fifo-opr-mn", "mcdf", "fast-mwf-iit", "edf-iit-2"])
def test_every_state_is_sound_and_can_be_restored(name: str, number: type) -> None:
    reports = 0
    for seed in range(4):
        head, draw = new_book(seed, name, number), random.Random(seed)
        caller = RandomCaller(seed, number)
        for _ in range(40):
            caller.calls(head, 1)
            if draw.random() < 0.3 and report_progress(head, draw, number):
                reports += 1
            state = head.state()
            assert state is None or not check(state.instance, state.plan)
            data = json.loads(json.dumps(head.snapshot()))
            assert Admission.restore(data).snapshot() == data
    assert reports > 5


@pytest.mark.parametrize(
    ("now", "identity", "node", "received", "computed", "fault"),
    [
        (4, "b", 0, 3, 6, NotApplicableError),  # it has not begun
        (4, "a", 1, 3, 6, NotApplicableError),  # not there
        (4, "nobody", 0, 3, 6, NotApplicableError),
        (7, "a", 0, 3, 8, NotApplicableError),  # over
        (4, "a", 0, 2, 6, InvalidInstanceError),  # it was received at 3
        (4, "a", 0, 3, 3, InvalidInstanceError),  # in the past
        (2, "a", 0, 5, 4, InvalidInstanceError),  # before it is received
        (2, "a", 0, 1, 6, InvalidInstanceError),
        (2, "a", 0, float("nan"), 6, InvalidInstanceError),
        (2, "a", 0, 3, float("inf"), InvalidInstanceError),
    ],
)
def test_an_impossible_report_changes_nothing(
    now: int, identity: str, node: int, received: float, computed: float, fault: type[Exception]
) -> None:
    head = accepted(Admission(ONE), Task("a", 0, 3, 6), Task("b", 0, 1, 9))
    head.advance(now)
    before, decisions = set(head.plan().chunks), head.decisions
    with pytest.raises(fault):
        head.progress(identity, node, received=received, computed=computed)
    assert (set(head.plan().chunks), head.decisions, head.now) == (before, decisions, now)


def test_an_algorithm_that_breaks_promises_hears_of_nothing() -> None:
    head = accepted(Admission(ONE, "edf-opr-mn:literal"), Task("a", 0, 3, 6))
    head.advance(1)
    with pytest.raises(NotApplicableError, match="does not keep what it promises"):
        head.progress("a", 0, received=3, computed=5)


def test_a_late_task_without_a_promise_breaks_none() -> None:
    for verb in ("progress", "finished"):
        head = accepted(Admission(ONE, "edf-anna"), Task("a", 0, 3, 6), Task("b", 0, 1, 7))
        head.advance(5)
        if verb == "finished":
            assert head.finished("a", 9).broken == ()
        else:
            assert head.progress("a", 0, received=3, computed=9).broken == ()
        assert ends(head) == {"a": 9, "b": 11}


def test_a_task_is_not_divided_into_ever_smaller_chunks() -> None:
    """Every transmission takes twice as long; planned again each time, it would never end."""
    head = accepted(Admission(Cluster(2, tau=1, chi=1), "fifo-opr-an"), Task("a", 0, 9, 22))
    for _ in range(50):
        upcoming = head.upcoming_chunks()
        if not upcoming:
            break
        chunk = upcoming[0]
        late = chunk.transmission_end - chunk.transmission_start
        head.advance(chunk.transmission_end)
        head.progress(
            "a",
            chunk.node,
            received=chunk.transmission_end + late,
            computed=chunk.computation_end + late,
        )
    assert head.upcoming_chunks() == ()


def test_a_task_that_is_late_already_is_not_named_again_for_another_chunk() -> None:
    head = accepted(Admission(Cluster(2, tau=1, chi=4), "edf-opr-an"), Task("a", 0, 4, 15))
    head.advance(5)
    first, second = head.plan().chunks
    assert head.progress("a", 0, received=first.transmission_end, computed=20).broken == ("a",)
    done = head.progress("a", 1, received=second.transmission_end, computed=18)
    assert done.broken == ()
