"""The comparison of bid prices on logs and around reservations."""

import argparse
from pathlib import Path

import pytest

from benchmarks import better_reservations as benchmark
from benchmarks.better import OURS, Row
from benchmarks.better_reservations import (
    MULTI_STAGE,
    PRICED,
    MixedSetting,
    clairvoyant_ratio,
    comparisons,
    measured,
    most_accepted,
    most_granted,
    reject_ratio,
    settings,
)
from benchmarks.better_settings import PAPERS
from benchmarks.rows import kept

LOGS = Path(__file__).parents[1] / "examples" / "data"
LOG = MixedSetting("jobs.swf", 2.0, 0.3, 600.0)


def test_settings_of_logs_are_added_where_there_are_logs():
    papers, both = settings(None), settings(LOGS)
    assert {one.source for one in papers} == {"mamat5"}
    assert {one.source for one in both} == {"mamat5", "jobs.swf"}
    assert sum(one.has_set_up for one in both) == 2
    assert len({one.name for one in both}) == len(both)
    assert LOG.name == "jobs, deadlines 2, 30% reserved, 600 s before"
    assert papers[1].name == "mamat5, deadlines 2, 30% reserved, 1 intervals before"


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        (MixedSetting("jobs.swf", 2.0), {*PAPERS, OURS, MULTI_STAGE, PRICED}),
        (MixedSetting("jobs.swf", 2.0, set_up=10.0), {*PAPERS, OURS}),
        (LOG, {MULTI_STAGE, PRICED}),
        (MixedSetting("mamat5", 2.0, 0.5, 1.0), {MULTI_STAGE, PRICED}),
    ],
)
def test_a_measured_stream(setting, names):
    row = measured(setting, 1.0, 3, 1e5, LOGS)
    assert set(row.ratios) == names
    assert {name for priced, papers in setting.compares for name in (priced, *papers)} <= names
    assert all(0 <= ratio <= 1 for ratio in row.ratios.values())
    lost = clairvoyant_ratio(setting, 1.0, 3, 1e5, LOGS)
    assert 0 <= lost <= min(row.ratios.get(name, 1) for name in (MULTI_STAGE, "edf-opr-mn"))


def test_a_plan_that_knows_all_accepts_no_less_than_the_algorithm():
    setting = MixedSetting("mamat5", 10.0, 0.5, 1.0)
    workload = setting.tasks(1.0, 100, 1e5, None)
    mixed = setting.mixed(workload, 100)
    count = len(mixed.tasks) + len(mixed.reservations)
    assert len(mixed.reservations) > 3
    assert most_granted(mixed) >= count * (1 - reject_ratio(mixed, MULTI_STAGE)) - 1e-9
    assert 0 < most_accepted(workload) <= len(workload) == count


def test_windows_of_a_log_are_its_jobs_one_after_the_other():
    found = [MixedSetting("jobs.swf", 2.0).tasks(0.0, k, 0.0, LOGS) for k in range(10)]
    assert sum(map(len, found)) in (59, 60)  # the last job may be submitted at the end
    assert all(0 <= one.arrivals[0] <= one.arrivals[-1] for one in found)


def test_a_run_measures_what_is_missing(monkeypatch):
    calls, plans = [], []

    def fake(setting, load, seed, horizon, logs):
        calls.append((setting, load, seed))
        ratios = {**dict.fromkeys((*PAPERS, MULTI_STAGE), 0.4), OURS: 0.2, PRICED: 0.3}
        return Row(setting.parameters(horizon), load, seed, ratios, None, None)

    def plan(*stream):
        plans.append(stream)
        return 0.1

    monkeypatch.setattr(benchmark, "measured", fake)
    monkeypatch.setattr(benchmark, "clairvoyant_ratio", plan)
    wanted = argparse.Namespace(seeds=2, horizon=1e6, logs=LOGS, plans=1)
    with kept(None, benchmark.FORM) as rows:
        benchmark.run(wanted, rows)
        benchmark.run(wanted, rows)
        streams = sum(len(one.loads) for one in settings(LOGS))
        assert len(calls) == len(rows.by_key) == 2 * streams == 2 * len(plans)
        found = list(comparisons(wanted, rows))
    shares = {(name, round(one.share, 3)) for name, one in found}
    assert shares == {(OURS, 0.667), (PRICED, 0.333)}
    assert all(not one.is_worse for _, one in found)


def test_larger_jobs_of_a_log_are_hidden(monkeypatch):
    """The whole log as one window, of which no algorithm accepts all jobs."""
    monkeypatch.setattr(benchmark, "WINDOWS", 1)
    setting = MixedSetting("jobs.swf", 2.0)
    ratios = measured(setting, 0.0, 0, 0.0, LOGS).ratios
    assert 0 < clairvoyant_ratio(setting, 0.0, 0, 0.0, LOGS) <= ratios["edf-iit-2"]
