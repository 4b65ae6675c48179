"""What is taken, for the planner: nodes that are free at the same times stand in one group.

The planner asks from when on a node can be served, and until when. A node that is free while the
channel is taken cannot be, so such a time may count as taken: of a node that waits until it is
served, the time from the instant at which it can receive; of one that is not served in a stage,
though there is load left, the whole stage. Nodes that are served in the same stages, whenever each
is, then stay equal; only the last stage of a task divides them. What is planned is the same; who
asks whether a node is free must ask `dlopt.heuristics.multistage.busy_intervals.Blocks`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Any, NamedTuple, TypeAlias

from dlopt.heuristics.multistage.busy_intervals import Window, free_from, join, joined, since

Places: TypeAlias = Sequence[int]
"""Places in the order in which nodes can receive, increasing."""


class Group(NamedTuple):
    """Nodes that are taken at the same times."""

    earliest: Any
    """They cannot receive before it; it may be too early, and is improved."""
    taken: list[Any]
    nodes: tuple[int, ...]


class Move(NamedTuple):
    """Nodes of a group, the first ones, that a plan takes."""

    group: int
    size: int
    """How many of the first nodes these are, with those of the moves before."""
    filled: dict[int, Any]
    """Gaps between busy times, by the index of their end, and until when each is taken."""


class Groups:
    """What is taken of the channel and of groups of nodes.

    Lists are replaced and never changed, so that copies share them.

    Parameters
    ----------
    channel : list of Number
    groups : list of Group
    """

    __slots__ = ("channel", "groups")

    def __init__(self, channel: list[Any], groups: list[Group]) -> None:
        self.channel = channel
        self.groups = groups

    @classmethod
    def around(cls, channel: list[Any], nodes: Sequence[list[Any]]) -> Groups:
        """Return groups of nodes that are taken at given times."""
        state = cls(channel, [])
        state._add((0, taken, (node,)) for node, taken in enumerate(nodes))
        return state

    @classmethod
    def of(cls, ready: Sequence[Any], channel: Any, now: Any) -> Groups:
        """Return a cluster whose nodes and channel are taken until they are ready.

        What is free at `now` is not taken at all.
        """
        taken = [[now * 0, instant] if instant > now else [] for instant in ready]
        return cls.around([now * 0, channel] if channel > now else [], taken)

    @property
    def nodes(self) -> list[list[Any]]:
        """When each node is taken."""
        pairs = [(node, taken) for _, taken, nodes in self.groups for node in nodes]
        return [taken for _, taken in sorted(pairs)]

    def copy(self) -> Groups:
        """Return a copy that shares nothing that changes. Complexity: a pointer for each group."""
        return Groups(self.channel, self.groups.copy())

    def hold(self, plan: Any) -> None:
        """Take what a plan of the planner needs."""
        self.channel = self.channel.copy()
        for start, sent in plan.transmissions():
            join(self.channel, start, sent)
        found, done = [], dict[int, int]()
        for at, count, filled in plan.moves():
            earliest, taken, nodes = self.groups[at]
            found.append((earliest, _filled(taken, filled), nodes[done.get(at, 0) : count]))
            done[at] = count
        for at, size in done.items():
            self.groups[at] = self.groups[at]._replace(nodes=self.groups[at].nodes[size:])
        self.groups = [group for group in self.groups if group.nodes]
        self._add(found)

    def reserve(self, window: Window, known: dict[int, Any]) -> None:
        """Take what a reservation needs.

        Parameters
        ----------
        window : Window
        known : dict
            What the same reservation made of objects before, by their ``id``, with the objects:
            copies share most of theirs, and go on sharing.
        """
        self.channel = _entered(self.channel, window.start, window.io_end, known)
        groups, self.groups = self.groups, []
        for group in groups:
            found = known.get(id(group))
            if found is None:
                found = known[id(group)] = group, _divided(group, window, known)
            self.groups += found[1]

    def forget(self, now: Any) -> None:
        """Drop what ended at an instant or before it: nothing is planned there any more."""
        self.channel = since(self.channel, now)
        groups, self.groups = self.groups, []
        self._add((earliest, since(taken, now), nodes) for earliest, taken, nodes in groups)

    def line(self, lo: Any, until: Any) -> Line:
        """Return the nodes in the order in which they can receive from `lo` on."""
        return Line(self, lo, until)

    def _add(self, groups: Iterable[tuple[Any, list[Any], tuple[int, ...]]]) -> None:
        """Add groups, those that are equal as one."""
        equal: dict[tuple[Any, ...], Group] = {}
        for earliest, taken, nodes in groups:
            key = tuple(taken)
            before = equal.get(key)
            if before is not None:
                earliest, taken = min(earliest, before.earliest), before.taken
                nodes = tuple(sorted(before.nodes + nodes))
            equal[key] = Group(earliest, taken, nodes)
        self.groups += equal.values()


class Part(NamedTuple):
    """Nodes of a group that stand in a line."""

    group: int
    taken: list[Any]
    places: Places
    instant: Any
    """When they can receive."""


class Line:
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

    __slots__ = ("_first", "_heap", "_state", "_until", "order", "parts")

    def __init__(self, state: Groups, lo: Any, until: Any) -> None:
        self._state, self._until = state, until
        self._first = free_from(state.channel, lo)
        self._heap = [(group.earliest, at) for at, group in enumerate(state.groups) if group.nodes]
        heapify(self._heap)
        self.order: list[int] = []
        self.parts: list[Part] = []

    def upto(self, count: int) -> int:
        """Find out the first nodes, and return how many there are, `count` at the most."""
        while len(self.order) < count:
            together = self._together(self._next())
            if not together:
                return len(self.order)
            first = len(self.order)
            groups = [self._state.groups[at] for _, at in together]
            if len(groups) == 1:
                self.order += groups[0].nodes
                ranges: list[Places] = [range(first, len(self.order))]
            else:
                self.order += sorted(node for group in groups for node in group.nodes)
                place = {self.order[at]: at for at in range(first, len(self.order))}
                ranges = [[place[node] for node in group.nodes] for group in groups]
            for (instant, at), group, places in zip(together, groups, ranges, strict=True):
                self.parts.append(Part(at, group.taken, places, instant))
        return count

    def first(self, count: int) -> Iterator[Part]:
        """Yield the parts of the first nodes, which are known."""
        for part in self.parts:
            places = part.places
            if places[-1] < count:
                yield part
            elif places[0] < count:
                yield part._replace(places=places[: bisect_left(places, count)])

    def _next(self) -> list[tuple[Any, int]]:
        """Return the groups that can receive next, all at one instant."""
        heap, channel, groups = self._heap, self._state.channel, self._state.groups
        found: list[tuple[Any, int]] = []
        while heap and heap[0][0] < self._until:
            known, at = heap[0]
            if found and known > found[0][0]:
                break
            instant = max(known, self._first)
            _, taken, nodes = groups[at]
            while True:
                index = bisect_right(channel, instant)
                if index % 2:
                    instant = channel[index]
                index = bisect_right(taken, instant)
                if index % 2 == 0:
                    break
                instant = taken[index]
            if instant > known:
                heapreplace(heap, (instant, at))
                groups[at] = Group(instant, taken, nodes)
            else:
                found.append(heappop(heap))
        return found

    def _together(self, found: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
        """Make one group of those that differ only in what was before they can receive."""
        if len(found) < 2:
            return found
        groups = self._state.groups
        alike: dict[tuple[Any, ...], tuple[Any, list[int]]] = {}
        for instant, at in found:
            taken = groups[at].taken
            rest = tuple(taken[bisect_right(taken, instant) :])
            alike.setdefault(rest, (instant, []))[1].append(at)
        for _, members in alike.values():
            if len(members) > 1:
                nodes = tuple(sorted(node for at in members for node in groups[at].nodes))
                groups[members[0]] = groups[members[0]]._replace(nodes=nodes)
                for at in members[1:]:
                    groups[at] = groups[at]._replace(nodes=())
        return [(instant, members[0]) for instant, members in alike.values()]


def _filled(taken: list[Any], filled: dict[int, Any]) -> list[Any]:
    """Return busy times with gaps filled from their start, or from the beginning of time, on.

    Examples
    --------
    >>> _filled([4, 6, 9, 10], {0: 4, 2: 8}), _filled([0, 2, 4, 6], {2: 4}), _filled([], {0: 2})
    ([0, 8, 9, 10], [0, 6], [0, 2])
    """
    taken = taken.copy()
    for at, stop in sorted(filled.items(), reverse=True):
        touches = at < len(taken) and taken[at] == stop
        if not at:
            taken[: int(touches)] = [stop * 0] if touches else [stop * 0, stop]
        elif touches:
            del taken[at - 1 : at + 1]
        else:
            taken[at - 1] = stop
    return taken


def _divided(group: Group, window: Window, known: dict[int, Any]) -> list[Group]:
    """Return what a reservation makes of a group: nodes without it, and with it."""
    inside = tuple(sorted(set(group.nodes).intersection(window.nodes)))
    if not inside:
        return [group]
    taken = _entered(group.taken, window.start, window.end, known)
    found = [Group(group.earliest, taken, inside)]
    if len(inside) < len(group.nodes):
        outside = tuple(sorted(set(group.nodes).difference(inside)))
        found.append(group._replace(nodes=outside))
    return found


def _entered(taken: list[Any], start: Any, end: Any, known: dict[int, Any]) -> list[Any]:
    # The old list is kept with the new one: an id may be given again once a list is gone.
    if id(taken) not in known:
        known[id(taken)] = taken, joined(taken, start, end)
    found: list[Any] = known[id(taken)][1]
    return found
