"""Concessions by bisection."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.books.bisection import bisected_concession

instants = st.fractions(Fraction(1, 50), 10, max_denominator=50)


@pytest.mark.property
@given(instants, instants, st.booleans())
def test_the_answer_is_accepted_and_a_step_less_is_not(boundary, beyond, floats):
    number = float if floats else Fraction
    step = number(Fraction(1, 1000))

    def accepts(concession):
        return concession >= boundary

    high = number(boundary + beyond)
    found = bisected_concession(accepts, number(0), high, lambda _: step)
    assert accepts(found)
    assert not accepts(found - step)


@pytest.mark.property
@given(st.lists(instants, min_size=1, max_size=6), st.integers(0, 9))
def test_of_any_acceptance(ends, low):
    """Acceptance that begins and ends again and again."""
    ends, step = sorted(ends), Fraction(1, 1000)
    high = ends[-1] + 20

    def accepts(concession):
        return concession == high or sum(concession >= end for end in ends) % 2 == 1

    found = bisected_concession(accepts, Fraction(low), high, lambda _: step)
    assert accepts(found)
    assert found - step <= 0 or not accepts(found - step)


def test_floats_that_lie_next_to_each_other():
    found = bisected_concession(lambda x: x > 1.0, 1.0, 2.0, lambda x: 1e-30)
    assert found == 1.0000000000000002


@pytest.mark.parametrize("number", [float, Fraction])
def test_it_ends_where_every_positive_concession_is_accepted(number):
    tried = []

    def accepts(concession):
        tried.append(concession)
        assert len(tried) < 100
        return concession > 0

    found = bisected_concession(accepts, number(0), number(8), lambda high: high / 1000)
    assert 0 < found < 1e-15
