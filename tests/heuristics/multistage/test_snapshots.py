"""A book of tasks and reservations that is saved, restored, copied or pickled goes on equally."""

import copy
import json
import pickle
from fractions import Fraction

import pytest

from dlopt import Admission, MultiStage
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation, Task
from tests.heuristics.multistage.random_verbs import RandomCaller, new_book

F = Fraction


def copies(book):
    """Return the book, a restored one, a copy and a pickled one, all from one state.

    One that is restored twice is restored of an equal snapshot.
    """
    data = book.snapshot()
    restored = MultiStage.restore(json.loads(json.dumps(data)))
    assert json.dumps(restored.snapshot()) == json.dumps(data)
    return [
        book,
        restored,
        copy.deepcopy(book),
        pickle.loads(pickle.dumps(book)),
    ]


@pytest.mark.parametrize("number", [float, F])
@pytest.mark.parametrize(
    ("algorithm", "seed"),
    [*(("multi-stage", k) for k in range(12)), *(("priced-multi-stage", k) for k in range(3, 6))],
)
def test_every_later_outcome_is_equal(algorithm, seed, number):
    book = new_book(seed, number, algorithm)
    RandomCaller(seed, number).calls(book, 10 + 4 * seed)
    plan, state = book.plan(), book.state()
    futures = []
    for one in copies(book):
        assert (one.plan(), one.state()) == (plan, state)
        outcomes = RandomCaller(1000 + seed, number).calls(one, 40)
        futures.append((outcomes, json.dumps(one.snapshot())))
    for other in futures[1:]:
        for mine, its in zip(futures[0][0], other[0], strict=True):
            assert mine == its
        assert futures[0][1] == other[1]


def sample():
    """Return a book of which something has begun, waits, is refused, taken back and over."""
    book = MultiStage(Cluster(2, tau=1, chi=1))
    for reservation in (
        Reservation("over", 0, 0, 1, nodes=(1,)),
        Reservation("begun", 0, 1, 6, io_ratio=F(1, 5), nodes=(1,)),
        Reservation("later", 0, 20, 30),
        Reservation("gone", 0, 20, 30),
    ):
        assert book.reserve(reservation).accepted
    assert not book.reserve(Reservation("refused", 0, 25, 26, nodes=2)).accepted
    for task in (Task("a", 0, 1, 9), Task("b", 0, 2, 12), Task("c", 0, 1, 19), Task("d", 0, 1, 18)):
        assert book.submit(task).accepted
    assert not book.submit(Task("no", 0, 9, 9)).accepted
    book.advance(F(5, 2))
    book.cancel("gone")
    book.cancel("c")
    return book


def test_snapshots_say_all_that_a_caller_sees():
    book = sample()
    again = MultiStage.restore(json.loads(json.dumps(book.snapshot())))
    assert again.plan() == book.plan() and again.state() == book.state()
    assert again.snapshot() == book.snapshot()
    assert again.reserve(Reservation("later", 0, 20, 30)) == book.grants[2]
    for identity, kind in (("gone", "reservation"), ("c", "task")):
        with pytest.raises(NotApplicableError, match="is cancelled already"):
            again.cancel(identity, kind=kind)
    assert again.archive() == book.archive()


def test_printed_algorithms_have_no_snapshot():
    with pytest.raises(NotApplicableError, match="does not keep what it promises"):
        MultiStage(Cluster(1, 1, 1), "multi-stage:literal").snapshot()


def test_books_of_other_problems_are_not_restored():
    text = "problem: must be 'multistage'"
    with pytest.raises(InvalidInstanceError, match=text):
        MultiStage.restore(Admission(Cluster(1, 1, 1)).snapshot())


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (["algorithm"], "multi-stage:literal", "algorithm: must be one that keeps"),
        (["algorithm"], "edf", "algorithm: must be known"),
        (["cluster", "chi"], [1, 2], "algorithm: must be for such a cluster: .* the nodes differ"),
        (["now"], 7, "planner.intervals: must be busy with all that has begun"),
        (["node_count"], 1, "node_count: must be"),
        (["planner", "nodes"], [0], "planner.intervals: must have one entry for each of the 1"),
        (["planner", "nodes"], [0, 2], r"planner.nodes\[1\]: must be one of the nodes 0 to 1"),
        (["planner", "channel"], [3], "planner.channel: must have a start and an end"),
        (["planner", "channel"], [4, 3], r"planner.channel\[1\]: must not lie before 4"),
        (["planner", "intervals", 1, "busy"], [], "planner.intervals: must be busy with all"),
        (["planner", "waiting", 0, "task"], "x", r"waiting\[0\].task: must be an accepted task"),
        (["planner", "waiting", 0, "number"], 99, r"waiting\[0\].number: must be below"),
        (["planner", "waiting", 0, "number"], 0, r"waiting\[0\].number: must be that of the dec"),
        (["planner", "waiting", 0, "load"], 3, r"waiting\[0\].chunks: must have the load of task"),
        (["planner", "waiting", 0, "chunks"], [], r"waiting\[0\].chunks: must not be empty"),
        (["planner", "waiting", 0, "deadline"], 4, r"must not lie after the deadline, 4"),
        (["planner", "waiting", 0, "chunks", 0, "node"], 2, "must be a place among the 2 nodes"),
        (["planner", "waiting", 0, "chunks", 0, "start"], 5, "must not overlap what is promised"),
        (["planner", "waiting", 0, "chunks", 0, "sent"], 3, r"chunks\[0\].sent: must not lie be"),
        (["grants", 0, "reservation"], "x", r"grants\[0\].reservation: must be 'over'"),
        (["grants", 1, "nodes"], [0], r"accepted\[1\].nodes: must be those of the grant, \(0,\)"),
        (["accepted", 0, "reservation"], "later", r"accepted\[2\].reservation: must be given once"),
        (["accepted", 1, "start"], 9, r"accepted\[1\].io_end: must not lie before 9"),
        (["accepted", 1, "nodes"], [5], r"accepted\[1\].nodes: must be one of the nodes 0 to 1"),
        (["accepted", 1, "number"], 77, r"accepted\[1\].number: must be below"),
        (["accepted", 2, "start"], 5, "planner: must not overlap|planner.intervals: must be busy"),
        (["ready_times"], [0, 10**6], "planner: must not overlap what else keeps"),
        (["withdrawn", 0, "reservation"], "later", "must not be among the reservations"),
        (["reservations", 1, "id"], "over", r"reservations\[1\].id: must be given once"),
        (["withdrawn", 0, "end"], "x", r"withdrawn\[0\].end: must be a finite number"),
        (["cluster", "tau"], F(1, 2), "must be transmitted in its time"),
        (["cluster", "chi"], F(1, 2), "must be computed in its time"),
        (["planner", "waiting", 0, "deadline"], 10**6, "must be planned with the promised deadl"),
        (["more"], 1, "more: is not a field"),
    ],
)
def test_snapshots_that_contradict_themselves_are_refused(path, value, text):
    data = json.loads(json.dumps(sample().snapshot()))
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    with pytest.raises(InvalidInstanceError, match=text):
        MultiStage.restore(data)


def test_waiting_tasks_in_another_order_are_refused():
    book = MultiStage(Cluster(1, tau=1, chi=1))
    for name in ("a", "b", "c"):
        assert book.submit(Task(name, 0, 1, 20)).accepted
    data = book.snapshot()
    data["planner"]["waiting"].reverse()
    with pytest.raises(
        InvalidInstanceError, match=r"waiting\[1\].rank: must not be less than that"
    ):
        MultiStage.restore(data)
