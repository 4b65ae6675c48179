"""Busy intervals for the planner: nodes that are free at the same times form one group.

The planner needs the interval in which a node can be served. A node that is free while the channel
is busy cannot be served, so such a time may count as busy: of a node that waits until it is served,
the time from the instant at which it can receive; of one that is not served in a stage although
there is load left, the whole stage. Nodes that are served in the same stages, at whatever time,
then stay identical; only the last stage of a task splits them. The resulting plans are the same,
but whether a node is free must be looked up in
`dlopt.heuristics.multistage.busy_intervals.BusyIntervals`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple, Protocol, TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    ReservedWindow,
    TimedChunk,
    first_free,
    insert_interval,
    with_interval,
    without_past,
)

Positions: TypeAlias = Sequence[int]
"""Positions in the order in which nodes can receive, increasing."""


class NodeGroup(NamedTuple):
    """Nodes that are busy at the same times."""

    earliest: Number
    """A lower bound on when they can receive; it is improved over time."""
    busy: list[Number]
    nodes: tuple[int, ...]


class GroupAllocation(NamedTuple):
    """The first nodes of a group, which a plan uses."""

    group: int
    size: int
    """The number of these first nodes, with those of the allocations before."""
    filled: dict[int, Number]
    """Gaps between busy times, by the index of their end, and until when each is busy."""


class GroupPlan(Protocol):
    """A plan of one task in terms of groups of nodes."""

    def transmissions(self) -> Iterator[tuple[Number, Number]]:
        """Yield when the channel is busy."""

    def group_allocations(self) -> Iterator[GroupAllocation]:
        """Yield the nodes of each group that the plan uses."""


class NodeGroups:
    """The busy intervals of the channel and of groups of nodes.

    Lists are replaced and never changed, so that copies share them.

    Parameters
    ----------
    channel : list of Number
    groups : list of NodeGroup
    """

    __slots__ = ("channel", "groups")

    def __init__(self, channel: list[Number], groups: list[NodeGroup]) -> None:
        self.channel = channel
        self.groups = groups

    @classmethod
    def from_busy(cls, channel: list[Number], nodes: Sequence[list[Number]]) -> NodeGroups:
        """Return groups of nodes that are busy at given times."""
        state = cls(channel, [])
        state._add((0, busy, (node,)) for node, busy in enumerate(nodes))
        return state

    @classmethod
    def of(cls, ready: Sequence[Number], channel: Number, now: Number) -> NodeGroups:
        """Return a cluster whose nodes and channel are busy until they are ready.

        What is free at `now` has no busy time at all.
        """
        busy = BusyIntervals.of(ready, channel, now)
        return cls.from_busy(busy.channel, busy.nodes)

    @property
    def nodes(self) -> list[list[Number]]:
        """The busy intervals of each node."""
        pairs = [(node, busy) for _, busy, nodes in self.groups for node in nodes]
        return [busy for _, busy in sorted(pairs)]

    def copy(self) -> NodeGroups:
        """Return a copy that shares nothing that changes. Complexity: a pointer for each group."""
        return NodeGroups(self.channel, self.groups.copy())

    def allocate(self, plan: GroupPlan) -> None:
        """Allocate channel and nodes to a plan of the planner."""
        self.channel = self.channel.copy()
        for start, sent in plan.transmissions():
            insert_interval(self.channel, start, sent)
        found, done = [], dict[int, int]()
        for at, count, filled in plan.group_allocations():
            earliest, busy, nodes = self.groups[at]
            found.append(
                (earliest, _with_gaps_filled(busy, filled), nodes[done.get(at, 0) : count])
            )
            done[at] = count
        for at, size in done.items():
            self.groups[at] = self.groups[at]._replace(nodes=self.groups[at].nodes[size:])
        self.groups = [group for group in self.groups if group.nodes]
        self._add(found)

    def occupy(self, chunks: Iterable[TimedChunk]) -> None:
        """Allocate channel and nodes to chunks, however they were planned."""
        self.channel = self.channel.copy()
        added: dict[int, list[TimedChunk]] = {}
        for chunk in chunks:
            added.setdefault(chunk.node, []).append(chunk)
            if chunk.sent > chunk.start:
                insert_interval(self.channel, chunk.start, chunk.sent)
        groups, self.groups, found = self.groups, [], []
        for group in groups:
            inside = [node for node in group.nodes if node in added]
            if not inside:
                self.groups.append(group)
                continue
            if len(inside) < len(group.nodes):
                outside = tuple(node for node in group.nodes if node not in added)
                self.groups.append(group._replace(nodes=outside))
            for node in inside:
                busy = group.busy.copy()
                for chunk in added[node]:
                    insert_interval(busy, chunk.start, chunk.end)
                found.append((group.earliest, busy, (node,)))
        self._add(found)

    def reserve(self, window: ReservedWindow, known: dict[int, Any]) -> None:
        """Allocate channel and nodes to a reservation.

        Parameters
        ----------
        window : ReservedWindow
        known : dict
            The objects that the same reservation changed before, by their ``id``, with the results:
            copies share most of their objects, and go on sharing.
        """
        self.channel = _with_interval_cached(self.channel, window.start, window.io_end, known)
        groups, self.groups = self.groups, []
        for group in groups:
            found = known.get(id(group))
            if found is None:
                found = known[id(group)] = group, _split_group(group, window, known)
            self.groups += found[1]

    def purge(self, now: Number) -> None:
        """Discard what ended at an instant or before it: nothing is planned there any more."""
        self.channel = without_past(self.channel, now)
        groups, self.groups = self.groups, []
        self._add((earliest, without_past(busy, now), nodes) for earliest, busy, nodes in groups)

    def reception_order(self, lo: Number, until: Number) -> ReceptionOrder:
        """Return the nodes in the order in which they can receive from `lo` on."""
        return ReceptionOrder(self, lo, until)

    def _add(self, groups: Iterable[tuple[Number, list[Number], tuple[int, ...]]]) -> None:
        """Add groups, those that are equal as one."""
        equal: dict[tuple[Number, ...], NodeGroup] = {}
        for earliest, busy, nodes in groups:
            key = tuple(busy)
            before = equal.get(key)
            if before is not None:
                earliest, busy = min(earliest, before.earliest), before.busy
                nodes = tuple(sorted(before.nodes + nodes))
            equal[key] = NodeGroup(earliest, busy, nodes)
        self.groups += equal.values()


class OrderedGroup(NamedTuple):
    """Nodes of a group with their positions in the reception order."""

    group: int
    busy: list[Number]
    positions: Positions
    instant: Number
    """When they can receive."""


class ReceptionOrder:
    """Nodes in the order in which they can receive first; of two at one instant, by number.

    A node can receive when both it and the channel are free. This is computed lazily, for as many
    nodes as needed. A computed instant is a lower bound for all later times and for every state
    with more allocations: it is stored, and copies begin with it.

    Parameters
    ----------
    state : NodeGroups
    lo : Number
    until : Number
        Nodes that cannot receive before it are left out.

    Attributes
    ----------
    order : list of int
        As far as it is known.
    ordered_groups : list of OrderedGroup
        Those that can receive at one instant come together or not at all.
    """

    __slots__ = ("_first", "_heap", "_state", "_until", "order", "ordered_groups")

    def __init__(self, state: NodeGroups, lo: Number, until: Number) -> None:
        self._state, self._until = state, until
        self._first = first_free(state.channel, lo)
        self._heap = [(group.earliest, at) for at, group in enumerate(state.groups) if group.nodes]
        heapify(self._heap)
        self.order: list[int] = []
        self.ordered_groups: list[OrderedGroup] = []

    def extend_to(self, count: int) -> int:
        """Determine the first nodes, and return how many there are, `count` at the most."""
        while len(self.order) < count:
            merged_groups = self._merge_equivalent(self._next())
            if not merged_groups:
                return len(self.order)
            first = len(self.order)
            groups = [self._state.groups[at] for _, at in merged_groups]
            if len(groups) == 1:
                self.order += groups[0].nodes
                ranges: list[Positions] = [range(first, len(self.order))]
            else:
                self.order += sorted(node for group in groups for node in group.nodes)
                place = {self.order[at]: at for at in range(first, len(self.order))}
                ranges = [[place[node] for node in group.nodes] for group in groups]
            for (instant, at), group, positions in zip(merged_groups, groups, ranges, strict=True):
                self.ordered_groups.append(OrderedGroup(at, group.busy, positions, instant))
        return count

    def first(self, count: int) -> Iterator[OrderedGroup]:
        """Yield the groups of the first nodes, which are determined already."""
        for part in self.ordered_groups:
            positions = part.positions
            if positions[-1] < count:
                yield part
            elif positions[0] < count:
                yield part._replace(positions=positions[: bisect_left(positions, count)])

    def _next(self) -> list[tuple[Number, int]]:
        """Return the groups that can receive next, all at one instant."""
        heap, channel, groups = self._heap, self._state.channel, self._state.groups
        found: list[tuple[Number, int]] = []
        while heap and heap[0][0] < self._until:
            known, at = heap[0]
            if found and known > found[0][0]:
                break
            instant = max(known, self._first)
            _, busy, nodes = groups[at]
            while True:
                index = bisect_right(channel, instant)
                if index % 2:
                    instant = channel[index]
                index = bisect_right(busy, instant)
                if index % 2 == 0:
                    break
                instant = busy[index]
            if instant > known:
                heapreplace(heap, (instant, at))
                groups[at] = NodeGroup(instant, busy, nodes)
            else:
                found.append(heappop(heap))
        return found

    def _merge_equivalent(self, found: list[tuple[Number, int]]) -> list[tuple[Number, int]]:
        """Merge groups that differ only in times before they can receive."""
        if len(found) < 2:
            return found
        groups = self._state.groups
        equivalent: dict[tuple[Number, ...], tuple[Number, list[int]]] = {}
        for instant, at in found:
            busy = groups[at].busy
            rest = tuple(busy[bisect_right(busy, instant) :])
            equivalent.setdefault(rest, (instant, []))[1].append(at)
        for _, members in equivalent.values():
            if len(members) > 1:
                nodes = tuple(sorted(node for at in members for node in groups[at].nodes))
                groups[members[0]] = groups[members[0]]._replace(nodes=nodes)
                for at in members[1:]:
                    groups[at] = groups[at]._replace(nodes=())
        return [(instant, members[0]) for instant, members in equivalent.values()]


def _with_gaps_filled(busy: list[Number], filled: dict[int, Number]) -> list[Number]:
    """Return busy times with gaps filled from their start, or from the beginning of time, on.

    Examples
    --------
    >>> _with_gaps_filled([4, 6, 9, 10], {0: 4, 2: 8}), _with_gaps_filled([0, 2, 4, 6], {2: 4})
    ([0, 8, 9, 10], [0, 6])
    >>> _with_gaps_filled([], {0: 2})
    [0, 2]
    """
    busy = busy.copy()
    for at, stop in sorted(filled.items(), reverse=True):
        touches = at < len(busy) and busy[at] == stop
        if not at:
            busy[: int(touches)] = [stop * 0] if touches else [stop * 0, stop]
        elif touches:
            del busy[at - 1 : at + 1]
        else:
            busy[at - 1] = stop
    return busy


def _split_group(
    group: NodeGroup, window: ReservedWindow, known: dict[int, Any]
) -> list[NodeGroup]:
    """Split a group by a reservation: nodes with it, and without it."""
    inside = tuple(sorted(set(group.nodes).intersection(window.nodes)))
    if not inside:
        return [group]
    busy = _with_interval_cached(group.busy, window.start, window.end, known)
    found = [NodeGroup(group.earliest, busy, inside)]
    if len(inside) < len(group.nodes):
        outside = tuple(sorted(set(group.nodes).difference(inside)))
        found.append(group._replace(nodes=outside))
    return found


def _with_interval_cached(
    busy: list[Number], start: Number, end: Number, known: dict[int, Any]
) -> list[Number]:
    # The old list is kept with the new one: an id may be given again once a list is gone.
    if id(busy) not in known:
        known[id(busy)] = busy, with_interval(busy, start, end)
    found: list[Number] = known[id(busy)][1]
    return found
