"""EDF-IIT-1 on a busy cluster."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.edf_iit_1 import EdfIit1Planner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.heuristics.iit.edf_iit_1 import heterogeneous_view
from dlopt.problems.cluster import Cluster

F = Fraction
ONE = (F(1), F(1), F(0), F(0))


def task_planner(costs=ONE, nodes=2):
    return EdfIit1Planner(Algorithm.parse("edf-iit-1"), costs, nodes)


def test_by_hand():
    """tau = chi = 1, ready at 0 and 1, load 3: one node ends at 6, two promise 34/7.

    E(3, 2) = 4, so that the first node passes for one with chi = 4/5: x (9/5) = y 2 + x,
    hence x = 15/7, y = 6/7.
    """
    one = task_planner()
    assert one.place(ReadyTimes((0, 1), 0), 0, F(3), 6) == Placement(1, 0, 0, 3, 6)
    two = Placement(2, 0, 0, 3, F(34, 7))
    assert one.place(ReadyTimes((0, 1), 0), 0, F(3), 5) == two
    assert one.loads(F(3), [0, 1], two) == [F(15, 7), F(6, 7)]
    assert one.place(ReadyTimes((0, 1), 0), 0, F(3), 4) == DeadlineMiss(F(6, 7), "time")


def test_the_channel_waits_for_a_node():
    """The second node is ready after the first was sent to: the last send starts then."""
    place = task_planner((F(1), F(9), F(0), F(0))).place(ReadyTimes((0, 2), 0), 0, F(2), 12)
    view = heterogeneous_view(Cluster(2, 1, 9), (0, 2), 2, 2)
    assert view.loads[0] < 2
    assert place == Placement(2, 0, 0, 2 + view.loads[1], view.promise)


def test_nodes_that_are_ready_after_the_deadline_are_not_tried():
    assert task_planner().place(ReadyTimes((2, 9), 0), 0, F(3), 2) == DeadlineMiss(6, "time")


def test_set_up_costs_leave_a_node_nothing():
    """theta_cm = 2: the second node would get beta X_1 - theta_cm = 0."""
    costs = (F(1), F(1), F(2), F(0))
    assert task_planner(costs).place(ReadyTimes((0, 0), 0), 0, F(1), 3) == DeadlineMiss(1, "time")
    assert task_planner(costs).place(ReadyTimes((0, 0), 0), 0, F(1), 4) == Placement(1, 0, 0, 3, 4)


def test_nodes_are_held_until_the_promise():
    nodes = ReadyTimes((0, 1), 0)
    one = task_planner()
    nodes.allocate(one.place(nodes, 0, F(3), 5))
    assert nodes.ready() == [F(34, 7)] * 2


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5),
    st.integers(1, 20),
    st.integers(1, 40),
    st.integers(0, 3),
    st.sampled_from([0, 1]),
)
def test_the_fewest_nodes_whose_promise_is_in_time(ready, load, deadline, chi, theta_cm):
    cluster = Cluster(len(ready), 1, chi, theta_cm)
    ready.sort()
    views = [heterogeneous_view(cluster, ready, load, n) for n in range(1, len(ready) + 1)]
    known = views[: views.index(None)] if None in views else views
    found = task_planner((F(1), F(chi), F(theta_cm), F(0)), len(ready)).place(
        ReadyTimes(ready, 0), 0, F(load), F(deadline)
    )
    first = next((n for n, view in enumerate(known, 1) if view.promise <= deadline), None)
    if first is None:
        assert isinstance(found, DeadlineMiss)
        assert found.by >= min(view.promise for view in known) - deadline > 0
    else:
        assert (found.nodes, found.end) == (first, known[first - 1].promise)
        assert found.start <= found.sent <= found.end
