"""When requests are decided: the batches of an instance."""

from __future__ import annotations

from fractions import Fraction
from itertools import groupby

from dlopt.arithmetic import exact
from dlopt.problems.coreservation.data import Instance


def batch_times(instance: Instance) -> tuple[Fraction, ...]:
    """Return of each request the instant at which its batch is decided.

    Requests are collected until the next event. The first event comes one interval after 0, and
    each of the others one interval after the last. If a request arrives whose window starts
    before the next event, the event is moved forward to that arrival; it takes all requests that
    arrive at that instant. What arrives at a regular event belongs to the batch after it.
    Without batches every request is decided at its arrival.

    Parameters
    ----------
    instance : Instance

    Returns
    -------
    tuple of Fraction, shape (requests,)
        Not decreasing; never after the start of the request.

    Notes
    -----
    Complexity: O(n). The text does not say what happens to requests that arrive at an event, nor
    to others of the instant at which an event is moved forward.

    Source: Min 2001, section 4.2, figure 4.1.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Batch, Machine, Part, Request
    >>> asked = [(3, 80), (10, 60), (15, 40), (20, 100)]
    >>> requests = tuple(
    ...     Request(f"r{k}", arrival, start, 200, 1, (Part(1),))
    ...     for k, (arrival, start) in enumerate(asked)
    ... )
    >>> instance = Instance((Machine("m", 9),), requests, Batch(50))
    >>> [int(instant) for instant in batch_times(instance)]
    [15, 15, 15, 65]
    """
    requests = instance.requests
    if instance.batch is None:
        return tuple(exact(request.arrival) for request in requests)
    interval = exact(instance.batch.interval)
    event, waiting = interval, 0
    times: list[Fraction] = []
    for arrival, together in groupby(requests, key=lambda request: exact(request.arrival)):
        members = list(together)
        if arrival >= event:
            times += [event] * waiting
            waiting = 0
            event += interval * ((arrival - event) // interval + 1)
        waiting += len(members)
        if any(exact(member.start) < event for member in members):
            times += [arrival] * waiting
            waiting, event = 0, arrival + interval
    return (*times, *[event] * waiting)


def batches(instance: Instance) -> tuple[tuple[Fraction, tuple[int, ...]], ...]:
    """Return the batches in order: when each is decided, and the indices of its requests.

    Without batches every request is one of its own, also where two arrive at one instant.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Machine, Part, Request
    >>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(1),)) for name in "ab")
    >>> batches(Instance((Machine("m", 9),), requests))
    ((Fraction(0, 1), (0,)), (Fraction(0, 1), (1,)))
    """
    times = batch_times(instance)
    if instance.batch is None:
        return tuple((instant, (index,)) for index, instant in enumerate(times))
    grouped = groupby(range(len(times)), key=times.__getitem__)
    return tuple((instant, tuple(members)) for instant, members in grouped)
