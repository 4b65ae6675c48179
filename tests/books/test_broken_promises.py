"""Which promises are broken, against all subsets of them."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.books import fewest_broken

SIZE = 6
PROMISES = tuple(range(SIZE))
subsets = st.frozensets(st.sampled_from(PROMISES), min_size=1)


def planner(impossible):
    """Return a planner that cannot plan some sets; the last of such a set misses."""

    def first_to_miss(chosen):
        return chosen[-1] if frozenset(chosen) in impossible else None

    return first_to_miss


def most_that_can_be_kept(impossible):
    return max(
        size
        for size in range(SIZE + 1)
        for kept in combinations(PROMISES, size)
        if frozenset(kept) not in impossible
    )


@pytest.mark.property
@given(st.frozensets(subsets, max_size=40))
def test_against_all_subsets(impossible):
    """Any sets may be impossible: what is kept can be planned, and no more could be kept."""
    found = fewest_broken(PROMISES, planner(impossible))
    assert frozenset(found.kept) not in impossible
    assert sorted((*found.kept, *found.broken)) == list(PROMISES)
    assert found.least
    assert len(found.kept) == most_that_can_be_kept(impossible)


@pytest.mark.property
@given(st.lists(subsets, max_size=4))
def test_of_conflicts(conflicts):
    """A set is impossible if it holds all of a conflict, as most planners have it."""
    impossible = {
        frozenset(chosen)
        for size in range(SIZE + 1)
        for chosen in combinations(PROMISES, size)
        if any(conflict <= set(chosen) for conflict in conflicts)
    }
    found = fewest_broken(PROMISES, planner(impossible))
    assert found.least and len(found.kept) == most_that_can_be_kept(impossible)


@pytest.mark.property
@given(st.frozensets(subsets, max_size=40), st.integers(0, 6))
def test_with_few_trials(impossible, trials):
    """What is kept can be planned; that fewer cannot be broken is claimed only if it is so."""
    found = fewest_broken(PROMISES, planner(impossible), trials=trials)
    assert frozenset(found.kept) not in impossible
    if found.least:
        assert len(found.kept) == most_that_can_be_kept(impossible)
