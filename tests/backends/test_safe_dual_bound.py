"""Bounds from any multipliers: never above the optimum, and no help from a side that is missing."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.safe_dual_bound import DualVector, SafeDualBound
from tests.oracles_admission import maximum

F = Fraction
UNIT = (F(0), F(1))
ONES = (F(1), F(1))


def program(row, low, high, costs=ONES):
    """Return ``min costs.x`` over the unit square with one row, as it is and to be bounded."""
    terms = tuple((j, F(a)) for j, a in enumerate(row) if a)
    return SafeDualBound(LinearProgram(2, costs, (terms,), ((low, high),), (UNIT, UNIT)))


@pytest.mark.parametrize(
    ("low", "high", "helps", "does_not"), [(F(3, 2), None, 1.0, -1.0), (None, F(-3, 2), -1.0, 1.0)]
)
def test_a_multiplier_that_leans_on_a_missing_side_counts_nothing(low, high, helps, does_not):
    row = (1, 1) if high is None else (-1, -1)
    safe = program(row, low, high)
    assert safe.bound(safe.quantise([helps]), safe.bounds) == F(3, 2)
    assert safe.quantise([does_not]).terms == ()
    assert safe.bound(safe.quantise([does_not]), safe.bounds) == 0
    assert not safe.proves_infeasible(safe.quantise([does_not]), safe.bounds)


def test_such_a_multiplier_made_by_hand_is_refused():
    safe = program((1, 1), F(3, 2), None)
    with pytest.raises(ValueError, match="does not have"):
        safe.bound(DualVector(((0, -1),), 1), safe.bounds)
    assert safe.bound(DualVector(((0, 0),), 1), safe.bounds) == 0


sides = st.none() | st.fractions(-3, 3, max_denominator=4)
numbers = st.integers(-3, 3)


@given(
    st.tuples(numbers, numbers),
    st.tuples(numbers, numbers),
    sides,
    sides,
    st.floats(-9, 9),
)
def test_no_multiplier_bounds_beyond_the_optimum(costs, row, low, high, multiplier):
    """Against a plain simplex; an infeasible program has no optimum to be beyond."""
    costs = tuple(map(F, costs))
    safe = program(row, low, high, costs)
    bound = safe.bound(safe.quantise([multiplier]), safe.bounds)
    rows, limits = [[F(1), F(0)], [F(0), F(1)]], [F(1), F(1)]
    if high is not None:
        rows.append([F(a) for a in row])
        limits.append(high)
    if low is not None:
        rows.append([F(-a) for a in row])
        limits.append(-low)
    best = maximum(rows, limits, [-cost for cost in costs])
    if best is not None:
        assert bound <= -best
        assert not safe.proves_infeasible(safe.quantise([multiplier]), safe.bounds)
