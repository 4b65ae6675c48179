"""A book that is saved, restored, copied or pickled goes on equally, in floats bit by bit."""

import copy
import json
import pickle
import random
from fractions import Fraction

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.registry import methods
from tests.heuristics.admission.random_verbs import RandomCaller, new_book

NAMES = [
    entry.name
    for entry in methods("admission")
    if "heuristics.admission" in str(entry.target)
    and entry.claim == "sound"
    and entry.name != "local-search"  # it knows all arrivals: it is no algorithm of a book
]
INDEXED = ("fast-edf-iit", "fast-edf-iit-linear", "fast-mwf-iit", "hybrid")


def again(book):
    return Admission.restore(json.loads(json.dumps(book.snapshot())))


def copies(book):
    """Return the book, a restored one, a copy and a pickled one, all from one state.

    One that is restored twice, or without a file between, is restored of an equal snapshot.
    """
    data = book.snapshot()
    restored = again(book)
    for one in (restored, Admission.restore(data)):
        assert json.dumps(one.snapshot()) == json.dumps(data)
    return [
        book,
        restored,
        copy.deepcopy(book),
        pickle.loads(pickle.dumps(book)),
    ]


def check_equal_futures(name, number, seed, calls=50, **options):
    """Save a book after random verbs, and compare all that comes of further ones."""
    book = new_book(seed, name, number, **options)
    RandomCaller(seed, number).calls(book, 12 + seed % 40)
    futures = []
    for one in copies(book):
        outcomes = RandomCaller(1000 + seed, number).calls(one, calls)
        futures.append((outcomes, json.dumps(one.snapshot())))
    for other in futures[1:]:
        for mine, its in zip(futures[0][0], other[0], strict=True):
            assert mine == its
        assert futures[0][1] == other[1]


@pytest.mark.parametrize("number", [float, Fraction])
@pytest.mark.parametrize("name", NAMES)
def test_every_later_outcome_is_equal(name, number):
    for seed in range(4):
        check_equal_futures(name, number, seed)


def test_a_plan_that_ignores_free_time_is_saved():
    """It still has tasks that were taken back, or ended early."""
    outdated = 0
    for seed in range(30):
        book, caller = new_book(seed, "fast-mwf-iit-simulated", float), RandomCaller(seed, float)
        for count in range(40):
            caller.calls(book, 1)
            data = book.snapshot()
            if data["outdated"]:
                outdated += 1
                futures = [
                    (RandomCaller(count, float).calls(one, 20), one.snapshot())
                    for one in (again(book), copy.deepcopy(book))
                ]
                assert futures[0] == futures[1]
    assert outdated > 5


@pytest.mark.parametrize("kind", [Admission, MultiStage])
def test_snapshots_of_the_former_reference_implementation_are_read(kind):
    head = kind(Cluster(2, 1, 1))
    assert head.submit(Task("a", 0, 3, 9)).accepted
    data = head.snapshot()
    assert kind.restore(data | {"reference": True}).snapshot() == data


@pytest.mark.parametrize("name", INDEXED)
def test_compiled_tests_are_saved(name):
    pytest.importorskip("numba")
    for seed in range(4):
        check_equal_futures(name, float, seed, compiled=True)


@pytest.mark.parametrize(
    ("name", "compiled"), [("fast-edf-iit", False), ("fast-edf-iit", True), ("edf-iit-2", False)]
)
def test_sums_of_many_floats_are_equal(name, compiled):
    """With hundreds of waiting tasks, sums of floats depend on the order of the additions."""
    if compiled:
        pytest.importorskip("numba")
    book = Admission(Cluster(8, 0.1, 1.7), name, ready_times=[997.3] * 8, compiled=compiled)
    caller = RandomCaller(3, float)
    for k in range(400):
        book.submit(Task(f"t{k}", k / 7, 0.3 + (k * 0.731) % 1.9, 1400 + (k * 37.77) % 1300))
    outcomes = []
    for one in copies(book):
        caller = RandomCaller(4, float)
        outcomes.append([caller.calls(one, 3)[-1]])
        for k in range(500, 560):
            at = one.now + 0.01
            task = Task(f"t{k}", at, 0.3 + (k * 0.731) % 1.9, 900 + (k * 37.77) % 900)
            outcomes[-1].append((one.submit(task), one.earliest_deadline(Task("q", at, 1.1, 1))))
        one.advance(1003.3)
        outcomes[-1].append((one.plan(), one.snapshot()))
    assert all(other == outcomes[0] for other in outcomes[1:])
    assert any(not decision.accepted for decision, _ in outcomes[0][1:-1])


def test_sums_of_floats_after_cancellations_are_equal():
    """Loads that were taken out of sums of floats leave rounding errors, which depend on when."""
    book = Admission(Cluster(8, 0.1, 1.7), "fast-mwf-iit", ready_times=[997.3] * 8)
    draw = random.Random(2)
    for k in range(100):
        book.submit(Task(f"t{k}", k / 7, draw.uniform(0.3, 2.2), draw.uniform(900, 2700)))
    for identity in sorted(book.waiting)[::3]:
        book.cancel(identity)
    other = again(book)
    for k in range(200, 260):
        at = book.now + 0.01
        asked = Task("q", at, draw.uniform(0.3, 2), 1)
        assert book.earliest_deadline(asked) == other.earliest_deadline(asked)
        task = Task(f"t{k}", at, draw.uniform(0.3, 2), draw.uniform(900, 1800))
        assert book.submit(task) == other.submit(task)
    assert book.snapshot() == other.snapshot()


def test_options_of_algorithms_are_saved():
    cluster = Cluster(2, 1, 2)
    for algorithm in (
        FastAlgorithm(events="dispatch-first"),
        FastAlgorithm("r1", events="one-by-one", order="mwf"),
        HybridAlgorithm(3),
    ):
        book = Admission(cluster, algorithm)
        book.submit(Task("a", 1, 2, 9))
        twin = again(book)
        assert twin.algorithm == algorithm
        for k in range(8):
            task = Task(f"b{k}", 1 + k // 2, 2, 9)
            assert twin.submit(task) == book.submit(task)
        assert twin.snapshot() == book.snapshot()


def test_a_book_of_an_instance_is_saved():
    cluster, tasks = Cluster(2, 1, 2), (Task("a", 0, 4, 30, remaining=2), Task("b", 1, 3, 40))
    book = Admission.of(Instance(cluster, tasks, now=5, ready_times=(7, 6), channel_ready=6))
    twin = again(book)
    assert twin.plan() == book.plan()
    assert twin.snapshot() == book.snapshot()


def test_a_book_without_nodes_is_saved():
    book = Admission(Cluster(2, 1, 1))
    book.submit(Task("a", 0, 1, 9))
    assert book.resources(fail=[0, 1]).broken == ("a",)
    twin = again(book)
    assert not twin.submit(Task("b", 0, 1, 9)).accepted
    twin.resources(repair=[1])
    assert twin.submit(Task("c", 0, 1, 9)).accepted
    with pytest.raises(InvalidInstanceError, match="taken back"):
        twin.submit(Task("a", 0, 1, 9))


@pytest.mark.parametrize("name", ["edf-iit-2", "edf-opr-mn", "fast-edf-iit", "mcdf"])
@pytest.mark.parametrize("number", [float, Fraction])
def test_set_up_costs_of_zero_and_whole_fractions(number, name):
    """They come back as whole numbers; what is computed from them has the type that it had."""
    cluster = Cluster(3, number(2), number(3), number(0), number(0))
    book = Admission(cluster, name, ready_times=[number(k) for k in (1, 1, 4)])
    answers = []
    for one in (book, again(book)):
        answers.append([])
        for k in range(12):
            task = Task(f"t{k}", number(k), number(1 + k % 3), number(5 + 4 * (k % 4)))
            answers[-1] += [one.offer(task), one.why(task), one.submit(task)]
        one.resources(fail=[0])
        answers[-1] += [one.plan().chunks, one.snapshot()]
    assert repr(answers[0]) == repr(answers[1])


def test_contents_keep_their_numbers():
    book = Admission(Cluster(1, 0.5, 1))
    task = Task("a", 0, Fraction(2, 3), 3)
    decision = book.submit(task)
    assert again(book).submit(task) == decision
    assert again(book).snapshot()["tasks"][0]["load"] == "2/3"


@pytest.mark.parametrize("number", [Fraction, float])
def test_weights_of_tasks_are_saved(number):
    weighted = [Task(name, 0, number(1) / 2, 9, weight=number(5) / 2) for name in ("a", "b")]
    for head in (Admission(Cluster(2, 1, 1)), MultiStage(Cluster(2, 1, 1))):
        before = [head.submit(task) for task in weighted]
        restored = type(head).restore(json.loads(json.dumps(head.snapshot())))
        assert [restored.submit(task) for task in weighted] == before
        assert restored.state().instance.tasks == head.state().instance.tasks
        assert restored.snapshot() == head.snapshot()


def test_printed_algorithms_have_no_snapshot():
    for algorithm in ("edf-opr-mn:literal", "hybrid:literal", FastAlgorithm("r0", reset="never")):
        book = Admission(Cluster(1, 1, 1), algorithm)
        with pytest.raises(NotApplicableError):
            book.snapshot()


def test_what_is_not_this_kind_of_snapshot_is_refused_at_once():
    data = Admission(Cluster(1, 1, 1)).snapshot()
    with pytest.raises(InvalidInstanceError, match="must be an object"):
        Admission.restore([data])
    with pytest.raises(InvalidInstanceError) as error:
        Admission.restore({**data, "version": 2, "problem": "multistage", "now": "soon"})
    assert [fault.path for fault in error.value.faults] == ["version", "problem"]
    for wrong in ({**data, "version": True}, {**data, "format": "x"}, {"version": 1}):
        with pytest.raises(InvalidInstanceError):
            Admission.restore(wrong)


def busy_snapshot(name="edf-iit-2"):
    """Return the snapshot of a book with sent, waiting, rejected and cancelled tasks."""
    book = Admission(Cluster(3, 1, 2), name)
    for k, deadline in enumerate((9, 30, 40, 2, 50, 60)):
        book.submit(Task(f"t{k}", k, 4, deadline))
    book.advance(6)
    book.cancel("t5")
    return json.loads(json.dumps(book.snapshot()))


def changed(data, path, value):
    """Return a snapshot with another value at a path; None removes it."""
    data = copy.deepcopy(data)
    *parts, last = path
    part = data
    for key in parts:
        part = part[key]
    if value is None:
        del part[last]
    else:
        part[last] = value(part[last]) if callable(value) else value
    return data


WRONG = [
    (("now",), None, "now"),
    (("now",), float("nan"), "now"),
    (("now",), -1, "now"),
    (("now",), "a", "now"),
    (("now",), True, "now"),
    (("more",), 1, "more"),
    (("algorithm",), "best", "algorithm"),
    (("algorithm",), "edf-opr-mn:literal", "algorithm"),
    (("algorithm",), "fast-edf-iit", "planner.fast"),
    (("threshold",), 3, "algorithm"),
    (("tie_break",), "one-by-one", "algorithm"),
    (("compiled",), True, "algorithm"),
    (("cluster", "theta_cm"), -1, "cluster.theta_cm"),
    (("cluster", "tau"), (1, 2, 3), "algorithm"),
    (("nodes",), [0, 1, 1], "nodes[2]"),
    (("nodes",), [0, 1, 3], "nodes[2]"),
    (("nodes",), [0, 1], "ready_times"),
    (("nodes",), [0, 2, 1], None),
    (("node_count",), 2, "node_count"),
    (("failed",), [1], "failed[0]"),
    (("ready_times",), [0, 0], "ready_times"),
    (("tasks", 1, "id"), "t0", "tasks[1].id"),
    (("tasks", 1, "load"), 0, "tasks[1].load"),
    (("tasks", 1, "deadline"), float("inf"), "tasks[1].deadline"),
    (("decisions", 1, "task"), "t9", "decisions[1].task"),
    (("decisions", 0, "at"), 7, "decisions[0].at"),
    (("decisions",), list.__len__, "decisions"),
    (("numbers", 0), 3, "numbers[1]"),
    (("next_number",), 1, "numbers[1]"),
    (("numbers",), [0], "numbers"),
    (("cancelled", 0, "task"), "t1", "cancelled[0].task"),
    (("cancelled", 0, "deadline"), [], "cancelled[0].deadline"),
    (("ended",), ["t9"], "ended[0]"),
    (("ended",), ["t0", "t0"], "ended[1]"),
    (("sent", 0, "node"), 3, "sent[0].node"),
    (("sent", 0, "node"), 1.5, "sent[0].node"),
    (("sent", 0, "task"), "t3", "sent[0].task"),
    (("sent", 0, "computation_end"), 0, "sent[0].computation_end"),
    (("sent", 0, "load"), -1, "sent[0].load"),
    (("planner", "nodes"), [0, 1], "planner.ready_times"),
    (("planner", "ready_times", 0), 0, "planner.ready_times[0]"),
    (("planner", "channel"), 0, "planner.channel"),
    (("planner", "waiting", 0, "task"), "t3", "planner.waiting[0].task"),
    (("planner", "waiting", 0, "number"), 77, "planner.waiting[0].number"),
    (("planner", "waiting", 0, "rank"), 1000, "planner.waiting[1].rank"),
    (("planner", "placements"), [], "planner.placements"),
    (("planner", "placements", 0, "nodes"), 4, "planner.placements[0].nodes"),
    (("planner", "placements", 0, "nodes"), 0, "planner.placements[0].nodes"),
    (("planner", "placements", 1, "start"), 0, "planner.placements[1].start"),
    (("planner", "placements", 0, "end"), 7, "planner.placements[0].end"),
    (("planner", "placements", 0, "end"), 99, "planner.placements[0].end"),
    (("planner", "waiting", 0, "load"), 3, "planner.placements[0].end"),
    (("planner", "waiting", 0, "deadline"), 8, "planner.placements[0].end"),
    (("planner", "waiting", 0, "deadline"), 43, "task t2"),
    (("planner", "waiting", 0, "arrival"), 1, "task t2"),
    (("planner", "ready_times", 2), 10**9, "planner"),
    (("tasks", 2, "deadline"), 8, "task t2"),
    (("tasks", 0, "deadline"), 5, "task t0"),
    (("tasks", 1, "load"), 5, "task t1"),
    (("sent", 0, "load"), 0, "task t0"),
]


@pytest.mark.parametrize(("path", "value", "fault"), WRONG)
def test_a_wrong_snapshot_is_refused(path, value, fault):
    data = busy_snapshot()
    assert Admission.restore(data).snapshot() == data
    wrong = changed(data, path, value)
    if fault is None:
        Admission.restore(wrong)
        return
    with pytest.raises(InvalidInstanceError) as error:
        Admission.restore(wrong)
    assert fault in [one.path for one in error.value.faults]


def test_nodes_that_are_allocated_beyond_the_end_of_their_work():
    book = Admission(Cluster(2, tau=1, chi=3), "edf-iit-1")
    assert book.submit(Task("a", arrival=4, load=2, deadline=17)).accepted
    assert book.submit(Task("b", arrival=5, load=4, deadline=16)).accepted
    book.advance(7)
    assert again(book).snapshot() == book.snapshot()
    book.advance(18)
    book.archive()
    assert again(book).snapshot() == book.snapshot()


@pytest.mark.parametrize("name", ["fast-edf-iit", "fast-edf-iit-simulated"])
def test_more_load_than_fits_is_refused(name):
    data = busy_snapshot(name)
    wrong = changed(data, ("planner", "waiting", 0, "load"), 400)
    with pytest.raises(InvalidInstanceError, match="would be left") as error:
        Admission.restore(wrong)
    assert error.value.faults[0].path == "planner.waiting[0].load"


def test_chunks_that_overlap_are_refused():
    data = busy_snapshot()
    twice = changed(data, ("sent",), lambda sent: [*sent, sent[-1]])
    with pytest.raises(InvalidInstanceError, match="overlaps what node") as error:
        Admission.restore(twice)
    assert len(error.value.faults) == 2  # on the channel, too


def test_all_faults_are_told_at_once():
    data = changed(changed(busy_snapshot(), ("now",), "x"), ("sent", 0, "node"), -0.5)
    del data["failed"]
    with pytest.raises(InvalidInstanceError) as error:
        Admission.restore({**data, "wrong": 1})
    paths = {fault.path for fault in error.value.faults}
    assert paths == {"now", "sent[0].node", "failed", "wrong"}


@pytest.mark.parametrize("name", ["fifo-anna", "edf-anna"])
def test_tasks_that_end_far_beyond_their_deadlines(name):
    cluster = Cluster(1, tau=0.1, chi=5.0)
    head = Admission(cluster, name, ready_times=[6.0], channel_ready=6.0)
    for k in range(30):
        head.submit(Task(str(k), k * 1e-7, (k + 1) * 1e-7 / 3, 1e-7))
    again = Admission.restore(json.loads(json.dumps(head.snapshot())))
    assert again.plan() == head.plan()


def test_nodes_that_edf_iit_1_holds_until_its_estimate_of_the_end():
    cluster = Cluster(2, tau=1, chi=10)
    head = Admission(cluster, "edf-iit-1", ready_times=[0, 1])
    assert head.submit(Task("a", 0, 1, 8)).accepted
    head.advance(2)
    head.snapshot()  # what has begun leaves the planner
    ends = [chunk.computation_end for chunk in head.plan().chunks]
    assert len(ends) == 2 and max(ends) < min(head.planner.content().ready)
    again = Admission.restore(json.loads(json.dumps(head.snapshot())))
    later = Task("b", 2, 1, 40)
    assert again.submit(later) == head.submit(later) and again.plan() == head.plan()
