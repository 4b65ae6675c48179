"""The search of `dlopt.calendar.earliest_fit`, and other questions, compiled for arrays.

See `dlopt.calendar.profile_tree_numba` for the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dlopt.calendar.earliest_fit import LEVELS, ROUNDING
from dlopt.calendar.profile_tree_numba import (
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
    before_or_at,
    compiled,
    first_from,
)

# What a search knows: the run that reaches the entry looked at (see `EarliestFit`), the question,
# and the amount asked for.
_BEGIN, _IS_CERTAIN, _DURATION, _AFTER, _LATEST_END, _SHORTEST = range(6)


@compiled
def _gap_bound(  # pragma: no cover
    whole: Any, times: Any, node: Any, least: Any, greatest: Any, limit: Any
) -> Any:
    """Return the level at which the bounds on windows with more than a limit stand in the node."""
    width = greatest - least
    level = limit - least
    if width > LEVELS:
        level = level * LEVELS // width
        if least + (level + 1) * width // LEVELS <= limit:
            level += 1
        limit = least + level * width // LEVELS
    if whole[node, KNOWN] >> level & 1:
        return level
    first_below, longest, begin = np.inf, 0.0, np.inf
    is_first = True
    for index in range(whole[node, SIZE]):
        start = times[node, index]
        if whole[node, LEAST + index] > limit:
            if not is_first and begin == np.inf:
                begin = start
            continue
        end, following = start, np.inf
        if whole[node, GREATEST + index] > limit:
            child, pending = whole[node, CHILD + index], whole[node, PENDING + index]
            least = whole[node, LEAST + index] - pending
            greatest = whole[node, GREATEST + index] - pending
            inner = _gap_bound(whole, times, child, least, greatest, limit - pending)
            end = times[child, FIRST_BELOW + inner]
            longest = max(longest, times[child, LONGEST + inner])
            following = times[child, LAST_ABOVE + inner]
        if is_first:
            first_below, is_first = end, False
        else:
            longest = max(longest, end - min(begin, start))
        begin = following
    times[node, FIRST_BELOW + level] = first_below
    times[node, LONGEST + level] = longest
    times[node, LAST_ABOVE + level] = begin
    whole[node, KNOWN] |= 1 << level
    return level


@compiled
def _run_begin(  # pragma: no cover
    whole: Any, times: Any, node: Any, amount: Any, instant: Any, node_end: Any
) -> Any:
    """Return the end of the last entry before an instant with less than an amount."""
    size = whole[node, SIZE]
    for index in range(first_from(whole, times, node, instant) - 1, -1, -1):
        if whole[node, LEAST + index] < amount:
            end = times[node, index + 1] if index + 1 < size else node_end
            if whole[node, IS_LEAF]:
                return end
            child, rest = whole[node, CHILD + index], amount - whole[node, PENDING + index]
            found = _run_begin(whole, times, child, rest, instant, end)
            if found > -np.inf:
                return found
    return -np.inf


@compiled
def _fits(  # pragma: no cover
    whole: Any, times: Any, root: Any, asked: Any, search: Any, instant: Any, end: Any
) -> Any:
    """Tell whether the run that reaches an instant is long enough if it lasts until `end`."""
    if search[_BEGIN] + search[_DURATION] > end:
        return False
    if not search[_IS_CERTAIN]:
        found = _run_begin(whole, times, root, asked, instant, np.inf)
        search[_BEGIN] = max(found, search[_AFTER])
        search[_IS_CERTAIN] = 1.0
    return search[_BEGIN] + search[_DURATION] <= end


@compiled
def _visit(  # pragma: no cover
    whole: Any,
    times: Any,
    root: Any,
    asked: Any,
    search: Any,
    node: Any,
    amount: Any,
    node_end: Any,
) -> Any:
    """Look for the start in a node; tell whether the search is over."""
    size = whole[node, SIZE]
    after = search[_AFTER]
    for index in range(max(before_or_at(whole, times, node, after), 0), size):
        if whole[node, GREATEST + index] < amount:
            search[_BEGIN] = np.inf
            continue
        start, end = times[node, index], node_end if index + 1 == size else times[node, index + 1]
        is_cut = start < after
        if search[_BEGIN] == np.inf:
            search[_BEGIN], search[_IS_CERTAIN] = (after if is_cut else start), 1.0
        if search[_BEGIN] + search[_DURATION] > search[_LATEST_END]:
            return True
        if whole[node, LEAST + index] >= amount:
            if _fits(whole, times, root, asked, search, start, end):
                return True
            continue
        child, pending = whole[node, CHILD + index], whole[node, PENDING + index]
        if not is_cut:
            least = whole[node, LEAST + index] - pending
            greatest = whole[node, GREATEST + index] - pending
            level = _gap_bound(whole, times, child, least, greatest, amount - pending - 1)
            prefix_end = times[child, FIRST_BELOW + level]
            last_above = times[child, LAST_ABOVE + level]
            if (
                times[child, LONGEST + level] < search[_SHORTEST]
                and (last_above + search[_DURATION] > end or last_above == np.inf)
                and not _fits(whole, times, root, asked, search, start, prefix_end)
            ):
                search[_BEGIN], search[_IS_CERTAIN] = last_above, 0.0
                continue
        if _visit(whole, times, root, asked, search, child, amount - pending, end):
            return True
    return False


@compiled
def earliest_start(  # pragma: no cover
    whole: Any, times: Any, root: Any, amount: Any, duration: Any, after: Any, latest_end: Any
) -> Any:
    """Return the first instant with so much free for a duration; infinity if it is too late."""
    node = root
    while not whole[node, IS_LEAF]:
        node = whole[node, CHILD + whole[node, SIZE] - 1]
    latest = times[node, whole[node, SIZE] - 1]
    search = np.empty(6)
    search[_BEGIN] = np.inf
    search[_IS_CERTAIN] = 1.0
    search[_DURATION] = duration
    search[_AFTER] = after
    search[_LATEST_END] = latest_end
    search[_SHORTEST] = duration - ROUNDING * (abs(latest) + abs(after) + duration)
    _visit(whole, times, root, amount, search, root, amount, np.inf)
    found = search[_BEGIN]
    return found if found + duration <= latest_end else np.inf


@compiled
def least_free(  # pragma: no cover
    whole: Any, times: Any, node: Any, start: Any, end: Any
) -> Any:
    """Return the least free amount in a window."""
    first = max(before_or_at(whole, times, node, start), 0)
    last = first_from(whole, times, node, end)
    least = whole[node, LEAST + first]
    if whole[node, IS_LEAF]:
        for index in range(first + 1, last):
            least = min(least, whole[node, LEAST + index])
        return least
    is_cut = times[node, first] < start
    least = np.int64(2**62)
    for index in range(first, last):
        ends_after = end < np.inf and (
            index == last - 1 and (last == whole[node, SIZE] or times[node, last] > end)
        )
        if (index == first and is_cut) or ends_after:
            inner_end = end if index == last - 1 else np.inf
            child = whole[node, CHILD + index]
            found = least_free(whole, times, child, start, inner_end)
            least = min(least, found + whole[node, PENDING + index])
        else:
            least = min(least, whole[node, LEAST + index])
    return least


@compiled
def first_below(
    whole: Any, times: Any, node: Any, amount: Any, start: Any
) -> Any:  # pragma: no cover
    """Return the first instant from `start` on with less than an amount; infinity if none is."""
    for index in range(max(before_or_at(whole, times, node, start), 0), whole[node, SIZE]):
        if whole[node, LEAST + index] < amount:
            if whole[node, IS_LEAF]:
                return max(times[node, index], start)
            child, rest = whole[node, CHILD + index], amount - whole[node, PENDING + index]
            found = first_below(whole, times, child, rest, start)
            if found < np.inf:
                return found
    return np.inf


@compiled
def collect(  # pragma: no cover
    whole: Any,
    times: Any,
    node: Any,
    pending: Any,
    start: Any,
    end: Any,
    starts: Any,
    amounts: Any,
    count: Any,
) -> Any:
    """Enter when each amount in a window begins; return how many there are, with those before."""
    for index in range(max(before_or_at(whole, times, node, start), 0), whole[node, SIZE]):
        if times[node, index] >= end or count == starts.size:
            break
        if whole[node, IS_LEAF]:
            starts[count] = times[node, index]
            amounts[count] = whole[node, LEAST + index] + pending
            count += 1
        else:
            child, more = whole[node, CHILD + index], pending + whole[node, PENDING + index]
            count = collect(whole, times, child, more, start, end, starts, amounts, count)
    return count
