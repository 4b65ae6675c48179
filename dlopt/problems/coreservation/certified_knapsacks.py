"""The largest weight of parts that fit a machine together, as the checker of certificates has it.

No model and no heuristic uses this module.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

MAX_STEPS = 32_000_000
"""Sums that are formed for a row at the most: some seconds. A row that needs more is refused."""


def largest_weights(items: Iterable[tuple[int, Fraction]], room: int) -> list[Fraction] | None:
    """Return the largest weight of items whose sizes add up to at most 0, 1, ..., `room`.

    Parameters
    ----------
    items : iterable of (int, Fraction)
        A size that is positive, and a weight that is not negative.
    room : int
        Not negative.

    Returns
    -------
    list of Fraction or None
        None if there are more than `MAX_STEPS` sums.

    Examples
    --------
    >>> two, three = Fraction(2), Fraction(3)
    >>> [int(weight) for weight in largest_weights([(2, two), (2, three), (3, three)], 5)]
    [0, 0, 3, 3, 5, 6]
    """
    by_size: dict[int, list[Fraction]] = defaultdict(list)
    for size, weight in items:
        if size <= room:
            by_size[size].append(weight)
    kept = [
        (size, weight)
        for size, weights in by_size.items()
        for weight in sorted(weights, reverse=True)[: room // size]
    ]
    if (len(kept) + 1) * (room + 1) > MAX_STEPS:
        return None
    scale = lcm(*(weight.denominator for _, weight in kept))
    best = [0] * (room + 1)
    for size, weight in kept:
        more = int(weight * scale)
        pairs = zip(best[size:], best, strict=False)
        best[size:] = [b + more if b + more > a else a for a, b in pairs]
    return [Fraction(weight, scale) for weight in best]
