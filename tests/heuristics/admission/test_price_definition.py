"""Bid prices from their definition: a second computation of what `priced` decides."""

import copy
from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.arithmetic import exact
from dlopt.heuristics.admission.engine import Admission
from tests.heuristics.admission.strategies import random_stream

F = Fraction


def used(places, now):
    """Return the channel and the node time that placements take from an instant on."""
    channel = sum(max(place.sent - max(place.start, now), 0) for _, place in places)
    return channel, sum(
        place.nodes * max(place.end - max(place.start, now), 0) for _, place in places
    )


def growth(channel, nodes, cluster):
    """Return by which factor tasks take more of the channel with half of their deadlines."""
    more = 0
    for _, deadline, time, _ in nodes:
        usual, late = (max(cluster.nodes * time / due, 1) for due in (deadline, deadline / 2))
        more += cluster.theta_cm * (late - usual)
    return 1 + F(more) / sum(time for _, _, time, _ in channel) if more else 1


def is_affordable(seen, promised, required, now, late, *, exclusive):
    """Return what the prices of one resource decide, from their definition.

    A task is rejected if the tasks that take less exceed the capacity that is left, or if more of
    them than one are expected to be late while the task has the resource for itself.
    """
    if len(seen) < 10:
        return True
    mean = sum(deadline for _, deadline, _, _ in seen) / len(seen)
    span, horizon = max(now - seen[0][0], 10 * mean / len(seen)), F(4, 5) * mean
    room = horizon - 2 * sum(time for _, _, time, _ in seen) / len(seen)
    target = max(F(7, 5), 1 + room / late**2 / horizon)
    left = span * (target - min(promised, horizon) / horizon)
    less = [(time, slack) for _, _, time, slack in seen if time < required]
    late = [(time, (required - slack) / span) for time, slack in less if 0 <= slack < required]
    load = sum(time * expected for time, expected in late) / required if late else 0
    blocked = sum(expected for _, expected in late) / (1 + load)
    return sum(time for time, _ in less) <= left and not (exclusive and blocked > 1)


@pytest.mark.parametrize(
    ("base", "nodes", "seed"),
    [("edf-opr-mn", 4, 3), ("fifo-epr-an", 4, 3), ("mwf-opr-mn", 4, 3), ("edf-opr-mn", 2, 16)],
)
def test_prices_are_those_of_a_simple_computation(base, nodes, seed):
    """Twins: an engine with prices, and one without that is asked what its plan would be."""
    stream = random_stream(seed, nodes=nodes, tasks=40, number=exact, setup=True, load=3)
    priced, inner = stream.engine(f"priced-{base}"), stream.engine(base)
    seen = ([], [])
    for task in stream.tasks:
        now, trial, alone = task.arrival, copy.deepcopy(inner), Admission(stream.cluster, base)
        decision = priced.submit(task)
        if trial.submit(task).accepted:
            before, after = used(inner.placements(), now), used(trial.placements(), now)
            grows = [(a - b) / F(d) for a, b, d in zip(after, before, (1, nodes), strict=True)]
            waits = [planned for planned in inner.placements() if planned.placement.start >= now]
            backlog = used(waits, now)[1] / F(nodes) + delay(inner, now, seen[1])
            fits = all(
                is_affordable(one, *of, now, growth(*seen, stream.cluster), exclusive=whole)
                for one, *of, whole in zip(
                    seen, (before[0], backlog), grows, (True, base.endswith("an")), strict=True
                )
            )
            assert decision.accepted is fits
            inner = trial if fits else inner
        else:
            assert not decision.accepted
        known = alone.submit(replace(task, arrival=0)).accepted
        place = alone.placements() if known else [(None, widest(priced, task))]
        times = [time / F(count) for time, count in zip(used(place, 0), (1, nodes), strict=True)]
        for one, time in zip(seen, times, strict=True):
            one.append((now, task.deadline, time, task.deadline - max(times)))
    reasons = [decision.of for decision in priced.decisions]
    assert min(map(reasons.count, ("price", "time", None))) >= 2


def delay(engine, now, seen):
    """Return for how long what has begun delays a task like those seen.

    It is the mean, weighted by the share of nodes that they need, of two times: until so many nodes
    are free, and until a node is free on average.
    """
    begun = {task.id: place.end for task, place in engine.placements() if place.start < now}
    free = dict.fromkeys(range(engine.cluster.nodes), now)
    for chunk in engine.plan().chunks:
        if chunk.task in begun:
            free[chunk.node] = max(free[chunk.node], begun[chunk.task])
    times, deadlines = (sum(one[column] for one in seen) for column in (2, 1))
    share = min(times / deadlines, 1) if seen else 0
    needed = next(n for n in range(1, len(free) + 1) if n >= len(free) * share)
    longest = F(4, 5) * deadlines / len(seen) if seen else 0
    busy = sum(min(instant - now, longest) for instant in free.values()) / len(free)
    return (1 - share) * (sorted(free.values())[needed - 1] - now) + share * busy


def widest(engine, task):
    """Return the placement of a task on all nodes that help, if its deadline cannot be met."""
    planner = engine.planner.task_planner
    return planner.placement_on(planner.work(F(task.load)).most, F(0), F(task.load))
