"""What contradicts itself in the snapshot of a book of divisible tasks and reservations."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.arithmetic import FLOATING, Number, is_less, shown
from dlopt.errors import Fault, NotApplicableError, repeated
from dlopt.heuristics.admission.snapshot_faults import (
    order_faults,
    planner_node_faults,
    stream_contradictions,
    unknown_node,
    waiting_faults,
)
from dlopt.heuristics.multistage.algorithm_names import parse
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals, ReservedWindow, first_free
from dlopt.heuristics.multistage.queue import MultiStageQueue, ScheduledTask
from dlopt.heuristics.multistage.reservation_facts import ReservationFacts, on_nodes
from dlopt.heuristics.multistage.saved_records import ReservationSnapshot


def contradictions(saved: ReservationSnapshot) -> Iterator[Fault]:
    """Yield what contradicts itself in a snapshot whose fields are valid by themselves."""
    try:
        algorithm = parse(saved.algorithm)
        if algorithm.flaw is not None:
            rule = "must be one that keeps what it promises"
            yield Fault("algorithm", saved.algorithm, rule)
        if saved.forecast and not algorithm.priced:
            yield Fault("algorithm", saved.algorithm, "must have bid prices to have a forecast")
    except NotApplicableError as error:
        yield Fault("algorithm", saved.algorithm, f"must be known: {error}")
    planner = saved.planner
    yield from stream_contradictions(saved)
    yield from planner_node_faults(saved, planner.nodes, len(planner.intervals), "intervals")
    yield from _reservation_faults(saved)
    yield from _interval_faults("planner.channel", planner.channel)
    for index, one in enumerate(planner.intervals):
        yield from _interval_faults(f"planner.intervals[{index}].busy", one.busy)
    yield from _plan_faults(saved)


def promise_faults(
    saved: ReservationSnapshot,
    queue: MultiStageQueue,
    fixed: BusyIntervals,
    facts: ReservationFacts,
    costs: tuple[Number, Number],
) -> Iterator[Fault]:
    """Yield what overlaps, and the promises that the plan of a snapshot does not keep.

    Parameters
    ----------
    saved : ReservationSnapshot
    queue : MultiStageQueue
        Its planner.
    fixed : BusyIntervals
        When nodes and channel are busy with what its planner does not plan again.
    facts : ReservationFacts
    costs : tuple of Number
        ``(tau, chi)``.
    """
    yield from _overlaps(saved, fixed, facts)
    state = fixed.copy()
    for place, planned in enumerate(queue.waiting):
        path = f"planner.waiting[{place}]"
        yield from _broken_plan(path, planned, saved.now, costs)
        for chunk in planned.chunks:
            window = ReservedWindow(chunk.start, chunk.sent, chunk.end, (chunk.node,))
            if _meets(state, _inner(saved, window)):
                rule = "must not overlap what is promised or planned before"
                yield Fault(f"{path}.chunks", planned.task.id, rule)
                break
        state.allocate(planned.plan)


def _overlaps(
    saved: ReservationSnapshot, fixed: BusyIntervals, facts: ReservationFacts
) -> Iterator[Fault]:
    """Yield what overlaps of what has begun or is reserved, and what the planner ignores of it."""
    index = {node: place for place, node in enumerate(saved.planner.nodes)}
    windows = [
        (
            f"task {chunk.task}",
            ReservedWindow(
                chunk.transmission_start,
                chunk.transmission_end,
                chunk.computation_end,
                (chunk.node,),
            ),
        )
        for chunk in facts.chunks
    ]
    windows += [(f"reservation {one.id}", one.window) for one in facts.reservations]
    ready = [facts.ready[node] for node in index]
    busy = BusyIntervals.of(ready, facts.channel, saved.now)
    for name, window in windows:
        window = on_nodes(window, index)
        inner = _inner(saved, window)
        if _meets(busy, inner):
            yield Fault("planner", name, "must not overlap what else keeps channel or nodes busy")
        used = [(fixed.channel, inner.io_end)]
        used += [(fixed.nodes[node], inner.end) for node in inner.nodes]
        if any(inner.start < end and first_free(free, inner.start) < end for free, end in used):
            rule = "must be busy with all that has begun or is reserved"
            yield Fault("planner.intervals", name, rule)
        busy.reserve(window)


def _broken_plan(
    path: str, planned: ScheduledTask, now: Number, costs: tuple[Number, Number]
) -> Iterator[Fault]:
    """Yield a load that is not processed, a deadline that is missed, and impossible times."""
    task, (tau, chi) = planned.task, costs
    is_exact = not isinstance(task.deadline, float)
    rounding = 0 if is_exact else FLOATING * task.deadline
    done: Number = 0 * task.load
    for chunk in planned.chunks:
        done += chunk.load
    off = 0 if is_exact else FLOATING * task.load
    if not task.load - off <= done <= task.load + off:
        rule = f"must have the load of task {task.id}, {shown(task.load)}, together"
        yield Fault(f"{path}.chunks", done, rule)
    before: Number = now - rounding
    for index, (_, load, start, sent, end) in enumerate(planned.chunks):
        limits: tuple[tuple[str, Number, Number], ...] = (
            ("start", start, before),
            ("sent", sent, start + load * tau),
            ("end", end, sent + load * chi),
        )
        for name, instant, least in limits:
            if instant + rounding < least:
                rule = f"must not lie before {shown(least, 15)}"
                yield Fault(f"{path}.chunks[{index}].{name}", instant, rule)
        if end > task.deadline + rounding:
            rule = f"must not lie after the deadline, {shown(task.deadline, 15)}"
            yield Fault(f"{path}.chunks[{index}].end", end, rule)
        before = sent


def _inner(saved: ReservationSnapshot, window: ReservedWindow) -> ReservedWindow:
    """Return what of a window lies after now, without what rounding may have added to it."""
    off = 0 if saved.exact_numbers else FLOATING * float(window.end)
    return window._replace(
        start=max(window.start, saved.now) + off, io_end=window.io_end - off, end=window.end - off
    )


def _meets(state: BusyIntervals, window: ReservedWindow) -> bool:
    return state.channel_busy(window.start, window.io_end) or any(
        state.node_busy(node, window.start, window.end) for node in window.nodes
    )


def _interval_faults(path: str, busy: tuple[Number, ...]) -> Iterator[Fault]:
    if len(busy) % 2:
        yield Fault(path, len(busy), "must have a start and an end for each interval")
    for index in range(1, len(busy)):
        if is_less(busy[index], busy[index - 1]):
            rule = f"must not lie before {shown(busy[index - 1], 15)}, the one before"
            yield Fault(f"{path}[{index}]", busy[index], rule)


def _reservation_faults(saved: ReservationSnapshot) -> Iterator[Fault]:
    names = [one.id for one in saved.reservations]
    yield from repeated("reservations", names, "id")
    yield from repeated("accepted", (one.reservation for one in saved.accepted), "reservation")
    yield from repeated("withdrawn", (one.reservation for one in saved.withdrawn), "reservation")
    if len(saved.grants) != len(names):
        rule = f"must have one entry for each of the {len(names)} reservations"
        yield Fault("grants", len(saved.grants), rule)
    granted = {}
    for index, (name, grant) in enumerate(zip(names, saved.grants, strict=False)):
        if grant.reservation != name:
            yield Fault(f"grants[{index}].reservation", grant.reservation, f"must be {name!r}")
        if grant.accepted:
            granted[name] = grant.nodes
    for index, one in enumerate(saved.accepted):
        path = f"accepted[{index}]"
        nodes = granted.pop(one.reservation, None)
        if nodes is None:
            yield Fault(f"{path}.reservation", one.reservation, "must be that of an acceptance")
        elif nodes != one.nodes:
            yield Fault(f"{path}.nodes", one.nodes, f"must be those of the grant, {nodes}")
        for node in one.nodes:
            yield from unknown_node(saved, f"{path}.nodes", node)
        for name, instant, least in (
            ("io_end", one.io_end, one.start),
            ("end", one.end, one.io_end),
        ):
            if is_less(instant, least):
                yield Fault(f"{path}.{name}", instant, f"must not lie before {shown(least, 15)}")
        if one.number >= saved.next_number:
            yield Fault(f"{path}.number", one.number, f"must be below {saved.next_number}")
    for name in granted:
        yield Fault("accepted", name, "must have a window for each accepted reservation")
    for index, gone in enumerate(saved.withdrawn):
        if gone.reservation in names:
            rule = "must not be among the reservations"
            yield Fault(f"withdrawn[{index}].reservation", gone.reservation, rule)


def _plan_faults(saved: ReservationSnapshot) -> Iterator[Fault]:
    path, count = "planner.waiting", len(saved.planner.nodes)
    yield from waiting_faults(saved, saved.planner.waiting)
    yield from order_faults(saved.planner.waiting)
    for index, one in enumerate(saved.planner.waiting):
        if not one.chunks:
            yield Fault(f"{path}[{index}].chunks", 0, "must not be empty")
        for place, chunk in enumerate(one.chunks):
            if chunk.node >= count:
                rule = f"must be a place among the {count} nodes"
                yield Fault(f"{path}[{index}].chunks[{place}].node", chunk.node, rule)
