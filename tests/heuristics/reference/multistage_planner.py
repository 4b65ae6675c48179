"""Reference implementation: unsorted lists of intervals, every number of nodes tried in turn.

The fast planner is compared with it, in tests for equal decisions and in benchmarks for speed; it
shares no code with the fast planner. A task costs O(N S (N + b)) for each number of nodes, with `S`
stages and `b` intervals a node, and there may be `N` numbers to try.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import DeadlineMiss
from dlopt.heuristics.multistage.busy_intervals import FixedPlan, ReservedWindow, TimedChunk

Interval: TypeAlias = tuple[Number, Number]


class ReferenceBusyIntervals:
    """Busy intervals as they were added; the reference for
    `dlopt.heuristics.multistage.node_groups.NodeGroups`.
    """

    def __init__(self, channel: list[Interval], nodes: list[list[Interval]]) -> None:
        self.channel = channel
        self.nodes = nodes

    @classmethod
    def of(cls, ready: Sequence[Number], channel: Number, now: Number) -> ReferenceBusyIntervals:
        """Return a cluster whose nodes and channel are busy until they are ready."""
        busy = [[(now * 0, instant)] if instant > now else [] for instant in ready]
        return cls([(now * 0, channel)] if channel > now else [], busy)

    def copy(self) -> ReferenceBusyIntervals:
        """Return a copy that shares nothing that changes."""
        return ReferenceBusyIntervals(self.channel.copy(), [busy.copy() for busy in self.nodes])

    def allocate(self, plan: FixedPlan) -> None:
        """Allocate channel and nodes to the chunks of a plan."""
        for chunk in plan.chunks:
            if chunk.start < chunk.sent:
                self.channel.append((chunk.start, chunk.sent))
            self.nodes[chunk.node].append((chunk.start, chunk.end))

    def reserve(self, window: ReservedWindow, known: object = None) -> None:
        """Allocate channel and nodes to a reservation."""
        self.channel.append((window.start, window.io_end))
        for node in window.nodes:
            self.nodes[node].append((window.start, window.end))

    def purge(self, now: Number) -> None:
        """Discard what ended at an instant or before it."""
        self.channel = [(start, end) for start, end in self.channel if end > now]
        self.nodes = [[(start, end) for start, end in busy if end > now] for busy in self.nodes]

    def busy_times(self, start: Number, end: Number) -> tuple[Number, Number]:
        """Return for how long the channel, and for how long all nodes are busy in an interval."""
        kinds = self.channel, [interval for busy in self.nodes for interval in busy]
        channel, nodes = (
            sum(max(min(last, end) - max(first, start), 0) for first, last in intervals)
            for intervals in kinds
        )
        return channel, nodes

    def last_ends(self, now: Number) -> tuple[list[Number], Number]:
        """Return when each node and the channel are busy last, not before an instant."""
        nodes = [max((now, *(end for _, end in busy))) for busy in self.nodes]
        return nodes, max((now, *(end for _, end in self.channel)))

    def channel_busy(self, start: Number, end: Number) -> bool:
        """Tell whether the channel is busy at some time of an interval."""
        return any(_overlap(interval, start, end) for interval in self.channel)

    def node_busy(self, node: int, start: Number, end: Number) -> bool:
        """Tell whether a node is busy at some time of an interval."""
        return any(_overlap(interval, start, end) for interval in self.nodes[node])


class ReferenceTaskPlanner:
    """Plans one task after the other; the reference for
    `dlopt.heuristics.multistage.task_planner.TaskPlanner`.
    """

    def __init__(self, tau: Number, chi: Number) -> None:
        self.tau, self.chi, self.unit = tau, chi, tau + chi
        self.float_tolerance: Number = 1e-12 if isinstance(self.unit, float) else 0

    def place(
        self,
        blocks: ReferenceBusyIntervals,
        lo: Number,
        load: Number,
        deadline: Number,
        hint: int = 1,
    ) -> FixedPlan | DeadlineMiss:
        """Return the chunks of a task in the order of transmission, or what is left of its load."""
        windows = merged_intervals(blocks.channel, lo, deadline)
        available = [_available(blocks.channel, busy, lo) for busy in blocks.nodes]
        order = sorted(range(len(available)), key=lambda node: available[node])
        left = load
        for count in range(1, len(order) + 1):
            left, chunks = self._dispatch(blocks, windows, order[:count], lo, load, deadline)
            if left <= load * self.float_tolerance:
                return FixedPlan(tuple(chunks))
        return DeadlineMiss(left, "load")

    def _dispatch(
        self,
        blocks: ReferenceBusyIntervals,
        windows: list[Interval],
        chosen: list[int],
        lo: Number,
        load: Number,
        deadline: Number,
    ) -> tuple[Number, list[TimedChunk]]:
        """Return what is left of a load on some nodes, and the chunks."""
        negligible, left = load * self.float_tolerance, load
        chunks: list[TimedChunk] = []
        start = lo
        for until, after in [*windows, (deadline, deadline)]:
            end, clock = after, start
            start = after
            free = {node: _first_gap(blocks.nodes[node], clock, end) for node in chosen}
            while clock < until and left > negligible and free:
                ready = [node for node in chosen if node in free and free[node][0] <= clock]
                if not ready:
                    clock = max(clock, min(first for first, _ in free.values()))
                    continue
                node = min(ready, key=lambda node: free[node][1])
                stop = free.pop(node)[1]
                amount = (stop - clock) / self.unit
                sent, fills = clock + amount * self.tau, True
                if sent >= until:
                    amount, sent, fills = min(amount, (until - clock) / self.tau), until, False
                if amount <= negligible:
                    continue
                if amount >= left or self._fits(left, clock, until, stop):
                    amount, sent, fills = left, min(until, clock + left * self.tau), False
                if self.tau and sent == clock:  # it takes less time than floats can tell
                    sent = math.nextafter(clock, math.inf)
                done = stop if fills else min(stop, sent + amount * self.chi)
                if done == clock:
                    done = math.nextafter(clock, math.inf)
                chunks.append(TimedChunk(node, amount, clock, sent, done))
                clock = sent
                left -= amount
        return left, chunks

    def _fits(self, load: Number, start: Number, until: Number, stop: Number) -> bool:
        """Tell whether floats are so close that a load may be sent and computed in time."""
        if not self.float_tolerance:
            return False
        unit, tau = self.unit, self.tau
        return (
            load * unit <= stop + 4 * math.ulp(stop) - start
            and load * tau <= until + 4 * math.ulp(until) - start
        )


def merged_intervals(intervals: Iterable[Interval], lo: Number, hi: Number) -> list[Interval]:
    """Return the parts of intervals within ``[lo, hi]``, merged where they overlap or touch.

    Examples
    --------
    >>> merged_intervals([(5, 6), (0, 2), (3, 3), (4, 5)], 1, 9)
    [(1, 2), (3, 3), (4, 6)]
    """
    found: list[Interval] = []
    for start, end in sorted((max(start, lo), min(end, hi)) for start, end in intervals):
        if start > end:
            continue
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _available(channel: list[Interval], busy: list[Interval], lo: Number) -> Number:
    """Return the first instant from `lo` on at which both channel and node are free."""
    instant = lo
    moved = True
    while moved:
        moved = False
        for start, end in (*channel, *busy):
            if start <= instant < end:
                instant, moved = end, True
    return instant


def _first_gap(busy: list[Interval], start: Number, end: Number) -> Interval:
    """Return the first free interval of a node within an interval."""
    start = _available([], busy, start)
    later = [begin for begin, _ in busy if begin > start]
    return start, min([end, *later])


def _overlap(interval: Interval, start: Number, end: Number) -> bool:
    return bool(max(interval[0], start) < min(interval[1], end))
