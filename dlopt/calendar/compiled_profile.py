"""The compiled twin of `dlopt.calendar.profile_tree.ProfileTree` (extra ``fast``).

Instants are floats, amounts integers of 64 bits. All profiles of a calendar and of its copies share
one pair of arrays, so they must not be used by several threads at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from dlopt.calendar import earliest_fit_numba as questions
from dlopt.calendar import profile_tree_numba as tree
from dlopt.calendar.profile_nodes import Instant, Units
from dlopt.calendar.profile_nodes_numba import TIMES_COLUMNS, WHOLE_COLUMNS, Nodes

_CHUNK = 1024
"""Steps that are read from the arrays at a time; more would be read in vain where few are used."""


class NodeArrays:
    """Arrays for the nodes of many profiles.

    Complexity: when no row is unused, one pass over all nodes finds those that no profile needs any
    more; if they are less than half of the rows, the arrays are doubled. So the cost of a row is
    O(1), amortised.
    """

    def __init__(self) -> None:
        self.profiles: WeakSet[CompiledProfile] = WeakSet()
        self.owners = 0
        self.whole = np.zeros((0, WHOLE_COLUMNS), np.int64)
        self.times = np.zeros((0, TIMES_COLUMNS))
        self.unused = np.zeros(1, np.int64)

    def new_owner(self) -> int:
        """Return a number for a profile, which marks the nodes that it may change."""
        self.owners += 1
        return self.owners

    def provide(self, rows: int) -> None:
        """See to it that so many rows are unused."""
        if self.unused[0] < rows:
            reached = np.zeros(len(self.whole), np.bool_)
            for profile in self.profiles:
                tree.mark(self.whole, profile.root, reached)
            kept = int(np.count_nonzero(reached))
            size = len(reached)
            if size < 2 * (kept + rows):
                size = max(2 * size, 2 * (kept + rows))
                self.whole = _enlarged(self.whole, size)
                self.times = _enlarged(self.times, size)
                reached = _enlarged(reached, size)
            numbers = np.flatnonzero(~reached)[::-1]
            self.unused = np.zeros(size + 1, np.int64)
            self.unused[0] = len(numbers)
            self.unused[1 : len(numbers) + 1] = numbers


class CompiledProfile:
    """The free amount of one resource from an instant on; see `ProfileTree`.

    Parameters
    ----------
    arrays : NodeArrays
    steps : sequence of tuple

    Examples
    --------
    >>> profile = CompiledProfile(NodeArrays(), [(0, 4)])
    >>> profile.change(2, 5, -3)
    >>> list(profile.steps(0)), profile.least_free(0, 3), profile.earliest_start(2, 3, 0)
    ([(0, 2.0, 4), (2.0, 5.0, 1), (5.0, inf, 4)], 1, 5.0)
    """

    def __init__(self, arrays: NodeArrays, steps: Sequence[tuple[Instant, Units]]) -> None:
        self._arrays = arrays
        self._owner = arrays.new_owner()
        arrays.provide(len(steps) // 8 + tree.ROWS_PER_CHANGE)
        starts = np.array([start for start, _ in steps], np.float64)
        amounts = np.array([amount for _, amount in steps], np.int64)
        self.root = int(
            tree.build(arrays.whole, arrays.times, arrays.unused, self._owner, starts, amounts)
        )
        arrays.profiles.add(self)

    def copy(self) -> CompiledProfile:
        """Return a profile that goes on by itself. Complexity: O(1)."""
        twin = CompiledProfile.__new__(CompiledProfile)
        twin._arrays, twin.root = self._arrays, self.root
        self._owner, twin._owner = self._arrays.new_owner(), self._arrays.new_owner()
        self._arrays.profiles.add(twin)
        return twin

    @property
    def begin(self) -> float:
        """The instant at which the profile begins."""
        return float(self._arrays.times[self.root, 0])

    def least_free(self, start: Instant, end: Instant) -> Units:
        """Return the least free amount in a window."""
        arrays = self._arrays
        return int(
            questions.least_free(arrays.whole, arrays.times, self.root, float(start), float(end))
        )

    def steps(
        self, start: Instant, end: Instant = math.inf
    ) -> Iterator[tuple[Instant, Instant, Units]]:
        """Yield from when to when each amount is free in a window."""
        arrays, root = self._arrays, self.root
        nodes = Nodes(arrays.whole, arrays.times, arrays.unused, 0)
        since, is_last = start, False
        while not is_last:
            starts, amounts = np.empty(_CHUNK), np.empty(_CHUNK, np.int64)
            count = questions.collect(nodes, root, 0, float(since), float(end), starts, amounts, 0)
            is_last = count < _CHUNK
            ends = [*starts[1:count].tolist(), end]
            steps = list(zip(ends, amounts[:count].tolist(), strict=True))
            # The last step of a full chunk is the first one of the next chunk.
            for until, amount in steps if is_last else steps[:-1]:
                yield since, until, amount
                since = until

    def change(self, start: Instant, end: Instant, amount: Units) -> None:
        """Add to the free amount in a window; `end` may be infinite."""
        arrays = self._arrays
        if amount:
            arrays.provide(tree.ROWS_PER_CHANGE)
            self.root = tree.change(
                arrays.whole,
                arrays.times,
                arrays.unused,
                self._owner,
                self.root,
                float(start),
                float(end),
                amount,
            )

    def earliest_start(
        self, amount: Units, duration: Instant, after: Instant, latest_end: Instant = math.inf
    ) -> float | None:
        """Return the first instant from `after` on with so much free for a duration, or None."""
        arrays = self._arrays
        found: float = questions.earliest_start(
            arrays.whole,
            arrays.times,
            self.root,
            amount,
            float(duration),
            float(after),
            float(latest_end),
        )
        return found if found < math.inf else None

    def run_end(self, amount: Units, start: Instant) -> float:
        """Return the first instant from `start` on at which less is free than an amount."""
        arrays = self._arrays
        return float(questions.run_end(arrays.whole, arrays.times, self.root, amount, float(start)))

    def forget(self, now: Instant) -> None:
        """Drop what was before an instant."""
        arrays = self._arrays
        arrays.provide(tree.ROWS_PER_CHANGE)
        self.root = tree.forget(
            arrays.whole, arrays.times, arrays.unused, self._owner, self.root, float(now)
        )

    def scale(self, factor: int) -> None:
        """Multiply all amounts. Complexity: O(n)."""
        steps = [(since, amount * factor) for since, _, amount in self.steps(self.begin)]
        self.root = CompiledProfile(self._arrays, steps).root


def _enlarged(array: Any, size: int) -> Any:
    """Return an array with more rows."""
    larger = np.zeros((size, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
