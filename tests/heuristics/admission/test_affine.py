"""Affine numbers: every comparison is that of the numbers just after the parameter."""

from fractions import Fraction
from operator import eq, ge, gt, le, lt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.affine import AffineNumber, ComparisonTracker

few = st.fractions(-4, 4, max_denominator=3)
AT = Fraction(1, 2)


def line(value, slope):
    return AffineNumber(value, slope, ComparisonTracker(AT))


def at(number, instant):
    """Return the value of an affine or a plain number."""
    if isinstance(number, AffineNumber):
        return number.value + number.slope * (instant - AT)
    return number


@pytest.mark.property
@given(few, few, few, few, few, few)
def test_arithmetic_is_that_of_the_values(value, slope, other, other_slope, plain, later):
    one, two = line(value, slope), line(other, other_slope)
    for instant in (AT, AT + later):
        first, second = at(one, instant), at(two, instant)
        assert at(one + two, instant) == first + second
        assert at(one - two, instant) == first - second
        assert at(plain - one, instant) == plain - first
        assert at(plain * one, instant) == at(one * plain, instant) == plain * first
        assert at(-one, instant) == -first
        if plain:
            assert at(one / plain, instant) == first / plain


@pytest.mark.property
@given(few, few, few, few)
def test_comparisons_hold_until_the_next_breakpoint(value, slope, other, other_slope):
    for compare in (lt, le, gt, ge, eq):
        trace = ComparisonTracker(AT)
        one, two = AffineNumber(value, slope, trace), AffineNumber(other, other_slope, trace)
        result = compare(one, two)
        assert trace.count == 1
        end = AT + 1 if trace.next is None else trace.next
        for share in (Fraction(1, 10**6), Fraction(1, 2), 1 - Fraction(1, 10**6)):
            instant = AT + (end - AT) * share
            assert compare(at(one, instant), at(two, instant)) is result
        if trace.next is not None:
            assert at(one, end) == at(two, end)


def test_what_does_not_depend_on_the_parameter_is_a_plain_number():
    one = line(Fraction(3), Fraction(2))
    assert type(one - one) is Fraction and type(one * 0) is Fraction
    assert not line(Fraction(0), Fraction(0))
    assert line(Fraction(0), Fraction(1))
