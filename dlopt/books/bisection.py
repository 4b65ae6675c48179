"""The smallest accepted concession where no breakpoints are known: by trials and bisection."""

from __future__ import annotations

from collections.abc import Callable

from dlopt.arithmetic import Number

_PARTS = 16
"""Parts of the range of concessions at whose ends decisions are tried before a bisection. Chosen by
hand: few trials against the chance of missing a small concession."""
_FINEST = 2**64
"""How many times smaller than the range the smallest concession is that is looked for. Chosen by
hand: far below the rounding errors of floats."""
_HALVINGS = 16
"""How often the last of these parts is halved: to a millionth of the range."""


def sampled_concession(
    accepts: Callable[[Number], bool],
    low: Number,
    high: Number,
    step: Callable[[Number], Number],
) -> Number | None:
    """Return a small concession that is accepted, or None if none is found below `high`.

    Some are tried, ascending, and the first that is accepted is made smaller by bisection.

    Parameters
    ----------
    accepts, low, step
        See `bisected_concession`.
    high : Number

    Examples
    --------
    >>> sampled_concession(lambda x: 5 <= x < 6, 0, 16, lambda x: 1)
    5.0
    >>> sampled_concession(lambda x: False, 0, 16, lambda x: 1)
    """
    rest = high - low
    tried = [low + rest * part / _PARTS for part in range(1, _PARTS)]
    tried += [high - rest / (_PARTS * 2**halving) for halving in range(1, _HALVINGS + 1)]
    for concession in tried:
        if accepts(concession):
            return bisected_concession(accepts, low, concession, step)
        low = concession
    return None


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
    Where acceptance is not monotone, there may be a smaller one. Where all small ones are accepted
    but not the lowest, there is no smallest: one is returned that is far smaller than the range.
    Complexity: O(log) of the distance in steps, and as often again as a smaller one is accepted by
    chance.

    Examples
    --------
    >>> bisected_concession(lambda x: x >= 3, 0, 16, lambda x: 1)
    3.0
    """
    finest = (high - low) / _FINEST
    while high > finest:
        rejected = low
        while high - rejected > max(step(high), finest):
            middle = (rejected + high) / 2
            if not rejected < middle < high:
                break
            if accepts(middle):
                high = middle
            else:
                rejected = middle
        probe = high - step(high)
        if not 0 < probe < high or not accepts(probe):
            break
        high, low = probe, low if low < probe else 0 * low
    return high
