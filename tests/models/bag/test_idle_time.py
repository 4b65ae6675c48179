"""Due dates and arrivals far away: idle periods are shortened, and nothing is lost."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import api
from dlopt.models.bag.exact_times import ExactTimes, without_idle_time
from dlopt.models.bag.methods import solve_exact
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.problems.bag import Instance, Machine, Task
from dlopt.result import Status
from tests.examples import share

NEVER = 10**18


def tasks_on_time(*rows, machines=1):
    """Return an instance of tasks (release, duration, due date) on identical machines."""
    tasks = tuple(
        Task(f"t{k}", work, release=release, absolute_deadline=due)
        for k, (release, work, due) in enumerate(rows)
    )
    return Instance(tasks, tuple(Machine(f"m{k}") for k in range(machines)))


SHORT_FIRST = (0, 5, 8), (2, 1, 3)
"""The second task must be run first, while the first one waits: the machine ends at 8, not at 6."""


@pytest.mark.parametrize("far", [10**13, NEVER])
@pytest.mark.parametrize(
    ("rows", "best"),
    [
        (SHORT_FIRST, 2),
        (((0, 2, 3), (0, 2, 3), (1, 2, 5)), 2),
        (((0, 3, 4), (1, 3, 7), (8, 2, 10), (8, 2, 11)), 3),
    ],
)
def test_a_task_far_away_does_not_cost_the_proof(rows, best, far):
    for more in ((0, 3, far),), ((far, 3, far + 3),), ((0, 3, far), (far, 3, far + 3)):
        found = api.solve(tasks_on_time(*rows, *more), objective="accepted")
        assert (found.status, found.value) == (Status.OPTIMAL, best + len(more))


def test_times_in_small_units_and_a_long_horizon_are_proven():
    """Two tasks of 0.1 and 0.2 seconds with dates in microseconds, and one of no real deadline."""
    rows = (0.000001, 0.1, 0.15), (0.02, 0.2, 0.25), (0.0, 0.3, 1e9)
    found = api.solve(tasks_on_time(*rows), objective="accepted")
    assert (found.status, found.value) == (Status.OPTIMAL, 2)


def test_instants_within_idle_periods_move_to_their_beginning():
    times = ExactTimes.from_instance(tasks_on_time((0, 2, 50), (100, 3, 150), (100, 2, NEVER)))
    near = without_idle_time(times)
    assert [int(row[0]) for row in near.arrivals] == [0, 2, 2]
    assert [int(due) for due in near.due_dates] == [2, 7, 7]
    assert near.schedule_due_dates == times.schedule_due_dates


@share(1 / 4)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 5), st.integers(1, 12)),
        min_size=1,
        max_size=4,
    ),
    spread=st.integers(1, 60),
    machines=st.integers(1, 2),
)
def test_as_many_tasks_are_on_time_as_with_the_stated_dates(rows, spread, machines):
    """With arrivals far enough apart most examples have an idle period."""
    rows = [(start * spread, work, start * spread + due) for start, work, due in rows]
    stated = tasks_on_time(*rows, machines=machines)
    far = tasks_on_time(*rows, (0, 1, NEVER), machines=machines)
    assert ScaledInstance.from_instance(far, "accepted").without_idle_time
    found, alone = (solve_exact(one, objective="accepted") for one in (far, stated))
    assert (found.status, found.value) == (Status.OPTIMAL, alone.value + 1)


def test_a_machine_that_is_ready_in_a_hundred_years_does_not_matter():
    instance = tasks_on_time(*SHORT_FIRST, (0, 3, NEVER))
    machines = (*instance.machines, Machine("late", ready=NEVER - Fraction(3, 2)))
    found = api.solve(replace(instance, machines=machines), objective="accepted")
    assert (found.status, found.value) == (Status.OPTIMAL, 3)
