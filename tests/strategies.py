"""Hypothesis strategies for small exact instances of every problem."""

from fractions import Fraction

from hypothesis import strategies as st

from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance

small = st.integers(0, 6)
rationals = st.builds(Fraction, st.integers(0, 24), st.integers(1, 4))


@st.composite
def clusters(draw, nodes, *, setup=True, identical=True, positive_tau=False):
    """Return a cluster; now and then tau or chi is 0, never both on one node."""
    costs = st.tuples(st.integers(int(positive_tau), 4), small).filter(lambda c: sum(c) > 0)
    pairs = [draw(costs)] * nodes if identical else [draw(costs) for _ in range(nodes)]
    theta_cm = draw(st.sampled_from([0, 0, 1, 2, Fraction(1, 3)])) if setup else 0
    theta_cp = draw(st.sampled_from([0, 0, 1, 3])) if setup else 0
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
