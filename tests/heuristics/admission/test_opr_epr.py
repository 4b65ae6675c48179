"""OPR and EPR on a busy cluster: placements that can be checked by hand."""

from fractions import Fraction

import pytest

from dlopt.heuristics.admission import opr_epr
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from tests.heuristics.reference.admission_planner import ReferenceOprEprPlanner, ReferenceReadyTimes

F = Fraction
ONE = (F(1), F(1), F(0), F(0))
"""tau = chi = 1: of load 3, OPR needs 6, 4, 24/7 on 1, 2, 3 nodes, and EPR 6, 9/2, 4."""


def task_planner(name, costs=ONE, nodes=3):
    return OprEprPlanner(Algorithm.parse(name), costs, nodes)


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [
        (6, Placement(1, 0, 0, 3, 6)),
        (100, Placement(1, 0, 0, 3, 6)),
        (F(59, 10), Placement(2, 1, 1, 4, 5)),
        (5, Placement(2, 1, 1, 4, 5)),
        (F(49, 10), DeadlineMiss(F(1, 10), "time")),
        (0, DeadlineMiss(5, "time")),
    ],
)
def test_fewest_nodes_wait_for_the_last_of_them(deadline, expected):
    """Three nodes at 2 would need until 38/7, which is no earlier than two at 1."""
    for reference in (False, True):
        kind, state = (
            (ReferenceOprEprPlanner, ReferenceReadyTimes)
            if reference
            else (OprEprPlanner, ReadyTimes)
        )
        nodes = state((0, 1, 2), 0)
        found = kind(Algorithm.parse("edf-opr-mn"), ONE, 3).place(nodes, 0, F(3), deadline)
        assert found == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("edf-opr-an", Placement(3, 2, 2, 5, F(38, 7))),
        ("edf-epr-an", Placement(3, 2, 2, 5, 6)),
        ("fifo-anna", Placement(3, 2, 2, 5, F(38, 7))),
    ],
)
def test_all_nodes(name, expected):
    assert task_planner(name).place(ReadyTimes((0, 1, 2), 0), 0, F(3), 6) == expected


def test_all_nodes_too_late():
    assert task_planner("edf-opr-an").place(ReadyTimes((0, 1, 2), 0), 0, F(3), 5) == DeadlineMiss(
        F(3, 7), "time"
    )
    assert task_planner("edf-epr-an").place(ReadyTimes((0, 1, 2), 0), 0, F(3), 5) == DeadlineMiss(
        1, "time"
    )
    late = task_planner("edf-anna").place(ReadyTimes((0, 1, 2), 0), 0, F(3), 5)
    assert late == Placement(3, 2, 2, 5, F(38, 7))


def test_a_floor_makes_nodes_ready_later():
    nodes = ReadyTimes((0, 1, 2), 0)
    assert task_planner("edf-opr-mn").place(nodes, 2, F(3), 6) == Placement(2, 2, 2, 5, 6)
    assert nodes.ready() == [2, 2, 2]


def test_a_miss_is_the_least_that_any_number_of_nodes_misses_by():
    """The node that is ready at the deadline is 200 late, two nodes 1/10 later only 400/3."""
    nodes = (F(0), F(1, 10))
    costs = (F(1), F(1), F(0), F(0))
    fast = OprEprPlanner(Algorithm.parse("edf-opr-mn"), costs, 2)
    reference = ReferenceOprEprPlanner(Algorithm.parse("edf-opr-mn"), costs, 2)
    expected = DeadlineMiss(F(400, 3) + F(1, 10), "time")
    assert fast.place(ReadyTimes(nodes, 0), 0, F(100), 0) == expected
    assert reference.place(ReferenceReadyTimes(nodes, 0), 0, F(100), 0) == expected


def test_epr_does_not_try_nodes_that_do_not_help():
    """theta_cm = 5, load 11: E(1) = 27, E(2) = 53/2, E(3) = 89/3."""
    epr = task_planner("edf-epr-mn", (F(1), F(1), F(5), F(0)))
    assert epr.work(F(11)).most == 2
    assert epr.place(ReadyTimes((0, 0, 0), 0), 0, F(11), 27).nodes == 1
    assert epr.place(ReadyTimes((0, 0, 0), 0), 0, F(11), F(53, 2)).nodes == 2
    assert epr.place(ReadyTimes((0, 0, 0), 0), 0, F(11), 26) == DeadlineMiss(F(1, 2), "time")
    assert task_planner("edf-epr-an", (F(1), F(1), F(5), F(0))).place(
        ReadyTimes((0, 0, 9), 0), 0, F(11), 100
    ) == Placement(2, 0, 0, 21, F(53, 2))


def test_set_up_costs():
    """theta_cm = 1, theta_cp = 2: one node sends for 4 and computes for 5; two share 11/3, 4/3."""
    opr = task_planner("edf-opr-mn", (F(1), F(1), F(1), F(2)), 2)
    assert opr.place(ReadyTimes((0, 0), 0), 0, F(3), 9) == Placement(1, 0, 0, 4, 9)
    found = opr.place(ReadyTimes((0, 0), 0), 0, F(3), 8)
    assert found == Placement(2, 0, 0, 5, F(23, 3))
    assert opr.loads(F(3), [], found) == [F(7, 3), F(2, 3)]


def test_transmission_for_nothing():
    """tau = 0: the channel is never held; three nodes do load 3 in 1."""
    opr = task_planner("edf-opr-mn", (F(0), F(1), F(0), F(0)))
    assert opr.place(ReadyTimes((0, 0, 4), 0), 0, F(3), F(3, 2)) == Placement(2, 0, 0, 0, F(3, 2))
    assert opr.place(ReadyTimes((0, 0, 0), 0), 0, F(3), 1) == Placement(3, 0, 0, 0, 1)


@pytest.mark.parametrize("name", ["edf-opr-mn", "edf-opr-an", "edf-epr-mn", "edf-epr-an"])
def test_computation_for_nothing(name):
    """chi = 0: one node is as good as all, and holds the channel throughout."""
    found = task_planner(name, (F(2), F(0), F(0), F(0))).place(ReadyTimes((0, 1, 1), 0), 0, F(3), 6)
    assert found == Placement(1, 0, 0, 6, 6)


def test_the_derivative_of_the_cost():
    """Of load 3: W(1) = 6, W(2) = 8, W(3) = 72/7, W(4) = 64/5."""
    opr = task_planner("mwf-opr-mn")
    assert [opr.fewest(F(3), slack) for slack in (6, 5, F(24, 7), 3)] == [1, 2, 3, None]
    for _ in range(2):
        assert [opr.derivative(F(3), n) for n in (1, 2, 3)] == [2, F(16, 7), F(88, 35)]


def test_what_is_known_of_loads_is_forgotten_at_times(monkeypatch):
    monkeypatch.setattr(opr_epr, "MAX_CACHED_LOADS", 3)
    opr = task_planner("edf-opr-mn")
    first = [opr.work(F(load)) for load in range(1, 5)]
    assert all(opr.work(F(load)) is kept for load, kept in enumerate(first, 1))
    found = opr.work(F(1, 2))
    assert (found.most, found.time(1), found.derivatives) == (3, 1, {})
    assert opr.work(F(1, 2)) is found and opr.work(F(1)) is not first[0]


def test_rounding_does_not_lose_the_fewest_nodes():
    """What one comparison in floats calls in time, the search must not call late."""
    opr = task_planner("edf-opr-mn", (0.1, 0.7, 0.0, 0.3), 5)
    time = opr.durations.of(3.3)
    for n in range(1, 6):
        for steps in range(-3, 4):
            deadline = 7.7 + time(n) + steps * 2**-50
            found = opr.place(ReadyTimes((7.7,) * 5, 0.0), 0.0, 3.3, deadline)
            if isinstance(found, Placement):
                assert found.nodes in (n, n + 1)
                assert found.end <= deadline + 2**-48
            else:
                assert n == 5
                assert deadline < 7.7 + time(5)


@pytest.mark.parametrize("name", ["edf-opr-mn", "mwf-opr-mn", "mcdf", "edf-iit-2", "edf-epr-mn"])
def test_a_hundred_thousand_nodes_in_exact_numbers(name):
    """Of load 10 at tau = 1, chi = 100, E(n) = 10 / (1 - (100/101)^n): 29.86.. on 41 nodes."""
    head = Admission(Cluster(10**5, 1, 100), name, now=F(0))
    assert head.submit(Task("a", 0, 10, 30)).accepted
    assert head.submit(Task("b", 0, 10, 50)).accepted
    first, second = head.placements()
    assert first.placement.nodes == (50 if "epr" in name else 41)
    assert second.placement.start == 10
    assert first.placement.end <= 30
    late = head.submit(Task("late", 0, 10, 10))
    assert not late.accepted
