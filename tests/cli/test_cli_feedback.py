"""simulate feedback, and its other name."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dlopt.cli.simulate_feedback_tables import report, to_data
from dlopt.generation.uncertain_times import mamat7
from dlopt.io import write
from dlopt.problems.admission import write_scenario
from dlopt.simulation.feedback import ExperimentSetting, compare_strategies
from tests.cli.conftest import THREE, Command, file_of

PERIODS = 40
PERIOD = 20_000.0
"""A fifth of the default, and so fewer tasks."""
FEW = ("--set", f"periods={PERIODS}", "--set", f"period={PERIOD:g}")
SETTING = ExperimentSetting(periods=PERIODS, period=PERIOD)


def test_it_prints_model_gains_stability_and_strategies(dlopt: Command) -> None:
    done = dlopt("simulate", "feedback", *FEW)
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[0].startswith("identification: 39 periods at system load 1.2, bounds varied in")
    assert lines[1].startswith("  MR(k) =") and "U(k-1)" in lines[1]
    assert "R^2" in lines[2] and "on another run; gain" in lines[2]
    assert lines[3].startswith("controller: U(k) = U(k-1) + ")
    assert "settling time 10 periods, overshoot 10%, gain margin 3" in lines[4]
    assert lines[5].startswith("stability: stable, all poles of the closed loop within")
    assert "settling time" in lines[6] and "gain margin" in lines[6]
    for name in ("feedback", "no-feedback", "ideal", "worst-case"):
        assert sum(line.split()[:1] == [name] for line in lines) == 4
    assert lines[-1].startswith("one seed, so no confidence intervals: --seeds 10 prints means")


def test_it_lists_what_can_be_set(dlopt: Command) -> None:
    listed = dlopt("simulate", "feedback", "--list-parameters", "--json").json["parameters"]
    assert {one["name"]: one["default"] for one in listed}.items() >= {
        ("periods", 180),
        ("margin", 2.0),
        ("gain_margin", 3),
        ("average_load", 200),
    }
    assert all(len(one["help"]) > 20 for one in listed)
    printed = dlopt("simulate", "feedback", "--list-parameters").out
    assert "  --set period=100000  Sampling period, in the time units of the workload.\n" in printed
    assert "  --set overdue=refuse (refuse or printed)  The test of a task" in printed
    assert "  --set dc_ratio=10  Mean deadline divided by the execution time" in printed
    assert "At 2, the default of chapter 4, a fifth" in printed
    error = dlopt("simulate", "feedback", "--set", "z=1", code=2).err
    known = error.partition("known: ")[2].rstrip(")\n").split(", ")
    assert known == sorted(one["name"] for one in listed)


def test_the_json_is_what_the_library_says(dlopt: Command) -> None:
    flags = ("--strategies", "feedback,ideal", "--seeds", "2", "--seed", "5")
    data = dlopt("simulate", "feedback", *FEW, *flags, "--json").json
    found = compare_strategies(SETTING, ["feedback", "ideal"], seeds=(5, 6))
    assert data["identification"]["a"] == list(found.model.a)
    assert data["identification"]["r2_validation"] == found.validation
    assert data["controller"] == {
        "set_point": 0.05,
        "proportional": found.design.gains.proportional,
        "integral": found.design.gains.integral,
    }
    assert data["stability"]["stable"] is True
    assert data["stability"]["poles"][0]["real"] == found.design.poles[0].real
    assert [entry["strategy"] for entry in data["strategies"]] == ["feedback", "ideal"]
    run = data["strategies"][0]["runs"][1]
    mine = found.runs["feedback"][1]
    assert run["missed"] == mine.total.missed and run["violations"] is None
    assert run["periods"]["bound"] == mine.inputs and len(run["periods"]["miss_ratio"]) == 40


def test_the_flag_is_another_name(dlopt: Command) -> None:
    flags = (*FEW, "--strategies", "ideal", "--json")
    assert (
        dlopt("simulate", "--feedback", *flags).json == dlopt("simulate", "feedback", *flags).json
    )
    assert "cluster" in dlopt("simulate", "--help").out


def test_nodes_fail_and_come_back_and_the_traces_are_checked(dlopt: Command) -> None:
    flags = ("--load", "0.8", "--fail", "0.4", "--recover", "0.75", "--strategies", "no-feedback")
    done = dlopt("simulate", "feedback", *FEW, *flags, "--check", "--json")
    assert done.err == "no-feedback: 0 violations, verified: tol 1e-9\n"
    (run,) = done.json["strategies"][0]["runs"]
    assert run["violations"] == 0 and run["workload"] == "mamat7-0.8-0.8-0"


def test_a_trace_that_cannot_have_happened_is_told(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dlopt.cli import simulate_feedback_tables

    monkeypatch.setattr(
        simulate_feedback_tables, "checked", lambda found: {"ideal": 2, "feedback": 1}
    )
    done = dlopt("simulate", "feedback", *FEW, "--strategies", "ideal", "--check", code=1)
    assert done.err.splitlines() == [
        "ideal: 2 violations, verified: tol 1e-9",
        "feedback: 1 violation, verified: tol 1e-9",
    ]


def test_settings_reach_the_records_that_they_belong_to(dlopt: Command) -> None:
    few = [*FEW, "--strategies", "no-feedback", "--json"]
    plain = dlopt("simulate", "feedback", *few).json
    for given in ("late=drop", "aware=true", "dc_ratio=4", "margin=5/2", "settling=20"):
        other = dlopt("simulate", "feedback", *few, "--set", given).json
        changed = other != plain
        assert changed is (given != "aware=true")  # all nodes are up
    second = (*FEW, "--set", "order=2", "--set", "periods=120", "--strategies", "ideal", "--json")
    assert len(dlopt("simulate", "feedback", *second).json["identification"]["a"]) == 2
    ramp = dlopt("simulate", "feedback", *few, "--loads", "0.5, 0.9").json
    assert ramp["strategies"][0]["runs"][0]["workload"] == "mamat7-0.5-0.9-0"


def test_a_gain_that_is_hardly_told_from_0_is_called_so(dlopt: Command) -> None:
    flags = (*FEW, "--set", "identified_at=0.3", "--set", "periods=180", "--strategies", "ideal")
    done = dlopt("simulate", "feedback", *flags)
    assert "not significantly different from 0" in done.out
    data = dlopt("simulate", "feedback", *flags, "--json").json
    assert data["identification"]["significant"] is False


def test_a_stream_of_ones_own(dlopt: Command, tmp_path: Path) -> None:
    workload, scenario = mamat7(load_from=1.3, load_to=1.3, horizon=30 * PERIOD)
    instance, secret = tmp_path / "i.json", tmp_path / "s.json"
    write(workload.instance(), instance)
    write_scenario(scenario, secret)
    flags = ("--set", f"period={PERIOD:g}", "--strategies", "feedback,no-feedback", "--check")
    done = dlopt("simulate", "feedback", "--file", instance, "--scenario", secret, *flags)
    assert "periods at the given tasks" in done.out and done.err.count("0 violations") == 2
    known = dlopt(
        "simulate", "feedback", "--file", instance, "--strategies", "ideal", "--json", code=2
    )
    assert "no PI controller fits" in known.err or "move too little" in known.err


def test_the_picture(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("simulate", "feedback", *FEW, "--plot", tmp_path / "a.svg")
    assert done.code == 0
    drawing = (tmp_path / "a.svg").read_text()
    assert "<svg" in drawing and 'id="no-feedback"' in drawing


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--seeds", "0"), "--seeds must be positive, got 0"),
        (("--strategies", "best"), "no strategy 'best'"),
        (("--strategies", ","), "--strategies names nothing"),
        (("--strategies", "ideal,ideal"), "--strategies names a strategy twice"),
        (("--set", "foo=1"), "feedback has no parameter 'foo' (known: average_load, aware, chi"),
        (("--set", "aware=1"), "aware must be true or false, got '1'"),
        (("--set", "margin=wide"), "margin must be a number, got 'wide'"),
        (("--set", "start=soon"), "start must be one of balance, last, all-nodes"),
        (("--set", "periods=9.5"), "periods must be an integer from 2 on, got 9.5"),
        (("--set", "period=-1"), "horizon must be a positive number"),
        (("--set", "set_point=x"), "set_point must be a number, got 'x'"),
        (("--load", "1", "--loads", "1,2"), "--load and --loads do not go together"),
        (("--loads", "1"), "--loads takes two numbers, not '1'"),
        (("--loads", "1,b"), "--loads takes two numbers, not '1,b'"),
        (("--load", "-1"), "load_from must be a positive number, got -1"),
        (("--fail", "2"), "failing must lie between 0 and 1, got 2"),
        (("--fail", "0.4", "--recover", "0.2"), "recovery must lie between 0.5 and 1, got 0.2"),
        (("--scenario", "s.json"), "--scenario needs --file"),
        (("--set", "settling=1", "--set", "gain_margin=90"), "the identified gain is 0."),
    ],
)
def test_bad_options(dlopt: Command, flags: Any, message: str) -> None:
    done = dlopt(
        "simulate", "feedback", *flags, *(FEW if "period" not in str(flags) else ()), code=2
    )
    assert message in done.err and done.out == ""


def test_files_that_do_not_fit(dlopt: Command, tmp_path: Path) -> None:
    workload, _ = mamat7(horizon=300_000)
    instance = tmp_path / "i.json"
    write(workload.instance(), instance)
    secret = file_of(tmp_path / "s.json", {"scenario": "admission", "version": 1, "failures": [{}]})
    flags = ("simulate", "feedback", "--file", instance)
    done = dlopt(*flags, "--scenario", secret, code=2)
    assert "failures[0].from: is missing" in done.err
    for more, said in (
        (("--load", "1"), "--file does not go with a load"),
        (("--set", "nodes=3"), "--file does not go with nodes"),
        ((), "order 1 needs at least 5 periods, not"),
    ):
        assert said in dlopt(*flags, *more, code=2).err
    other = file_of(tmp_path / "three.json", THREE)
    assert (
        "admission is simulated, not iit"
        in dlopt("simulate", "feedback", "--file", other, code=2).err
    )


def test_without_python_control(dlopt: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    done = dlopt("simulate", "feedback", *FEW, code=2)
    assert "this needs control: pip install 'dlopt[sim]'" in done.err


def test_what_designs_may_be_is_told() -> None:
    found = compare_strategies(SETTING, ["ideal"])
    other = replace(
        found.design, poles=(0.5 + 1.25j, 0.5 - 1.25j), gain_margin=float("inf"), settling=None
    )
    lines = list(report(replace(found, design=other)))
    assert "unstable, not all" in str(lines[5]) and str(lines[5]).endswith(
        "0.500+1.250i, 0.500-1.250i"
    )
    data = to_data(replace(found, design=other), check=False)
    assert data["stability"]["gain_margin"] is None
    json.dumps(data, allow_nan=False)


def test_what_cannot_be_measured_is_a_dash(dlopt: Command) -> None:
    flags = ("--loads", "0.00001,0.0001", "--strategies", "ideal")
    lines = dlopt("simulate", "feedback", *FEW, *flags).out.splitlines()
    (first,) = [line.split() for line in lines if "first third" in line]
    assert first == ["ideal", "first", "third", "-", "-", "0.000", "1.000"]
