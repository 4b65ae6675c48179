"""A B+ tree of tasks by deadline, with the prefix sums and range minima of an admission test.

A task `i` has work ``e_i`` and a supply ``b_i``. With ``s_i`` the sum of the works up to its own,
its slack is ``b_i - s_i``, and the least slack of a range is composed from those of its parts:
``(s, b) + (s', b') = (s + s', min(b, b' - s))``. Both are stored for every node of the tree, so
that a query about all tasks after a position takes the height of the tree. Sums are relative to
the range: nothing else changes when a task is inserted in between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from operator import sub
from typing import Any, NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.fast.dispatcher import QueueEntry
from dlopt.heuristics.admission.records import QueueKey

MAX_ITEMS = 48
"""Tasks of a leaf, or children of a node, at the most. Chosen by hand: it trades the height of the
tree for the length of the sums in a node."""


class _TreeNode:
    """A leaf with its tasks, or a node with its children.

    Attributes
    ----------
    items : list of QueueEntry or of _TreeNode
    keys : list
        Of the tasks; of the last task of each child.
    works : list of Number
        Of the tasks; sums of the children.
    slacks : list of Number
        Supplies of the tasks; least slacks of the children.
    leaf : bool
    """

    __slots__ = ("items", "keys", "leaf", "slacks", "works")

    def __init__(
        self,
        leaf: bool,
        items: list[Any],
        keys: list[QueueKey],
        works: list[Number],
        slacks: list[Number],
    ) -> None:
        self.leaf, self.items, self.keys, self.works, self.slacks = leaf, items, keys, works, slacks

    def work(self) -> Number:
        """Return the sum."""
        return sum(self.works)

    def slack(self, first: int = 0) -> Number:
        """Return the least slack from an item on, relative to what is before; not of nothing."""
        works = self.works[first:] if first else self.works
        slacks = self.slacks[first:] if first else self.slacks
        before = accumulate(works) if self.leaf else accumulate(works, initial=0)
        least: Number = min(map(sub, slacks, before))
        return least

    def copy(self) -> _TreeNode:
        """Return a node with the same items."""
        return _TreeNode(self.leaf, self.items[:], self.keys[:], self.works[:], self.slacks[:])

    def restore(self, copy: _TreeNode) -> None:
        """Take the items of a copy, which is not used again."""
        self.items, self.keys = copy.items, copy.keys
        self.works, self.slacks = copy.works, copy.slacks

    def split_in_half(self) -> _TreeNode:
        """Keep the first half, and return the second."""
        at = len(self.items) // 2
        other = _TreeNode(
            self.leaf, self.items[at:], self.keys[at:], self.works[at:], self.slacks[at:]
        )
        del self.items[at:], self.keys[at:], self.works[at:], self.slacks[at:]
        return other


class _Removal(NamedTuple):
    """What a removal changed: the root, and all nodes from it to the leaf with their copies."""

    root: _TreeNode
    nodes: tuple[tuple[_TreeNode, _TreeNode], ...]


class DeadlineTree:
    """The waiting tasks by deadline.

    Notes
    -----
    Complexity: O(log n) for `split`, `insert`, `first` and `reduce_first`. Numbers of any kind;
    floats are added in an order that depends on the shape of the tree.

    Examples
    --------
    >>> from dlopt.heuristics.admission.records import QueuedTask
    >>> tree = DeadlineTree()
    >>> for number, (load, due) in enumerate([(3, 9), (1, 4), (2, 12)]):
    ...     tree.insert(QueueEntry(QueuedTask((due, number), "", 0, load, due), load), due)
    >>> tree.split((5, 0))
    (1, 6)
    >>> [(entry.task.deadline, due) for entry, due in tree.overloaded_after((5, 0), 7)]
    [(9, 4), (12, 6)]
    """

    def __init__(self) -> None:
        self._root = _TreeNode(True, [], [], [], [])
        self._size = 0
        self._removals: list[_Removal | None] = []

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[QueueEntry]:
        return self._tasks(self._root)

    def first(self) -> QueueEntry | None:
        """Return the task with the least key."""
        if not self._size:
            return None
        part = self._root
        while not part.leaf:
            part = part.items[0]
        entry: QueueEntry = part.items[0]
        return entry

    def split(self, key: QueueKey) -> tuple[Number, Number | None]:
        """Return the work before a key, and the least slack after it.

        Returns
        -------
        tuple of (Number, Number or None)
            The slack of a task is its supply less the work from the key up to it, its own included.
            None if no task is after the key.
        """
        part = self._root
        before: Number = 0
        slack: Number | None = None
        while True:
            at = bisect_left(part.keys, key)
            before += sum(part.works[:at])
            rest = at if part.leaf else at + 1
            if rest < len(part.items):
                beyond = before if part.leaf else before + part.works[at]
                least = part.slack(rest) - beyond
                slack = least if slack is None or least < slack else slack
            if part.leaf or at == len(part.items):
                break
            part = part.items[at]
        return before, None if slack is None else slack + before

    def overloaded_after(
        self, key: QueueKey, deficit: Number
    ) -> Iterator[tuple[QueueEntry, Number]]:
        """Yield the tasks after a key with more work up to them than supply less a deficit.

        Yields
        ------
        tuple of (QueueEntry, Number)
            A task, and all the work up to it, its own included.
        """
        yield from self._overloaded_after(self._root, key, deficit, 0)

    def insert(self, entry: QueueEntry, supply: Number) -> None:
        """Insert a task, with its remaining load as work."""
        key, path, part = entry.task.key, [], self._root
        while not part.leaf:
            at = min(bisect_left(part.keys, key), len(part.items) - 1)
            path.append((part, at))
            part = part.items[at]
        at = bisect_left(part.keys, key)
        part.items.insert(at, entry)
        part.keys.insert(at, key)
        part.works.insert(at, entry.remaining)
        part.slacks.insert(at, supply)
        self._size += 1
        self._update_ancestors(path, part)

    def load(self, entries: Sequence[QueueEntry], supplies: Sequence[Number]) -> None:
        """Insert tasks in their order into an empty tree.

        Sums of floats depend on the tasks alone then, and not on how they came there.
        """
        parts = []
        for chosen in _slices(len(entries)):
            items = list(entries[chosen])
            keys = [entry.task.key for entry in items]
            works = [entry.remaining for entry in items]
            parts.append(_TreeNode(True, items, keys, works, list(supplies[chosen])))
        while len(parts) > 1:
            parts = [_parent(parts[chosen]) for chosen in _slices(len(parts))]
        self._size = len(entries)
        if parts:
            self._root = parts[0]

    def admit(self, entry: QueueEntry, supply: Number, deficit: Number) -> bool:
        """Insert a task unless the work up to it or a later one exceeds supply less deficit."""
        before, slack = self.split(entry.task.key)
        owed = deficit + before + entry.remaining
        if owed > supply or (slack is not None and owed > slack):
            return False
        self.insert(entry, supply)
        return True

    def remove(self, key: QueueKey) -> QueueEntry:
        """Remove a task, which must be there, by its key."""
        path, part = [], self._root
        while not part.leaf:
            at = bisect_left(part.keys, key)
            path.append((part, at))
            part = part.items[at]
        at = bisect_left(part.keys, key)
        entry: QueueEntry = part.items[at]
        self._delete(path, part, at)
        return entry

    def reduce_first(self, work: Number) -> None:
        """Change the work of the first task, or remove the task if no work is left."""
        path, part = [], self._root
        while not part.leaf:
            path.append((part, 0))
            part = part.items[0]
        if work:
            part.works[0] = work
            self._update_ancestors(path, part)
        else:
            self._delete(path, part, 0)

    def put_back(self, entry: QueueEntry, supply: Number) -> None:
        """Undo the last removal of a task since `commit`: the tree has the shape of before."""
        removal = self._removals.pop()
        if removal is None:
            self.insert(entry, supply)
            return
        self._root = removal.root
        for node, copy in removal.nodes:
            node.restore(copy)
        self._size += 1

    def commit(self) -> None:
        """Forget how to put back what was removed."""
        self._removals.clear()

    def _delete(self, path: list[tuple[_TreeNode, int]], leaf: _TreeNode, at: int) -> None:
        """Delete a task of a leaf.

        An insertion undoes it, unless the task was the last of its leaf: another leaf would get it.
        """
        removal = None
        if at == len(leaf.items) - 1:
            nodes = (*(node for node, _ in path), leaf)
            removal = _Removal(self._root, tuple((node, node.copy()) for node in nodes))
        self._removals.append(removal)
        del leaf.items[at], leaf.keys[at], leaf.works[at], leaf.slacks[at]
        self._size -= 1
        self._update_ancestors(path, leaf)

    def _update_ancestors(self, path: list[tuple[_TreeNode, int]], part: _TreeNode) -> None:
        """Update the ancestors of a leaf that was changed, and rebalance."""
        while path:
            above, at = path.pop()
            if not part.items:
                del above.items[at], above.keys[at], above.works[at], above.slacks[at]
            else:
                if len(part.items) > MAX_ITEMS:
                    other = part.split_in_half()
                    self._note(above, at, part, replace=True)
                    self._note(above, at + 1, other, replace=False)
                else:
                    self._note(above, at, part, replace=True)
            part = above
        if len(part.items) > MAX_ITEMS:
            other, root = part.split_in_half(), _TreeNode(False, [], [], [], [])
            self._note(root, 0, part, replace=False)
            self._note(root, 1, other, replace=False)
            self._root = root
        while not self._root.leaf and len(self._root.items) < 2:
            self._root = (
                self._root.items[0] if self._root.items else _TreeNode(True, [], [], [], [])
            )

    @staticmethod
    def _note(above: _TreeNode, at: int, part: _TreeNode, *, replace: bool) -> None:
        """Update the entry of a child in its parent."""
        end = at + 1 if replace else at
        above.items[at:end] = [part]
        above.keys[at:end] = [part.keys[-1]]
        above.works[at:end] = [part.work()]
        above.slacks[at:end] = [part.slack()]

    def _overloaded_after(
        self, part: _TreeNode, key: QueueKey, deficit: Number, before: Number
    ) -> Iterator[tuple[QueueEntry, Number]]:
        at = bisect_left(part.keys, key)
        before += sum(part.works[:at])
        for i in range(at, len(part.items)):
            due = before + part.works[i]
            if part.leaf and deficit + due > part.slacks[i]:
                yield part.items[i], due
            elif not part.leaf and deficit + before > part.slacks[i]:
                yield from self._overloaded_after(part.items[i], key, deficit, before)
            before = due

    def _tasks(self, part: _TreeNode) -> Iterator[QueueEntry]:
        for item in part.items:
            if part.leaf:
                yield item
            else:
                yield from self._tasks(item)


def _slices(count: int) -> list[slice]:
    """Return ranges of equal size for the parts of a new tree, with room for more items."""
    size = MAX_ITEMS * 3 // 4
    return [slice(first, first + size) for first in range(0, count, size)]


def _parent(parts: list[_TreeNode]) -> _TreeNode:
    return _TreeNode(
        False,
        list(parts),
        [part.keys[-1] for part in parts],
        [part.work() for part in parts],
        [part.slack() for part in parts],
    )
