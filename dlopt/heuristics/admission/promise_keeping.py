"""Whether the chunks of a restored book of divisible tasks keep every promise that is alive."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from dlopt.arithmetic import FLOATING, Number, shown
from dlopt.errors import Fault
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.problems.admission.data import Chunk

Window: TypeAlias = tuple[Number, Number, tuple[int, ...]]
"""Until when a reservation holds the channel and its nodes, and these."""


@dataclass(frozen=True, slots=True)
class PromisedPlan:
    """The promises of a book, and the chunks that are to keep them.

    Parameters
    ----------
    tasks : mapping of str to QueuedTask
        Those that are promised, with the loads that the book has planned or sent of each.
    ended : collection of str
        Tasks that ended early: less than their loads may be sent.
    sent, planned : tuple of Chunk
    ready : mapping of int to Number
        When each node in service was ready first.
    channel : Number
        When the channel was ready first.
    now : Number
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``.
    has_deadlines : bool
        Whether the algorithm promises the deadlines.
    is_exact : bool
        Whether the numbers are fractions; else they may be off by a billionth.
    """

    tasks: Mapping[str, QueuedTask]
    ended: Collection[str]
    sent: tuple[Chunk, ...]
    planned: tuple[Chunk, ...]
    ready: Mapping[int, Number]
    channel: Number
    now: Number
    costs: tuple[Number, ...]
    has_deadlines: bool
    is_exact: bool

    @property
    def not_begun(self) -> list[Chunk]:
        """The chunks that are still to be sent."""
        later = (chunk for chunk in self.sent if chunk.transmission_start >= self.now)
        return [*later, *self.planned]

    def rounding(self, number: Number) -> Number:
        """Return by how much a number may be off."""
        return 0 if self.is_exact else FLOATING * number


def broken_promises(plan: PromisedPlan) -> Iterator[Fault]:
    """Yield every promise that a plan does not keep.

    Notes
    -----
    A chunk that has begun may take longer or shorter than its costs say, for its progress may have
    been reported; the others must take as long as they say. Complexity: O(c log c) for `c` chunks.

    Examples
    --------
    >>> task = QueuedTask((5, 0), "a", 0, 2, 5)
    >>> chunk = Chunk("a", 0, 2, 0, 2, 2, 6)
    >>> kept = ({"a": task}, (), (), (chunk,), {0: 0}, 0, 0, (1, 2, 0, 0), True, True)
    >>> [str(fault) for fault in broken_promises(PromisedPlan(*kept))]
    ['task a: must be computed by its deadline, 5, got 6']
    """
    yield from _loads(plan)
    yield from _deadlines(plan)
    for chunk in plan.not_begun:
        yield from _wrong_times(plan, chunk)
    yield from _overlaps(plan)


def altered_tasks(plan: PromisedPlan, waiting: Iterable[QueuedTask]) -> Iterator[Fault]:
    """Yield the tasks that a planner has with another deadline, or an arrival before the task's.

    Some planners say that a task arrives when they get it.
    """
    for task in waiting:
        promised = plan.tasks.get(task.id)
        if promised is None or task.id in plan.ended:
            continue
        least, latest = promised.arrival, max(promised.arrival, plan.now)
        if not least - plan.rounding(least) <= task.arrival <= latest + plan.rounding(latest):
            rule = f"must be planned with an arrival from {shown(least, 15)} to {shown(latest, 15)}"
            yield Fault(f"task {task.id}", task.arrival, rule)
        deadline, off = promised.deadline, plan.rounding(promised.deadline)
        if not deadline - off <= task.deadline <= deadline + off:
            rule = f"must be planned with the promised deadline, {shown(deadline, 15)}"
            yield Fault(f"task {task.id}", task.deadline, rule)


def late_ends(
    plan: PromisedPlan,
    node_ends: Iterable[tuple[int, Number]],
    channel_end: Number,
    reserved: Iterable[Window],
) -> Iterator[Fault]:
    """Yield what a planner takes to be busy longer than anything uses it.

    Parameters
    ----------
    plan : PromisedPlan
    node_ends : iterable of (int, Number)
        Nodes, and until when the planner takes each to be busy with what it does not plan.
    channel_end : Number
        Until when it takes the channel to be busy.
    reserved : iterable of Window
    """
    channel = max(plan.now, plan.channel)
    busy = dict(plan.ready)
    ends: dict[str, Number] = {}
    for chunk in plan.sent:
        ends[chunk.task] = max(ends.get(chunk.task, 0), chunk.computation_end)
    for chunk in plan.sent:  # the nodes of a task are free again together
        busy[chunk.node] = max(busy.get(chunk.node, 0), ends[chunk.task])
        channel = max(channel, chunk.transmission_end)
    for sent, end, nodes in reserved:
        channel = max(channel, sent)
        for node in nodes:
            busy[node] = max(busy.get(node, 0), end)
    for node, got in node_ends:
        end = max(busy.get(node, 0), plan.now)
        if got > end + plan.rounding(end):
            rule = f"must not keep node {node} busy longer than what it does, {shown(end, 15)}"
            yield Fault("planner", got, rule)
    if channel_end > channel + plan.rounding(channel):
        rule = f"must not keep the channel busy longer than it is used, {shown(channel, 15)}"
        yield Fault("planner", channel_end, rule)


def _loads(plan: PromisedPlan) -> Iterator[Fault]:
    """Yield the tasks of which too much or too little is processed."""
    loads: dict[str, Number] = {}
    for chunk in (*plan.sent, *plan.planned):
        if chunk.load < 0:
            yield Fault(_name(chunk), chunk.load, "must have no negative load in a chunk")
        loads[chunk.task] = loads.get(chunk.task, 0) + chunk.load
    for name, task in plan.tasks.items():
        done: Number = loads.get(name, 0)
        allowed = plan.rounding(task.load)
        if done > task.load + allowed or (name not in plan.ended and done < task.load - allowed):
            rule = f"must have its load in its chunks together, {shown(task.load, 15)}"
            yield Fault(f"task {name}", done, rule)


def _deadlines(plan: PromisedPlan) -> Iterator[Fault]:
    """Yield what is late, unless it has begun and was reported to take longer."""
    if not plan.has_deadlines:
        return
    tau, chi, theta_cm, theta_cp = plan.costs
    overhead, unit = theta_cm + theta_cp, tau + chi
    for chunk in (*plan.sent, *plan.planned):
        end, start = chunk.computation_end, chunk.transmission_start
        deadline = plan.tasks[chunk.task].deadline
        rounding = plan.rounding(end)
        if end <= deadline + rounding:
            continue
        if start >= plan.now or end <= start + overhead + unit * chunk.load + rounding:
            rule = f"must be computed by its deadline, {shown(deadline, 15)}"
            yield Fault(_name(chunk), end, rule)


def _wrong_times(plan: PromisedPlan, chunk: Chunk) -> Iterator[Fault]:
    """Yield what is wrong with where and when a chunk is to be sent and computed."""
    name, node = _name(chunk), chunk.node
    tau, chi, theta_cm, theta_cp = plan.costs
    if node not in plan.ready:
        yield Fault(name, node, "must be sent to nodes in service")
        return
    start, sent = chunk.transmission_start, chunk.transmission_end
    begin, end = chunk.computation_start, chunk.computation_end
    rounding = plan.rounding(end)
    least = max(plan.now, plan.tasks[chunk.task].arrival, plan.ready[node])
    if sent > start:
        least = max(least, plan.channel)
    if start < least - rounding:
        rule = f"must not be sent before it arrives and node and channel are ready, {shown(least)}"
        yield Fault(name, start, rule)
    takes = theta_cm + tau * chunk.load
    if not start + takes - rounding <= sent <= start + takes + rounding:
        yield Fault(name, sent - start, f"must be transmitted in its time, {shown(takes, 15)}")
    takes = theta_cp + chi * chunk.load
    if begin < sent - rounding or not begin + takes - rounding <= end <= begin + takes + rounding:
        yield Fault(name, end - begin, f"must be computed in its time, {shown(takes, 15)}")


def _overlaps(plan: PromisedPlan) -> Iterator[Fault]:
    """Yield the chunks that use the channel or a node while another one does."""
    channel: Number = 0
    busy: dict[int, Number] = {}
    alive = [chunk for chunk in plan.sent if chunk.computation_end > plan.now]
    alive += plan.planned
    alive.sort(key=lambda chunk: (chunk.transmission_start, chunk.transmission_end))
    for chunk in alive:
        start, sent = chunk.transmission_start, chunk.transmission_end
        latest = start + plan.rounding(chunk.computation_end)
        if sent > start and latest < channel:
            rule = f"must not be sent while the channel is busy, until {shown(channel, 15)}"
            yield Fault(_name(chunk), start, rule)
        until = busy.get(chunk.node, 0)
        if latest < until:
            rule = f"must not be sent to node {chunk.node} while it is busy, until {shown(until)}"
            yield Fault(_name(chunk), start, rule)
        channel = max(channel, sent)
        busy[chunk.node] = max(until, chunk.computation_end)


def _name(chunk: Chunk) -> str:
    return f"task {chunk.task}"
