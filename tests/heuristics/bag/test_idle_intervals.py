"""The tree of slacks does what a list does."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dlopt.heuristics.bag.idle_intervals import IdleIntervals
from tests.oracles_bag import NaiveIdleIntervals

rationals = st.builds(Fraction, st.integers(0, 40), st.sampled_from([1, 2, 3]))
lengths = st.builds(Fraction, st.integers(1, 12), st.sampled_from([1, 2, 3]))
ends = rationals | st.just(math.inf)


class Twins(RuleBasedStateMachine):
    @initialize(ready=rationals)
    def begin(self, ready):
        self.tree, self.list, self.busy = IdleIntervals(ready), NaiveIdleIntervals(ready), []

    @rule(start=rationals, end=ends, length=lengths, last=st.booleans(), taken=st.booleans())
    def look(self, start, end, length, last, taken):
        name = "latest" if last else "earliest"
        spot = getattr(self.tree, name)(start, end, length)
        assert spot == getattr(self.list, name)(start, end, length)
        slacks = self.tree.fitting(start, end, length)
        assert (spot is None) == (slacks == [])
        if spot is not None:
            low, high = slacks[0 if last else -1]
            assert max(low, start) <= spot[0] < spot[1] <= min(high, end)
            if taken:
                self.tree.occupy(*spot)
                self.list.occupy(*spot)
                self.busy.append(spot)

    @precondition(lambda self: self.busy)
    @rule(data=st.data())
    def give(self, data):
        spot = data.draw(st.sampled_from(self.busy))
        self.busy.remove(spot)
        self.tree.release(*spot)
        self.list.release(*spot)

    @precondition(lambda self: self.busy)
    @rule(data=st.data())
    def what_is_busy_cannot_be_taken(self, data):
        start, end = data.draw(st.sampled_from(self.busy))
        with pytest.raises(ValueError, match="is not free"):
            self.tree.occupy(start, (start + end) / 2)

    @invariant()
    def the_same_slacks(self):
        assert list(self.tree) == self.list.free


Twins.TestCase.settings = settings(stateful_step_count=30)
TestTwins = pytest.mark.property(Twins.TestCase)


def test_before_it_is_ready_a_machine_cannot_be_taken():
    with pytest.raises(ValueError, match="is not free"):
        IdleIntervals(3).occupy(2, 4)


def test_a_machine_may_be_taken_for_ever():
    tree = IdleIntervals(0)
    tree.occupy(5, math.inf)
    assert list(tree) == [(0, 5)]
    assert tree.latest(3, 9, 3) is None
    tree.release(5, math.inf)
    assert list(tree) == [(0, math.inf)]


def test_in_a_slack_without_end_the_first_interval_is_the_latest():
    assert IdleIntervals(3).latest(1, math.inf, 2) == (3, 5)


def test_slacks_after_and_before_a_window_are_passed_over():
    """Whichever is the root: eight slacks of length 1, a window around each in turn."""
    tree = IdleIntervals(0)
    for start in range(1, 16, 2):
        tree.occupy(start, start + 1)
    for index in range(8):
        spot = 2 * index, 2 * index + 1
        assert tree.earliest(*spot, 1) == tree.latest(*spot, 1) == spot
        assert tree.earliest(*spot, 2) is tree.latest(*spot, 2) is None
        assert tree.earliest(spot[1], spot[1] + 1, 1) is None
        assert tree.latest(spot[1], spot[1] + 1, 1) is None


@pytest.mark.property
@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(1e-3, 50)), min_size=1, max_size=60))
def test_in_floats_what_is_found_can_be_taken_and_given_back(wishes):
    tree, busy = IdleIntervals(0.0), []
    for end, length in wishes:
        spot = tree.latest(0.0, end, length) or tree.earliest(0.0, math.inf, length)
        tree.occupy(*spot)
        busy.append(spot)
        assert spot[1] - spot[0] == pytest.approx(length, abs=1e-9)
    inside = sorted(spot for spot in busy if spot[0] < spot[1])
    assert all(one[1] <= other[0] for one, other in zip(inside, inside[1:], strict=False))
    for spot in busy:
        tree.release(*spot)
    assert list(tree) == [(0.0, math.inf)]


def test_a_search_looks_at_few_slacks():
    """Of many slacks that are too short only those on one way down are looked at."""
    tree, count = IdleIntervals(0), 4096
    for index in range(count):
        tree.occupy(3 * index + 1, 3 * index + 3)
    looked = 0

    class Length(int):
        def __le__(self, other):
            nonlocal looked
            looked += 1
            return int(self) <= other

    assert tree.latest(0, 3 * count, Length(2)) is None
    assert tree.latest(0, 3 * 100 + 1, Length(1)) == (300, 301)
    assert looked < 200
