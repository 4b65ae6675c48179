"""Checks of many values of one field at once, where they are of the types that files have.

A column check takes the values that one field has in many records. Most of its work is done by
functions that are compiled in Python itself, such as `min` of all values for their least one. It
never names a fault: where it returns None, the values are to be checked one by one.
"""

from __future__ import annotations

import dataclasses
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain, islice, repeat
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar, cast

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


class WithRules(Protocol):
    """A record with rules between its fields, as `dlopt.problems.validated_record` has them."""

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield the faults between fields."""

    @classmethod
    def list_lengths(cls, known: Mapping[str, Any]) -> Mapping[str, int]:
        """Return which lists have one entry a node, and the number of nodes."""


RecordT = TypeVar("RecordT", bound=WithRules)


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


def of_records(
    check: Check, kind: type, at_once: Callable[[Sequence[object]], Sequence[object] | None]
) -> FieldCheck:
    """Return a check of records and of their plain data, which is read by a function."""
    slow = one_by_one(check)

    def column(values: Sequence[object]) -> Sequence[object] | None:
        kinds = set(map(type, values))
        if kinds == {kind}:
            return values
        return at_once(values) if kinds == {dict} else slow.column(values)

    return slow._replace(column=column)


def records_of(
    kind: type[RecordT],
    base: type[WithRules],
    rows: Sequence[Mapping[str, object]],
    fields: Mapping[str, tuple[ColumnCheck, object]],
) -> list[RecordT] | None:
    """Return the records of plain data; None unless all are valid.

    Parameters
    ----------
    kind, base : type
        Rules that are those of the base are not asked.
    rows, fields
        As `columns_of` takes them.
    """
    is_counted = _is_overridden(kind.list_lengths, base.list_lengths)
    columns = None if is_counted else columns_of(rows, fields)
    if columns is None:
        return None
    if _is_overridden(kind.cross_field_faults, base.cross_field_faults):
        for row in zip(*columns.values(), strict=True):
            if any(True for _ in kind.cross_field_faults(dict(zip(columns, row, strict=True)))):
                return None
    records = [object.__new__(kind) for _ in rows]
    for name, values in columns.items():
        deque(map(object.__setattr__, records, repeat(name), values), maxlen=0)
    return records


def _is_overridden(own: object, inherited: object) -> bool:
    """Tell whether two class methods are different functions."""
    return bool(getattr(own, "__func__", own) is not getattr(inherited, "__func__", None))
