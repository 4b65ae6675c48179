"""The sweep over intervals against all pairs."""

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems.intervals import Overlap, overlaps

instants = st.fractions(min_value=0, max_value=8, max_denominator=3)
intervals = st.lists(st.tuples(instants, instants), max_size=8)
Interval = tuple[Fraction, Fraction]


def pairwise(given_intervals: list[Interval]) -> list[Fraction]:
    """Return how much every two non-empty intervals share."""
    full = [(start, end) for start, end in given_intervals if start < end]
    shared = (min(a[1], b[1]) - max(a[0], b[0]) for a, b in combinations(full, 2))
    return [amount for amount in shared if amount > 0]


@pytest.mark.property
@given(intervals)
def test_an_overlap_is_found_iff_two_intervals_overlap(given_intervals: list[Interval]) -> None:
    found = list(overlaps(given_intervals))
    expected = pairwise(given_intervals)
    assert bool(found) is bool(expected)
    assert max((o.amount for o in found), default=0) == max(expected, default=0)


@pytest.mark.property
@given(intervals)
def test_an_overlap_says_where_two_intervals_overlap(given_intervals: list[Interval]) -> None:
    for overlap in overlaps(given_intervals):
        assert overlap.start < overlap.end
        assert overlap.amount == overlap.end - overlap.start
        holding = [i for i in given_intervals if i[0] <= overlap.start and overlap.end <= i[1]]
        assert len(holding) >= 2


@pytest.mark.property
@given(intervals, st.randoms(use_true_random=False))
def test_the_order_does_not_matter(given_intervals: list[Interval], random: object) -> None:
    before = list(overlaps(given_intervals))
    random.shuffle(given_intervals)
    assert list(overlaps(given_intervals)) == before


@pytest.mark.parametrize(
    ("given_intervals", "found"),
    [
        ([], []),
        ([(0, 1)], []),
        ([(0, 1), (1, 2)], []),
        ([(1, 2), (0, 1)], []),
        ([(0, 2), (1, 3)], [(1, 2, 1)]),
        ([(0, 9), (1, 2), (3, 4)], [(1, 2, 1), (3, 4, 1)]),
        ([(0, 2), (0, 2)], [(0, 2, 2)]),
        ([(0, 2), (1, 1)], []),
        ([(0, 2), (3, 1)], []),
        ([(1, 1), (1, 1)], []),
        ([(0.0, 0.5), (Fraction(1, 4), 1)], [(0.25, 0.5, 0.25)]),
    ],
)
def test_overlaps(given_intervals: list[Interval], found: list[tuple[object, ...]]) -> None:
    assert list(overlaps(given_intervals)) == [Overlap(*overlap) for overlap in found]
