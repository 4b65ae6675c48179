"""Hypothesis strategies for small exact instances of every problem."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from dlopt.problems import admission as streams
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance

small = st.integers(0, 6)
rationals = st.builds(Fraction, st.integers(0, 24), st.integers(1, 4))
# What is made in a composite strategy is checked again for each example: hence outside of them.
costs, costs_with_tau = (
    st.tuples(st.integers(least, 4), small).filter(lambda pair: sum(pair) > 0) for least in (0, 1)
)
setups_cm = st.sampled_from([0, 0, 1, 2, Fraction(1, 3)])
setups_cp = st.sampled_from([0, 0, 1, 3])
quarters_or_none = st.none() | st.integers(0, 4)
gaps = st.sampled_from([0, 0, 0, Fraction(1, 2), 2])


@cache
def no_or_ready_times(nodes):
    """Return a strategy for the ready times of so many nodes, or none."""
    return st.just(()) | st.tuples(*[rationals] * nodes)


@st.composite
def clusters(draw, nodes, *, setup=True, identical=True, positive_tau=False):
    """Return a cluster; now and then tau or chi is 0, never both on one node."""
    pair = costs_with_tau if positive_tau else costs
    pairs = [draw(pair)] * nodes if identical else [draw(pair) for _ in range(nodes)]
    theta_cm = draw(setups_cm) if setup else 0
    theta_cp = draw(setups_cp) if setup else 0
    if identical:
        return Cluster(nodes, pairs[0][0], pairs[0][1], theta_cm, theta_cp)
    taus, chis = zip(*pairs, strict=True)
    return Cluster(nodes, taus, chis, theta_cm, theta_cp)


@st.composite
def iit(draw, *, most=4, setup=True, identical=True, deadline=False, positive_tau=False):
    """Return an instance of one divisible load in exact numbers."""
    nodes = draw(st.integers(1, most))
    cluster = draw(clusters(nodes, setup=setup, identical=identical, positive_tau=positive_tau))
    ready = tuple(draw(st.lists(rationals, min_size=nodes, max_size=nodes)))
    load = draw(st.builds(Fraction, st.integers(1, 30), st.integers(1, 3)))
    until = None
    if deadline:
        until = min(ready) + draw(st.builds(Fraction, st.integers(1, 120), st.integers(1, 4)))
    return Instance(cluster, ready, load, absolute_deadline=until)


@st.composite
def admission(draw, *, most=3, tasks=4, setup=True, identical=True, state=False):
    """Return a stream of divisible loads in exact numbers; with `state`, on a busy cluster."""
    nodes = draw(st.integers(1, most))
    cluster = draw(clusters(nodes, setup=setup, identical=identical))
    arrivals = sorted(draw(st.lists(rationals, min_size=1, max_size=tasks)))
    stream = tuple(
        streams.Task(
            f"t{index}",
            arrival,
            draw(st.builds(Fraction, st.integers(1, 30), st.integers(1, 3))),
            draw(st.builds(Fraction, st.integers(1, 120), st.integers(1, 4))),
            weight=draw(st.integers(1, 3)),
        )
        for index, arrival in enumerate(arrivals)
    )
    instance = streams.Instance(cluster, stream)
    return draw(_states(instance)) if state else instance


@st.composite
def _states(draw, instance):
    """Return the instance as it stands at some instant, with chunks that were sent before."""
    now = draw(rationals)
    nodes = instance.cluster.nodes
    ready = draw(no_or_ready_times(nodes))
    old = [task for task in instance.tasks if task.arrival < now]
    committed, left = [], {task.id: task.load for task in old}
    for task in draw(st.lists(st.sampled_from(old), max_size=3)) if old else ():
        load = left[task.id] * Fraction(draw(st.integers(0, 4)), 4)
        left[task.id] -= load
        start = task.arrival + (now - task.arrival) * Fraction(draw(st.integers(0, 4)), 4)
        end = start + draw(rationals)
        node = draw(st.integers(0, nodes - 1))
        committed.append(streams.Commitment(task.id, node, start, load, end))
    if draw(st.booleans()):
        gone = streams.Commitment("gone", draw(st.integers(0, nodes - 1)), now / 2, 1, now)
        committed.append(gone)
    stated = {task.id: draw(quarters_or_none) for task in old}
    tasks = (
        replace(task, remaining=None if quarters is None else task.load * quarters / 4)
        for task in instance.tasks
        for quarters in (stated.get(task.id),)
    )
    return replace(
        instance,
        tasks=tuple(tasks),
        now=now,
        ready_times=ready,
        channel_ready=draw(rationals),
        committed=tuple(committed),
    )


@st.composite
def admission_plans(draw, *, unpromised=False, **options):
    """Return a stream and a valid plan of it; with `unpromised`, some acceptances promise nothing.

    The chunks are laid out first, in any order and with gaps; the deadlines of accepted tasks
    follow from where they end.
    """
    instance = draw(admission(**options))
    promised, remaining = instance.promised, instance.remaining
    decisions, parts = [], []
    for task in instance.tasks:
        old = task.id in promised
        accepted = old or draw(st.integers(0, 3)) > 0
        at = draw(st.sampled_from([task.arrival, instance.now])) if old else task.arrival
        promises = old or not (unpromised and draw(st.booleans()))
        decisions.append(streams.Decision(task.id, accepted, at, promises))
        if accepted and remaining[task.id] > 0:
            shares = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
            for share in shares:
                node = draw(st.integers(0, instance.cluster.nodes - 1))
                parts.append((task, node, remaining[task.id] * Fraction(share, sum(shares))))
    chunks = _laid_out(draw, instance, draw(st.permutations(parts)))
    ends = {}
    for chunk in chunks:
        ends[chunk.task] = max(chunk.computation_end, ends.get(chunk.task, 0))
    said = {decision.task: decision for decision in decisions}
    tasks = []
    for task in instance.tasks:
        if task.id in ends:
            early = [-1, 0, 2] if not said[task.id].promised else [0, 0, 2]
            span = ends[task.id] - task.arrival + draw(st.sampled_from(early))
            task = replace(task, deadline=max(span, 0))
        tasks.append(task)
    plan = streams.Solution(tuple(draw(st.permutations(decisions))), chunks)
    return replace(instance, tasks=tuple(tasks)), plan


def _laid_out(draw, instance, parts):
    """Return the chunks, one after the other on channel and nodes, now and then with a gap."""
    cluster = instance.cluster
    channel, free = instance.channel_free, list(instance.free_times)
    chunks = []
    for task, node, load in parts:
        start = max(task.arrival, channel, free[node]) + draw(gaps)
        channel = start + cluster.theta_cm + load * cluster.tau_of(node)
        begun = channel + draw(gaps)
        free[node] = begun + cluster.theta_cp + load * cluster.chi_of(node)
        chunks.append(streams.Chunk(task.id, node, load, start, channel, begun, free[node]))
    return tuple(chunks)
