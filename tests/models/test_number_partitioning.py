"""Partitions of integers, against brute force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.models.common import number_partitioning
from dlopt.models.common.number_partitioning import NumberPartitioning
from tests.examples import share
from tests.oracles import least_largest_sum


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


def test_a_search_that_is_over_before_it_begins_proves_nothing():
    search = NumberPartitioning([9, 8, 8, 7, 6, 4], parts=3, bound=14, value=17)
    search.run(stop=0.0)
    assert (search.bound, search.value, search.best) == (14, 17, None)
