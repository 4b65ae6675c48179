"""The ready times of nodes, run-length encoded, held against one entry a node."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import Placement
from tests.heuristics.reference.admission_planner import ReferenceReadyTimes

times = st.integers(0, 9)


def placement(nodes, not_before=0, sent=0, end=0):
    return Placement(nodes, not_before, not_before, sent, end)


def test_equal_ready_times_are_one_group():
    nodes = ReadyTimes((3, 0, 3, 3, 7), channel=2)
    assert (nodes.times, nodes.counts, nodes.channel) == ([0, 3, 7], [1, 3, 1], 2)
    assert nodes.ready() == [0, 3, 3, 3, 7]
    assert [nodes.nth(n) for n in range(1, 6)] == nodes.ready()
    with pytest.raises(IndexError):
        nodes.nth(6)


@pytest.mark.parametrize(
    ("not_before", "groups"),
    [
        (0, ([1, 3, 7], [2, 1, 1])),
        (1, ([1, 3, 7], [2, 1, 1])),
        (2, ([2, 3, 7], [2, 1, 1])),
        (3, ([3, 7], [3, 1])),
        (6, ([6, 7], [3, 1])),
        (7, ([7], [4])),
        (9, ([9], [4])),
    ],
)
def test_clip(not_before, groups):
    nodes = ReadyTimes((1, 1, 3, 7), 0)
    nodes.clip(not_before)
    assert (nodes.times, nodes.counts) == groups


@pytest.mark.parametrize(
    ("held", "end", "groups"),
    [
        (1, 5, ([1, 3, 5, 7], [1, 1, 1, 1])),
        (2, 5, ([3, 5, 7], [1, 2, 1])),
        (2, 7, ([3, 7], [1, 3])),
        (3, 7, ([7], [4])),
        (4, 7, ([7], [4])),
        (2, 3, ([3, 7], [3, 1])),
        (4, 9, ([9], [4])),
        (1, 9, ([1, 3, 7, 9], [1, 1, 1, 1])),
    ],
)
def test_hold_takes_the_nodes_that_are_ready_first(held, end, groups):
    nodes = ReadyTimes((1, 1, 3, 7), 0)
    nodes.allocate(placement(held, end=end))
    assert (nodes.times, nodes.counts) == groups


@pytest.mark.parametrize("kind", [ReadyTimes, ReferenceReadyTimes])
def test_the_channel_is_never_free_earlier(kind):
    nodes = kind((0, 0), 4)
    nodes.allocate(placement(1, sent=3, end=5))
    assert nodes.channel == 4
    nodes.allocate(placement(1, sent=6, end=8))
    assert nodes.channel == 6


@pytest.mark.parametrize("kind", [ReadyTimes, ReferenceReadyTimes])
def test_a_copy_shares_nothing(kind):
    nodes = kind((0, 1, 1), 0)
    twin = nodes.copy()
    twin.allocate(placement(2, sent=3, end=9))
    assert (nodes.times, nodes.channel) == (kind((0, 1, 1), 0).times, 0)
    assert (twin.times, twin.channel) == (kind((1, 9, 9), 3).times, 3)


@pytest.mark.property
@given(
    st.lists(times, min_size=1, max_size=6),
    st.lists(st.tuples(times, st.integers(1, 6), times, times), max_size=6),
)
def test_groups_and_single_nodes_agree(ready, breakpoints):
    fast, reference = ReadyTimes(ready, 0), ReferenceReadyTimes(ready, 0)
    for not_before, count, sent, length in breakpoints:
        fast.clip(not_before)
        held = placement(min(count, len(ready)), not_before, sent, not_before + length)
        fast.allocate(held)
        reference.allocate(held)
        assert fast.ready() == reference.times
        assert fast.channel == reference.channel
        assert fast.times == sorted(set(fast.times))
        assert min(fast.counts) > 0
        assert fast.ready() == reference.times
