"""How large the programs over all requests would be at the least, from the instance alone.

To state an instance in whole numbers takes longer than to read it. So what is far too large is
refused before that; what passes here is estimated once more where its program would be stated.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from dlopt.arithmetic import Number, exact
from dlopt.backends.sizes import too_large
from dlopt.models.coreservation.cpsat import MOST_LISTED
from dlopt.problems.coreservation.data import Instance, Request

_LITERALS, _COEFFICIENTS = 6, 8
"""For a part on a machine, in the program of CP-SAT and in the integer program."""
CP_SAT, MILP = "program for CP-SAT", "integer program over machines and pieces"


def cp_sat_is_too_large(instance: Instance) -> str | None:
    """Return why `cp-sat` does not apply, or None."""
    return too_large(CP_SAT, least_terms(instance, _LITERALS))


def milp_is_too_large(instance: Instance) -> str | None:
    """Return why `milp` does not apply, or None."""
    return too_large(MILP, least_terms(instance, _COEFFICIENTS))


def least_terms(instance: Instance, each: int) -> float:
    """Return how many terms a program has at the least.

    Counted are machines of constant capacity without holdings, and requests all of whose parts
    fit on some of them; of requests whose windows interact, the most.

    Parameters
    ----------
    instance : Instance
    each : int
        Terms for a part on a machine.

    Notes
    -----
    Complexity: O(n log n + parts x capacities).

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> least_terms(Instance((Machine("m", 5), Machine("n", 2)), asked), 6)
    12.0
    """
    held = {one.machine for one in instance.holdings}
    plain = {
        j: exact(machine.steps[0][1])
        for j, machine in enumerate(instance.machines)
        if j not in held and len(machine.steps) == 1
    }
    named = {part.machine for one in instance.requests for part in one.parts}
    alike = Counter(capacity for j, capacity in plain.items() if j not in named)
    most = 0.0
    for group in _interacting(instance.requests):
        choices = jobs = 0
        least: Fraction | None = None
        for request in group:
            needs = [exact(part.least) for part in request.parts]
            places = [
                sum(plain[j] >= need for j in plain if part.machine in (None, j))
                for part, need in zip(request.parts, needs, strict=True)
            ]
            if all(places):
                choices, jobs = choices + sum(places), jobs + len(places)
                least = min(needs) if least is None else min(least, *needs)
        if least is not None:
            same = sum(n for capacity, n in alike.items() if n > 1 and capacity >= least)
            most = max(most, each * choices + MOST_LISTED / 2 * same * jobs)
    return most


def _interacting(requests: tuple[Request, ...]) -> list[list[Request]]:
    """Return the requests in groups: those of different groups share no instant."""
    groups: list[list[Request]] = []
    until: Number = -1
    for request in sorted(requests, key=lambda one: exact(one.start)):
        if request.start >= until:
            groups.append([])
        groups[-1].append(request)
        until = max(until, request.end)
    return groups
