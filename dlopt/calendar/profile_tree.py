"""An availability profile as a B+ tree: the free amount of one resource as a function of time.

A leaf has the instants at which the free amount changes and the amount from each of them on. An
inner node has, for every child, the least and the greatest free amount below it, and an amount that
is still to be added to all of it: adding to a window touches two paths of the tree only. Amounts
are integers or fractions, see `dlopt.calendar.profiles`; instants are any numbers that compare.

The tree is persistent by copy on write: a node belongs to the profile that created it, and any
other profile copies it before a change.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from dlopt.calendar.earliest_fit import EarliestFit
from dlopt.calendar.profile_nodes import (
    FANOUT,
    FEWEST,
    Instant,
    Node,
    Units,
    cut_entries,
    entries_from,
    entries_of_window,
    even_groups,
    first_below,
    least_amount,
    parent_of,
)


class ProfileTree:
    """The free amount of one resource from an instant on.

    Parameters
    ----------
    steps : sequence of tuple
        Pairs of an instant, increasing, and the free amount from then on. The profile begins with
        the first.

    Notes
    -----
    Complexity, for n instants at which the free amount changes: O(log n) for `change`, `least_free`
    and `run_end`, O(log n + k) for `steps` with k steps in the window and for `forget` with k steps
    forgotten, O(1) for `copy`. For `earliest_start` see `dlopt.calendar.earliest_fit`.

    Guarantee: no two steps in succession have the same amount, so the profile depends on what is
    allocated, and not on the order of the changes.

    Examples
    --------
    >>> profile = ProfileTree([(0, 4)])
    >>> profile.change(2, 5, -3)
    >>> list(profile.steps(0)), profile.least_free(0, 3)
    ([(0, 2, 4), (2, 5, 1), (5, inf, 4)], 1)
    >>> profile.earliest_start(2, 3, 0)
    5
    >>> before = profile.copy()
    >>> profile.change(2, 5, 3)
    >>> list(profile.steps(0)), before.earliest_start(2, 3, 0)
    ([(0, inf, 4)], 5)
    """

    __slots__ = ("_owner", "_root")

    def __init__(self, steps: Sequence[tuple[Instant, Units]]) -> None:
        self._owner: object = object()
        self._root = self._built(steps)

    def copy(self) -> ProfileTree:
        """Return a profile that goes on by itself. Complexity: O(1)."""
        twin = ProfileTree.__new__(ProfileTree)
        twin._root = self._root
        # All nodes are shared from now on, so neither profile is their owner any more.
        self._owner, twin._owner = object(), object()
        return twin

    @property
    def begin(self) -> Instant:
        """The instant at which the profile begins."""
        return self._root.starts[0]

    def least_free(self, start: Instant, end: Instant) -> Units:
        """Return the least free amount in a window."""
        return least_amount(self._root, start, end)

    def steps(
        self, start: Instant, end: Instant = math.inf
    ) -> Iterator[tuple[Instant, Instant, Units]]:
        """Yield from when to when each amount is free in a window."""
        entries = entries_from(self._root, 0, start)
        since, (_, amount) = start, next(entries)
        for instant, following in entries:
            if instant >= end:
                break
            yield since, instant, amount
            since, amount = instant, following
        yield since, end, amount

    def change(self, start: Instant, end: Instant, amount: Units) -> None:
        """Add to the free amount in a window; `end` may be infinite."""
        if not amount:
            return
        for instant in (start, end):
            if instant < math.inf:
                root = self._own_root()
                right = self._split_at(root, instant)
                if right is not None:
                    self._root = parent_of(self._owner, [root, right])
        self._shift(self._own_root(), start, end, amount)
        for instant in (start, end):
            if self.begin < instant < math.inf and self._is_redundant(instant):
                self._delete(self._own_root(), instant)
                self._lower_root()

    def earliest_start(
        self, amount: Units, duration: Instant, after: Instant, latest_end: Instant = math.inf
    ) -> Instant | None:
        """Return the first instant from `after` on with so much free for a duration, or None."""
        return EarliestFit(self._root, amount, duration, after, latest_end).start()

    def run_end(self, amount: Units, start: Instant) -> Instant:
        """Return the first instant from `start` on at which less is free than an amount."""
        return first_below(self._root, amount, start)

    def forget(self, now: Instant) -> None:
        """Drop what was before an instant."""
        self._forget(self._own_root(), now)
        self._lower_root()

    def scale(self, factor: int) -> None:
        """Multiply all amounts. Complexity: O(n)."""
        entries = entries_from(self._root, 0, self.begin)
        self._root = self._built([(since, amount * factor) for since, amount in entries])

    def _built(self, steps: Sequence[tuple[Instant, Units]]) -> Node:
        kept = [steps[0]]
        kept += [step for before, step in pairwise(steps) if step[1] != before[1]]
        nodes = []
        for group in even_groups(kept):
            amounts = [amount for _, amount in group]
            nodes.append(Node(self._owner, [since for since, _ in group], amounts, amounts))
        while len(nodes) > 1:
            nodes = [parent_of(self._owner, group) for group in even_groups(nodes)]
        return nodes[0]

    def _own_root(self) -> Node:
        """Return the root as a node that this profile may change."""
        if self._root.owner is not self._owner:
            self._root = self._root.part(self._owner, 0)
        return self._root

    def _own_child(self, node: Node, index: int) -> Node:
        """Return a child as a node that this profile may change."""
        child: Node = node.children[index]
        if child.owner is not self._owner:
            child = node.children[index] = child.part(self._owner, 0)
        return child

    def _split_at(self, node: Node, instant: Instant) -> Node | None:
        """Let an entry begin at an instant; return the right half of a node that was divided."""
        index = bisect_right(node.starts, instant) - 1
        if node.children is None:
            if node.starts[index] == instant:
                return None
            node.starts.insert(index + 1, instant)
            node.least.insert(index + 1, node.least[index])
        else:
            child = self._own_child(node, index)
            right = self._split_at(child, instant)
            if right is None:
                return None
            node.set_child(index, child)
            node.starts.insert(index + 1, right.starts[0])
            node.children.insert(index + 1, right)
            node.pending.insert(index + 1, node.pending[index])
            node.least.insert(index + 1, 0)
            node.greatest.insert(index + 1, 0)
            node.set_child(index + 1, right)
        if len(node.starts) <= FANOUT:
            return None
        right = node.part(self._owner, FANOUT // 2)
        node.delete(FANOUT // 2, len(node.starts))
        node.bounds = {}
        return right

    def _shift(self, node: Node, start: Instant, end: Instant, amount: Units) -> None:
        """Add to all amounts in a window that begins and ends with entries of leaves."""
        node.bounds = {}
        first, last = entries_of_window(node.starts, start, end)
        if node.children is not None:
            for index in cut_entries(node.starts, first, last, start, end):
                child = self._own_child(node, index)
                self._shift(child, start, end if index == last - 1 else math.inf, amount)
                node.set_child(index, child)
                if index == first:
                    first += 1
                else:
                    last -= 1
        node.shift(first, last, amount)

    def _is_redundant(self, instant: Instant) -> bool:
        """Tell whether the amount is the same before an entry that begins at an instant."""
        node, pending, before, pending_before = self._root, 0, self._root, 0
        while node.children is not None:
            index = bisect_right(node.starts, instant) - 1
            pending += node.pending[index]
            node = node.children[index]
            index = bisect_left(before.starts, instant) - 1
            pending_before += before.pending[index]
            before = before.children[index]
        amount = node.least[bisect_right(node.starts, instant) - 1] + pending
        return amount == before.least[bisect_left(before.starts, instant) - 1] + pending_before

    def _delete(self, node: Node, instant: Instant) -> None:
        """Join the entry that begins at an instant with the one before it."""
        index = bisect_right(node.starts, instant) - 1
        node.bounds = {}
        if node.children is None:
            node.delete(index, index + 1)
            return
        child = self._own_child(node, index)
        self._delete(child, instant)
        node.set_child(index, child)
        if len(child.starts) < FEWEST and len(node.starts) > 1:
            self._merge(node, max(index - 1, 0))

    def _merge(self, node: Node, index: int) -> None:
        """Merge a child with the next one, or level them if they are too many for one node."""
        left, right = self._own_child(node, index), self._own_child(node, index + 1)
        right.shift(0, len(right.starts), node.pending[index + 1] - node.pending[index])
        for values, more in zip(left.lists(), right.lists(), strict=True):
            values += more
        node.delete(index + 1, index + 2)
        left.bounds = {}
        if len(left.starts) > FANOUT:
            half = len(left.starts) // 2
            right = left.part(self._owner, half)
            left.delete(half, len(left.starts))
            for values, value in zip(
                node.lists(), (0, 0, 0, right, node.pending[index]), strict=True
            ):
                values.insert(index + 1, value)
            node.set_child(index + 1, right)
        node.set_child(index, left)

    def _forget(self, node: Node, now: Instant) -> None:
        node.delete(0, bisect_right(node.starts, now) - 1)
        node.starts[0] = now
        node.bounds = {}
        if node.children is not None:
            child = self._own_child(node, 0)
            self._forget(child, now)
            node.set_child(0, child)

    def _lower_root(self) -> None:
        """Drop roots with one child."""
        while self._root.children is not None and len(self._root.starts) == 1:
            child, pending = self._own_child(self._root, 0), self._root.pending[0]
            child.shift(0, len(child.starts), pending)
            child.bounds = {}
            self._root = child
