"""Fractions of the tests are those of Python, faster."""

from __future__ import annotations

import operator
import pickle
from copy import deepcopy
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import fast_fractions
from tests.fast_fractions import OF_PYTHON, OPERATORS

few, many = st.integers(-3, 3), st.integers(-(10**25), 10**25)
fractions = st.builds(Fraction, few | many, st.integers(1, 4) | st.integers(1, 10**25))
operands = st.one_of(
    fractions, few, many, st.booleans(), st.floats(), st.just(1j), st.just(Decimal(2)), st.none()
)
UNARY = ("__abs__", "__float__", "__neg__")
BINARY = sorted(OPERATORS.keys() - {"__new__", *UNARY})


def outcome(function: Any, *arguments: Any) -> Any:
    """Return what is answered, digit by digit and with its class, or how it fails."""
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.fixture(autouse=True)
def installed() -> None:
    if not OF_PYTHON:
        pytest.skip("fractions of this Python have other fields")


@pytest.mark.parametrize("name", BINARY)
@given(fractions, operands)
def test_operators_answer_as_those_of_python(name: str, a: Fraction, b: Any) -> None:
    assert outcome(getattr(Fraction, name), a, b) == outcome(OF_PYTHON[name], a, b)
    assert outcome(getattr(Fraction, name), a, -a) == outcome(OF_PYTHON[name], a, -a)


@pytest.mark.parametrize("name", UNARY)
@given(fractions)
def test_operators_of_one_fraction_answer_as_those_of_python(name: str, a: Fraction) -> None:
    assert outcome(getattr(Fraction, name), a) == outcome(OF_PYTHON[name], a)


@given(operands, st.none() | operands)
def test_they_are_made_as_those_of_python(numerator: Any, denominator: Any) -> None:
    of_python = OF_PYTHON["__new__"]
    found = outcome(Fraction, numerator, denominator)
    assert found == outcome(of_python, Fraction, numerator, denominator)


@given(fractions, fractions)
def test_results_are_normal_and_can_be_copied(a: Fraction, b: Fraction) -> None:
    for found in (a + b, a - b, 3 - a, a * b, 6 * a, a / 6, a / (b or 1), Fraction(a)):
        again = Fraction(found.numerator, found.denominator)
        assert (again.numerator, again.denominator) == (found.numerator, found.denominator)
        assert hash(found) == hash(again) and found.denominator > 0
        assert deepcopy(found) == found == pickle.loads(pickle.dumps(found))


def test_fractions_do_not_change_and_divide_by_no_zero() -> None:
    with pytest.raises(AttributeError):
        Fraction(1, 2).numerator = 3  # type: ignore[misc]
    for zero in (0, Fraction(0)):
        with pytest.raises(ZeroDivisionError, match="1"):
            operator.truediv(Fraction(1), zero)


class Half(Fraction):
    """A fraction of a class of its own."""


def test_classes_of_fractions_are_compared_and_made_by_python() -> None:
    half = Half(1, 2)
    assert type(half) is Half and -half == Fraction(-1, 2) and float(abs(half)) == 0.5
    assert half == Fraction(1, 2) < 1 > half
    assert type(half + 1) is Fraction and type(Fraction(half)) is Fraction


def test_operators_are_replaced_once() -> None:
    before = dict(OF_PYTHON), Fraction.__add__
    fast_fractions.install()
    assert (dict(OF_PYTHON), Fraction.__add__) == before
