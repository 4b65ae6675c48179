"""Planners of FAST-EDF-IIT to test, and reference computations."""

from fractions import Fraction

from hypothesis import strategies as st

from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.planner_factory import make_planner
from dlopt.heuristics.admission.records import QueuedTask
from tests.heuristics.reference.admission_engine import reference_planner

SOUND = ("r0", "r1", "r2", "replay")
READINGS = ("waiting", "edf", "dispatched", "chunk")
EVENTS = ("arrivals-first", "one-by-one", "dispatch-first")


def costs(tau, chi):
    """Return costs in fractions, without set-up costs."""
    return Fraction(tau), Fraction(chi), Fraction(0), Fraction(0)


def waiting(number, arrival, load, deadline, kind=Fraction):
    """Return a task; its deadline is relative."""
    due = kind(arrival) + kind(deadline)
    return QueuedTask((due, number), f"t{number}", kind(arrival), kind(load), due)


def empty_planner(policy, nodes, tau, chi, ready=None, channel=0, reference=False, **options):
    """Return an empty planner in fractions, at the instant 0."""
    if isinstance(policy, str):
        policy = FastAlgorithm(policy)
    ready = [Fraction(instant) for instant in ready or [0] * nodes]
    make = reference_planner if reference else make_planner
    return make(policy, costs(tau, chi), ready, Fraction(channel), Fraction(0), **options)


def rejections(made, tasks):
    """Offer tasks (arrival, load, relative deadline), and return who would miss, or None."""
    return [made.try_admit(waiting(number, *task)) for number, task in enumerate(tasks)]


def certain(tau, chi, instants, due):
    """Return what nodes that can be sent to from some instants on are certain to do by `due`."""
    beta = Fraction(chi) / (tau + chi)
    ready = sorted(instants)
    return sum(beta**k * max(0, due - m) for k, m in enumerate(ready)) / Fraction(tau + chi)


def prices(least=0):
    """Draw tau and chi, not both 0."""
    prices = st.tuples(st.integers(least, 3), st.integers(0, 5))
    return prices.filter(lambda pair: sum(pair) > 0)


@st.composite
def streams(draw, *, tasks=10, busy=True):
    """Draw nodes, tau, chi, ready times, channel and tasks (arrival, load, deadline)."""
    tau, chi = draw(prices())
    nodes = draw(st.integers(1, 5))
    instants = st.integers(0, 8) if busy else st.just(0)
    ready = draw(st.lists(instants, min_size=nodes, max_size=nodes))
    channel = draw(instants)
    gap, now, drawn = draw(st.sampled_from([1, 2, 4])), Fraction(0), []
    for _ in range(draw(st.integers(1, tasks))):
        now += Fraction(draw(st.integers(0, gap)), draw(st.sampled_from([1, 2])))
        load = Fraction(draw(st.integers(1, 6)), draw(st.sampled_from([1, 3])))
        deadline = load * (tau + chi) * Fraction(draw(st.integers(2, 30)), 8)
        drawn.append((now, load, deadline))
    return nodes, tau, chi, ready, channel, drawn
