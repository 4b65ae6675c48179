"""Small instances with reservations, made by hand and by chance."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Grant, Instance, Reservation, Solution, Task, violations
from tests.strategies import admission, admission_plans, rationals


def around(nodes, tau, chi, *tasks, held=(), **state):
    """Return an instance: tasks (arrival, load, deadline) a, b, ..; reservations (arrival, start,
    I/O end, end, nodes) r, s, ..."""
    named = (Task(name, *task) for name, task in zip("abcdef", tasks, strict=False))
    wanted = (
        Reservation(name, arrival, start, end, io_end=sent, nodes=which)
        for name, (arrival, start, sent, end, which) in zip("rstuvw", held, strict=False)
    )
    return Instance(Cluster(nodes, tau, chi), tuple(named), tuple(wanted), **state)


# One chunk a gap on each node cannot do what flows: the task or the reservation.
EITHER = around(2, 1, 2, (0, 2, 4), held=((0, 2, 4, 9, (1,)),))
BOTH = around(2, 1, 2, (0, Fraction(16, 9), 4), held=((0, 2, 4, 9, (1,)),))
CROWD = around(
    3,
    1,
    2,
    *[(k, 3, 9) for k in range(4)],
    held=((0, 2, 3, 6, 2), (1, 5, 5, 9, (0,)), (2, 4, 6, 7, 1)),
)


@st.composite
def mixed(draw, *, most=2, tasks=2, wanted=2, setup=True, identical=True, state=False, named=None):
    """Return an instance in exact numbers; with `named`, all reservations name their nodes."""
    stream = draw(admission(most=most, tasks=tasks, setup=setup, identical=identical, state=state))
    nodes = stream.cluster.nodes
    arrivals = sorted(draw(st.lists(rationals, max_size=wanted)))
    reservations = []
    for index, arrival in enumerate(arrivals):
        start = arrival + draw(rationals) / draw(st.sampled_from([1, 2, 6]))
        end = start + draw(st.builds(Fraction, st.integers(1, 24), st.integers(1, 4)))
        share = Fraction(draw(st.integers(0, 4)), 4)
        which = draw(st.sets(st.integers(0, nodes - 1), min_size=1))
        counted = named is not True and arrival >= stream.now and draw(st.booleans())
        reservations.append(
            Reservation(
                f"r{index}",
                arrival,
                start,
                end,
                io_end=start + share * (end - start),
                nodes=len(which) if counted else tuple(sorted(which)),
                mandatory=draw(st.integers(0, 5)) == 0,
            )
        )
    return Instance(
        stream.cluster,
        stream.tasks,
        tuple(reservations),
        now=stream.now,
        ready_times=stream.ready_times,
        channel_ready=stream.channel_ready,
        committed=stream.committed,
    )


@st.composite
def plans(draw, **options):
    """Return an instance and a valid plan of it: chunks first, then reservations that fit."""
    stream, plan = draw(admission_plans(**options))
    nodes = stream.cluster.nodes
    state = ("now", "ready_times", "channel_ready", "committed")
    kept = {name: getattr(stream, name) for name in state}
    wanted, grants = [], []
    for index, later in enumerate(sorted(draw(st.lists(rationals, max_size=4)))):
        start = stream.now + later + draw(rationals)
        end = start + draw(st.builds(Fraction, st.integers(1, 24), st.integers(1, 4)))
        which = tuple(sorted(draw(st.sets(st.integers(0, nodes - 1), min_size=1))))
        sent = start + (end - start) * Fraction(draw(st.integers(0, 2)), 4)
        counted = draw(st.booleans())
        one = Reservation(
            f"r{index}",
            stream.now + later,
            start,
            end,
            io_end=sent,
            nodes=len(which) if counted else which,
        )
        wanted.append(one)
        instance = Instance(stream.cluster, stream.tasks, tuple(wanted), **kept)
        yes, no = Grant(one.id, True, one.arrival, which), Grant(one.id, False, one.arrival)
        trial = Solution(plan.decisions, (*grants, yes), plan.chunks)
        grants.append(no if violations(instance, trial) else yes)
    instance = Instance(stream.cluster, stream.tasks, tuple(wanted), **kept)
    return instance, Solution(plan.decisions, tuple(grants), plan.chunks)


@st.composite
def alone(draw, *, most=3, wanted=3, setup=False, identical=True):
    """Return an instance of one task and of reservations, with nodes, that do not overlap."""
    instance = draw(
        mixed(most=most, tasks=1, wanted=wanted, setup=setup, identical=identical, named=True)
    )
    ready = draw(st.just(()) | st.tuples(*[rationals] * instance.cluster.nodes))
    return replace(instance, ready_times=ready)
