"""Numbers of instance files, in fractions, and the tolerance where one of them is a decimal."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from tests.reference.vipr import File, RefusedError

MANY = 10**30
"""No time is so many units: sums of all times stay below what stands for any later instant."""

STATED = re.compile(r"-?[0-9]{1,2000}(/[0-9]{1,2000})?")
RANGE = re.compile(r"([0-9]{1,6})(-([0-9]{1,6}))?")


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


def latest(date: Fraction, start: Fraction, tasks: int) -> Fraction:
    """Return until when a plan in floats may end that is on time, at most; each task may round."""
    slack = 2 * abs(date - start) / 10**9 + 3 * abs(date) / 2**46
    return date + slack + tasks * abs(date) / 2**50


def units(time: Fraction, unit: Fraction) -> int:
    """Return a time in units, rounded down: what takes less time leaves more schedules."""
    found = math.floor(time / unit)
    if abs(found) >= MANY:
        raise RefusedError("the unit is too small for the times of the instance")
    return found


def stated(text: str, name: str) -> Fraction:
    """Return the integer or fraction that a remark states."""
    try:
        if STATED.fullmatch(text):
            return Fraction(text)
    except ZeroDivisionError:
        pass
    raise RefusedError(f"the remark {name} has something that is no number")


def remark(file: File, name: str) -> Fraction:
    """Return the number of a remark."""
    if name not in file.remarks:
        raise RefusedError(f"there is no remark with the {name}")
    return stated(file.remarks[name], name)


def integer_remark(file: File, name: str) -> int | None:
    """Return the integer of a remark, None if there is no such remark, or none with an integer."""
    try:
        found = remark(file, name)
    except RefusedError:
        return None
    return int(found) if found.denominator == 1 else None


def words_of(file: File, name: str) -> list[Fraction]:
    """Return the numbers of a remark that lists some; none where there is no such remark."""
    return [stated(word, name) for word in file.remarks.get(name, "").split()]


def order_of(file: File, tasks: int) -> list[int]:
    """Return the order of some tasks, each once, that a remark states; else there is none."""
    try:
        order = words_of(file, "order")
    except RefusedError:
        return []
    known = len(set(order)) == len(order) and set(order) <= {*range(tasks)}
    return [int(task) for task in order] if known else []


def sets_of(file: File, name: str) -> list[list[int]]:
    """Return the sets of a remark: numbers and ranges such as `2-5`, with `;` between two sets."""
    found = []
    for part in file.remarks.get(name, "").split(";"):
        ranges = [RANGE.fullmatch(word) for word in part.split()]
        if not ranges:
            raise RefusedError(f"a set of the remark {name} is empty")
        numbers: list[int] = []
        for one in ranges:
            if one is None:
                raise RefusedError(f"the remark {name} has something that is no number")
            numbers += range(int(one[1]), int(one[3] or one[1]) + 1)
        found.append(numbers)
    return found
