"""By when requests must be decided, as the checker computes it.

No model and no heuristic uses this module, and the checker does not use
`dlopt.problems.coreservation.batches`: an error in one shows in the other.
"""

from __future__ import annotations

from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.coreservation.data import Instance


def latest_decisions(instance: Instance) -> list[Fraction]:
    """Return of each request the instant at which its batch ends; without batches its arrival.

    Notes
    -----
    Batches end one interval after 0, and one after the end of the last; but one ends with the
    arrival of requests of which one starts before its end. What arrives as a batch ends otherwise
    belongs to the next. Complexity: O(n).

    Examples
    --------
    >>> from dlopt.problems.coreservation import Batch, Machine, Part, Request
    >>> asked = [(3, 80), (10, 60), (15, 40), (20, 100)]
    >>> requests = tuple(
    ...     Request(f"r{k}", arrival, start, 200, 1, (Part(1),))
    ...     for k, (arrival, start) in enumerate(asked)
    ... )
    >>> instance = Instance((Machine("m", 9),), requests, Batch(50))
    >>> [int(instant) for instant in latest_decisions(instance)]
    [15, 15, 15, 65]
    """
    arrivals = [exact(request.arrival) for request in instance.requests]
    if instance.batch is None:
        return arrivals
    every = exact(instance.batch.interval)
    first: dict[Fraction, Fraction] = {}  # of what arrives at an instant, the earliest start
    for request, arrival in zip(instance.requests, arrivals, strict=True):
        start = exact(request.start)
        first[arrival] = min(start, first.get(arrival, start))
    begun, ends = Fraction(0), dict[Fraction, Fraction]()
    waiting: list[Fraction] = []
    for arrival, start in first.items():
        passed = (arrival - begun) // every  # how many regular ends there were since
        if passed:
            ends.update(dict.fromkeys(waiting, begun + every))
            waiting, begun = [], begun + passed * every
        waiting.append(arrival)
        if start < begun + every:
            ends.update(dict.fromkeys(waiting, arrival))
            waiting, begun = [], arrival
    ends.update(dict.fromkeys(waiting, begun + every))
    return [ends[arrival] for arrival in arrivals]
