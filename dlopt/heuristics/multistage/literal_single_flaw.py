"""Algorithms 3 and 4 repaired in place, and each printed flaw alone as one overridden step.

`RepairedPartition` follows the lines of the printed algorithms with every flaw repaired. Each
subclass puts one printed flaw back by overriding the step that it is in, so that the flaw can be
read as a difference to the repaired step. Algorithm 3 decides as printed and does not ask whether
Algorithm 4 placed the load (``F10``). With nothing else wrong that changes no answer; it is how F1
to F4 and F6 show.

Source: Mamat 2011, section 5.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import count as numbers

from dlopt.arithmetic import Number
from dlopt.heuristics.multistage.busy_intervals import (
    ReservedWindow,
    TimedChunk,
    first_free,
    with_interval,
)
from dlopt.heuristics.multistage.literal_algorithms_3_4 import (
    CapacityEstimate,
    PlanningTask,
    StageChunk,
    load_fitting,
)
from dlopt.heuristics.multistage.stages import stages

Busy = Mapping[int, list[Number]]
"""Busy times of each node, as `dlopt.heuristics.multistage.busy_intervals` has them."""


class RepairedPartition:
    """One task on a cluster with reservations, planned by Algorithms 3 and 4 without a flaw.

    Parameters
    ----------
    costs : tuple of Number
        ``(tau, chi)``, in one field.
    windows : iterable of ReservedWindow
    ready : sequence of Number, shape (nodes,)
        When each node is ready, but for the windows.
    task : PlanningTask

    Examples
    --------
    >>> from fractions import Fraction
    >>> one = Fraction(1)
    >>> task = PlanningTask(arrival=0, now=0, load=2, deadline=2)
    >>> late = ReservedWindow(4, 5, 5, (0,))
    >>> [*map(str, RepairedPartition((one, one), [late], [0], task).estimate_capacity().shares)]
    ['1']
    >>> [*map(str, FlawF1((one, one), [late], [0], task).estimate_capacity().shares)]
    ['2']
    """

    def __init__(
        self,
        costs: tuple[Number, Number],
        windows: Iterable[ReservedWindow],
        ready: Sequence[Number],
        task: PlanningTask,
    ) -> None:
        self.tau, self.unit, self.costs = costs[0], sum(costs), costs
        self.ready, self.task = ready, task
        self.begin = max(task.arrival, task.now)
        self.windows = self.visible_windows(sorted(windows, key=_start))

    def estimate_capacity(self) -> CapacityEstimate:
        """Return what Algorithm 3 expects that the nodes can do by the deadline.

        Notes
        -----
        Guarantee without a flaw: no more than the first nodes of its order can do. It may be far
        less, for it takes all blocking that there may be for blocking that there is.
        """
        until = self.task.deadline
        available = {
            node: self.first_available(node, max(instant, self.begin))
            for node, instant in enumerate(self.ready)
        }
        order = sorted(available, key=available.__getitem__)
        first = available[order[0]]
        on_channel: Number = 0
        computing: dict[int, Number] = dict.fromkeys(order, 0)
        for window in self.windows:
            on_channel += self.blocked_by_io(window, first)
            if window.start > first:
                for node in window.nodes:
                    computing[node] += max(0, min(window.end, until) - window.io_end)
        shares: list[Number] = []
        blocked: Number = 0
        for node in order:
            time = until - available[node] - on_channel - computing[node] - blocked
            shares.append(max(0, time) / self.unit)
            blocked += shares[-1] * self.tau
        return CapacityEstimate(tuple(order), available, tuple(shares))

    def partition_load(self, estimate: CapacityEstimate, count: int) -> list[StageChunk]:
        """Return the chunks that Algorithm 4 gives to the first `count` nodes of an estimate."""
        nodes = estimate.order[:count]
        channel: list[Number] = []
        busy: dict[int, list[Number]] = {node: [] for node in nodes}
        for window in self.windows:
            channel = with_interval(channel, window.start, window.io_end)
            for node in busy.keys() & set(window.nodes):
                busy[node] = with_interval(busy[node], window.start, window.end)
        left, chunks = self.task.load, []
        all_stages = stages(channel, self.begin, self.task.deadline)
        for stage, (begin, until, end) in zip(numbers(), all_stages, strict=False):
            end = self.stage_end(channel, until, end)
            free = []
            for node in nodes:
                start = self.node_start(stage, begin, node, estimate.available[node])
                start = first_free(busy[node], start)
                free.append((start, self.node_stop(busy, node, start, until, end), node))
            clock = self.first_transmission(begin, free)
            for start, stop, node in sorted(free, key=_first):
                start = max(start, clock)
                amount = min(self.amount(until - start, stop - start), left)
                if amount != 0:
                    clock = start + amount * self.tau
                    chunk = TimedChunk(node, amount, start, clock, start + amount * self.unit)
                    chunks.append(StageChunk(stage, chunk))
                left -= amount
                if left <= 0:
                    return chunks
        return chunks

    # The steps that a flaw replaces -------------------------------------------------------------

    def visible_windows(self, windows: list[ReservedWindow]) -> list[ReservedWindow]:
        """Return the windows that are taken into account, in the order of their starts."""
        return windows

    def blocked_by_io(self, window: ReservedWindow, first: Number) -> Number:
        """Return how long the I/O of a window blocks the channel from `first` to the deadline."""
        return max(0, min(window.io_end, self.task.deadline) - max(window.start, first))

    def node_release(self, window: ReservedWindow, node: int) -> Number:
        """Return when a node can receive again after a window: at its end, or that of its I/O."""
        return window.end if node in window.nodes else window.io_end

    def stage_end(self, channel: list[Number], until: Number, end: Number) -> Number:
        """Return when the computations of a stage must end; its transmissions end at `until`."""
        return end

    def node_start(self, stage: int, begin: Number, node: int, available: Number) -> Number:
        """Return from when on a node can be used in a stage that begins at `begin`."""
        return max(begin, available)

    def node_stop(self, busy: Busy, node: int, start: Number, until: Number, end: Number) -> Number:
        """Return until when a node that is free at `start` can compute in a stage."""
        at = bisect_right(busy[node], start)
        return min(end, busy[node][at]) if at < len(busy[node]) else end

    def first_transmission(self, begin: Number, free: list[tuple[Number, Number, int]]) -> Number:
        """Return when the first transmission of a stage can start."""
        return begin

    def amount(self, to_send: Number, to_do: Number) -> Number:
        """Return the load that a node gets in a stage."""
        return max(load_fitting(self.costs, to_send, to_do), 0)

    def first_available(self, node: int, instant: Number) -> Number:
        """Return when a node can receive first, after windows that follow one another."""
        for window in self.windows:
            release = self.node_release(window, node)
            if window.start <= instant < release:
                instant = release
        return instant


class FlawF1(RepairedPartition):
    """The I/O of a reservation after the deadline counts as negative blocking."""

    def blocked_by_io(self, window: ReservedWindow, first: Number) -> Number:
        """Return how long the I/O blocks the channel, below 0 if it starts after the deadline."""
        if window.start > first:
            return min(window.io_end, self.task.deadline) - window.start
        return super().blocked_by_io(window, first)


class FlawF2(RepairedPartition):
    """A reservation whose I/O is in progress when the task could start is overlooked.

    The printed test is ``R_s > t_0``.
    """

    def visible_windows(self, windows: list[ReservedWindow]) -> list[ReservedWindow]:
        """Return the windows without those whose I/O is in progress."""
        first = max(self.begin, min(self.ready))
        return [window for window in windows if not window.start < first < window.io_end]


class FlawF3(RepairedPartition):
    """A reservation that starts just when the task could start is overlooked, as under `FlawF2`."""

    def visible_windows(self, windows: list[ReservedWindow]) -> list[ReservedWindow]:
        """Return the windows without those that start when the task could."""
        first = max(self.begin, min(self.ready))
        return [window for window in windows if window.start != first]


class FlawF4(RepairedPartition):
    """A node within a reservation of its own counts as free once the I/O of that is done."""

    def node_release(self, window: ReservedWindow, node: int) -> Number:
        """Return the end of the I/O, whichever nodes are reserved."""
        return window.io_end


class FlawF5(RepairedPartition):
    """The last stage ends with the I/O that the deadline falls into, and not with the deadline."""

    def stage_end(self, channel: list[Number], until: Number, end: Number) -> Number:
        """Return the end of the I/O that the deadline falls into."""
        return max(first_free(channel, until), end) if end == self.task.deadline else end


class FlawF6(RepairedPartition):
    """What a node cannot do in a stage is a negative load."""

    def amount(self, to_send: Number, to_do: Number) -> Number:
        """Return the load that fits, however negative."""
        return load_fitting(self.costs, to_send, to_do)


class FlawF7(RepairedPartition):
    """A node that is not available yet may start where a later stage does."""

    def node_start(self, stage: int, begin: Number, node: int, available: Number) -> Number:
        """Return the beginning of a later stage, whether the node is available or not."""
        return begin if stage else super().node_start(stage, begin, node, available)


class FlawF8(RepairedPartition):
    """A node is given up for the reservation that ends the stage only, not for its others."""

    def node_stop(self, busy: Busy, node: int, start: Number, until: Number, end: Number) -> Number:
        """Return the end of transmissions if the next reservation is the node's, else of all."""
        own = any(window.start == until and node in window.nodes for window in self.windows)
        return until if own else end


class FlawF9(RepairedPartition):
    """The first transmission waits neither for the task nor for the present."""

    def node_start(self, stage: int, begin: Number, node: int, available: Number) -> Number:
        """Return when the node is ready, even before the task arrives."""
        return super().node_start(stage, begin, node, available) if stage else self.ready[node]

    def first_transmission(self, begin: Number, free: list[tuple[Number, Number, int]]) -> Number:
        """Return when the first node is free, even before the stage begins."""
        return min(map(_first, free))


SINGLE_FLAWS: Mapping[str, type[RepairedPartition]] = {
    "F1": FlawF1,
    "F2": FlawF2,
    "F3": FlawF3,
    "F4": FlawF4,
    "F5": FlawF5,
    "F6": FlawF6,
    "F7": FlawF7,
    "F8": FlawF8,
    "F9": FlawF9,
}
"""The flaws of a single task, by their numbers in the specification."""


def _first(free: tuple[Number, Number, int]) -> Number:
    return free[0]


def _start(window: ReservedWindow) -> Number:
    return window.start
