"""Time decomposition: threads that move in one assignment do not meet, and lose nothing of it."""

import time
from itertools import combinations

import numpy as np
import pytest

from dlopt.generation.coreservation import min5, overloaded
from dlopt.models.coreservation.objective import objective_key
from dlopt.models.coreservation.requests import overlapping_requests
from dlopt.models.coreservation.ruin_and_recreate import parallel
from dlopt.models.coreservation.ruin_and_recreate.parallel import ParallelSearch
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate, ThreadTeam
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import (
    TimeWindow,
    TimeWindows,
    max_parallel_windows,
    merge_states,
    split_state,
)
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import Instance, Machine, Part, Request


def long_instance(goal: str = "benefit") -> ScaledInstance:
    return ScaledInstance.from_instance(min5(requests=150, seed=4), goal)


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("draw", [0.0, 0.13, 0.5, 0.77, 0.999])
def test_what_one_changes_meets_nothing_that_another_does(threads, draw) -> None:
    scaled = long_instance()
    around = overlapping_requests(scaled.requests)
    windows = TimeWindows(scaled, around, threads).cut(draw)
    assert len(windows) == threads
    for window in windows:
        parts = {
            i for k in window.centres for other in around[k] for i in scaled.requests[other].parts
        }
        assert parts <= {*window.parts}
    for one, other in combinations(windows, 2):
        instants, others = (
            {t for i in window.parts for t in range(scaled.parts[i].start, scaled.parts[i].end)}
            for window in (one, other)
        )
        assert not instants & others


def test_cuts_pass_over_all_of_the_time() -> None:
    scaled = long_instance()
    windows = TimeWindows(scaled, overlapping_requests(scaled.requests), 2)
    moved = {int(k) for draw in np.arange(0, 1, 0.05) for r in windows.cut(draw) for k in r.centres}
    assert moved == {*range(len(scaled.requests))}
    sizes = [[len(r.centres) for r in windows.cut(draw)] for draw in (0.1, 0.4, 0.9)]
    assert all(max(both) < 2 * min(both) for both in sizes)


def test_those_who_all_overlap_are_moved_by_one_thread() -> None:
    crowd = ScaledInstance.from_instance(overloaded(requests=20, seed=0))
    assert max_parallel_windows(crowd, 2) == max_parallel_windows(long_instance(), 1) == 1
    assert max_parallel_windows(long_instance(), 2) == 2
    assert 2 <= max_parallel_windows(long_instance(), 64) < 64
    hopeless = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))
    assert max_parallel_windows(ScaledInstance.from_instance(hopeless), 2) == 1


@pytest.mark.parametrize("goal", ["benefit", "rejections-then-benefit"])
@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_keep_one_plan(goal, threads) -> None:
    pytest.importorskip("numba")
    scaled = long_instance(goal)
    search = RuinAndRecreate(scaled, {}, 3, fast=True)
    steps = 60_000
    found = search.run(steps, team=ThreadTeam(threads))
    assert search.windows and is_feasible(scaled, found) and found == search.incumbent()
    fresh = RuinAndRecreate(scaled, found, 0, fast=True)
    assert fresh.state.value[0] == pytest.approx(search.state.value[1], abs=1e-9)
    pairs = enumerate(zip(search.state.machine, search.state.units, strict=True))
    now = RuinAndRecreate(scaled, {i: pair for i, pair in pairs if pair[0] >= 0}, 0, fast=True)
    assert np.array_equal(now.state.free, search.state.free)
    assert now.state.value[0] == pytest.approx(search.state.value[0], abs=1e-9)
    assert found == RuinAndRecreate(scaled, {}, 3, fast=True).run(steps, team=ThreadTeam(threads))
    alone = RuinAndRecreate(scaled, {}, 3, fast=True).run(steps)
    assert float(objective_key(scaled, found)[-1]) >= 0.95 * float(objective_key(scaled, alone)[-1])


def test_the_best_of_each_region_is_kept() -> None:
    state = RuinAndRecreate(long_instance(), {}).state
    state = state._replace(**{name: np.array(part) for name, part in state._asdict().items()})
    state.value[:] = 2.0, 3.0
    windows = [TimeWindow(np.array([k]), np.array([k])) for k in (0, 1)]
    parts = split_state(state, windows)
    parts[0].value[:] = 1.5, 2.75  # it was better, and is worse now
    parts[0].best_machine[:2] = 7, 8
    parts[1].value[:] = 2.25, 2.5
    parts[1].best_machine[:2] = 5, 6
    merge_states(state, windows, parts)
    assert [*state.value] == [1.75, 3.25]
    assert [*state.best_machine[:3]] == [7, 6, -1]
    parts = split_state(state, windows)
    assert [*parts[0].value] == [1.75, 1.75] and parts[0].machine is state.machine
    parts[0].value[:] = 3.0, 3.0
    merge_states(state, windows, parts)
    assert [*state.value] == [3.0, 3.25] and [*state.best_machine[:3]] == [7, 6, -1]


def test_interpreted_moves_are_one_thread_s() -> None:
    scaled = long_instance()
    assert RuinAndRecreate(scaled, {}, 1).run(30, team=ThreadTeam(2)) == RuinAndRecreate(
        scaled, {}, 1
    ).run(30)


def test_cuts_that_leave_one_region_and_few_steps_are_for_one_thread() -> None:
    pytest.importorskip("numba")
    crowd = ScaledInstance.from_instance(overloaded(requests=20, seed=0))
    search = RuinAndRecreate(crowd, {}, 1, fast=True)
    assert search.run(500, team=ThreadTeam(2)) and search.windows
    scaled = long_instance()
    assert is_feasible(scaled, RuinAndRecreate(scaled, {}, 1, fast=True).run(1, team=ThreadTeam(2)))


def test_threads_join_a_plan_before_they_begin_another(monkeypatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(parallel, "MAX_MOVES_PER_REQUEST", 200)
    monkeypatch.setattr(parallel, "max_parallel_windows", lambda scaled, threads: 2)
    scaled = long_instance()
    side = ParallelSearch(scaled, time.monotonic() + 3600, 0, threads=5)
    for _ in range(7):
        side.start({})
    assert [team.threads for team in side.teams] == [2, 2, 1] and len(side.running) == 3
    assert is_feasible(scaled, side.best())
    side.end()
