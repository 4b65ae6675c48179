"""Two chunks of a task on a node, and three nodes that differ, held against brute force."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.models.admission.methods import bound_fluid, bound_window, exact_plan, feasible_queue
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.result import Status
from tests import oracles_admission as oracle
from tests.models.admission.sample_instances import stream

F = Fraction

TWICE = (
    stream(2, 1, 3, (0, 1, F(9, 4))),
    stream(2, 2, 2, (0, 1, F(18, 7))),
    stream(2, 1, 2, (0, 2, F(25, 7))),
    stream(2, 1, 1, (0, 1, F(9, 7))),
)
"""Only with two chunks a node is the task in time."""


@pytest.mark.parametrize("instance", TWICE)
def test_two_chunks_a_node_do_what_one_cannot(instance):
    assert (oracle.most(instance), oracle.most(instance, installments=2)) == (0, 1)
    for installments, most in ((1, 0), (2, 1)):
        found = exact_plan(instance, installments=installments)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
        assert bound_window(instance, installments=installments).bound == most
        whole = feasible_queue(instance, installments=installments)
        assert (whole.status is Status.OPTIMAL) == bool(most)


@pytest.mark.parametrize(
    "instance",
    [
        stream(2, 1, 1, (0, 2, F(16, 7)), (0, 2, F(16, 7))),
        stream(2, 1, 1, (0, 3, F(11, 3)), (0, 3, F(11, 3))),
        stream(2, 2, 2, (0, 3, 7), (0, 3, F(15, 2))),
    ],
)
def test_cuts_for_two_chunks_a_node_cut_off_no_plan(instance):
    """One chunk a node does none of the tasks, two chunks a node do one."""
    whole = [oracle.feasible(instance, (task,), 2) for task in instance.tasks]
    assert any(whole)
    assert not any(oracle.feasible(instance, (task,)) for task in instance.tasks)
    assert bound_window(instance).bound == 0
    assert bound_window(instance, installments=2).bound == 1


@st.composite
def tight(draw, nodes, tasks, identical=True):
    """Return tasks that arrive at 0 or 1, due about when fluids or two chunks could be done."""
    pairs = [(draw(st.integers(0, 2)), draw(st.integers(1, 3))) for _ in range(nodes)]
    pairs = pairs[:1] * nodes if identical else pairs
    setup = draw(st.sampled_from([(0, 0), (0, 0), (F(1, 4), 0), (0, F(1, 3))]))
    cluster = Cluster(nodes, *zip(*pairs, strict=True), *setup)
    ready = tuple(draw(st.sampled_from([0, 0, F(1, 2), 1])) for _ in range(nodes))
    made = []
    for _ in range(tasks):
        arrival, load = draw(st.sampled_from([0, 0, 1])), draw(st.integers(1, 3))
        unit = min(sum(pair) for pair in pairs)
        share = draw(st.sampled_from([F(1, 3), F(1, 2), F(2, 3), F(4, 5), 1, F(3, 2)]))
        made.append((arrival, load, max(load * unit * share, F(1, 8)) + draw(st.integers(0, 1))))
    made.sort(key=lambda task: task[0])
    named = (Task(f"t{index}", *task) for index, task in enumerate(made))
    return Instance(cluster, tuple(named), ready_times=ready)


def assert_agreement(instance, installments):
    """Hold optimum and bounds against brute force."""
    most = oracle.most(instance, installments=installments)
    found = exact_plan(instance, installments=installments)
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
    assert violations(instance, found.solution) == ()
    window = bound_window(instance, installments=installments)
    assert bound_fluid(instance).bound >= window.bound >= most


@pytest.mark.property
@given(tight(1, 2))
def test_two_tasks_in_two_chunks_are_brute_force(instance):
    assert_agreement(instance, 2)


@pytest.mark.property
@given(tight(2, 1, identical=False))
def test_two_nodes_that_differ_in_two_chunks_are_brute_force(instance):
    assert_agreement(instance, 2)


@pytest.mark.property
@given(tight(3, 1, identical=False))
def test_three_nodes_that_differ_are_brute_force(instance):
    assert_agreement(instance, 1)


THREE = (
    ((0, 1, 1), (3, 2, 2), (0, 0, 1), (0, 1, F(3, 2)), (1, 2, F(7, 2))),
    ((1, 2, 1), (2, 1, 3), (0, 0, 0), (0, 1, F(3, 2)), (0, 2, 4)),
)


@pytest.mark.parametrize(("tau", "chi", "ready", "first", "second"), THREE)
def test_two_tasks_on_three_nodes_that_differ(tau, chi, ready, first, second):
    tasks = (Task("a", *first), Task("b", *second))
    assert_agreement(Instance(Cluster(3, tau, chi), tasks, ready_times=ready), 1)
