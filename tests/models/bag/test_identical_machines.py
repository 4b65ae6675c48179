"""Makespans of tasks on identical machines, of which partitions are schedules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.models.bag.identical_machines import is_number_partitioning, search_partitions
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.common.number_partitioning import MAX_TASKS, NUMBER_PARTITIONING
from dlopt.problems.bag import Instance, Machine, Task
from dlopt.result import Status
from tests.examples import share
from tests.oracles import least_largest_sum


def matrix(times, machines):
    return Instance(etc=tuple((time,) * machines for time in times))


@pytest.mark.property
@share(1 / 2)
@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=7), st.integers(2, 4))
def test_schedules_and_bounds_are_those_of_brute_force(times, machines):
    scaled = ScaledInstance.from_instance(matrix(times, machines), "makespan")
    everything = tuple(range(len(times))), *[()] * (machines - 1)
    found = search_partitions(scaled, everything, lower=0)
    optimum = least_largest_sum(times, machines)
    assert found.bound * scaled.to_instance_time(1) == optimum
    if found.sequences is None:
        assert sum(times) == optimum
    else:
        assert len(found.sequences) == machines
        assert sorted(job for one in found.sequences for job in one) == list(range(len(times)))
        assert max(sum(times[job] for job in one) for one in found.sequences) == optimum


def test_sixteen_tasks_on_four_machines_need_no_solver():
    """CP-SAT left gaps of 3 % of twenty after 5 seconds."""
    times = tuple(10**5 + 7919 * k * k % 900_001 for k in range(1, 17))
    result = solve(matrix(times, 4), "exact", objective="makespan")
    assert (result.status, result.proof) == (Status.OPTIMAL, "exact")
    assert NUMBER_PARTITIONING in result.reason


def test_what_is_no_partition():
    def is_partition(instance, objective="makespan"):
        return is_number_partitioning(ScaledInstance.from_instance(instance, objective))

    machines = Machine("m"), Machine("n")
    assert is_partition(matrix((3, 4, 5), 2))
    assert is_partition(Instance((Task("a", 3), Task("b", 3)), machines))
    assert not is_partition(matrix((3, 4, 5), 2), "flowtime")
    assert not is_partition(matrix(range(1, MAX_TASKS + 2), 2))
    assert not is_partition(Instance(etc=((3, 3), (4, 5))))
    assert not is_partition(Instance((Task("a", 3, release=1), Task("b", 3)), machines))
    dated = Task("a", 3, absolute_deadline=9), Task("b", 3)
    assert not is_partition(Instance(dated, machines))
