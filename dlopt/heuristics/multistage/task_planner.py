"""Plans one divisible task around all allocations: its number of nodes, and its chunks.

`dlopt.heuristics.multistage.stages` defines a stage and proves the search for the number of nodes.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.records import DeadlineMiss
from dlopt.heuristics.multistage.busy_intervals import TimedChunk
from dlopt.heuristics.multistage.node_groups import GroupAllocation, NodeGroups
from dlopt.heuristics.multistage.stages import (
    ServiceRun,
    StageDispatcher,
    StageNodes,
    may_free_out_of_order,
)

FLOAT_TOLERANCE = 1e-12
"""Relative tolerance of floats: of a load, what may be left or is too small to send; of an instant,
its error. Chosen by hand: far above rounding errors, far below the tolerance of the checker."""


class TaskPlan:
    """The plan of one task: which nodes serve it, and when."""

    __slots__ = ("_chosen", "_chunks", "_ending", "_last", "_load", "_order", "_runs", "_server")

    def __init__(
        self,
        server: StageDispatcher,
        load: Number,
        order: list[int],
        runs: list[ServiceRun],
        ending: list[ServiceRun],
        chosen: list[StageNodes],
        last: list[StageNodes],
    ) -> None:
        self._server, self._load, self._order = server, load, order
        self._runs, self._ending = runs, ending
        self._chosen, self._last = chosen, last
        self._chunks: tuple[TimedChunk, ...] | None = None

    @property
    def count(self) -> int:
        """The number of nodes, of those that can receive first, that it uses."""
        return sum(len(member.positions) for member in self._chosen)

    @property
    def start(self) -> Number:
        """When the first chunk is sent."""
        return self._runs[0].start

    @property
    def chunks(self) -> tuple[TimedChunk, ...]:
        """The chunks in the order of transmission, computed at the first access."""
        if self._chunks is None:
            self._chunks = tuple(self._server.chunks(self._runs, self._order, self._load))
        return self._chunks

    def transmissions(self) -> Iterator[tuple[Number, Number]]:
        """Yield when the channel is busy."""
        for run in self._runs:
            if run.sent > run.start:
                yield run.start, run.sent

    def group_allocations(self) -> Iterator[GroupAllocation]:
        """Yield what each group of nodes is used for.

        In all stages but the last one nodes stay identical whether they are served or not; in that
        one they are split into those served, the one served last, and the others.
        """
        final = self._runs[-1]
        served = {place for run in self._ending for place in run.positions}
        for member in self._chosen:
            filled, count, size = member.filled, 0, len(member.positions)
            if member in self._last:
                count = sum(place in served for place in member.positions)
                end = bool(count) and member.positions[count - 1] == final.positions[-1]
                if count > end:
                    yield GroupAllocation(
                        member.group, count - end, {**filled, member.at: member.stop}
                    )
                if end:
                    yield GroupAllocation(member.group, count, {**filled, member.at: final.end})
            if filled and count < size:
                yield GroupAllocation(member.group, size, filled)


class TaskPlanner:
    """Plans one task after the other on identical nodes without set-up costs.

    Parameters
    ----------
    tau, chi : Number
        In the field to compute in.

    Notes
    -----
    Guarantee: a plan meets its deadline and overlaps no allocation. The nodes are
    the fewest, of those that can receive first, on which this dispatch completes the load.
    Complexity: O(S g + c) for each number `n` of nodes that is tried, with `g` groups of equal
    nodes in `S` stages and `c` chunks. One or two numbers are tried if the hint is right, else
    O(log n), unless relaxed stages promise what is not kept.

    Source: Mamat 2011, Algorithms 3 and 4, repaired.

    Examples
    --------
    >>> from fractions import Fraction
    >>> free = NodeGroups.from_busy([2, 4], [[], [3, 8]])
    >>> for chunk in TaskPlanner(Fraction(1), Fraction(1)).place(free, 0, 2, 8).chunks:
    ...     print(chunk.node, *map(str, chunk[1:]))
    0 2 0 2 4
    """

    def __init__(self, tau: Number, chi: Number) -> None:
        self.tau, self.chi, self.unit = tau, chi, tau + chi
        self.float_tolerance: Number = FLOAT_TOLERANCE if isinstance(self.unit, float) else 0

    def place(
        self, state: NodeGroups, lo: Number, load: Number, deadline: Number, hint: int = 1
    ) -> TaskPlan | DeadlineMiss:
        """Return the chunks of a task, or what is left of its load.

        Parameters
        ----------
        state : NodeGroups
        lo : Number
            Nothing is sent before it.
        load : Number
        deadline : Number
            Absolute.
        hint : int, default 1
            How many nodes it may take; the answer does not depend on it.
        """
        return _NodeCountSearch(self, state, lo, load, deadline).fewest(hint)

    def least_remainder(
        self, state: NodeGroups, lo: Number, load: Number, deadline: Number
    ) -> Number:
        """Return what is left of a load at the deadline, on the best number of nodes.

        The parameters are as of `place`. So much less load is placed, and no more than that, for
        the chunks of a load are those of a larger one up to its end.

        Examples
        --------
        >>> free = NodeGroups.from_busy([], [[], [3, 8]])
        >>> TaskPlanner(1, 1).least_remainder(free, 0, 7, 8)
        2.25
        """
        return _NodeCountSearch(self, state, lo, load, deadline).least_remainder()


class _NodeCountSearch:
    """The search for the number of nodes of one task in one state."""

    def __init__(
        self, planner: TaskPlanner, state: NodeGroups, lo: Number, load: Number, deadline: Number
    ) -> None:
        self.unit, self.load, self.deadline = planner.unit, load, deadline
        self.negligible, self.lo = load * planner.float_tolerance, lo
        self.error = deadline * planner.float_tolerance
        self.reception_order = state.reception_order(lo, deadline)
        self._channel = _busy_until_deadline(state.channel, deadline)
        self._server = StageDispatcher(planner.tau, planner.chi, self.negligible)
        self._sums: list[Number] = [load * 0]
        self._ordered_groups_counted = 0

    def fewest(self, hint: int) -> TaskPlan | DeadlineMiss:
        """Return the chunks on the fewest nodes that suffice: galloping search, then bisection."""
        low = self._insufficient_nodes()
        high = self.reception_order.extend_to(max(hint, low + 1))
        best: TaskPlan | None = None
        step = 1
        while high > low:
            left, made = self.run(high)
            if left <= self.negligible:
                best = made
                break
            low, high = high, self.reception_order.extend_to(high + step)
            step *= 2
        else:
            return self._missed()
        step = 1
        while high - low > 1:
            # From a hint that does: down by 1, 2, 4, until some number is too low; then halve.
            middle = max(high - step, (low + high) // 2)
            left, made = self.run(middle)
            if left > self.negligible:
                low = middle
            else:
                high, best = middle, made
                step *= 2
        while best is None:
            left, best = self.run(high, relaxed=False)
            if left > self.negligible:
                best, low, high = None, high, self.reception_order.extend_to(high + 1)
                if high == low:
                    return self._missed()
        return best

    def least_remainder(self) -> Number:
        """Return the least that is left on any number of nodes."""
        count, least = self.reception_order.extend_to(sys.maxsize), self.load
        # Fewer nodes have no more free time: below some number none of them leaves less.
        while count and (self.load - least) * self.unit < self._free_time_bound(count):
            least = min(least, self.run(count, relaxed=False)[0])
            count -= 1
        return least

    def _missed(self) -> DeadlineMiss:
        """Return what all nodes leave."""
        return DeadlineMiss(
            self.run(self.reception_order.extend_to(sys.maxsize), relaxed=False)[0], "load"
        )

    def _insufficient_nodes(self) -> int:
        """Return how many nodes lack the time for the load even if all can be served."""
        needed, known = (self.load - self.negligible) * self.unit, 0
        while self.reception_order.extend_to(known + 1) > known:
            known = len(self.reception_order.order)
            if self._free_time_bound(known) >= needed:
                return bisect_left(range(known), needed, key=self._free_time_bound) - 1
        return known

    def _free_time_bound(self, count: int) -> Number:
        """Return an upper bound on the free time of the first nodes since they can receive."""
        sums, free = self._sums, dict[int, Number]()
        if count >= len(sums):
            for part in self.reception_order.ordered_groups[self._ordered_groups_counted :]:
                time = _free_time(part.busy, part.instant, self.deadline)
                free.update(dict.fromkeys(part.positions, time))
            self._ordered_groups_counted = len(self.reception_order.ordered_groups)
            for place in range(len(sums) - 1, len(self.reception_order.order)):
                sums.append(sums[-1] + free[place])
        return sums[count] + count * self.error

    def run(self, count: int, relaxed: bool = True) -> tuple[Number, TaskPlan | None]:
        """Return what the first nodes leave of the load, and the plan.

        With `relaxed`, a lower bound on what is left, no plan if it is not exact, and no more work
        than needed to tell that something is left.
        """
        server, channel, deadline = self._server, self._channel, self.deadline
        negligible, left, time = self.negligible, self.load, self._free_time_bound(count)
        is_exact = True  # until a stage is relaxed
        runs: list[ServiceRun] = []
        inside: dict[int, list[StageNodes]] = {}  # by the index of the stage
        chosen = [StageNodes(*part, deadline) for part in self.reception_order.first(count)]
        for member in chosen:
            inside.setdefault(bisect_right(channel, member.start), []).append(member)
        indices = sorted(inside)
        while indices:
            at = heappop(indices)
            members, equivalent, before = inside.pop(at), True, len(runs)
            start = max(channel[at - 1], self.lo) if at else self.lo
            until, end = channel[at], channel[at + 1]
            for member in members:
                member.stop = stop = member.until if member.until < end else end
                time -= member.size * (stop - member.start)
                if member.start > start or stop != members[0].stop:
                    equivalent = False
            if equivalent:
                groups_served = [member.positions for member in members]
                left = server.dispatch_row(groups_served, stop, start, until, left, runs)[2]
            elif relaxed and len(members) > 1 and may_free_out_of_order(members):
                is_exact = False
                left = server.relaxed_remainder(members, until, left)
            else:
                left = server.dispatch(members, start, until, left, runs)
            if left <= negligible:
                order, ending = self.reception_order.order, runs[before:]
                plan = TaskPlan(server, self.load, order, runs, ending, chosen, members)
                return left, plan if is_exact else None
            if relaxed and (left - negligible) * self.unit > time:
                break
            for member in members:
                after = at + 2
                if member.until > end:  # as leave does, for the common case
                    member.filled[member.at] = member.start = end
                else:
                    after = member.leave_stage(end, channel, after)
                if after in inside:
                    inside[after].append(member)
                elif member.start < deadline:
                    heappush(indices, after)
                    inside[after] = [member]
        return left, None


def _busy_until_deadline(channel: list[Number], deadline: Number) -> list[Number]:
    """Return the busy times of the channel before a deadline, and the end of the last stage.

    Examples
    --------
    >>> _busy_until_deadline([1, 2, 4, 7], 3), _busy_until_deadline([1, 2, 4, 7], 5)
    ([1, 2, 3, 3], [1, 2, 4, 5])
    """
    at = bisect_left(channel, deadline)
    return channel[:at] + [deadline] * (1 if at % 2 else 2)


def _free_time(busy: list[Number], start: Number, end: Number) -> Number:
    """Return how long a node is free between an instant at which it is free, and another.

    Examples
    --------
    >>> _free_time([2, 4, 6, 9], 0, 8)
    4
    """
    time = end - start
    at, last = bisect_right(busy, start), bisect_right(busy, end)
    if last % 2:
        time -= end - busy[last - 1]
        last -= 1
    return time - sum(busy[at + 1 : last : 2]) + sum(busy[at:last:2])
