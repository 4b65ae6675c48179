"""What an engine is not made for, and what is merely unusual."""

from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task, violations

F = Fraction
TWO = Cluster(2, tau=1, chi=1)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"cluster": 5}, NotApplicableError, "a cluster is needed, not a int"),
        ({"cluster": Cluster(2, (1, 2), 1)}, NotApplicableError, "do not apply: the nodes differ"),
        ({"cluster": Cluster(2, 1, (1, 2))}, NotApplicableError, "do not apply: the nodes differ"),
        ({"cluster": Cluster(2, 1, 1, 1)}, NotApplicableError, "there are set-up costs"),
        ({"cluster": Cluster(2, 1, 1, 0, 1)}, NotApplicableError, "there are set-up costs"),
        ({"algorithm": "edf-iit-2"}, NotApplicableError, "unknown algorithm 'edf-iit-2' .known: m"),
        ({"algorithm": "multi-stage:literal-F10"}, NotApplicableError, "unknown algorithm"),
        ({"algorithm": "multi-stage:F1"}, NotApplicableError, "unknown algorithm"),
        ({"algorithm": None}, NotApplicableError, "name is needed, not a NoneType"),
        ({"ready_times": (0,)}, InvalidInstanceError, "ready_times: .* 2 nodes, got 1"),
        ({"ready_times": (0, float("nan"))}, InvalidInstanceError, r"ready_times\[1\]: must be"),
        ({"ready_times": (0, -1)}, InvalidInstanceError, r"ready_times\[1\]: must not be neg"),
        ({"channel_ready": float("inf")}, InvalidInstanceError, "channel_ready: must be a finite"),
        ({"now": "soon"}, InvalidInstanceError, "now: must be"),
    ],
)
def test_engines_that_cannot_be(arguments, error, text):
    with pytest.raises(error, match=text):
        MultiStage(**{"cluster": TWO, **arguments})


def state(head):
    return head.plan(), head.waiting, head.now, head.decisions, head.grants


@pytest.mark.parametrize("name", ["multi-stage", "multi-stage:literal", "multi-stage:literal-M3"])
def test_what_is_wrong_changes_nothing(name):
    head = MultiStage(TWO, name)
    assert head.submit(Task("a", 1, 1, 99)).accepted
    assert head.reserve(Reservation("r", 2, 9, 12, io_ratio=0)).accepted
    before = state(head)
    for call, one, paths in (
        (head.submit, Task("c", 1, 1, 99), ["arrival"]),
        (head.submit, Task("a", 3, 1, 99), ["id"]),
        (head.submit, Task("", 3, 1, 99), ["id"]),
        (head.submit, Task("c", 3, 1, 99, remaining=1), ["remaining"]),
        (head.submit, Task("a", 1, 1, 99, remaining=1), ["arrival", "id", "remaining"]),
        (head.reserve, Reservation("s", 1, 9, 12), ["arrival"]),
        (head.reserve, Reservation("r", 3, 9, 12), ["id"]),
        (head.reserve, Reservation("", 3, 9, 12), ["id"]),
        (head.reserve, Reservation("s", 3, 9, 12, nodes=(2, 0, 7)), ["nodes", "nodes"]),
        (head.reserve, Reservation("r", 1, 9, 12, nodes=(2,)), ["arrival", "id", "nodes"]),
    ):
        with pytest.raises(InvalidInstanceError) as caught:
            call(one)
        assert [fault.path for fault in caught.value.faults] == paths
        assert state(head) == before
    for wrong in (None, "a", ("c", 2, 1, 9)):
        with pytest.raises(NotApplicableError, match="a task is needed, not a"):
            head.submit(wrong)
        with pytest.raises(NotApplicableError, match="a reservation is needed, not a"):
            head.reserve(wrong)
    for now in (1, 1.5, float("nan"), "now", None, float("inf"), -3):
        with pytest.raises(InvalidInstanceError, match="now: must "):
            head.advance(now)
    assert state(head) == before


@pytest.mark.parametrize("name", ["multi-stage", "multi-stage:literal-M1"])
def test_why_reservations_are_refused(name):
    head = MultiStage(TWO, name)
    assert head.reserve(Reservation("r", 0, 4, 8, io_ratio=F(1, 2), nodes=(0,))).nodes == (0,)
    assert head.submit(Task("t", 0, F(3, 2), 4)).accepted
    before = head.plan().chunks
    for wanted, conflict, text in (
        (Reservation("a", 0, 5, 9, nodes=2), "nodes", "too few of its nodes are free"),
        (Reservation("b", 0, 5, 9, nodes=(0,)), "nodes", "too few of its nodes are free"),
        (Reservation("c", 0, 5, 9, nodes=3), "nodes", "too few of its nodes are free"),
        (Reservation("d", 0, 5, 9, io_end=6), "channel", "the channel is not free"),
        (Reservation("e", 0, 0, 3, nodes=2), "task", "task t would miss its deadline"),
    ):
        grant = head.reserve(wanted)
        assert (grant.accepted, grant.conflict, grant.reason) == (False, conflict, text)
        assert grant.nodes == ()
        assert head.plan().chunks == before
    assert head.reserve(Reservation("f", 0, 5, 9)).nodes == (1,)
    assert head.reserve(Reservation("g", 0, 8, 9, io_end=9)).accepted


def test_maintenance_names_what_it_is_in_conflict_with():
    head = MultiStage(TWO)
    head.reserve(Reservation("r", 0, 10, 18, io_ratio=F(1, 4), nodes=(0,)))
    head.submit(Task("t", 0, 1, 2))
    head.submit(Task("u", 0, 1, 4))
    head.advance(1)
    before = state(head)
    cases = (
        (Reservation("m", 1, 11, 12, nodes=(0,), mandatory=True), "reservation r holds until 18"),
        (Reservation("m", 1, 17, 20, nodes=2, mandatory=True), "reservation r holds until 18"),
        (
            Reservation("m", 1, 11, 13, io_end=13, nodes=(1,), mandatory=True),
            "the channel is not free: reservation r holds until 12",
        ),
        (Reservation("m", 1, 1, 3, nodes=(0,), mandatory=True), "task t holds until 2"),
        (
            Reservation("m", 1, 1, 3, nodes=3, mandatory=True),
            "too few of its nodes are free: task t holds until 2",
        ),
        (
            Reservation("m", 1, 30, 31, nodes=3, mandatory=True),
            "too few of its nodes are free: there are no more, or the cluster is not ready",
        ),
        (
            Reservation("m", 1, 2, 4, nodes=2, mandatory=True),
            "task u would miss its deadline",
        ),
    )
    for wanted, text in cases:
        with pytest.raises(PromiseError, match=f"^mandatory reservation m: .*{text}$"):
            head.reserve(wanted)
        assert state(head) == before
    assert head.reserve(Reservation("m", 1, 18, 20, nodes=2, mandatory=True)).accepted


def test_maintenance_against_what_is_still_sent():
    for name in ("multi-stage", "multi-stage:literal-F7"):
        head = MultiStage(TWO, name)
        head.submit(Task("t", 0, 2, 4))
        wanted = Reservation("m", 1, 1, 3, io_end=2, nodes=(1,), mandatory=True)
        with pytest.raises(PromiseError, match="channel is not free: task t holds until 2"):
            head.reserve(wanted)


def test_a_reservation_of_the_whole_cluster():
    """Tasks flow around it, or are rejected where their deadline falls inside."""
    head = MultiStage(TWO)
    assert head.reserve(Reservation("all", 0, 2, 6, io_ratio=1, nodes=2)).accepted
    decision = head.submit(Task("inside", 0, 2, 5))
    assert not decision.accepted
    assert decision.reason == "1/2 of the load of task inside would miss its deadline"
    assert head.submit(Task("from_busy", 0, 2, 7)).accepted
    assert {chunk.transmission_start >= 6 for chunk in head.plan().chunks} == {True, False}


def test_a_deadline_at_the_arrival_and_no_time_at_all():
    head = MultiStage(TWO)
    decision = head.submit(Task("a", 3, 1, 0))
    assert (decision.accepted, decision.by, decision.of) == (False, 1, "load")
    assert head.now == 0
    grant = head.reserve(Reservation("now", 3, 3, F(7, 2)))
    assert grant.accepted and head.now == 3


def test_one_float_makes_all_numbers_floats():
    for head in (MultiStage(Cluster(2, 1.0, 1)), MultiStage(TWO, exact_numbers=False)):
        head.reserve(Reservation("r", 0, F(1, 3), 1))
        head.submit(Task("a", F(1, 3), 1, 3))
        assert type(head.now) is float
        assert {type(chunk.load) for chunk in head.plan().chunks} == {float}
    head = MultiStage(Cluster(2, 1.0, 1), exact_numbers=True)
    head.submit(Task("a", 0.1, 0.3, 3))
    assert {type(chunk.load) for chunk in head.plan().chunks} == {F}


def test_tiny_and_huge_loads_in_one_queue():
    for number, tolerance in ((F, 0), (float, 1e-9)):
        cluster = Cluster(3, number(1), number(2))
        tasks = tuple(
            Task(f"t{k}", number(10), number(F(10) ** (12 if k % 2 else -12)), number(10**14 + k))
            for k in range(8)
        )
        wanted = tuple(
            Reservation(f"r{k}", 0, number(20 + 10 * k), number(25 + 10 * k), io_ratio=F(1, 5))
            for k in range(8)
        )
        head = MultiStage(cluster)
        assert all(head.reserve(one).accepted for one in wanted)
        assert all(head.submit(task).accepted for task in tasks)
        assert violations(Instance(cluster, tasks, wanted), head.plan(), tolerance) == ()


def test_many_arrivals_at_one_instant():
    """Each takes the channel for 1, and all nodes compute the last one within 1."""
    head = MultiStage(Cluster(64, 1.0, 1.0))
    for index in range(300):
        head.submit(Task(f"t{index}", 0, 1, 200.5))
    accepted = [decision.accepted for decision in head.decisions]
    assert accepted == [True] * sum(accepted) + [False] * (300 - sum(accepted))
    assert sum(accepted) == 200
    assert head.now == 0
