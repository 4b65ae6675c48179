"""Ways to corrupt a valid plan of a stream of loads, each with what must be found in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from dlopt.problems.admission import Chunk, Decision, Instance, Solution, Task
from dlopt.result import Violation
from tests.problems.chunk_edits import moved, send_of, with_chunk
from tests.problems.corruptions import Corruption, amounts, share

F = Fraction


@dataclass(frozen=True)
class Corrupted:
    """A plan that was valid, and what must be found in it now.

    `expected` must be among the violations; `alone` says that there must be no other.
    """

    instance: Instance
    plan: Solution
    expected: tuple[Violation, ...]
    alone: bool = True


Corrupt = Callable[[Any, Instance, Solution], Corrupted]


CORRUPTIONS: list[Corruption] = []


def corruption(*kinds: str) -> Callable[[Corrupt], Corrupt]:
    def register(function: Corrupt) -> Corrupt:
        CORRUPTIONS.append(Corruption(function.__name__, kinds, function))
        return function

    return register


def name(chunk: Chunk) -> str:
    return f"task {chunk.task} on node {chunk.node}"


def some(draw: Any, things: tuple[Any, ...], fits: Callable[[Any], bool] = bool) -> tuple[int, Any]:
    """Return one of the things that fit, and its place."""
    places = [index for index, thing in enumerate(things) if fits(thing)]
    assume(places)
    index = draw(st.sampled_from(places))
    return index, things[index]


def with_chunks(plan: Solution, *chunks: Chunk) -> Solution:
    return replace(plan, chunks=chunks)


def at(plan: Solution, index: int, chunk: Chunk) -> Solution:
    return replace(plan, chunks=with_chunk(plan.chunks, index, chunk))


def with_decision(plan: Solution, index: int, decision: Decision) -> Solution:
    return replace(plan, decisions=with_chunk(plan.decisions, index, decision))


def arrival_of(instance: Instance, name: str) -> Fraction:
    return next(task.arrival for task in instance.tasks if task.id == name)


def lost(task: str, amount: Fraction) -> Violation:
    return Violation("load-not-conserved", f"task {task}", amount=amount)


# --- decisions ---------------------------------------------------------------------------------


@corruption("undecided")
def forgotten(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, decision = some(draw, plan.decisions)
    rest = (*plan.decisions[:index], *plan.decisions[index + 1 :])
    expected = Violation("undecided", f"task {decision.task}")
    return Corrupted(instance, replace(plan, decisions=rest), (expected,))


@corruption("duplicate-decision")
def decided_again(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    _, decision = some(draw, plan.decisions)
    times = draw(st.integers(1, 3))
    expected = Violation("duplicate-decision", f"task {decision.task}", amount=1 + times)
    twice = (*plan.decisions, *[decision] * times)
    return Corrupted(instance, replace(plan, decisions=twice), (expected,))


@corruption("duplicate-decision")
def taken_back(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    _, decision = some(draw, plan.decisions)
    second = replace(decision, accepted=not decision.accepted, at=decision.at + draw(amounts))
    expected = Violation("duplicate-decision", f"task {decision.task}", amount=2)
    both = draw(st.permutations([*plan.decisions, second]))
    return Corrupted(instance, replace(plan, decisions=tuple(both)), (expected,), alone=False)


@corruption("wrong-decision-time")
def decided_late(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, decision = some(draw, plan.decisions)
    arrival = arrival_of(instance, decision.task)
    when = instance.now if decision.task in instance.promised else arrival
    late = replace(decision, at=when + draw(amounts))
    off = late.at - arrival
    expected = Violation("wrong-decision-time", f"task {decision.task}", late.at, amount=off)
    return Corrupted(instance, with_decision(plan, index, late), (expected,))


@corruption("wrong-decision-time")
def decided_early(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, decision = some(draw, plan.decisions)
    off, arrival = draw(amounts), arrival_of(instance, decision.task)
    early = replace(decision, at=arrival - off)
    expected = Violation("wrong-decision-time", f"task {decision.task}", early.at, amount=-off)
    return Corrupted(instance, with_decision(plan, index, early), (expected,))


@corruption("promised-task-rejected")
def promise_forgotten(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, decision = some(draw, plan.decisions, lambda d: d.task in instance.promised)
    changes = draw(st.sampled_from([{"promised": False}, {"accepted": False}]))
    expected = Violation("promised-task-rejected", f"task {decision.task}")
    broken = with_decision(plan, index, replace(decision, **changes))
    return Corrupted(instance, broken, (expected,), alone="promised" in changes)


@corruption("rejected-task-served")
def served_all_the_same(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    counts = {c.task: sum(d.task == c.task for d in plan.chunks) for c in plan.chunks}
    open_to = set(counts) - instance.promised
    index, decision = some(draw, plan.decisions, lambda d: d.task in open_to)
    rejected = replace(decision, accepted=False)
    kind, amount = "rejected-task-served", counts[decision.task]
    expected = Violation(kind, f"task {decision.task}", amount=amount)
    return Corrupted(instance, with_decision(plan, index, rejected), (expected,))


@corruption("load-not-conserved")
def accepted_and_left(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, decision = some(draw, plan.decisions, lambda d: not d.accepted)
    accepted = replace(decision, accepted=True)
    expected = lost(decision.task, instance.remaining[decision.task])
    return Corrupted(instance, with_decision(plan, index, accepted), (expected,))


@corruption("unknown-task")
def decision_on_a_stranger(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    _, decision = some(draw, plan.decisions)
    more = (*plan.decisions, replace(decision, task="stranger"))
    expected = Violation("unknown-task", "task stranger")
    return Corrupted(instance, replace(plan, decisions=more), (expected,))


# --- references and loads ----------------------------------------------------------------------


@corruption("unknown-task", "load-not-conserved")
def chunk_of_a_stranger(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    strange = at(plan, index, replace(chunk, task="stranger"))
    expected = Violation("unknown-task", "task stranger", amount=chunk.load)
    return Corrupted(instance, strange, (expected, lost(chunk.task, chunk.load)))


@corruption("unknown-node", "load-not-conserved")
def strange_node(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    node = draw(st.sampled_from([-1, instance.cluster.nodes, 10**30]))
    strange = at(plan, index, replace(chunk, node=node))
    expected = Violation("unknown-node", f"node {node}", amount=chunk.load)
    return Corrupted(instance, strange, (expected, lost(chunk.task, chunk.load)))


@corruption("load-not-conserved")
def dropped(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    rest = (*plan.chunks[:index], *plan.chunks[index + 1 :])
    return Corrupted(instance, with_chunks(plan, *rest), (lost(chunk.task, chunk.load),))


@corruption("load-not-conserved", "node-overlap", "channel-overlap")
def doubled(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    _, chunk = some(draw, plan.chunks)
    start, received, done = chunk.transmission_start, chunk.transmission_end, chunk.computation_end
    channel = (Violation("channel-overlap", "channel", start, received, received - start),)
    expected = (
        *(channel if received > start else ()),
        Violation("node-overlap", f"node {chunk.node}", start, done, done - start),
        lost(chunk.task, -chunk.load),
    )
    return Corrupted(instance, with_chunks(plan, *plan.chunks, chunk), expected)


@corruption("load-not-conserved", "transmission-duration", "computation-duration")
def leak(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    cluster = instance.cluster
    index, chunk = some(draw, plan.chunks)
    gone = share(draw, F(chunk.load)) * draw(st.sampled_from([1, -1]))
    send = abs(gone) * cluster.tau_of(chunk.node)
    compute = abs(gone) * cluster.chi_of(chunk.node)
    sent = (chunk.transmission_start, chunk.transmission_end)
    computed = (chunk.computation_start, chunk.computation_end)
    expected = (
        Violation("transmission-duration", name(chunk), *sent, send),
        Violation("computation-duration", name(chunk), *computed, compute),
        lost(chunk.task, gone),
    )
    new = at(plan, index, replace(chunk, load=chunk.load - gone))
    return Corrupted(instance, new, tuple(v for v in expected if v.amount))


@corruption("load-not-conserved")
def given_to_another_task(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    """A chunk is called that of another accepted task: one has too little, one too much."""
    index, chunk = some(draw, plan.chunks)
    others = tuple(d for d in plan.decisions if d.accepted and d.task != chunk.task)
    _, other = some(draw, others)
    expected = (lost(chunk.task, chunk.load), lost(other.task, -chunk.load))
    swapped = at(plan, index, replace(chunk, task=other.task))
    return Corrupted(instance, swapped, expected, alone=False)


@corruption("load-not-conserved", "negative-load")
def negative(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    times, owed = (chunk.transmission_start, chunk.transmission_end), draw(amounts)
    expected = (
        Violation("negative-load", name(chunk), *times, owed),
        lost(chunk.task, chunk.load + owed),
    )
    new = at(plan, index, replace(chunk, load=-owed))
    return Corrupted(instance, new, expected, alone=False)


# --- times -------------------------------------------------------------------------------------


@corruption("channel-overlap")
def two_sends_at_once(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    chunks = sorted((c for c in plan.chunks if send_of(c) > 0), key=lambda c: c.transmission_start)
    assume(len(chunks) > 1)
    place = draw(st.integers(1, len(chunks) - 1))
    before, after = chunks[place - 1], chunks[place]
    shared = share(draw, min(send_of(before), send_of(after)))
    end = before.transmission_end
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("channel-overlap", "channel", end - shared, end, shared)
    new = at(plan, plan.chunks.index(after), early)
    return Corrupted(instance, new, (expected,), alone=False)


@corruption("node-overlap")
def two_chunks_on_a_node(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    chunks = sorted(plan.chunks, key=lambda c: (c.node, c.transmission_start))
    pairs = [(one, two) for one, two in pairwise(chunks) if one.node == two.node]
    assume(pairs)
    before, after = draw(st.sampled_from(pairs))
    end = before.computation_end
    most = min(c.computation_end - c.transmission_start for c in (before, after))
    shared = share(draw, most)
    early = moved(after, end - shared - after.transmission_start)
    expected = Violation("node-overlap", f"node {after.node}", end - shared, end, shared)
    new = at(plan, plan.chunks.index(after), early)
    return Corrupted(instance, new, (expected,), alone=False)


@corruption("transmission-duration", "computation-duration")
def swapped_nodes(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    """Two chunks swap their nodes, which take other times."""
    cluster, chunks = instance.cluster, plan.chunks
    pairs = [
        (i, j)
        for i, j in combinations(range(len(chunks)), 2)
        if cluster.chi_of(chunks[i].node) != cluster.chi_of(chunks[j].node)
    ]
    assume(pairs)
    i, j = draw(st.sampled_from(pairs))
    new = (replace(chunks[i], node=chunks[j].node), replace(chunks[j], node=chunks[i].node))
    difference = abs(cluster.chi_of(chunks[i].node) - cluster.chi_of(chunks[j].node))
    expected = tuple(
        Violation(
            "computation-duration", name(c), c.computation_start, c.computation_end,
            c.load * difference,
        )
        for c in new
        if c.load
    )  # fmt: skip
    return Corrupted(instance, at(at(plan, i, new[0]), j, new[1]), expected, alone=False)


@corruption("transmission-duration")
def shorter_send(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    off, start = draw(amounts), chunk.transmission_start
    short = replace(chunk, transmission_end=chunk.transmission_end - off)
    expected = Violation("transmission-duration", name(chunk), start, short.transmission_end, off)
    return Corrupted(instance, at(plan, index, short), (expected,))


@corruption("transmission-duration", "computes-before-received")
def longer_send(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    """The last chunk is being sent when it is computed already."""
    index, chunk = some(draw, plan.chunks, lambda c: c == plan.chunks[-1])
    off, start, begun = draw(amounts), chunk.transmission_start, chunk.computation_start
    end = begun + off
    expected = (
        Violation(
            "transmission-duration", name(chunk), start, end, end - chunk.transmission_end
        ),
        Violation("computes-before-received", name(chunk), begun, end, off),
    )  # fmt: skip
    return Corrupted(instance, at(plan, index, replace(chunk, transmission_end=end)), expected)


@corruption("computation-duration")
def shorter_computation(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    off, begun = draw(amounts), chunk.computation_start
    short = replace(chunk, computation_end=chunk.computation_end - off)
    expected = Violation("computation-duration", name(chunk), begun, short.computation_end, off)
    return Corrupted(instance, at(plan, index, short), (expected,))


@corruption("computes-before-received")
def computed_before_received(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    off, received = draw(amounts), chunk.transmission_end
    waits = chunk.computation_start - received
    early = replace(
        chunk,
        computation_start=received - off,
        computation_end=chunk.computation_end - waits - off,
    )
    expected = Violation("computes-before-received", name(chunk), received - off, received, off)
    return Corrupted(instance, at(plan, index, early), (expected,))


@corruption("starts-before-arrival")
def sent_before_it_arrives(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    index, chunk = some(draw, plan.chunks)
    off, arrival = draw(amounts), arrival_of(instance, chunk.task)
    early = moved(chunk, arrival - off - chunk.transmission_start)
    sent = early.transmission_start
    expected = Violation("starts-before-arrival", name(chunk), sent, arrival, off)
    return Corrupted(instance, at(plan, index, early), (expected,), alone=False)


@corruption("channel-not-ready")
def channel_ready_later(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    assume(plan.chunks)
    first = min(chunk.transmission_start for chunk in plan.chunks)
    ready = first + draw(amounts)
    later = replace(instance, channel_ready=ready)
    expected = Violation("channel-not-ready", "channel", first, ready, ready - first)
    return Corrupted(later, plan, (expected,))


@corruption("node-not-ready")
def node_ready_later(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    _, chunk = some(draw, plan.chunks)
    node = chunk.node
    first = min(c.transmission_start for c in plan.chunks if c.node == node)
    times = list(instance.ready_times or (0,) * instance.cluster.nodes)
    times[node] = first + draw(amounts)
    later = replace(instance, ready_times=tuple(times))
    amount = times[node] - first
    expected = Violation("node-not-ready", f"node {node}", first, times[node], amount)
    return Corrupted(later, plan, (expected,))


@corruption("deadline")
def too_late(draw: Any, instance: Instance, plan: Solution) -> Corrupted:
    promises = {d.task for d in plan.decisions if d.accepted and d.promised}
    ends: dict[str, Fraction] = {}
    for chunk in plan.chunks:
        ends[chunk.task] = max(chunk.computation_end, ends.get(chunk.task, F(0)))

    def some_end(task: Task) -> bool:
        return task.id in promises and task.id in ends

    index, task = some(draw, instance.tasks, some_end)
    off = share(draw, F(ends[task.id] - task.arrival))
    deadline = ends[task.id] - off
    soon = replace(task, deadline=deadline - task.arrival)
    tasks = (*instance.tasks[:index], soon, *instance.tasks[index + 1 :])
    expected = Violation("deadline", f"task {task.id}", deadline, ends[task.id], off)
    return Corrupted(replace(instance, tasks=tasks), plan, (expected,))
