"""Bound of the makespan of independent tasks on machines of different speeds.

By an instant `T`, machine `k` can do tasks of a total size of at most ``(T - r_k) / c_k``, and no
more than the largest sum of some tasks that is not larger. All machines together must do the total
size. The least such `T` is a bound: with tasks of one size, or of a few multiples of one, it is
often attained, where the work alone, not rounded, leaves a gap. Source: ours; subset sums by
dynamic programming (Bellman 1957), as bits of an integer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from math import gcd

ROUNDED_WORK = "work rounded to sums of tasks, in integers"
"""How the bound is proven."""
MAX_TOTAL_SIZE = 1_000_000
"""Total size up to which sums are enumerated. Chosen by hand: some hundredths of a second."""


def rounded_work_bound(
    times: Sequence[Sequence[int | None]], ready: Sequence[int], lower: int, upper: int
) -> int:
    """Return a bound of the makespan, no less than one that is known.

    Parameters
    ----------
    times : sequence of sequence of (int or None), shape (tasks, machines)
        Unless they are sizes of tasks times numbers of machines, the bound that is known is it.
    ready : sequence of int, shape (machines,)
        Nothing starts before.
    lower, upper : int
        A bound and a makespan that are known.

    Examples
    --------
    Of five tasks of one size, machines that take 2 and 3 for each do three and two, by 6:

    >>> rounded_work_bound([(2, 3)] * 5, [0, 0], lower=5, upper=9)
    6
    """
    columns = [[t for t in column if t is not None] for column in zip(*times, strict=True)]
    units = [gcd(*column) for column in columns]
    if not all(units):
        return lower
    pairs = zip(columns, units, strict=True)
    sizes, *others = ([time // unit for time in column] for column, unit in pairs)
    total = sum(sizes)
    if len(sizes) < len(times) or others != [sizes] * len(others) or total > MAX_TOTAL_SIZE:
        return lower
    sums = 1
    for size in sizes:
        sums |= sums << size

    def done_by(end: int) -> int:
        limits = (max(end - r, 0) // unit for r, unit in zip(ready, units, strict=True))
        return sum((sums & ((2 << limit) - 1)).bit_length() - 1 for limit in limits)

    return lower + bisect_left(range(lower, upper), total, key=done_by)
