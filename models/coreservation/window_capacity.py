"""The instants of an instance, and what is free of its machines between them.

Where a number is a float, the lemma on floats of `scaled_instance` says how much machines may be
loaded by true shares.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import FLOATING, ROUNDING, exact
from dlopt.problems.coreservation.data import Instance

SHARE_ALLOWED = 1 - exact(FLOATING) - ROUNDING
"""What `check` allows a share to be of the least CPU, where a number is a float."""


def sorted_instants(instance: Instance) -> list[Fraction]:
    """Return steps of capacities, starts and ends of holdings and of requests, ascending.

    Examples
    --------
    >>> from dlopt.problems.coreservation.data import Machine, Part, Request
    >>> wanted = Request("r", 0, 1, 2, 1, (Part(3),))
    >>> [int(instant) for instant in sorted_instants(Instance((Machine("m", 5),), (wanted,)))]
    [0, 1, 2]
    """
    instants = {exact(i) for machine in instance.machines for i, _ in machine.steps}
    windows = [(request.start, request.end) for request in instance.requests]
    windows += [(holding.start, holding.end) for holding in instance.holdings]
    for start, end in windows:
        instants |= {exact(start), exact(end)}
    return sorted(instants)


def free_capacity(instance: Instance) -> list[list[Fraction]]:
    """Return what holdings leave of each machine from an instant to the next.

    Examples
    --------
    >>> from dlopt.problems.coreservation.data import Holding, Machine, Part, Request
    >>> wanted, holding = Request("r", 0, 1, 2, 1, (Part(3),)), Holding(0, 1, 2, cpu=4)
    >>> instance = Instance((Machine("m", 5),), (wanted,), holdings=(holding,))
    >>> [int(free) for free in free_capacity(instance)[0]]
    [5, 1, 5]
    """
    ranks = {instant: rank for rank, instant in enumerate(sorted_instants(instance))}
    table = []
    for index, machine in enumerate(instance.machines):
        steps = {ranks[exact(instant)]: exact(value) for instant, value in machine.steps}
        changes = [Fraction(0)] * len(ranks)
        for holding in instance.holdings:
            if holding.machine == index:
                changes[ranks[exact(holding.start)]] += exact(holding.cpu)
                changes[ranks[exact(holding.end)]] -= exact(holding.cpu)
        free, capacity, reserved = [], Fraction(0), Fraction(0)
        for rank, change in enumerate(changes):
            capacity, reserved = steps.get(rank, capacity), reserved + change
            free.append(max(capacity - reserved, Fraction(0)))
        table.append(free)
    return table


def permitted_capacity(instance: Instance) -> list[list[Fraction]]:
    """Return how much true shares may load each machine from an instant to the next.

    Examples
    --------
    >>> from dlopt.problems.coreservation.data import Machine, Part, Request
    >>> wanted = Request("r", 0, 1, 2, 1, (Part(3),))
    >>> permitted_capacity(Instance((Machine("m", 5),), (wanted,)))[0][1]
    Fraction(5, 1)
    >>> 5 < permitted_capacity(Instance((Machine("m", 5.0),), (wanted,)))[0][1] < 5 + 1e-7
    True
    """
    free = free_capacity(instance)
    if instance.exact:
        return free
    overload = allowed_overload(instance)
    return [[(value + overload) / SHARE_ALLOWED for value in row] for row in free]


def allowed_overload(instance: Instance) -> Fraction:
    """Return by how much `check` allows machines to be overloaded, where a number is a float."""
    asked = [exact(part.cpu) for request in instance.requests for part in request.parts]
    return exact(FLOATING) * min(asked) + ROUNDING * max(asked)
