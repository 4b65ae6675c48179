"""Checks compiled from annotations: the values that one field of a record may have.

This module knows no records. The caller that compiles an annotation provides the checks of types
that have fields of their own.
"""

from __future__ import annotations

import operator
import types
import typing
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias, Union

from annotated_types import Ge, Gt, Le, MinLen

from dlopt import arithmetic
from dlopt.errors import Fault
from dlopt.problems.column_checks import (
    INVALID,
    NUMBERS,
    Check,
    FieldCheck,
    Test,
    of_choices,
    of_numbers,
    of_sequences,
    of_types,
    one_by_one,
    optional,
)

LARGEST = 1e100
"""Largest absolute value of a number: the product of two must still be finite as a float."""

_LARGEST_BITS = int(LARGEST).bit_length() - 1
"""Binary digits of integers that are below `LARGEST` whatever their digits are."""

MOST_FAULTS = 1000
"""Faults per list, after which the rest is not checked: a message shows fewer, and each takes
memory. Chosen by hand."""

LONG = 8
"""Entries of a list from which on all are checked at once. Chosen by hand: the time of 4 and 16
entries differs little."""

NestedCheck: TypeAlias = Callable[[type], FieldCheck | None]


def compile_check(hint: Any, nested: NestedCheck) -> FieldCheck:
    """Turn an annotation into a check that converts a value or records its faults.

    Parameters
    ----------
    hint : annotation
        As `typing.get_type_hints` gives it, with the extras of ``Annotated``. An annotation
        without restrictions accepts every value.
    nested : callable
        Returns the check of a type that holds fields of its own, or None for other types.
    """
    limits: tuple[Any, ...] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *rest = typing.get_args(hint)
        limits = tuple(rest)
    options = _options(hint)
    is_optional = type(None) in options
    scalar = _scalar([option for option in options if option is not type(None)], limits, nested)
    sequences = [option for option in options if typing.get_origin(option) is tuple]
    annotated = [option for option in options if typing.get_origin(option) is Annotated]
    if annotated:
        scalar = compile_check(annotated[0], nested)
    check = scalar
    if sequences:
        check = items = _sequence(typing.get_args(sequences[0]), limits, nested)
        if len(sequences) + is_optional < len(options):

            def either(value: Any, path: str, faults: list[Fault]) -> Any:
                return (items if is_sequence(value) else scalar).value(value, path, faults)

            check = one_by_one(either)
    return optional(check) if is_optional else check


def holds_numbers(hint: Any) -> bool:
    """Tell whether an annotation allows numbers other than counts and indices."""
    return hint is float or any(map(holds_numbers, typing.get_args(hint)))


def is_sequence(value: Any) -> bool:
    """Tell whether a value represents a list: a sequence, or an array with dimensions."""
    if isinstance(value, tuple | list):
        return True
    if hasattr(value, "tolist"):
        return getattr(value, "ndim", 1) != 0  # 0: a NumPy number
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _scalar(options: Sequence[Any], limits: Sequence[Any], nested: NestedCheck) -> FieldCheck:
    if float in options:
        tests = _tests(limits)
        return of_numbers(_limited(_number, tests), NUMBERS, tests, LARGEST)
    for option in options:
        if option is bool:
            return of_types(_truth_value, {bool})
        if option is int:
            tests = _tests(limits)
            return of_numbers(_limited(_integer, tests), {int}, tests)
        if option is str:
            return of_types(_text, {str})
        if typing.get_origin(option) is Literal:
            return of_choices(_one_of(typing.get_args(option)), typing.get_args(option))
    inner = [check for option in options if isinstance(option, type) and (check := nested(option))]
    # Which of several records it is remains for the reader of the field to decide.
    return inner[0] if len(inner) == 1 else one_by_one(lambda value, path, faults: value)


def _number(value: Any, path: str, faults: list[Fault]) -> Any:
    kind = type(value)
    if kind is Fraction or kind is int:
        # No fraction exceeds its numerator; comparing it with a float takes ten times as long.
        if value.numerator.bit_length() <= _LARGEST_BITS:
            return value
        number = value
    else:
        number = value if kind is float else _converted(value)
    if number is INVALID or not arithmetic.is_finite(number):
        faults.append(Fault(path, value, 'must be a finite number or a text "p/q"'))
        return INVALID
    if not -LARGEST <= number <= LARGEST:
        faults.append(Fault(path, value, f"must lie between -{LARGEST:g} and {LARGEST:g}"))
        return INVALID
    return number


def _converted(value: Any) -> Any:
    """Return a number given in another type (NumPy's, a decimal, a text), or `INVALID`."""
    if isinstance(value, str):
        try:
            return arithmetic.simplest(arithmetic.parse(value))
        except ValueError:
            return INVALID
    number = arithmetic.converted(value)
    return number if type(number) in (int, float, Fraction) else INVALID


def _integer(value: Any, path: str, faults: list[Fault]) -> Any:
    whole = INVALID if isinstance(value, float | str | Decimal) else _converted(value)
    if type(whole) is not int:
        faults.append(Fault(path, value, "must be an integer"))
        return INVALID
    return whole


def _tests(limits: Sequence[Any]) -> list[Test]:
    tests: list[Test] = []
    for limit in limits:
        if isinstance(limit, Ge):
            rule = "must not be negative" if limit.ge == 0 else f"must be at least {limit.ge}"
            tests.append((operator.ge, limit.ge, rule))
        elif isinstance(limit, Gt):
            rule = "must be positive" if limit.gt == 0 else f"must be above {limit.gt}"
            tests.append((operator.gt, limit.gt, rule))
        elif isinstance(limit, Le):
            tests.append((operator.le, limit.le, f"must be at most {limit.le}"))
    return tests


def _limited(check: Check, tests: Sequence[Test]) -> Check:
    if not tests:
        return check

    def limited(value: Any, path: str, faults: list[Fault]) -> Any:
        number: Any = check(value, path, faults)
        if number is INVALID:
            return INVALID
        # A fraction has the sign of its numerator, which takes a tenth of the time to compare.
        sign = number.numerator if type(number) is Fraction else number
        for holds, limit, rule in tests:
            if not holds(number if limit else sign, limit):
                faults.append(Fault(path, value, rule))
                return INVALID
        return number

    return limited


def _truth_value(value: object, path: str, faults: list[Fault]) -> object:
    truth = arithmetic.converted(value)
    if isinstance(truth, bool):
        return truth
    faults.append(Fault(path, value, "must be true or false"))
    return INVALID


def _text(value: object, path: str, faults: list[Fault]) -> object:
    if isinstance(value, str):
        return str.__str__(value)  # NumPy has texts of its own
    faults.append(Fault(path, value, "must be a text"))
    return INVALID


def _one_of(choices: tuple[Any, ...]) -> Check:
    def check(value: Any, path: str, faults: list[Fault]) -> Any:
        if isinstance(value, str) and value in choices:
            return value
        faults.append(Fault(path, value, f"must be one of {', '.join(choices)}"))
        return INVALID

    return check


def _sequence(arguments: tuple[Any, ...], limits: Sequence[Any], nested: NestedCheck) -> FieldCheck:
    item = compile_check(arguments[0], nested)
    least = max((limit.min_length for limit in limits if isinstance(limit, MinLen)), default=0)

    def check(value: Any, path: str, faults: list[Fault]) -> Any:
        if not is_sequence(value):
            faults.append(Fault(path, value, "must be a list"))
            return INVALID
        entries = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(entries, tuple | list):
            entries = tuple(entries)
        if len(entries) < least:
            faults.append(Fault(path, value, f"must be a list of at least {least}"))
            return INVALID
        kept = item.column(entries) if len(entries) >= LONG else None
        if kept is None:
            kept = _entries(entries, item.value, path, faults)
        if kept is None:
            return INVALID
        same = isinstance(entries, tuple) and all(map(operator.is_, kept, entries))
        return entries if same else tuple(kept)

    return of_sequences(check, item, least)


def _entries(
    entries: Sequence[object], check: Check, path: str, faults: list[Fault]
) -> list[object] | None:
    """Check the entries of a list one by one; None if one is invalid."""
    before = len(faults)
    kept = []
    for index, entry in enumerate(entries):
        kept.append(check(entry, f"{path}[{index}]", faults))
        if len(faults) - before >= MOST_FAULTS:
            return None
    return None if len(faults) > before else kept
