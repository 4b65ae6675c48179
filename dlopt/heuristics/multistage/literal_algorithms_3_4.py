"""Algorithms 3 and 4 as published, for one task, with the readings that they need.

They exist to be reproduced and refuted. Where the text leaves it open:

- reservations are processed in the order of their starts, once (line 2 of Algorithm 3);
- the stages of Algorithm 4 end with the reservations that start after ``t_0`` and not after the
  deadline, those that line 11 of Algorithm 3 counts;
- a chunk is sent when line 22 says that its node can start, however negative it is.

Source: Mamat 2011, section 5.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dlopt.arithmetic import Number
from dlopt.heuristics.multistage.busy_intervals import ReservedWindow, TimedChunk


class PlanningTask(NamedTuple):
    """A task to be planned at an instant."""

    arrival: Number
    now: Number
    load: Number
    deadline: Number
    """Absolute."""


class CapacityEstimate(NamedTuple):
    """The result of Algorithm 3: the order of nodes, when each is available, its load."""

    order: tuple[int, ...]
    available: dict[int, Number]
    shares: tuple[Number, ...]
    """In the order of the nodes."""

    def fewest(self, load: Number) -> int | None:
        """Return how many nodes it assigns to a load, or None if all are too few."""
        done: Number = 0
        for count, share in enumerate(self.shares, start=1):
            done += share
            if done >= load:
                return count
        return None


class StageChunk(NamedTuple):
    """A chunk, and the stage that it belongs to."""

    stage: int
    chunk: TimedChunk


def estimate_capacity(
    costs: tuple[Number, Number],
    windows: Iterable[ReservedWindow],
    ready: Sequence[Number],
    task: PlanningTask,
) -> CapacityEstimate:
    """Return what Algorithm 3 expects that the nodes can do by the deadline.

    Examples
    --------
    >>> from fractions import Fraction
    >>> task = PlanningTask(arrival=0, now=0, load=2, deadline=2)
    >>> late = ReservedWindow(4, 5, 5, (0,))
    >>> estimate_capacity((Fraction(1), Fraction(1)), [late], [0], task).shares
    (Fraction(2, 1),)
    """
    tau, unit, until = costs[0], sum(costs), task.deadline
    windows = sorted(windows, key=_start)
    available = dict(enumerate(ready))
    for window in windows:
        for node, instant in available.items():
            if window.start <= instant < window.io_end:
                available[node] = window.io_end
    order = sorted(available, key=available.__getitem__)
    first = max(task.arrival, available[order[0]])
    on_channel: Number = 0
    computing: dict[int, Number] = dict.fromkeys(order, 0)
    for window in windows:
        if window.start > first:
            on_channel += (until if window.io_end > until else window.io_end) - window.start
            for node in window.nodes:
                computing[node] += window.end - window.io_end
    shares: list[Number] = []
    blocked: Number = 0
    for node in order:
        time = until - max(available[node], task.arrival) - on_channel - computing[node] - blocked
        shares.append(time / unit)
        blocked += shares[-1] * tau
    return CapacityEstimate(tuple(order), available, tuple(shares))


def partition_load(
    costs: tuple[Number, Number],
    windows: Iterable[ReservedWindow],
    found: CapacityEstimate,
    count: int,
    task: PlanningTask,
) -> list[StageChunk]:
    """Return the chunks that Algorithm 4 gives to the first nodes; it may not place all."""
    tau, unit = costs[0], sum(costs)
    first = max(task.arrival, found.available[found.order[0]])
    inside = [window for window in windows if first < window.start <= task.deadline]
    stages = sorted(inside, key=_start)
    if not stages or stages[-1].io_end < task.deadline:
        stages.append(ReservedWindow(task.deadline, task.deadline, task.deadline, ()))
    starts = {node: found.available[node] for node in found.order[:count]}
    left, stage_chunks = task.load, []
    for stage, window in enumerate(stages):
        order = sorted(starts, key=starts.__getitem__)
        for position, node in enumerate(order):
            start = starts[node]
            if node in window.nodes:
                amount = (window.start - start) / unit
            else:
                amount = load_fitting(costs, window.start - start, window.io_end - start)
            if position + 1 < count:
                after = order[position + 1]
                starts[after] = max(start + amount * tau, starts[after])
            starts[node] = window.end if node in window.nodes else window.io_end
            amount = min(amount, left)
            if amount != 0:
                sent = start + amount * tau
                chunk = TimedChunk(node, amount, start, sent, start + amount * unit)
                stage_chunks.append(StageChunk(stage, chunk))
            left -= amount
            if left <= 0:
                return stage_chunks
    return stage_chunks


def load_fitting(costs: tuple[Number, Number], to_send: Number, to_do: Number) -> Number:
    """Return the load that can be sent within one span of time and completed within another.

    Examples
    --------
    >>> load_fitting((1, 1), 2, 6), load_fitting((1, 1), 4, 6), load_fitting((0, 1), -2, 6)
    (2.0, 3.0, 6.0)
    """
    tau, unit = costs[0], sum(costs)
    done = to_do / unit
    return min(to_send / tau, done) if tau else done


def _start(window: ReservedWindow) -> Number:
    return window.start
