"""Fractions that answer as those of Python do, in less than half of the time.

A third of the time of the tests went into `fractions.Fraction`: its operators first ask abstract
base classes whether an operand is a number. Here they look at its class, which is `Fraction` or
`int` as a rule; with anything else, the operators of Python answer. What is computed is the same,
which `test_fast_fractions.py` holds against the operators of Python. Processes that tests start,
and users, have those.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import gcd
from typing import Any

Operator = Callable[..., Any]
SLOTS = ("_numerator", "_denominator")
_make = object.__new__


def _fraction(numerator: int, denominator: int) -> Fraction:
    """Return a fraction of numbers without a common divisor, of which the second is positive."""
    made = _make(Fraction)
    made._numerator = numerator  # type: ignore[attr-defined]
    made._denominator = denominator  # type: ignore[attr-defined]
    return made


def _sum(a: int, b: int, c: int, d: int) -> Fraction:
    """Return a/b + c/d, by Knuth's algorithm (The Art of Computer Programming, 4.5.1)."""
    common = gcd(b, d)
    if common == 1:
        return _fraction(a * d + b * c, b * d)
    rest = b // common
    total = a * (d // common) + c * rest
    divisor = gcd(total, common)
    return _fraction(total // divisor, rest * (d // divisor))


def _product(a: int, b: int, c: int, d: int) -> Fraction:
    """Return a/b * c/d."""
    first, second = gcd(a, d), gcd(c, b)
    return _fraction((a // first) * (c // second), (b // second) * (d // first))


def comparison(of_numbers: Callable[[int, int], bool], of_python: Operator) -> Operator:
    """Return a comparison of a fraction with anything."""

    def compare(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is Fraction:
            return of_numbers(a._numerator * b._denominator, b._numerator * a._denominator)
        if kind is int:
            return of_numbers(a._numerator, b * a._denominator)
        return of_python(a, b)

    return compare


def equality(of_python: Operator) -> Operator:
    """Return the comparison of a fraction with anything for equality."""

    def equal(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is int:
            return a._numerator == b and a._denominator == 1
        if kind is Fraction:
            return a._numerator == b._numerator and a._denominator == b._denominator
        return of_python(a, b)

    return equal


def sum_or_difference(sign: int, of_python: Operator) -> Operator:
    """Return what adds anything to a fraction, or subtracts it."""

    def add(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is Fraction:
            numerator, denominator = b._numerator, b._denominator
        elif kind is int:
            return _fraction(a._numerator + sign * b * a._denominator, a._denominator)
        else:
            return of_python(a, b)
        return _sum(a._numerator, a._denominator, sign * numerator, denominator)

    return add


def product(of_python: Operator) -> Operator:
    """Return what multiplies a fraction by anything, from either side."""

    def multiply(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is Fraction:
            return _product(a._numerator, a._denominator, b._numerator, b._denominator)
        if kind is int:
            return _product(a._numerator, a._denominator, b, 1)
        return of_python(a, b)

    return multiply


def quotient(of_python: Operator) -> Operator:
    """Return what divides a fraction by anything."""

    def divide(a: Any, b: Any) -> Any:
        kind = type(b)
        if kind is Fraction and b._numerator > 0:
            return _product(a._numerator, a._denominator, b._denominator, b._numerator)
        if kind is int and b > 0:
            return _product(a._numerator, a._denominator, 1, b)
        return of_python(a, b)

    return divide


def difference_from(of_python: Operator) -> Operator:
    """Return what subtracts a fraction from anything."""

    def subtract(b: Any, a: Any) -> Any:
        if type(a) is int:
            return _fraction(a * b._denominator - b._numerator, b._denominator)
        return of_python(b, a)

    return subtract


def making(of_python: Operator) -> Operator:
    """Return what makes a fraction of numbers or text."""

    def make(cls: Any, numerator: Any = 0, denominator: Any = None, _normalize: Any = True) -> Any:
        if cls is Fraction:
            kind = type(numerator)
            if denominator is None:
                if kind is int:
                    return _fraction(numerator, 1)
                if kind is Fraction:
                    return _fraction(numerator._numerator, numerator._denominator)
            elif kind is int and type(denominator) is int and denominator > 0:
                common = gcd(numerator, denominator)
                return _fraction(numerator // common, denominator // common)
        if not _normalize:  # which Python 3.11 has
            return of_python(cls, numerator, denominator, _normalize=False)
        return of_python(cls, numerator, denominator)

    return make


OPERATORS: dict[str, Callable[[Operator], Operator]] = {
    "__new__": making,
    "__neg__": lambda _: lambda a: _fraction(-a._numerator, a._denominator),
    "__abs__": lambda _: lambda a: _fraction(abs(a._numerator), a._denominator),
    "__float__": lambda _: lambda a: a._numerator / a._denominator,
    "__eq__": equality,
    "__lt__": lambda of_python: comparison(operator.lt, of_python),
    "__le__": lambda of_python: comparison(operator.le, of_python),
    "__gt__": lambda of_python: comparison(operator.gt, of_python),
    "__ge__": lambda of_python: comparison(operator.ge, of_python),
    "__add__": lambda of_python: sum_or_difference(1, of_python),
    "__radd__": lambda of_python: sum_or_difference(1, of_python),
    "__sub__": lambda of_python: sum_or_difference(-1, of_python),
    "__rsub__": difference_from,
    "__mul__": product,
    "__rmul__": product,
    "__truediv__": quotient,
}
OF_PYTHON: dict[str, Operator] = {}
"""The operators of Python, once they are replaced."""


def install() -> None:
    """Replace the operators of all fractions of this process, once."""
    if OF_PYTHON or Fraction.__slots__ != SLOTS:
        return
    for name, faster in OPERATORS.items():
        OF_PYTHON[name] = getattr(Fraction, name)
        setattr(Fraction, name, faster(OF_PYTHON[name]))
