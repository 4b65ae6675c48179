"""Busy intervals of the channel and of the nodes, as sorted instants.

Busy times are a flat list ``[start, end, start, end, ...]`` of half-open intervals that neither
overlap nor touch. Hence one bisection tells whether an instant is busy: it is if an odd number of
entries lie at or before it. On the channel an interval may be empty: a *mark*, where the I/O of a
reservation takes no time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dlopt.arithmetic import Number


class TimedChunk(NamedTuple):
    """A chunk with its times: sent to a node, and computed at once."""

    node: int
    load: Number
    start: Number
    sent: Number
    end: Number


class ReservedWindow(NamedTuple):
    """A reservation of the channel in ``[start, io_end)`` and of nodes in ``[start, end)``."""

    start: Number
    io_end: Number
    end: Number
    nodes: tuple[int, ...]


class ReservationRequest(NamedTuple):
    """A request for a number of nodes, or for named nodes, in a time window."""

    start: Number
    io_end: Number
    end: Number
    nodes: int | tuple[int, ...]
    promised: bool = False
    """Whether it must not be refused: it is mandatory, or was promised before."""

    @property
    def node_count(self) -> int:
        """How many nodes it asks for."""
        return self.nodes if isinstance(self.nodes, int) else len(self.nodes)


@dataclass(frozen=True, slots=True)
class FixedPlan:
    """A plan given by its chunks."""

    chunks: tuple[TimedChunk, ...]
    """In the order of transmission."""

    @property
    def start(self) -> Number:
        """When the first of them is sent."""
        return self.chunks[0].start

    @property
    def count(self) -> int:
        """The number of nodes that they use."""
        return len({chunk.node for chunk in self.chunks})


class Plan(Protocol):
    """A plan of one task, as a state allocates it."""

    @property
    def chunks(self) -> tuple[TimedChunk, ...]:
        """Its chunks, in the order of transmission."""


class NodeState(Protocol):
    """A state that knows when its nodes are busy."""

    @property
    def nodes(self) -> Sequence[Any]:
        """The state of each node."""

    def node_busy(self, node: int, start: Number, end: Number) -> bool:
        """Tell whether a node is busy at some time of an interval."""


class BusyIntervals:
    """The busy intervals of the channel and of each node.

    Parameters
    ----------
    channel : list of Number
    nodes : list of list of Number
    """

    __slots__ = ("channel", "nodes")

    def __init__(self, channel: list[Number], nodes: list[list[Number]]) -> None:
        self.channel = channel
        self.nodes = nodes

    @classmethod
    def of(cls, ready: Sequence[Number], channel: Number, now: Number) -> BusyIntervals:
        """Return a cluster whose nodes and channel are busy until they are ready.

        What is free at `now` has no busy time at all.
        """
        busy = [[now * 0, instant] if instant > now else [] for instant in ready]
        return cls([now * 0, channel] if channel > now else [], busy)

    def copy(self) -> BusyIntervals:
        """Return a copy that shares nothing that changes. Complexity: O(N), one pointer each."""
        return BusyIntervals(self.channel, self.nodes.copy())

    def allocate(self, plan: Plan) -> None:
        """Allocate channel and nodes to the chunks of a plan. Each list is copied once."""
        channel, nodes, own = self.channel.copy(), self.nodes, set()
        for chunk in plan.chunks:
            node = chunk.node
            if node not in own:
                own.add(node)
                nodes[node] = nodes[node].copy()
            if chunk.sent > chunk.start:
                insert_interval(channel, chunk.start, chunk.sent)
            insert_interval(nodes[node], chunk.start, chunk.end)
        self.channel = channel

    def reserve(self, window: ReservedWindow) -> None:
        """Allocate channel and nodes to a reservation."""
        self.channel = with_interval(self.channel, window.start, window.io_end)
        for node in window.nodes:
            self.nodes[node] = with_interval(self.nodes[node], window.start, window.end)

    def purge(self, now: Number) -> None:
        """Discard what ended at an instant or before it: nothing is planned there any more."""
        self.channel = without_past(self.channel, now)
        self.nodes = [without_past(busy, now) for busy in self.nodes]

    def busy_times(self, start: Number, end: Number) -> tuple[Number, Number]:
        """Return for how long the channel, and for how long all nodes are busy in an interval."""
        nodes = sum(busy_time(busy, start, end) for busy in self.nodes)
        return busy_time(self.channel, start, end), nodes

    def last_ends(self, now: Number) -> tuple[list[Number], Number]:
        """Return when each node and the channel are busy last, not before an instant."""
        nodes = [max((now, *busy[-1:])) for busy in self.nodes]
        return nodes, max((now, *self.channel[-1:]))

    def channel_busy(self, start: Number, end: Number) -> bool:
        """Tell whether the channel is busy at some time of an interval."""
        return overlaps_busy(self.channel, start, end)

    def node_busy(self, node: int, start: Number, end: Number) -> bool:
        """Tell whether a node is busy at some time of an interval."""
        return overlaps_busy(self.nodes[node], start, end)


def select_nodes(state: NodeState, request: ReservationRequest) -> tuple[int, ...] | None:
    """Return nodes for a reservation that are free in a state; None if too few are.

    Tasks use nodes with low numbers first where they have the choice, so a reservation that names
    no nodes gets those with high numbers. This works with any state that has ``node_busy``.
    """
    named = isinstance(request.nodes, tuple)
    asked = (
        request.nodes if isinstance(request.nodes, tuple) else range(len(state.nodes) - 1, -1, -1)
    )
    free = [node for node in asked if not state.node_busy(node, request.start, request.end)]
    if len(free) < request.node_count:
        return None
    return tuple(free) if named else tuple(sorted(free[: request.node_count]))


def first_free(busy: list[Number], instant: Number) -> Number:
    """Return the first free instant from one on.

    Examples
    --------
    >>> first_free([0, 2, 3, 4], 1), first_free([0, 2, 3, 4], 2)
    (2, 2)
    """
    at = bisect_right(busy, instant)
    return busy[at] if at % 2 else instant


def overlaps_busy(busy: list[Number], start: Number, end: Number) -> bool:
    """Tell whether ``[start, end)`` overlaps a busy interval; empty intervals overlap nothing.

    Examples
    --------
    >>> busy = [0, 2, 3, 4]
    >>> overlaps_busy(busy, 2, 3), overlaps_busy(busy, 2, 4), overlaps_busy([3, 3], 2, 4)
    (False, True, False)
    """
    if start >= end:
        return False
    at = bisect_right(busy, start)
    if at % 2:
        return True
    while at < len(busy) and busy[at] < end:
        if busy[at] < busy[at + 1]:
            return True
        at += 2
    return False


def busy_time(busy: list[Number], start: Number, end: Number) -> Number:
    """Return how much of an interval is busy.

    Examples
    --------
    >>> busy_time([0, 2, 3, 4, 6, 9], 1, 7), busy_time([0, 2], 2, 7)
    (3, 0)
    """
    total: Number = 0
    for at in range(bisect_right(busy, start) // 2 * 2, len(busy), 2):
        if busy[at] >= end:
            break
        total += min(busy[at + 1], end) - max(busy[at], start)
    return total


def with_interval(busy: list[Number], start: Number, end: Number) -> list[Number]:
    """Return busy times with one more interval, merged with what it overlaps or touches.

    An empty interval stays as a mark where it touches nothing.

    Examples
    --------
    >>> busy = [0, 2, 5, 6]
    >>> with_interval(busy, 2, 3), with_interval(busy, 3, 3), with_interval([0, 2], 1, 1)
    ([0, 3, 5, 6], [0, 2, 3, 3, 5, 6], [0, 2])
    """
    busy = busy.copy()
    insert_interval(busy, start, end)
    return busy


def insert_interval(busy: list[Number], start: Number, end: Number) -> None:
    """Insert one more interval into busy times in place, as `with_interval` does."""
    first, last = bisect_left(busy, start), bisect_right(busy, end)
    if first % 2 and last % 2 == 0 and last == first + 1:
        busy[first] = end  # it touches the end of one interval only: the common case
    else:
        ends = [end] if last % 2 == 0 else []
        busy[first:last] = ends if first % 2 else [start, *ends]


def without_past(busy: list[Number], now: Number) -> list[Number]:
    """Return busy times without what ended at an instant or before it."""
    gone = bisect_right(busy, now) // 2 * 2
    return busy[gone:] if gone else busy
