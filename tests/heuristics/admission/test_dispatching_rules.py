"""In which order a queue is planned: queues that can be checked by hand."""

from fractions import Fraction

import pytest

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.dispatching_rules import mwf_order, plan_in_order
from dlopt.heuristics.admission.mcdf import plan_mcdf
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    Placement,
    PlannedTask,
    QueuedTask,
    Rejection,
)

F = Fraction
ONE = (F(1), F(1), F(0), F(0))


def task_planner(name="mcdf", costs=ONE, nodes=2):
    return OprEprPlanner(Algorithm.parse(name), costs, nodes)


def waiting(*tasks):
    """Return tasks of (load, deadline), which all arrived at 0, in the order of arrival."""
    return [
        QueuedTask((F(deadline), number), f"t{number}", F(0), F(load), F(deadline))
        for number, (load, deadline) in enumerate(tasks)
    ]


def names(plan):
    return [planned.task.id for planned in plan]


def test_one_after_the_other():
    """Without the channel both start at 0; with it the second one starts at 1."""
    tasks = waiting((1, 2), (1, 4))
    free = plan_in_order(task_planner("edf-opr-mn"), ReadyTimes((0, 0), 0), tasks, 0, channel=False)
    assert free == [
        PlannedTask(tasks[0], Placement(1, 0, 0, 1, 2)),
        PlannedTask(tasks[1], Placement(1, 0, 0, 1, 2)),
    ]
    bound = plan_in_order(task_planner("edf-opr-mn"), ReadyTimes((0, 0), 0), tasks, 0, channel=True)
    assert bound[1] == PlannedTask(tasks[1], Placement(1, 1, 1, 2, 3))


def test_nothing_is_sent_before_now_or_before_the_channel_is_free():
    tasks = waiting((1, 9))
    for channel, now, start in ((True, 3, 5), (True, 6, 6), (False, 3, 3)):
        plan = plan_in_order(task_planner("edf-opr-mn"), ReadyTimes((0, 0), 5), tasks, now, channel)
        assert plan[0].placement.start == start


def test_the_first_that_misses_ends_the_plan():
    tasks = waiting((1, 2), (1, 2), (1, 9))
    assert plan_in_order(
        task_planner("edf-opr-mn"), ReadyTimes((0, 0), 0), tasks, 0, True
    ) == Rejection(tasks[1], DeadlineMiss(1, "time"))


def test_the_nodes_are_shown_before_each_task():
    seen = []
    plan_in_order(
        task_planner("edf-opr-mn"),
        ReadyTimes((0, 0), 0),
        waiting((1, 2), (1, 4)),
        0,
        True,
        lambda nodes: seen.append(nodes.copy()),
    )
    assert [nodes.ready() for nodes in seen] == [[0, 0], [0, 2]]
    assert [nodes.channel for nodes in seen] == [0, 1]


def test_the_largest_derivative_goes_first():
    """Of load x on one node it is W(2) - W(1) = 2 x/3; equal ones go by arrival."""
    tasks = waiting((1, 99), (3, 99), (2, 99), (3, 50))
    ordered = mwf_order(task_planner("mwf-opr-mn"), tasks, 0)
    assert [task.id for task in ordered] == ["t1", "t3", "t2", "t0"]


def test_the_derivative_is_taken_at_the_fewest_nodes():
    """Load 1 by 3/2 needs two nodes: W(3) - W(2) = 16/21 is more than load 1's 2/3 on one."""
    tasks = waiting((1, 99), (1, F(3, 2)))
    assert [t.id for t in mwf_order(task_planner("mwf-opr-mn"), tasks, 0)] == ["t1", "t0"]


def test_too_late_even_on_all_nodes():
    """Two nodes need 4/3 for load 1."""
    tasks = waiting((1, 9), (1, F(5, 3)))
    assert mwf_order(task_planner("mwf-opr-mn"), tasks, F(2, 3)) == Rejection(
        tasks[1], DeadlineMiss(F(1, 3), "time")
    )


def test_a_small_task_overtakes():
    """One node is free until 3. The large task needs two of them, the small one starts at once."""
    tasks = waiting((6, 12), (1, 12))
    plan = plan_mcdf(task_planner(), ReadyTimes((0, 3), 0), tasks, 0, channel=True)
    assert names(plan) == ["t0", "t1"]
    tasks = waiting((6, 11), (1, 12))
    plan = plan_mcdf(task_planner(), ReadyTimes((0, 3), 0), tasks, 0, channel=True)
    assert names(plan) == ["t1", "t0"]
    assert [planned.placement[:3] for planned in plan] == [(1, 0, 0), (2, 3, 3)]


def test_one_task_at_an_instant_or_as_many_as_find_nodes():
    tasks = waiting((1, 9), (1, 9))
    together = plan_mcdf(task_planner(), ReadyTimes((0, 0), 0), tasks, 0, channel=False)
    assert [planned.placement.start for planned in together] == [0, 0]
    apart = plan_mcdf(task_planner(), ReadyTimes((0, 0), 0), tasks, 0, channel=True)
    assert [planned.placement.start for planned in apart] == [0, 1]


def test_no_instant_before_now_the_channel_or_a_node():
    for channel, now, ready, start in ((4, 1, 0, 4), (4, 5, 0, 5), (4, 5, 7, 7)):
        plan = plan_mcdf(
            task_planner(), ReadyTimes((ready, ready), channel), waiting((1, 99)), now, True
        )
        assert plan[0].placement.start == start


def test_what_waits_too_long_is_refused():
    """As literal as with the channel: at 3 there are two nodes, and it is too late."""
    tasks = waiting((6, 10), (1, 12))
    for channel in (True, False):
        found = plan_mcdf(task_planner(), ReadyTimes((0, 3), 0), tasks, 0, channel)
        assert found == Rejection(tasks[0], DeadlineMiss(1, "time"))


@pytest.mark.parametrize("channel", [True, False])
def test_tasks_that_end_as_they_start_in_floats(channel):
    """1e-12 is nothing beside 1e6, so that no node is ever busy."""
    late = 1e6 + 1e-9
    tasks = [QueuedTask((late, number), f"t{number}", 1e6, 1e-12, late) for number in range(5)]
    floating = task_planner(costs=(1.0, 2.0, 0.0, 0.0))
    plan = plan_mcdf(floating, ReadyTimes((1e6, 1e6), 1e6), tasks, 1e6, channel)
    assert names(plan) == ["t0", "t1", "t2", "t3", "t4"]
    assert {planned.placement.end for planned in plan} == {1e6}


def test_what_is_less_than_an_ulp_too_late_is_told():
    """Load 1e-12 takes 3e-12 on one node, 1.8e-12 on two; 1e6 is its deadline."""
    floating = task_planner(costs=(1.0, 2.0, 0.0, 0.0))
    tasks = [QueuedTask((1e6, 0), "t0", 1e6, 1e-12, 1e6)]
    found = plan_mcdf(floating, ReadyTimes((1e6, 1e6), 1e6), tasks, 1e6, channel=True)
    assert found.miss.by == pytest.approx(1.8e-12, rel=1e-9)
