"""What a certificate has to prove: that no plan costs less than bounds of all levels say.

Of two levels the first one is weighted with more than what the second can be; of
``benefit-then-rejections``, where that is impossible, see
`dlopt.problems.coreservation.certified_program`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from dlopt.arithmetic import FLOATING, exact
from dlopt.models.common.named_rows import ONE, ZERO
from dlopt.models.coreservation.proof_program import ProofProgram
from dlopt.models.coreservation.scaled_instance import ScaledInstance

CONCEDED = exact(FLOATING) * Fraction(999, 1000)
"""What a bound of the benefit in floats may be off, relative: a little less than is conceded by
`dlopt.certificate_files`."""


class Target(NamedTuple):
    """What is to be proven: that no plan costs less, see `proof_program`.

    Parameters
    ----------
    scaled : ScaledInstance
    weight : Fraction
        Of the first level: more than what the second can be.
    cost : Fraction
    levels : tuple of (Fraction, int) or None
        The bounds of ``benefit-then-rejections``.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
    >>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> instance = Instance((Machine("m", 5),), requests)
    >>> scaled = ScaledInstance.from_instance(instance, "rejections-then-benefit")
    >>> Target.from_bounds(scaled, (Fraction(1), Fraction(1, 2)))[1:]  # 2 (1 - 2) - 1/2
    (Fraction(2, 1), Fraction(-5, 2), None)
    """

    scaled: ScaledInstance
    weight: Fraction
    cost: Fraction
    levels: tuple[Fraction, int] | None

    @classmethod
    def from_bounds(cls, scaled: ScaledInstance, bounds: tuple[Fraction, ...]) -> Target:
        """Return the target of bounds of all levels."""
        levels, requests = scaled.levels, scaled.instance.requests
        if not scaled.instance.exact and "benefit" in levels:
            at = levels.index("benefit")
            wider = bounds[at] + CONCEDED * abs(bounds[at])
            bounds = (*bounds[:at], wider, *bounds[at + 1 :])
        if levels[0] == "benefit":
            known = (bounds[0], int(bounds[1])) if len(levels) > 1 else None
            return cls(scaled, ONE, -bounds[0], known)
        by_priority = levels[0] == "rejected-priority"
        gains = [exact(request.priority) if by_priority else ONE for request in requests]
        weight = ONE
        if len(levels) > 1:
            weight = Fraction(2) / common_step(gains)
        if levels[-1] == "machines":
            weight = Fraction(len(scaled.free) + 1)
        second = sum(bounds[1:], ZERO)
        second = second if levels[-1] == "machines" else -second
        return cls(scaled, weight, weight * (bounds[0] - sum(gains)) + second, None)

    def program(self, groups: Sequence[int]) -> ProofProgram:
        """Return the program over some groups of machines."""
        return ProofProgram(self.scaled, groups, self.weight, self.levels)


def groups_of_identical_machines(scaled: ScaledInstance) -> list[int]:
    """Return of each machine the first one that is interchangeable with it.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
    >>> machines = tuple(Machine(name, cpu) for name, cpu in (("m", 4), ("n", 7), ("o", 5)))
    >>> instance = Instance(machines, (Request("r", 0, 1, 2, 1, (Part(3),)),))
    >>> groups_of_identical_machines(ScaledInstance.from_instance(instance))  # in units of 3
    [0, 1, 0]
    """
    groups = list(range(len(scaled.free)))
    for machines, _ in scaled.identical_machines():
        for machine in machines:
            groups[machine] = machines[0]
    return groups


def common_step(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all others are multiples; 1 if there are none.

    Examples
    --------
    >>> common_step([Fraction(1, 2), Fraction(-1, 3)])
    Fraction(1, 6)
    """
    positive = {abs(number) for number in numbers if number}
    scale = lcm(*(number.denominator for number in positive))
    return Fraction(gcd(*(int(number * scale) for number in positive)) or 1, scale)
