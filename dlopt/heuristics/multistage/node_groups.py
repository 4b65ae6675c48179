"""What is taken, for the planner: nodes that are free at the same times stand in one group.

The planner asks from when on a node can be served, and until when. A node that is free while the
channel is taken cannot be, so such a time may count as taken: of a node that waits until it is
served, the time from the instant at which it can receive; of one that is not served in a stage,
though there is load left, the whole stage. Nodes that are served in the same stages, whenever each
is, then stay equal; only the last stage of a task divides them. What is planned is the same; who
asks whether a node is free must ask `dlopt.heuristics.multistage.busy_intervals.BusyIntervals`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple, Protocol, TypeAlias

from dlopt.arithmetic import Number
from dlopt.heuristics.multistage.busy_intervals import (
    ReservedWindow,
    first_free,
    insert_interval,
    with_interval,
    without_past,
)

Positions: TypeAlias = Sequence[int]
"""Places in the order in which nodes can receive, increasing."""


class NodeGroup(NamedTuple):
    """Nodes that are taken at the same times."""

    earliest: Number
    """They cannot receive before it; it may be too early, and is improved."""
    busy: list[Number]
    nodes: tuple[int, ...]


class GroupAllocation(NamedTuple):
    """Nodes of a group, the first ones, that a plan takes."""

    group: int
    size: int
    """How many of the first nodes these are, with those of the moves before."""
    filled: dict[int, Number]
    """Gaps between busy times, by the index of their end, and until when each is taken."""


class GroupPlan(Protocol):
    """A plan of one task in terms of groups of nodes."""

    def transmissions(self) -> Iterator[tuple[Number, Number]]:
        """Yield when the channel is busy."""

    def group_allocations(self) -> Iterator[GroupAllocation]:
        """Yield the nodes of each group that the plan uses."""


class NodeGroups:
    """What is taken of the channel and of groups of nodes.

    Lists are replaced and never changed, so that copies share them.

    Parameters
    ----------
    channel : list of Number
    groups : list of Group
    """

    __slots__ = ("channel", "groups")

    def __init__(self, channel: list[Number], groups: list[NodeGroup]) -> None:
        self.channel = channel
        self.groups = groups

    @classmethod
    def from_busy(cls, channel: list[Number], nodes: Sequence[list[Number]]) -> NodeGroups:
        """Return groups of nodes that are taken at given times."""
        state = cls(channel, [])
        state._add((0, busy, (node,)) for node, busy in enumerate(nodes))
        return state

    @classmethod
    def of(cls, ready: Sequence[Number], channel: Number, now: Number) -> NodeGroups:
        """Return a cluster whose nodes and channel are taken until they are ready.

        What is free at `now` is not taken at all.
        """
        busy = [[now * 0, instant] if instant > now else [] for instant in ready]
        return cls.from_busy([now * 0, channel] if channel > now else [], busy)

    @property
    def nodes(self) -> list[list[Number]]:
        """When each node is taken."""
        pairs = [(node, busy) for _, busy, nodes in self.groups for node in nodes]
        return [busy for _, busy in sorted(pairs)]

    def copy(self) -> NodeGroups:
        """Return a copy that shares nothing that changes. Complexity: a pointer for each group."""
        return NodeGroups(self.channel, self.groups.copy())

    def allocate(self, plan: GroupPlan) -> None:
        """Take what a plan of the planner needs."""
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

    def reserve(self, window: ReservedWindow, known: dict[int, Any]) -> None:
        """Take what a reservation needs.

        Parameters
        ----------
        window : Window
        known : dict
            What the same reservation made of objects before, by their ``id``, with the objects:
            copies share most of theirs, and go on sharing.
        """
        self.channel = _with_interval_cached(self.channel, window.start, window.io_end, known)
        groups, self.groups = self.groups, []
        for group in groups:
            found = known.get(id(group))
            if found is None:
                found = known[id(group)] = group, _split_group(group, window, known)
            self.groups += found[1]

    def purge(self, now: Number) -> None:
        """Drop what ended at an instant or before it: nothing is planned there any more."""
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
    """Nodes of a group that stand in a line."""

    group: int
    busy: list[Number]
    positions: Positions
    instant: Number
    """When they can receive."""


class ReceptionOrder:
    """Nodes in the order in which they can receive first; of two at one instant, by number.

    A node can receive when it is free and the channel is. It is found out only for as many nodes
    as are asked for. What a state was found to be once is the least that it can be later, and the
    least for every state that has more taken: it is kept, and copies begin with it.

    Parameters
    ----------
    state : Groups
    lo : Number
    until : Number
        Nodes that cannot receive before it are left out.

    Attributes
    ----------
    order : list of int
        As far as it is known.
    parts : list of Part
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
        """Find out the first nodes, and return how many there are, `count` at the most."""
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
        """Yield the parts of the first nodes, which are known."""
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
        """Make one group of those that differ only in what was before they can receive."""
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
    >>> _with_gaps_filled([4, 6, 9, 10], {0: 4, 2: 8}), _with_gaps_filled([0, 2, 4, 6], {2: 4}), _with_gaps_filled([], {0: 2})
    ([0, 8, 9, 10], [0, 6], [0, 2])
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
    """Return what a reservation makes of a group: nodes without it, and with it."""
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
