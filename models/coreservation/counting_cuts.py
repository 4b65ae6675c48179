"""Counting cuts: of the parts larger than a size only so many fit on the machines.

With the shares ``c_i`` in integers and free capacities ``C_j`` at an instant, for any size ``s``::

    #{i active : c_i > s} <= sum_j floor(C_j / (s + 1))

It cuts most at ``s = floor(C / (n + 1))`` with the largest capacity ``C``: of parts larger than
that no more than ``n`` fit there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from dlopt.models.coreservation.disaggregated_relaxation import PARTS_PER_MACHINE

MAX_PARTS_PER_MACHINE = 50
"""Parts of which more fit on the largest machine are not counted.

Chosen by hand: what a machine wastes is less than one of them.
"""


def counted_sizes(free: Sequence[int], shares: Sequence[int]) -> list[int]:
    """Return the sizes above which parts are counted.

    Parameters
    ----------
    free : sequence of int
        Capacities of machines.
    shares : sequence of int
        The least shares of the parts, or of segments of them.

    Notes
    -----
    Those of `PARTS_PER_MACHINE`, and others whose cut the aggregate capacity does not imply: where
    so many of the smallest shares above a size as fit use all capacity, no more can be accepted in
    fractions either. Complexity: O(n log n) for n shares, for each of 50 sizes at the most.

    Examples
    --------
    >>> counted_sizes([860, 860], [201, 205, 209, 213, 214, 202, 203, 204, 206])  # four fit
    [430, 286, 215, 172]
    >>> counted_sizes([800, 800], [200] * 9)  # their sum says that four fit
    [400, 266, 200]
    """
    largest, capacity = max(free), sum(free)
    ascending = sorted(shares)
    sizes = [largest // (n + 1) for n in PARTS_PER_MACHINE]
    others = {largest // share for share in ascending if share} - {0, *PARTS_PER_MACHINE}
    for size in (largest // (n + 1) for n in sorted(others) if n <= MAX_PARTS_PER_MACHINE):
        fitting = sum(room // (size + 1) for room in free)
        large = ascending[bisect_right(ascending, size) :]
        if len(large) > fitting and sum(large[:fitting]) < capacity:
            sizes.append(size)
    return list(dict.fromkeys(sizes))
