"""Instances that mix floats and fractions: heuristics compute with exact numbers for them.

Python compares a float with a fraction as the binary number that it is stored as; the checker takes
it for the decimal that it prints. Floats among themselves, and integers, compare equally in both.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import chain

from dlopt.arithmetic import Number
from dlopt.problems.coreservation.data import Instance

MAX_FLOAT_INTEGER = 1 << 53
"""Integers below it are floats without rounding: a float has 53 bits."""


def is_mixed(instance: Instance) -> bool:
    """Tell whether instants and CPU mix floats and exact numbers that may be no floats.

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
    numbers: list[Number] = [
        number for machine in instance.machines for number in chain(*machine.steps)
    ]
    numbers += [] if instance.batch is None else [instance.batch.interval]
    for holding in instance.holdings:
        numbers += [holding.start, holding.end, holding.cpu]
    for request in instance.requests:
        numbers += [request.arrival, request.start, request.end]
        for part in request.parts:
            numbers += [part.cpu, part.least]
    kinds = set(map(type, numbers))
    if float not in kinds:
        return False
    return Fraction in kinds or any(
        type(number) is int and number >= MAX_FLOAT_INTEGER for number in numbers
    )
