"""Divisible loads around reservations: what an instance may say, what a plan must keep."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import (
    KINDS,
    Chunk,
    Commitment,
    Decision,
    Grant,
    Instance,
    Reservation,
    Solution,
    Task,
    default_objective,
    faults,
    objective,
    violations,
)

PAIR = Cluster(2, tau=1, chi=1)
# Node 1 is reserved from 4 to 8, the channel until 5; task a flows around it.
WANTED = Reservation("r", 0, 4, 8, io_end=5, nodes=1)
INSTANCE = Instance(PAIR, (Task("a", 0, 5, 10), Task("b", 2, 9, 9)), (WANTED,))
CHUNKS = (Chunk("a", 0, 2, 0, 2, 2, 4), Chunk("a", 1, 1, 2, 3, 3, 4), Chunk("a", 0, 2, 5, 7, 7, 9))
PLAN = Solution(
    (Decision("a", True, 0), Decision("b", False, 2)), (Grant("r", True, 0, (1,)),), CHUNKS
)


def kinds(instance=INSTANCE, tolerance=0, **changes):
    return {
        violation.kind for violation in violations(instance, replace(PLAN, **changes), tolerance)
    }


def granted(**changes):
    return (replace(PLAN.grants[0], **changes),)


def test_a_valid_plan():
    assert violations(INSTANCE, PLAN) == ()
    assert violations(INSTANCE, replace(PLAN, grants=granted(accepted=False, nodes=()))) == ()


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("reservation-undecided", {"grants": ()}),
        ("duplicate-reservation-decision", {"grants": (*PLAN.grants, *granted(accepted=False))}),
        ("wrong-reservation-decision-time", {"grants": granted(at=1)}),
        ("wrong-reservation-nodes", {"grants": granted(nodes=(1, 1))}),
        ("wrong-reservation-nodes", {"grants": granted(nodes=())}),
        ("wrong-reservation-nodes", {"grants": granted(nodes=(2,))}),
        ("reservation-node-overlap", {"grants": granted(nodes=(0,))}),
        ("unknown-reservation", {"grants": (*PLAN.grants, Grant("s", True, 0, (0,)))}),
        ("reservation-channel-overlap", {"chunks": (*CHUNKS[:2], Chunk("a", 0, 2, 4, 6, 6, 8))}),
        ("reservation-node-overlap", {"chunks": (*CHUNKS[:2], Chunk("a", 1, 2, 6, 8, 8, 10))}),
        ("channel-overlap", {"chunks": (CHUNKS[0], Chunk("a", 1, 1, 1, 2, 2, 3), CHUNKS[2])}),
        ("deadline", {"chunks": (*CHUNKS[:2], Chunk("a", 0, 2, 7, 9, 9, 11))}),
        ("load-not-conserved", {"chunks": CHUNKS[:2]}),
        ("undecided", {"decisions": PLAN.decisions[:1]}),
    ],
)
def test_each_corruption_is_found(kind, changes):
    assert kind in KINDS
    assert kinds(**changes) == {kind}


def test_a_promise_and_maintenance_are_not_refused():
    refused = {"grants": granted(accepted=False, nodes=())}
    firm = replace(INSTANCE, reservations=(replace(WANTED, mandatory=True),))
    assert kinds(firm, **refused) == {"guaranteed-reservation-rejected"}
    named = replace(WANTED, nodes=(1,), arrival=0)
    later = Instance(PAIR, (Task("a", 3, 5, 10),), (named,), now=1)
    plan = Solution((Decision("a", False, 3),), (Grant("r", False, 1),), ())
    assert [v.kind for v in violations(later, plan)] == ["guaranteed-reservation-rejected"]
    kept = replace(plan, grants=(Grant("r", True, 1, (1,)),))
    assert violations(later, kept) == ()
    assert violations(later, replace(kept, grants=(Grant("r", True, 2, (1,)),))) != ()


def test_reservations_do_not_meet_each_other():
    two = (WANTED, Reservation("s", 0, 4, 6, io_ratio=Fraction(1, 2), nodes=(0,)))
    instance = Instance(PAIR, (), two)
    plan = Solution((), (Grant("r", True, 0, (1,)), Grant("s", True, 0, (0,))), ())
    (both,) = violations(instance, plan)
    assert (both.kind, both.start, both.end) == ("reservation-channel-overlap", 4, 5)
    quiet = replace(instance, reservations=(WANTED, replace(two[1], io_ratio=0)))
    assert violations(quiet, plan) == ()
    same = replace(plan, grants=(plan.grants[0], Grant("s", True, 0, (1,))))
    told = {violation.kind for violation in violations(quiet, same)}
    assert told == {"wrong-reservation-nodes", "reservation-node-overlap"}


def test_what_is_committed_is_in_nobodys_way():
    """Node 1 computes until 5, the channel sends until 5."""
    tasks = (Task("a", 0, 4, 20, remaining=1),)
    sent = (Commitment("a", 1, 1, 2, 5), Commitment("a", 0, 2, 3, 8))
    instance = Instance(PAIR, tasks, (replace(WANTED, arrival=2),), now=2, committed=sent[:1])
    plan = Solution((Decision("a", True, 0),), PLAN.grants, (Chunk("a", 0, 1, 5, 6, 6, 7),))
    plan = replace(plan, grants=(Grant("r", True, 2, (1,)),))
    instance = replace(instance, tasks=(replace(tasks[0], remaining=1),))
    assert {v.kind for v in violations(instance, plan)} == {"reservation-node-overlap"}
    busy = replace(instance, channel_ready=5, committed=())
    assert "reservation-channel-overlap" in {v.kind for v in violations(busy, plan)}


def test_what_is_over_is_not_looked_at():
    """A reservation that was over before something else began on its node."""
    over = Reservation("r", 0, 1, 2, io_end=2, nodes=(0,))
    sent = (Commitment("x", 0, 2, 2, 6),)
    instance = Instance(PAIR, (), (over,), now=3, committed=sent)
    plan = Solution((), (Grant("r", True, 0, (0,)),), ())
    assert violations(instance, plan) == ()
    running = replace(over, end=4)
    found = violations(replace(instance, reservations=(running,)), plan)
    assert [(v.kind, v.start, v.end) for v in found] == [("reservation-node-overlap", 3, 4)]


def test_without_tasks_nothing_is_known_of_one():
    instance = Instance(PAIR, (), (WANTED,))
    plan = Solution((Decision("a", True, 0),), PLAN.grants, (Chunk("a", 0, 1, 0, 1, 1, 2),))
    assert [v.kind for v in violations(instance, plan)] == ["unknown-task", "unknown-task"]


def test_floats_may_be_off_by_a_tolerance():
    off = (*CHUNKS[:2], Chunk("a", 0, 2, 5 - 1e-8, 7, 7, 9))
    assert kinds(chunks=off) == {"reservation-channel-overlap", "transmission-duration"}
    assert kinds(chunks=off, tolerance=1e-6) == set()


def test_what_a_plan_is_worth():
    assert default_objective(INSTANCE) == "accepted"
    weighed = replace(INSTANCE, task_weight=2, reservation_weight=Fraction(1, 2))
    assert objective(weighed, PLAN) == Fraction(5, 2)
    assert objective(INSTANCE, PLAN, "accepted-tasks") == 1
    assert objective(INSTANCE, PLAN, "accepted-reservations") == 1
    assert objective(INSTANCE, PLAN, "accepted-load") == 5
    tasks = tuple(
        replace(task, weight=10 ** (index + 1)) for index, task in enumerate(INSTANCE.tasks)
    )
    accepted = [one.accepted for one in PLAN.decisions]
    assert replace(INSTANCE, tasks=tasks).weights == (10, 100)[: len(tasks)]
    assert objective(replace(INSTANCE, tasks=tasks), PLAN, "accepted-weight") == sum(
        task.weight for task, counts in zip(tasks, accepted, strict=True) if counts
    )
    assert INSTANCE.weights is None and objective(INSTANCE, PLAN, "accepted-weight") == 1
    assert objective(INSTANCE, PLAN, "reject-ratio") == Fraction(1, 3)
    assert objective(INSTANCE, PLAN, "utilization") == Fraction(14, 22)
    refused = replace(PLAN, grants=granted(accepted=False))
    assert objective(INSTANCE, refused, "utilization") == Fraction(10, 22)
    with pytest.raises(NotApplicableError, match="no objective"):
        objective(INSTANCE, PLAN, "makespan")
    late = Instance(PAIR, (Task("a", 0, 1, 1),), now=5)
    assert objective(late, Solution((Decision("a", True, 0),), (), ()), "utilization") == 0


def test_a_refusal_says_why():
    said = {
        "nodes": "too few of its nodes are free",
        "channel": "the channel is not free",
        "task": "task b would miss its deadline",
    }
    for conflict, words in said.items():
        assert Grant("r", False, 0, conflict=conflict, missed="b").reason == words
    assert Grant("r", False, 0).reason == "refused"
    assert Grant("r", True, 0, (1,)).reason is None


def test_where_the_channel_is_free_again():
    assert WANTED.channel_end == 5
    assert replace(WANTED, io_end=None).channel_end == 4
    assert replace(WANTED, io_end=None, io_ratio=Fraction(1, 4)).channel_end == 5
    assert (WANTED.count, replace(WANTED, nodes=(0, 1)).count) == (1, 2)
    assert INSTANCE.free_times == (0, 0)
    assert INSTANCE.channel_free == 0
    assert INSTANCE.exact


@pytest.mark.parametrize(
    ("changes", "path", "rule"),
    [
        ({"start": 1}, "start", "before the arrival"),
        ({"end": 4}, "end", "after the start"),
        ({"io_end": 3}, "io_end", "before the start"),
        ({"io_end": 9}, "io_end", "after the end"),
        ({"io_ratio": 0.5}, "io_ratio", "together with io_end"),
        ({"nodes": ()}, "nodes", "name a node"),
        ({"nodes": (1, 1)}, "nodes", "once"),
    ],
)
def test_what_a_reservation_may_not_say(changes, path, rule):
    one = {"id": "r", "arrival": 2, "start": 4, "end": 8, "io_end": 5, "nodes": [1]} | changes
    data = {"cluster": {"nodes": 2, "tau": 1, "chi": 1}, "reservations": [one]}
    found = [str(fault) for fault in faults(data)]
    assert any(f"reservations[0].{path}" in text and rule in text for text in found), found
    with pytest.raises(InvalidInstanceError):
        Reservation(**one)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"reservations": [], "tasks": []}, "tasks: must not be empty"),
        ({"reservations": [{"id": ""}]}, "reservations[0].id: must not be empty"),
        ({"reservations": [{}, {}]}, "reservations[1].id: must be given to one"),
        (
            {"reservations": [{}, {"id": "s", "arrival": 0}]},
            "reservations[1].arrival: must not lie",
        ),
        ({"reservations": [{"nodes": [5]}]}, "reservations[0].nodes: must be one of the nodes 0"),
        ({"reservations": [{"nodes": 2}], "now": 3}, "reservations[0].nodes: must be named"),
        ({"ready_times": [1]}, "ready_times: must have one entry"),
    ],
)
def test_what_an_instance_may_not_say(changes, text):
    one = {"id": "r", "arrival": 2, "start": 4, "end": 8, "nodes": [1]}
    data = {"cluster": {"nodes": 2, "tau": 1, "chi": 1}, "tasks": [], "reservations": [one]}
    if "reservations" in changes:
        changes = {**changes, "reservations": [one | extra for extra in changes["reservations"]]}
    assert any(text in str(fault) for fault in faults(data | changes))


def test_floats_are_compared_as_the_decimals_that_they_print():
    """0.1 is a little more than 1/10 as it is stored, and the same as it is meant."""
    tenth = Fraction(1, 10)
    reservation = Reservation("r", 0.1, tenth, 2, io_end=0.1)
    later = Reservation("s", tenth, tenth, 2)
    assert Reservation("r", 0, 0.1, 2, io_end=tenth).io_end == tenth
    assert Reservation("r", 0, 0, tenth, io_end=0.1).io_end == 0.1
    instance = Instance(Cluster(1, 1, 1), (), (reservation, later), now=0.1)
    assert instance.promised == frozenset()
    for start, end in ((tenth, 0.1), (0.1, tenth)):
        with pytest.raises(InvalidInstanceError, match="must lie after the start"):
            Reservation("r", 0, start, end)
