"""Identical machines: of equal costs, input and output times, and links."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check, solve
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.dag import Edge, Graph, Instance, Lan, Link, Machine, Network, Task
from tests import oracles_dag
from tests.strategies_dag import costs, positive

ALIKE = (Machine("m", lan=0), Machine("n", lan=1))
HOME = Graph("g", (Task("t", work=1), Task("u", work=1)), lan=0, output=8)


def groups(machines, graph, network):
    return ScaledInstance.from_instance(Instance(machines, (graph,), network)).identical_machines


def test_machines_that_send_their_output_at_different_speeds_are_not_alike():
    """Nothing comes in and all tasks take the same: only what is sent home takes longer."""
    lans = (Lan("a", bandwidth=8), Lan("b", bandwidth=1))
    network = Network(bandwidth=10**9, lans=lans)
    assert groups(ALIKE, HOME, network) == [[0], [1]]
    scaled = ScaledInstance.from_instance(Instance(ALIKE, (HOME,), network))
    assert (
        scaled.release_times[0][0] == scaled.release_times[0][1]
        and scaled.delivery_times[0][0] != scaled.delivery_times[0][1]
    )
    same = replace(network, lans=(lans[0], replace(lans[0], id="b")), bandwidth=1)
    assert groups(ALIKE, replace(HOME, output=0, lan=None), same) == [[0, 1]]


def test_machines_with_a_link_of_one_direction_are_not_alike():
    three = (Machine("m"), Machine("n"), Machine("o"))
    graph = Graph("g", (Task("t", work=1), Task("u", work=1)), (Edge(0, 1, 4),))
    for there, back in ((4, 1), (1, 4), (4, 2)):  # all others have bandwidth 1
        both = (Link(0, 1, bandwidth=there), Link(1, 0, bandwidth=back))
        assert groups(three, graph, Network(links=both)) == [[0], [1], [2]]
    assert groups(three, graph, Network(links=both[:1])) == [[0, 1], [2]]
    assert groups(three, graph, Network()) == [[0, 1, 2]]


def test_a_machine_with_a_fast_link_is_needed_for_what_it_sends():
    """Machines 0 and 2 cost the same, but only machine 0 sends fast to machine 1."""
    either, other = (5, None, 5), (None, 5, None)
    tasks = tuple(
        Task(name, costs=row)
        for name, row in zip("abcd", (either, either, (2, None, 2), other), strict=True)
    )
    graph = Graph("g", tasks, (Edge(0, 3, data=4), Edge(1, 3, data=8)))
    links = (Link(0, 1, bandwidth=4), Link(1, 0, bandwidth=1))
    instance = Instance((Machine("m"), Machine("n"), Machine("o")), (graph,), Network(links=links))
    for name in ("makespan", "total-response-time"):
        found, best = solve(instance, "exact", objective=name), oracles_dag.best(instance, name)
        assert (str(found.status), found.value, found.bound) == ("optimal", best, best)


@st.composite
def graph_lan(draw):
    """Return machines that cost the same, in LANs of different bandwidth, and tasks of a home."""
    lans = tuple(Lan(name, draw(positive)) for name in "ab")
    machines = tuple(Machine(f"m{k}", lan=k % 2) for k in range(draw(st.integers(2, 3))))
    count = draw(st.integers(1, 3))
    tasks = tuple(Task(f"t{k}", work=draw(costs)) for k in range(count))
    graph = Graph("g", tasks, lan=0, input=draw(st.sampled_from([0, 1])), output=draw(costs))
    return Instance(machines, (graph,), Network(bandwidth=draw(positive), lans=lans))


@pytest.mark.property
@given(graph_lan(), st.sampled_from(["makespan", "total-response-time"]))
def test_lans_of_different_bandwidth_against_brute_force(instance, name):
    best = oracles_dag.best(instance, name)
    found = solve(instance, "exact", objective=name)
    assert (str(found.status), found.value, found.bound) == ("optimal", best, best)
    assert check(instance, found.solution) == ()
