"""Regions of time: threads that move in one plan do not meet, and lose nothing of it."""

import time
from itertools import combinations

import numpy as np
import pytest

from dlopt.generation.coreservation import min5, overloaded
from dlopt.models.coreservation.objective import key_of
from dlopt.models.coreservation.ruin_and_recreate import parallel
from dlopt.models.coreservation.ruin_and_recreate.parallel import Chains
from dlopt.models.coreservation.ruin_and_recreate.search import Crew, Recreation
from dlopt.models.coreservation.ruin_and_recreate.time_decomposition import (
    Region,
    Regions,
    at_once,
    merge,
    near,
    parted,
)
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import fits
from dlopt.problems.coreservation import Instance, Machine, Part, Request


def long_case(goal: str = "benefit") -> Case:
    return Case.of(min5(requests=150, seed=4), goal)


@pytest.mark.parametrize("threads", [2, 3, 4])
@pytest.mark.parametrize("draw", [0.0, 0.13, 0.5, 0.77, 0.999])
def test_what_one_changes_meets_nothing_that_another_does(threads, draw) -> None:
    case = long_case()
    around = near(case)
    regions = Regions(case, around, threads).cut(draw)
    assert len(regions) == threads
    for region in regions:
        jobs = {i for k in region.centres for other in around[k] for i in case.wishes[other].jobs}
        assert jobs <= {*region.jobs}
    for one, other in combinations(regions, 2):
        instants, others = (
            {t for i in region.jobs for t in range(case.jobs[i].start, case.jobs[i].end)}
            for region in (one, other)
        )
        assert not instants & others


def test_cuts_pass_over_all_of_the_time() -> None:
    case = long_case()
    regions = Regions(case, near(case), 2)
    moved = {int(k) for draw in np.arange(0, 1, 0.05) for r in regions.cut(draw) for k in r.centres}
    assert moved == {*range(len(case.wishes))}
    sizes = [[len(r.centres) for r in regions.cut(draw)] for draw in (0.1, 0.4, 0.9)]
    assert all(max(both) < 2 * min(both) for both in sizes)


def test_those_who_all_overlap_are_moved_by_one_thread() -> None:
    crowd = Case.of(overloaded(requests=20, seed=0))
    assert at_once(crowd, 2) == at_once(long_case(), 1) == 1
    assert at_once(long_case(), 2) == 2
    assert 2 <= at_once(long_case(), 64) < 64
    hopeless = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))
    assert at_once(Case.of(hopeless), 2) == 1


@pytest.mark.parametrize("goal", ["benefit", "rejections-then-benefit"])
@pytest.mark.parametrize("threads", [2, 3])
def test_several_threads_keep_one_plan(goal, threads) -> None:
    pytest.importorskip("numba")
    case = long_case(goal)
    search = Recreation(case, {}, 3, fast=True)
    steps = 60_000
    found = search.run(steps, crew=Crew(threads))
    assert search._regions and fits(case, found) and found == search._plan()
    fresh = Recreation(case, found, 0, fast=True)
    assert fresh.state.worth[0] == pytest.approx(search.state.worth[1], abs=1e-9)
    pairs = enumerate(zip(search.state.machine, search.state.units, strict=True))
    now = Recreation(case, {i: pair for i, pair in pairs if pair[0] >= 0}, 0, fast=True)
    assert np.array_equal(now.state.free, search.state.free)
    assert now.state.worth[0] == pytest.approx(search.state.worth[0], abs=1e-9)
    assert found == Recreation(case, {}, 3, fast=True).run(steps, crew=Crew(threads))
    alone = Recreation(case, {}, 3, fast=True).run(steps)
    assert float(key_of(case, found)[-1]) >= 0.95 * float(key_of(case, alone)[-1])


def test_the_best_of_each_region_is_kept() -> None:
    state = Recreation(long_case(), {}).state
    state = state._replace(**{name: np.array(part) for name, part in state._asdict().items()})
    state.worth[:] = 2.0, 3.0
    regions = [Region(np.array([k]), np.array([k])) for k in (0, 1)]
    parts = parted(state, regions)
    parts[0].worth[:] = 1.5, 2.75  # it was better, and is worse now
    parts[0].best_machine[:2] = 7, 8
    parts[1].worth[:] = 2.25, 2.5
    parts[1].best_machine[:2] = 5, 6
    merge(state, regions, parts)
    assert [*state.worth] == [1.75, 3.25]
    assert [*state.best_machine[:3]] == [7, 6, -1]
    parts = parted(state, regions)
    assert [*parts[0].worth] == [1.75, 1.75] and parts[0].machine is state.machine
    parts[0].worth[:] = 3.0, 3.0
    merge(state, regions, parts)
    assert [*state.worth] == [3.0, 3.25] and [*state.best_machine[:3]] == [7, 6, -1]


def test_interpreted_moves_are_one_thread_s() -> None:
    case = long_case()
    assert Recreation(case, {}, 1).run(30, crew=Crew(2)) == Recreation(case, {}, 1).run(30)


def test_cuts_that_leave_one_region_and_few_steps_are_for_one_thread() -> None:
    pytest.importorskip("numba")
    crowd = Case.of(overloaded(requests=20, seed=0))
    search = Recreation(crowd, {}, 1, fast=True)
    assert search.run(500, crew=Crew(2)) and search._regions
    case = long_case()
    assert fits(case, Recreation(case, {}, 1, fast=True).run(1, crew=Crew(2)))


def test_threads_join_a_plan_before_they_begin_another(monkeypatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(parallel, "_STEPS", 200)
    monkeypatch.setattr(parallel, "at_once", lambda case, threads: 2)
    case = long_case()
    side = Chains(case, time.monotonic() + 3600, 0, threads=5)
    for _ in range(7):
        side.start({})
    assert [crew.threads for crew in side._crews] == [2, 2, 1] and len(side._running) == 3
    assert fits(case, side.best())
    side.end()
