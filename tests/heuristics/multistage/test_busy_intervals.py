"""Busy times, by themselves and against sets of instants."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.multistage.busy_intervals import (
    Blocks,
    Known,
    Piece,
    Window,
    Wish,
    free_from,
    joined,
    meets,
    pick,
)
from dlopt.heuristics.multistage.node_groups import Groups
from dlopt.heuristics.multistage.reference_planner import PlainBlocks, merged
from dlopt.heuristics.multistage.stages import stages
from dlopt.heuristics.multistage.task_planner import Planner

F = Fraction
intervals = st.tuples(st.integers(0, 12), st.integers(0, 5)).map(lambda one: (one[0], sum(one)))


@pytest.mark.property
@given(st.lists(intervals, max_size=8), intervals)
def test_busy_times_are_what_was_entered(entered, asked):
    taken = []
    for one in entered:
        taken = joined(taken, *one)
    pairs = list(zip(taken[::2], taken[1::2], strict=True))
    assert pairs == merged(entered, 0, 99)
    halves = [F(k, 2) for k in range(40)]
    busy = {instant for instant in halves for a, b in entered if a <= instant < b}
    assert meets(taken, *asked) == any(asked[0] <= instant < asked[1] for instant in busy)
    for instant in halves:
        assert free_from(taken, instant) == min({*halves} - busy - {*range(0)} - before(instant))


def before(instant):
    return {F(k, 2) for k in range(int(2 * instant))}


def test_a_mark_stays_apart_and_goes_where_something_touches_it():
    assert joined([], 3, 3) == [3, 3]
    assert joined([3, 3], 3, 3) == [3, 3]
    assert joined([3, 3, 7, 7], 3, 5) == [3, 5, 7, 7]
    assert joined([3, 3], 1, 3) == [1, 3]
    assert joined([1, 5], 5, 5) == [1, 5]
    assert joined([1, 5], 1, 1) == [1, 5]
    assert joined([1, 2, 4, 5], 2, 4) == [1, 5]
    assert joined([1, 2, 4, 5], 0, 9) == [0, 9]


@pytest.mark.parametrize("kind", [Blocks, PlainBlocks])
def test_what_is_taken(kind):
    blocks = kind.of([3, 1], 2, 1)
    assert [blocks.node_taken(node, 0, 1) for node in (0, 1)] == [True, False]
    assert blocks.channel_taken(1, 3) and not blocks.channel_taken(2, 3)
    copy = blocks.copy()
    copy.hold(Known((Piece(1, 1, 4, 5, 6), Piece(0, 1, 5, 5, 8))))
    copy.reserve(Window(9, 10, 12, (1,)), {})
    assert not blocks.node_taken(1, 4, 99) and not blocks.channel_taken(2, 99)
    assert copy.channel_taken(4, 5) and copy.channel_taken(9, 10)
    assert not copy.channel_taken(5, 9)
    assert copy.node_taken(1, 5, 6) and copy.node_taken(0, 7, 8) and copy.node_taken(1, 11, 99)
    copy.forget(6)
    assert not copy.node_taken(1, 0, 6) and copy.node_taken(0, 7, 8)
    assert not copy.channel_taken(0, 9)


def test_copies_share_what_a_reservation_makes():
    state = Groups.around([], [[], [], []])
    assert [group.nodes for group in state.groups] == [(0, 1, 2)]
    other, known = state.copy(), {}
    other.hold(Planner(1, 1).place(other.copy(), 0, 1, 2))
    for one in (state, other):
        one.reserve(Window(5, 6, 7, (0, 1)), known)
    assert state.nodes == [[5, 7], [5, 7], []]
    assert other.nodes == [[0, 2, 5, 7], [5, 7], []]
    assert other.nodes[1] is state.nodes[1]
    assert (state.channel, other.channel) == ([5, 6], [0, 1, 5, 6])


def test_a_reservation_that_does_not_care_takes_high_numbers():
    blocks = Blocks([], [[], [], [], [0, 9]])
    assert pick(blocks, Wish(1, 1, 2, 2)) == (1, 2)
    assert pick(blocks, Wish(1, 1, 2, 4)) is None
    assert pick(blocks, Wish(1, 1, 2, (1, 0))) == (1, 0)
    assert pick(blocks, Wish(1, 1, 2, (1, 3))) is None
    assert pick(blocks, Wish(9, 9, 10, 4)) == (0, 1, 2, 3)


def test_nodes_stand_in_the_order_in_which_they_can_receive():
    """Node 0 is free when the channel is not, and node 2 when it is for the second time."""
    state = Groups.around([1, 3, 4, 6], [[0, 1, 3, 7], [], [0, 5], [0, 99]])
    line = state.line(1, 50)
    assert line.upto(1) == 1 and line.order == [1]
    assert line.upto(9) == 3
    assert line.order == [1, 2, 0]
    assert [part.instant for part in line.parts] == [3, 6, 7]
    assert [group.earliest for group in state.groups] == [7, 3, 6, 99]
    again = state.copy().line(1, 7)
    assert again.upto(9) == 2 and again.order == [1, 2]


def test_of_nodes_that_can_receive_at_one_instant_the_first_numbers_come_first():
    later = [0, 2, 9, 10]
    state = Groups.around([0, 3], [later, [0, 1], later, [0, 1], [], [0, 4]])
    line = state.line(0, 50)
    assert line.upto(3) == 3
    assert line.order == [0, 1, 2, 3, 4]
    assert [[*part.places] for part in line.first(3)] == [[0, 2], [1]]
    assert line.upto(9) == 6 and line.order[-1] == 5
    assert sorted(group.nodes for group in state.groups) == [(), (0, 2), (1, 3, 4), (5,)]


def test_the_last_stage_may_end_where_the_channel_is_taken():
    assert list(stages([0, 1, 3, 5], 0, 5)) == [(1, 3, 5)]
    assert list(stages([0, 1, 3, 5], 0, 4)) == [(1, 3, 4)]


def test_what_ended_no_longer_divides_nodes():
    state = Groups.around([0, 3], [[0, 2], [0, 1], [0, 4]])
    state.forget(2)
    assert [(group.taken, group.nodes) for group in state.groups] == [([], (0, 1)), ([0, 4], (2,))]
    assert state.channel == [0, 3]
    state.forget(3)
    assert state.channel == []


def test_nodes_that_are_served_in_the_same_stages_stay_equal():
    """Only the last stage divides them: one node is served in full, one in part, one not at all."""
    state = Groups.around([4, 5], [[]] * 5)
    planner = Planner(F(1), F(9))
    two = 10**6 - planner.place(Groups.around([4, 5], [[]] * 2), F(0), 10**6, F(9)).by
    plan = planner.place(state, F(0), two + F(1, 4), F(9))
    assert (plan.count, [piece.node for piece in plan.pieces]) == (3, [0, 1, 2, 0, 1])
    state.hold(plan)
    end = plan.pieces[-1].end
    assert 5 < end < 9
    taken = sorted((group.nodes, group.taken) for group in state.groups)
    assert taken == [((0,), [0, 9]), ((1,), [0, end]), ((2,), [0, 5]), ((3, 4), [])]
    assert state.channel == [0, plan.pieces[2].sent, 4, plan.pieces[-1].sent]


def test_nodes_become_equal():
    """Two that become free at different instants are taken until the reservation's I/O ends."""
    state = Groups.around([4, 5], [[], [0, 1], [0, 2]])
    state.hold(Planner(F(1), F(9)).place(state, F(0), F(5, 4), F(6)))
    taken = sorted((group.nodes, group.taken) for group in state.groups)
    assert taken == [((0,), [0, F(11, 2)]), ((1, 2), [0, 5])]
