"""Nodes of the tree of an availability profile, and what is read from them."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

Instant: TypeAlias = Any
"""A number that compares with all other instants of a calendar; infinity included."""

Units: TypeAlias = int | Fraction
"""Free amounts: integers if possible, see `dlopt.calendar.profiles`."""

EntryT = TypeVar("EntryT")

FANOUT = 32
"""Entries of a node, at the most. Chosen by hand: with 10,000 spans in plain Python, 16, 32, 64 and
128 differ by less than 15 %."""
FEWEST = FANOUT // 4
"""Entries of a node below which it is merged with a neighbour; a quarter, so that a node that was
just split is far from both limits."""


class Node:
    """A node of the tree, with one list for every field of its entries.

    Parameters
    ----------
    owner : object
        The profile that may change it.
    starts : list of Number
        When each entry begins; it ends where the next one begins.
    least, greatest : list of Units
        Free amounts within each entry, relative to what is pending above; in a leaf the same list.
    children : list of Node, optional
        None in a leaf.
    pending : list of Units, optional
        What is to be added to all amounts of each child.

    Attributes
    ----------
    bounds : dict
        What `dlopt.calendar.earliest_fit.run_bounds` has computed for the node.
    """

    __slots__ = ("bounds", "children", "greatest", "least", "owner", "pending", "starts")

    def __init__(
        self,
        owner: object,
        starts: list[Instant],
        least: list[Units],
        greatest: list[Units],
        children: list[Node] | None = None,
        pending: list[Units] | None = None,
    ) -> None:
        self.owner = owner
        self.starts = starts
        self.least = least
        self.greatest = greatest
        self.children: Any = children
        self.pending: Any = pending
        self.bounds: dict[int, tuple[Instant, Instant, Instant]] = {}

    def lists(self) -> tuple[list[Any], ...]:
        """Return the lists of the entries, each once."""
        if self.children is None:
            return self.starts, self.least
        return self.starts, self.least, self.greatest, self.children, self.pending

    def part(self, owner: object, first: int, last: int | None = None) -> Node:
        """Return a node with some of the entries."""
        lists = [values[first:last] for values in self.lists()]
        if self.children is None:
            lists.insert(2, lists[1])
        return Node(owner, *lists)

    def delete(self, first: int, last: int) -> None:
        """Delete some of the entries."""
        for values in self.lists():
            del values[first:last]

    def shift(self, first: int, last: int, amount: Units) -> None:
        """Add to all amounts within some of the entries."""
        for values in self.lists()[1:]:
            if values is not self.children:
                values[first:last] = [value + amount for value in values[first:last]]

    def set_child(self, index: int, child: Node) -> None:
        """Enter a child that has changed, with what is known of it."""
        pending = self.pending[index]
        self.starts[index] = child.starts[0]
        self.children[index] = child
        self.least[index] = min(child.least) + pending
        self.greatest[index] = max(child.greatest) + pending


def even_groups(entries: Sequence[EntryT]) -> Iterator[Sequence[EntryT]]:
    """Yield groups of about three quarters of `FANOUT` entries, all of nearly the same size."""
    count = -(-len(entries) // (FANOUT * 3 // 4))
    for index in range(count):
        yield entries[len(entries) * index // count : len(entries) * (index + 1) // count]


def parent_of(owner: object, children: Sequence[Node]) -> Node:
    """Return an inner node."""
    return Node(
        owner,
        [child.starts[0] for child in children],
        [min(child.least) for child in children],
        [max(child.greatest) for child in children],
        list(children),
        [0] * len(children),
    )


def entries_of_window(starts: list[Instant], start: Instant, end: Instant) -> tuple[int, int]:
    """Return the first entry that reaches into a window, and the one after the last."""
    return max(bisect_right(starts, start) - 1, 0), bisect_left(starts, end)


def cut_entries(
    starts: list[Instant], first: int, last: int, start: Instant, end: Instant
) -> list[int]:
    """Return which of the entries of a window may reach beyond it: the first or the last one.

    The end is infinite if the node ends with the window.
    """
    cut = [first] if starts[first] < start else []
    if end < math.inf and (last == len(starts) or starts[last] > end) and cut != [last - 1]:
        cut.append(last - 1)
    return cut


def least_amount(node: Node, start: Instant, end: Instant) -> Units:
    """Return the least free amount in a window."""
    first, last = entries_of_window(node.starts, start, end)
    if node.children is None:
        return min(node.least[first:last])
    found: list[Units] = []
    for index in cut_entries(node.starts, first, last, start, end):
        inner_end = end if index == last - 1 else math.inf
        found.append(node.pending[index] + least_amount(node.children[index], start, inner_end))
        if index == first:
            first += 1
        else:
            last -= 1
    return min(node.least[first:last] + found)


def entries_from(node: Node, pending: Units, start: Instant) -> Iterator[tuple[Instant, Units]]:
    """Yield when each amount begins, from the one at an instant on."""
    for index in range(max(bisect_right(node.starts, start) - 1, 0), len(node.starts)):
        if node.children is None:
            yield node.starts[index], node.least[index] + pending
        else:
            yield from entries_from(node.children[index], pending + node.pending[index], start)


def first_below(node: Node, amount: Units, start: Instant) -> Instant:
    """Return the first instant from `start` on with less than an amount; infinity if none is."""
    for index in range(max(bisect_right(node.starts, start) - 1, 0), len(node.starts)):
        if node.least[index] < amount:
            if node.children is None:
                return max(node.starts[index], start)
            found = first_below(node.children[index], amount - node.pending[index], start)
            if found < math.inf:
                return found
    return math.inf
