"""The search of `dlopt.calendar.earliest_fit`, and other questions, compiled for arrays.

See `dlopt.calendar.profile_nodes_numba` for the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dlopt.calendar.earliest_fit import LEVELS, ROUNDING
from dlopt.calendar.profile_nodes_numba import (
    CHILD,
    FIRST_BELOW,
    GREATEST,
    IS_LEAF,
    KNOWN,
    LAST_ABOVE,
    LEAST,
    LONGEST,
    PENDING,
    SIZE,
    Floats,
    Integers,
    Nodes,
    before_or_at,
    compiled,
    first_from,
)

# What a search knows: the run that reaches the entry looked at (see `EarliestFit`), the question,
# and the amount asked for.
_BEGIN, _IS_CERTAIN, _DURATION, _AFTER, _LATEST_END, _SHORTEST = range(6)


@compiled  # pragma: no cover
def _run_bounds(nodes: Nodes, node: int, least: int, greatest: int, limit: int) -> Any:
    """Return the level at which the bounds on windows with more than a limit stand in the node."""
    width = greatest - least
    level = limit - least
    if width > LEVELS:
        level = level * LEVELS // width
        if least + (level + 1) * width // LEVELS <= limit:
            level += 1
        limit = least + level * width // LEVELS
    if nodes.whole[node, KNOWN] >> level & 1:
        return level
    first_below, longest, begin = np.inf, 0.0, np.inf
    is_first = True
    for index in range(nodes.whole[node, SIZE]):
        start = nodes.times[node, index]
        if nodes.whole[node, LEAST + index] > limit:
            if not is_first and begin == np.inf:
                begin = start
            continue
        end, following = start, np.inf
        if nodes.whole[node, GREATEST + index] > limit:
            child, pending = nodes.whole[node, CHILD + index], nodes.whole[node, PENDING + index]
            least = nodes.whole[node, LEAST + index] - pending
            greatest = nodes.whole[node, GREATEST + index] - pending
            inner = _run_bounds(nodes, child, least, greatest, limit - pending)
            end = nodes.times[child, FIRST_BELOW + inner]
            longest = max(longest, nodes.times[child, LONGEST + inner])
            following = nodes.times[child, LAST_ABOVE + inner]
        if is_first:
            first_below, is_first = end, False
        else:
            longest = max(longest, end - min(begin, start))
        begin = following
    nodes.times[node, FIRST_BELOW + level] = first_below
    nodes.times[node, LONGEST + level] = longest
    nodes.times[node, LAST_ABOVE + level] = begin
    nodes.whole[node, KNOWN] |= 1 << level
    return level


@compiled  # pragma: no cover
def _run_begin(nodes: Nodes, node: int, amount: int, instant: float, node_end: float) -> Any:
    """Return the end of the last entry before an instant with less than an amount."""
    size = nodes.whole[node, SIZE]
    for index in range(first_from(nodes, node, instant) - 1, -1, -1):
        if nodes.whole[node, LEAST + index] < amount:
            end = nodes.times[node, index + 1] if index + 1 < size else node_end
            if nodes.whole[node, IS_LEAF]:
                return end
            child = nodes.whole[node, CHILD + index]
            rest = amount - nodes.whole[node, PENDING + index]
            found = _run_begin(nodes, child, rest, instant, end)
            if found > -np.inf:
                return found
    return -np.inf


@compiled  # pragma: no cover
def _fits(nodes: Nodes, root: int, asked: int, search: Floats, instant: float, end: float) -> Any:
    """Tell whether the run that reaches an instant is long enough if it lasts until `end`."""
    if search[_BEGIN] + search[_DURATION] > end:
        return False
    if not search[_IS_CERTAIN]:
        found = _run_begin(nodes, root, asked, instant, np.inf)
        search[_BEGIN] = max(found, search[_AFTER])
        search[_IS_CERTAIN] = 1.0
    return search[_BEGIN] + search[_DURATION] <= end


@compiled  # pragma: no cover
def _visit(
    nodes: Nodes, root: int, asked: int, search: Floats, node: int, amount: int, node_end: float
) -> Any:
    """Look for the start in a node; tell whether the search is over."""
    size = nodes.whole[node, SIZE]
    after = search[_AFTER]
    for index in range(max(before_or_at(nodes, node, after), 0), size):
        if nodes.whole[node, GREATEST + index] < amount:
            search[_BEGIN] = np.inf
            continue
        start = nodes.times[node, index]
        end = node_end if index + 1 == size else nodes.times[node, index + 1]
        is_cut = start < after
        if search[_BEGIN] == np.inf:
            search[_BEGIN], search[_IS_CERTAIN] = (after if is_cut else start), 1.0
        if search[_BEGIN] + search[_DURATION] > search[_LATEST_END]:
            return True
        if nodes.whole[node, LEAST + index] >= amount:
            if _fits(nodes, root, asked, search, start, end):
                return True
            continue
        child, pending = nodes.whole[node, CHILD + index], nodes.whole[node, PENDING + index]
        if not is_cut:
            least = nodes.whole[node, LEAST + index] - pending
            greatest = nodes.whole[node, GREATEST + index] - pending
            level = _run_bounds(nodes, child, least, greatest, amount - pending - 1)
            prefix_end = nodes.times[child, FIRST_BELOW + level]
            last_above = nodes.times[child, LAST_ABOVE + level]
            if (
                nodes.times[child, LONGEST + level] < search[_SHORTEST]
                and (last_above + search[_DURATION] > end or last_above == np.inf)
                and not _fits(nodes, root, asked, search, start, prefix_end)
            ):
                search[_BEGIN], search[_IS_CERTAIN] = last_above, 0.0
                continue
        if _visit(nodes, root, asked, search, child, amount - pending, end):
            return True
    return False


@compiled  # pragma: no cover
def earliest_start(
    whole: Integers,
    times: Floats,
    root: int,
    amount: int,
    duration: float,
    after: float,
    latest_end: float,
) -> Any:
    """Return the first instant with so much free for a duration; infinity if it is too late."""
    nodes, node = Nodes(whole, times, whole[0], 0), root
    while not nodes.whole[node, IS_LEAF]:
        node = nodes.whole[node, CHILD + nodes.whole[node, SIZE] - 1]
    latest = nodes.times[node, nodes.whole[node, SIZE] - 1]
    search = np.empty(6)
    search[_BEGIN] = np.inf
    search[_IS_CERTAIN] = 1.0
    search[_DURATION] = duration
    search[_AFTER] = after
    search[_LATEST_END] = latest_end
    search[_SHORTEST] = duration - ROUNDING * (abs(latest) + abs(after) + duration)
    _visit(nodes, root, amount, search, root, amount, np.inf)
    found = search[_BEGIN]
    return found if found + duration <= latest_end else np.inf


@compiled  # pragma: no cover
def least_free(whole: Integers, times: Floats, root: int, start: float, end: float) -> Any:
    """Return the least free amount in a window."""
    return _least(Nodes(whole, times, whole[0], 0), root, start, end)


@compiled  # pragma: no cover
def run_end(whole: Integers, times: Floats, root: int, amount: int, start: float) -> Any:
    """Return the first instant from `start` on with less than an amount; infinity if none is."""
    return _first_below(Nodes(whole, times, whole[0], 0), root, amount, start)


@compiled  # pragma: no cover
def _least(nodes: Nodes, node: int, start: float, end: float) -> Any:
    first = max(before_or_at(nodes, node, start), 0)
    last = first_from(nodes, node, end)
    least = nodes.whole[node, LEAST + first]
    if nodes.whole[node, IS_LEAF]:
        for index in range(first + 1, last):
            least = min(least, nodes.whole[node, LEAST + index])
        return least
    is_cut = nodes.times[node, first] < start
    least = np.int64(2**62)
    for index in range(first, last):
        ends_after = end < np.inf and (
            index == last - 1 and (last == nodes.whole[node, SIZE] or nodes.times[node, last] > end)
        )
        if (index == first and is_cut) or ends_after:
            inner_end = end if index == last - 1 else np.inf
            child = nodes.whole[node, CHILD + index]
            found = _least(nodes, child, start, inner_end)
            least = min(least, found + nodes.whole[node, PENDING + index])
        else:
            least = min(least, nodes.whole[node, LEAST + index])
    return least


@compiled  # pragma: no cover
def _first_below(nodes: Nodes, node: int, amount: int, start: float) -> Any:
    for index in range(max(before_or_at(nodes, node, start), 0), nodes.whole[node, SIZE]):
        if nodes.whole[node, LEAST + index] < amount:
            if nodes.whole[node, IS_LEAF]:
                return max(nodes.times[node, index], start)
            child = nodes.whole[node, CHILD + index]
            rest = amount - nodes.whole[node, PENDING + index]
            found = _first_below(nodes, child, rest, start)
            if found < np.inf:
                return found
    return np.inf


@compiled  # pragma: no cover
def collect(
    nodes: Nodes,
    node: int,
    pending: int,
    start: float,
    end: float,
    starts: Floats,
    amounts: Integers,
    count: int,
) -> Any:
    """Enter when each amount in a window begins; return how many there are, with those before."""
    for index in range(max(before_or_at(nodes, node, start), 0), nodes.whole[node, SIZE]):
        if nodes.times[node, index] >= end or count == starts.size:
            break
        if nodes.whole[node, IS_LEAF]:
            starts[count] = nodes.times[node, index]
            amounts[count] = nodes.whole[node, LEAST + index] + pending
            count += 1
        else:
            child = nodes.whole[node, CHILD + index]
            more = pending + nodes.whole[node, PENDING + index]
            count = collect(nodes, child, more, start, end, starts, amounts, count)
    return count
