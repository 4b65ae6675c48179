"""What is taken of the channel and of the nodes, as sorted instants.

Busy times are a flat list ``[start, end, start, end, ...]`` of half-open intervals that neither
overlap nor touch. Hence one bisection tells whether an instant is busy: it is if an odd number of
entries lie at or before it. On the channel an interval may be empty: a *mark*, where the I/O of a
reservation takes no time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Piece(NamedTuple):
    """A chunk in plain numbers: sent to a node, and computed at once."""

    node: int
    load: Any
    start: Any
    sent: Any
    end: Any


class Window(NamedTuple):
    """What holds the channel in ``[start, io_end)`` and nodes in ``[start, end)``."""

    start: Any
    io_end: Any
    end: Any
    nodes: tuple[int, ...]


class Wish(NamedTuple):
    """A reservation that wants a number of nodes, or the nodes that it names."""

    start: Any
    io_end: Any
    end: Any
    nodes: int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """A plan whose chunks are written down."""

    pieces: tuple[Piece, ...]
    """In the order of transmission."""

    @property
    def start(self) -> Any:
        """When the first of them is sent."""
        return self.pieces[0].start

    @property
    def count(self) -> int:
        """On how many nodes they are."""
        return len({piece.node for piece in self.pieces})


class Blocks:
    """What is taken, node by node.

    Parameters
    ----------
    channel : list of Number
    nodes : list of list of Number
    """

    __slots__ = ("channel", "nodes")

    def __init__(self, channel: list[Any], nodes: list[list[Any]]) -> None:
        self.channel = channel
        self.nodes = nodes

    @classmethod
    def of(cls, ready: Sequence[Any], channel: Any, now: Any) -> Blocks:
        """Return a cluster whose nodes and channel are taken until they are ready.

        What is free at `now` is not taken at all.
        """
        taken = [[now * 0, instant] if instant > now else [] for instant in ready]
        return cls([now * 0, channel] if channel > now else [], taken)

    def copy(self) -> Blocks:
        """Return a copy that shares nothing that changes. Complexity: O(N), one pointer each."""
        return Blocks(self.channel, self.nodes.copy())

    def hold(self, plan: Any) -> None:
        """Take what the chunks of a plan need. Each list is copied once."""
        channel, nodes, own = self.channel.copy(), self.nodes, set()
        for piece in plan.pieces:
            node = piece.node
            if node not in own:
                own.add(node)
                nodes[node] = nodes[node].copy()
            if piece.sent > piece.start:
                join(channel, piece.start, piece.sent)
            join(nodes[node], piece.start, piece.end)
        self.channel = channel

    def reserve(self, window: Window, known: object = None) -> None:
        """Take what a reservation needs."""
        self.channel = joined(self.channel, window.start, window.io_end)
        for node in window.nodes:
            self.nodes[node] = joined(self.nodes[node], window.start, window.end)

    def forget(self, now: Any) -> None:
        """Drop what ended at an instant or before it: nothing is planned there any more."""
        self.channel = since(self.channel, now)
        self.nodes = [since(taken, now) for taken in self.nodes]

    def channel_taken(self, start: Any, end: Any) -> bool:
        """Tell whether the channel is not free all the time."""
        return meets(self.channel, start, end)

    def node_taken(self, node: int, start: Any, end: Any) -> bool:
        """Tell whether a node is not free all the time."""
        return meets(self.nodes[node], start, end)


def pick(state: Any, wish: Wish) -> tuple[int, ...] | None:
    """Return nodes for a reservation that are free of what `state` holds; None if too few are.

    Tasks take the nodes with low numbers first where they have the choice, so a reservation that
    does not care takes high ones. The same goes for any state with ``node_taken``.
    """
    named = isinstance(wish.nodes, tuple)
    asked = wish.nodes if isinstance(wish.nodes, tuple) else range(len(state.nodes) - 1, -1, -1)
    free = [node for node in asked if not state.node_taken(node, wish.start, wish.end)]
    count = len(wish.nodes) if isinstance(wish.nodes, tuple) else wish.nodes
    if len(free) < count:
        return None
    return tuple(free) if named else tuple(sorted(free[:count]))


def free_from(taken: list[Any], instant: Any) -> Any:
    """Return the first free instant from one on.

    Examples
    --------
    >>> free_from([0, 2, 3, 4], 1), free_from([0, 2, 3, 4], 2)
    (2, 2)
    """
    at = bisect_right(taken, instant)
    return taken[at] if at % 2 else instant


def meets(taken: list[Any], start: Any, end: Any) -> bool:
    """Tell whether ``[start, end)`` overlaps a busy interval; what is empty overlaps nothing.

    Examples
    --------
    >>> meets([0, 2, 3, 4], 2, 3), meets([0, 2, 3, 4], 2, 4), meets([3, 3], 2, 4)
    (False, True, False)
    """
    if start >= end:
        return False
    at = bisect_right(taken, start)
    if at % 2:
        return True
    while at < len(taken) and taken[at] < end:
        if taken[at] < taken[at + 1]:
            return True
        at += 2
    return False


def joined(taken: list[Any], start: Any, end: Any) -> list[Any]:
    """Return busy times with one more interval, merged with what it overlaps or touches.

    An empty interval stays as a mark where it touches nothing.

    Examples
    --------
    >>> joined([0, 2, 5, 6], 2, 3), joined([0, 2, 5, 6], 3, 3), joined([0, 2], 1, 1)
    ([0, 3, 5, 6], [0, 2, 3, 3, 5, 6], [0, 2])
    """
    taken = taken.copy()
    join(taken, start, end)
    return taken


def join(taken: list[Any], start: Any, end: Any) -> None:
    """Enter one more interval into busy times, as `joined` does."""
    first, last = bisect_left(taken, start), bisect_right(taken, end)
    if first % 2 and last % 2 == 0 and last == first + 1:
        taken[first] = end  # it touches the end of one interval only: the common case
    else:
        ends = [end] if last % 2 == 0 else []
        taken[first:last] = ends if first % 2 else [start, *ends]


def since(taken: list[Any], now: Any) -> list[Any]:
    """Return busy times without what ended at an instant or before it."""
    gone = bisect_right(taken, now) // 2 * 2
    return taken[gone:] if gone else taken
