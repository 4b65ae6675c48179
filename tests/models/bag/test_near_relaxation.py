"""The program of few pairs of a task and a machine improves schedules, and proves nothing."""

import random
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, solve
from dlopt.models.bag import lns, search
from dlopt.problems.bag import Instance, Machine, Task
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


def test_moves_from_the_last_machine_end_earlier():
    """With an ejection: no job alone can leave the machine that ends last."""
    scaled = search.ScaledInstance.from_instance(
        Instance(etc=((5, 4, 99), (3, 99, 99), (99, 4, 2))), "makespan"
    )
    before = ((0, 1), (2,), ())  # 8, 4, 0; task 0 on the second machine alone ends at 8
    assert lns.shift_from_last_machine(scaled, before, inf) == ((1,), (0,), (2,))
    assert lns.shift_from_last_machine(scaled, before, 0) == before


@pytest.mark.property
@share(1)
@given(MATRICES, st.randoms(use_true_random=False))
def test_moves_keep_all_tasks_and_never_end_later(matrix, draw):
    scaled = search.ScaledInstance.from_instance(Instance(etc=tuple(matrix)), "makespan")
    before = [[], [], []]
    for job in range(len(matrix)):
        before[draw.randrange(3)].append(job)
    after = lns.shift_from_last_machine(scaled, tuple(map(tuple, before)), inf)
    assert sorted(job for sequence in after for job in sequence) == list(range(len(matrix)))
    ends = search.machine_ends(scaled, after)
    assert max(ends) <= max(search.machine_ends(scaled, before))
    last = ends.index(max(ends))
    for job in after[last]:
        assert all(ends[k] + matrix[job][k] >= max(ends) for k in range(3) if k != last)


def test_jobs_that_arrive_one_by_one_are_left():
    tasks = Task("a", 2), Task("b", 2, release=1)
    scaled = search.ScaledInstance.from_instance(
        Instance(tasks, (Machine("m"), Machine("n"))), "makespan"
    )
    assert lns.shift_from_last_machine(scaled, ((0, 1), ()), inf) == ((0, 1), ())


def test_the_pairs_of_the_schedule_remain():
    matrix = ((1, 5, 9, 9), (1, 5, 9, 9), (9, 9, 1, 5))
    scaled = search.ScaledInstance.from_instance(Instance(etc=matrix), "makespan")
    sequences = ((), (0, 1), (), (2,))
    near = lns.near_relaxation(scaled, search.bound_makespan(scaled), sequences)
    assert all(
        job in near.eligible_jobs[k] for k, sequence in enumerate(sequences) for job in sequence
    )
    assert sum(map(len, near.eligible_machines)) < 12
