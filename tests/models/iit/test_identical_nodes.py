"""Identical nodes with set-up costs and numbers of all magnitudes, against brute force."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dlopt import solve
from dlopt.arithmetic import exact
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance
from dlopt.result import Status
from tests import oracles_iit as oracle

F = Fraction

FEW_USEFUL = Instance(
    Cluster(3, tau=F(23, 840000), chi=15000, theta_cm=F(1, 10)),
    (F(75, 2), F(346, 7), F(173, 12)),
    F(708000, 7),
)
"""Beside a completion of 5e8 a solver in floats does not see that another node helps."""


def test_every_node_that_helps_is_used_where_floats_hide_it():
    best = oracle.least_completion(FEW_USEFUL)
    assert round(float(best), 1) == 505714320.5
    found = solve(FEW_USEFUL)
    assert (found.status, found.proof, found.value) == (Status.OPTIMAL, "certificate", best)
    met = solve(replace(FEW_USEFUL, absolute_deadline=10**9))
    assert met.status is Status.OPTIMAL and met.value == best


@st.composite
def far_apart(draw):
    """Return an instance of identical nodes whose costs, times and load differ by powers of ten."""
    magnitudes = st.sampled_from([F(10) ** k for k in range(-5, 6)])
    digits = st.builds(F, st.integers(1, 99), st.sampled_from([1, 7, 12]))
    some = st.builds(lambda number, unit: number * unit, digits, magnitudes)
    maybe = st.one_of(st.just(0), some)
    tau, chi = draw(st.tuples(maybe, maybe).filter(any))
    nodes = draw(st.integers(1, 3))
    cluster = Cluster(nodes, tau, chi, theta_cm=draw(maybe), theta_cp=draw(maybe))
    return Instance(cluster, tuple(draw(maybe) for _ in range(nodes)), load=draw(some))


@given(far_apart())
def test_numbers_of_all_magnitudes_are_solved_exactly(instance):
    best = oracle.least_completion(instance)
    found = solve(instance)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, best, best)
    assert exact(solve(instance, "bound-fluid").bound) <= best


@given(far_apart())
def test_deadlines_of_all_magnitudes_are_decided(instance):
    best = oracle.least_completion(instance)
    tight = replace(instance, absolute_deadline=best)
    for goal, least in (("completion", best), ("nodes", oracle.fewest_nodes(tight))):
        met = solve(tight, objective=goal)
        assert (met.status, met.value) == (Status.OPTIMAL, least)
    first = min(instance.ready_times)
    early = replace(instance, absolute_deadline=first + (best - first) * (1 - F(1, 10**12)))
    assert solve(early).status is Status.INFEASIBLE
