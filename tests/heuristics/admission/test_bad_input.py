"""What an engine is not made for, and what is merely unusual."""

from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.resubmitted import ACCEPTED_BEFORE
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import PROMISING, SOUND

F = Fraction
TWO = Cluster(2, tau=1, chi=1)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"cluster": 5}, NotApplicableError, "a cluster is needed, not a int"),
        ({"cluster": Cluster(2, (1, 2), 1)}, NotApplicableError, "need identical nodes"),
        ({"cluster": Cluster(2, 1, (1, 2))}, NotApplicableError, "need identical nodes"),
        ({"algorithm": "lifo"}, NotApplicableError, "unknown algorithm 'lifo'; names are"),
        ({"algorithm": 5}, NotApplicableError, "an algorithm's name is needed, not a int"),
        ({"algorithm": None}, NotApplicableError, "name is needed, not a NoneType"),
        ({"ready_times": (0,)}, InvalidInstanceError, "ready_times: .* 2 nodes, got 1"),
        ({"ready_times": (0, 0, 0)}, InvalidInstanceError, "ready_times: .* 2 nodes, got 3"),
        ({"ready_times": (0, float("nan"))}, InvalidInstanceError, r"ready_times\[1\]: must be"),
        ({"ready_times": (0, -1)}, InvalidInstanceError, r"ready_times\[1\]: must not be neg"),
        ({"ready_times": 7}, InvalidInstanceError, "ready_times: must be a list"),
        ({"channel_ready": float("inf")}, InvalidInstanceError, "channel_ready: must be a finite"),
        ({"now": float("nan")}, InvalidInstanceError, "now: must be a finite number"),
        ({"now": "soon"}, InvalidInstanceError, "now: must be a finite number"),
        ({"now": -1}, InvalidInstanceError, "now: must not be negative"),
    ],
)
def test_engines_that_cannot_be(arguments, error, text):
    with pytest.raises(error, match=text):
        Admission(**{"cluster": TWO, **arguments})


def test_costs_that_are_listed_but_equal_are_those_of_identical_nodes():
    head = Admission(Cluster(2, (1, 1), (2, 2)))
    assert head.submit(Task("a", 0, 1, 3)).accepted


def test_an_algorithm_may_be_given_as_its_choices():
    head = Admission(TWO, Algorithm("edf", "opr", "an", control=False))
    assert head.algorithm.name == "edf-anna"
    assert not head.submit(Task("a", 0, 1, 9)).promised


def test_one_float_makes_all_numbers_floats():
    for engine in (
        Admission(Cluster(2, 1.0, 1)),
        Admission(TWO, now=0.0),
        Admission(TWO, ready_times=(0, 0.0)),
        Admission(TWO, channel_ready=0.0),
        Admission(TWO, exact_numbers=False),
    ):
        engine.submit(Task("a", F(1, 3), 1, 3))
        assert type(engine.now) is float
        assert {type(chunk.load) for chunk in engine.plan().chunks} == {float}
    engine = Admission(Cluster(2, 1.0, 1), exact_numbers=True)
    engine.submit(Task("a", 0.1, 0.3, 3))
    assert engine.now == F(1, 10)
    assert {type(chunk.load) for chunk in engine.plan().chunks} == {F}


def state(head):
    return head.plan(), head.waiting, head.now, head.decisions, head.placements()


@pytest.mark.parametrize("name", SOUND)
def test_what_is_refused_changes_nothing(name):
    head = Admission(TWO, name)
    head.submit(Task("a", 1, 1, 99))
    head.submit(Task("b", 2, 1, 99))
    before = state(head)
    for task, path in (
        (Task("c", 1, 1, 99), "arrival"),
        (Task("c", F(199, 100), 1, 99), "arrival"),
        (Task("a", 3, 1, 99), "id"),
        (Task("b", 2, 5, 9), "id"),
        (Task("c", 2, 1, 99, remaining=1), "remaining"),
        (Task("c", 2, 1, 99, remaining=0), "remaining"),
    ):
        with pytest.raises(InvalidInstanceError) as caught:
            head.submit(task)
        assert [fault.path for fault in caught.value.faults] == [path]
        assert state(head) == before
    for wrong, text in ((None, "not a NoneType"), ("a", "not a str"), (("c", 2, 1, 9), "a tuple")):
        with pytest.raises(NotApplicableError, match=f"a task is needed, .*{text}"):
            head.submit(wrong)
        assert state(head) == before
    for now in (1, 1.5, float("nan"), "now", None, float("inf"), 10**400, -3):
        with pytest.raises(InvalidInstanceError, match="now: must "):
            head.advance(now)
        assert state(head) == before
    assert head.submit(Task("c", 2, 1, 99)).accepted


def test_all_that_is_wrong_is_told():
    head = Admission(TWO)
    head.submit(Task("a", F(10, 3), 1, 9))
    with pytest.raises(InvalidInstanceError) as caught:
        head.submit(Task("a", 3, 1, 9, remaining=F(1, 2)))
    assert str(caught.value).splitlines() == [
        "arrival: must not lie before now, 10/3, got 3",
        f"id: {ACCEPTED_BEFORE}, got 'a'",
        "remaining: is for tasks of a state only, got 1/2",
    ]


def test_after_a_rejection_an_earlier_task_may_still_come():
    """The clock stands where it stood; so the plan is what it was."""
    head = Admission(TWO)
    assert not head.submit(Task("a", 5, 1, 1)).accepted
    assert head.now == 0
    assert head.submit(Task("b", 3, 1, 2)).accepted
    assert [decision.at for decision in head.decisions] == [5, 3]


def test_time_may_stand_still():
    head = Admission(TWO)
    head.submit(Task("a", 1, 1, 9))
    head.advance(1)
    assert head.waiting == ("a",)
    head.advance(F(1000001, 1000000))
    assert head.waiting == ()
    head.advance("5/4")
    assert head.now == F(5, 4)


@pytest.mark.parametrize("name", PROMISING)
@pytest.mark.parametrize("arrival", [0, 7])
def test_a_deadline_at_the_arrival(name, arrival):
    head = Admission(TWO, name)
    decision = head.submit(Task("a", arrival, 1, 0))
    assert not decision.accepted
    assert decision.missed == "a"
    assert "task a would miss its deadline" in decision.reason
    assert decision.by == (1 if decision.of == "load" else pytest.approx(float(decision.by)))
    assert head.plan().chunks == ()
    assert head.now == 0


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("number", [F, float])
def test_tiny_and_huge_loads_in_one_queue(name, number):
    cluster = Cluster(3, number(1), number(2))
    tasks = tuple(
        Task(
            f"t{index}",
            number(10),
            number(F(10) ** (12 if index % 2 else -12)),
            number(10**14 + index),
        )
        for index in range(8)
    )
    head = Admission(cluster, name)
    for task in tasks:
        assert head.submit(task).accepted
    tolerance = 1e-9 if number is float else 0
    assert violations(Instance(cluster, tasks), head.plan(), tolerance) == ()
    assert min(chunk.load for chunk in head.plan().chunks) >= 0


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fifo-epr-mn"])
def test_thousands_of_arrivals_at_one_instant(name):
    """Each takes the channel for 1, and all nodes compute the last one within 1/2."""
    head = Admission(Cluster(64, 1.0, 1.0), name)
    for index in range(3000):
        head.submit(Task(f"t{index}", 0, 1, 2000.5))
    accepted = [decision.accepted for decision in head.decisions]
    assert accepted == [True] * sum(accepted) + [False] * (3000 - sum(accepted))
    assert sum(accepted) == 2000
    assert head.waiting == tuple(f"t{index}" for index in range(sum(accepted)))
    assert head.now == 0


def test_thousands_of_tasks_that_promise_nothing():
    head = Admission(Cluster(4, 1, 1), "edf-anna")
    for index in range(3000):
        head.submit(Task(f"t{index}", 0, 1, 1 + index))
    assert len(head.waiting) == 3000
    assert not any(decision.promised for decision in head.decisions)


def test_a_task_needs_a_name():
    head = Admission(Cluster(1, tau=1, chi=1))
    with pytest.raises(InvalidInstanceError, match="id: must not be empty"):
        head.submit(Task("", 0, 1, 9))
    assert head.decisions == ()
