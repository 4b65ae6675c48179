"""The order of processing that a schedule in rounded numbers states for its chunks.

The next chunk begins when the one before ends, and rounding may state that it begins a little
earlier. The order of starts alone does not show then which came first: a chunk so short that it
takes no time in floats would come after the long one that follows it, and would wait for all of it.
The midpoints of the occupied intervals do show it: they are in the wrong order only if both
intervals are as short as the rounding error, and then the order makes no larger difference.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from typing import Protocol, TypeVar

from dlopt.arithmetic import Number, exact

Order = tuple[Fraction, ...]


class TransmittedChunk(Protocol):
    """A chunk of a load: when it is sent to a node, and done there."""

    @property
    def node(self) -> int:
        """The node that receives it."""

    @property
    def transmission_start(self) -> Number:
        """When its transmission starts."""

    @property
    def transmission_end(self) -> Number:
        """When its transmission ends."""

    @property
    def computation_end(self) -> Number:
        """When its computation ends."""


C = TypeVar("C", bound=TransmittedChunk)


def in_stated_order(
    chunks: Iterable[tuple[C, Fraction]], lost_at: Callable[[C], Number | None] = lambda _: None
) -> list[tuple[C, Fraction]]:
    """Return chunks, each with its load, in the order that the schedule states.

    On a node they are ordered by the midpoints of the intervals in which they occupy it, on the
    channel by those of their transmissions; where the two orders differ, a chunk waits for those
    before it on its node. If the intervals of each resource are disjoint, that is the order of
    their starts.

    Parameters
    ----------
    chunks : iterable of (chunk, Fraction)
    lost_at : callable, optional
        Of a chunk, the instant at which its node failed with it; by default None, as for every
        chunk that was not lost. From then on it occupies neither node nor channel, whatever
        instants are stated for its ends.

    Notes
    -----
    If every instant is off by at most `e` from a schedule in exact numbers, two chunks that share
    a resource are in another order than there only if together they occupy it for at most `4 e`.
    So no chunk is delayed by more than a small multiple of `e` when all are sent in this order.

    Complexity: O(n log n).

    Examples
    --------
    Rounding lets the long chunk start before the short one which it follows.

    >>> from dlopt.problems.iit import Chunk
    >>> short = Chunk(1, 1e-20, 1.0, 1.0, 1.0, 1.0)
    >>> long = Chunk(0, 1.0, 0.9999999999999999, 2.0, 2.0, 3.0)
    >>> [c.node for c, _ in in_stated_order([(long, Fraction(1)), (short, Fraction(0))])]
    [1, 0]
    """
    on_node: dict[int, list[tuple[Order, Order, int]]] = defaultdict(list)
    items = list(chunks)
    for place, (chunk, _) in enumerate(items):
        start, sent = exact(chunk.transmission_start), exact(chunk.transmission_end)
        done, lost = exact(chunk.computation_end), lost_at(chunk)
        if lost is not None:
            sent, done = min(sent, exact(lost)), min(done, exact(lost))
        on_node[chunk.node].append(((start + done, start), (start + sent, start, done), place))
    waiting = [sorted(own, reverse=True) for own in on_node.values()]
    heap = [(own[-1][1], own[-1][2], at) for at, own in enumerate(waiting)]
    heapify(heap)
    found = []
    while heap:
        _, place, at = heap[0]
        found.append(items[place])
        own = waiting[at]
        own.pop()
        if own:
            heapreplace(heap, (own[-1][1], own[-1][2], at))
        else:
            heappop(heap)
    return found
