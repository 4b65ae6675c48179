"""Numbers of instance files, in fractions, and the tolerance where one of them is a decimal."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.reference.vipr import File, RefusedError


def number(value: Any) -> Fraction:
    """Return what is written: an integer, the text of a fraction, or a decimal."""
    return Fraction(repr(value)) if isinstance(value, float) else Fraction(value)


def is_exact(data: Any) -> bool:
    """Whether there is no decimal among the numbers of an instance."""
    if isinstance(data, dict):
        return all(
            is_exact(v) for k, v in data.items() if k not in ("best_known", "origin", "name")
        )
    if isinstance(data, list):
        return all(map(is_exact, data))
    return not isinstance(data, float)


def grid_slack(instant: Fraction, start: Fraction) -> Fraction:
    """Return what a plan in floats may be late: 1e-9 of the span, 64 units in the last place."""
    return abs(instant - start) / 10**9 + 64 * Fraction(math.ulp(float(instant)))


def remark(file: File, name: str) -> Fraction:
    """Return the number of a remark."""
    try:
        return Fraction(file.remarks[name])
    except (KeyError, ValueError, ZeroDivisionError):
        raise RefusedError(f"there is no remark with the {name}") from None


def integer_remark(file: File, name: str) -> int | None:
    """Return the integer of a remark, None if there is no such remark."""
    try:
        return int(file.remarks[name]) if name in file.remarks else None
    except ValueError:
        raise RefusedError(f"the {name} is no integer") from None


def words_of(file: File, name: str, kind: Callable[[str], Any]) -> list[Any]:
    """Return the numbers of a remark that lists some; none where there is no such remark."""
    try:
        return [kind(word) for word in file.remarks.get(name, "").split()]
    except (ValueError, ZeroDivisionError):
        raise RefusedError(f"the remark {name} has something that is no number") from None


def sets_of(file: File, name: str) -> list[list[int]]:
    """Return the sets of a remark: numbers and ranges such as `2-5`, with `;` between two sets."""
    found = []
    try:
        for part in file.remarks.get(name, "").split(";"):
            ends = [word.split("-") for word in part.split()]
            found.append([n for end in ends for n in range(int(end[0]), int(end[-1]) + 1)])
    except ValueError:
        raise RefusedError(f"the remark {name} has something that is no number") from None
    return found
