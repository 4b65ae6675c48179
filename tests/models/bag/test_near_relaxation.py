"""The program of few pairs of a task and a machine improves schedules, and proves nothing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.models.bag import lns, search
from dlopt.problems.bag import Instance
from tests.examples import share
from tests.oracles_bag import best


@pytest.fixture(autouse=True, scope="module")
def _few_pairs():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lns, "PAIRS_PER_JOB", 1)
        patch.setattr(search, "MAX_PAIRS_WITHOUT_NEIGHBOURHOODS", 0)
        yield


MATRICES = st.lists(st.tuples(*[st.integers(1, 20)] * 3), min_size=2, max_size=5)


@pytest.mark.property
@share(1 / 4)
@given(MATRICES)
def test_what_few_pairs_prove_is_not_taken_for_the_optimum(matrix):
    instance = Instance(etc=tuple(matrix))
    optimum = -best(instance, "makespan")[0]
    found = solve(instance, "exact")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, optimum, optimum)
    assert solve(instance, "lns").value == optimum


def test_all_pairs_are_searched_after_the_few():
    matrix = ((7, 1, 5), (9, 8, 7), (5, 8, 6), (4, 9, 3))  # no more than 9 with one pair a task
    assert solve(Instance(etc=matrix), "lns").value == 8


def test_the_program_of_few_pairs_improves_schedules(monkeypatch):
    draw = random.Random(0)
    matrix = tuple(tuple(draw.randint(1, 999) for _ in range(8)) for _ in range(60))
    monkeypatch.setattr(search, "NEIGHBOURHOOD_ROUNDS", 0)
    monkeypatch.setattr(lns, "PAIRS_PER_JOB", 3)
    value = solve(Instance(etc=matrix), "lns").value
    monkeypatch.setattr(search, "near_relaxation", lambda scaled, *_: scaled)
    assert value < solve(Instance(etc=matrix), "lns").value


def test_the_pairs_of_the_schedule_remain():
    matrix = ((1, 5, 9, 9), (1, 5, 9, 9), (9, 9, 1, 5))
    scaled = search.ScaledInstance.from_instance(Instance(etc=matrix), "makespan")
    sequences = ((), (0, 1), (), (2,))
    near = lns.near_relaxation(scaled, search.bound_makespan(scaled), sequences)
    assert all(
        job in near.eligible_jobs[k] for k, sequence in enumerate(sequences) for job in sequence
    )
    assert sum(map(len, near.eligible_machines)) < 12
