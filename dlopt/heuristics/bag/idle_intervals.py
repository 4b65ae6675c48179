"""The slacks of a machine: when it is free, kept as a balanced tree.

Every node also knows the longest slack below it, which is what makes a search for one that is long
enough logarithmic; a plain sorted list would have to look at each in turn.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any


class _Node:
    """A slack, and the tree of which it is the root."""

    __slots__ = ("end", "left", "longest", "rank", "right", "start")

    def __init__(self, start: Any, end: Any, rank: float) -> None:
        self.start = start
        self.end = end
        self.rank = rank
        self.left: _Node | None = None
        self.right: _Node | None = None
        self.longest = end - start

    def measured(self) -> _Node:
        """Bring up to date what is known of the nodes below."""
        longest = self.end - self.start
        for child in (self.left, self.right):
            if child is not None and child.longest > longest:
                longest = child.longest
        self.longest = longest
        return self


class Slacks:
    """The intervals in which a machine is free.

    Parameters
    ----------
    ready : Number
        It is free from then on, for ever.

    Notes
    -----
    A treap, with ranks of its own seeded source: every operation takes O(log n) expected steps
    for n slacks. `latest` and `earliest` need it because all slacks within the window are long
    enough or not by their length alone; only the two at its edges may be cut short.

    Examples
    --------
    >>> slacks = Slacks(0)
    >>> slacks.latest(0, 14, 2)
    (12, 14)
    >>> slacks.take(12, 14)
    >>> list(slacks), slacks.earliest(1, 20, 6), slacks.earliest(8, 20, 6)
    ([(0, 12), (14, inf)], (1, 7), (14, 20))
    >>> slacks.give(12, 14)
    >>> list(slacks)
    [(0, inf)]
    """

    def __init__(self, ready: Any) -> None:
        self._ranks = random.Random("slacks")
        self._root: _Node | None = self._node(ready, math.inf)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        above: list[_Node] = []
        node = self._root
        while above or node is not None:
            while node is not None:
                above.append(node)
                node = node.left
            node = above.pop()
            yield node.start, node.end
            node = node.right

    def latest(self, start: Any, end: Any, length: Any) -> tuple[Any, Any] | None:
        """Return the latest interval of a length within a window that is free, or None.

        Parameters
        ----------
        start, end : Number
            The window; `end` may be infinite. In a slack that goes on for ever the interval is
            then the first one, since there is no last.
        length : Number

        Returns
        -------
        tuple of Number, length 2
            It ends with its slack or with the window.
        """
        found = _last(self._root, start, end, length)
        if found is None:
            return None
        low, high = max(found.start, start), min(found.end, end)
        if high == math.inf:
            return low, low + length
        return max(high - length, low), high  # `max`: floats may be off by a unit in the last place

    def earliest(self, start: Any, end: Any, length: Any) -> tuple[Any, Any] | None:
        """Return the first interval of a length within a window that is free, or None."""
        found = _first(self._root, start, end, length)
        if found is None:
            return None
        low = max(found.start, start)
        return low, min(low + length, found.end, end)

    def fitting(self, start: Any, end: Any, length: Any) -> list[tuple[Any, Any]]:
        """Return the slacks in which an interval of a length within a window is free, last first.

        Complexity: O(n).
        """
        found = [(low, high) for low, high in self if _room(low, high, start, end) >= length]
        return found[::-1]

    def take(self, start: Any, end: Any) -> None:
        """Make an interval busy that is free.

        Raises
        ------
        ValueError
            If it is not.
        """
        slack = _holding(self._root, start)
        if slack is None or slack.end < end:
            raise ValueError(f"[{start}, {end}) is not free")
        before, rest = _split(self._root, slack.start)
        _, after = _cut_first(rest)
        if slack.start < start:
            before = _joined(before, self._node(slack.start, start))
        if end < slack.end:
            after = _joined(self._node(end, slack.end), after)
        self._root = _joined(before, after)

    def give(self, start: Any, end: Any) -> None:
        """Make an interval free that was taken."""
        before, after = _split(self._root, start)
        before, last = _cut_last(before)
        first, after = _cut_first(after)
        if last is not None and last.end == start:
            start = last.start
        else:
            before = _joined(before, last)
        if first is not None and first.start == end:
            end = first.end
        else:
            after = _joined(first, after)
        self._root = _joined(_joined(before, self._node(start, end)), after)

    def _node(self, start: Any, end: Any) -> _Node:
        return _Node(start, end, self._ranks.random())


def _room(low: Any, high: Any, start: Any, end: Any) -> Any:
    """Return how long a slack is within a window.

    A difference of ends, never a sum with a length: so it is no more than the length of the
    slack in floats, too, and the tree may be pruned by that.
    """
    return min(high, end) - max(low, start)


def _last(node: _Node | None, start: Any, end: Any, length: Any) -> _Node | None:
    while node is not None and node.longest >= length:
        if node.start >= end:
            node = node.left
        elif node.end <= start:
            node = node.right
        else:
            found = _last(node.right, start, end, length)
            if found is not None:
                return found
            if _room(node.start, node.end, start, end) >= length:
                return node
            node = node.left
    return None


def _first(node: _Node | None, start: Any, end: Any, length: Any) -> _Node | None:
    while node is not None and node.longest >= length:
        if node.start >= end:
            node = node.left
        elif node.end <= start:
            node = node.right
        else:
            found = _first(node.left, start, end, length)
            if found is not None:
                return found
            if _room(node.start, node.end, start, end) >= length:
                return node
            node = node.right
    return None


def _holding(node: _Node | None, instant: Any) -> _Node | None:
    """Return the last slack that starts by an instant."""
    found = None
    while node is not None:
        if node.start <= instant:
            found, node = node, node.right
        else:
            node = node.left
    return found


def _split(node: _Node | None, start: Any) -> tuple[_Node | None, _Node | None]:
    """Return the trees of the slacks that start before an instant, and of the others."""
    if node is None:
        return None, None
    if node.start < start:
        node.right, after = _split(node.right, start)
        return node.measured(), after
    before, node.left = _split(node.left, start)
    return before, node.measured()


def _joined(left: _Node | None, right: _Node | None) -> _Node | None:
    """Return the tree of two, all of one before all of the other."""
    if left is None or right is None:
        return left or right
    if left.rank > right.rank:
        left.right = _joined(left.right, right)
        return left.measured()
    right.left = _joined(left, right.left)
    return right.measured()


def _cut_first(node: _Node | None) -> tuple[_Node | None, _Node | None]:
    """Return the first slack of a tree, by itself, and the rest."""
    if node is None:
        return None, None
    if node.left is None:
        rest, node.right = node.right, None
        return node.measured(), rest
    first, node.left = _cut_first(node.left)
    return first, node.measured()


def _cut_last(node: _Node | None) -> tuple[_Node | None, _Node | None]:
    """Return a tree without its last slack, and that by itself."""
    if node is None:
        return None, None
    if node.right is None:
        rest, node.left = node.left, None
        return rest, node.measured()
    node.right, last = _cut_last(node.right)
    return node.measured(), last
