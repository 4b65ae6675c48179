"""Irreducible conflicts, against all subsets; of tests for which fewer parts may reject more."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.books import ConflictPart, irreducible_conflict
from dlopt.heuristics.admission.irreducible_conflict import find_conflict

SIZE = 6
PARTS = tuple(range(SIZE))


def monotone(sets):
    """Return a test that rejects with every superset of one of some sets."""
    return lambda chosen: any(one <= set(chosen) for one in sets)


subsets = st.frozensets(st.sampled_from(PARTS))


def assert_irreducible(found, rejects):
    assert rejects(found)
    for index in range(len(found)):
        assert not rejects(found[:index] + found[index + 1 :])


@pytest.mark.property
@given(st.lists(subsets, min_size=1, max_size=5))
def test_of_monotone_tests(sets):
    rejects = monotone([*sets, frozenset(PARTS)])
    found = irreducible_conflict(PARTS, rejects)
    assert_irreducible(found, rejects)
    assert list(found) == sorted(found)


@pytest.mark.property
@given(st.frozensets(subsets))
def test_of_any_test(rejected):
    """Whatever sets are rejected, all parts among them."""
    rejected = rejected | {frozenset(PARTS)}
    rejects = lambda chosen: frozenset(chosen) in rejected  # noqa: E731
    found = irreducible_conflict(PARTS, rejects)
    assert_irreducible(found, rejects)


@pytest.mark.parametrize("seed", range(40))
def test_where_half_of_all_sets_are_rejected(seed):
    draw = random.Random(seed)
    rejected = {
        frozenset(chosen)
        for size in range(SIZE)
        for chosen in combinations(PARTS, size)
        if size and draw.random() < 1 / 2
    } | {frozenset(PARTS)}
    rejects = lambda chosen: frozenset(chosen) in rejected  # noqa: E731
    assert_irreducible(irreducible_conflict(PARTS, rejects), rejects)


@pytest.mark.property
@given(st.lists(subsets, min_size=1, max_size=5))
def test_early_parts_are_preferred(sets):
    """Where the parts of a first section suffice, no later one is named."""
    rejects = monotone([*sets, frozenset(PARTS)])
    found = irreducible_conflict(PARTS, rejects)
    for end in range(SIZE):
        if rejects(PARTS[:end]):
            assert all(part < end for part in found)


def test_few_tests_for_few_parts():
    asked = []

    def rejects(chosen):
        asked.append(chosen)
        return {17, 803} <= set(chosen)

    assert irreducible_conflict(range(1000), rejects) == (17, 803)
    assert len(asked) < 60


def test_few_tests_where_fewer_parts_may_be_accepted_or_not():
    """An odd number of parts that hold 5 is rejected: blocks are left out first."""
    asked = []

    def rejects(chosen):
        asked.append(chosen)
        return 5 in chosen and len(chosen) % 2 == 1

    assert_irreducible(irreducible_conflict(range(999), rejects), rejects)
    assert len(asked) < 120


def test_nothing_in_the_way():
    assert irreducible_conflict(PARTS, lambda chosen: True) == ()


parts = [ConflictPart("task", str(number)) for number in PARTS]


@pytest.mark.property
@given(st.frozensets(subsets), subsets, st.integers(0, 2000))
def test_searches_that_are_broken_off(rejected, likely, limit):
    """They return parts that suffice, and say whether each is necessary."""

    def rejects(chosen):
        numbers = frozenset(int(part.id) for part in chosen)
        return len(numbers) == SIZE or numbers in rejected

    first = [part for part in parts if int(part.id) in likely]
    found = find_conflict("", parts, first, rejects, limit)
    assert rejects(found.parts)
    if found.irreducible:
        assert_irreducible(found.parts, rejects)
    else:
        assert limit < 2000
