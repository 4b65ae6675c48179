"""The idle intervals (gaps) of one machine during list scheduling."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

MAX_GAPS_PER_BLOCK = 64
"""Gaps in one block; a longer block is split in two. Chosen by hand: insertion into a block is
linear in its gaps, and a search is linear in the number of blocks."""


class MachineTimeline:
    """The gaps between the tasks of one machine, and the end of its last task.

    Gaps are kept in blocks, each of which knows its longest gap: blocks in which nothing fits are
    skipped as a whole.

    Examples
    --------
    >>> timeline = MachineTimeline(0)
    >>> timeline.occupy(4, 2)
    >>> timeline.insertion_start(1, 3), timeline.insertion_start(2, 3), timeline.append_start(2, 3)
    (1, 6, 6)
    """

    __slots__ = ("_block_ends", "_blocks", "_longest", "end")

    def __init__(self, zero: Any) -> None:
        self.end = zero
        self._blocks: list[tuple[list[Any], list[Any]]] = []  # starts and ends of gaps
        self._block_ends: list[Any] = []  # the end of the last gap of each block
        self._longest: list[Any] = []

    def insertion_start(self, ready: Any, length: Any, latest: Any = None) -> Any:
        """Return the earliest start of a task, in a gap if there is one that is long enough.

        A task that takes no time fits anywhere. With `latest`, None if it would be later than that.
        Complexity: O(gaps / block + block).
        """
        if not length or ready >= self.end:
            return ready if latest is None or ready <= latest else None
        longest = self._longest
        for block in range(bisect_right(self._block_ends, ready), len(longest)):
            if longest[block] < length:
                continue
            starts, ends = self._blocks[block]
            for at in range(bisect_right(ends, ready), len(ends)):
                start = starts[at]
                if start < ready:
                    start = ready
                if latest is not None and start > latest:
                    return None
                if start + length <= ends[at]:
                    return start
        return self.end if latest is None or self.end <= latest else None

    def append_start(self, ready: Any, length: Any, latest: Any = None) -> Any:
        """Return the earliest start of a task after all others; see `insertion_start`."""
        start = ready if ready >= self.end or not length else self.end
        return start if latest is None or start <= latest else None

    def occupy(self, start: Any, length: Any) -> None:
        """Add a task; its interval must be free."""
        if not length:
            return
        end = start + length
        if start >= self.end:
            if start > self.end:
                self._append_gap(self.end, start)
            self.end = end
            return
        block = bisect_right(self._block_ends, start)
        starts, ends = self._blocks[block]
        at = bisect_right(ends, start)
        gap_before, gap_after = starts[at] < start, end < ends[at]
        if gap_before and gap_after:
            ends.insert(at, start)
            starts.insert(at + 1, end)
        elif gap_before:
            ends[at] = start
        elif gap_after:
            starts[at] = end
        else:
            del starts[at], ends[at]
        self._update_block(block)

    def copy(self) -> MachineTimeline:
        """Return a copy."""
        other = MachineTimeline(self.end)
        other._blocks = [(starts[:], ends[:]) for starts, ends in self._blocks]
        other._block_ends, other._longest = self._block_ends[:], self._longest[:]
        return other

    def _append_gap(self, start: Any, end: Any) -> None:
        """Add a gap after all others."""
        if not self._blocks or len(self._blocks[-1][0]) >= MAX_GAPS_PER_BLOCK:
            self._blocks.append(([], []))
            self._block_ends.append(end)
            self._longest.append(end - start)
        starts, ends = self._blocks[-1]
        starts.append(start)
        ends.append(end)
        self._block_ends[-1] = end
        self._longest[-1] = max(self._longest[-1], end - start)

    def _update_block(self, block: int) -> None:
        """Update the end and the longest gap of a block whose gaps have changed."""
        starts, ends = self._blocks[block]
        if not starts:
            del self._blocks[block], self._block_ends[block], self._longest[block]
            return
        if len(starts) > MAX_GAPS_PER_BLOCK:
            half = MAX_GAPS_PER_BLOCK // 2
            self._blocks.insert(block + 1, (starts[half:], ends[half:]))
            del starts[half:], ends[half:]
            self._block_ends.insert(block + 1, None)
            self._longest.insert(block + 1, None)
            self._update_block(block + 1)
        self._block_ends[block] = ends[-1]
        self._longest[block] = max([end - start for start, end in zip(starts, ends, strict=True)])
