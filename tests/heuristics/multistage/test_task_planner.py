"""One task around reservations: by hand, against the reference, and against a linear program."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.heuristics.admission.records import DeadlineMiss
from dlopt.heuristics.multistage.busy_intervals import BusyIntervals, FixedPlan, TimedChunk
from dlopt.heuristics.multistage.literal_algorithms_3_4 import PlanningTask
from dlopt.heuristics.multistage.literal_single_flaw import RepairedPartition
from dlopt.heuristics.multistage.node_groups import NodeGroups
from dlopt.heuristics.multistage.task_planner import TaskPlanner
from tests.heuristics.multistage.strategies import states
from tests.heuristics.reference.multistage_planner import (
    ReferenceBusyIntervals,
    ReferenceTaskPlanner,
)
from tests.oracles_admission import maximum

F = Fraction
HUGE = F(10**6)


def known(found):
    """Return a plan with its chunks written down; a miss as it is."""
    return found if isinstance(found, DeadlineMiss) else FixedPlan(found.chunks)


def placed(costs, channel, nodes, load, deadline, lo=0):
    state = NodeGroups.from_busy(channel, nodes)
    found = known(TaskPlanner(*map(F, costs)).place(state, F(lo), F(load), F(deadline)))
    return found if isinstance(found, DeadlineMiss) else found.chunks


def most(costs, blocks, lo, deadline):
    """Return how much of a task can be dispatched on all nodes."""
    state = NodeGroups.from_busy(blocks.channel, blocks.nodes)
    found = TaskPlanner(*costs).place(state, lo, HUGE, deadline)
    assert isinstance(found, DeadlineMiss) and found.of == "load"
    return HUGE - found.by


def test_a_task_flows_around_a_reservation():
    """Two units: one is sent before the reservation, and done in its stage; one behind it."""
    found = placed((1, 1), [1, 2], [[]], 2, 5)
    assert found == (TimedChunk(0, 1, 0, 1, 2), TimedChunk(0, 1, 2, 3, 4))


def test_a_node_goes_to_its_reservation_in_time():
    found = placed((1, 1), [4, 5], [[4, 6]], F(5, 2), 10)
    assert found == (TimedChunk(0, 2, 0, 2, 4), TimedChunk(0, F(1, 2), 6, F(13, 2), 7))


def test_the_node_that_is_taken_first_is_served_first():
    """In the order of ready times it is 14/9; the optimum is 16/9."""
    channel, nodes = [2, 4], [[], [2, 9]]
    assert most((F(1), F(2)), BusyIntervals(channel, nodes), F(0), F(4)) == F(16, 9)
    assert isinstance(placed((1, 2), channel, nodes, F(17, 9), 4), DeadlineMiss)
    found = placed((1, 2), channel, nodes, F(16, 9), 4)
    assert [chunk.node for chunk in found] == [1, 0]


def test_no_simple_order_is_optimal():
    """Node 0 is served first from 0 on, for it is free: 3/2. To wait for node 1 gives 14/9."""
    channel, nodes = [8, 15], [[0, 1, 8, 20], []]
    assert most((F(4), F(8)), BusyIntervals(channel, nodes), F(0), F(15)) == F(3, 2)


def test_the_fewest_nodes():
    nodes = [[], [], []]
    assert len(placed((1, 1), [], nodes, 1, 2)) == 1
    assert len(placed((1, 1), [], nodes, F(3, 2), 2)) == 2
    assert len(placed((1, 1), [], nodes, F(7, 4), 2)) == 3
    assert placed((1, 1), [], nodes, 2, 2) == DeadlineMiss(F(1, 4), "load")
    assert placed((1, 1), [], nodes, 2, 0) == DeadlineMiss(2, "load")
    assert placed((1, 1), [0, 2], nodes, 2, 2) == DeadlineMiss(2, "load")


def test_a_load_that_is_sent_in_no_time():
    """A reservation without I/O begins a stage all the same."""
    assert placed((0, 2), [3, 3], [[3, 4]], 3, 8) == (
        TimedChunk(0, F(3, 2), 0, 0, 3),
        TimedChunk(0, F(3, 2), 4, 4, 7),
    )


def test_a_load_that_is_computed_in_no_time():
    assert placed((1, 0), [1, 2], [[]], 3, 4) == (
        TimedChunk(0, 1, 0, 1, 1),
        TimedChunk(0, 2, 2, 4, 4),
    )
    assert isinstance(placed((1, 0), [1, 2], [[]], 3, F(7, 2)), DeadlineMiss)


def test_one_more_node_may_do_harm_where_nodes_are_taken_without_the_channel():
    """In the second stage node 3 lets node 1 overtake node 0; the last numbers are tried in turn.

    Plans do not come to this: whatever takes a node takes the channel first, or leaves a mark.
    """
    channel = [F(4), F(5)]
    nodes = [
        [F(15), F(99)],
        [F(5), F(51, 10), F(74, 5), F(99)],
        [F(3), F(10), F(13), F(99)],
        [F(0), F(7, 2), F(26, 5), F(99)],
    ]
    planner, state, reference = (
        TaskPlanner(F(1), F(1)),
        NodeGroups.from_busy(channel, nodes),
        ReferenceTaskPlanner(F(1), F(1)),
    )
    pairs = [[*zip(busy[::2], busy[1::2], strict=True)] for busy in nodes]
    twin = ReferenceBusyIntervals([(F(4), F(5))], pairs)
    done = []
    for count in range(1, 5):
        held = [[F(0), F(99)]] * 4
        held[:count] = nodes[:count]
        done.append(most((F(1), F(1)), BusyIntervals(channel, held), F(0), F(50)))
    assert done[3] < done[2]
    for load in (done[3], (done[2] + done[3]) / 2, done[2], done[2] + F(1, 100)):
        for hint in range(1, 5):
            found = planner.place(state.copy(), F(0), load, F(50), hint)
            assert known(found) == reference.place(twin, F(0), load, F(50))


def agreed(channel, nodes, load, deadline):
    """Return what both planners find in whatever is taken."""
    channel, nodes = [*map(F, channel)], [[*map(F, busy)] for busy in nodes]
    pairs = [[*zip(busy[::2], busy[1::2], strict=True)] for busy in (channel, *nodes)]
    state = NodeGroups.from_busy(channel, nodes)
    found = known(TaskPlanner(F(1), F(1)).place(state, F(0), F(load), F(deadline)))
    twin = ReferenceBusyIntervals(pairs[0], pairs[1:])
    assert found == ReferenceTaskPlanner(F(1), F(1)).place(twin, F(0), F(load), F(deadline))
    return found


def test_where_a_relaxed_stage_promises_too_much_one_more_node_is_tried():
    """Two nodes do 5; were node 0 free with node 1 in the second stage, they would do 6.

    Behind 6 node 0 is free from 8 to 10, and the channel serves node 1 until then.
    """
    channel, nodes = [1, 6], [[3, 8, 10, 11], [], []]
    assert agreed(channel, nodes, 6, 14).chunks == (
        TimedChunk(0, 1, 0, 1, 2),
        TimedChunk(1, 4, 6, 10, 14),
        TimedChunk(2, 1, 10, 11, 12),
    )
    assert {chunk.node for chunk in agreed(channel, nodes, 5, 14).chunks} == {0, 1}
    assert agreed(channel, nodes[:2], 6, 14) == DeadlineMiss(1, "load")


def test_a_node_that_is_taken_again_before_its_turn():
    assert agreed([], [[], [0, 1, 2, 9]], 4, 6) == DeadlineMiss(1, "load")


@pytest.mark.property
@given(states(), st.data())
def test_the_plain_twin_finds_the_same_whatever_the_hint(state, data):
    costs, windows, ready, blocks = state
    lo = F(data.draw(st.integers(0, 4)))
    deadline = lo + F(data.draw(st.integers(0, 16)))
    load = data.draw(st.builds(F, st.integers(1, 16), st.integers(1, 3)))
    twin = ReferenceBusyIntervals.of(ready, F(0), F(0))
    for window in windows:
        twin.reserve(window)
    hint = data.draw(st.integers(1, 5))
    state = NodeGroups.of(ready, F(0), F(0))
    for window in windows:
        state.reserve(window, {})
    assert state.nodes == blocks.nodes and state.channel == blocks.channel
    mine = known(TaskPlanner(*costs).place(state, lo, load, deadline, hint))
    assert mine == ReferenceTaskPlanner(*costs).place(twin, lo, load, deadline)
    if not isinstance(mine, DeadlineMiss):
        assert sum(chunk.load for chunk in mine.chunks) == load
        assert max(chunk.end for chunk in mine.chunks) <= deadline
        for chunk in mine.chunks:
            assert not blocks.channel_busy(chunk.start, chunk.sent)
            assert not blocks.node_busy(chunk.node, chunk.start, chunk.end)


arbitrary = st.lists(
    st.lists(st.integers(0, 30), max_size=6, unique=True).map(
        lambda cuts: sorted(cuts)[: len(cuts) // 2 * 2]
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.property
@given(arbitrary, arbitrary, st.integers(1, 30), st.integers(1, 30), st.integers(1, 6))
def test_equal_plans_whatever_is_taken(channels, nodes, load, deadline, hint):
    """Also what no plan comes to: nodes that are taken while the channel is free."""
    channel = [F(instant) for instant in channels[0]]
    busy = [[F(instant) for instant in one] for one in nodes]
    pairs = [[*zip(one[::2], one[1::2], strict=True)] for one in (channel, *busy)]
    state = NodeGroups.from_busy(channel, busy)
    mine = TaskPlanner(F(1), F(2)).place(state, F(0), F(load, 2), F(deadline), hint)
    twin = ReferenceBusyIntervals(pairs[0], pairs[1:])
    assert known(mine) == ReferenceTaskPlanner(F(1), F(2)).place(
        twin, F(0), F(load, 2), F(deadline)
    )


def fluid(costs, windows, ready, lo, deadline):
    """Return the most that any plan can compute by the deadline: a linear program in fractions."""
    tau, chi = costs
    cuts = {lo, deadline, *ready}
    cuts |= {instant for one in windows for instant in one[:3]}
    cuts = sorted(instant for instant in cuts if lo <= instant <= deadline)
    spans = list(zip(cuts, cuts[1:], strict=False))
    nodes, count = range(len(ready)), len(spans)
    keys = [(kind, j, k) for kind in "xy" for j in nodes for k in range(count)]
    column = {key: index for index, key in enumerate(keys)}
    rows, sides = [], []

    def less(terms, side):
        row = [F(0)] * len(keys)
        for key, factor in terms:
            row[column[key]] += factor
        rows.append(row)
        sides.append(F(side))

    for k, (start, end) in enumerate(spans):
        io = any(one.start <= start < one.io_end for one in windows)
        less([(("x", j, k), tau) for j in nodes], 0 if io else end - start)
        for j in nodes:
            busy = any(j in one.nodes and one.start <= start < one.end for one in windows)
            time = 0 if busy or start < ready[j] else end - start
            less([(("x", j, k), tau), (("y", j, k), chi)], time)
            received = [(("x", j, before), -1) for before in range(k + 1)]
            less([*received, *((("y", j, before), 1) for before in range(k + 1))], 0)
    return maximum(rows, sides, [F(key[0] == "y") for key in keys]) if count else F(0)


@pytest.mark.property
@given(states(most=2, windows=2), st.integers(0, 4), st.integers(1, 12))
def test_estimate_dispatch_and_fluid_bound(state, lo, length):
    """What Algorithm 3 promises, repaired, is dispatched; no plan beats the fluid bound."""
    costs, windows, ready, blocks = state
    lo, deadline = F(lo), F(lo + length)
    task = PlanningTask(lo, lo, HUGE, deadline)
    algorithms = RepairedPartition(costs, windows, ready, task)
    estimate = algorithms.estimate_capacity()
    done = most(costs, blocks, lo, deadline)
    bound = fluid(costs, windows, ready, lo, deadline)
    assert sum(estimate.shares) <= done <= bound
    chunks = algorithms.partition_load(estimate, len(ready))
    assert sum(estimate.shares) <= sum(one.chunk.load for one in chunks) <= bound


@pytest.mark.property
@given(states(most=4), st.integers(0, 4), st.integers(1, 16))
def test_what_is_done_grows_with_the_nodes(state, lo, length):
    costs, _, _, blocks = state
    lo, deadline = F(lo), F(lo + length)
    line = NodeGroups.from_busy(blocks.channel, blocks.nodes).reception_order(lo, deadline)
    assume(line.extend_to(9) > 1)
    before = F(0)
    for count in range(1, len(line.order) + 1):
        held = [
            busy if node in line.order[:count] else [F(0), F(99)]
            for node, busy in enumerate(blocks.nodes)
        ]
        done = most(costs, BusyIntervals(blocks.channel, held), lo, deadline)
        assert done >= before
        before = done


def test_floats_leave_no_dust():
    planner = TaskPlanner(0.1, 0.7)
    state = NodeGroups.from_busy([0.3, 0.4], [[], [0.3, 0.9]])
    found = planner.place(state, 0.0, 1.3, 3.0).chunks
    assert sum(chunk.load for chunk in found) == pytest.approx(1.3)
    assert all(chunk.load > 1e-12 for chunk in found)
    exact = TaskPlanner(F(0.1), F(0.7)).place(state, 0, F(1.3), F(3)).chunks
    assert [chunk.node for chunk in exact] == [chunk.node for chunk in found]
    narrow = NodeGroups.from_busy([1.0 + 1e-13] * 2, [[0.0, 1.0, 1.0 + 1e-13, 2.0]])
    (chunk,) = planner.place(narrow, 0.0, 1.0, 4.0).chunks
    assert chunk.start == 2.0
