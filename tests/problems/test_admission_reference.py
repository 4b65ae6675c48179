"""The rules of `admission` once more, naively: what they find is what the checker finds."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems import admission
from dlopt.problems.admission import Chunk, Decision, Instance, Solution, Task
from tests import strategies
from tests.problems.chunk_edits import TIMES, moved

F = Fraction
Found = tuple[Any, ...]
"""Kind, resource, start, end and amount."""


def sees(instance: Instance, plan: Solution) -> Iterator[Found]:
    """Yield what is wrong, except overlaps: every rule by itself, in the words of the rules."""
    known = [chunk for chunk in plan.chunks if any(t.id == chunk.task for t in instance.tasks)]
    right = [chunk for chunk in known if 0 <= chunk.node < instance.cluster.nodes]
    for decision in plan.decisions:
        if all(task.id != decision.task for task in instance.tasks):
            yield "unknown-task", f"task {decision.task}", None, None, None
    for chunk in plan.chunks:
        if chunk not in known:
            yield "unknown-task", f"task {chunk.task}", None, None, chunk.load
        elif chunk not in right:
            yield "unknown-node", f"node {chunk.node}", None, None, chunk.load
    for task in instance.tasks:
        yield from sees_decisions(instance, plan, task)
        yield from sees_task(instance, plan, task, [c for c in right if c.task == task.id])
    yield from sees_state(instance, right)


def sees_decisions(instance: Instance, plan: Solution, task: Task) -> Iterator[Found]:
    resource = f"task {task.id}"
    said = [decision for decision in plan.decisions if decision.task == task.id]
    if not said:
        yield "undecided", resource, None, None, None
    if len(said) > 1:
        yield "duplicate-decision", resource, None, None, len(said)
    for decision in said:
        latest = task.arrival
        if task.arrival < instance.now:
            latest = instance.now
            if not decision.accepted or not decision.promised:
                yield "promised-task-rejected", resource, None, None, None
        if not task.arrival <= decision.at <= latest:
            yield "wrong-decision-time", resource, decision.at, None, decision.at - task.arrival


def sees_task(
    instance: Instance, plan: Solution, task: Task, chunks: list[Chunk]
) -> Iterator[Found]:
    cluster = instance.cluster
    for chunk in chunks:
        resource = f"task {task.id} on node {chunk.node}"
        sent, received = chunk.transmission_start, chunk.transmission_end
        begun, done = chunk.computation_start, chunk.computation_end
        send = cluster.theta_cm + chunk.load * cluster.tau_of(chunk.node)
        compute = cluster.theta_cp + chunk.load * cluster.chi_of(chunk.node)
        if chunk.load < 0:
            yield "negative-load", resource, sent, received, -chunk.load
        if sent < task.arrival:
            yield "starts-before-arrival", resource, sent, task.arrival, task.arrival - sent
        if begun < received:
            yield "computes-before-received", resource, begun, received, received - begun
        if received - sent != send:
            yield "transmission-duration", resource, sent, received, abs(received - sent - send)
        if done - begun != compute:
            yield "computation-duration", resource, begun, done, abs(done - begun - compute)
    last = [decision for decision in plan.decisions if decision.task == task.id][-1:]
    for decision in last:
        if not decision.accepted and chunks:
            yield "rejected-task-served", f"task {task.id}", None, None, len(chunks)
        if decision.accepted:
            yield from sees_service(instance, task, decision, chunks)


def sees_service(
    instance: Instance, task: Task, decision: Decision, chunks: list[Chunk]
) -> Iterator[Found]:
    left = task.remaining
    if left is None:
        left = task.load
        for chunk in instance.committed:
            if chunk.task == task.id:
                left -= chunk.load
    left = max(left, 0) - sum(chunk.load for chunk in chunks)
    if left != 0:
        yield "load-not-conserved", f"task {task.id}", None, None, left
    until = task.arrival + task.deadline
    late = [chunk.computation_end for chunk in chunks if chunk.computation_end > until]
    if late and decision.promised:
        yield "deadline", f"task {task.id}", until, max(late), max(late) - until


def sees_state(instance: Instance, chunks: list[Chunk]) -> Iterator[Found]:
    cluster = instance.cluster
    free = max(instance.now, instance.channel_ready)
    for old in instance.committed:
        sent = old.start + cluster.theta_cm + old.load * cluster.tau_of(old.node)
        free = max(free, sent)
    early = [chunk.transmission_start for chunk in chunks if chunk.transmission_start < free]
    if early:
        yield "channel-not-ready", "channel", min(early), free, free - min(early)
    for node in range(cluster.nodes):
        free = max([instance.now, *instance.ready_times[node : node + 1]])
        for old in instance.committed:
            if old.node == node:
                free = max(free, old.end)
        sends = [chunk.transmission_start for chunk in chunks if chunk.node == node]
        if sends and min(sends) < free:
            yield "node-not-ready", f"node {node}", min(sends), free, free - min(sends)


def shared_times(instance: Instance, plan: Solution) -> set[Found]:
    """Return the overlap of every two chunks on the channel and on every node."""
    ids = {task.id for task in instance.tasks}
    right = [c for c in plan.chunks if c.task in ids and 0 <= c.node < instance.cluster.nodes]
    found = set()
    for one, two in combinations(right, 2):
        resources = [("channel-overlap", "channel", "transmission_end")]
        if one.node == two.node:
            resources.append(("node-overlap", f"node {one.node}", "computation_end"))
        for kind, resource, until in resources:
            ends = [getattr(chunk, until) for chunk in (one, two)]
            takes_time = all(
                chunk.transmission_start < end for chunk, end in zip((one, two), ends, strict=True)
            )
            start = max(one.transmission_start, two.transmission_start)
            if takes_time and start < min(ends):
                found.add((kind, resource, start, min(ends), min(ends) - start))
    return found


STEPS = st.sampled_from([F(-3), F(-1), F(-1, 2), F(1, 2), F(1), F(3)])


@st.composite
def perhaps_wrong(draw: Any) -> tuple[Instance, Solution]:
    """Return a stream and a plan that was valid before up to four things in it changed."""
    state = draw(st.booleans())
    instance, plan = draw(strategies.admission_plans(identical=False, state=state, unpromised=True))
    decisions, chunks, tasks = list(plan.decisions), list(plan.chunks), list(instance.tasks)
    ids = [*(task.id for task in tasks), "stranger"]
    for _ in range(draw(st.integers(0, 4))):
        what = draw(st.sampled_from([decisions, chunks, tasks]))
        if not what:
            continue
        index = draw(st.integers(0, len(what) - 1))
        if what is tasks:
            deadline = max(tasks[index].deadline + draw(STEPS), 0)
            what[index : index + 1] = [replace(tasks[index], deadline=deadline)]
        elif what is decisions:
            what[index : index + 1] = other_decisions(draw, decisions[index], ids)
        else:
            what[index : index + 1] = other_chunks(draw, chunks[index], ids)
    return replace(instance, tasks=tuple(tasks)), Solution(tuple(decisions), tuple(chunks))


def other_decisions(draw: Any, old: Decision, ids: list[str]) -> list[Decision]:
    how = draw(st.sampled_from(["at", "accepted", "promised", "task", "drop", "again"]))
    if how == "drop":
        return []
    if how == "again":
        return [old, replace(old, accepted=draw(st.booleans()))]
    if how == "at":
        return [replace(old, at=old.at + draw(STEPS))]
    if how == "task":
        return [replace(old, task=draw(st.sampled_from(ids)))]
    return [replace(old, **{how: not getattr(old, how)})]


def other_chunks(draw: Any, old: Chunk, ids: list[str]) -> list[Chunk]:
    how = draw(st.sampled_from([*TIMES, "load", "node", "task", "move", "drop", "again"]))
    if how == "drop":
        return []
    if how == "again":
        return [old, moved(old, draw(STEPS))]
    if how == "move":
        return [moved(old, draw(STEPS))]
    if how == "node":
        return [replace(old, node=draw(st.integers(-1, 3)))]
    if how == "task":
        return [replace(old, task=draw(st.sampled_from(ids)))]
    return [replace(old, **{how: getattr(old, how) + draw(STEPS)})]


@pytest.mark.property
@given(perhaps_wrong())
def test_the_checker_finds_what_its_naive_twin_finds(made: tuple[Instance, Solution]) -> None:
    instance, plan = made
    found = [
        (v.kind, v.resource, v.start, v.end, v.amount) for v in admission.violations(instance, plan)
    ]
    overlaps = {v for v in found if v[0].endswith("overlap")}
    assert Counter(v for v in found if v not in overlaps) == Counter(sees(instance, plan))
    shared = shared_times(instance, plan)
    assert overlaps <= shared
    assert {v[:2] for v in overlaps} == {v[:2] for v in shared}
