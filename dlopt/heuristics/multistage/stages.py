"""The stages of a plan, and the load that each node can get of a task in one.

A *stage* ``(T, E, F)`` runs from the end `T` of one busy time of the channel to the end `F` of the
next one, or to the deadline; the channel is free in ``[T, E]``. In a stage a node that is free
from ``r`` on, and busy again at ``d`` or not before `F`, gets at most one chunk, which it
completes by ``min(d, F)``. The channel serves, of the nodes that are free, the one that is busy
again first; if none is free it waits for the first that will be.

With the clock of the channel at ``c``, a node that is served moves it to
``min(E, max(c, beta c + (1 - beta) d))``. Of nodes that are all free this order moves it farthest:
exchange two neighbours. So one more node never does harm in a stage where nodes become free in
the order in which they are added. Elsewhere nothing is proven; there a stage is *relaxed*: all its
nodes are assumed to be free as soon as one is. What is done with that grows with the nodes, and is
no less than what can be done, so that bisection tells which numbers of nodes are too few.

In floats a gap may be a rounding too short for the last chunk of a load. What would be left of it
takes less time than instants can tell apart, so that other chunks would be planned over it. So what
ends up to `ROUNDING_UNITS` units in the last place after its gap is one chunk, which is stated to
end with the gap. In exact numbers it ends later: by these 4 units; by half a unit for each of three
roundings in the comparison, and a unit for that of the latest end; and by half a unit for each of
the load, the costs, the start and the end of the gap, since a float stands for the decimal that it
prints. That is less than 9 of the 64 units that the checker allows. All other chunks last for one
unit at the least, on the channel, too, unless transmissions take no time at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from math import inf, nextafter, ulp
from typing import NamedTuple, TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.multistage.busy_intervals import TimedChunk
from dlopt.heuristics.multistage.node_groups import Positions

Stage: TypeAlias = tuple[Number, Number, Number]

ROUNDING_UNITS = 4
"""Units in the last place by which a chunk may end after its gap, in floats. Chosen by hand: more
than a sum of a few instants is off by, and far below the 64 that the checker allows."""


def stages(channel: list[Number], lo: Number, deadline: Number) -> Iterator[Stage]:
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


class StageNodes:
    """Nodes that are free at the same times, as they go from stage to stage.

    Parameters
    ----------
    group : int
        The index of the group in the state of the planner.
    busy : list of Number
        Busy times of each.
    positions : sequence of int
        In the order of nodes, increasing.
    start : Number
        When they can receive first.
    deadline : Number
        Later instants do not count.

    Attributes
    ----------
    start, stop : Number
        From when until when they are free in the stage.
    until : Number
        When they are busy next, or the deadline.
    at : int
        Index of the end of this gap between busy times.
    filled : dict
        Until when gaps are used, by their index: see `dlopt.heuristics.multistage.node_groups`.
    """

    __slots__ = ("at", "busy", "filled", "group", "positions", "size", "start", "stop", "until")

    def __init__(
        self, group: int, busy: list[Number], positions: Positions, start: Number, deadline: Number
    ) -> None:
        self.group, self.busy, self.positions, self.size = group, busy, positions, len(positions)
        self.start = self.stop = start
        self.at = bisect_right(busy, start)
        self.until = busy[self.at] if self.at < len(busy) else deadline
        self.filled: dict[int, Number] = {}

    def leave_stage(self, end: Number, channel: list[Number], after: int) -> int:
        """Use what was free in a stage, advance to the next one, and return its index."""
        busy, at, start = self.busy, self.at, end
        self.filled[at] = self.stop
        while at < len(busy) and busy[at] <= start:
            at = bisect_right(busy, start, at)
            if at % 2:
                start = busy[at]
                at += 1
            after = bisect_right(channel, start, after)
            if after % 2:
                start = channel[after]
                after += 1
        self.at, self.start = at, start
        self.until = busy[at] if at < len(busy) else channel[-1]
        return after


class ServiceRun(NamedTuple):
    """Nodes that are served one after the other, all of which may compute until one instant."""

    groups_served: list[Positions]
    """Their positions in the order of nodes: the first ones of all these."""
    size: int
    start: Number
    sent: Number
    stop: Number
    end: Number
    """Until when the last of them is busy: it may have less to do."""
    until: Number
    """When the channel is busy again."""

    @property
    def positions(self) -> Positions:
        """Their positions in the order of nodes, in the order of service."""
        return _merged_positions(self.groups_served)[: self.size]


class StageDispatcher:
    """Dispatches a task to nodes, stage by stage.

    Parameters
    ----------
    tau, chi, negligible : Number
        `negligible` is load that need not be sent; 0 in exact numbers.
    """

    __slots__ = ("chi", "is_rounded", "negligible", "tau", "unit")

    def __init__(self, tau: Number, chi: Number, negligible: Number) -> None:
        self.tau, self.chi, self.unit, self.negligible = tau, chi, tau + chi, negligible
        self.is_rounded = isinstance(self.unit, float)

    def relaxed_remainder(self, members: list[StageNodes], until: Number, left: Number) -> Number:
        """Return a lower bound on what is left: as if all were free as soon as one is."""
        first = min(member.start for member in members)
        return self._served(members, [], first, until, left, [])

    def dispatch(
        self,
        members: list[StageNodes],
        clock: Number,
        until: Number,
        left: Number,
        made: list[ServiceRun],
    ) -> Number:
        """Return what the nodes leave of a load in a stage; add their service to `made`."""
        ready = [member for member in members if member.start <= clock]
        coming = [member for member in members if member.start > clock]
        coming.sort(key=_start, reverse=True)
        return self._served(ready, coming, clock, until, left, made)

    def _served(
        self,
        ready: list[StageNodes],
        coming: list[StageNodes],
        clock: Number,
        until: Number,
        left: Number,
        made: list[ServiceRun],
    ) -> Number:
        waiting: dict[Number, list[Positions]] = {}
        for member in ready:
            waiting.setdefault(member.stop, []).append(member.positions)
        while waiting or coming:
            if not waiting:
                clock = max(clock, coming[-1].start)
            while coming and coming[-1].start <= clock:
                member = coming.pop()
                waiting.setdefault(member.stop, []).append(member.positions)
            stop = min(waiting)
            groups_served = waiting.pop(stop)
            limit = coming[-1].start if coming else until
            clock, count, left = self.dispatch_row(
                groups_served, stop, clock, until, left, made, limit
            )
            if left <= self.negligible or clock >= until:
                break
            if count < sum(map(len, groups_served)) and clock >= limit:
                waiting[stop] = [_merged_positions(groups_served)[count:]]
        return left

    def dispatch_row(
        self,
        groups_served: list[Positions],
        stop: Number,
        clock: Number,
        until: Number,
        left: Number,
        made: list[ServiceRun],
        limit: Number | None = None,
    ) -> tuple[Number, int, Number]:
        """Serve nodes that may compute until one instant, one after the other.

        Returns
        -------
        tuple of Number, int, Number
            When the channel is free again, how many were served, and what is left: all of them,
            unless `limit` comes first, or nothing is left, or too little time to send.
        """
        tau, unit, negligible, is_rounded = self.tau, self.unit, self.negligible, self.is_rounded
        latest, latest_sent = self._latest(stop), self._latest(until)
        begun, count, amount = clock, 0, negligible
        if limit is None:
            limit = until
        size = len(groups_served[0]) if len(groups_served) == 1 else sum(map(len, groups_served))
        while count < size:
            amount = (stop - clock) / unit
            sent = clock + amount * tau
            if sent >= until:
                amount, sent = min(amount, (until - clock) / tau), until
            if amount <= negligible:
                break
            count += 1
            if amount >= left or (
                is_rounded and left * unit <= latest - clock and left * tau <= latest_sent - clock
            ):
                amount, sent = left, min(until, clock + left * tau)
            if sent <= clock and tau:
                sent = nextafter(clock, inf)
            left -= amount
            clock = sent
            if clock >= limit or left <= negligible:
                break
        if count:
            end = self._end(begun, clock, amount, stop) if left <= negligible else stop
            made.append(ServiceRun(groups_served, count, begun, clock, stop, end, until))
        return clock, count, left

    def chunks(
        self, runs: list[ServiceRun], order: list[int], left: Number
    ) -> Iterator[TimedChunk]:
        """Yield the chunks of a load that was dispatched so, by the same computation again."""
        tau, unit, is_rounded = self.tau, self.unit, self.is_rounded
        for run in runs:
            clock, stop, until = run.start, run.stop, run.until
            latest, latest_sent = self._latest(stop), self._latest(until)
            for place in run.positions:
                amount = (stop - clock) / unit
                sent = clock + amount * tau
                is_shorter = sent >= until
                if is_shorter:
                    amount, sent = min(amount, (until - clock) / tau), until
                if amount >= left or (
                    is_rounded
                    and left * unit <= latest - clock
                    and left * tau <= latest_sent - clock
                ):
                    amount, sent, is_shorter = left, min(until, clock + left * tau), True
                if sent <= clock and tau:
                    sent = nextafter(clock, inf)
                end = self._end(clock, sent, amount, stop) if is_shorter else stop
                yield TimedChunk(order[place], amount, clock, sent, end)
                left -= amount
                clock = sent

    def _latest(self, instant: Number) -> Number:
        """Return until when what should end at an instant may end in exact numbers."""
        return instant + ROUNDING_UNITS * ulp(instant) if self.is_rounded else instant

    def _end(self, start: Number, sent: Number, amount: Number, stop: Number) -> Number:
        """Return when a chunk is computed that has been sent."""
        end = min(stop, sent + amount * self.chi)
        return end if end > start else nextafter(start, inf)


def may_free_out_of_order(members: list[StageNodes]) -> bool:
    """Tell whether nodes may become free in another order than theirs."""
    latest, before, reach = None, -1, -1
    for member in sorted(members, key=_place):
        if latest is None or member.start > latest:
            before, latest = reach, member.start
        if member.start < latest or member.positions[0] < before:
            return True
        reach = max(reach, member.positions[-1])
    return False


def _merged_positions(groups_served: list[Positions]) -> Positions:
    return groups_served[0] if len(groups_served) == 1 else sorted(chain(*groups_served))


def _start(member: StageNodes) -> Number:
    return member.start


def _place(member: StageNodes) -> int:
    return member.positions[0]
