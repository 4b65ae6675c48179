"""The tree of `dlopt.calendar.profile_tree` in arrays, compiled (extra ``fast``).

A node is a row of two arrays. `whole[node]` has its size, whether it is a leaf, its owner, which
bounds on gaps are known, and of each entry the child, the least and the greatest free amount and
what is pending for the child; a leaf has each amount twice. `times[node]` has the starts of its
entries, and three bounds for each level. ``unused[0]`` says how many rows are unused; their numbers
follow. Functions that change a tree return its root, for a shared node is copied first. Who calls
them sees to it that enough rows are unused (`ROWS_PER_CHANGE`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from dlopt.calendar.earliest_fit import LEVELS
from dlopt.calendar.profile_tree import FANOUT, FEWEST

SIZE, IS_LEAF, OWNER, KNOWN = range(4)
CHILD = 4
LEAST = CHILD + FANOUT
GREATEST = LEAST + FANOUT
PENDING = GREATEST + FANOUT
WHOLE_COLUMNS = PENDING + FANOUT
"""Columns of `whole`."""
FIRST_BELOW = FANOUT
LONGEST = FIRST_BELOW + LEVELS
LAST_ABOVE = LONGEST + LEVELS
TIMES_COLUMNS = LAST_ABOVE + LEVELS
"""Columns of `times`."""
ROWS_PER_CHANGE = 256
"""Rows that one change may need, at the most: it walks down five times, and copies or divides three
nodes on each of at most 16 levels."""

compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True, nogil=True)


@compiled
def new_row(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, leaf: Any
) -> Any:
    """Return an empty node."""
    node = unused[unused[0]]
    unused[0] -= 1
    whole[node, SIZE] = 0
    whole[node, IS_LEAF] = leaf
    whole[node, OWNER] = owner
    whole[node, KNOWN] = 0
    return node


@compiled
def owned(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any
) -> Any:
    """Return a node, or a copy of it if it is shared."""
    if whole[node, OWNER] == owner:
        return node
    copy = new_row(whole, times, unused, owner, whole[node, IS_LEAF])
    whole[copy, SIZE] = whole[node, SIZE]
    _copy_entries(whole, times, node, 0, copy, 0, whole[node, SIZE])
    return copy


@compiled
def before_or_at(  # pragma: no cover
    whole: Any, times: Any, node: Any, instant: Any
) -> Any:
    """Return the last entry that starts at an instant or before it; -1 if none does."""
    low, high = 0, whole[node, SIZE]
    while low < high:
        middle = (low + high) // 2
        if times[node, middle] <= instant:
            low = middle + 1
        else:
            high = middle
    return low - 1


@compiled
def first_from(  # pragma: no cover
    whole: Any, times: Any, node: Any, instant: Any
) -> Any:
    """Return the first entry that starts at an instant or after it."""
    index = before_or_at(whole, times, node, instant)
    return index if index >= 0 and times[node, index] == instant else index + 1


@compiled
def _copy_entries(  # pragma: no cover
    whole: Any, times: Any, source: Any, first: Any, target: Any, place: Any, count: Any
) -> Any:
    """Copy entries to a place in another node, or further left in the same one."""
    for k in range(count):
        times[target, place + k] = times[source, first + k]
        for column in (CHILD, LEAST, GREATEST, PENDING):
            whole[target, column + place + k] = whole[source, column + first + k]


@compiled
def _open_entries(
    whole: Any, times: Any, node: Any, index: Any, count: Any
) -> Any:  # pragma: no cover
    """Move the entries from one on to the right."""
    for k in range(whole[node, SIZE] - 1, index - 1, -1):
        times[node, k + count] = times[node, k]
        for column in (CHILD, LEAST, GREATEST, PENDING):
            whole[node, column + k + count] = whole[node, column + k]
    whole[node, SIZE] += count


@compiled
def _drop_entries(
    whole: Any, times: Any, node: Any, first: Any, last: Any
) -> Any:  # pragma: no cover
    """Drop entries, `last` not among them."""
    _copy_entries(whole, times, node, last, node, first, whole[node, SIZE] - last)
    whole[node, SIZE] -= last - first


@compiled
def _shift_entries(
    whole: Any, node: Any, first: Any, last: Any, amount: Any
) -> Any:  # pragma: no cover
    for k in range(first, last):
        whole[node, LEAST + k] += amount
        whole[node, GREATEST + k] += amount
        whole[node, PENDING + k] += amount


@compiled
def _set_child(
    whole: Any, times: Any, node: Any, index: Any, child: Any
) -> Any:  # pragma: no cover
    """Enter a child that has changed, with what is known of it."""
    least, greatest = whole[child, LEAST], whole[child, GREATEST]
    for k in range(1, whole[child, SIZE]):
        least = min(least, whole[child, LEAST + k])
        greatest = max(greatest, whole[child, GREATEST + k])
    pending = whole[node, PENDING + index]
    times[node, index] = times[child, 0]
    whole[node, CHILD + index] = child
    whole[node, LEAST + index] = least + pending
    whole[node, GREATEST + index] = greatest + pending


@compiled
def _split_at(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any, instant: Any
) -> Any:
    """Let an entry begin at an instant; return the right half of a node that was divided, or -1."""
    index = before_or_at(whole, times, node, instant)
    if whole[node, IS_LEAF]:
        if times[node, index] == instant:
            return -1
        _open_entries(whole, times, node, index, 1)
        times[node, index + 1] = instant
    else:
        child = owned(whole, times, unused, owner, whole[node, CHILD + index])
        right = _split_at(whole, times, unused, owner, child, instant)
        if right < 0:
            whole[node, CHILD + index] = child
            return -1
        _open_entries(whole, times, node, index, 1)
        _set_child(whole, times, node, index, child)
        _set_child(whole, times, node, index + 1, right)
    size = whole[node, SIZE]
    if size < FANOUT:
        return -1
    right = new_row(whole, times, unused, owner, whole[node, IS_LEAF])
    _copy_entries(whole, times, node, size // 2, right, 0, size - size // 2)
    whole[right, SIZE] = size - size // 2
    whole[node, SIZE] = size // 2
    whole[node, KNOWN] = 0
    return right


@compiled
def _shift(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any, start: Any, end: Any, amount: Any
) -> Any:
    """Add to all amounts in a window that begins and ends with entries of leaves."""
    whole[node, KNOWN] = 0
    first = max(before_or_at(whole, times, node, start), 0)
    last = first_from(whole, times, node, end)
    if whole[node, IS_LEAF]:
        _shift_entries(whole, node, first, last, amount)
        return
    cut_left = times[node, first] < start
    cut_right = end < np.inf and (last == whole[node, SIZE] or times[node, last] > end)
    if cut_left or (cut_right and first == last - 1):
        child = owned(whole, times, unused, owner, whole[node, CHILD + first])
        inner_end = end if first == last - 1 else np.inf
        _shift(whole, times, unused, owner, child, start, inner_end, amount)
        _set_child(whole, times, node, first, child)
        first += 1
    if cut_right and first < last:
        child = owned(whole, times, unused, owner, whole[node, CHILD + last - 1])
        _shift(whole, times, unused, owner, child, start, end, amount)
        _set_child(whole, times, node, last - 1, child)
        last -= 1
    _shift_entries(whole, node, first, last, amount)


@compiled
def _is_redundant(  # pragma: no cover
    whole: Any, times: Any, root: Any, instant: Any
) -> Any:
    """Tell whether the amount is the same before an entry that begins at an instant."""
    node, before, difference = root, root, 0
    while not whole[node, IS_LEAF]:
        index = before_or_at(whole, times, node, instant)
        difference += whole[node, PENDING + index]
        node = whole[node, CHILD + index]
        index = first_from(whole, times, before, instant) - 1
        difference -= whole[before, PENDING + index]
        before = whole[before, CHILD + index]
    difference += whole[node, LEAST + before_or_at(whole, times, node, instant)]
    index = first_from(whole, times, before, instant) - 1
    return difference == whole[before, LEAST + index]


@compiled
def _merge(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any, index: Any
) -> Any:
    """Merge a child with the next one, or level them if they are too many for one node."""
    left = owned(whole, times, unused, owner, whole[node, CHILD + index])
    right = owned(whole, times, unused, owner, whole[node, CHILD + index + 1])
    whole[node, CHILD + index], whole[node, CHILD + index + 1] = left, right
    pending = whole[node, PENDING + index]
    more = whole[node, PENDING + index + 1] - pending
    whole[node, PENDING + index + 1] = pending
    a, b = whole[left, SIZE], whole[right, SIZE]
    _shift_entries(whole, right, 0, b, more)
    whole[left, KNOWN] = whole[right, KNOWN] = 0
    moved = b if a + b < FANOUT else (a + b) // 2 - a
    if moved > 0:
        _copy_entries(whole, times, right, 0, left, a, moved)
        whole[left, SIZE] += moved
        _drop_entries(whole, times, right, 0, moved)
    else:
        _open_entries(whole, times, right, 0, -moved)
        _copy_entries(whole, times, left, a + moved, right, 0, -moved)
        whole[left, SIZE] += moved
    if whole[right, SIZE]:
        _set_child(whole, times, node, index + 1, right)
    else:
        unused[0] += 1
        unused[unused[0]] = right
        _drop_entries(whole, times, node, index + 1, index + 2)
    _set_child(whole, times, node, index, left)


@compiled
def _delete(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any, instant: Any
) -> Any:
    """Join the entry that begins at an instant with the one before it."""
    index = before_or_at(whole, times, node, instant)
    whole[node, KNOWN] = 0
    if whole[node, IS_LEAF]:
        _drop_entries(whole, times, node, index, index + 1)
        return
    child = owned(whole, times, unused, owner, whole[node, CHILD + index])
    _delete(whole, times, unused, owner, child, instant)
    _set_child(whole, times, node, index, child)
    if whole[child, SIZE] < FEWEST and whole[node, SIZE] > 1:
        _merge(whole, times, unused, owner, node, max(index - 1, 0))


@compiled
def _lower_root(
    whole: Any, times: Any, unused: Any, owner: Any, root: Any
) -> Any:  # pragma: no cover
    """Return the root without roots that have one child."""
    while not whole[root, IS_LEAF] and whole[root, SIZE] == 1:
        child = owned(whole, times, unused, owner, whole[root, CHILD])
        _shift_entries(whole, child, 0, whole[child, SIZE], whole[root, PENDING])
        whole[child, KNOWN] = 0
        root = child
    return root


@compiled
def change(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, root: Any, start: Any, end: Any, amount: Any
) -> Any:
    """Add to the free amount in a window, and return the root."""
    root = owned(whole, times, unused, owner, root)
    for instant in (start, end):
        right = _split_at(whole, times, unused, owner, root, instant) if instant < np.inf else -1
        if right >= 0:
            left, root = root, new_row(whole, times, unused, owner, 0)
            whole[root, SIZE] = 2
            whole[root, PENDING] = whole[root, PENDING + 1] = 0
            _set_child(whole, times, root, 0, left)
            _set_child(whole, times, root, 1, right)
    _shift(whole, times, unused, owner, root, start, end, amount)
    for instant in (start, end):
        if times[root, 0] < instant < np.inf and _is_redundant(whole, times, root, instant):
            _delete(whole, times, unused, owner, root, instant)
            root = _lower_root(whole, times, unused, owner, root)
    return root


@compiled
def _forget(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, node: Any, now: Any
) -> Any:
    _drop_entries(whole, times, node, 0, before_or_at(whole, times, node, now))
    times[node, 0] = now
    whole[node, KNOWN] = 0
    if not whole[node, IS_LEAF]:
        child = owned(whole, times, unused, owner, whole[node, CHILD])
        _forget(whole, times, unused, owner, child, now)
        _set_child(whole, times, node, 0, child)


@compiled
def forget(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, root: Any, now: Any
) -> Any:
    """Drop what was before an instant, and return the root."""
    root = owned(whole, times, unused, owner, root)
    _forget(whole, times, unused, owner, root, now)
    return _lower_root(whole, times, unused, owner, root)


@compiled
def mark(  # pragma: no cover
    whole: Any, node: Any, reached: Any
) -> Any:
    """Mark all nodes of a tree."""
    if not reached[node]:
        reached[node] = True
        if not whole[node, IS_LEAF]:
            for index in range(whole[node, SIZE]):
                mark(whole, whole[node, CHILD + index], reached)


@compiled
def build(  # pragma: no cover
    whole: Any, times: Any, unused: Any, owner: Any, starts: Any, amounts: Any
) -> Any:
    """Return the root of a profile with given steps."""
    root = new_row(whole, times, unused, owner, 1)
    whole[root, SIZE] = 1
    times[root, 0] = starts[0]
    whole[root, LEAST] = whole[root, GREATEST] = amounts[0]
    for k in range(1, starts.size):
        if amounts[k] != amounts[k - 1]:
            more = amounts[k] - amounts[k - 1]
            root = change(whole, times, unused, owner, root, starts[k], np.inf, more)
    return root
