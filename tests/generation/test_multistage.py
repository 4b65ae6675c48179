"""Streams of which a share is reserved."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.generation.multistage import mamat5, reserve, small
from dlopt.problems import admission
from dlopt.problems.admission import Commitment, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Decision, Grant, Solution, violations

PAIR = Cluster(2, tau=1, chi=1)


def stream(*tasks, cluster=PAIR, **state):
    return admission.Instance(cluster, tuple(tasks), **state)


def test_a_task_becomes_the_reservation_that_would_have_done_it():
    """Load 2 within 3 takes both nodes: 8/3, of which 2 are for the channel."""
    made = reserve(stream(Task("a", 5, 2, 3)), fraction=1, advance=2)
    (one,) = made.reservations
    assert (one.id, one.arrival, one.start, one.end) == ("a", 3, 5, Fraction(23, 3))
    assert (one.channel_end, one.nodes, made.tasks) == (7, 2, ())
    alone = reserve(stream(Task("a", 5, 2, 4)), fraction=1).reservations[0]
    assert (alone.arrival, alone.end, alone.nodes) == (5, 9, 1)


def test_what_cannot_be_asked_for_before_the_beginning_is_asked_for_then():
    made = reserve(stream(Task("a", 5, 2, 4)), fraction=1, advance=9)
    assert made.reservations[0].arrival == 0


def test_what_no_nodes_do_in_time_stays_a_task():
    made = reserve(stream(Task("a", 5, 2, 1), Task("b", 6, 1, 9)), fraction=1)
    assert [task.id for task in made.tasks] == ["a"]
    assert [one.id for one in made.reservations] == ["b"]


def test_set_up_costs_hold_the_channel_too():
    cluster = Cluster(2, 1, 1, theta_cm=1, theta_cp=1)
    (one,) = reserve(stream(Task("a", 0, 2, 6), cluster=cluster), fraction=1).reservations
    assert (one.channel_end, one.end, one.nodes) == (3, 6, 1)


@pytest.mark.property
@given(
    st.integers(1, 4),
    st.integers(1, 12),
    st.builds(Fraction, st.integers(0, 10), st.just(10)),
    st.integers(0, 9),
    st.integers(0, 99),
)
def test_each_is_a_task_or_a_reservation(nodes, tasks, fraction, advance, seed):
    made = small(nodes=nodes, tasks=tasks, fraction=fraction, advance=advance, seed=seed)
    again = small(nodes=nodes, tasks=tasks, fraction=fraction, advance=advance, seed=seed)
    assert made == again
    assert len(made.tasks) + len(made.reservations) == tasks
    assert len(made.reservations) == round(fraction * tasks)
    for one in made.reservations:
        assert one.start - one.arrival <= advance
        # It alone, or its task done as the rule says, is a valid plan.
        grants = tuple(
            Grant(r.id, r.id == one.id, r.arrival, tuple(range(r.count)) if r.id == one.id else ())
            for r in made.reservations
        )
        decisions = tuple(Decision(task.id, False, task.arrival) for task in made.tasks)
        assert violations(made, Solution(decisions, grants, ())) == ()


def test_the_workload_of_the_chapter():
    made = mamat5(system_load=1, horizon=500_000, fraction=0.5, advance=2, seed=1)
    total = len(made.tasks) + len(made.reservations)
    assert len(made.reservations) == round(total / 2)
    ahead = {round(one.start - one.arrival, 6) for one in made.reservations if one.arrival > 0}
    interval = 2000 * 1001 / 256
    assert ahead == {round(2 * interval, 6)}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"fraction": 2}, "from 0 to 1"),
        ({"fraction": float("nan")}, "from 0 to 1"),
        ({"advance": -1}, "not negative"),
    ],
)
def test_parameters_out_of_range(changes, why):
    with pytest.raises(NotApplicableError, match=why):
        reserve(stream(Task("a", 0, 1, 9)), **changes)


def test_streams_that_cannot_be_reserved():
    with pytest.raises(NotApplicableError, match="identical"):
        reserve(stream(Task("a", 0, 1, 9), cluster=Cluster(2, (1, 2), 1)))
    busy = stream(Task("a", 0, 2, 9), now=1, committed=(Commitment("a", 0, 0, 1, 2),))
    with pytest.raises(NotApplicableError, match="idle"):
        reserve(busy)
    with pytest.raises(NotApplicableError, match="no task"):
        mamat5(horizon=1)
    with pytest.raises(NotApplicableError, match="advance"):
        mamat5(horizon=100_000, advance=-1)
