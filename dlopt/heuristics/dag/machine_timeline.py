"""What is free on a machine."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

MOST = 64
"""Gaps that stand in one block; one more, and the block is cut in two."""


class Timeline:
    """The gaps between the tasks of one machine, and when the last of them ends.

    The gaps stand in blocks, each of which knows its longest: blocks in which nothing fits are
    passed over as a whole.

    Examples
    --------
    >>> line = Timeline(0)
    >>> line.take(4, 2)
    >>> line.inserted(1, 3), line.inserted(2, 3), line.appended(2, 3)
    (1, 6, 6)
    """

    __slots__ = ("_blocks", "_lasts", "_longest", "end")

    def __init__(self, zero: Any) -> None:
        self.end = zero
        self._blocks: list[tuple[list[Any], list[Any]]] = []
        self._lasts: list[Any] = []  # where the last gap of each block ends
        self._longest: list[Any] = []

    def inserted(self, ready: Any, length: Any, last: Any = None) -> Any:
        """Return the earliest start, in a gap if there is one that is long enough.

        What takes no time fits anywhere. With `last`, None if it would be later than that.
        Complexity: O(gaps / block + block).
        """
        if not length or ready >= self.end:
            return ready if last is None or ready <= last else None
        longest = self._longest
        for block in range(bisect_right(self._lasts, ready), len(longest)):
            if longest[block] < length:
                continue
            starts, ends = self._blocks[block]
            for at in range(bisect_right(ends, ready), len(ends)):
                start = starts[at]
                if start < ready:
                    start = ready
                if last is not None and start > last:
                    return None
                if start + length <= ends[at]:
                    return start
        return self.end if last is None or self.end <= last else None

    def appended(self, ready: Any, length: Any, last: Any = None) -> Any:
        """Return the same after all that was taken before."""
        start = ready if ready >= self.end or not length else self.end
        return start if last is None or start <= last else None

    def take(self, start: Any, length: Any) -> None:
        """Occupy the machine; what is taken must be free."""
        if not length:
            return
        end = start + length
        if start >= self.end:
            if start > self.end:
                self._append(self.end, start)
            self.end = end
            return
        block = bisect_right(self._lasts, start)
        starts, ends = self._blocks[block]
        at = bisect_right(ends, start)
        before, after = starts[at] < start, end < ends[at]
        if before and after:
            ends.insert(at, start)
            starts.insert(at + 1, end)
        elif before:
            ends[at] = start
        elif after:
            starts[at] = end
        else:
            del starts[at], ends[at]
        self._settle(block)

    def copy(self) -> Timeline:
        """Return another of the same content."""
        other = Timeline(self.end)
        other._blocks = [(starts[:], ends[:]) for starts, ends in self._blocks]
        other._lasts, other._longest = self._lasts[:], self._longest[:]
        return other

    def _append(self, start: Any, end: Any) -> None:
        """Add a gap behind all others."""
        if not self._blocks or len(self._blocks[-1][0]) >= MOST:
            self._blocks.append(([], []))
            self._lasts.append(end)
            self._longest.append(end - start)
        starts, ends = self._blocks[-1]
        starts.append(start)
        ends.append(end)
        self._lasts[-1] = end
        self._longest[-1] = max(self._longest[-1], end - start)

    def _settle(self, block: int) -> None:
        """Bring up to date what is known of a block whose gaps have changed."""
        starts, ends = self._blocks[block]
        if not starts:
            del self._blocks[block], self._lasts[block], self._longest[block]
            return
        if len(starts) > MOST:
            half = MOST // 2
            self._blocks.insert(block + 1, (starts[half:], ends[half:]))
            del starts[half:], ends[half:]
            self._lasts.insert(block + 1, None)
            self._longest.insert(block + 1, None)
            self._settle(block + 1)
        self._lasts[block] = ends[-1]
        self._longest[block] = max([end - start for start, end in zip(starts, ends, strict=True)])
