"""The readings of AC-FAST: each admits a task that misses, by exactly so much."""

from fractions import Fraction

import pytest

import dlopt
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.problems.admission import Instance, Task
from dlopt.result import Status
from tests.heuristics.admission.fast.planners import READINGS, SOUND, empty_planner, rejections
from tests.instance_files import ROOT

FOLDER = ROOT / "instances" / "admission" / "counterexamples"
CASES = [
    ("waiting", "waiting", {}, "b", Fraction(1, 2), 3),
    ("edf", "edf", {}, "b", Fraction(1, 2), 3),
    ("dispatched", "dispatched", {}, "b", Fraction(7, 27), 3),
    ("dispatched", "dispatched-two-nodes", {}, "b", Fraction(7, 16), 4),
    ("chunk", "chunk", {}, "c", Fraction(1, 3), 8),
    ("chunk", "chunk-running", {"reset": "running"}, "c", Fraction(1, 5), 13),
]


@pytest.mark.parametrize(("reading", "file", "options", "late", "by", "at"), CASES)
def test_a_reading_admits_a_task_that_misses(reading, file, options, late, by, at):
    instance = dlopt.read(FOLDER / f"fast-edf-iit-literal-{file}.json")
    result = dlopt.solve(instance, f"fast-edf-iit:literal-{reading}", **options)
    assert result.status is Status.UNSOUND
    assert result.value == len(instance.tasks)
    (violation,) = result.violations
    assert violation.kind == "load-not-conserved"
    assert violation.resource == f"task {late}"
    assert abs(violation.amount) == by
    assert next(t for t in instance.tasks if t.id == late).absolute_deadline == at


@pytest.mark.parametrize(("reading", "file", "options", "late", "by", "at"), CASES)
def test_no_plan_at_all_keeps_what_it_promises(reading, file, options, late, by, at):
    """At the moment of admission, with what was sent by then, the queue is infeasible."""
    instance = dlopt.read(FOLDER / f"fast-edf-iit-literal-{file}.json")
    cluster = instance.cluster
    made = empty_planner(FastAlgorithm(reading, **options), cluster.nodes, cluster.tau, cluster.chi)
    tasks = [(task.arrival, task.load, task.deadline) for task in instance.tasks]
    assert rejections(made, tasks) == [None] * len(tasks)
    now = instance.tasks[-1].arrival
    state = made.state(now)
    waiting = {}
    for task in state.tasks:
        known = instance.tasks[task.key[1]]
        remaining = {} if known.arrival == now else {"remaining": task.load}
        waiting[known.id] = Task(known.id, known.arrival, known.load, known.deadline, **remaining)
    queue = Instance(
        cluster,
        tuple(waiting[task.id] for task in instance.tasks if task.id in waiting),
        now=now,
        ready_times=tuple(state.ready),
        channel_ready=state.channel,
    )
    for installments in (1, 2):
        verdict = dlopt.solve(queue, "feasibility", installments=installments)
        assert verdict.status is Status.INFEASIBLE


@pytest.mark.parametrize("test", SOUND)
@pytest.mark.parametrize("file", [file for _, file, *_ in CASES])
def test_the_repairs_reject_it(test, file):
    instance = dlopt.read(FOLDER / f"fast-edf-iit-literal-{file}.json")
    name = FastAlgorithm(test).name
    result = dlopt.solve(instance, name)
    assert result.status is Status.FEASIBLE
    assert result.value == len(instance.tasks) - 1
    assert not result.solution.decisions[-1].accepted


@pytest.mark.parametrize("reading", READINGS)
def test_a_figure_of_the_paper(reading):
    """Figure 6.4 fits N = 4, tau = 4, chi = 16: without the adjustment, task 2 is admitted."""
    late = rejections(empty_planner(reading, 4, 4, 16), [(0, 1, 20), (6, 1, 8)])
    assert (late[1] is None) == (reading in ("waiting", "edf"))


def test_one_by_one_the_batch_is_seen_through():
    tasks = [(0, 3, 8), (6, 1, 5), (6, 1, 2)]
    for events in ("one-by-one", "arrivals-first", "dispatch-first"):
        made = empty_planner(FastAlgorithm("chunk", events=events), 2, 1, 2)
        assert (rejections(made, tasks)[-1] is None) == (events != "one-by-one")
        assert bool(made.unfinished()) == (events != "one-by-one")


def test_what_is_sent_at_an_instant_comes_first_or_last():
    """A task is sent at 0 before the other arrives, or waits behind it."""
    made = {
        events: empty_planner(FastAlgorithm("r2", events=events), 1, 1, 1)
        for events in ("one-by-one", "arrivals-first", "dispatch-first")
    }
    for one in made.values():
        rejections(one, [(0, 1, 9), (0, 1, 4)])
    first = {events: one.chunks()[0].task for events, one in made.items()}
    assert first == {"one-by-one": "t0", "arrivals-first": "t1", "dispatch-first": "t1"}
    late = empty_planner(FastAlgorithm("r2", events="dispatch-first"), 1, 1, 1, ready=[2])
    rejections(late, [(0, 1, 9), (2, 1, 4), (2, 1, 5)])
    assert [chunk.task for chunk in late.chunks()] == ["t0", "t1"]


def test_the_predecessor_is_forgotten_or_not():
    """A long task is sent; long after it is done a short one comes to an idle cluster."""
    tasks = [(0, 2, 10), (40, 1, 4)]
    accepted = {
        (reading, reset): rejections(empty_planner(FastAlgorithm(reading, reset), 2, 1, 2), tasks)[
            1
        ]
        is None
        for reading in ("dispatched", "chunk")
        for reset in ("idle", "running", "never")
    }
    assert accepted == {
        (reading, reset): reset != "never"
        for reading in ("dispatched", "chunk")
        for reset in ("idle", "running", "never")
    }


def test_the_last_that_runs_takes_the_place_of_one_that_is_done():
    """Task 0 runs until 20, task 1 is done at 3; at 5 the predecessor is task 0 again."""
    tasks = [(0, 5, 20), (1, 1, 2), (5, 1, 30)]
    for reading, reset in (("dispatched", "running"), ("edf", "idle")):
        made = empty_planner(FastAlgorithm(reading, reset), 3, 1, 3)
        assert rejections(made, tasks)[0] is None


def test_the_head_must_be_free_in_time():
    made = empty_planner("waiting", 2, 2, 0)
    late = rejections(made, [(0, 4, 9), (0, 1, 9), (1, 1, 1), (8, 1, 9)])
    assert [one is None for one in late] == [True, False, False, True]
    assert (late[2].task.id, late[2].miss.of) == ("t2", "time")


def test_who_would_miss_is_told():
    """A task that is due before the one that waits would take its slack."""
    made = empty_planner("dispatched", 1, 1, 1, ready=[0])
    late = rejections(made, [(0, 1, 20), (1, 4, 12), (1, 3, 9)])
    assert late[:2] == [None, None]
    assert (late[2].task.id, late[2].miss.of) == ("t1", "time")


def test_one_by_one_what_can_be_sent_is_sent_before_the_first_arrival_of_an_instant():
    """At 9 a node is free, and the task that waits is sent to it before the new one is tested."""
    tasks = [(5, 4, 31), (5, 1, 30), (6, 2, 6), (6, 3, 0), (9, 4, 20), (11, 2, 28)]
    for events in ("one-by-one", "arrivals-first", "dispatch-first"):
        made = empty_planner(FastAlgorithm("replay", events=events), 2, 1, 4)
        accepted = [refused is None for refused in rejections(made, tasks)]
        assert accepted == [True, True, False, False, events != "one-by-one", True]
