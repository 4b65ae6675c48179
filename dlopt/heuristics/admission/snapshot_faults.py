"""What contradicts itself in the snapshot of a book of divisible tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from dlopt.arithmetic import FLOATING, ROUNDING, Number, is_less, shown
from dlopt.errors import Fault, NotApplicableError, repeated
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.chunks import chunk_parts, free_nodes
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, SortedTaskQueue
from dlopt.heuristics.admission.fast.hybrid import HybridPlanner
from dlopt.heuristics.admission.planner_factory import Planner, Policy, parse
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.heuristics.admission.queue import PlannedQueue
from dlopt.heuristics.admission.records import PlannerContent, QueuedTask
from dlopt.heuristics.admission.saved_records import (
    SavedPlanner,
    SavedTask,
    Snapshot,
    StreamSnapshot,
)
from dlopt.problems.admission.data import Chunk
from dlopt.problems.cluster import MAX_NODES


def saved_policy(saved: Snapshot) -> Policy:
    """Return the algorithm of a snapshot with its options.

    Raises
    ------
    NotApplicableError
        If there is no such algorithm, or it has no such options.
    """
    policy = parse(saved.algorithm)
    if policy.literal:
        raise NotApplicableError(f"{policy.name} does not keep what it promises")
    if isinstance(policy, FastAlgorithm) and saved.tie_break is not None:
        policy = replace(policy, events=saved.tie_break)
    elif isinstance(policy, HybridAlgorithm) and saved.threshold is not None:
        policy = replace(policy, threshold=saved.threshold)
    if saved.tie_break is not None and not isinstance(policy, FastAlgorithm):
        raise NotApplicableError(f"{policy.name} has no option tie_break")
    if saved.threshold is not None and not isinstance(policy, HybridAlgorithm):
        raise NotApplicableError(f"{policy.name} has no option threshold")
    if (saved.forecast or saved.on_fewest) and not isinstance(policy, PricedAlgorithm):
        raise NotApplicableError(f"{policy.name} has no forecast")
    return policy


def contradictions(saved: Snapshot) -> Iterator[Fault]:
    """Yield what contradicts itself in a snapshot whose fields are valid by themselves."""
    policy: Policy | None = None
    try:
        policy = saved_policy(saved)
    except NotApplicableError as error:
        yield Fault("algorithm", saved.algorithm, f"must be known: {error}")
    planner = saved.planner
    yield from stream_contradictions(saved)
    yield from planner_node_faults(saved, planner.nodes, len(planner.ready_times), "ready_times")
    yield from _planner_faults(saved, policy)


def stream_contradictions(saved: StreamSnapshot) -> Iterator[Fault]:
    """Yield what contradicts itself in all but the planner and the name of the algorithm."""
    yield from _node_faults(saved)
    yield from _task_faults(saved)
    yield from repeated("cancelled", (one.task for one in saved.cancelled), "task")
    yield from repeated("ended", saved.ended)
    names = {task.id for task in saved.tasks}
    accepted = {one.task for one in saved.decisions if one.accepted}
    for index, gone in enumerate(saved.cancelled):
        if gone.task in names:
            yield Fault(f"cancelled[{index}].task", gone.task, "must not be among the tasks")
    for index, task in enumerate(saved.ended):
        if task not in accepted:
            yield Fault(f"ended[{index}]", task, "must be an accepted task")
    for index, chunk in enumerate(saved.sent):
        yield from _chunk_faults(saved, chunk, accepted, f"sent[{index}]")


def planner_node_faults(
    saved: StreamSnapshot, nodes: tuple[int, ...], entries: int, name: str
) -> Iterator[Fault]:
    """Yield what is wrong with the nodes of a planner, which has so many `entries` for them."""
    yield from repeated("planner.nodes", nodes)
    for index, node in enumerate(nodes):
        yield from unknown_node(saved, f"planner.nodes[{index}]", node)
    if entries != len(nodes):
        rule = f"must have one entry for each of the {len(nodes)} nodes"
        yield Fault(f"planner.{name}", entries, rule)
    if not saved.outdated and nodes and set(nodes) != set(saved.nodes):
        yield Fault("planner.nodes", len(nodes), "must be those in service")


def waiting_faults(saved: StreamSnapshot, waiting: Sequence[SavedTask]) -> Iterator[Fault]:
    """Yield the waiting tasks that are not promised, or not under these numbers."""
    path = "planner.waiting"
    yield from repeated(path, (one.number for one in waiting), "number")
    numbers = dict(zip((one.task for one in saved.decisions), saved.numbers, strict=False))
    accepted = {one.task for one in saved.decisions if one.accepted}
    for index, one in enumerate(waiting):
        if one.number >= saved.next_number:
            yield Fault(f"{path}[{index}].number", one.number, f"must be below {saved.next_number}")
        if not saved.outdated and one.task not in accepted:
            yield Fault(f"{path}[{index}].task", one.task, "must be an accepted task")
        elif not saved.outdated and one.number != numbers.get(one.task, one.number):
            rule = f"must be that of the decision on it, {numbers[one.task]}"
            yield Fault(f"{path}[{index}].number", one.number, rule)


def order_faults(waiting: Sequence[SavedTask]) -> Iterator[Fault]:
    """Yield the waiting tasks that are not in the order of their ranks and numbers."""
    for index, (before, one) in enumerate(pairwise(waiting), start=1):
        if (one.rank, one.number) < (before.rank, before.number):
            rule = f"must not be less than that of the task before, {shown(before.rank, 15)}"
            yield Fault(f"planner.waiting[{index}].rank", one.rank, rule)


def unknown_node(saved: StreamSnapshot, path: str, node: int) -> Iterator[Fault]:
    """Yield a fault if there is no node of that number."""
    if not 0 <= node < saved.node_count:
        yield Fault(path, node, f"must be one of the nodes 0 to {saved.node_count - 1}")


def promise_faults(
    saved: Snapshot,
    content: PlannerContent,
    costs: tuple[Number, ...],
    planner: Planner,
    now: Number,
) -> Iterator[Fault]:
    """Yield what overlaps, and the promises that the plan of a snapshot does not keep.

    Parameters
    ----------
    saved : Snapshot
    content : PlannerContent
        Of its planner, in the numbers that the book computes in.
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``.
    planner : Planner
        With that content.
    now : Number
    """
    yield from _overlaps(saved)
    if isinstance(planner, HybridPlanner):
        planner = planner.active_planner
    if isinstance(planner, PlannedQueue):
        yield from _broken_placements(content, costs, planner)
    elif content.ready:
        queue = SortedTaskQueue()
        queue.load(content.tasks, None)
        dispatcher = Dispatcher(costs, content.ready, content.channel, now, queue)
        dispatcher.run()
        index = {stored.task.key[1]: index for index, stored in enumerate(content.tasks)}
        for task, left in dispatcher.unfinished:
            rule = f"must not exceed what is done by the deadline: {shown(left)} would be left"
            yield Fault(f"planner.waiting[{index[task.key[1]]}].load", task.load, rule)


def _node_faults(saved: StreamSnapshot) -> Iterator[Fault]:
    if not saved.cluster.nodes <= saved.node_count <= MAX_NODES:
        rule = f"must be an integer from {saved.cluster.nodes} to {MAX_NODES}"
        yield Fault("node_count", saved.node_count, rule)
    in_service = set(saved.nodes)
    for name, nodes, ready in (
        ("nodes", saved.nodes, saved.ready_times),
        ("failed", saved.failed, None),
    ):
        yield from repeated(name, nodes)
        for index, node in enumerate(nodes):
            yield from unknown_node(saved, f"{name}[{index}]", node)
            if ready is None and node in in_service:
                yield Fault(f"{name}[{index}]", node, "must be out of service")
        if ready is not None and len(ready) != len(nodes):
            rule = f"must have one entry for each of the {len(nodes)} nodes"
            yield Fault("ready_times", len(ready), rule)


def _task_faults(saved: StreamSnapshot) -> Iterator[Fault]:
    count = len(saved.tasks)
    yield from repeated("tasks", (task.id for task in saved.tasks), "id")
    for name in ("decisions", "numbers"):
        size = len(getattr(saved, name))
        if size != count:
            yield Fault(name, size, f"must have one entry for each of the {count} tasks")
    before = -1
    for index, number in enumerate(saved.numbers):
        if not before < number < saved.next_number:
            rule = f"must lie between {before}, the one before, and {saved.next_number}"
            yield Fault(f"numbers[{index}]", number, rule)
        before = number
    for index, (task, decision) in enumerate(zip(saved.tasks, saved.decisions, strict=False)):
        if not task.id:
            yield Fault(f"tasks[{index}].id", task.id, "must not be empty")
        if decision.task != task.id:
            yield Fault(f"decisions[{index}].task", decision.task, f"must be {task.id!r}")
        if decision.accepted and is_less(saved.now, decision.at):
            rule = f"must not lie after now, {shown(saved.now, 15)}"
            yield Fault(f"decisions[{index}].at", decision.at, rule)


def _chunk_faults(
    saved: StreamSnapshot, chunk: Chunk, accepted: set[str], path: str
) -> Iterator[Fault]:
    if chunk.task not in accepted:
        yield Fault(f"{path}.task", chunk.task, "must be an accepted task")
    yield from unknown_node(saved, f"{path}.node", chunk.node)
    before: Number = 0
    for name in ("transmission_start", "transmission_end", "computation_start", "computation_end"):
        instant: Number = getattr(chunk, name)
        if is_less(instant, before):
            yield Fault(f"{path}.{name}", instant, f"must not lie before {shown(before, 15)}")
        before = instant
    if chunk.load < 0:
        yield Fault(f"{path}.load", chunk.load, "must not be negative")


def _planner_faults(saved: Snapshot, policy: Policy | None) -> Iterator[Fault]:
    planner, count = saved.planner, len(saved.planner.waiting)
    yield from waiting_faults(saved, planner.waiting)
    if count and not planner.nodes:
        yield Fault("planner.waiting", count, "must be empty if there is no node")
    for index, number in enumerate(saved.on_fewest):
        if number not in saved.numbers:
            yield Fault(f"on_fewest[{index}]", number, "must be the number of a decision")
    if planner.nodes and policy is not None:
        yield from _kind_faults(planner, policy)


def _kind_faults(planner: SavedPlanner, policy: Policy) -> Iterator[Fault]:
    """Yield what does not fit the algorithm."""
    count, fast = len(planner.waiting), planner.fast
    planned = Algorithm | PricedAlgorithm
    if isinstance(policy, planned if fast else FastAlgorithm):
        yield Fault("planner.fast", fast, f"must be {'false' if fast else 'true'}")
        return
    minimal = isinstance(policy, FastAlgorithm) and policy.test == "r0"
    for name, entries, wanted in (
        ("placements", planner.placements, not fast),
        ("estimates", planner.estimates, minimal),
    ):
        if len(entries) != (count if wanted else 0):
            rule = f"must have one entry for each of the {count} tasks" if wanted else "must not be"
            yield Fault(f"planner.{name}", len(entries), rule)
    for index, place in enumerate(planner.placements):
        if place.nodes > len(planner.nodes):
            rule = f"must be at most {len(planner.nodes)}, all nodes"
            yield Fault(f"planner.placements[{index}].nodes", place.nodes, rule)
    if fast or (isinstance(policy, planned) and policy.order in ("fifo", "edf")):
        yield from order_faults(planner.waiting)


def _overlaps(saved: Snapshot) -> Iterator[Fault]:
    """Yield the chunks in progress that overlap, and where the planner ignores them.

    In floats a transmission is found from the completion, and is as inaccurate as that is.
    """
    channel: Number = 0
    latest: Number = 0
    busy: dict[int, Number] = {}
    sent = sorted(enumerate(saved.sent), key=lambda pair: pair[1].transmission_start)
    for index, chunk in sent:
        if not is_less(saved.now, chunk.computation_end):
            continue
        start, path = chunk.transmission_start, f"sent[{index}].transmission_start"
        latest = max(latest, chunk.computation_end)
        rounding = _allowance(saved, latest)
        if is_less(rounding + start, channel):
            yield Fault(path, start, f"overlaps a transmission until {shown(channel, 15)}")
        until = busy.get(chunk.node, 0)
        if is_less(rounding + start, until):
            rule = f"overlaps what node {chunk.node} does until {shown(until, 15)}"
            yield Fault(path, start, rule)
        channel = max(channel, chunk.transmission_end)
        busy[chunk.node] = max(until, chunk.computation_end)
    planner = saved.planner
    for index, (node, ready) in enumerate(zip(planner.nodes, planner.ready_times, strict=True)):
        until = busy.get(node, 0)
        if is_less(ready + _allowance(saved, ready), until):
            rule = f"must not lie before the end of what node {node} does, {shown(until, 15)}"
            yield Fault(f"planner.ready_times[{index}]", ready, rule)
    if is_less(planner.channel + _allowance(saved, max(planner.channel, latest)), channel):
        rule = f"must not lie before the end of what is transmitted, {shown(channel, 15)}"
        yield Fault("planner.channel", planner.channel, rule)


def _allowance(saved: Snapshot, instant: Number) -> Number:
    """Return by how much instants may be off for rounding."""
    return 0 if saved.exact_numbers else FLOATING * float(instant)


def _broken_placements(
    content: PlannerContent, costs: tuple[Number, ...], queue: PlannedQueue
) -> Iterator[Fault]:
    """Yield placements that overlap, miss a deadline, or do not process the load."""
    plan, channel = queue.waiting, content.channel
    for index, (task, place) in enumerate(plan):
        path, rounding = f"planner.placements[{index}]", _rounding(task, place.end)
        if place.start + rounding < channel:
            rule = f"must not lie before the channel is free, {shown(channel, 15)}"
            yield Fault(f"{path}.start", place.start, rule)
        if queue.algorithm.control and place.end > task.deadline + rounding:
            rule = f"must not lie after the deadline, {shown(task.deadline, 15)}"
            yield Fault(f"{path}.end", place.end, rule)
        channel = max(channel, place.sent)
    loads: dict[int, Number] = {}
    ends: dict[int, Number] = {}
    parts = chunk_parts(queue.task_planner, costs, free_nodes(content.ready), plan)
    for (task, _), (_, load, _, sent, _, end) in parts:
        number = task.key[1]
        loads[number] = loads.get(number, 0) + load
        ends[number] = max(ends.get(number, end), end)
        if load < 0 or sent > end:
            loads[number] = -1
    for index, (task, place) in enumerate(plan):
        path, number = f"planner.placements[{index}]", task.key[1]
        rounding = _rounding(task, place.end)
        allowed = FLOATING * task.load if rounding else 0
        if not -allowed <= loads[number] - task.load <= allowed:
            rule = f"must have room for the load of task {task.id}, {shown(task.load)}"
            yield Fault(f"{path}.end", place.end, rule)
        elif ends[number] > place.end + rounding:
            rule = f"must not lie before the end of its chunks, {shown(ends[number], 15)}"
            yield Fault(f"{path}.end", place.end, rule)


def _rounding(task: QueuedTask, end: Number) -> Number:
    """Return by how much a task may be late by rounding alone; 0 in exact numbers.

    Its end counts as well: where nothing is promised, it may lie far beyond the deadline.
    """
    if not isinstance(task.deadline, float):
        return 0
    latest = max(abs(task.deadline), end)
    return FLOATING * (task.deadline - task.arrival) + float(ROUNDING) * latest
