"""Blocks of time: they do not overlap, and nothing is lost by solving them one by one."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import api
from dlopt.models.admission import time_blocks
from dlopt.models.admission.feasibility import FeasibilityTest
from dlopt.models.admission.methods import exact_plan, feasible_queue
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.search import AdmissionSearch
from dlopt.models.admission.time_blocks import TimeBlocks, place_in_idle_periods
from dlopt.models.common.block_outcomes import BlockOutcomes
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Status
from tests.examples import share
from tests.models.admission.sample_instances import GAPS, stream

F = Fraction
FAR = 10**9
WINDOW_GAP = stream(3, 1, 10, (0, 20, 80), (1, 20, 90), (2, 20, 110), (3, 20, 150))
"""Two of four tasks fit; the fluid relaxation proves it, and a sequencing model finds them."""
CROWDED = (0, 7, 14), (3, 7, 33), (5, 8, 24), (6, 3, 8), (6, 5, 25)
TWO_OF_THREE = ((0, 2, 4), (0, 3, 8), (0, 1, 4))  # greedy algorithms accept one of them


class UndividedSearch(AdmissionSearch):
    """The search of the whole stream at once."""

    def close_gap(self):
        self.close_gap_of_block()


def scaled_tasks(nodes, *windows):
    """Return the scaled stream of unit loads in windows (release, due date) of one's own units."""
    tasks = tuple(Task(f"t{k}", a, 1, d - a) for k, (a, d) in enumerate(sorted(windows)))
    return ScaledInstance.from_instance(Instance(Cluster(nodes, tau=1, chi=1), tasks))


def with_far_tasks(instance, *far):
    """Return a stream with more tasks (arrival, load, deadline)."""
    more = tuple(Task(f"far{k}", *task) for k, task in enumerate(far, len(instance.tasks)))
    tasks = sorted((*instance.tasks, *more), key=lambda task: task.arrival)
    return replace(instance, tasks=tuple(tasks))


def test_intervals_that_touch_are_different_blocks():
    divided = TimeBlocks(scaled_tasks(1, (0, 3), (3, 6), (4, 6), (7, 9)))
    # Of these three blocks the first and the last are placed: they fit into idle periods.
    assert divided.blocks == ((1, 2),)
    assert [one.task for one in divided.placements] == [0, 3]


def test_a_stream_without_an_idle_period_is_one_block():
    divided = TimeBlocks(scaled_tasks(1, (0, 3), (0, 3), (2, 4)))
    assert divided.is_trivial and divided.blocks == ((0, 1, 2),)


def test_a_task_needs_an_idle_period_that_is_long_enough():
    """On the faster node, from when that is free, until the next task is released."""
    for gap, nodes, ready, placed in (
        (1, 1, (0,), []),
        (2, 1, (0,), [2]),
        (2, 2, (0, 0), [2]),
        (2, 1, (4,), []),
        (3, 1, (4,), [2]),
        (2, 2, (4, 0), [2]),
    ):
        windows = (0, 3), (0, 3), (0, 5 + gap), (3 + gap, 6 + gap), (4 + gap, 6 + gap)
        tasks = tuple(Task(f"t{k}", a, 1, d - a) for k, (a, d) in enumerate(windows))
        cluster = Cluster(nodes, tau=1, chi=1)
        scaled = ScaledInstance.from_instance(Instance(cluster, tasks, ready_times=ready))
        intervals = [(task.release, task.due) for task in scaled.tasks]
        found = place_in_idle_periods(scaled, intervals, [2])
        assert [one.task for one in found] == placed


def test_a_long_interval_holds_shorter_ones_together():
    """The first task takes 28 of 30; the last one is done after it, not between short ones."""
    tasks = (0, 14, 30), (1, 1, 2), (2, 1, FAR), (5, 1, 2), (5, 1, 2)
    divided = TimeBlocks(ScaledInstance.from_instance(stream(1, 1, 1, *tasks)))
    assert divided.blocks == ((0, 1, 3, 4),)
    units = divided.scaled.time_unit
    assert [(one.task, one.start * units) for one in divided.placements] == [(2, 30)]


def test_tasks_share_an_idle_period_one_after_another():
    windows = (0, 3), (0, 3), (0, FAR), (1, FAR), (5, 8), (6, 8)
    divided = TimeBlocks(scaled_tasks(1, *windows))
    assert divided.blocks == ((0, 1), (4, 5))
    units = divided.scaled.time_unit
    assert [(one.task, one.start * units) for one in divided.placements] == [(2, 3), (3, 8)]


def test_a_search_for_places_that_takes_many_rounds_is_given_up(monkeypatch):
    monkeypatch.setattr(time_blocks, "MAX_ROUNDS", 1)
    divided = TimeBlocks(scaled_tasks(1, (0, 3), (0, 3), (0, 3), (1, 3)))
    assert not divided.placements and divided.is_trivial


def test_a_task_that_is_due_before_it_can_be_sent_is_left_to_the_search():
    tasks = Task("late", 0, 1, 3), Task("patient", 0, 1, FAR)
    scaled = ScaledInstance.from_instance(Instance(Cluster(1, 1, 1), tasks, channel_ready=9))
    assert [one.task for one in TimeBlocks(scaled).placements] == [1]


@share(2)
@given(
    windows=st.lists(
        st.tuples(st.integers(0, 40), st.sampled_from((1, 2, 3, 5, 9, 30, 300))), max_size=9
    ),
    nodes=st.integers(1, 2),
)
def test_blocks_and_placements_do_not_overlap(windows, nodes):
    windows = [(0, 4), *((start, start + length) for start, length in windows)]
    scaled = scaled_tasks(nodes, *windows)
    divided = TimeBlocks(scaled)
    placed = [one.task for one in divided.placements]
    assert sorted([*placed, *(i for block in divided.blocks for i in block)]) == [
        *range(len(windows))
    ]
    periods = [
        (min(scaled.tasks[i].release for i in block), max(scaled.tasks[i].due for i in block))
        for block in divided.blocks
    ]
    for task, node, start in divided.placements:
        own, end = scaled.tasks[task], start + scaled.tasks[task].load * scaled.unit_time(node)
        assert max(own.release, scaled.free[node]) <= start and end <= own.due
        periods.append((start, end))
    assert all(end <= start for (_, end), (start, _) in pairwise(sorted(periods)))
    assert [*map(len, divided.blocks)] == sorted(map(len, divided.blocks))


@pytest.mark.parametrize(("far", "where"), [(10**6, "arrival"), (10**15, "deadline")])
def test_a_task_far_away_takes_no_digits_of_the_others(far, where):
    task = (far, 20, 100) if where == "arrival" else (5, 20, far)
    found = api.solve(with_far_tasks(WINDOW_GAP, task), limits=Limits(work=500))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 3, 3)
    assert found.certificate is not None


@pytest.mark.parametrize(("instance", "best"), GAPS[:3])
def test_tasks_far_away_are_accepted_besides_the_optimum(instance, best):
    far = (FAR, 5, 100), (2, 3, 2 * FAR), (3, 4, 2 * FAR)
    found = api.solve(with_far_tasks(instance, *far))
    assert (found.status, found.value) == (Status.OPTIMAL, best + len(far))


@pytest.mark.parametrize(("installments", "floats"), [(1, False), (2, True)])
def test_copies_of_a_stream_at_different_times_add_up(installments, floats):
    number = float if floats else int
    tasks = tuple(
        Task(f"{start}-{k}", number(start + a), number(load), number(d))
        for start in (0, 10, 10**7)
        for k, (a, load, d) in enumerate(TWO_OF_THREE)
    )
    for theta, best in ((0, 2), (1, 1)):
        cluster = Cluster(2, 1, 2, theta_cm=theta)
        instance = Instance(cluster, tasks)
        found = api.solve(instance, installments=installments)
        alone = exact_plan(Instance(cluster, tasks[:3]), installments=installments)
        assert alone.value == best
        assert (found.status, found.value) == (Status.OPTIMAL, 3 * best)


def test_promised_tasks_stay_accepted_in_their_blocks():
    """What arrived before `now` is promised: here the load of 3, which fits with no other task."""
    later = tuple(
        Task(f"later{k}", FAR + a, load, d) for k, (a, load, d) in enumerate(TWO_OF_THREE)
    )
    promised = Task("promised", 0, 3, 8)
    rest = Task("a", 1, 2, 3), Task("b", 1, 1, 3)
    instance = Instance(Cluster(2, 1, 2), (promised, *rest, *later), now=1)
    found = api.solve(instance)
    accepted = {one.task for one in found.solution.decisions if one.accepted}
    alone = api.solve(replace(instance, tasks=(promised, *rest)))
    assert "promised" in accepted
    assert (found.status, found.value) == (Status.OPTIMAL, alone.value + 2)


@share(1 / 4)
@given(
    tasks=st.lists(
        st.tuples(st.integers(0, 30), st.integers(1, 4), st.integers(2, 9)), min_size=2, max_size=5
    ),
    far=st.tuples(st.integers(0, 30), st.integers(1, 4), st.sampled_from((60, 1000))),
)
def test_the_maximum_is_that_of_the_undivided_stream(tasks, far):
    instance = stream(2, 1, 2, *sorted([*tasks, far]))
    scaled = ScaledInstance.from_instance(instance)
    searches = [
        kind(scaled, 1, Limits(), 0, "HiGHS") for kind in (AdmissionSearch, UndividedSearch)
    ]
    for search in searches:
        search.initialise(None)
        search.bound = scaled.max_value
        search.close_gap()
    assert searches[0].is_optimal and searches[1].is_optimal
    assert searches[0].value == searches[1].value
    feasible = FeasibilityTest(scaled.restricted_to(range(len(scaled.tasks))), 1, Limits(), 0)
    answer = feasible.decide(relax=False)
    assert (answer.status is Status.OPTIMAL) == (searches[1].value == len(instance.tasks))


def test_a_queue_is_infeasible_if_a_block_is():
    feasible = with_far_tasks(stream(2, 1, 1, (0, 2, 14), (0, 10, 15)), (2, 3, FAR), (FAR, 3, 9))
    assert api.solve(feasible, "feasibility").status is Status.OPTIMAL
    for more in ((2, 1, 2),), ((3 * FAR, 1, 2),) * 2:
        found = feasible_queue(with_far_tasks(feasible, *more))
        assert found.status is Status.INFEASIBLE and found.reason


def test_a_block_that_does_not_fit_is_known_without_time_for_a_certificate(monkeypatch):
    def no_time(self, requests, instants=()):
        raise TimeoutError
        yield

    instance = with_far_tasks(stream(2, 1, 1, (0, 2, 3), (0, 2, 3)), (FAR, 3, 9))
    scaled = ScaledInstance.from_instance(instance).restricted_to(range(3))
    test = FeasibilityTest(scaled, 1, Limits(), 0)
    assert test.decide_blocks(test.divide()).certificate is not None
    monkeypatch.setattr("dlopt.models.admission.conflicts.TaskConflicts.refutations", no_time)
    answer = test.decide_blocks(test.divide())
    assert (answer.status, answer.certificate) == (Status.INFEASIBLE, None)


def test_blocks_without_time_leave_the_question_open():
    instance = with_far_tasks(stream(2, 1, 2, *TWO_OF_THREE[:2]), (FAR, 3, 9))
    scaled = ScaledInstance.from_instance(instance).restricted_to(range(3))
    test = FeasibilityTest(scaled, 1, Limits(time_s=1e-9), 0)
    assert test.decide_blocks(test.divide()).status is Status.LIMIT


def test_what_no_search_has_found_is_that_of_the_incumbent():
    """Nor has a block without a schedule or a bound any but those that are known before."""
    instance = with_far_tasks(stream(2, 1, 2, *TWO_OF_THREE), (FAR, 3, 9))
    search = AdmissionSearch(ScaledInstance.from_instance(instance), 1, Limits(), 0, "HiGHS")
    search.initialise(None)
    outcomes = BlockOutcomes(search.divide(), search.plan)
    nothing = AdmissionSearch(search.scaled, 1, Limits(), 0, "HiGHS")
    outcomes.add((0, 1, 2), nothing)
    assert (outcomes.value, outcomes.upper_bound.value) == (1, 4)
    assert outcomes.open_blocks == "1 of 1 blocks of time have a gap"


def test_blocks_that_are_not_closed_are_counted_in_the_reason():
    tasks = [(start + a, load, d) for start in (0, FAR) for a, load, d in CROWDED]
    found = exact_plan(stream(3, 1, 5, *tasks), limits=Limits(work=1))
    assert found.status is Status.FEASIBLE and "blocks of time have a gap" in found.reason
