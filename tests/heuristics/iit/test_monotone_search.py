"""The smallest integer for which a monotone predicate holds."""

import pytest

from dlopt.heuristics.iit.monotone_search import galloping_search, smallest_satisfying


@pytest.mark.parametrize("first", range(1, 12))
def test_the_first_from_a_number_on(first):
    asked = []

    def holds(n):
        asked.append(n)
        return n >= first

    for low in range(1, 10):
        for high in range(low, 10):
            asked.clear()
            expected = max(low, first)
            assert galloping_search(holds, low, high) == (expected if expected <= high else None)
            assert max(asked) <= max(low, 2 * first)
            assert set(asked) <= set(range(low, high + 1))
    assert galloping_search(holds, 3, 2) is None


@pytest.mark.parametrize(
    ("from_which", "last", "found"),
    [(1, 1, 1), (1, 9, 1), (4, 9, 4), (9, 9, 9), (10, 9, None), (1, 0, None), (2, 1, None)],
)
def test_smallest(from_which, last, found):
    assert smallest_satisfying(lambda n: n >= from_which, last) == found
