"""Makespans of tasks on machines of different speeds, bounded by sums of tasks that fit."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, Status, api
from dlopt.models.common.rounded_work_bound import MAX_TOTAL_SIZE, rounded_work_bound
from dlopt.problems import bag, dag
from tests.examples import share

SPEEDS = 5, 3, 2, 2, 1, 6
WORK = 60


def as_graph(works, powers):
    tasks = tuple(dag.Task(f"t{k}", work=work) for k, work in enumerate(works))
    machines = tuple(dag.Machine(f"m{k}", power=power) for k, power in enumerate(powers))
    return dag.Instance(machines, (dag.Graph("g", tasks),))


def as_bag(works, powers):
    tasks = tuple(bag.Task(f"t{k}", work) for k, work in enumerate(works))
    return bag.Instance(tasks, tuple(bag.Machine(f"m{k}", power=p) for k, p in enumerate(powers)))


@share(1)
@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 5)), min_size=1, max_size=3),
)
def test_no_schedule_is_shorter(sizes, machines):
    """Each size takes a machine so many times as long as it says, from when it is ready."""
    units, ready = zip(*machines, strict=True)
    times = [[size * unit for unit in units] for size in sizes]
    best = min(
        max(
            ready[k] + sum(row[k] for row, p in zip(times, chosen, strict=True) if p == k)
            for k in set(chosen)
        )
        for chosen in product(range(len(units)), repeat=len(sizes))
    )
    assert rounded_work_bound(times, ready, 0, best + 9) <= best


def test_what_does_not_fit_is_left_to_other_machines():
    """By 4, two machines could do 8 units of work, but only the task of 3 fits."""
    assert rounded_work_bound([(3, 3), (5, 5)], (0, 0), 0, 9) == 5


def test_times_that_are_no_products_keep_the_bound_that_is_known():
    assert rounded_work_bound([(2, 3), (2, 4)], (0, 0), 1, 9) == 1
    assert rounded_work_bound([(2, None), (2, 4)], (0, 0), 1, 9) == 1
    assert rounded_work_bound([(0, 0), (0, 0)], (0, 0), 1, 9) == 1
    large = [(MAX_TOTAL_SIZE, MAX_TOTAL_SIZE), (1, 1)]
    assert rounded_work_bound(large, (0, 0), 1, 2 * MAX_TOTAL_SIZE) == 1


@pytest.mark.parametrize("count", [24, 40])
@pytest.mark.parametrize("stated", [as_graph, as_bag])
def test_tasks_of_one_size_are_proven_without_a_search(stated, count):
    """The last of the first so many multiples of the times that the machines take."""
    ends = sorted(WORK * k // speed for speed in SPEEDS for k in range(1, count + 1))
    found = api.solve(stated([WORK] * count, SPEEDS), limits=Limits(time_s=1))
    assert (found.status, found.value) == (Status.OPTIMAL, ends[count - 1])
    assert "sums of tasks" in found.reason


def test_the_exact_method_of_bags_is_no_worse_than_max_min():
    random = Random(1)
    works = [WORK * random.randint(1, 100) for _ in range(60)]
    instance = as_bag(works, [random.randint(1, 6) for _ in range(12)])
    found = api.solve(instance, objective="makespan", limits=Limits(time_s=1))
    assert found.value <= api.solve(instance, "max-min", objective="makespan").value
