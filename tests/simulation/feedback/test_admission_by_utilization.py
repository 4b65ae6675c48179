"""Algorithm 12, by hand."""

from __future__ import annotations

import pytest

from dlopt.simulation.feedback.admission_by_utilization import admits, next_start
from dlopt.simulation.feedback.entities import Chunk, TaskState
from dlopt.simulation.feedback.policy import Policy

# Two nodes, tau = chi = 1: E(sigma, 2) = 4/3 sigma.
COSTS = (1.0, 1.0)


def job(number: int, load: float, deadline: float, arrival: float = 0.0) -> TaskState:
    return TaskState(number, arrival, load, deadline, COSTS, COSTS)


def test_the_execution_time_is_that_of_the_paper() -> None:
    assert job(0, 3.0, 9.0).execution_time(3.0, 2) == pytest.approx(4.0)
    assert job(0, 3.0, 9.0).execution_time(3.0, 1) == pytest.approx(6.0)
    free = TaskState(0, 0.0, 3.0, 9.0, COSTS, (0.0, 2.0))  # nothing to send: nodes share evenly
    assert free.execution_time(3.0, 4) == pytest.approx(1.5)


def test_a_task_is_tested_against_the_bound_from_its_start_on() -> None:
    new = job(0, 3.0, 8.0)
    assert admits(new, [], 0.0, 0.5, 2, Policy())  # 4 of 8
    assert not admits(new, [], 0.0, 0.499, 2, Policy())
    assert not admits(new, [], 1.0, 0.5, 2, Policy())  # 4 of 7
    assert admits(new, [], 6.0, 2.0, 2, Policy())  # a bound above 1 admits what ends late


def test_all_that_wait_are_tested_one_after_the_other() -> None:
    first, last = job(0, 3.0, 8.0), job(1, 3.0, 20.0)
    between = job(2, 3.0, 12.0)
    assert admits(between, [first, last], 0.0, 0.5, 2, Policy())  # 4/8, 4/(12-4), 4/(20-8)
    assert not admits(between, [first, last], 0.0, 0.49, 2, Policy())
    tight = job(3, 3.0, 12.0)
    assert not admits(between, [first, tight], 0.0, 0.75, 2, Policy())  # 4/(12-4), then 4/(12-8)
    assert admits(between, [first, tight], 0.0, 1.0, 2, Policy())


def test_a_waiting_task_that_is_late_keeps_others_out_though_they_do_not_harm_it() -> None:
    late, new = job(0, 3.0, 3.0), job(1, 0.5, 100.0)
    assert not admits(new, [late], 0.0, 1.0, 2, Policy())


@pytest.mark.parametrize(("start", "printed"), [(9.0, False), (9.5, True)])
def test_where_no_time_is_left_the_printed_test_admits(start: float, printed: bool) -> None:
    new = job(0, 3.0, 9.0)
    assert not admits(new, [], start, 1.0, 2, Policy())
    assert admits(new, [], start, 1.0, 2, Policy(overdue="printed")) is printed


def test_ties_are_tested_in_the_order_of_arrival() -> None:
    old, new = job(0, 3.0, 8.0), job(1, 3.0, 8.0)
    assert admits(new, [old], 0.0, 1.0, 2, Policy())
    assert not admits(new, [old], 0.0, 0.99, 2, Policy())  # the old one 4/8, the new one 4/4


def test_when_the_next_task_can_start() -> None:
    one, two = job(0, 3.0, 9.0), job(1, 3.0, 9.0)
    one.begun, two.begun = 0.0, 1.0
    sent = [Chunk(one, 0, 0.0, 3.0), Chunk(two, 1, 3.0, 1.0)]  # expected at 6 and at 5
    for how, instant in (("last", 5.0), ("all-nodes", 5.0), ("balance", (5.0 + 6.0 / 2) / 1.5)):
        assert next_start(3.5, sent, 2, 0.5, Policy(start=how)) == pytest.approx(instant)  # type: ignore[arg-type]
    for how in ("last", "all-nodes", "balance"):
        assert next_start(7.0, sent, 2, 0.5, Policy(start=how)) == 7.0  # type: ignore[arg-type]
        assert next_start(7.0, [], 2, 0.5, Policy(start=how)) == 7.0  # type: ignore[arg-type]


def test_nodes_that_are_not_counted_on_are_not_believed_to_be_free() -> None:
    one = job(0, 3.0, 9.0)
    sent = [Chunk(one, 0, 0.0, 3.0)]
    assert next_start(4.0, sent, 1, 0.5, Policy()) == 6.0
    assert next_start(4.0, sent, 2, 0.5, Policy()) == pytest.approx((4 + 6 / 2) / 1.5)
