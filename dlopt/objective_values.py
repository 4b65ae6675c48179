"""Objective values: a number, or the levels of a lexicographic objective."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from dlopt.arithmetic import Number, is_number, shown

Value: TypeAlias = Number | tuple[Number, ...]
"""An objective value: a number, or a tuple of numbers if the objective is lexicographic."""


def levels_of(value: Value) -> tuple[Number, ...]:
    """Return the levels of a value: itself, if it has none.

    Examples
    --------
    >>> levels_of((1, 2)), levels_of(3)
    ((1, 2), (3,))
    """
    return value if isinstance(value, tuple) else (value,)


def shown_value(value: Value | None, digits: int = 6) -> str:
    """Return a value for a table, its levels in brackets; see `dlopt.arithmetic.shown`.

    Examples
    --------
    >>> shown_value((1, 2.5)), shown_value(3), shown_value(None)
    ('(1, 2.5)', '3', '-')
    """
    if isinstance(value, tuple):
        return f"({', '.join(shown(level, digits) for level in value)})"
    return shown(value, digits)


def is_value(value: object) -> TypeGuard[Value]:
    """Tell whether something is an objective value: a finite number, or a tuple of them.

    Examples
    --------
    >>> is_value(3), is_value((1, 2.5)), is_value(()), is_value("3"), is_value(float("nan"))
    (True, True, False, False, False)
    """
    levels = value if isinstance(value, tuple) else (value,)
    return bool(levels) and all(map(is_number, levels))
