"""The earliest instant from which on an amount is free for a duration, in an availability profile.

A run is a maximal window in which at least the requested amount is free. The search visits the tree
from left to right and skips every node that it need not enter. If the least free amount in a node
suffices, the node belongs to one run; if the greatest does not, no run reaches into it. Any other
node is entered only if a run of sufficient length can begin, end or lie in it. This is decided by
`run_bounds`, which are computed for `LEVELS` amounts between the least and the greatest in the
node, and used for the greatest of these that is below the requested amount: since windows with more
free than that are at least as long, no run is missed. Each node keeps its bounds until an amount in
it changes.

Complexity: O((1 + m) log n) for n steps if all bounds are known, where m is the number of nodes
that are entered although no sufficient run is there. Each change invalidates the bounds of O(log n)
nodes, which are computed again on demand, once per level. If the free amounts within each node
differ by at most `LEVELS` units, the bounds are exact and m = 0. This is so for the node of a
cluster, which is free or busy, however many gaps are too short. In general m is small unless many
runs are only a little too short. The worst case is linear: free amounts on both sides of the
requested amount that lie between the same two levels, in runs that are all too short. We know of no
structure with polylogarithmic time for all amounts, durations and changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right

from dlopt.calendar.profile_nodes import Instant, Node, Units

LEVELS = 16
"""Amounts per node for which bounds are computed. Chosen by hand: twice as many would tighten the
bounds and take twice the memory in `dlopt.calendar.profile_nodes_numba`."""
ROUNDING = 2.0**-50
"""Relative error of a difference of two instants that are floats, with a reserve of factor 4."""


def run_bounds(
    node: Node, least: Units, greatest: Units, limit: Units
) -> tuple[Instant, Instant, Instant]:
    """Return bounds on the windows in a node in which more than a limit is free.

    Parameters
    ----------
    node : Node
    least, greatest : Units
        The least and the greatest amount in the node, ``least <= limit < greatest``.
    limit : Units

    Returns
    -------
    first_below : Number
        No window from the begin of the node on lasts longer.
    longest : Number
        No window that neither begins nor ends with the node is longer.
    last_above : Number
        No window to the end of the node begins earlier; infinity if there is none.

    Examples
    --------
    >>> from dlopt.calendar.profile_nodes import Node
    >>> amounts = [5, 0, 5, 1, 5]
    >>> leaf = Node(None, [0, 2, 3, 7, 8], amounts, amounts)
    >>> run_bounds(leaf, 0, 5, 0), run_bounds(leaf, 0, 5, 2)
    ((2, 0, 3), (2, 4, 8))
    """
    width = greatest - least
    if width > LEVELS:
        level = (limit - least) * LEVELS // width
        if least + (level + 1) * width // LEVELS <= limit:
            level += 1
        limit = least + level * width // LEVELS
    else:
        level = (limit - least) // 1  # of fractions, too
        limit = least + level
    known = node.bounds.get(level)
    if known is None:
        known = node.bounds[level] = _computed(node, limit)
    return known


def _computed(node: Node, limit: Units) -> tuple[Instant, Instant, Instant]:
    """Compute `run_bounds` for a limit from the entries of a node."""
    first_below: Instant = None
    longest: Instant = 0
    begin: Instant = (
        math.inf
    )  # of the window that is open; infinity if none is, or it is the first one
    for index, start in enumerate(node.starts):
        if node.least[index] > limit:
            if first_below is not None and begin == math.inf:
                begin = start
            continue
        end, inside, following = start, 0, math.inf
        if node.greatest[index] > limit:
            pending = node.pending[index]
            least, greatest = node.least[index] - pending, node.greatest[index] - pending
            end, inside, following = run_bounds(
                node.children[index], least, greatest, limit - pending
            )
        if first_below is None:
            first_below = end
        else:
            longest = max(longest, end - min(begin, start))
        longest = max(longest, inside)
        begin = following
    return first_below, longest, begin


class EarliestFit:
    """One search for an earliest start.

    Parameters
    ----------
    root : Node
    amount : Units
    duration, after, latest_end : Number
        The last may be infinite.
    """

    __slots__ = (
        "_after",
        "_amount",
        "_begin",
        "_duration",
        "_is_certain",
        "_latest_end",
        "_root",
        "_shortest",
    )

    def __init__(
        self, root: Node, amount: Units, duration: Instant, after: Instant, latest_end: Instant
    ) -> None:
        self._root = root
        self._amount = amount
        self._duration = duration
        self._after = after
        self._latest_end = latest_end
        # The run that reaches the entry looked at: when it begins, at the earliest; infinity if
        # there is none. It begins exactly then if it is certain.
        self._begin: Instant = math.inf
        self._is_certain = True
        # A run that is long enough may be shorter in floats, for its ends are rounded.
        self._shortest = duration - ROUNDING * (abs(_latest(root)) + abs(after) + duration)

    def start(self) -> Instant | None:
        """Return the first instant, or None if the latest end is too early."""
        self._visit(self._root, self._amount, math.inf)
        if self._begin == math.inf or self._begin + self._duration > self._latest_end:
            return None
        return self._begin

    def _visit(self, node: Node, amount: Units, node_end: Instant) -> bool:
        """Look for the start in a node; tell whether the search is over.

        It is if the start is found or would be too late. `amount` is relative to what is pending
        above the node.
        """
        starts, least, greatest = node.starts, node.least, node.greatest
        last, limit = len(starts) - 1, amount - 1
        for index in range(max(bisect_right(starts, self._after) - 1, 0), last + 1):
            if greatest[index] < amount:
                self._begin = math.inf
                continue
            start, end = starts[index], node_end if index == last else starts[index + 1]
            is_cut = start < self._after
            if self._begin == math.inf:
                self._begin, self._is_certain = (self._after if is_cut else start), True
            if self._begin + self._duration > self._latest_end:
                return True
            if least[index] >= amount:
                if self._fits(start, end):
                    return True
                continue
            pending = node.pending[index]
            if not is_cut:
                first_below, longest, last_above = run_bounds(
                    node.children[index],
                    least[index] - pending,
                    greatest[index] - pending,
                    (limit if limit > least[index] else least[index]) - pending,
                )
                if (
                    longest < self._shortest
                    and (last_above + self._duration > end or last_above == math.inf)
                    and not self._fits(start, first_below)
                ):
                    self._begin, self._is_certain = last_above, False
                    continue
            if self._visit(node.children[index], amount - pending, end):
                return True
        return False

    def _fits(self, instant: Instant, end: Instant) -> bool:
        """Tell whether the run that reaches an instant is long enough if it lasts until `end`."""
        if self._begin + self._duration > end:
            return False
        if not self._is_certain:
            found = _run_begin(self._root, self._amount, instant, math.inf)
            self._begin, self._is_certain = max(found, self._after), True
        return bool(self._begin + self._duration <= end)


def _latest(root: Node) -> Instant:
    """Return the last instant at which the profile changes."""
    while root.children is not None:
        root = root.children[-1]
    return root.starts[-1]


def _run_begin(node: Node, amount: Units, instant: Instant, node_end: Instant) -> Instant:
    """Return the end of the last entry before an instant with less than an amount."""
    starts = node.starts
    for index in range(bisect_left(starts, instant) - 1, -1, -1):
        if node.least[index] < amount:
            end = starts[index + 1] if index + 1 < len(starts) else node_end
            if node.children is None:
                return end
            found = _run_begin(node.children[index], amount - node.pending[index], instant, end)
            if found > -math.inf:
                return found
    return -math.inf
