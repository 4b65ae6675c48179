"""Checks that are made from annotations: what one field of a record may hold.

This module knows no records. Whoever compiles an annotation says what becomes of the types that
hold fields of their own.
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

LARGEST = 1e100
"""Larger numbers are refused: the product of two must be a number still."""

MOST_FAULTS = 1000
"""A list is not looked at any further: a message shows fewer, and each takes memory."""

BAD: Any = object()
"""What a check returns instead of a value that is wrong."""

Check: TypeAlias = Callable[[Any, str, list[Fault]], Any]
"""Takes a value, its path and a list that its faults join; returns it converted, or `BAD`."""

Nested: TypeAlias = Callable[[type], Check | None]


def compiled(hint: Any, nested: Nested) -> Check:
    """Turn an annotation into a check that converts a value or records its faults.

    Parameters
    ----------
    hint : annotation
        As `typing.get_type_hints` gives it, with the extras of ``Annotated``. An annotation that
        says nothing about values takes anything.
    nested : callable
        Returns the check of a type that holds fields of its own, or None for other types.
    """
    limits: tuple[Any, ...] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *rest = typing.get_args(hint)
        limits = tuple(rest)
    options = _options(hint)
    optional = type(None) in options
    scalar = _scalar([option for option in options if option is not type(None)], limits, nested)
    sequences = [option for option in options if typing.get_origin(option) is tuple]
    annotated = [option for option in options if typing.get_origin(option) is Annotated]
    if annotated:
        scalar = compiled(annotated[0], nested)
    if not sequences:
        return _optional(scalar) if optional else scalar
    items = _sequence(typing.get_args(sequences[0]), limits, nested)
    if len(sequences) + optional == len(options):
        return _optional(items) if optional else items

    def either(value: Any, path: str, found: list[Fault]) -> Any:
        return (items if is_sequence(value) else scalar)(value, path, found)

    return _optional(either) if optional else either


def holds_numbers(hint: Any) -> bool:
    """Tell whether an annotation allows numbers that are no counts or indices."""
    return hint is float or any(map(holds_numbers, typing.get_args(hint)))


def is_sequence(value: Any) -> bool:
    """Tell whether a value stands for a list: a list, a tuple or an array with dimensions."""
    array = hasattr(value, "tolist") and getattr(value, "ndim", 1) != 0  # 0: a NumPy number
    return isinstance(value, tuple | list) or array


def _options(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _optional(check: Check) -> Check:
    return lambda value, path, found: None if value is None else check(value, path, found)


def _scalar(options: Sequence[Any], limits: Sequence[Any], nested: Nested) -> Check:
    if float in options:
        return _limited(_number, limits)
    for option in options:
        if option is bool:
            return _of_type(bool, "must be true or false")
        if option is int:
            return _limited(_integer, limits)
        if option is str:
            return _of_type(str, "must be a text")
        if typing.get_origin(option) is Literal:
            return _one_of(typing.get_args(option))
        inner = nested(option) if isinstance(option, type) else None
        if inner is not None:
            return inner
    return lambda value, path, found: value


def _number(value: Any, path: str, found: list[Fault]) -> Any:
    kind = type(value)
    plain_kind = kind is float or kind is int or kind is Fraction
    number = value if plain_kind else _converted(value)
    if number is BAD or not arithmetic.is_finite(number):
        found.append(Fault(path, value, 'must be a finite number or a text "p/q"'))
        return BAD
    if not -LARGEST <= number <= LARGEST:
        found.append(Fault(path, value, f"must lie between -{LARGEST:g} and {LARGEST:g}"))
        return BAD
    return number


def _converted(value: Any) -> Any:
    """Return a number given in another type (NumPy's, a decimal, a text), or `BAD`."""
    if isinstance(value, bool):
        return BAD
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str | Decimal):
        try:
            return arithmetic.simplest(arithmetic.parse(str(value)))
        except ValueError:
            return BAD
    try:
        return operator.index(value)
    except TypeError:
        item = getattr(value, "item", None)
        inner = item() if callable(item) and getattr(value, "ndim", None) == 0 else BAD
        return inner if type(inner) in (int, float) else BAD


def _integer(value: Any, path: str, found: list[Fault]) -> Any:
    whole = BAD if isinstance(value, float | str | Decimal) else _converted(value)
    if type(whole) is not int:
        found.append(Fault(path, value, "must be an integer"))
        return BAD
    return whole


def _limited(check: Check, limits: Sequence[Any]) -> Check:
    tests: list[tuple[Callable[[Any, Any], bool], Any, str]] = []
    for limit in limits:
        if isinstance(limit, Ge):
            rule = "must not be negative" if limit.ge == 0 else f"must be at least {limit.ge}"
            tests.append((operator.ge, limit.ge, rule))
        elif isinstance(limit, Gt):
            rule = "must be positive" if limit.gt == 0 else f"must be above {limit.gt}"
            tests.append((operator.gt, limit.gt, rule))
        elif isinstance(limit, Le):
            tests.append((operator.le, limit.le, f"must be at most {limit.le}"))

    def limited(value: Any, path: str, found: list[Fault]) -> Any:
        number = check(value, path, found)
        if number is BAD:
            return BAD
        for holds, limit, rule in tests:
            if not holds(number, limit):
                found.append(Fault(path, value, rule))
                return BAD
        return number

    return limited


def _of_type(kind: type, rule: str) -> Check:
    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if isinstance(value, kind):
            return value
        found.append(Fault(path, value, rule))
        return BAD

    return check


def _one_of(choices: tuple[Any, ...]) -> Check:
    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if isinstance(value, str) and value in choices:
            return value
        found.append(Fault(path, value, f"must be one of {', '.join(choices)}"))
        return BAD

    return check


def _sequence(arguments: tuple[Any, ...], limits: Sequence[Any], nested: Nested) -> Check:
    item = compiled(arguments[0], nested)
    least = max((limit.min_length for limit in limits if isinstance(limit, MinLen)), default=0)

    def check(value: Any, path: str, found: list[Fault]) -> Any:
        if not is_sequence(value):
            found.append(Fault(path, value, "must be a list"))
            return BAD
        entries = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(entries, tuple | list) or len(entries) < least:
            found.append(Fault(path, value, f"must be a list of at least {least}"))
            return BAD
        before = len(found)
        kept = []
        for index, entry in enumerate(entries):
            kept.append(item(entry, f"{path}[{index}]", found))
            if len(found) - before >= MOST_FAULTS:
                return BAD
        if len(found) > before:
            return BAD
        same = isinstance(entries, tuple) and all(map(operator.is_, kept, entries))
        return entries if same else tuple(kept)

    return check
