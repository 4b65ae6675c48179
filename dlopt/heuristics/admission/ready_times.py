"""The ready times of identical nodes, run-length encoded.

All nodes of a task become free at one common instant, so that the ready times fall into few groups
whatever the number of nodes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import Placement


def breakpoints(ends: Iterable[Number], low: Number) -> list[Number]:
    """Return the deadlines from `low` on, ascending, at which further ends are in time.

    Examples
    --------
    >>> breakpoints([7, 3, 4, 7], low=4)
    [4, 7]
    """
    return sorted({max(low, end) for end in ends})


class ReadyTimes:
    """The ready times of nodes with their multiplicities, and that of the channel.

    Parameters
    ----------
    ready : iterable of Number
        One entry a node, in any order.
    channel : Number
        When the last transmission so far ends.

    Examples
    --------
    >>> nodes = ReadyTimes((0, 4, 0, 7), channel=1)
    >>> nodes.clip(5)
    >>> nodes.times, nodes.counts
    ([5, 7], [3, 1])
    >>> nodes.allocate(Placement(2, not_before=5, start=5, sent=6, end=9))
    >>> nodes.times, nodes.counts, nodes.channel
    ([5, 7, 9], [1, 1, 2], 6)
    """

    __slots__ = ("channel", "counts", "times")

    def __init__(self, ready: Iterable[Number], channel: Number) -> None:
        found: Counter[Number] = Counter()
        for instant, run in groupby(ready):  # to hash a fraction takes time
            found[instant] += len(list(run))
        groups = sorted(found.items())
        self.times: list[Number] = [instant for instant, _ in groups]
        self.counts: list[int] = [count for _, count in groups]
        self.channel: Number = channel

    def copy(self) -> ReadyTimes:
        """Return a copy that shares nothing that changes."""
        other = object.__new__(ReadyTimes)
        other.times, other.counts = self.times.copy(), self.counts.copy()
        other.channel = self.channel
        return other

    def clip(self, not_before: Number) -> None:
        """Raise all earlier ready times to an instant."""
        earlier = bisect_right(self.times, not_before)
        if earlier == 1:
            self.times[0] = not_before
        elif earlier:
            self.counts[:earlier] = [sum(self.counts[:earlier])]
            self.times[:earlier] = [not_before]

    def allocate(self, placement: Placement) -> None:
        """Allocate the nodes that are ready first, and the channel, to a task."""
        times, counts = self.times, self.counts
        left, gone = placement.nodes, 0
        while gone < len(counts) and counts[gone] <= left:
            left -= counts[gone]
            gone += 1
        if left:
            counts[gone] -= left
        del times[:gone], counts[:gone]
        at = bisect_left(times, placement.end)
        if at < len(times) and times[at] == placement.end:
            counts[at] += placement.nodes
        else:
            times.insert(at, placement.end)
            counts.insert(at, placement.nodes)
        if placement.sent > self.channel:
            self.channel = placement.sent

    def ready(self) -> list[Number]:
        """Return the ready time of each node, ascending."""
        return [
            instant
            for instant, count in zip(self.times, self.counts, strict=True)
            for _ in range(count)
        ]

    def nth(self, n: int) -> Number:
        """Return when the `n`-th node is ready."""
        seen = 0
        for instant, count in zip(self.times, self.counts, strict=True):
            seen += count
            if seen >= n:
                return instant
        raise IndexError(n)
