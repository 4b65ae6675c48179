"""Benefit functions: the benefit of a share of the CPU that a part requests.

A function is given by points ``(share, benefit)`` with straight lines between them. The shares run
from 0 to 1; where two points have one share there is a jump, and the upper value holds.

Source: Min 2001, figure 1.1, which draws four shapes and defines the step only. The others are
dlopt's choice of numbers for what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from dlopt.arithmetic import Number, exact, is_less, is_number, shown
from dlopt.errors import Fault, InvalidInstanceError

Points: TypeAlias = Sequence[tuple[Number, Number]]


def step() -> Points:
    """Return the benefit of all or nothing: 1 for the whole share, 0 for less.

    Examples
    --------
    >>> step()
    ((0, 0), (1, 0), (1, 1))
    """
    return ((0, 0), (1, 0), (1, 1))


def linear() -> Points:
    """Return the benefit that is the share itself.

    Examples
    --------
    >>> linear()
    ((0, 0), (1, 1))
    """
    return ((0, 0), (1, 1))


def affine(least: Number) -> Points:
    """Return the benefit that jumps to `least` as soon as there is any share, and rises to 1.

    Parameters
    ----------
    least : Number
        In [0, 1].

    Raises
    ------
    InvalidInstanceError
        If it does not, or is no number.

    Examples
    --------
    >>> affine(Fraction(1, 2))
    ((0, 0), (0, Fraction(1, 2)), (1, 1))
    """
    if not is_number(least) or not 0 <= least <= 1:
        raise InvalidInstanceError([Fault("least", least, "must be a number between 0 and 1")])
    return ((0, 0), (0, least), (1, 1))


def staircase(levels: int) -> Points:
    """Return the benefit of equal steps: share ``k / levels`` has benefit ``k / levels``.

    Parameters
    ----------
    levels : int
        At least 1; 1 is :func:`step`.

    Raises
    ------
    InvalidInstanceError
        If it is less, or no integer.

    Examples
    --------
    >>> staircase(2)
    ((0, 0), (Fraction(1, 2), 0), (Fraction(1, 2), Fraction(1, 2)), (1, Fraction(1, 2)), (1, 1))
    """
    if not isinstance(levels, int) or isinstance(levels, bool) or levels < 1:
        raise InvalidInstanceError([Fault("levels", levels, "must be an integer from 1")])
    heights: list[Number] = [0, *(Fraction(k, levels) for k in range(1, levels)), 1]
    points: list[tuple[Number, Number]] = [(0, 0)]
    for below, above in pairwise(heights):
        points += [(above, below), (above, above)]
    return tuple(points)


def benefit_at(points: Points, share: Number) -> Fraction:
    """Return the benefit of a share, exactly; at a jump the upper value.

    Parameters
    ----------
    points : tuple of (share, benefit)
        As a `Part` has them.
    share : Number
        Of the requested CPU; below 0 the benefit is 0, above 1 that of 1.

    Examples
    --------
    >>> benefit_at(step(), Fraction(99, 100)), benefit_at(step(), 1)
    (Fraction(0, 1), Fraction(1, 1))
    >>> benefit_at(affine(Fraction(1, 2)), Fraction(1, 2))
    Fraction(3, 4)
    """
    at = exact(share)
    if at < 0:
        return Fraction(0)
    before, value = Fraction(0), Fraction(0)
    for point, benefit in points:
        end, height = exact(point), exact(benefit)
        if end > at:
            return value + (height - value) * (at - before) / (end - before)
        before, value = end, height
    return value


def shape_faults(points: Points) -> Iterator[Fault]:
    """Yield what is wrong with the points of a benefit function."""
    for index, point in enumerate(points):
        if len(point) != 2:
            rule = "must be a pair of a share and its benefit"
            yield Fault(f"benefit[{index}]", len(point), rule)
            return
    if len(points) < 2:
        yield Fault("benefit", len(points), "must have at least two points")
        return
    if tuple(points[0]) != (0, 0):
        yield Fault("benefit[0]", list(points[0]), "must be the point of share 0 and benefit 0")
    if points[-1][0] != 1:
        last = f"benefit[{len(points) - 1}][0]"
        yield Fault(last, points[-1][0], "must be 1, the whole share")
    yield from _order_faults(points)


def _order_faults(points: Points) -> Iterator[Fault]:
    for index, (left, right) in enumerate(pairwise(points), start=1):
        if is_less(right[0], left[0]):
            rule = f"must not lie before that of the point before, {shown(left[0], 15)}"
            yield Fault(f"benefit[{index}][0]", right[0], rule)
        if is_less(right[1], left[1]):
            rule = f"must not fall below that of the point before, {shown(left[1], 15)}"
            yield Fault(f"benefit[{index}][1]", right[1], rule)
        if right[1] > 1:
            yield Fault(f"benefit[{index}][1]", right[1], "must be at most 1")
        if index > 1 and exact(points[index - 2][0]) == exact(left[0]) == exact(right[0]):
            yield Fault(f"benefit[{index}][0]", right[0], "must not be a third point of one share")
