"""EDF-IIT-2 over groups of ready times, held against the closed form over single nodes."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission import edf_iit_2
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.heuristics.iit import edf_iit_2 as closed_form
from dlopt.problems.cluster import Cluster
from tests.heuristics.reference.admission_planner import (
    ReferenceEdfIit2Planner,
    ReferenceReadyTimes,
)

F = Fraction
TWO = (F(1), F(2), F(0), F(0))
costs = st.tuples(st.integers(0, 4), st.integers(0, 9)).filter(lambda pair: sum(pair) > 0)
setups = st.tuples(st.sampled_from([0, 0, 1, 2, F(1, 3)]), st.sampled_from([0, 1, 3]))


def task_planner(name="edf-iit-2", numbers=TWO, nodes=3):
    return EdfIit2Planner(Algorithm.parse(name), tuple(map(F, numbers)), nodes)


@pytest.mark.parametrize(
    ("deadline", "expected"),
    [
        (9, Placement(1, 0, 0, 3, 9)),
        (8, Placement(2, 0, 0, 3, F(27, 5))),
        (F(27, 5), Placement(2, 0, 0, 3, F(27, 5))),
        (F(26, 5), Placement(3, 0, 0, F(103, 24), F(39, 8))),
        (F(39, 8), Placement(3, 0, 0, F(103, 24), F(39, 8))),
        (4, DeadlineMiss(F(7, 9), "load")),
        (0, DeadlineMiss(3, "load")),
    ],
)
def test_fewest_nodes_by_hand(deadline, expected):
    """tau = 1, chi = 2, ready at 0, 1, 4: three nodes share load 3 as 13/8, 13/12, 7/24."""
    found = task_planner().place(ReadyTimes((0, 1, 4), 0), 0, F(3), deadline)
    assert found == expected
    twin = ReferenceEdfIit2Planner(Algorithm.parse("edf-iit-2"), TWO, 3)
    assert twin.place(ReferenceReadyTimes((0, 1, 4), 0), 0, F(3), deadline) == expected


def test_loads_by_hand():
    place = task_planner().place(ReadyTimes((0, 1, 4), 0), 0, F(3), 5)
    assert task_planner().loads(F(3), [0, 1, 4], place) == [F(13, 8), F(13, 12), F(7, 24)]


def test_all_nodes_that_help():
    """Load 1 ends at 9/5 on two nodes: the third is ready too late."""
    every = task_planner("edf-iit-an")
    place = every.place(ReadyTimes((0, 0, 4), 0), 0, F(1), 2)
    assert place == Placement(2, 0, 0, 1, F(9, 5))
    assert every.loads(F(1), [0, 0], place) == [F(3, 5), F(2, 5)]
    assert every.place(ReadyTimes((0, 0, 4), 0), 0, F(1), 1) == DeadlineMiss(F(4, 5), "time")
    twin = ReferenceEdfIit2Planner(Algorithm.parse("edf-iit-an"), TWO, 3)
    assert twin.place(ReferenceReadyTimes((0, 0, 4), 0), 0, F(1), 1) == DeadlineMiss(
        F(4, 5), "time"
    )


def test_a_floor_makes_nodes_ready_later():
    nodes = ReadyTimes((0, 1, 4), 0)
    assert task_planner().place(nodes, 4, F(3), 100) == Placement(1, 4, 4, 7, 13)
    assert nodes.ready() == [4, 4, 4]


def test_set_up_costs_starve_the_last_nodes_of_a_group():
    """theta_cm = 1, by 6: X = 5, 5/2 - 1 = 3/2; a third node would get 3/4 - 1 < 0."""
    two = task_planner(numbers=(1, 1, 1, 0), nodes=4)
    place = two.place(ReadyTimes((0,) * 4, 0), 0, F(13, 4), 6)
    assert (place.nodes, place.end) == (2, 6)
    assert two.loads(F(13, 4), [0, 0], place) == [F(5, 2), F(3, 4)]
    assert two.place(ReadyTimes((0,) * 4, 0), 0, F(7, 2), 6) == DeadlineMiss(F(1, 4), "load")


def test_set_up_costs_starve_the_next_group():
    """As above, with the second node ready a little later: it still follows the first."""
    two = task_planner(numbers=(1, 1, 1, 0), nodes=3)
    place = two.place(ReadyTimes((0, 1, 2), 0), 0, F(13, 4), 6)
    assert (place.nodes, place.end, place.sent) == (2, 6, F(21, 4))
    assert two.place(ReadyTimes((0, 1, 2), 0), 0, F(7, 2), 6) == DeadlineMiss(F(1, 4), "load")


def test_transmission_for_nothing():
    """tau = 0: each node computes from its ready time on; 3 = (2 - 0) + (2 - 1)."""
    found = task_planner(numbers=(0, 1, 0, 0)).place(ReadyTimes((0, 1, 9), 0), 0, F(3), F(5, 2))
    assert found == Placement(2, 0, 0, 1, 2)


def test_computation_for_nothing():
    """chi = 0: the channel is all there is, and one node keeps it busy."""
    assert task_planner(numbers=(2, 0, 0, 0)).place(
        ReadyTimes((0, 0, 5), 0), 0, F(3), 6
    ) == Placement(1, 0, 0, 6, 6)
    assert task_planner(numbers=(2, 0, 0, 0)).place(
        ReadyTimes((0, 0, 5), 0), 0, F(3), 5
    ) == DeadlineMiss(F(1, 2), "load")


def test_a_node_that_follows_at_the_deadline_leads_at_the_completion():
    """tau = chi = 1, ready at 0 and 3: X = 7 and 7/2, of 4, at 7; X = 11/2 and 5/2 at 11/2."""
    one = task_planner(numbers=(1, 1, 0, 0))
    place = one.place(ReadyTimes((0, 3, 3), 0), 0, F(4), 7)
    assert place == Placement(2, 0, 0, F(17, 4), F(11, 2))
    assert one.loads(F(4), [0, 3], place) == [F(11, 4), F(5, 4)]


@st.composite
def situations(draw):
    """Return costs, ready times in groups, and work that now and then just fits."""
    numbers = tuple(map(F, (*draw(costs), *draw(setups))))
    groups = draw(
        st.lists(st.tuples(st.integers(0, 15), st.integers(1, 5)), min_size=1, max_size=5)
    )
    ready = sorted(F(instant, 2) for instant, count in groups for _ in range(count))
    load = draw(st.builds(F, st.integers(1, 40), st.integers(1, 6)))
    deadline = draw(st.builds(F, st.integers(0, 120), st.integers(1, 4)))
    return numbers, ready, load, deadline


@pytest.mark.property
@given(situations(), st.sampled_from(["edf-iit-2", "edf-iit-an"]))
def test_groups_and_single_nodes_agree(situation, name):
    numbers, ready, load, deadline = situation
    fast = EdfIit2Planner(Algorithm.parse(name), numbers, len(ready))
    reference = ReferenceEdfIit2Planner(Algorithm.parse(name), numbers, len(ready))
    found = fast.place(ReadyTimes(ready, 0), 0, load, deadline)
    assert found == reference.place(ReferenceReadyTimes(ready, 0), 0, load, deadline)
    if isinstance(found, Placement):
        cluster = Cluster(len(ready), *numbers)
        most = found.nodes if name == "edf-iit-2" else None
        end, shares = closed_form.minimum_completion(cluster, ready, load, most)
        assert end == found.end <= deadline
        assert fast.loads(load, ready[: found.nodes], found) == shares


@pytest.mark.property
@given(situations(), st.floats(0, 1e9))
def test_floats_keep_the_whole_load(situation, origin):
    numbers, ready, load, _ = situation
    floating = tuple(map(float, numbers))
    fast = EdfIit2Planner(Algorithm.parse("edf-iit-2"), floating, len(ready))
    ready = [origin + float(instant) for instant in ready]
    load = float(load) / 1000
    found = fast.place(ReadyTimes(ready, 0.0), 0.0, load, origin + 1e6)
    shares = fast.loads(load, ready[: found.nodes], found)
    assert sum(shares) == pytest.approx(load, rel=1e-12)
    assert min(shares) >= 0


@pytest.mark.parametrize("load", [1e-12, 1e-3])
def test_a_load_that_is_lost_beside_the_instants_goes_to_the_first_node(load):
    fast = EdfIit2Planner(Algorithm.parse("edf-iit-2"), (1.0, 2.0, 0.0, 0.0), 2)
    late = Placement(2, 0.0, 1e15, 1e15, 1e15)
    assert fast.loads(load, [1e15, 1e15], late) == [load, 0]


def test_newton_s_method_ends_even_if_it_goes_round(monkeypatch):
    """Without a step, the leaders at the deadline are taken for those at the completion."""
    monkeypatch.setattr(edf_iit_2, "MAX_NEWTON_STEPS", 0)
    assert task_planner().place(ReadyTimes((0, 1, 4), 0), 0, F(3), F(39, 8)).end == F(39, 8)
    wrong = task_planner(numbers=(1, 1, 0, 0)).place(ReadyTimes((0, 3, 3), 0), 0, F(4), 7)
    assert wrong.end == F(16, 3)


def test_newtons_method_takes_more_than_one_step():
    """After the first step from the deadline, other nodes lead than at the completion."""
    costs = (F(5), F(14), F(0), F(0))
    ready = (F(27, 10), F(19, 5), F(19), F(192, 7), F(100), F(195))
    found = task_planner(numbers=costs, nodes=6).place(ReadyTimes(ready, F(0)), F(0), F(5), F(44))
    assert (found.nodes, found.end) == (4, F(3249317, 82880))
    twin = ReferenceEdfIit2Planner(Algorithm.parse("edf-iit-2"), costs, 6)
    assert twin.place(ReferenceReadyTimes(ready, F(0)), F(0), F(5), F(44)) == found
    loads = task_planner(numbers=costs, nodes=6).loads(F(5), list(ready[:4]), found)
    assert sum(loads) == 5
