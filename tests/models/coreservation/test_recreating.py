"""Requests taken away and put back: plans stay valid, and become no worse."""

import time
from fractions import Fraction

import pytest

from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.models.coreservation import recreating
from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.placing import greedy
from dlopt.models.coreservation.plans import fits
from dlopt.models.coreservation.recreating import Recreation
from dlopt.models.coreservation.worth import key_of
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, staircase
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
    case = Case.of(min5(requests=16, seed=1, ahead=200), goal)
    start = greedy(case)
    search = Recreation(case, start, 3)
    found = search.run(120)
    assert fits(case, found) and key_of(case, found) >= key_of(case, start)
    again = Recreation(case, start, 3).run(120)
    assert found == again and search.start == start


def test_what_is_free_and_what_it_is_worth_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(recreating, "_WARM", 1.0)  # worse plans are kept, and some are taken back
    case = Case.of(overloaded(requests=14, seed=2), "rejections-then-benefit")
    search = Recreation(case, {}, 0)
    kept = [search._step(0.01) for _ in range(200)]
    assert True in kept and False in kept
    fresh = Recreation(case, search.held, 0)
    assert fresh.free == search.free and fits(case, search.held)
    assert fresh.value == pytest.approx(search.value, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_small_instances_come_near_their_optimum(seed) -> None:
    instance = small(requests=4, span=4, seed=seed)
    case = Case.of(instance)
    (value,) = key_of(case, Recreation(case, {}, 0).run(300))
    best = optimum(instance, "benefit")
    assert best * Fraction(9, 10) <= value <= best


def test_stairs_are_climbed_as_far_as_there_is_room() -> None:
    parts = (Part(8, 2, staircase(4)),)
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, parts) for k in range(2))
    case = Case.of(Instance((Machine("m", 13),), requests, Batch(1)))
    found = Recreation(case, {}, 0).run(50)
    assert sorted(units * case.unit for _, units in found.values()) in ([4, 8], [6, 6])


def test_no_time_and_no_requests_leave_the_plan() -> None:
    case = Case.of(small(seed=3))
    assert Recreation(case, {}, 0).run(1000, time.monotonic() - 1) == {}
    later = Recreation(case, {}, 0).run(20, time.monotonic() + 3600)
    assert fits(case, later)
    hopeless = Instance((Machine("m", 3),), (Request("r", 0, 0, 1, 1, (Part(4),)),))
    assert Recreation(Case.of(hopeless), {}, 0).run(10) == {}
