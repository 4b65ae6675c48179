"""The tree of `dlopt.calendar.profile_tree` in arrays, compiled (extra ``fast``).

Functions that change a tree return its root, for a shared node is copied first. Who calls them sees
to it that enough rows are unused (`ROWS_PER_CHANGE`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlopt.calendar.profile_nodes import FANOUT, FEWEST
from dlopt.calendar.profile_nodes_numba import (
    CHILD,
    GREATEST,
    IS_LEAF,
    KNOWN,
    LEAST,
    PENDING,
    SIZE,
    Floats,
    Integers,
    Nodes,
    before_or_at,
    compiled,
    copy_entries,
    drop_entries,
    first_from,
    new_row,
    open_entries,
    owned,
    set_child,
    shift_entries,
)

ROWS_PER_CHANGE = 256
"""Rows that one change may need, at the most: it walks down five times, and copies or divides three
nodes on each of at most 16 levels."""


@compiled  # pragma: no cover
def _split_at(nodes: Nodes, node: int, instant: float) -> Any:
    """Let an entry begin at an instant; return the right half of a node that was divided, or -1."""
    index = before_or_at(nodes, node, instant)
    if nodes.whole[node, IS_LEAF]:
        if nodes.times[node, index] == instant:
            return -1
        open_entries(nodes, node, index, 1)
        nodes.times[node, index + 1] = instant
    else:
        child = owned(nodes, nodes.whole[node, CHILD + index])
        right = _split_at(nodes, child, instant)
        if right < 0:
            nodes.whole[node, CHILD + index] = child
            return -1
        open_entries(nodes, node, index, 1)
        set_child(nodes, node, index, child)
        set_child(nodes, node, index + 1, right)
    size = nodes.whole[node, SIZE]
    if size < FANOUT:
        return -1
    right = new_row(nodes, nodes.whole[node, IS_LEAF])
    copy_entries(nodes, node, size // 2, right, 0, size - size // 2)
    nodes.whole[right, SIZE] = size - size // 2
    nodes.whole[node, SIZE] = size // 2
    nodes.whole[node, KNOWN] = 0
    return right


@compiled  # pragma: no cover
def _shift(nodes: Nodes, node: int, start: float, end: float, amount: int) -> None:
    """Add to all amounts in a window that begins and ends with entries of leaves."""
    nodes.whole[node, KNOWN] = 0
    first = max(before_or_at(nodes, node, start), 0)
    last = first_from(nodes, node, end)
    if nodes.whole[node, IS_LEAF]:
        shift_entries(nodes, node, first, last, amount)
        return
    cut_left = nodes.times[node, first] < start
    cut_right = end < np.inf and (last == nodes.whole[node, SIZE] or nodes.times[node, last] > end)
    if cut_left or (cut_right and first == last - 1):
        child = owned(nodes, nodes.whole[node, CHILD + first])
        inner_end = end if first == last - 1 else np.inf
        _shift(nodes, child, start, inner_end, amount)
        set_child(nodes, node, first, child)
        first += 1
    if cut_right and first < last:
        child = owned(nodes, nodes.whole[node, CHILD + last - 1])
        _shift(nodes, child, start, end, amount)
        set_child(nodes, node, last - 1, child)
        last -= 1
    shift_entries(nodes, node, first, last, amount)


@compiled  # pragma: no cover
def _is_redundant(nodes: Nodes, root: int, instant: float) -> Any:
    """Tell whether the amount is the same before an entry that begins at an instant."""
    node, before, difference = root, root, 0
    while not nodes.whole[node, IS_LEAF]:
        index = before_or_at(nodes, node, instant)
        difference += nodes.whole[node, PENDING + index]
        node = nodes.whole[node, CHILD + index]
        index = first_from(nodes, before, instant) - 1
        difference -= nodes.whole[before, PENDING + index]
        before = nodes.whole[before, CHILD + index]
    difference += nodes.whole[node, LEAST + before_or_at(nodes, node, instant)]
    index = first_from(nodes, before, instant) - 1
    return difference == nodes.whole[before, LEAST + index]


@compiled  # pragma: no cover
def _merge(nodes: Nodes, node: int, index: int) -> None:
    """Merge a child with the next one, or level them if they are too many for one node."""
    left = owned(nodes, nodes.whole[node, CHILD + index])
    right = owned(nodes, nodes.whole[node, CHILD + index + 1])
    nodes.whole[node, CHILD + index], nodes.whole[node, CHILD + index + 1] = left, right
    pending = nodes.whole[node, PENDING + index]
    more = nodes.whole[node, PENDING + index + 1] - pending
    nodes.whole[node, PENDING + index + 1] = pending
    a, b = nodes.whole[left, SIZE], nodes.whole[right, SIZE]
    shift_entries(nodes, right, 0, b, more)
    nodes.whole[left, KNOWN] = nodes.whole[right, KNOWN] = 0
    moved = b if a + b < FANOUT else (a + b) // 2 - a
    if moved > 0:
        copy_entries(nodes, right, 0, left, a, moved)
        nodes.whole[left, SIZE] += moved
        drop_entries(nodes, right, 0, moved)
    else:
        open_entries(nodes, right, 0, -moved)
        copy_entries(nodes, left, a + moved, right, 0, -moved)
        nodes.whole[left, SIZE] += moved
    if nodes.whole[right, SIZE]:
        set_child(nodes, node, index + 1, right)
    else:
        nodes.unused[0] += 1
        nodes.unused[nodes.unused[0]] = right
        drop_entries(nodes, node, index + 1, index + 2)
    set_child(nodes, node, index, left)


@compiled  # pragma: no cover
def _delete(nodes: Nodes, node: int, instant: float) -> None:
    """Join the entry that begins at an instant with the one before it."""
    index = before_or_at(nodes, node, instant)
    nodes.whole[node, KNOWN] = 0
    if nodes.whole[node, IS_LEAF]:
        drop_entries(nodes, node, index, index + 1)
        return
    child = owned(nodes, nodes.whole[node, CHILD + index])
    _delete(nodes, child, instant)
    set_child(nodes, node, index, child)
    if nodes.whole[child, SIZE] < FEWEST and nodes.whole[node, SIZE] > 1:
        _merge(nodes, node, max(index - 1, 0))


@compiled  # pragma: no cover
def _lower_root(nodes: Nodes, root: int) -> Any:
    """Return the root without roots that have one child."""
    while not nodes.whole[root, IS_LEAF] and nodes.whole[root, SIZE] == 1:
        child = owned(nodes, nodes.whole[root, CHILD])
        shift_entries(nodes, child, 0, nodes.whole[child, SIZE], nodes.whole[root, PENDING])
        nodes.whole[child, KNOWN] = 0
        root = child
    return root


@compiled  # pragma: no cover
def _changed(nodes: Nodes, root: int, start: float, end: float, amount: int) -> Any:
    """Add to the free amount in a window, and return the root."""
    root = owned(nodes, root)
    for instant in (start, end):
        right = _split_at(nodes, root, instant) if instant < np.inf else -1
        if right >= 0:
            left, root = root, new_row(nodes, 0)
            nodes.whole[root, SIZE] = 2
            nodes.whole[root, PENDING] = nodes.whole[root, PENDING + 1] = 0
            set_child(nodes, root, 0, left)
            set_child(nodes, root, 1, right)
    _shift(nodes, root, start, end, amount)
    for instant in (start, end):
        if nodes.times[root, 0] < instant < np.inf and _is_redundant(nodes, root, instant):
            _delete(nodes, root, instant)
            root = _lower_root(nodes, root)
    return root


@compiled  # pragma: no cover
def _forget(nodes: Nodes, node: int, now: float) -> None:
    drop_entries(nodes, node, 0, before_or_at(nodes, node, now))
    nodes.times[node, 0] = now
    nodes.whole[node, KNOWN] = 0
    if not nodes.whole[node, IS_LEAF]:
        child = owned(nodes, nodes.whole[node, CHILD])
        _forget(nodes, child, now)
        set_child(nodes, node, 0, child)


# What Python calls takes the arrays one by one: a tuple of them costs it half a microsecond.


@compiled  # pragma: no cover
def change(
    whole: Integers,
    times: Floats,
    unused: Integers,
    owner: int,
    root: int,
    start: float,
    end: float,
    amount: int,
) -> Any:
    """Add to the free amount in a window, and return the root."""
    return _changed(Nodes(whole, times, unused, owner), root, start, end, amount)


@compiled  # pragma: no cover
def forget(
    whole: Integers, times: Floats, unused: Integers, owner: int, root: int, now: float
) -> Any:
    """Drop what was before an instant, and return the root."""
    nodes = Nodes(whole, times, unused, owner)
    root = owned(nodes, root)
    _forget(nodes, root, now)
    return _lower_root(nodes, root)


@compiled  # pragma: no cover
def build(
    whole: Integers, times: Floats, unused: Integers, owner: int, starts: Floats, amounts: Integers
) -> Any:
    """Return the root of a profile with given steps."""
    nodes = Nodes(whole, times, unused, owner)
    root = new_row(nodes, 1)
    whole[root, SIZE] = 1
    times[root, 0] = starts[0]
    whole[root, LEAST] = whole[root, GREATEST] = amounts[0]
    for k in range(1, starts.size):
        if amounts[k] != amounts[k - 1]:
            root = _changed(nodes, root, starts[k], np.inf, amounts[k] - amounts[k - 1])
    return root


@compiled  # pragma: no cover
def mark(whole: Integers, node: int, reached: NDArray[np.bool_]) -> None:
    """Mark all nodes of a tree."""
    if not reached[node]:
        reached[node] = True
        if not whole[node, IS_LEAF]:
            for index in range(whole[node, SIZE]):
                mark(whole, whole[node, CHILD + index], reached)
