"""Tests of claims about a mean by its 95 % confidence interval.

Every function returns `holds`, `does not`, or `open` where the interval contains the claimed bound.
A single value has no interval, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from dlopt.simulation.replications import MeanEstimate

EPSILON = 1e-9
"""Numbers that differ by less are equal."""


def between(found: MeanEstimate, least: float = -inf, most: float = inf) -> str:
    """Return whether a mean lies between two bounds, which count as inside.

    Examples
    --------
    >>> between(MeanEstimate(3.0, 1.0), 2.0), between(MeanEstimate(3.0, 1.0), most=1.5)
    ('holds', 'does not')
    >>> between(MeanEstimate(3.0, 2.0), 2.0), between(MeanEstimate(3.0, None), 2.0)
    ('open', 'open')
    """
    if found.half_width is None:
        return "open"
    low, high = found.mean - found.half_width, found.mean + found.half_width
    if high < least - EPSILON or low > most + EPSILON:
        return "does not"
    return "holds" if low >= least - EPSILON and high <= most + EPSILON else "open"


def everywhere(words: Sequence[str]) -> str:
    """Return whether a claim holds, of what its points say.

    It holds if it does at all of them. Where it fails at some point it holds *only* at the others,
    if it surely does at one. Otherwise some point, or all, are open.

    Examples
    --------
    >>> everywhere(["holds", "holds"]), everywhere(["holds", "does not", "open"])
    ('holds', 'only')
    >>> everywhere(["does not", "open"]), everywhere(["holds", "open"]), everywhere([])
    ('does not', 'open', 'open')
    """
    if "does not" in words:
        return "only" if "holds" in words else "does not"
    return "holds" if words and "open" not in words else "open"


def counted(words: Sequence[str], what: str = "points") -> str:
    """Return at how many points a claim holds, and at how many it is open.

    Examples
    --------
    >>> counted(["holds", "open", "does not"]), counted(["holds"], "steps")
    ('1 of 3 points, 1 open', '1 of 1 steps')
    """
    unsure = words.count("open")
    return f"{words.count('holds')} of {len(words)} {what}" + (f", {unsure} open" if unsure else "")
