"""Resource usage profiles: the load of a machine above its free capacity at every instant.

A segment tree with range addition and range maximum.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

LoadInterval: TypeAlias = tuple[Fraction, Fraction, int]
"""Start, end and CPU of an interval; the CPU in integer units."""


class UsageProfile:
    """The load of a machine less what can be reserved on it, as a step function.

    A tree over the instants at which anything changes: adding to a window, and the peak within
    it, cost O(log n) each.

    Parameters
    ----------
    capacity : sequence of (Fraction, int)
        Instants and the capacity from then on; the first instant is 0.
    reserved : sequence of LoadInterval
        What is reserved already. Where it exceeds the capacity nothing can be reserved.
    windows : sequence of LoadInterval
        The windows that will be added to.

    Examples
    --------
    >>> profile = UsageProfile([(0, 4)], reserved=[(1, 3, 3)], windows=[(0, 2, 2)])
    >>> profile.add(0, 2, 2)
    >>> profile.peak(0, 2), list(profile.overloads(0))
    (1, [(1, 2, 1)])
    """

    def __init__(
        self,
        capacity: Sequence[tuple[Fraction, int]],
        reserved: Sequence[LoadInterval],
        windows: Sequence[LoadInterval],
    ) -> None:
        instants = {instant for instant, _ in capacity}
        for start, end, _ in (*reserved, *windows):
            instants |= {start, end}
        self._instants = sorted(instants)
        self._size = 1 << (len(instants) - 1).bit_length()
        free = self._free(dict(capacity), reserved)
        empty = -max(free)
        padding = [empty] * (self._size - len(free))
        self._added = [0] * (2 * self._size)
        self._peak = [empty] * self._size + [-value for value in free] + padding
        for node in range(self._size - 1, 0, -1):
            self._peak[node] = max(self._peak[2 * node], self._peak[2 * node + 1])

    def add(self, start: Fraction, end: Fraction, cpu: int) -> None:
        """Add to the load of a window."""
        left, right = self._leaf(start), self._leaf(end)
        ends = left, right - 1
        while left < right:
            if left & 1:
                self._raise(left, cpu)
                left += 1
            if right & 1:
                right -= 1
                self._raise(right, cpu)
            left, right = left >> 1, right >> 1
        for node in ends:
            self._update_ancestors(node)

    def peak(self, start: Fraction, end: Fraction) -> int:
        """Return the most by which the load exceeds what can be reserved, within a window."""
        left, right = self._leaf(start), self._leaf(end) - 1
        highest, other = self._peak[left], self._peak[right]
        while left >> 1 != right >> 1:
            if not left & 1:
                highest = max(highest, self._peak[left + 1])
            if right & 1:
                other = max(other, self._peak[right - 1])
            left, right = left >> 1, right >> 1
            highest, other = highest + self._added[left], other + self._added[right]
        return max(highest, other) + self._added_above(left)

    def overloads(self, limit: Fraction | int) -> Iterator[tuple[Fraction, Fraction, int]]:
        """Yield where the load exceeds what can be reserved by more than `limit`, and the peak."""
        since, peak = None, 0
        for index, instant in enumerate(self._instants):
            leaf = self._size + index
            level = self._peak[leaf] + self._added_above(leaf)
            if level > limit:
                since, peak = (instant, level) if since is None else (since, max(peak, level))
            elif since is not None:
                yield since, instant, peak
                since = None

    def _free(self, capacity: dict[Fraction, int], reserved: Sequence[LoadInterval]) -> list[int]:
        """Return what can be reserved from each instant to the next."""
        turns = dict.fromkeys(self._instants, 0)
        for start, end, cpu in reserved:
            turns[start] += cpu
            turns[end] -= cpu
        free, taken, most = [], 0, 0
        for instant, turn in turns.items():
            taken += turn
            most = capacity.get(instant, most)
            free.append(max(most - taken, 0))
        return free

    def _leaf(self, instant: Fraction) -> int:
        return bisect_left(self._instants, instant) + self._size

    def _raise(self, node: int, cpu: int) -> None:
        self._added[node] += cpu
        self._peak[node] += cpu

    def _update_ancestors(self, node: int) -> None:
        """Recompute the peaks of the ancestors of a node."""
        while node > 1:
            node >>= 1
            highest = max(self._peak[2 * node], self._peak[2 * node + 1])
            self._peak[node] = highest + self._added[node]

    def _added_above(self, node: int) -> int:
        """Return what was added to all ancestors of a node."""
        total = 0
        while node > 1:
            node >>= 1
            total += self._added[node]
        return total
