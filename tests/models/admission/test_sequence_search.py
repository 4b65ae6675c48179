"""Local search over sequences of chunks: what it finishes is feasible, and chunks alternate."""

from fractions import Fraction

import pytest

from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, schedule_sequence, sequence_of
from dlopt.models.admission.methods import exact_plan
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequence_search import SequenceSearch
from dlopt.models.common.sequence_annealing import EFFORT, FINISHED
from dlopt.problems.admission import violations
from dlopt.result import Limits, Status
from tests.models.admission.sample_instances import GAPS, stream

CLOSE = (
    *((0, 4, 16), (5, 4, 16), (8, 4, 7), (9, 2, 6)),
    *((12, 5, 10), (14, 8, 15), (16, 2, 8), (16, 6, 11)),
)
"""Tasks for four nodes: as many fit as the relaxation accepts, if chunks of them alternate."""
FITTING = {
    "alternating": (stream(4, 1, 4, (1, 7, 26), (7, 6, 21), (9, 4, 9), (9, 7, 26)), 1),
    "any order": (GAPS[1][0], 1),
    "idle before the second": (GAPS[5][0], 1),
    "installments": (stream(2, 1, 1, (0, 3, Fraction(25, 7))), 2),
    "set-up": (stream(2, 1, 1, (0, 3, 7), (1, 2, 9), theta_cm=1, theta_cp=Fraction(1, 2)), 1),
    "nodes that differ": (stream(2, (0, 2), (3, 2), (0, 2, 6), (1, 1, 4)), 1),
}


@pytest.mark.parametrize("name", FITTING)
def test_what_is_finished_has_a_schedule(name):
    instance, installments = FITTING[name]
    scaled = ScaledInstance.from_instance(instance)
    tasks = range(len(scaled.tasks))
    found = SequenceSearch(scaled, installments, Limits(), EFFORT, 0).finish([], tasks)
    plan = schedule_sequence(scaled, found.loaded_chunks, tasks, Limits(), 0)
    assert plan is not None and violations(instance, plan) == ()
    assert sequence_of(scaled, plan)[1] == set(tasks)


def test_what_does_not_fit_is_not_finished():
    scaled = ScaledInstance.from_instance(stream(2, 1, 1, (0, 1, 2), (0, 1, 2)))
    search = SequenceSearch(scaled, 1, Limits(), 500, 0)
    assert search.finish([], [0, 1]) is None and search.is_over()
    search = SequenceSearch(scaled, 1, Limits(work=200), EFFORT, 0)
    assert len(search.improve([], []).requests) == 1
    assert search.improve([UnsizedChunk(0, 0), UnsizedChunk(0, 1)], [0]) is None


def test_promised_tasks_are_kept():
    """Without the promised task two others would fit."""
    instance = stream(1, 1, 1, (0, 6, 12), (1, 2, 5), (6, 2, 5))
    for now, accepted in ((0, {1, 2}), (Fraction(1, 2), {0})):
        if now:
            instance = stream(1, 1, 1, (0, 5, 12), (1, 2, 5), (6, 2, 5), now=now)
        scaled = ScaledInstance.from_instance(instance)
        assert scaled.tasks[0].mandatory == bool(now)
        search = SequenceSearch(scaled, 1, Limits(work=500), EFFORT, 0)
        found = search.improve([UnsizedChunk(0, 0)], [0])
        assert (found.requests if found else {0}) == accepted


@pytest.mark.parametrize("threads", [1, 2])
def test_the_optimum_of_alternating_chunks_is_found(threads):
    instance = stream(4, 1, 4, *CLOSE)
    found = exact_plan(instance, limits=Limits(work=12_000, threads=threads))
    assert (found.status, found.value) == (Status.OPTIMAL, 5)
    assert violations(instance, found.solution) == ()


@pytest.mark.parametrize("chi", [10**16, 10**26])
def test_a_node_that_can_do_hardly_anything_is_no_hindrance(chi):
    """HiGHS refuses its coefficients; only the smallest task may use the second one."""
    small = (17, Fraction(1, 10**10), 20)
    instance = stream(4, (1, 1, 1, 1), (4, 4, 4, chi), *CLOSE, *[small] * (chi > 10**20))
    found = exact_plan(instance, limits=Limits(work=200))
    assert found.value >= 3 and violations(instance, found.solution) == ()


def test_a_chunk_with_hardly_any_load_may_be_in_a_first_sequence():
    scaled = ScaledInstance.from_instance(stream(2, 1, (1, 10**16), (0, 3, 7), (1, 1, 9)))
    begun = [UnsizedChunk(0, 0), UnsizedChunk(0, 1)]
    found = SequenceSearch(scaled, 1, Limits(work=100), EFFORT, 0).improve(begun, [0])
    assert found.requests == {0, 1}


def test_tasks_with_less_load_than_the_tolerance_have_chunks():
    tiny = Fraction(1, 10**12)
    instance = stream(2, 1, 4, (0, 4, 30), (0, tiny, 9), (1, tiny, 20), (3, 4, 40))
    scaled = ScaledInstance.from_instance(instance)
    search = SequenceSearch(scaled, 1, Limits(work=2_000), EFFORT, 0)
    unsent = search.sized([UnsizedChunk(0, 0)], frozenset([0, 1]))
    assert unsent.unfinished_load > FINISHED and unsent.unfinished == {1}
    found = search.finish([], range(4))
    plan = schedule_sequence(scaled, found.loaded_chunks, range(4), Limits(), 0)
    assert plan is not None and violations(instance, plan) == ()


def test_no_sets_of_tasks_are_drawn_beyond_a_limit():
    """Besides the first task no other one fits."""
    instance = stream(1, 1, 1, (0, 40, 80), *((0, 2 + k, 81) for k in range(30)))
    scaled = ScaledInstance.from_instance(instance, "accepted-load")
    search = SequenceSearch(scaled, 1, Limits(work=10), EFFORT, 0)
    assert search.improve([UnsizedChunk(0, 0)], [0]) is None
    assert len(search.relaxation.known) < 10
