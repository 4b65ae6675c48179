"""Instances in which floats meet fractions: their exact twins, with which heuristics compute.

Python compares a float with a fraction as the binary number that it is stored as; the rules take it
for the decimal that it prints. Floats among themselves, and whole numbers, compare alike in both.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any, TypeVar

from dlopt.arithmetic import exact, simplest
from dlopt.problems.records import Record, numbers_of

RecordT = TypeVar("RecordT", bound=Record)

_WHOLE = 1 << 53
"""Below it whole numbers are floats without rounding."""


def is_mixed(record: Record) -> bool:
    """Tell whether a float and an exact number that may be no float are among the numbers.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Part
    >>> is_mixed(Part(0.5, Fraction(1, 3))), is_mixed(Part(2, 0.5)), is_mixed(Part(2**60, 0.5))
    (True, False, True)
    """
    numbers = list(numbers_of(record))
    kinds = set(map(type, numbers))
    if float not in kinds:
        return False
    return Fraction in kinds or any(type(one) is int and abs(one) >= _WHOLE for one in numbers)


def as_exact(record: RecordT) -> RecordT:
    """Return the record with each float as the exact number that it stands for.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Part
    >>> as_exact(Part(2.0, 0.1)).least
    Fraction(1, 10)
    """
    return _converted(record)  # type: ignore[no-any-return]


def _converted(value: Any) -> Any:
    if isinstance(value, Record):
        fields = dataclasses.fields(value)  # type: ignore[arg-type]
        given = {one.name: getattr(value, one.name) for one in fields}
        changed = {name: _converted(one) for name, one in given.items()}
        return dataclasses.replace(value, **changed)  # type: ignore[type-var]
    if isinstance(value, tuple):
        return tuple(map(_converted, value))
    return simplest(exact(value)) if isinstance(value, float) else value
