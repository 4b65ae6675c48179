"""Ruin and recreate: assignments stay feasible, and become no worse."""

import sys
import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.models.coreservation import primal_heuristics
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.methods import lns
from dlopt.models.coreservation.objective import objective_key
from dlopt.models.coreservation.ruin_and_recreate import moves, parallel
from dlopt.models.coreservation.ruin_and_recreate.insertion import UniformStream
from dlopt.models.coreservation.ruin_and_recreate.parallel import ParallelSearch
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate, Target
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import (
    Batch,
    Instance,
    Machine,
    Part,
    Request,
    staircase,
    violations,
)
from dlopt.result import Limits
from tests.oracles_coreservation import optimum

GOALS = (
    "benefit",
    "rejections",
    "rejected-priority",
    "benefit-then-rejections",
    "rejections-then-benefit",
    "rejections-then-machines",
)


@pytest.mark.parametrize("goal", GOALS)
def test_plans_are_valid_and_no_worse(goal) -> None:
    scaled = ScaledInstance.from_instance(min5(requests=16, seed=1, ahead=200), goal)
    start = greedy_assignment(scaled)
    search = RuinAndRecreate(scaled, start, 3)
    found = search.run(120)
    assert is_feasible(scaled, found) and objective_key(scaled, found) >= objective_key(
        scaled, start
    )
    again = RuinAndRecreate(scaled, start, 3).run(120)
    assert found == again and search.initial == start


def test_free_capacity_and_value_are_kept() -> None:
    scaled = ScaledInstance.from_instance(
        overloaded(requests=14, seed=2), "rejections-then-benefit"
    )
    search, random = RuinAndRecreate(scaled, {}, 0), np.random.default_rng(0)
    plans = [list(search.state.machine)]
    for _ in range(200):
        stream = UniformStream(random.random(5000).tolist(), [0])
        assert search.run_moves(search.problem, search.state, 0.01, stream, 1000, 1) == 1
        plans.append(list(search.state.machine))
    kept = [after != before for before, after in pairwise(plans)]
    assert True in kept and False in kept
    assignment = {
        i: (machine, units)
        for i, (machine, units) in enumerate(
            zip(search.state.machine, search.state.units, strict=True)
        )
        if machine >= 0
    }
    fresh = RuinAndRecreate(scaled, assignment, 0)
    assert fresh.state.free == search.state.free and is_feasible(scaled, assignment)
    assert fresh.state.value[0] == pytest.approx(search.state.value[0], abs=1e-9)


@pytest.mark.compiles
def test_compiled_moves_answer_the_same() -> None:
    pytest.importorskip("numba")
    scaled = ScaledInstance.from_instance(
        min5(requests=40, seed=2, ahead=300), "benefit-then-rejections"
    )
    fast, slow = RuinAndRecreate(scaled, {}, 5, fast=True), RuinAndRecreate(scaled, {}, 5)
    assert fast.compiled and not slow.compiled
    draws, most = np.random.default_rng(1).random(40_000), 5000
    streams = (
        UniformStream(draws, np.zeros(1, np.int64)),
        UniformStream(draws.tolist(), [0]),
    )
    for search, stream in zip((fast, slow), streams, strict=True):
        assert search.run_moves(search.problem, search.state, 1e-4, stream, most, 200) == 200
    for one, other in zip(fast.state, slow.state, strict=True):
        assert np.array_equal(one, other)


def test_without_the_extra_moves_are_interpreted(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    moves.compile_moves.cache_clear()
    scaled = ScaledInstance.from_instance(min5(requests=16, seed=1, ahead=200))
    search = RuinAndRecreate(scaled, {}, 3, fast=True)
    moves.compile_moves.cache_clear()
    assert not search.compiled and search.run(50) == RuinAndRecreate(scaled, {}, 3).run(50)


def test_parallel_searches_return_the_best_of_their_plans(monkeypatch) -> None:
    pytest.importorskip("numba")
    scaled = ScaledInstance.from_instance(min5(requests=16, seed=1, ahead=200))
    side = ParallelSearch(scaled, time.monotonic() + 3600, 0, threads=2)
    monkeypatch.setattr(
        "dlopt.models.coreservation.ruin_and_recreate.parallel.MAX_MOVES_PER_REQUEST", 500
    )
    assert side.best() == {}
    for _ in range(3):
        side.start({})  # the third finds no thread
    found = side.best()
    side.end()
    assert is_feasible(scaled, found)
    steps = 500 * len(scaled.requests)
    alone = [RuinAndRecreate(scaled, {}, seed, fast=True).run(steps) for seed in (0, 1)]
    assert found == max(alone, key=lambda assignment: objective_key(scaled, assignment))


@pytest.mark.parametrize("goal", ["benefit", "rejections-then-benefit", "rejections-then-machines"])
def test_parallel_searches_end_when_a_plan_is_good_enough(goal) -> None:
    pytest.importorskip("numba")
    scaled = ScaledInstance.from_instance(overloaded(requests=14, seed=2), goal)
    some = objective_key(scaled, RuinAndRecreate(scaled, {}, 0).run(60))
    first, *_ = some
    side = ParallelSearch(scaled, time.monotonic() + 3600, 0, threads=2)
    side.start({})
    side.start({})
    found = side.best([first])
    assert is_feasible(scaled, found) and objective_key(scaled, found)[0] >= first
    side.end()


def test_an_aim_is_looked_at_exactly() -> None:
    scaled = ScaledInstance.from_instance(
        overloaded(requests=14, seed=2), "rejections-then-benefit"
    )
    search = RuinAndRecreate(scaled, {}, 0)
    assignment = search.run(60)
    key = objective_key(scaled, assignment)
    assert search.float_value(key) == pytest.approx(search.state.value[1])
    above, exactly = Target((key[0], key[1] + Fraction(1, 10**30))), Target(key)
    assert not search.is_reached(above)
    assert search.float_value((key[0],)) < search.float_value(key)
    search.compared_value = 0.0
    assert search.is_reached(exactly) and exactly.reached.is_set()
    assert not search.is_reached(Target())
    counted = RuinAndRecreate(
        ScaledInstance.from_instance(overloaded(requests=14, seed=2), "rejections-then-machines"),
        {},
    )
    assert counted.float_value((key[0], Fraction(-3))) == counted.float_value((key[0],))


def test_parallel_searches_end_on_request() -> None:
    pytest.importorskip("numba")
    scaled = ScaledInstance.from_instance(min5(requests=16, seed=1, ahead=200))
    side = ParallelSearch(scaled, time.monotonic() + 3600, 0, threads=1)
    side.start({})
    side.end()
    assert is_feasible(scaled, side.best())


@pytest.mark.parametrize("threads", [1, 2])
def test_parallel_searches_run_concurrently_with_the_relaxation(monkeypatch, threads) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(primal_heuristics, "MIN_COMPILED_SECONDS", 0.01)
    moves.compile_moves()
    instance = overloaded(requests=40, seed=2)
    scaled = ScaledInstance.from_instance(instance)
    asked = list[dict[int, tuple[int, int]]]()
    best = ParallelSearch.best
    monkeypatch.setattr(
        ParallelSearch, "best", lambda self, to: asked.append(best(self, to)) or asked[-1]
    )
    found = lns(instance, limits=Limits(time_s=2, threads=threads))
    assert found.value <= found.bound and not violations(instance, found.solution)
    assert len(asked) == 1 and is_feasible(scaled, asked[0])
    assert objective_key(scaled, asked[0]) <= (found.value,)


def test_without_the_extra_there_is_no_parallel_search(monkeypatch) -> None:
    monkeypatch.setattr(primal_heuristics, "MIN_COMPILED_SECONDS", 0.01)
    monkeypatch.setattr(parallel, "find_spec", lambda name: None)
    monkeypatch.setattr(primal_heuristics, "ParallelSearch", None)
    instance = overloaded(requests=20, seed=2)
    found = lns(instance, limits=Limits(time_s=1, threads=2))
    assert found.value <= found.bound and not violations(instance, found.solution)


@pytest.mark.parametrize("seed", range(5))
def test_small_instances_come_near_their_optimum(seed) -> None:
    instance = small(requests=4, span=4, seed=seed)
    scaled = ScaledInstance.from_instance(instance)
    (value,) = objective_key(scaled, RuinAndRecreate(scaled, {}, 0).run(300))
    best = optimum(instance, "benefit")
    assert best * Fraction(9, 10) <= value <= best


def test_stairs_are_climbed_as_far_as_there_is_room() -> None:
    parts = (Part(8, 2, staircase(4)),)
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, parts) for k in range(2))
    scaled = ScaledInstance.from_instance(Instance((Machine("m", 13),), requests, Batch(1)))
    found = RuinAndRecreate(scaled, {}, 0).run(50)
    assert sorted(units * scaled.unit for _, units in found.values()) in ([4, 8], [6, 6])


def test_no_time_and_no_requests_leave_the_plan() -> None:
    scaled = ScaledInstance.from_instance(small(seed=3))
    assert RuinAndRecreate(scaled, {}, 0).run(1000, time.monotonic() - 1) == {}
    later = RuinAndRecreate(scaled, {}, 0).run(20, time.monotonic() + 3600)
    assert is_feasible(scaled, later)
    hopeless = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))
    assert RuinAndRecreate(ScaledInstance.from_instance(hopeless), {}, 0).run(10) == {}


def test_a_large_request_is_inserted_where_small_ones_have_a_higher_density() -> None:
    small_ones = tuple(Request(f"s{k}", 0, 0, 1, 5, (Part(6),)) for k in range(3))
    large = Request("large", 0, 0, 10, 7, (Part(10),))  # a tenth of the value for its CPU
    scaled = ScaledInstance.from_instance(
        Instance((Machine("m", 10),), (*small_ones, large), Batch(1))
    )
    start = {
        i: (0, part.minimum)
        for i, part in enumerate(scaled.parts)
        if scaled.requests[part.request].index == 0
    }
    found = RuinAndRecreate(scaled, start, 0).run(200)
    assert [scaled.requests[scaled.parts[i].request].index for i in found] == [3]


def test_parts_move_to_where_they_get_more(monkeypatch) -> None:
    monkeypatch.setattr(moves, "RELOCATE_PROBABILITY", 1.0)
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(8, 2),)) for k in range(2))
    scaled = ScaledInstance.from_instance(
        Instance((Machine("m", 8), Machine("n", 8)), requests, Batch(1))
    )
    found = RuinAndRecreate(scaled, {0: (0, 1), 1: (0, 1)}, 0).run(50)
    assert {machine for machine, _ in found.values()} == {0, 1}
    assert [units * scaled.unit for _, units in found.values()] == [8, 8]
