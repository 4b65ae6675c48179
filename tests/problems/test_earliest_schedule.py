"""Loads put on a timeline: each chunk as early as channel and node allow."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.arithmetic import FLOATING, exact
from dlopt.problems import iit
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import (
    by_ready_time,
    earliest_plan,
    last_result,
    number_field,
    slack,
    span,
)
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.problems.validated_record import floating
from tests import strategies

F = Fraction
TWO = Instance(Cluster(2, tau=1, chi=2, theta_cm=F(1, 2), theta_cp=1), (3, 0), load=4)


@st.composite
def orders(draw, least=1):
    """Return an instance, an order of nodes that may repeat, and loads that make up its load."""
    instance = draw(strategies.iit(identical=False))
    nodes = draw(st.lists(st.integers(0, instance.cluster.nodes - 1), min_size=least, max_size=6))
    shares = [draw(st.integers(1, 9)) for _ in nodes]
    return instance, nodes, [instance.load * F(share, sum(shares)) for share in shares]


@pytest.mark.property
@given(orders(), st.none() | st.fractions(0, 9, max_denominator=4))
def test_an_earliest_plan_is_valid_and_no_chunk_could_be_sent_earlier(order, not_before) -> None:
    instance, nodes, loads = order
    plan = earliest_plan(instance, nodes, loads, not_before)
    assert iit.violations(instance, plan) == ()
    assert [chunk.node for chunk in plan.chunks] == nodes
    assert [chunk.load for chunk in plan.chunks] == loads
    for index, chunk in enumerate(plan.chunks):
        before = plan.chunks[:index]
        reasons = [
            exact(instance.ready_times[chunk.node]),
            *([] if not_before is None else [not_before]),
            *(other.transmission_end for other in before[-1:]),
            *(other.computation_end for other in before if other.node == chunk.node),
        ]
        assert chunk.transmission_start == max(reasons)
        assert chunk.computation_start == chunk.transmission_end
    assert last_result(plan) == iit.objective(instance, plan)


def test_a_plan_in_exact_numbers() -> None:
    plan = earliest_plan(TWO, (1, 0), (F(5, 2), F(3, 2)))
    assert plan == Solution(
        (
            Chunk(1, F(5, 2), 0, 3, 3, 9),
            Chunk(0, F(3, 2), 3, 5, 5, 9),
        )
    )
    assert {type(chunk.transmission_end) for chunk in plan.chunks} == {F}


def test_a_node_gets_its_next_chunk_when_it_has_computed_the_last() -> None:
    plan = earliest_plan(TWO, (1, 1, 0), (1, 2, 1))
    assert plan.chunks == (
        Chunk(1, 1, 0, F(3, 2), F(3, 2), F(9, 2)),
        Chunk(1, 2, F(9, 2), 7, 7, 12),
        Chunk(0, 1, 7, F(17, 2), F(17, 2), F(23, 2)),
    )
    assert last_result(plan) == 12  # the last chunk sent is not the last one computed


def test_no_chunk_is_sent_before_what_the_caller_says() -> None:
    late = earliest_plan(TWO, (1, 0), (3, 1), not_before=5)
    assert [chunk.transmission_start for chunk in late.chunks] == [5, F(17, 2)]
    early = earliest_plan(TWO, (1, 0), (3, 1), not_before=F(1, 3))
    assert [chunk.transmission_start for chunk in early.chunks] == [F(1, 3), F(23, 6)]
    assert earliest_plan(TWO, (0,), (4,), not_before=1) == earliest_plan(TWO, (0,), (4,))


def test_nodes_beyond_the_last_load_get_nothing() -> None:
    assert [chunk.node for chunk in earliest_plan(TWO, (1, 0), (4,)).chunks] == [1]
    assert earliest_plan(TWO, (), ()) == Solution(())


def test_nodes_with_costs_of_their_own() -> None:
    instance = Instance(Cluster(2, tau=(1, 3), chi=(5, F(1, 2))), (0, 0), load=3)
    assert earliest_plan(instance, (0, 1), (1, 2)).chunks == (
        Chunk(0, 1, 0, 1, 1, 6),
        Chunk(1, 2, 1, 7, 7, 8),
    )


@pytest.mark.parametrize(
    ("instance", "loads"),
    [
        (Instance(Cluster(1, tau=0.5, chi=1), (0,), load=2), (2,)),
        (Instance(Cluster(1, tau=F(1, 2), chi=1), (0,), load=2), (2.0,)),
    ],
    ids=["instance", "load"],
)
def test_one_float_makes_all_times_floats(instance: Instance, loads: tuple[float, ...]) -> None:
    (chunk,) = earliest_plan(instance, (0,), loads).chunks
    assert chunk == Chunk(0, 2, 0, 1, 1, 3)
    assert {type(chunk.transmission_end), type(chunk.computation_end)} == {float}


def test_order_by_ready_time_breaks_ties_by_index() -> None:
    instance = Instance(Cluster(4, tau=1, chi=1), (2, F(1, 2), 2, 0.25), load=1)
    assert by_ready_time(instance) == ([3, 1, 0, 2], [0.25, F(1, 2), 2, 2])


def test_the_field_of_an_instance() -> None:
    assert number_field(TWO) is exact
    assert number_field(Instance(Cluster(1, tau=1, chi=1), (0.0,), load=1)) is float


@pytest.mark.parametrize(
    ("instance", "after"),
    [
        (TWO, 1.5 + 4 * 3),
        (Instance(Cluster(2, tau=1, chi=1), (5, 9), load=2), 4),
        (Instance(Cluster(2, tau=(4, 1), chi=(6, 2)), (0, 4), load=2), 10),
        (Instance(Cluster(2, tau=(4, 1), chi=2, theta_cp=3), (1, 90), load=2), 15),
    ],
)
def test_the_span_is_when_one_node_alone_is_done(instance: Instance, after: float) -> None:
    assert span(instance) == after
    alone = [
        last_result(earliest_plan(instance, (node,), (instance.load,)))
        for node in range(instance.cluster.nodes)
    ]
    assert min(alone) - min(instance.ready_times) == after


@pytest.mark.property
@given(strategies.iit(identical=False, deadline=True))
def test_slack_is_none_in_exact_numbers_and_half_of_what_the_checker_allows(instance) -> None:
    assert slack(instance) == 0
    rounded = floating(instance)
    until = rounded.absolute_deadline
    plan = earliest_plan(rounded, (0,), (rounded.load,))
    missed = replace(rounded, absolute_deadline=None)

    def late(by: float) -> bool:
        """Tell whether the checker finds a plan that ends so long after the deadline too late."""
        end = exact(last_result(plan)) - exact(by)
        if end <= min(rounded.ready_times):
            return True
        found = iit.violations(replace(missed, absolute_deadline=end), plan, FLOATING)
        return bool(found)

    assert 0 < slack(rounded) < slack(replace(rounded, absolute_deadline=2 * until))
    assert not late(slack(replace(rounded, absolute_deadline=last_result(plan))))
    assert late(3 * slack(replace(rounded, absolute_deadline=last_result(plan))))
    assert slack(missed) == pytest.approx(FLOATING / 2 * span(rounded))
