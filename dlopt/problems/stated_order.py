"""The order in which a plan in rounded numbers states that its chunks are done.

Where one thing ends the next one begins, and rounding may state the next one to begin a little
earlier. Starts alone do not tell then which came first: a chunk so short that it takes no time in
floats would go after the long one that follows it, and would wait for all of it. The middles of
what they occupy do tell: they are in the wrong order only where both are as short as what the
instants are off, and then the order makes no difference beyond that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from typing import Protocol, TypeVar

from dlopt.arithmetic import Number, exact

Order = tuple[Fraction, ...]


class Sent(Protocol):
    """A chunk of a load: when it is sent to a node, and done there."""

    @property
    def node(self) -> int:
        """The node that gets it."""

    @property
    def transmission_start(self) -> Number:
        """When its transmission starts."""

    @property
    def transmission_end(self) -> Number:
        """When its transmission ends."""

    @property
    def computation_end(self) -> Number:
        """When its computation ends."""


C = TypeVar("C", bound=Sent)


def never(_: Sent) -> None:
    """Return when a chunk of a plan is lost: not at all."""


def in_stated_order(
    chunks: Iterable[tuple[C, Fraction]], lost_at: Callable[[C], Number | None] = never
) -> list[tuple[C, Fraction]]:
    """Return chunks, each with its load, in the order that the plan states.

    On a node they go by the middles of the times in which they hold it, on the channel by those
    of their transmissions; where the two orders differ, a chunk waits for those before it on its
    node. If the intervals of each resource are disjoint, that is the order of their starts.

    Parameters
    ----------
    chunks : iterable of (chunk, Fraction)
    lost_at : callable, optional
        Of an executed chunk, the instant at which its node failed with it, or None. From then on
        it occupies neither node nor channel, whatever instants are stated for its ends.

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
