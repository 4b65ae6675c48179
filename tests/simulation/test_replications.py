"""Many simulations: the same streams for all, the same answer on any number of processes."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlopt.errors import NotApplicableError, SolverError
from dlopt.generation.paper_workloads import Workload, mamat4
from dlopt.simulation import MeanEstimate, simulate, simulate_many
from dlopt.simulation.replications import estimate
from tests.simulation.streams import fatal, quitting, two_tasks

FEW: dict[str, Any] = {"horizon": 300_000, "nodes": 64}


def test_all_methods_see_the_same_streams() -> None:
    names = ["edf-opr-mn", "edf-opr-an"]
    points = simulate_many("mamat4", names, loads=[0.3, 0.9], seeds=[5, 6], parameters=FEW)
    wanted = [(load, name) for load in (0.3, 0.9) for name in names]
    assert [(point.system_load, point.method) for point in points] == wanted
    for point in points:
        streams = [mamat4(system_load=point.system_load or 0, seed=s, **FEW) for s in (5, 6)]
        assert point.outcomes == tuple(simulate(stream, point.method) for stream in streams)
    assert points[0].outcomes != points[1].outcomes


def test_the_number_of_processes_does_not_matter() -> None:
    seen: dict[int, list[tuple[int, int]]] = {1: [], 3: []}
    found = [
        simulate_many(
            "lin5",
            ["mcdf", "fifo-anna"],
            loads=[0.2, 0.1],
            seeds=range(2),
            processes=processes,
            check=True,
            progress=lambda done, total, to=steps: to.append((done, total)),  # type: ignore[misc]
            parameters={"horizon": 20_000},
        )
        for processes, steps in seen.items()
    ]
    assert found[0] == found[1]
    assert seen[1] == seen[3] == [(done, 4) for done in range(5)]
    assert all(o.violations == 0 for point in found[0] for o in point.outcomes)


def test_a_workload_of_one_s_own() -> None:
    points = simulate_many(two_tasks, "edf-iit-2", seeds=[1, 2], parameters={"load": 1.5})
    (point,) = points
    assert point.system_load is None and point.method == "edf-iit-2"
    assert [outcome.accepted for outcome in point.outcomes] == [2, 2]
    shared = simulate_many(
        two_tasks, "edf-iit-2", seeds=[1, 2], processes=2, parameters={"load": 1.5}
    )
    assert shared == points


def test_estimates_are_those_of_student() -> None:
    from scipy.stats import t  # which takes a second to import

    values = [0.31, 0.27, 0.4, 0.33, 0.29]
    found = estimate(values)
    low, high = t.interval(0.95, 4, loc=found.mean, scale=(0.01 / 4) ** 0.5 / 5**0.5)
    assert found.mean == pytest.approx(0.32)
    assert found.half_width == pytest.approx((high - low) / 2)
    assert estimate([2.0]) == MeanEstimate(2.0, None)


def test_a_point_leaves_out_what_is_not_known() -> None:
    (point,) = simulate_many("mamat4", ["edf-iit-2"], seeds=[1], parameters={"horizon": 1})
    assert point.estimate("reject_ratio") is None and point.estimate("violations") is None
    assert point.estimate("tasks") == MeanEstimate(0.0, None)


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    draw = random.Random(7)
    held = 0
    for _ in range(2000):
        found = estimate([draw.gauss(3, 2) for _ in range(10)])
        held += abs(found.mean - 3) <= (found.half_width or 0)
    assert 0.935 < held / 2000 < 0.965


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"family": "mamat9"}, "no workload 'mamat9' .did you mean mamat5 or mamat4"),
        ({"methods": ["edf"]}, "unknown algorithm 'edf'"),
        ({"methods": []}, "at least one method"),
        ({"seeds": []}, "at least one method, one seed"),
        ({"loads": []}, "one load"),
        ({"processes": 0}, "processes must be positive"),
        ({"parameters": {"colour": 1}}, "workload mamat4 has no parameter 'colour'"),
        ({"parameters": {"system_load": 1}}, "has no parameter 'system_load'"),
        ({"parameters": {"dc_ratio": 0}}, "dc_ratio must be a positive number"),
        ({"parameters": {"tau": -1}}, "tau: must not be negative"),
        ({"parameters": {"tau": "x"}}, "tau=x does not fit"),
        ({"parameters": {"tau": "x"}, "processes": 2, "seeds": range(9)}, "tau=x does not fit"),
        ({"family": "waiting", "loads": [1]}, "workload waiting has no system load"),
        ({"family": two_tasks, "loads": [1]}, "workload two_tasks has no system load"),
    ],
)
def test_bad_input(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        simulate_many(**({"family": "mamat4", "methods": ["edf-iit-2"]} | options))


def test_a_family_may_take_whatever_it_is_given() -> None:
    def anything(*, seed: int, **parameters: Any) -> Workload:
        assert parameters == {"system_load": 0.5, "colour": "red"}
        return two_tasks(seed=seed)

    (point,) = simulate_many(anything, "mcdf", loads=[0.5], seeds=[1], parameters={"colour": "red"})
    assert point.outcomes[0].tasks == 2


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(SolverError, match="a worker process ended unexpectedly"):
        simulate_many(fatal, "mcdf", seeds=range(4), processes=2)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_workload_that_ends_the_program_is_told(processes: int) -> None:
    with pytest.raises(SolverError, match="with code 0"):
        simulate_many(quitting, "mcdf", seeds=range(2), processes=processes)


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, dlopt\n"
        "assert not any(name.startswith('dlopt.sim') for name in sys.modules)\n"
        "from dlopt.simulation import simulate_many\n"
        "simulate_many('lin5', ['mcdf'], seeds=[1], parameters={'horizon': 1e4})\n"
        "heavy = {'scipy', 'numpy', 'pulp', 'matplotlib', 'ortools', 'highspy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
