"""Local search over the order of tasks: valid schedules, promises, objectives, limits."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import count

import pytest

from dlopt import Limits, Status, solve
from dlopt.heuristics.admission.local_search import local_search
from dlopt.heuristics.admission.task_order import OrderScheduler, TaskOrder
from dlopt.models.admission.methods import bound_window
from dlopt.problems.admission import Instance, Solution, Task, objective, violations
from dlopt.problems.cluster import Cluster


def drawn(seed: int, *, nodes: int = 4, tasks: int = 10, setup: float = 0, **state) -> Instance:
    """Return a stream of which about half of the tasks can be accepted."""
    draw = random.Random(seed)
    cluster = Cluster(nodes, 1, draw.randint(1, 4), setup, setup)
    stream = (
        Task(str(k), arrival, draw.randint(1, 6), draw.randint(5, 15))
        for k, arrival in enumerate(sorted(draw.randint(0, 14) for _ in range(tasks)))
    )
    return Instance(cluster, tuple(stream), **state)


def online_value(instance: Instance) -> float:
    """Return the most that an algorithm accepts that learns of tasks as they arrive."""
    return max(solve(instance, name).value for name in ("edf-iit-2", "edf-iit-an"))


@pytest.mark.parametrize(("setup", "least"), [(0, 4), (Fraction(1, 2), 1)])
def test_schedules_are_valid_and_accept_more_than_online_algorithms(setup, least):
    gained = 0
    for seed in range(8):
        instance = drawn(seed, setup=setup)
        found = local_search(instance, limits=Limits(work=400))
        assert not violations(instance, found.solution)
        assert found.value == objective(instance, found.solution, "accepted")
        assert found.value <= bound_window(instance).bound
        gained += found.value - online_value(instance)
    assert gained >= least


def test_equal_seeds_give_equal_schedules():
    first, second = (local_search(drawn(1), seed=3) for _ in range(2))
    assert first == second


def test_floats_and_dates_are_on_time():
    for seed in range(4):
        exact = drawn(seed)
        late = replace(
            exact,
            tasks=tuple(
                replace(task, arrival=1.7e9 + task.arrival, load=task.load / 10, deadline=2.1)
                for task in exact.tasks
            ),
        )
        found = local_search(late, limits=Limits(work=200))
        assert found.value > 0
        assert not violations(late, found.solution, 1e-9)


def met_exactly(seed: int) -> Instance:
    """Return a stream on one node of which a random order meets all deadlines exactly."""
    draw, stream = random.Random(seed), drawn(seed, nodes=1, tasks=8)
    tasks = tuple(
        replace(task, load=Fraction(task.load, 7), deadline=1000) for task in stream.tasks
    )
    order = list(range(8))
    draw.shuffle(order)
    scheduler = OrderScheduler(replace(stream, tasks=tasks), (1.0,) * 8, Fraction)
    plan = scheduler.solution(TaskOrder(tuple(order), (0,) * 8))
    ends = {chunk.task: chunk.computation_end for chunk in plan.chunks}
    return replace(
        stream, tasks=tuple(replace(task, deadline=ends[task.id] - task.arrival) for task in tasks)
    )


def test_deadlines_that_are_met_exactly_are_met_in_fractions():
    # In floats some of the ends are later than the deadlines, by their rounding.
    for seed in (9, 25, 44):
        assert local_search(met_exactly(seed), limits=Limits(work=300)).value == 8


def test_tasks_of_more_weight_are_accepted():
    tasks = Task("a", 0, 2, 4), Task("b", 0, 1, 2), Task("c", 0, 1, 4)
    heavy = replace(tasks[0], weight=5)
    instance = Instance(Cluster(1, 1, 1), (heavy, *tasks[1:]))
    accepted = {
        goal: {
            d.task for d in local_search(instance, objective=goal).solution.decisions if d.accepted
        }
        for goal in ("accepted", "accepted-weight")
    }
    assert accepted == {"accepted": {"b", "c"}, "accepted-weight": {"a"}}


def test_a_promised_task_is_kept_though_others_are_rejected_for_it():
    tasks = Task("a", 0, 2, 5), Task("b", 1, 1, 2), Task("c", 1, 1, 4)
    instance = Instance(Cluster(1, 1, 1), tasks, now=1)
    assert instance.promised == {"a"}
    found = local_search(instance)
    assert found.value == 1
    assert [decision.accepted for decision in found.solution.decisions] == [True, False, False]


def test_a_promise_that_cannot_be_kept_is_reported():
    instance = Instance(Cluster(1, 1, 1), (Task("a", 0, 2, 4),), now=1)
    found = local_search(instance)
    assert (found.status, found.solution) == (Status.UNKNOWN, None)
    assert "all promised tasks are on time" in found.reason


def test_work_and_time_limits_end_the_search():
    instance = drawn(5, tasks=40)
    assert local_search(instance, limits=Limits(work=3)).stopped_by == "work"
    begun = local_search(instance, limits=Limits(time_s=1e-6))
    assert begun.stopped_by == "time"
    assert not violations(instance, begun.solution)


@pytest.mark.parametrize(("number", "most"), [(float, 1.3), (Fraction, 1.0)])
def test_time_is_left_for_the_schedule_and_its_check(monkeypatch, number, most):
    clock = count(step=0.01)  # seconds: an evaluation of an order takes one step
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    drawn_one = drawn(5, tasks=40)
    tasks = tuple(replace(task, load=number(task.load)) for task in drawn_one.tasks)
    local_search(replace(drawn_one, tasks=tasks), limits=Limits(time_s=2))
    assert next(clock) < most


@pytest.mark.parametrize(("limits", "orders"), [(Limits(work=50), 2), (Limits(time_s=2), 1)])
def test_one_order_is_scheduled_when_the_time_is_up(monkeypatch, limits, orders):
    clock = count(step=0.01)
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    scheduled = []

    def without_tasks(_, order: TaskOrder) -> Solution:
        scheduled.append(order)
        return Solution((), ())

    monkeypatch.setattr(OrderScheduler, "solution", without_tasks)
    assert local_search(drawn(5, tasks=40), limits=limits).value == 0
    assert len(scheduled) == orders


def test_all_tasks_accepted_end_the_search():
    found = local_search(Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 9),)), limits=Limits(work=9))
    assert (found.value, found.stopped_by) == (1, None)


def test_a_rejected_task_leaves_the_ready_times_as_they_were():
    tasks = Task("late", 5, 9, 1), Task("early", 0, 1, 2)
    instance = Instance(Cluster(1, 1, 1), tuple(sorted(tasks, key=lambda task: task.arrival)))
    plan = OrderScheduler(instance, (1.0, 1.0), Fraction).solution(TaskOrder((1, 0), (0, 0)))
    assert [(chunk.task, chunk.transmission_start) for chunk in plan.chunks] == [("early", 0)]


def test_exact_begins_with_its_schedule():
    instance = drawn(2, nodes=8, tasks=12)
    found = solve(instance, "exact", limits=Limits(time_s=20, gap=1.0))
    assert found.value >= local_search(instance, limits=Limits(time_s=0.5)).value


def test_tasks_that_arrive_together_are_sent_by_their_deadlines():
    tasks = tuple(Task(str(k), 3, 1, 2 * (k + 1)) for k in range(5))
    found = local_search(Instance(Cluster(1, 1, 1), tasks), limits=Limits(work=1))
    assert [chunk.task for chunk in found.solution.chunks] == ["0", "1", "2", "3", "4"]
