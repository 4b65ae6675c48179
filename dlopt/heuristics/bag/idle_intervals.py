"""The idle intervals (slacks) of a machine, in a balanced tree.

Every node also has the length of the longest idle interval of its subtree, which makes the search
for one that is long enough logarithmic; a sorted list would have to be scanned.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any


class _TreapNode:
    """An idle interval, and the subtree of which it is the root."""

    __slots__ = ("end", "left", "longest", "priority", "right", "start")

    def __init__(self, start: Any, end: Any, priority: float) -> None:
        self.start = start
        self.end = end
        self.priority = priority
        self.left: _TreapNode | None = None
        self.right: _TreapNode | None = None
        self.longest = end - start

    def update(self) -> _TreapNode:
        """Recompute the longest interval from the children; return the node."""
        longest = self.end - self.start
        for child in (self.left, self.right):
            if child is not None and child.longest > longest:
                longest = child.longest
        self.longest = longest
        return self


class IdleIntervals:
    """The intervals in which a machine is idle.

    Parameters
    ----------
    ready : Number
        It is idle from then on, for ever.

    Notes
    -----
    A treap, with priorities from its own seeded source: every operation takes O(log n) expected
    time for n intervals. `latest` and `earliest` need no more, because all intervals within the
    window are long enough or not by their length alone; only the two at its edges may be cut short.

    Examples
    --------
    >>> idle = IdleIntervals(0)
    >>> idle.latest(0, 14, 2)
    (12, 14)
    >>> idle.occupy(12, 14)
    >>> list(idle), idle.earliest(1, 20, 6), idle.earliest(8, 20, 6)
    ([(0, 12), (14, inf)], (1, 7), (14, 20))
    >>> idle.release(12, 14)
    >>> list(idle)
    [(0, inf)]
    """

    def __init__(self, ready: Any) -> None:
        self._priorities = random.Random("slacks")
        self._root: _TreapNode | None = self._new_node(ready, math.inf)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        ancestors: list[_TreapNode] = []
        node = self._root
        while ancestors or node is not None:
            while node is not None:
                ancestors.append(node)
                node = node.left
            node = ancestors.pop()
            yield node.start, node.end
            node = node.right

    def latest(self, start: Any, end: Any, length: Any) -> tuple[Any, Any] | None:
        """Return the latest idle interval of a length within a window, or None.

        Parameters
        ----------
        start, end : Number
            The window; `end` may be infinite. In an interval without end the result is the first
            one, since there is no last.
        length : Number

        Returns
        -------
        tuple of Number, length 2
            It ends with an idle interval or with the window.
        """
        node = _last(self._root, start, end, length)
        if node is None:
            return None
        low, high = max(node.start, start), min(node.end, end)
        if high == math.inf:
            return low, low + length
        return max(high - length, low), high  # `max`: floats may be off by a unit in the last place

    def earliest(self, start: Any, end: Any, length: Any) -> tuple[Any, Any] | None:
        """Return the first idle interval of a length within a window, or None."""
        node = _first(self._root, start, end, length)
        if node is None:
            return None
        low = max(node.start, start)
        return low, min(low + length, node.end, end)

    def fitting(self, start: Any, end: Any, length: Any) -> list[tuple[Any, Any]]:
        """Return the idle intervals that contain one of a length within a window, last first.

        Complexity: O(n).
        """
        intervals = [(low, high) for low, high in self if _overlap(low, high, start, end) >= length]
        return intervals[::-1]

    def occupy(self, start: Any, end: Any) -> None:
        """Make an idle interval busy.

        Raises
        ------
        ValueError
            If it is not idle.
        """
        node = _last_starting_by(self._root, start)
        if node is None or node.end < end:
            raise ValueError(f"[{start}, {end}) is not free")
        before, rest = _split(self._root, node.start)
        _, after = _cut_first(rest)
        if node.start < start:
            before = _merge(before, self._new_node(node.start, start))
        if end < node.end:
            after = _merge(self._new_node(end, node.end), after)
        self._root = _merge(before, after)

    def release(self, start: Any, end: Any) -> None:
        """Make a busy interval idle; it is merged with idle intervals that it touches."""
        before, after = _split(self._root, start)
        before, last = _cut_last(before)
        first, after = _cut_first(after)
        if last is not None and last.end == start:
            start = last.start
        else:
            before = _merge(before, last)
        if first is not None and first.start == end:
            end = first.end
        else:
            after = _merge(first, after)
        self._root = _merge(_merge(before, self._new_node(start, end)), after)

    def _new_node(self, start: Any, end: Any) -> _TreapNode:
        return _TreapNode(start, end, self._priorities.random())


def _overlap(low: Any, high: Any, start: Any, end: Any) -> Any:
    """Return the length of an interval within a window.

    A difference of ends, never a sum with a length: so it is no more than the length of the
    interval in floats, too, and the tree may be pruned by that.
    """
    return min(high, end) - max(low, start)


def _last(node: _TreapNode | None, start: Any, end: Any, length: Any) -> _TreapNode | None:
    """Return the last interval that overlaps a window by a length."""
    while node is not None and node.longest >= length:
        if node.start >= end:
            node = node.left
        elif node.end <= start:
            node = node.right
        else:
            later = _last(node.right, start, end, length)
            if later is not None:
                return later
            if _overlap(node.start, node.end, start, end) >= length:
                return node
            node = node.left
    return None


def _first(node: _TreapNode | None, start: Any, end: Any, length: Any) -> _TreapNode | None:
    """Return the first interval that overlaps a window by a length."""
    while node is not None and node.longest >= length:
        if node.start >= end:
            node = node.left
        elif node.end <= start:
            node = node.right
        else:
            earlier = _first(node.left, start, end, length)
            if earlier is not None:
                return earlier
            if _overlap(node.start, node.end, start, end) >= length:
                return node
            node = node.right
    return None


def _last_starting_by(node: _TreapNode | None, instant: Any) -> _TreapNode | None:
    """Return the last interval that starts by an instant."""
    last = None
    while node is not None:
        if node.start <= instant:
            last, node = node, node.right
        else:
            node = node.left
    return last


def _split(node: _TreapNode | None, start: Any) -> tuple[_TreapNode | None, _TreapNode | None]:
    """Return the trees of the intervals that start before an instant, and of the others."""
    if node is None:
        return None, None
    if node.start < start:
        node.right, after = _split(node.right, start)
        return node.update(), after
    before, node.left = _split(node.left, start)
    return before, node.update()


def _merge(left: _TreapNode | None, right: _TreapNode | None) -> _TreapNode | None:
    """Return the tree of two, all intervals of the first before all of the second."""
    if left is None or right is None:
        return left or right
    if left.priority > right.priority:
        left.right = _merge(left.right, right)
        return left.update()
    right.left = _merge(left, right.left)
    return right.update()


def _cut_first(node: _TreapNode | None) -> tuple[_TreapNode | None, _TreapNode | None]:
    """Return the first interval of a tree, alone, and the rest."""
    if node is None:
        return None, None
    if node.left is None:
        rest, node.right = node.right, None
        return node.update(), rest
    first, node.left = _cut_first(node.left)
    return first, node.update()


def _cut_last(node: _TreapNode | None) -> tuple[_TreapNode | None, _TreapNode | None]:
    """Return a tree without its last interval, and that alone."""
    if node is None:
        return None, None
    if node.right is None:
        rest, node.left = node.left, None
        return rest, node.update()
    node.right, last = _cut_last(node.right)
    return node.update(), last
