"""The spans of a calendar by number, in a tree of which copies share what neither changes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from dlopt.arithmetic import Number
from dlopt.calendar.profile_nodes import Instant

BITS = 6
"""Bits of a span's number that one level of the tree tells apart. Chosen by hand: with more there
are fewer levels, but larger nodes to copy or to examine; 5 and 6 take the same time."""
_MASK = (1 << BITS) - 1

SpanContent: TypeAlias = tuple[int, Number, Number, Number]
"""The machine, the start, the end and the amount of a span."""


class Span(NamedTuple):
    """An amount of one machine that is allocated for a window.

    Parameters
    ----------
    id : int
        Its number in the calendar.
    machine : int
        0-based.
    start, end : Number
        The window ``[start, end)``.
    amount : Number
    """

    id: int
    machine: int
    start: Number
    end: Number
    amount: Number


class _Node:
    """Spans in a leaf, else nodes, by the digit of a span's number that the level is for."""

    __slots__ = ("entries", "first_end", "owner")

    def __init__(self, owner: object, entries: dict[int, Any], first_end: Instant) -> None:
        self.owner = owner
        self.entries = entries
        self.first_end = first_end  # of all spans that are or were in it; it may be too early


class SpanRegistry:
    """Spans by number, in a tree that is persistent by copy on write.

    Notes
    -----
    Complexity, for numbers up to n: O(log n) for `get`, `put` and `pop`, O(1) for `copy`, and
    O(log n) for each node of the last level in which `drop_ended` finds a span that has ended.

    Examples
    --------
    >>> registry = SpanRegistry()
    >>> registry.put(Span(0, 0, 2, 5, 3))
    >>> twin = registry.copy()
    >>> registry.drop_ended(5)
    >>> len(registry), len(twin), twin.get(0).end
    (0, 1, 5)
    """

    __slots__ = ("_count", "_owner", "_root", "_top")

    def __init__(self) -> None:
        self._owner: object = object()
        self._root = _Node(self._owner, {}, math.inf)
        self._top = 0  # place of the digit that the root is for
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Span]:
        nodes = [self._root]
        for _ in range(0, self._top, BITS):
            nodes = [child for node in nodes for _, child in sorted(node.entries.items())]
        for node in nodes:
            yield from (span for _, span in sorted(node.entries.items()))

    def copy(self) -> SpanRegistry:
        """Return a registry that goes on by itself."""
        twin = SpanRegistry()
        twin._root, twin._top, twin._count = self._root, self._top, self._count
        self._owner = object()  # of no node that is there already; neither is the twin
        return twin

    def get(self, number: object) -> Span | None:
        """Return a span, or None if there is none of that number."""
        if type(number) is not int or not 0 <= number >> self._top <= _MASK:
            return None
        node: Any = self._root
        for place in range(self._top, 0, -BITS):
            node = node.entries.get(number >> place & _MASK)
            if node is None:
                return None
        span: Span | None = node.entries.get(number & _MASK)
        return span

    def put(self, span: Span) -> None:
        """Enter a span, instead of one with its number."""
        number, end = span.id, span.end
        while number >> self._top > _MASK:
            root = self._root
            self._root = _Node(self._owner, {0: root} if root.entries else {}, root.first_end)
            self._top += BITS
        node, owner = self._own_root(), self._owner
        for place in range(self._top, 0, -BITS):
            if end < node.first_end:
                node.first_end = end
            child = node.entries.get(number >> place & _MASK)
            if child is None or child.owner is not owner:
                child = self._own_child(node, number >> place & _MASK)
            node = child
        if end < node.first_end:
            node.first_end = end
        self._count += number & _MASK not in node.entries
        node.entries[number & _MASK] = span

    def pop(self, number: int) -> Span:
        """Remove a span that is there, and return it."""
        path = [self._own_root()]
        for place in range(self._top, 0, -BITS):
            path.append(self._own_child(path[-1], number >> place & _MASK))
        span: Span = path.pop().entries.pop(number & _MASK)
        for place, node in enumerate(reversed(path), 1):
            digit = number >> place * BITS & _MASK
            if not node.entries[digit].entries:
                del node.entries[digit]
        self._count -= 1
        return span

    def drop_ended(self, now: Instant) -> None:
        """Remove the spans that end at an instant or before it."""
        if self._root.first_end <= now:
            self._drop_ended(self._own_root(), self._top, now)

    def _drop_ended(self, node: _Node, place: int, now: Instant) -> None:
        if not place:
            before = len(node.entries)
            node.entries = {digit: span for digit, span in node.entries.items() if span.end > now}
            self._count -= before - len(node.entries)
            node.first_end = min((span.end for span in node.entries.values()), default=math.inf)
            return
        for digit in [digit for digit, each in node.entries.items() if each.first_end <= now]:
            child = self._own_child(node, digit)
            self._drop_ended(child, place - BITS, now)
            if not child.entries:
                del node.entries[digit]
        node.first_end = min((each.first_end for each in node.entries.values()), default=math.inf)

    def _own_root(self) -> _Node:
        """Return the root as a node that this registry may change."""
        root = self._root
        if root.owner is not self._owner:
            root = self._root = _Node(self._owner, root.entries.copy(), root.first_end)
        return root

    def _own_child(self, node: _Node, digit: int) -> _Node:
        """Return a child as a node that this registry may change; a new one if there is none."""
        child: _Node | None = node.entries.get(digit)
        if child is None:
            child = node.entries[digit] = _Node(self._owner, {}, math.inf)
        elif child.owner is not self._owner:
            child = node.entries[digit] = _Node(self._owner, child.entries.copy(), child.first_end)
        return child
