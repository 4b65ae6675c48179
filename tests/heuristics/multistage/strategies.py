"""Streams of tasks and reservations that keep an engine busy, in exact numbers."""

import random
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from dlopt.heuristics.multistage.busy_intervals import BusyIntervals, ReservedWindow
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task

F = Fraction
GAPS = [0, 0, 0, F(1, 2), 1, 3]
loads = st.builds(F, st.integers(1, 12), st.sampled_from([1, 2, 3]))
clusters = st.builds(
    Cluster,
    st.integers(1, 3),
    st.sampled_from([0, F(1, 2), 1, 1, 2]),
    st.sampled_from([1, F(3, 2), 2, 5]),
)
slacks = st.builds(F, st.integers(1, 60), st.sampled_from([1, 2]))
waits = st.builds(F, st.integers(0, 20), st.sampled_from([1, 2]))
lengths = st.builds(F, st.integers(1, 12), st.just(2))
wholes = st.integers(0, 6).map(F)


@cache
def no_or_ready_times(nodes):
    """Return a strategy for the ready times of so many nodes, or none."""
    return st.just(()) | st.tuples(*[st.integers(0, 6)] * nodes)


@st.composite
def reservations(draw, name, arrival, nodes, *, mandatory=False):
    """Return a reservation that is asked for at an instant."""
    start = arrival + draw(waits)
    end = start + draw(lengths)
    ratio = draw(st.sampled_from([0, 0, F(1, 4), F(1, 2), 1]))
    count = draw(st.integers(1, nodes))
    named = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=nodes, unique=True))
    wanted = draw(st.sampled_from([count, tuple(named)]))
    return Reservation(name, arrival, start, end, io_ratio=ratio, nodes=wanted, mandatory=mandatory)


@st.composite
def streams(draw, *, tasks=5, most=4):
    """Return a cluster that may be busy at first, with tasks and reservations that arrive."""
    cluster = draw(clusters)
    arrival, jobs = F(0), []
    for index in range(draw(st.integers(0, tasks))):
        arrival += draw(st.sampled_from(GAPS))
        jobs.append(Task(f"t{index}", arrival, draw(loads), draw(slacks)))
    arrival, wanted = F(0), []
    for index in range(draw(st.integers(int(not jobs), most))):
        arrival += draw(st.sampled_from(GAPS))
        wanted.append(draw(reservations(f"r{index}", arrival, cluster.nodes)))
    ready = draw(no_or_ready_times(cluster.nodes))
    channel = draw(st.sampled_from([0, 0, 1, 3]))
    return Instance(cluster, tuple(jobs), tuple(wanted), ready_times=ready, channel_ready=channel)


@st.composite
def states(draw, *, most=3, windows=4):
    """Return nodes with reservations that do not overlap: costs, windows, ready times, blocks."""
    nodes = draw(st.integers(1, most))
    costs = F(draw(st.sampled_from([1, 1, 2, F(1, 2)]))), F(draw(st.sampled_from([1, 2, 5])))
    ready = draw(st.lists(wholes, min_size=nodes, max_size=nodes))
    blocks, kept = BusyIntervals.of(ready, F(0), F(0)), []
    for _ in range(draw(st.integers(0, windows))):
        start, length = F(draw(st.integers(0, 14))), F(draw(st.integers(1, 8)))
        io = start + length * draw(st.sampled_from([0, 0, F(1, 4), F(1, 2), 1]))
        picked = draw(st.sets(st.integers(0, nodes - 1), min_size=1))
        window = ReservedWindow(start, io, start + length, tuple(sorted(picked)))
        busy = blocks.channel_busy(start, io)
        if not busy and not any(blocks.node_busy(j, start, window.end) for j in picked):
            blocks.reserve(window)
            kept.append(window)
    return costs, kept, ready, blocks


def hopeless_tasks(number=F):
    """Return tasks that nobody can complete, enough of them for a forecast of bid prices."""
    return [Task(f"hopeless{k}", number(0), number(F(1, 4)), number(F(1, 50))) for k in range(10)]


def random_stream(rng):
    """Return a small stream; with whole numbers, so that instants often coincide."""
    nodes = rng.randint(1, 2)
    jobs, arrival = [], 0
    for index in range(rng.randint(1, 3)):
        arrival += rng.choice([0, 0, 1, 2])
        load, deadline = F(rng.randint(1, 6), rng.choice([1, 2, 4])), rng.randint(1, 10)
        jobs.append(Task(f"t{index}", arrival, load, deadline))
    wanted, arrival = [], 0
    for index in range(rng.randint(0, 2)):
        arrival += rng.choice([0, 0, 1])
        start = arrival + rng.randint(0, 5)
        io = start + rng.choice([0, 1, 2])
        end = max(start + 1, io) + rng.choice([0, 0, 1, 2])
        node = rng.randrange(nodes)
        wanted.append(Reservation(f"r{index}", arrival, start, end, io_end=io, nodes=(node,)))
    ready = tuple(rng.choice([0, 0, 0, 1, 2, 3]) for _ in range(nodes))
    return Instance(Cluster(nodes, 1, 1), tuple(jobs), tuple(wanted), ready_times=ready)


def first_broken(algorithm, seed, count, broken):
    """Return the first of some random streams whose plan is broken, and how many were tried."""
    rng = random.Random(seed)
    for tried in range(1, count + 1):
        instance = random_stream(rng)
        if broken(instance, decide_all(algorithm, instance).plan()):
            return instance, tried
    return None, count
