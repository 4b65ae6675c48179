"""Levels are proven one after another; bounds that a schedule refutes, gaps, and both senses."""

from fractions import Fraction

import pytest

from dlopt.errors import SolverError
from dlopt.models.common.lexicographic import Bound, LexicographicSearch


class Pairs(LexicographicSearch[str, tuple[int, int], int]):
    """Pairs of digits, as large as they can be."""

    def objective_key(self, incumbent):
        return incumbent

    def trivial_bound(self, level):
        return Bound(9, "digit")


class SmallPairs(Pairs):
    """Pairs of digits, as small as they can be."""

    sense = -1

    def trivial_bound(self, level):
        return Bound(0, "digit")


def test_time_ends_the_search_of_a_level_and_not_of_the_next_one() -> None:
    search = SmallPairs(("first", "second"), (3, 3))
    fixed = []

    def improve(level, bounds):
        fixed.append(search.fixed_levels)
        search.update_incumbent((0, 5) if level == "first" else (0, 2))
        search.update_incumbent((1, 0))  # it is worse on the first level
        raise TimeoutError

    search.prove_levels(improve)
    assert (search.result.incumbent, search.result.bounds) == ((0, 2), [0, 0])
    assert search.result.proven_levels == 1 and fixed == [[], [("first", 0)]]


@pytest.mark.parametrize(("search", "bound"), [(Pairs, 2), (SmallPairs, 4)])
def test_a_bound_that_a_schedule_exceeds_is_an_error(search, bound) -> None:
    with pytest.raises(SolverError, match=f"value 3, but the bound is {bound}: wrong"):
        search(("first",), (3,)).prove_levels(lambda _, found: found.append(Bound(bound, "wrong")))


def test_an_uncertified_bound_that_a_schedule_refutes_is_dropped() -> None:
    search = Pairs(("first", "second"), (7, 0))
    claim = Bound(6, "floats", uncertified=True, relies_on_solver=True)
    search.prove_levels(lambda _, bounds: bounds.append(claim))
    assert (search.result.bounds, search.result.proofs) == ([9], ["digit"])
    assert search.result.proof == "exact" and search.result.proven_levels == 0
    assert search.result.bounds_of_all_levels([8, 5]) == [9, 5]


def test_of_equal_bounds_the_one_that_needs_no_solver_is_named() -> None:
    search = Pairs(("first", "second"), (7, 0))
    claim = Bound(8, "claim", relies_on_solver=True)
    assert search.tightest([Bound(9, "digit"), claim]) == claim
    assert search.tightest([claim, Bound(8, "proof")]).proof == "proof"
    search.prove_levels(lambda _, bounds: bounds.append(claim))
    assert search.result.proof == "solver"


def test_a_gap_that_was_asked_for_closes_a_level_and_does_not_prove_it() -> None:
    search = Pairs(("first", "second"), (8, 0), gap=0.125)
    assert search.is_closed([Bound(9, "digit")]) and not search.is_proven([Bound(9, "digit")])
    search.prove_levels(lambda level, bounds: None)
    assert search.result.bounds == [9] and search.result.proven_levels == 0
    search.tolerance = lambda bound: Fraction(1)
    assert search.is_proven([Bound(9, "digit")])
    search.update_incumbent(None)
    assert search.result.incumbent == (8, 0)
