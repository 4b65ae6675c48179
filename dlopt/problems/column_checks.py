"""Checks of many values of one field at once, where they are of the types that files have.

A column check takes the values that one field has in many records. Most of its work is done by
functions that are compiled in Python itself, such as `min` of all values for their least one. It
never names a fault: where it returns None, the values are to be checked one by one.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from dlopt.arithmetic import Number
from dlopt.errors import Fault

INVALID: object = object()
"""Returned by a check instead of an invalid value."""

Check: TypeAlias = Callable[[object, str, list[Fault]], object]
"""Takes a value, its path and a list that its faults join; returns it converted, or `INVALID`."""

ColumnCheck: TypeAlias = Callable[[Sequence[object]], Sequence[object] | None]
"""Takes values, and returns them converted; None unless it finds that all are valid."""

Test: TypeAlias = tuple[Callable[[Any, Any], bool], Any, str]
"""A comparison, what a number is compared with, and the rule; it is monotone in the number."""

NUMBERS: set[type] = {float, int, Fraction}
"""Types of numbers that are kept as they are."""

_SEQUENCES = {list, tuple}

RecordT = TypeVar("RecordT")


class FieldCheck(NamedTuple):
    """The checks of one annotation.

    Parameters
    ----------
    value : callable
        Of a value.
    column : callable
        Of many values at once.
    """

    value: Check
    column: ColumnCheck


def one_by_one(check: Check) -> FieldCheck:
    """Return a check that has no faster way for many values.

    Examples
    --------
    >>> either = one_by_one(lambda value, path, faults: value)
    >>> either.column([1, "a"])
    [1, 'a']
    """

    def column(values: Sequence[object]) -> Sequence[object] | None:
        faults: list[Fault] = []
        kept: list[object] = []
        for value in values:
            kept.append(check(value, "", faults))
            if faults:
                return None
        return kept

    return FieldCheck(check, column)


def of_types(check: Check, kinds: set[type]) -> FieldCheck:
    """Return a check that accepts every value of exactly one of these types as it is."""
    slow = one_by_one(check)

    def column(values: Sequence[object]) -> Sequence[object] | None:
        return values if set(map(type, values)) <= kinds else slow.column(values)

    return slow._replace(column=column)


def of_numbers(
    check: Check, kinds: set[type], tests: Sequence[Test], most: float = math.inf
) -> FieldCheck:
    """Return a check that accepts numbers of these types if the least and the greatest pass.

    Examples
    --------
    >>> import operator
    >>> positive = of_numbers(lambda *_: INVALID, {int}, [(operator.gt, 0, "must be positive")])
    >>> positive.column([2, 1])
    [2, 1]
    """
    slow = one_by_one(check)

    def column(values: Sequence[object]) -> Sequence[object] | None:
        given = set(map(type, values))
        if not values or not given <= kinds:
            return slow.column(values)
        numbers = cast("Sequence[Number]", values)
        least, greatest = min(numbers), max(numbers)
        passes = -most <= least and greatest <= most
        passes &= all(holds(least, limit) and holds(greatest, limit) for holds, limit, _ in tests)
        if passes and float in given:  # NaN compares with nothing, so that neither end shows it
            passes = all(map(math.isfinite, numbers))
        return values if passes else None

    return slow._replace(column=column)


def of_choices(check: Check, choices: Sequence[str]) -> FieldCheck:
    """Return a check of texts."""
    slow, known = one_by_one(check), set(choices)

    def column(values: Sequence[object]) -> Sequence[object] | None:
        if set(map(type, values)) <= {str} and known.issuperset(values):
            return values
        return slow.column(values)

    return slow._replace(column=column)


def optional(given: FieldCheck) -> FieldCheck:
    """Return a check that accepts None, too."""
    one, all_given = given

    def column(values: Sequence[object]) -> Sequence[object] | None:
        if type(None) not in set(map(type, values)):
            return all_given(values)
        kept = all_given([value for value in values if value is not None])
        if kept is None:
            return None
        rest = iter(kept)
        return [None if value is None else next(rest) for value in values]

    return FieldCheck(
        lambda value, path, faults: None if value is None else one(value, path, faults), column
    )


def of_sequences(check: Check, item: FieldCheck, least: int) -> FieldCheck:
    """Return a check of lists and tuples, which looks at the entries of all of them at once."""
    slow = one_by_one(check)

    def column(values: Sequence[object]) -> Sequence[object] | None:
        if not set(map(type, values)) <= _SEQUENCES:
            return slow.column(values)
        lists = cast("Sequence[Sequence[object]]", values)
        entries = list(chain.from_iterable(lists))
        kept = None if min(map(len, lists), default=least) < least else item.column(entries)
        if kept is None or kept is entries:
            return None if kept is None else list(map(tuple, lists))
        rest = iter(kept)
        return [tuple(islice(rest, len(each))) for each in lists]

    return slow._replace(column=column)


def columns_of(
    rows: Sequence[Mapping[str, object]], fields: Mapping[str, tuple[ColumnCheck, object]]
) -> dict[str, Sequence[object]] | None:
    """Return the values of each field in rows of plain data; None unless all are valid.

    Parameters
    ----------
    rows : sequence of mapping
    fields : mapping
        By name the check of a field and its default, or `dataclasses.MISSING`.
    """
    if not fields.keys() >= set[str]().union(*rows):
        return None
    columns: dict[str, Sequence[object]] = {}
    for name, (check, default) in fields.items():
        given = [row[name] for row in rows if name in row]
        kept = check(given) if given else given
        if kept is None or (default is dataclasses.MISSING and len(given) < len(rows)):
            return None
        if len(given) < len(rows):
            rest = iter(kept)
            kept = [next(rest) if name in row else default for row in rows]
        columns[name] = kept
    return columns


def assembled(
    kind: type[RecordT], columns: Mapping[str, Sequence[object]], count: int
) -> list[RecordT]:
    """Return so many records of a type, whose fields are given and need no check."""
    records = [object.__new__(kind) for _ in range(count)]
    for name, values in columns.items():
        deque(map(object.__setattr__, records, repeat(name), values), maxlen=0)
    return records


def is_overridden(kind: type, base: type, name: str) -> bool:
    """Tell whether a type has a class method of its own instead of that of a base."""
    own, inherited = getattr(kind, name), getattr(base, name)
    return bool(own.__func__ is not inherited.__func__)
