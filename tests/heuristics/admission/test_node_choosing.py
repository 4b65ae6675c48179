"""Tasks of `priced` get all nodes or the fewest, by what they block; the choice is kept."""

import json
from fractions import Fraction
from itertools import product

import pytest

from dlopt import simulate
from dlopt.arithmetic import exact
from dlopt.errors import InvalidInstanceError
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.node_choosing_queue import ALL_NODES
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.iit.edf_iit_2 import minimum_completion
from dlopt.problems.admission import Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.strategies import Stream, random_stream

F = Fraction
EIGHT = Cluster(8, tau=0, chi=8)


def mixed(count=60):
    """Return small tasks that need one node, now and then a large one with or without time."""
    for i in range(count):
        yield Task(f"small-{i}", i, F(1, 8), 1)
        if i % 20 == 19:
            yield Task(f"patient-{i}", i, 4, 8)
        if i % 20 == 9:
            yield Task(f"urgent-{i}", i + F(1, 4), F(1, 4), F(1, 4))


def book(tasks, **options):
    head = Admission(EIGHT, "priced", **options)
    for task in tasks:
        head.submit(task)
    return head


def nodes_of(head):
    """Return how many nodes each accepted task has."""
    return {task.id: place.nodes for task, place in head.placements()}


def crowded(seed, *, number=exact, tasks=60):
    """Return a stream of small and large tasks, more than can be done."""
    stream = random_stream(seed, nodes=6, tasks=tasks, number=number, load=3)
    cluster = Cluster(6, number(1), number(100))
    small = [
        Task(f"small-{i}", task.arrival, task.load / 40, task.load * 3)
        for i, task in enumerate(stream.tasks)
    ]
    tasks = sorted((*stream.tasks, *small), key=lambda task: task.arrival)
    return Stream(cluster, tuple(tasks))


def test_a_task_gets_the_nodes_on_which_it_blocks_less():
    head = book(mixed())
    assert all(decision.accepted for decision in head.decisions)
    found = nodes_of(head)
    assert {count for name, count in found.items() if name.startswith("patient")} == {5}
    assert {count for name, count in found.items() if name.startswith("urgent")} == {8}
    asked = book(mixed(29))
    asked.ask(Task("patient", 29, 4, 8))
    asked.submit(Task("small", 29, F(1, 8), 1))
    assert nodes_of(asked)["small"] == 8  # the question has chosen for no other task
    on_all = Admission(EIGHT, "priced-edf-opr-an")
    assert sum(on_all.submit(task).accepted for task in mixed()) < len(found)


def test_tasks_that_can_wait_get_the_fewest_nodes_while_all_are_busy():
    cluster = Cluster(40, tau=1.0, chi=100.0)  # 25 units of time a task, on all nodes 31
    tasks = [Task(f"{i}", 27.0 * i, 10.0, 600.0) for i in range(250)]
    accepted = {}
    for name in ("priced", "priced-edf-opr-an"):
        head = Admission(cluster, name)
        accepted[name] = sum(head.submit(task).accepted for task in tasks)
        if name == "priced":
            found = nodes_of(head)
    assert accepted["priced"] == len(tasks) > accepted["priced-edf-opr-an"] + 5
    assert found["0"] == found["1"] == 40  # no node would be busy but theirs


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_reference_decides_and_plans_the_same(seed):
    stream = crowded(seed, tasks=40)
    assert PricedAlgorithm().chosen((1, 100, 0, 0), 6) is None
    head, reference = stream.decided("priced"), stream.decided("priced", reference=True)
    assert head.decisions == reference.decisions
    assert head.plan() == reference.plan()
    assert violations(stream.instance, head.plan()) == ()
    assert {"price", None} <= {decision.of for decision in head.decisions}


@pytest.mark.parametrize("seed", range(4))
def test_a_simulation_breaks_no_promise(seed):
    stream = crowded(seed, number=float)
    outcome = simulate(stream.instance, "priced", check=True)
    rejected = sum(not decision.accepted for decision in stream.decided("priced").decisions)
    assert (outcome.rejected, outcome.violations, outcome.misses) == (rejected, 0, 0)


def saved(head):
    return json.loads(json.dumps(head.snapshot()))


@pytest.mark.parametrize("number", [exact, float])
def test_a_restored_book_keeps_what_was_chosen(number):
    """Also after another question, and after a cancellation, when it plans all again."""
    chosen = 0
    stream = crowded(2, number=number, tasks=40)
    head = stream.engine("priced")
    for count, task in enumerate(stream.tasks):
        head.submit(task)
        if count % 8 == 7:
            before = saved(head)
            head.ask(Task("asked", task.arrival, task.load * 3, task.deadline * 9))
            again = Admission.restore(before)
            assert saved(head) == saved(again) == before
            chosen += len(before.get("on_fewest", ()))
            extra = Task(f"extra-{count}", task.arrival, task.load / 50, task.deadline * 50)
            for one in (head, again):
                if one.submit(extra).accepted:
                    one.cancel(extra.id)
            assert saved(head) == saved(again)
            head = again
    assert chosen >= 4


@pytest.mark.parametrize("algorithm", ["priced", "edf-iit-2"])
def test_a_book_is_restored_where_computing_takes_far_longer_than_sending(algorithm):
    """The end of a transmission is rounded as the completion is, from which it is found."""
    for number, (tau, chi) in product(range(1, 30), [(1.0, 1e9), (0.0, 1e13)]):
        head = Admission(Cluster(2, tau, chi), algorithm)
        for name, arrival in (("a", 0.0), ("b", 1e6)):
            head.submit(Task(name, arrival, number / 20, chi * 10))
            assert saved(Admission.restore(saved(head))) == saved(head)


def test_later_arrivals_change_no_earlier_decision():
    stream = crowded(1)
    for count in (20, 50, 90):
        head = stream.engine("priced")
        for task in stream.tasks[:count]:
            head.submit(task)
        assert head.decisions == stream.decided("priced").decisions[:count]


def test_a_number_of_no_decision_is_refused():
    data = saved(book(mixed(10)))
    with pytest.raises(
        InvalidInstanceError, match=r"on_fewest\[0\]: must be the number of a decision"
    ):
        Admission.restore(data | {"on_fewest": [99]})
    head = Admission(EIGHT, "edf-opr-an")
    head.submit(Task("a", 0, 1, 9))
    with pytest.raises(InvalidInstanceError, match="edf-opr-an has no forecast"):
        Admission.restore(saved(head) | {"on_fewest": [0]})


def test_a_book_of_a_former_release_is_restored():
    """Its tasks wait until all nodes are ready."""
    former = Admission(EIGHT, "priced-edf-opr-an", ready_times=(0, 0, 0, 0, 5, 5, 6, 7))
    for name in "ab":
        assert former.submit(Task(name, 0, 4, 60)).accepted
    assert [place.start for _, place in former.placements()] == [7, 11]
    restored = Admission.restore(saved(former) | {"algorithm": "priced"})
    assert restored.plan() == former.plan()
    assert restored.submit(Task("c", 0, 1, 50)).accepted


@pytest.mark.parametrize("number", [exact, float])
def test_a_task_ends_first_without_nodes_that_are_ready_late(number):
    ready = tuple(map(number, (0, 1, 1, 6, 6, 50, 50)))
    costs = tuple(map(number, (1, 3, 0, 2)))
    planner = EdfIit2Planner(ALL_NODES, costs, 7)
    for load in range(1, 60, 3):
        end, loads = minimum_completion(Cluster(7, *costs), ready, number(load))
        place = planner.place(ReadyTimes(ready, 0), number(0), number(load), number(99))
        assert place.end == pytest.approx(end, rel=1e-12, abs=0)
        assert place.nodes == len(loads)
        assert planner.loads(number(load), list(ready[: place.nodes]), place) == pytest.approx(
            loads
        )
