"""Nodes of `dlopt.calendar.profile_nodes` in arrays, compiled (extra ``fast``).

A node is a row of two arrays. A row of `whole` has its size, whether it is a leaf, its owner, which
bounds on runs are known, and of each entry the child, the least and the greatest free amount and
what is pending for the child; a leaf has each amount twice. A row of `times` has the starts of the
entries, and three bounds for each level. ``unused[0]`` says how many rows are unused; their numbers
follow.

numba keeps compiled code by file: who changes `FANOUT`, `LEVELS` or a function that is called from
another file removes ``__pycache__``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dlopt.calendar.earliest_fit import LEVELS
from dlopt.calendar.profile_nodes import FANOUT

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


Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


class Nodes(NamedTuple):
    """The arrays, and who changes them."""

    whole: Integers
    times: Floats
    unused: Integers
    owner: int


compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True, nogil=True)


@compiled  # pragma: no cover
def new_row(nodes: Nodes, leaf: int) -> Any:
    """Return an empty node."""
    node = nodes.unused[nodes.unused[0]]
    nodes.unused[0] -= 1
    nodes.whole[node, SIZE] = 0
    nodes.whole[node, IS_LEAF] = leaf
    nodes.whole[node, OWNER] = nodes.owner
    nodes.whole[node, KNOWN] = 0
    return node


@compiled  # pragma: no cover
def owned(nodes: Nodes, node: int) -> Any:
    """Return a node, or a copy of it if it is shared."""
    if nodes.whole[node, OWNER] == nodes.owner:
        return node
    copy = new_row(nodes, nodes.whole[node, IS_LEAF])
    nodes.whole[copy, SIZE] = nodes.whole[node, SIZE]
    copy_entries(nodes, node, 0, copy, 0, nodes.whole[node, SIZE])
    return copy


@compiled  # pragma: no cover
def before_or_at(nodes: Nodes, node: int, instant: float) -> Any:
    """Return the last entry that starts at an instant or before it; -1 if none does."""
    low, high = 0, nodes.whole[node, SIZE]
    while low < high:
        middle = (low + high) // 2
        if nodes.times[node, middle] <= instant:
            low = middle + 1
        else:
            high = middle
    return low - 1


@compiled  # pragma: no cover
def first_from(nodes: Nodes, node: int, instant: float) -> Any:
    """Return the first entry that starts at an instant or after it."""
    index = before_or_at(nodes, node, instant)
    return index if index >= 0 and nodes.times[node, index] == instant else index + 1


@compiled  # pragma: no cover
def copy_entries(
    nodes: Nodes, source: int, first: int, target: int, place: int, count: int
) -> None:
    """Copy entries to a place in another node, or further left in the same one."""
    for k in range(count):
        nodes.times[target, place + k] = nodes.times[source, first + k]
        for column in (CHILD, LEAST, GREATEST, PENDING):
            nodes.whole[target, column + place + k] = nodes.whole[source, column + first + k]


@compiled  # pragma: no cover
def open_entries(nodes: Nodes, node: int, index: int, count: int) -> None:
    """Move the entries from one on to the right."""
    for k in range(nodes.whole[node, SIZE] - 1, index - 1, -1):
        nodes.times[node, k + count] = nodes.times[node, k]
        for column in (CHILD, LEAST, GREATEST, PENDING):
            nodes.whole[node, column + k + count] = nodes.whole[node, column + k]
    nodes.whole[node, SIZE] += count


@compiled  # pragma: no cover
def drop_entries(nodes: Nodes, node: int, first: int, last: int) -> None:
    """Drop entries, `last` not among them."""
    copy_entries(nodes, node, last, node, first, nodes.whole[node, SIZE] - last)
    nodes.whole[node, SIZE] -= last - first


@compiled  # pragma: no cover
def shift_entries(nodes: Nodes, node: int, first: int, last: int, amount: int) -> None:
    """Add to all amounts within entries."""
    for k in range(first, last):
        nodes.whole[node, LEAST + k] += amount
        nodes.whole[node, GREATEST + k] += amount
        nodes.whole[node, PENDING + k] += amount


@compiled  # pragma: no cover
def set_child(nodes: Nodes, node: int, index: int, child: int) -> None:
    """Enter a child that has changed, with what is known of it."""
    least, greatest = nodes.whole[child, LEAST], nodes.whole[child, GREATEST]
    for k in range(1, nodes.whole[child, SIZE]):
        least = min(least, nodes.whole[child, LEAST + k])
        greatest = max(greatest, nodes.whole[child, GREATEST + k])
    pending = nodes.whole[node, PENDING + index]
    nodes.times[node, index] = nodes.times[child, 0]
    nodes.whole[node, CHILD + index] = child
    nodes.whole[node, LEAST + index] = least + pending
    nodes.whole[node, GREATEST + index] = greatest + pending
