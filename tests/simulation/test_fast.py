"""Streams under algorithms that plan nothing: what they miss is counted, and told by the rules."""

import pytest

from dlopt.generation.paper_workloads import mamat4
from dlopt.simulation import StreamRun, simulate
from tests.heuristics.admission.fast.planners import READINGS

FREE = {"nodes": 16, "theta_cm": 0, "theta_cp": 0, "horizon": 3_000_000}


@pytest.mark.parametrize("reading", READINGS)
def test_what_a_reading_loses_is_a_miss(reading):
    run = StreamRun(mamat4(system_load=1, seed=2, **FREE), f"fast-edf-iit:literal-{reading}")
    late = {violation.resource for violation in run.violations}
    assert {violation.kind for violation in run.violations} <= {"load-not-conserved"}
    assert run.outcome.misses == len(late)
    assert run.checked().violations == len(late)
    if reading in ("waiting", "edf"):
        assert run.outcome.misses > 5


@pytest.mark.parametrize(
    "name",
    [
        "fast-edf-iit",
        "fast-edf-iit-minimal",
        "fast-edf-iit-linear",
        "fast-edf-iit-simulated",
        "hybrid",
    ],
)
@pytest.mark.parametrize("dc_ratio", [2, 20])
def test_repairs_miss_nothing(name, dc_ratio):
    outcome = simulate(mamat4(system_load=1, seed=1, dc_ratio=dc_ratio, **FREE), name, check=True)
    assert (outcome.misses, outcome.violations) == (0, 0)
    assert 0 < outcome.accepted < outcome.tasks
    assert 0.3 < outcome.utilization < 1


def test_where_few_wait_hybrid_is_edf_iit_2():
    workload = mamat4(system_load=0.5, seed=3, **FREE)
    hybrid, planned = (simulate(workload, name) for name in ("hybrid", "edf-iit-2"))
    assert hybrid.reject_ratio == planned.reject_ratio
    assert hybrid.utilization == pytest.approx(planned.utilization)


def test_a_task_waits_until_its_first_part_is_sent():
    run = StreamRun(mamat4(system_load=1, dc_ratio=20, seed=1, **FREE), "fast-edf-iit")
    counts = [count for _, count in run.waiting()]
    assert min(counts) == 0 < max(counts)
    assert run.outcome.longest_queue >= max(counts) - 1
