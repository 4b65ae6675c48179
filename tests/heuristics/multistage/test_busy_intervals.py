"""Busy times, by themselves and against sets of instants."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.multistage.busy_intervals import (
    BusyIntervals,
    FixedPlan,
    ReservationRequest,
    ReservedWindow,
    TimedChunk,
    first_free,
    overlaps_busy,
    select_nodes,
    with_interval,
)
from dlopt.heuristics.multistage.node_groups import NodeGroups
from dlopt.heuristics.multistage.stages import stages
from dlopt.heuristics.multistage.task_planner import TaskPlanner
from tests.heuristics.reference.multistage_planner import ReferenceBusyIntervals, merged_intervals

F = Fraction
intervals = st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda one: (one[0], sum(one)))


@pytest.mark.property
@given(st.lists(intervals, max_size=8), intervals)
def test_busy_times_are_what_was_entered(entered, asked):
    busy = []
    for one in entered:
        busy = with_interval(busy, *one)
    pairs = list(zip(busy[::2], busy[1::2], strict=True))
    assert pairs == merged_intervals(entered, 0, 99)
    halves = [F(k, 2) for k in range(40)]
    instants = {instant for instant in halves for a, b in entered if a <= instant < b}
    assert overlaps_busy(busy, *asked) == any(
        asked[0] <= instant < asked[1] for instant in instants
    )
    for instant in halves:
        assert first_free(busy, instant) == min(
            {*halves} - instants - {*range(0)} - before(instant)
        )


def before(instant):
    return {F(k, 2) for k in range(int(2 * instant))}


def test_a_mark_stays_apart_and_goes_where_something_touches_it():
    assert with_interval([], 3, 3) == [3, 3]
    assert with_interval([3, 3], 3, 3) == [3, 3]
    assert with_interval([3, 3, 7, 7], 3, 5) == [3, 5, 7, 7]
    assert with_interval([3, 3], 1, 3) == [1, 3]
    assert with_interval([1, 5], 5, 5) == [1, 5]
    assert with_interval([1, 5], 1, 1) == [1, 5]
    assert with_interval([1, 2, 4, 5], 2, 4) == [1, 5]
    assert with_interval([1, 2, 4, 5], 0, 9) == [0, 9]


@pytest.mark.parametrize("kind", [BusyIntervals, ReferenceBusyIntervals])
def test_what_is_taken(kind):
    blocks = kind.of([3, 1], 2, 1)
    assert [blocks.node_busy(node, 0, 1) for node in (0, 1)] == [True, False]
    assert blocks.channel_busy(1, 3) and not blocks.channel_busy(2, 3)
    copy = blocks.copy()
    copy.allocate(FixedPlan((TimedChunk(1, 1, 4, 5, 6), TimedChunk(0, 1, 5, 5, 8))))
    copy.reserve(ReservedWindow(9, 10, 12, (1,)))
    assert not blocks.node_busy(1, 4, 99) and not blocks.channel_busy(2, 99)
    assert copy.channel_busy(4, 5) and copy.channel_busy(9, 10)
    assert not copy.channel_busy(5, 9)
    assert copy.node_busy(1, 5, 6) and copy.node_busy(0, 7, 8) and copy.node_busy(1, 11, 99)
    copy.purge(6)
    assert not copy.node_busy(1, 0, 6) and copy.node_busy(0, 7, 8)
    assert not copy.channel_busy(0, 9)


def test_copies_share_what_a_reservation_makes():
    state = NodeGroups.from_busy([], [[], [], []])
    assert [group.nodes for group in state.groups] == [(0, 1, 2)]
    other, known = state.copy(), {}
    other.allocate(TaskPlanner(1, 1).place(other.copy(), 0, 1, 2))
    for one in (state, other):
        one.reserve(ReservedWindow(5, 6, 7, (0, 1)), known)
    assert state.nodes == [[5, 7], [5, 7], []]
    assert other.nodes == [[0, 2, 5, 7], [5, 7], []]
    assert other.nodes[1] is state.nodes[1]
    assert (state.channel, other.channel) == ([5, 6], [0, 1, 5, 6])


def test_a_reservation_that_does_not_care_takes_high_numbers():
    blocks = BusyIntervals([], [[], [], [], [0, 9]])
    assert select_nodes(blocks, ReservationRequest(1, 1, 2, 2)) == (1, 2)
    assert select_nodes(blocks, ReservationRequest(1, 1, 2, 4)) is None
    assert select_nodes(blocks, ReservationRequest(1, 1, 2, (1, 0))) == (1, 0)
    assert select_nodes(blocks, ReservationRequest(1, 1, 2, (1, 3))) is None
    assert select_nodes(blocks, ReservationRequest(9, 9, 10, 4)) == (0, 1, 2, 3)


def test_nodes_stand_in_the_order_in_which_they_can_receive():
    """Node 0 is free when the channel is not, and node 2 when it is for the second time."""
    state = NodeGroups.from_busy([1, 3, 4, 6], [[0, 1, 3, 7], [], [0, 5], [0, 99]])
    line = state.reception_order(1, 50)
    assert line.extend_to(1) == 1 and line.order == [1]
    assert line.extend_to(9) == 3
    assert line.order == [1, 2, 0]
    assert [part.instant for part in line.ordered_groups] == [3, 6, 7]
    assert [group.earliest for group in state.groups] == [7, 3, 6, 99]
    again = state.copy().reception_order(1, 7)
    assert again.extend_to(9) == 2 and again.order == [1, 2]


def test_of_nodes_that_can_receive_at_one_instant_the_first_numbers_come_first():
    later = [0, 2, 9, 10]
    state = NodeGroups.from_busy([0, 3], [later, [0, 1], later, [0, 1], [], [0, 4]])
    line = state.reception_order(0, 50)
    assert line.extend_to(3) == 3
    assert line.order == [0, 1, 2, 3, 4]
    assert [[*part.positions] for part in line.first(3)] == [[0, 2], [1]]
    assert line.extend_to(9) == 6 and line.order[-1] == 5
    assert sorted(group.nodes for group in state.groups) == [(), (0, 2), (1, 3, 4), (5,)]


def test_the_last_stage_may_end_where_the_channel_is_taken():
    assert list(stages([0, 1, 3, 5], 0, 5)) == [(1, 3, 5)]
    assert list(stages([0, 1, 3, 5], 0, 4)) == [(1, 3, 4)]


def test_what_ended_no_longer_divides_nodes():
    state = NodeGroups.from_busy([0, 3], [[0, 2], [0, 1], [0, 4]])
    state.purge(2)
    assert [(group.busy, group.nodes) for group in state.groups] == [([], (0, 1)), ([0, 4], (2,))]
    assert state.channel == [0, 3]
    state.purge(3)
    assert state.channel == []


def test_nodes_that_are_served_in_the_same_stages_stay_equal():
    """Only the last stage divides them: one node is served in full, one in part, one not at all."""
    state = NodeGroups.from_busy([4, 5], [[]] * 5)
    planner = TaskPlanner(F(1), F(9))
    two = 10**6 - planner.place(NodeGroups.from_busy([4, 5], [[]] * 2), F(0), 10**6, F(9)).by
    plan = planner.place(state, F(0), two + F(1, 4), F(9))
    assert (plan.count, [chunk.node for chunk in plan.chunks]) == (3, [0, 1, 2, 0, 1])
    state.allocate(plan)
    end = plan.chunks[-1].end
    assert 5 < end < 9
    busy = sorted((group.nodes, group.busy) for group in state.groups)
    assert busy == [((0,), [0, 9]), ((1,), [0, end]), ((2,), [0, 5]), ((3, 4), [])]
    assert state.channel == [0, plan.chunks[2].sent, 4, plan.chunks[-1].sent]


def test_nodes_become_equal():
    """Two that become free at different instants are taken until the reservation's I/O ends."""
    state = NodeGroups.from_busy([4, 5], [[], [0, 1], [0, 2]])
    state.allocate(TaskPlanner(F(1), F(9)).place(state, F(0), F(5, 4), F(6)))
    busy = sorted((group.nodes, group.busy) for group in state.groups)
    assert busy == [((0,), [0, F(11, 2)]), ((1, 2), [0, 5])]
