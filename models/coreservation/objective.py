"""Objective values of assignments, and their integer scaling for solvers.

With ``w_k`` the normalised priority of request ``k`` and ``I_k`` its parts, the levels are::

    benefit             maximise  sum_k w_k / |I_k| sum_{i in I_k} f_i(c_i)
    rejections          minimise  the number of requests with x_k = 0
    rejected-priority   minimise  the sum of their priorities
    machines            minimise  the number of machines that are used

Models maximise: minimised levels are negated (`maximised`). Objective coefficients are given to
solvers as integers, so that their sums need no tolerance.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5),), requests))
>>> objective_key(scaled, {0: (0, 3)}), trivial_bound(scaled, "benefit")
((Fraction(1, 2),), Fraction(1, 1))
>>> ObjectiveScaling.for_level(scaled, "benefit").to_int(Fraction(1, 2))
1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import TypeAlias

from dlopt.models.coreservation.requests import Segment
from dlopt.models.coreservation.scaled_instance import ScaledInstance

LARGEST = 1 << 43
"""The largest rounded objective value; common denominators up to 2^10 times it stay exact.

So exact integer objectives stay below 2^53, which CP-SAT's bounds in floats hold without rounding.
"""

Assignment: TypeAlias = Mapping[int, tuple[int, int]]
"""Machine and CPU units of each allocated part: all parts of a request, or none of them."""


@dataclass(frozen=True, slots=True)
class ObjectiveScaling:
    """How a level of the objective is scaled to integers.

    Parameters
    ----------
    level : str
    factor : int
        The integer that stands for 1.
    exact : bool
        Whether all coefficients are integers then. If not they are rounded up, all of them: a
        bound of the rounded objective bounds the true one.
    """

    level: str
    factor: int
    exact: bool

    @classmethod
    def for_level(
        cls, scaled: ScaledInstance, level: str, largest: int = LARGEST
    ) -> ObjectiveScaling:
        """Return the coarsest scaling that is exact, or a fine one that rounds up."""
        numbers = [
            number
            for k in range(len(scaled.requests))
            for number in _request_coefficients(scaled, level, k)
        ]
        factor = lcm(*{number.denominator for number in numbers})
        if factor * max(1, ceil(sum(numbers, Fraction(0)))) <= largest * 1024:
            return cls(level, factor, True)
        total = sum(scaled.weight(level, k) for k in range(len(scaled.requests)))
        return cls(level, max(1, floor(largest / total)), False)

    def to_int(self, number: Fraction) -> int:
        """Return a coefficient as an integer, rounded up."""
        return ceil(number * self.factor)


def segment_coefficients(
    scaled: ScaledInstance, i: int, segment: Segment
) -> tuple[Fraction, Fraction]:
    """Return what a segment of a part adds to the benefit: the intercept and the slope.

    The intercept is the value at its low end, the slope that of a unit above it.
    """
    weight = scaled.weight("benefit", scaled.parts[i].request)
    return weight * segment.benefit, weight * segment.slope


def objective_level(scaled: ScaledInstance, level: str, assignment: Assignment) -> Fraction:
    """Return a level of the objective of an assignment."""
    if level == "machines":
        return Fraction(len({machine for machine, units in assignment.values() if units}))
    accepted = {scaled.parts[i].request for i in assignment}
    if level != "benefit":
        weights = (scaled.weight(level, k) for k in accepted)
        return scaled.value(level, sum(weights, Fraction(0)))
    return sum(
        (
            scaled.weight(level, scaled.parts[i].request)
            * benefit_at(scaled.parts[i].segments, units)
            for i, (_, units) in assignment.items()
        ),
        Fraction(0),
    )


def benefit_at(segments: tuple[Segment, ...], units: int) -> Fraction:
    """Return the benefit of a share that is at least the minimum one."""
    best = Fraction(0)
    for segment in segments:
        if segment.low <= units:
            increment = min(units, segment.high) - segment.low
            best = max(best, segment.benefit + segment.slope * increment)
    return best


def objective_key(scaled: ScaledInstance, assignment: Assignment) -> tuple[Fraction, ...]:
    """Return the levels of an assignment in lexicographic order, each to be maximised."""
    return tuple(
        maximised(level, objective_level(scaled, level, assignment)) for level in scaled.levels
    )


def maximised(level: str, value: Fraction) -> Fraction:
    """Return the value of a level with the sign with which it is maximised."""
    return value if level == "benefit" else -value


def trivial_bound(scaled: ScaledInstance, level: str) -> Fraction:
    """Return the trivial bound of a level: all requests accepted, with their largest benefit."""
    if level == "machines":
        return Fraction(0)
    if level != "benefit":
        total = sum((scaled.weight(level, k) for k in range(len(scaled.requests))), Fraction(0))
        return maximised(level, scaled.value(level, total))
    return sum(
        (max_contribution(scaled, level, k) for k in range(len(scaled.requests))), Fraction(0)
    )


def max_contribution(scaled: ScaledInstance, level: str, k: int) -> Fraction:
    """Return what accepting request `k` adds to a maximised level at the most."""
    weight = scaled.weight(level, k)
    if level != "benefit":
        return weight
    best = (
        max(segment.max_benefit for segment in scaled.parts[i].segments)
        for i in scaled.requests[k].parts
    )
    return weight * sum(best, Fraction(0))


def value_of_empty(scaled: ScaledInstance, level: str) -> Fraction:
    """Return the value of a maximised level if no request is accepted."""
    if level == "machines":
        return Fraction(0)
    return maximised(level, scaled.value(level, Fraction(0)))


def _request_coefficients(scaled: ScaledInstance, level: str, k: int) -> Iterator[Fraction]:
    if level != "benefit":
        yield scaled.weight(level, k)
        return
    for i in scaled.requests[k].parts:
        for segment in scaled.parts[i].segments:
            yield from segment_coefficients(scaled, i, segment)
