"""Lower estimates of the size of the full models, from the instance alone.

Scaling an instance takes longer than reading it. So a model that would be far too large is refused
before that; what passes here is estimated once more where its model would be stated.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.backends.size_limits import too_large
from dlopt.models.coreservation.cpsat import MAX_LISTED_PARTS
from dlopt.models.coreservation.requests import time_components
from dlopt.problems.coreservation.data import Instance

CP_SAT_TERMS_PER_CHOICE = 6
"""Literals and coefficients of a part on a machine in the CP-SAT model, counted there."""
MILP_TERMS_PER_CHOICE = 8
"""Coefficients of a part on a machine in the MILP, counted there."""
CP_SAT = "CP-SAT model"
MILP = "MILP over machines and segments"


def cp_sat_is_too_large(instance: Instance) -> str | None:
    """Return why `cp-sat` does not apply, or None."""
    return too_large(CP_SAT, least_terms(instance, CP_SAT_TERMS_PER_CHOICE))


def milp_is_too_large(instance: Instance) -> str | None:
    """Return why `milp` does not apply, or None."""
    return too_large(MILP, least_terms(instance, MILP_TERMS_PER_CHOICE))


def least_terms(instance: Instance, terms_per_choice: int) -> float:
    """Return how many terms a model has at the least.

    Counted are machines of constant capacity without holdings, and requests all of whose parts
    fit on some of them; of components of requests whose windows interact, the largest one.

    Parameters
    ----------
    instance : Instance
    terms_per_choice : int
        Terms for a part on a machine.

    Notes
    -----
    Complexity: O(n log n + parts x capacities).

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> least_terms(Instance((Machine("m", 5), Machine("n", 2)), asked), 6)
    12.0
    """
    partly_reserved = {holding.machine for holding in instance.holdings}
    capacities = {
        j: exact(machine.steps[0][1])
        for j, machine in enumerate(instance.machines)
        if j not in partly_reserved and len(machine.steps) == 1
    }
    named = {part.machine for request in instance.requests for part in request.parts}
    identical = Counter(capacity for j, capacity in capacities.items() if j not in named)
    largest = 0.0
    requests = sorted(instance.requests, key=lambda request: exact(request.start))
    for component in time_components(requests):
        choices = parts = 0
        smallest: Fraction | None = None
        for request in (requests[n] for n in component):
            minimums = [exact(part.least) for part in request.parts]
            eligible = [
                sum(capacities[j] >= minimum for j in capacities if part.machine in (None, j))
                for part, minimum in zip(request.parts, minimums, strict=True)
            ]
            if all(eligible):
                choices, parts = choices + sum(eligible), parts + len(eligible)
                smallest = min(minimums) if smallest is None else min(smallest, *minimums)
        if smallest is not None:
            interchangeable = sum(
                count for capacity, count in identical.items() if count > 1 and capacity >= smallest
            )
            symmetry = MAX_LISTED_PARTS / 2 * interchangeable * parts
            largest = max(largest, terms_per_choice * choices + symmetry)
    return largest
