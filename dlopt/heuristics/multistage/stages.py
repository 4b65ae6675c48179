"""The stages of a plan, and what each node can get of a task in one.

A *stage* ``(T, E, F)`` runs from the end `T` of one busy time of the channel to the end `F` of the
next one, or to the deadline; the channel is free in ``[T, E]``. In a stage a node that is free
from ``r`` on, and taken again at ``d`` or not before `F`, gets at most one chunk, which it
completes by ``min(d, F)``. The channel serves, of the nodes that are free, the one that is taken
first; if none is free it waits for the first that will be.

With the clock of the channel at ``c``, a node that is served moves it to
``min(E, max(c, beta c + (1 - beta) d))``. Of nodes that are all free this order moves it farthest:
exchange two neighbours. So one more node never does harm in a stage where nodes become free in
the order in which they are added. Elsewhere nothing is proven; there a stage is *relaxed*: all its
nodes are taken to be free as soon as one is. What is done with that grows with the nodes, and is
no less than what can be done, so that bisection tells which numbers of nodes are too few.
"""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from dlopt.heuristics.multistage.blocks import Piece

Stage: TypeAlias = tuple[Any, Any, Any]
Ready: TypeAlias = tuple[Any, int]
"""Until when a node is free, and its place in the order of nodes."""
Coming: TypeAlias = tuple[Any, Any, int]
"""From when a node is free, until when, and its place in the order of nodes."""


def stages(channel: list[Any], lo: Any, deadline: Any) -> Iterator[Stage]:
    """Yield the stages from an instant to a deadline.

    Examples
    --------
    >>> list(stages([0, 1, 3, 5, 8, 8], 0, 9))
    [(1, 3, 5), (5, 8, 8), (8, 9, 9)]
    """
    start, at = lo, bisect_right(channel, lo) // 2 * 2
    while start < deadline:
        if at == len(channel) or channel[at] >= deadline:
            yield start, deadline, deadline
            return
        until = channel[at + 1]
        if channel[at] > start:
            yield start, channel[at], min(until, deadline)
        start, at = until, at + 2


@dataclass(frozen=True, slots=True)
class Terms:
    """What is the same in all stages of a task.

    Parameters
    ----------
    tau, chi : Number
    spare : Number
        Load that need not be sent; 0 in exact numbers.
    order : list of int
        Nodes, in the order in which they are added.
    nodes : list of list of Number
        When each node is taken.
    """

    tau: Any
    chi: Any
    spare: Any
    order: list[int]
    nodes: list[list[Any]]


class StageView:
    """What the nodes can do in one stage.

    Attributes
    ----------
    reach : int
        How many nodes, in their order, were looked at.
    disordered : int
        How few nodes, in their order, do not become free in it.
    """

    __slots__ = ("coming", "disordered", "end", "latest", "reach", "ready", "start", "until")

    def __init__(self, start: Any, until: Any, end: Any) -> None:
        self.start, self.until, self.end = start, until, end
        self.ready: list[Ready] = []
        self.coming: list[Coming] = []
        self.reach, self.disordered = 0, sys.maxsize
        self.latest = start

    def extend(self, terms: Terms, count: int) -> None:
        """Find out when nodes are free, up to the first `count`."""
        nodes, order, until, latest = terms.nodes, terms.order, self.until, self.latest
        for place in range(self.reach, count):
            taken, start, stop = nodes[order[place]], self.start, self.end
            if taken:
                at = bisect_right(taken, start)
                if at % 2:
                    start = taken[at]
                    if start >= until:
                        continue
                    at += 1
                if at < len(taken) and taken[at] < stop:
                    stop = taken[at]
            if start < latest:
                self.disordered = min(self.disordered, place + 1)
            latest = start
            if start > self.start:
                insort(self.coming, (start, stop, place))
            else:
                insort(self.ready, (stop, place))
        self.reach, self.latest = count, latest

    def relaxed(self, terms: Terms, count: int, left: Any) -> Any:
        """Return what is left at the least: as if all were free as soon as one is."""
        coming = [one for one in self.coming if one[2] < count]
        ready = [one for one in self.ready if one[1] < count]
        first = self.start if ready else coming[0][0]
        ready = sorted(ready + [(stop, place) for _, stop, place in coming])
        return self._served(terms, first, ready, [], left, [])

    def serve(self, terms: Terms, count: int, left: Any, made: list[Piece]) -> Any:
        """Return what the first nodes leave of a load, and make the chunks."""
        ready, coming = self.ready, self.coming
        if self.reach > count:
            ready = [one for one in ready if one[1] < count]
            coming = [one for one in coming if one[2] < count]
        if ready or coming:
            return self._served(terms, self.start, ready, coming, left, made)
        return left

    def _served(
        self,
        terms: Terms,
        clock: Any,
        ready: list[Ready],
        coming: list[Coming],
        left: Any,
        made: list[Piece],
    ) -> Any:
        tau, chi, spare, until = terms.tau, terms.chi, terms.spare, self.until
        unit, order, at = tau + chi, terms.order, 0
        if coming:
            ready, coming = ready.copy(), coming[::-1]
        while at < len(ready) or coming:
            if coming:
                if at == len(ready) and coming[-1][0] > clock:
                    clock = coming[-1][0]
                while coming and coming[-1][0] <= clock:
                    insort(ready, coming.pop()[1:], lo=at)
            stop, place = ready[at]
            at += 1
            amount = (stop - clock) / unit
            sent = clock + amount * tau
            if sent >= until:
                amount, sent = min(amount, (until - clock) / tau), until
            if amount <= spare:
                continue
            if amount >= left:
                amount, sent = left, min(sent, clock + left * tau)
            done = sent + amount * chi
            made.append(Piece(order[place], amount, clock, sent, done if done < stop else stop))
            left -= amount
            clock = sent
            if left <= spare or clock >= until:
                break
        return left
