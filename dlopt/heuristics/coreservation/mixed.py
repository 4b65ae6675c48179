"""Instances in which floats meet fractions: their exact twins, with which heuristics compute.

Python compares a float with a fraction as the binary number that it is stored as; the rules take it
for the decimal that it prints. Floats among themselves, and whole numbers, compare alike in both.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

from dlopt.arithmetic import Number
from dlopt.problems.coreservation.data import Instance

_WHOLE = 1 << 53
"""Below it whole numbers are floats without rounding."""


def is_mixed(instance: Instance) -> bool:
    """Tell whether instants and CPU are given in floats and in exact numbers that may be none.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> half = Request("r", 0, 0.5, 2, 1, (Part(3),))
    >>> third = Request("s", 0, Fraction(1, 3), 2, 1, (Part(3),))
    >>> is_mixed(Instance((Machine("m", 4),), (half,)))
    False
    >>> is_mixed(Instance((Machine("m", 4),), (half, third)))
    True
    """
    numbers: list[Number] = [one for machine in instance.machines for one in chain(*machine.steps)]
    numbers += [] if instance.batch is None else [instance.batch.interval]
    for held in instance.holdings:
        numbers += [held.start, held.end, held.cpu]
    for one in instance.requests:
        numbers += [one.arrival, one.start, one.end]
        for part in one.parts:
            numbers += [part.cpu, part.least]
    kinds = set(map(type, numbers))
    if float not in kinds:
        return False
    return Fraction in kinds or any(type(one) is int and one >= _WHOLE for one in numbers)
