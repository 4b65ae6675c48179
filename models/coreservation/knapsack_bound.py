"""Bound of a level by fractional knapsacks at single instants, with aggregated machines.

At an instant with free capacity `C`, the parts that are active there bring at most::

    maximise    sum_n s_n u_n
    subject to  sum_n u_n <= C
                0 <= u_n <= length_n

over the segments `n`, with slopes `s_n`, of the concave hulls of their values. What this lacks of
the largest value is lost in every schedule, and losses at instants without a common part add up.
Source: Dantzig (Operations Research 5, 1957) for a knapsack; the choice of instants is ours.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> instance = Instance((Machine("m", 5),), requests)
>>> upper_bound(ScaledInstance.from_instance(instance, "benefit"), "benefit")
Fraction(1, 2)
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from dlopt.models.coreservation.objective import trivial_bound
from dlopt.models.coreservation.scaled_instance import ScaledInstance


def upper_bound(scaled: ScaledInstance, level: str) -> Fraction:
    """Return a bound of a maximised level, other than of machines, proven in exact arithmetic."""
    bound = trivial_bound(scaled, level) - _independent_losses(scaled, level)
    return Fraction(bound // 1) if level == "rejections" else bound


def _independent_losses(scaled: ScaledInstance, level: str) -> Fraction:
    """Return the losses of fractional knapsacks at instants that share no part."""
    instants = [(set(clique.parts), sum(clique.free)) for clique in scaled.maximal_cliques()]
    total = Fraction(0)
    while instants:
        losses = [_knapsack_loss(scaled, level, parts, free) for parts, free in instants]
        worst = max(range(len(instants)), key=losses.__getitem__)
        if not losses[worst]:
            break
        total += losses[worst]
        removed = instants[worst][0]
        instants = [(parts - removed, free) for parts, free in instants if parts - removed]
    return total


def _knapsack_loss(scaled: ScaledInstance, level: str, parts: set[int], free: int) -> Fraction:
    """Return what a fractional knapsack loses of the largest value: it is filled by slope."""
    segments: list[tuple[Fraction, int]] = []
    largest = Fraction(0)
    for k in {scaled.parts[i].request for i in parts}:
        members = [i for i in scaled.requests[k].parts if i in parts]
        weight = scaled.weight(level, k)
        if level == "benefit":
            for i in members:
                hull = _hull(scaled, i)
                largest += weight * (hull[-1][1] - hull[0][1])  # at a share of 0 nothing is lost
                segments += [(weight * _slope(a, b), b[0] - a[0]) for a, b in pairwise(hull)]
        else:
            size = sum(scaled.parts[i].minimum for i in members)
            if size:  # a request that needs nothing is never lost
                largest += weight
                segments.append((weight / size, size))
    value, room = Fraction(0), free
    for slope, length in sorted(segments, reverse=True):
        units = min(length, room)
        value, room = value + slope * units, room - units
    return largest - value


def _hull(scaled: ScaledInstance, i: int) -> list[tuple[int, Fraction]]:
    """Return the shares and benefits of the concave hull of a benefit, from a share of 0.

    It ends at the least share of the largest benefit. In units to which CPU was rounded down, a
    share of 0 may have a benefit, and a segment may end above the beginning of the next one.
    """
    hull = [(0, Fraction(0))]
    for segment in scaled.parts[i].segments:
        for x, y in ((segment.low, segment.benefit), (segment.high, segment.max_benefit)):
            if y <= hull[-1][1]:
                continue
            if hull[-1][0] == x:  # a jump: the upper value holds
                hull.pop()
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) <= _slope(hull[-1], (x, y)):
                hull.pop()
            hull.append((x, y))
    return hull


def _slope(left: tuple[int, Fraction], right: tuple[int, Fraction]) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])
