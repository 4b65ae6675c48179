"""Blocks of time with reservations: nothing is lost by solving them one by one."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import api
from dlopt.models.multistage.feasibility import FeasibilityTest
from dlopt.models.multistage.methods import exact_plan
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.search import MultistageSearch
from dlopt.models.multistage.time_blocks import TimeBlocks
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Instance, Reservation, Task
from dlopt.result import Limits, Status
from tests.examples import share

FAR = 10**9


class UndividedSearch(MultistageSearch):
    """The search of the whole stream at once."""

    def close_gap(self):
        self.close_gap_of_block()


def small(tasks, reservations, chi=2, **state):
    """Return a stream of tasks (arrival, load, deadline) and reservations (start, end, nodes)."""
    named = (Task(f"t{k}", *task) for k, task in enumerate(sorted(tasks)))
    wanted = (
        Reservation(f"r{k}", 0, start, end, nodes=nodes, io_ratio=Fraction(1, 2))
        for k, (start, end, nodes) in enumerate(sorted(reservations))
    )
    return Instance(Cluster(2, 1, chi), tuple(named), tuple(wanted), **state)


CROWDED = ((0, 2, 4), (0, 3, 8), (1, 2, 5)), ((2, 5, 1), (3, 6, 2))
"""Three tasks and two reservations, of which three fit; the fluid relaxation does not prove it."""

MEMBERS = {
    "tasks": st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 4), st.integers(2, 9)), min_size=1, max_size=3
    ),
    "reservations": st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(1, 2)), max_size=3
    ),
}


def far_away(stream, time):
    """Return a stream with a task that arrives late, one with all the time, and a reservation."""
    tasks = Task("late", time, 3, 100), Task("patient", 1, 3, 2 * time)
    tasks = sorted((*stream.tasks, *tasks), key=lambda task: task.arrival)
    wanted = Reservation("late", 0, 3 * time, 3 * time + 9, nodes=2, io_ratio=1)
    return replace(stream, tasks=tuple(tasks), reservations=(*stream.reservations, wanted))


@pytest.mark.parametrize("time", [10**6, 10**15])
@pytest.mark.parametrize("number", [int, float])
def test_what_is_far_away_takes_no_digits_of_the_others(time, number):
    stream = small(*CROWDED)
    best = exact_plan(stream).value
    found = api.solve(far_away(stream, number(time)))
    if number is float and time == 10**15:  # 64 units in the last place are 8 time units
        assert found.bound >= best + 3
        return
    assert (found.status, found.value) == (Status.OPTIMAL, best + 3)


def test_a_reservation_that_no_other_window_overlaps_is_a_block():
    scaled = ScaledInstance.from_instance(far_away(small(*CROWDED), FAR))
    divided = TimeBlocks(scaled)
    assert divided.blocks == ((7,), (0, 1, 2, 5, 6))
    assert [one.task for one in divided.placements] == [4, 3]
    crowded = divided.scaled_block(divided.blocks[1])
    assert len(crowded.reservation_starts) == 2 and max(t.due for t in crowded.tasks) > 500


@share(1)
@given(**MEMBERS)
def test_blocks_and_placements_do_not_overlap(tasks, reservations):
    reservations = [(start, start + length, nodes) for start, length, nodes in reservations]
    scaled = ScaledInstance.from_instance(small(tasks, reservations))
    divided = TimeBlocks(scaled)
    windows = [(task.release, task.due) for task in scaled.tasks]
    windows += [(one.start, one.end) for one in scaled.reservations]
    placed = [one.task for one in divided.placements]
    assert sorted([*placed, *(i for block in divided.blocks for i in block)]) == [
        *range(len(windows))
    ]
    periods = [
        (min(windows[i][0] for i in block), max(windows[i][1] for i in block))
        for block in divided.blocks
    ]
    for task, node, start in divided.placements:
        end = start + scaled.tasks[task].load * scaled.tasks_only.unit_time(node)
        assert windows[task][0] <= start and end <= windows[task][1]
        periods.append((start, end))
    assert all(end <= start for (_, end), (start, _) in pairwise(sorted(periods)))


@share(1 / 4)
@given(**MEMBERS, far=st.sampled_from((60, 1000)), floats=st.booleans())
def test_the_maximum_is_that_of_the_undivided_stream(tasks, reservations, far, floats):
    reservations = [(start, start + length, nodes) for start, length, nodes in reservations]
    stream = small([*tasks, (2, 3, float(far) if floats else far)], reservations)
    scaled = ScaledInstance.from_instance(stream)
    searches = [
        kind(scaled, 1, Limits(), 0, "HiGHS") for kind in (MultistageSearch, UndividedSearch)
    ]
    for search in searches:
        search.run(None)
    assert all(search.is_optimal for search in searches)
    assert searches[0].value == searches[1].value
    if not floats:
        everything = ScaledInstance.from_instance(stream, accept_all=True)
        answer = FeasibilityTest(everything, 1, Limits(), 0).decide(relax=False)
        requests = len(stream.tasks) + len(stream.reservations)
        assert (answer.status is Status.OPTIMAL) == (searches[1].value == requests)


def test_streams_at_different_times_add_up_and_keep_what_is_promised():
    tasks, reservations = CROWDED
    later = [(FAR + a, load, d) for a, load, d in tasks]
    reserved = [*reservations, *((FAR + s, FAR + e, nodes) for s, e, nodes in reservations)]
    alone = exact_plan(small(*CROWDED)).value
    assert api.solve(small([*tasks, *later], reserved)).value == 2 * alone
    # At 1 the first two tasks and the first reservation are promised.
    now, granted = [(0, 3, 20), (0, 3, 20), (2, 3, 5), (3, 3, 6)], [(4, 12, (0,))]
    first = api.solve(small(now, granted, now=1))
    found = api.solve(small([*now, *later], granted, now=1))
    accepted = {one.task for one in found.solution.decisions if one.accepted}
    assert {"t0", "t1"} <= accepted and found.solution.grants[0].accepted
    rest = exact_plan(small(tasks, [])).value
    assert (found.status, found.value) == (Status.OPTIMAL, first.value + rest)
