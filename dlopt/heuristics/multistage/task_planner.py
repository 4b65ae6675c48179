"""One divisible task around everything that is taken: how many nodes it gets, and its chunks.

What a stage is, and why the search for the number of nodes is right, stands in
`dlopt.heuristics.multistage.stages`.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any

from dlopt.heuristics.admission.ready_times import Miss
from dlopt.heuristics.multistage.busy_intervals import Piece
from dlopt.heuristics.multistage.node_groups import Groups, Move
from dlopt.heuristics.multistage.stages import Member, Run, Server, disordered

DUST = 1e-12
"""Of a load: what floats may leave, or be too small to send. Of an instant: their error."""


class Plan:
    """Where the planner puts a task."""

    __slots__ = ("_chosen", "_ending", "_last", "_load", "_order", "_pieces", "_runs", "_server")

    def __init__(
        self,
        server: Server,
        load: Any,
        order: list[int],
        runs: list[Run],
        ending: list[Run],
        chosen: list[Member],
        last: list[Member],
    ) -> None:
        self._server, self._load, self._order = server, load, order
        self._runs, self._ending = runs, ending
        self._chosen, self._last = chosen, last
        self._pieces: tuple[Piece, ...] | None = None

    @property
    def count(self) -> int:
        """On how many nodes, of those that can receive first, it is."""
        return sum(len(member.places) for member in self._chosen)

    @property
    def start(self) -> Any:
        """When the first chunk is sent."""
        return self._runs[0].start

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The chunks in the order of transmission, written down when first asked for."""
        if self._pieces is None:
            self._pieces = tuple(self._server.chunks(self._runs, self._order, self._load))
        return self._pieces

    def transmissions(self) -> Iterator[tuple[Any, Any]]:
        """Yield when the channel is taken."""
        for run in self._runs:
            if run.sent > run.start:
                yield run.start, run.sent

    def moves(self) -> Iterator[Move]:
        """Yield what each group of nodes is taken for.

        In all stages but the last one nodes are alike whether they are served or not; in that one
        they are divided into those served, the one served last, and the others.
        """
        final = self._runs[-1]
        served = {place for run in self._ending for place in run.places}
        for member in self._chosen:
            filled, count, size = member.filled, 0, len(member.places)
            if member in self._last:
                count = sum(place in served for place in member.places)
                end = bool(count) and member.places[count - 1] == final.places[-1]
                if count > end:
                    yield Move(member.group, count - end, {**filled, member.at: member.stop})
                if end:
                    yield Move(member.group, count, {**filled, member.at: final.end})
            if filled and count < size:
                yield Move(member.group, size, filled)


class Planner:
    """Plans one task after the other on identical nodes without set-up costs.

    Parameters
    ----------
    tau, chi : Number
        In the field to compute in.

    Notes
    -----
    Guarantee: what is planned meets its deadline and touches nothing that is taken. The nodes are
    the fewest, of those that can receive first, on which this dispatch completes the load.
    Complexity: O(S g + c) for each number `n` of nodes that is tried, with `g` groups of equal
    nodes in `S` stages and `c` chunks. One or two numbers are tried if the hint is right, else
    O(log n), unless relaxed stages promise what is not kept.

    Source: Mamat 2011, Algorithms 3 and 4, repaired.

    Examples
    --------
    >>> from fractions import Fraction
    >>> free = Groups.around([2, 4], [[], [3, 8]])
    >>> for piece in Planner(Fraction(1), Fraction(1)).place(free, 0, 2, 8).pieces:
    ...     print(piece.node, *map(str, piece[1:]))
    0 2 0 2 4
    """

    def __init__(self, tau: Any, chi: Any) -> None:
        self.tau, self.chi, self.unit = tau, chi, tau + chi
        self.dust: Any = DUST if isinstance(self.unit, float) else 0

    def place(self, state: Groups, lo: Any, load: Any, deadline: Any, hint: int = 1) -> Plan | Miss:
        """Return the chunks of a task, or what is left of its load.

        Parameters
        ----------
        state : Groups
        lo : Number
            Nothing is sent before it.
        load : Number
        deadline : Number
            Absolute.
        hint : int, default 1
            How many nodes it may take; the answer does not depend on it.
        """
        return _Attempt(self, state, lo, load, deadline).fewest(hint)


class _Attempt:
    """One task in one state."""

    def __init__(self, planner: Planner, state: Groups, lo: Any, load: Any, deadline: Any) -> None:
        self.unit, self.load, self.deadline = planner.unit, load, deadline
        self.spare, self.lo = load * planner.dust, lo
        self.error = deadline * planner.dust
        self.line = state.line(lo, deadline)
        self._channel = _until(state.channel, deadline)
        self._server = Server(planner.tau, planner.chi, self.spare)
        self._sums: list[Any] = [load * 0]
        self._parts = 0

    def fewest(self, hint: int) -> Plan | Miss:
        """Return the chunks on the fewest nodes that do: those certain not to are passed first."""
        low = self._too_few()
        high = self.line.upto(max(hint, low + 1))
        best: Plan | None = None
        step = 1
        while high > low:
            left, made = self.run(high)
            if left <= self.spare:
                best = made
                break
            low, high = high, self.line.upto(high + step)
            step *= 2
        else:
            return self._missed()
        step = 1
        while high - low > 1:
            # From a hint that does: down by 1, 2, 4, until some number is too low; then halve.
            middle = max(high - step, (low + high) // 2)
            left, made = self.run(middle)
            if left > self.spare:
                low = middle
            else:
                high, best = middle, made
                step *= 2
        while best is None:
            left, best = self.run(high, relaxed=False)
            if left > self.spare:
                best, low, high = None, high, self.line.upto(high + 1)
                if high == low:
                    return self._missed()
        return best

    def _missed(self) -> Miss:
        """Return what all nodes leave."""
        return Miss(self.run(self.line.upto(sys.maxsize), relaxed=False)[0], "load")

    def _too_few(self) -> int:
        """Return how many nodes have no time for the load even if they all can be served."""
        needed, known = (self.load - self.spare) * self.unit, 0
        while self.line.upto(known + 1) > known:
            known = len(self.line.order)
            if self._time(known) >= needed:
                return bisect_left(range(known), needed, key=self._time) - 1
        return known

    def _time(self, count: int) -> Any:
        """Return how long the first nodes are free from when they can receive on, at the most."""
        sums, free = self._sums, dict[int, Any]()
        if count >= len(sums):
            for part in self.line.parts[self._parts :]:
                time = _spare_time(part.taken, part.instant, self.deadline)
                free.update(dict.fromkeys(part.places, time))
            self._parts = len(self.line.parts)
            for place in range(len(sums) - 1, len(self.line.order)):
                sums.append(sums[-1] + free[place])
        return sums[count] + count * self.error

    def run(self, count: int, relaxed: bool = True) -> tuple[Any, Plan | None]:
        """Return what the first nodes leave of the load, and the plan.

        With `relaxed`, what is left at the least, and no plan if that is not what is left; and
        no more than is needed to tell that something is.
        """
        server, channel, deadline = self._server, self._channel, self.deadline
        spare, left, time, pure = self.spare, self.load, self._time(count), True
        runs: list[Run] = []
        inside: dict[int, list[Member]] = {}  # by the index of the stage
        chosen = [Member(*part, deadline) for part in self.line.first(count)]
        for member in chosen:
            inside.setdefault(bisect_right(channel, member.start), []).append(member)
        indices = sorted(inside)
        while indices:
            at = heappop(indices)
            members, alike, before = inside.pop(at), True, len(runs)
            start = max(channel[at - 1], self.lo) if at else self.lo
            until, end = channel[at], channel[at + 1]
            for member in members:
                member.stop = stop = member.until if member.until < end else end
                time -= member.size * (stop - member.start)
                if member.start > start or stop != members[0].stop:
                    alike = False
            if alike:
                among = [member.places for member in members]
                left = server.row(among, stop, start, until, left, runs)[2]
            elif relaxed and len(members) > 1 and disordered(members):
                pure = False
                left = server.relaxed(members, until, left)
            else:
                left = server.serve(members, start, until, left, runs)
            if left <= spare:
                made = runs, runs[before:], chosen, members
                return left, Plan(server, self.load, self.line.order, *made) if pure else None
            if relaxed and (left - spare) * self.unit > time:
                break
            for member in members:
                after = at + 2
                if member.until > end:  # as leave does, for the common case
                    member.filled[member.at] = member.start = end
                else:
                    after = member.leave(end, channel, after)
                if after in inside:
                    inside[after].append(member)
                elif member.start < deadline:
                    heappush(indices, after)
                    inside[after] = [member]
        return left, None


def _until(channel: list[Any], deadline: Any) -> list[Any]:
    """Return when the channel is taken before a deadline, and what ends the last stage.

    Examples
    --------
    >>> _until([1, 2, 4, 7], 3), _until([1, 2, 4, 7], 5)
    ([1, 2, 3, 3], [1, 2, 4, 5])
    """
    at = bisect_left(channel, deadline)
    return channel[:at] + [deadline] * (1 if at % 2 else 2)


def _spare_time(taken: list[Any], start: Any, end: Any) -> Any:
    """Return how long a node is free between an instant at which it is, and another.

    Examples
    --------
    >>> _spare_time([2, 4, 6, 9], 0, 8)
    4
    """
    time = end - start
    at, last = bisect_right(taken, start), bisect_right(taken, end)
    if last % 2:
        time -= end - taken[last - 1]
        last -= 1
    return time - sum(taken[at + 1 : last : 2]) + sum(taken[at:last:2])
