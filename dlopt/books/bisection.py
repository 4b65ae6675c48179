"""The smallest accepted concession where no breakpoints are known: by bisection."""

from __future__ import annotations

from collections.abc import Callable

from dlopt.arithmetic import Number


def bisected_concession(
    accepts: Callable[[Number], bool],
    low: Number,
    high: Number,
    step: Callable[[Number], Number],
) -> Number:
    """Return a concession that is accepted, while one that is smaller by a step is rejected.

    Parameters
    ----------
    accepts : callable
        Tells whether a concession is accepted.
    low : Number
        It is rejected.
    high : Number
        It is accepted.
    step : callable
        The step, positive, as a function of the concession.

    Notes
    -----
    Where acceptance is not monotone, there may be a smaller one. Complexity: O(log) of the distance
    in steps, and as often again as a smaller one is accepted by chance.

    Examples
    --------
    >>> bisected_concession(lambda x: x >= 3, 0, 16, lambda x: 1)
    3.0
    """
    while True:
        rejected = low
        while high - rejected > step(high):
            middle = (rejected + high) / 2
            if not rejected < middle < high:
                break
            if accepts(middle):
                high = middle
            else:
                rejected = middle
        probe = high - step(high)
        if not 0 < probe < high or not accepts(probe):
            return high
        high, low = probe, low if low < probe else 0 * low
