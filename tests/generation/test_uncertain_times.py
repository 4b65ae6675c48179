"""The workload of chapter 7, and nodes that fail."""

from __future__ import annotations

from typing import Any

import pytest

from dlopt.errors import NotApplicableError
from dlopt.generation.paper_workloads import mamat4
from dlopt.generation.uncertain_times import mamat7, outage
from dlopt.problems.admission import Failure


def test_the_tasks_are_those_of_chapter_4_shifted() -> None:
    workload, scenario = mamat7(load_from=0.4, load_to=1.2, horizon=2_000_000, seed=3)
    even = mamat4(
        system_load=0.8,
        dc_ratio=10,
        nodes=16,
        chi=100,
        theta_cm=0,
        theta_cp=0,
        average_load=200,
        horizon=2_000_000,
        seed=3,
    )
    assert (workload.loads, workload.deadlines) == (even.loads, even.deadlines)
    assert workload.arrivals != even.arrivals
    assert workload.cluster == even.cluster and workload.system_load == even.system_load
    assert workload.name == "mamat7-0.4-1.2-3" == scenario.name


def test_a_constant_load_shifts_nothing() -> None:
    workload, _ = mamat7(load_from=0.8, load_to=0.8, horizon=2_000_000)
    even = mamat4(
        system_load=0.8,
        dc_ratio=10,
        nodes=16,
        chi=100,
        theta_cm=0,
        theta_cp=0,
        average_load=200,
        horizon=2_000_000,
    )
    assert workload.arrivals == pytest.approx(even.arrivals)


@pytest.mark.parametrize(("first", "last"), [(0.2, 1.8), (1.8, 0.2)])
def test_the_rate_goes_evenly_from_one_load_to_the_other(first: float, last: float) -> None:
    workload, _ = mamat7(load_from=first, load_to=last, horizon=60_000_000)
    each = 1_000_000 * 16 / (200 * 101)  # tasks that a load of 1 brings
    counts = [0] * 60
    for arrival in workload.arrivals:
        counts[int(arrival // 1_000_000)] += 1
    for part, count in enumerate(counts):
        load = first + (last - first) * (part + 0.5) / 60
        assert abs(count - load * each) < 5 * (load * each) ** 0.5
    assert list(workload.arrivals) == sorted(workload.arrivals)
    assert workload.arrivals[-1] <= workload.horizon


def test_factors_are_uniform_and_independent() -> None:
    _, scenario = mamat7(horizon=20_000_000, seed=1)
    taus, chis = ([getattr(f, name) for f in scenario.factors] for name in ("tau", "chi"))
    for values in (taus, chis):
        assert 0.1 <= min(values) < 0.12 and 1.98 < max(values) <= 2
        assert sum(values) / len(values) == pytest.approx(1.05, abs=0.02)
    products = sum(tau * chi for tau, chi in zip(taus, chis, strict=True)) / len(taus)
    assert products == pytest.approx(1.05**2, abs=0.03)
    _, known = mamat7(least_factor=1, most_factor=1, horizon=1_000_000)
    assert {(f.tau, f.chi) for f in known.factors} == {(1.0, 1.0)}


def test_equal_seeds_draw_equal_streams() -> None:
    assert mamat7(horizon=1_000_000, seed=5) == mamat7(horizon=1_000_000, seed=5)
    assert mamat7(horizon=1_000_000, seed=5) != mamat7(horizon=1_000_000, seed=6)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"load_from": 0}, "load_from must be a positive number, got 0"),
        ({"load_to": float("inf")}, "load_to must be a positive number, got inf"),
        ({"least_factor": 3}, "least_factor=3 exceeds most_factor=2"),
        ({"nodes": 0}, "nodes must be an integer from 1 to 1000000, got 0"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        mamat7(**parameters)


def test_an_outage_takes_a_share_of_the_nodes() -> None:
    assert outage(5, 3, 9, share=0.4) == (Failure(3, 3, 9), Failure(4, 3, 9))
    assert outage(4, 3, share=0) == () and len(outage(4, 3, share=1)) == 4
    with pytest.raises(NotApplicableError, match="share must lie between 0 and 1, got 2"):
        outage(4, 3, share=2)
    with pytest.raises(NotApplicableError, match="nodes must be an integer"):
        outage(0, 3)
