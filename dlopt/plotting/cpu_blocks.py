"""Blocks of CPU on a machine: stacked over time, and their colours."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class CpuBlock(NamedTuple):
    """CPU allocated on a machine in a window; `request` is -1 if it was reserved before."""

    start: float
    end: float
    cpu: float
    request: int


class BlockSegment(NamedTuple):
    """A segment of a block at one height above the base line of its machine."""

    row: int
    start: float
    end: float
    low: float
    high: float
    request: int


def colours_of_windows(windows: Mapping[int, tuple[float, float]], colours: int) -> dict[int, int]:
    """Return a colour for each window: the one that has not been in use for the longest time.

    Parameters
    ----------
    windows : mapping of int to (start, end)
    colours : int
        How many there are. Windows that overlap have different ones, unless too many do.

    Examples
    --------
    >>> colours_of_windows({0: (0, 9), 1: (0, 2), 2: (2, 5), 3: (6, 7)}, 3)
    {0: 0, 1: 1, 2: 2, 3: 1}
    """
    in_use_until = [(-math.inf, colour) for colour in range(colours)]
    heapq.heapify(in_use_until)
    found: dict[int, int] = {}
    for window in sorted(windows, key=lambda window: (windows[window][0], window)):
        until, colour = heapq.heappop(in_use_until)
        heapq.heappush(in_use_until, (max(until, windows[window][1]), colour))
        found[window] = colour
    return found


def stack_blocks(blocks: Sequence[CpuBlock]) -> Iterator[BlockSegment]:
    """Yield the segments of blocks stacked in their order, cut where a lower one begins or ends.

    Parameters
    ----------
    blocks : sequence of CpuBlock
        From the base line up.

    Examples
    --------
    >>> for segment in stack_blocks([CpuBlock(0, 2, 3, 0), CpuBlock(0, 4, 5, 1)]):
    ...     print(segment.request, segment.start, segment.end, segment.low, segment.high)
    0 0 2 0.0 3.0
    1 0 2 3.0 8.0
    1 2 4 0.0 5.0
    """
    instants = sorted({instant for block in blocks for instant in block[:2]})
    place = {instant: index for index, instant in enumerate(instants)}
    level = np.zeros(len(instants))
    for block in blocks:
        first, last = place[block.start], place[block.end]
        heights = level[first:last]
        cuts = [0, *(np.flatnonzero(np.diff(heights)) + 1).tolist(), last - first]
        for left, right in pairwise(cuts):
            low = float(heights[left])
            start, end = instants[first + left], instants[first + right]
            yield BlockSegment(0, start, end, low, low + block.cpu, block.request)
        level[first:last] += block.cpu
