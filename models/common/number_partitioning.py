"""Makespans of independent tasks on identical machines (P||Cmax), by multiway number partitioning.

If no machine works longer than C, each of the m machines works for at least ``total - (m - 1) C``.
Near the lower bound ``total / m`` few subsets of the tasks take a time between the two. All of them
are listed, and a schedule is an exact cover of the tasks by m of them. C is raised from the lower
bound in steps that double until there is a cover, and then bisected; every C without a cover raises
the bound. All of it is in integers.

Source: cached iterative weakening (Schreiber, Korf and Moffitt, Optimal multi-way number
partitioning, Journal of the ACM 65, 2018); subsets by the sorted sums of two halves (Horowitz and
Sahni 1974). The bisection, where the paper tries one sum after another, is ours.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

NUMBER_PARTITIONING = "complete number partitioning, in integers"
"""The name of the proof."""
MAX_TASKS = 40
"""Tasks up to which subsets are listed: half of them have a million. Chosen by hand."""
MAX_SUBSETS = 200_000
"""Subsets that are listed; of more, as many are taken, and that they have no cover proves nothing.
Chosen by hand, for memory and time."""
MAX_WORK = 1_000_000_000
"""Subsets that may be looked at for all capacities together, some seconds. Chosen by hand."""
WORK_OF_COVER = 2_000
"""Subsets that take as long as what else there is to do before they are looked at. Measured."""

Integers = npt.NDArray[np.int64]


class _GivenUpError(Exception):
    """A limit of the search is reached."""


class _SubsetSums(NamedTuple):
    """Subsets as sets of bits, and their sums."""

    masks: Integers
    sums: Integers

    def select(self, places: Integers | npt.NDArray[np.bool_]) -> _SubsetSums:
        """Return some of the subsets."""
        return _SubsetSums(self.masks[places], self.sums[places])


class NumberPartitioning:
    """The search for the least largest sum of a partition of integers into a number of parts.

    Parameters
    ----------
    sizes : sequence of int
        Not negative, at most `MAX_TASKS`.
    parts : int
    bound : int
        A lower bound of the largest sum that is known.
    value : int
        The largest sum of a partition that is known.

    Attributes
    ----------
    bound : int
        No partition has a largest sum below it.
    value : int
    best : list of list of int, or None
        The indices in each part of the best partition, of as many parts as it needs; None until one
        is better than the known one.

    Notes
    -----
    Complexity: O(2^(n/2)) time and memory for the subsets, and exponential for the covers; limited
    by `MAX_SUBSETS` and `MAX_WORK`.

    Examples
    --------
    Into three parts of the sum 14 these numbers cannot be divided, but with a part of 15:

    >>> search = NumberPartitioning([9, 8, 8, 7, 6, 4], parts=3, bound=14, value=17)
    >>> search.run()
    >>> search.bound, search.value, search.best
    (15, 15, [[0, 4], [1, 3], [2, 5]])
    """

    def __init__(self, sizes: Sequence[int], parts: int, bound: int, value: int) -> None:
        self.bound, self.value = bound, value
        self.best: list[list[int]] | None = None
        self._parts = parts
        self._zeros = [index for index, size in enumerate(sizes) if not size]
        # Bit 0 stands for the largest number: the lowest bit of a set is its largest number.
        positive = (index for index, size in enumerate(sizes) if size)
        self._order = sorted(positive, key=lambda index: -sizes[index])
        self._sizes = [sizes[index] for index in self._order]
        self._total = sum(sizes)
        self._halves = self._all_subsets(0), self._all_subsets(1)
        self._work = 0
        self._stop: float | None = None

    def run(self, stop: float | None = None) -> None:
        """Raise the bound and lower the value until they meet, or a limit is reached.

        Parameters
        ----------
        stop : float, optional
            Of `time.monotonic`.
        """
        self._stop = stop
        step, capacity = 1, self.bound
        while self.bound < self.value:
            try:
                cover = self._cover_of_all(capacity)
            except _GivenUpError:
                return
            if cover is None:
                self.bound = capacity + 1
            else:
                self._keep(cover)
            step *= 2
            further = (self.bound + self.value) // 2
            capacity = further if self.best else min(self.bound + step, further)

    def _all_subsets(self, first: int) -> _SubsetSums:
        """Return the subsets of every second number, by their sums."""
        masks, sums = np.zeros(1, np.int64), np.zeros(1, np.int64)
        for index in range(first, len(self._sizes), 2):
            masks = np.concatenate((masks, masks | (1 << index)))
            sums = np.concatenate((sums, sums + self._sizes[index]))
        return _SubsetSums(masks, sums).select(np.argsort(sums, kind="stable"))

    def _subsets_within(self, low: int, high: int) -> _SubsetSums:
        """Return the subsets whose sums are between two numbers, the largest sums first."""
        left, right = self._halves
        first = np.searchsorted(right.sums, low - left.sums, "left")
        counts = np.searchsorted(right.sums, high - left.sums, "right") - first
        ends = np.cumsum(counts)
        total = int(ends[-1])
        places = np.arange(total) if total <= MAX_SUBSETS else _evenly(total)
        rows = np.searchsorted(ends, places, "right")
        columns = first[rows] + places - (ends - counts)[rows]
        sums = left.sums[rows] + right.sums[columns]
        found = _SubsetSums(left.masks[rows] | right.masks[columns], sums)
        return found.select(np.argsort(-sums, kind="stable"))

    def _cover_of_all(self, capacity: int) -> list[int] | None:
        """Return a partition without a sum above a capacity; None if there is none."""
        least = self._total - (self._parts - 1) * capacity
        everything = (1 << len(self._sizes)) - 1
        subsets = self._subsets_within(least, capacity)
        cover = self._cover(subsets, everything, self._total, self._parts, capacity)
        if cover is None and len(subsets.masks) == MAX_SUBSETS:
            raise _GivenUpError
        return cover

    def _cover(
        self, subsets: _SubsetSums, remaining: int, rest: int, parts: int, capacity: int
    ) -> list[int] | None:
        """Return a partition of the remaining numbers, whose sum is `rest`, into some parts."""
        if parts == 1 or not remaining:
            return [remaining] if rest <= capacity else None
        self._work += len(subsets.masks) + WORK_OF_COVER
        if self._work > MAX_WORK or (self._stop is not None and time.monotonic() > self._stop):
            raise _GivenUpError
        subsets = subsets.select(subsets.masks & ~remaining == 0)
        has_largest = subsets.masks & (remaining & -remaining) != 0
        others = subsets.select(~has_largest)
        enough = subsets.sums >= rest - (parts - 1) * capacity
        for mask, size in zip(*subsets.select(has_largest & enough), strict=True):
            left = remaining & ~int(mask)
            cover = self._cover(others, left, rest - int(size), parts - 1, capacity)
            if cover is not None:
                return [int(mask), *cover]
        return None

    def _keep(self, cover: list[int]) -> None:
        places = [[bit for bit in range(len(self._sizes)) if mask >> bit & 1] for mask in cover]
        self.value = max(sum(self._sizes[bit] for bit in part) for part in places)
        self.best = [sorted(self._order[bit] for bit in part) for part in places]
        self.best[0] += self._zeros


def _evenly(total: int) -> Integers:
    """Return `MAX_SUBSETS` places among more, at equal distances."""
    return np.arange(MAX_SUBSETS, dtype=np.int64) * total // MAX_SUBSETS
