"""Independent tasks on identical machines: partitions against brute force, and in the search."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.models.dag import number_partitioning
from dlopt.models.dag.number_partitioning import NumberPartitioning, is_number_partitioning
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.search import NUMBER_PARTITIONING
from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
from dlopt.result import Status
from tests.examples import share


def least_largest_sum(sizes, parts):
    return min(
        max(
            sum(size for size, own in zip(sizes, places, strict=True) if own == part)
            for part in range(parts)
        )
        for places in product(range(parts), repeat=len(sizes))
    )


def independent(works, machines, **fields):
    tasks = tuple(Task(f"t{k}", work=work) for k, work in enumerate(works))
    names = tuple(Machine(f"m{k}") for k in range(machines))
    return Instance(names, (Graph("g", tasks, **fields),))


def searched(sizes, parts):
    bound = max(-(-sum(sizes) // parts), *sizes)
    search = NumberPartitioning(sizes, parts, bound, sum(sizes) + 1)
    search.run()
    return search


def assert_partition(search, sizes, parts):
    assert len(search.best) <= parts
    assert sorted(index for part in search.best for index in part) == list(range(len(sizes)))
    assert max(sum(sizes[index] for index in part) for part in search.best) == search.value


@pytest.mark.property
@share(2)
@given(st.data(), st.integers(2, 4), st.sampled_from((6, 30, 10**12)))
def test_the_least_largest_sum_is_that_of_brute_force(data, parts, most):
    sizes = data.draw(st.lists(st.integers(1, most), min_size=1, max_size=8 - parts // 2))
    search = searched(sizes, parts)
    assert search.bound == search.value == least_largest_sum(sizes, parts)
    assert_partition(search, sizes, parts)


@pytest.mark.property
@share(1)
@given(
    st.lists(st.integers(1, 60), min_size=4, max_size=8),
    st.sampled_from(("MAX_SUBSETS", "MAX_WORK")),
    st.integers(1, 40),
)
def test_what_limits_leave_is_a_bound_and_a_partition(sizes, limit, most):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(number_partitioning, "WORK_OF_COVER", 1)
        patched.setattr(number_partitioning, limit, most)
        search = searched(sizes, 3)
    optimum = least_largest_sum(sizes, 3)
    assert search.bound <= optimum <= search.value
    if search.best is not None:
        assert_partition(search, sizes, 3)


def test_twelve_tasks_on_four_machines_need_no_solver():
    """CP-SAT left a gap of 1 % after 10 seconds."""
    works = (
        906691,
        366110,
        622954,
        709732,
        833082,
        286526,
        459225,
        748577,
        190443,
        612345,
        99011,
        702117,
    )
    result = solve(independent(works, 4), "exact")
    assert (result.status, result.proof) == (Status.OPTIMAL, "exact")
    assert NUMBER_PARTITIONING in result.reason


@pytest.mark.parametrize(
    "works", [(0, 5, 3, 3, 0, 2, 2, 1), (0.7, 0.11, 0.31, 0.35, 0.49, 0.53, 0.05)]
)
def test_tasks_without_work_and_in_floats(works):
    result = solve(independent(works, 3), "exact")
    assert result.status is Status.OPTIMAL
    assert float(result.value) == pytest.approx(least_largest_sum(works, 3))


def test_a_search_that_is_over_before_it_begins_proves_nothing():
    search = NumberPartitioning([9, 8, 8, 7, 6, 4], parts=3, bound=14, value=17)
    search.run(stop=0.0)
    assert (search.bound, search.value, search.best) == (14, 17, None)


def test_what_is_no_partition():
    works = (3, 4, 5)
    edge = Edge(0, 1, data=0)
    assert is_number_partitioning(ScaledInstance.from_instance(independent(works, 2)))
    for other in (
        independent(works, 2, edges=(edge,)),
        independent(range(1, number_partitioning.MAX_TASKS + 2), 2),
        Instance((Machine("m"), Machine("n", power=2)), independent(works, 2).graphs),
        Instance(
            (Machine("m"), Machine("n")),
            (Graph("g", (Task("a", work=1),)), Graph("h", (Task("b", work=1),), arrival=3)),
        ),
    ):
        assert not is_number_partitioning(ScaledInstance.from_instance(other))
