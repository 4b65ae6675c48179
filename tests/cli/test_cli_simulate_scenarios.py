"""simulate cluster with failing nodes, and tasks that end early or late."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from dlopt.io import read
from dlopt.problems.admission import Scenario, read_scenario
from dlopt.simulation import simulate
from tests.cli.conftest import Command, file_of
from tests.cli.test_cli_process import PATIENCE, start
from tests.cli.test_cli_simulate import STREAM, TELLING

EMPTY = {"scenario": "admission", "version": 1}
TRUTH = {
    **EMPTY,
    "factors": [{"task": "a", "chi": 0.5}],
    "failures": [{"node": 0, "from": 6, "until": 7}],
}
FEW = ("--set", "horizon=600000", "--set", "nodes=8", "--seeds", "2", "--processes", "1")


def test_a_scenario_file_is_executed(dlopt: Command, tmp_path: Path) -> None:
    file, truth = file_of(tmp_path / "stream.json", STREAM), file_of(tmp_path / "truth.json", TRUTH)
    run = dlopt("simulate", "cluster", "--file", file, "--scenario", truth, "--check", "--json")
    assert run.code == 0 and "edf-iit-2: 0 violations" in run.err
    (point,) = json.loads(run.out)["points"]
    outcome = simulate(read(file), scenario=read_scenario(truth), check=True)
    (shown,) = point["outcomes"]
    for measure in ("accepted", "misses", "broken_by_failures", "lost_time", "freed_time"):
        assert shown[measure] == getattr(outcome, measure)
    assert point["broken_by_failures"]["mean"] == outcome.broken_by_failures
    table = dlopt("simulate", "cluster", "--file", file, "--scenario", truth)
    assert table.code == 0 and "promises broken" in table.out and "freed early" in table.out


def test_an_empty_scenario_decides_as_none(dlopt: Command, tmp_path: Path) -> None:
    file, empty = file_of(tmp_path / "stream.json", STREAM), file_of(tmp_path / "empty.json", EMPTY)
    flags = ("simulate", "cluster", "--file", file, "--methods", "edf-opr-mn,mcdf", "--json")
    plain, executed = dlopt(*flags), dlopt(*flags, "--scenario", empty)
    assert plain.code == executed.code == 0
    for before, after in zip(
        *(json.loads(one.out)["points"] for one in (plain, executed)), strict=True
    ):
        for measure in ("accepted", "rejected", "misses", "longest_queue"):
            assert before["outcomes"][0][measure] == after["outcomes"][0][measure]
    assert simulate(read(file), scenario=Scenario()).accepted > 0


def test_random_scenarios_are_drawn_by_the_seed(dlopt: Command) -> None:
    flags = ("simulate", "cluster", *FEW, "--mtbf", "300000", "--mttr", "50000")
    flags = (*flags, "--factors", "0.5,1.5", "--factor-share", "1/2", "--check")
    first, second = dlopt(*flags, "--json"), dlopt(*flags, "--json")
    assert first.code == second.code == 0
    outcomes = [json.loads(one.out)["points"][0]["outcomes"] for one in (first, second)]
    for one in outcomes:
        for outcome in one:
            del outcome["decisions_per_second"]
    assert outcomes[0] == outcomes[1] and any(one["lost_time"] for one in outcomes[0])
    table = dlopt(*flags)
    assert table.code == 0 and "executed at true costs" in table.out


def test_a_file_takes_a_random_scenario_and_is_drawn(dlopt: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, chart = file_of(tmp_path / "stream.json", STREAM), tmp_path / "chart.svg"
    flags = ("simulate", "cluster", "--file", file, "--factors", "0.5,1", "--plot", str(chart))
    assert dlopt(*flags).code == 0 and chart.stat().st_size > 0
    assert dlopt(*flags, "--methods", "edf-opr-mn,edf-iit-2").code == 0


MIXED = {
    "problem": "multistage",
    "version": 1,
    "name": "around",
    "cluster": {"nodes": 2, "tau": 1, "chi": 1},
    "tasks": [{"id": "a", "arrival": 0, "load": 3, "deadline": 20}],
    "reservations": [
        {"id": "r", "arrival": 0, "start": 4, "end": 8},
        {"id": "s", "arrival": 0, "start": 9, "end": 12},
    ],
}
MIXED_TRUTH = {
    "scenario": "multistage",
    "version": 1,
    "factors": [{"task": "a", "chi": 0.5}],
    "failures": [{"node": 1, "from": 6, "until": 20}],
    "ends": [{"reservation": "s", "end": 11}],
}


def test_a_stream_with_reservations_is_executed(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "stream.json", MIXED)
    truth = file_of(tmp_path / "truth.json", MIXED_TRUTH)
    flags = ("simulate", "cluster", "--file", file, "--scenario", truth, "--check")
    run = dlopt(*flags, "--json")
    assert run.code == 0 and "multi-stage: 0 violations" in run.err
    (point,) = json.loads(run.out)["points"]
    (shown,) = point["outcomes"]
    assert shown["reservations_broken_by_failures"] == 1 and shown["moved"] == 1
    assert point["total_reject_ratio"]["mean"] == 0 and point["lost_time"]["mean"] == 2
    assert point["moved"]["mean"] == 1
    table = dlopt(*flags)
    assert table.code == 0 and "reservations as they were executed" in table.out


def test_a_stream_with_reservations_takes_a_random_scenario(dlopt: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file, chart = file_of(tmp_path / "stream.json", MIXED), tmp_path / "chart.svg"
    flags = ("simulate", "cluster", "--file", file, "--factors", "0.5,1", "--mtbf", "9")
    assert dlopt(*flags, "--plot", str(chart)).code == 0
    assert "<!-- planned -->" in chart.read_text()
    refused = dlopt(*flags, "--windows", "3", code=2)
    assert "--windows does not go together" in refused.err


def test_random_reservations_are_executed_next_to_tasks_alone(dlopt: Command) -> None:
    flags = ("simulate", "cluster", *FEW, "--workload", "mamat5", "--mtbf", "300000")
    done = dlopt(*flags, "--methods", "edf-iit-2,multi-stage", "--reserve-fraction", "0", "--check")
    assert done.code == 0 and done.err.count(" 0 violations") == 2
    assert "executed at true costs" in done.out and "moved" in done.out


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (TRUTH, "scenario: must be multistage"),
        ({**MIXED_TRUTH, "ends": [{"reservation": "z", "end": 9}]}, "must be a reservation of"),
        ({**MIXED_TRUTH, "ends": [{"reservation": "r", "end": 2}]}, "must lie after the start, 4"),
    ],
)
def test_a_wrong_scenario_of_reservations_is_one_clear_error(
    dlopt: Command, tmp_path: Path, content: Any, text: str
) -> None:
    file = file_of(tmp_path / "stream.json", MIXED)
    truth = file_of(tmp_path / "truth.json", content)
    run = dlopt("simulate", "cluster", "--file", file, "--scenario", truth, code=2)
    assert run.out == "" and text in run.err and "truth.json" in run.err


def _without(key: str) -> dict[str, Any]:
    return {name: value for name, value in TRUTH.items() if name != key}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "not valid JSON"),
        ("[]", "must be"),
        (_without("scenario"), "scenario"),
        ({**TRUTH, "failures": [{"node": 2, "from": 1}]}, "must be one of the nodes 0 to 1"),
        ({**TRUTH, "failures": [{"node": 0, "from": 3, "until": 2}]}, "must lie after from"),
        ({**TRUTH, "factors": [{"task": "z"}]}, "must be a task of the instance"),
        ({**TRUTH, "factors": [{"task": "a", "chi": 0}]}, "must be positive"),
        (STREAM, "scenario"),
    ],
)
def test_a_wrong_scenario_file_is_one_clear_error(
    dlopt: Command, tmp_path: Path, content: Any, text: str
) -> None:
    file, truth = file_of(tmp_path / "stream.json", STREAM), tmp_path / "truth.json"
    truth.write_text(content if isinstance(content, str) else json.dumps(content))
    run = dlopt("simulate", "cluster", "--file", file, "--scenario", str(truth), code=2)
    assert run.out == ""
    assert run.err.count("error:") == 1 and text in run.err and "truth.json" in run.err


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--scenario", "missing.json"), "--scenario needs --file"),
        (("--mttr", "3"), "--mttr needs --mtbf"),
        (("--factor-share", "1"), "--factor-share needs --factors"),
        (("--mtbf", "0"), "--mtbf"),
        (("--mtbf", "soon"), "--mtbf"),
        (("--mtbf", "1e-9"), "too many failures"),
        (("--factors", "1"), "--factors takes two numbers"),
        (("--factors", "2,1"), "--factors: 2 exceeds 1"),
        (("--factors", "0,1"), "the lower bound of --factors"),
        (("--factors", "1,2", "--factor-share", "2"), "--factor-share must lie between 0 and 1"),
        (("--factors", "1,2", "--method", "multi-stage:literal"), "does not keep what it promises"),
        (("--factors", "1,2", "--method", "edf-opr-mn:literal"), "does not keep what it promises"),
        (
            ("--factors", "1,2", "--reserve-fraction", "0.5", "--method", "mcdf"),
            "mcdf knows no reservations",
        ),
    ],
)
def test_impossible_options_are_one_clear_error(
    dlopt: Command, flags: tuple[str, ...], text: str
) -> None:
    run = dlopt("simulate", "cluster", *FEW, *flags, code=2)
    assert run.out == "" and text in run.err
    assert run.err.count("error:") == 1 and "Traceback" not in run.err


def test_a_file_with_two_kinds_of_scenario_is_refused(dlopt: Command, tmp_path: Path) -> None:
    file, truth = file_of(tmp_path / "stream.json", STREAM), file_of(tmp_path / "truth.json", TRUTH)
    flags = ("simulate", "cluster", "--file", file, "--scenario", truth, "--mtbf", "9")
    run = dlopt(*flags, code=2)
    assert "does not go together" in run.err


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_it_without_a_traceback() -> None:
    code = TELLING.replace("MODULE", "stream_simulation").replace("BEGUN", "ExecutedRun")
    flags = ("simulate", "cluster", "--factors", "0.5,1", "--processes", "1")
    running = start(*flags, command=[sys.executable, "-c", code])
    try:
        assert running.stderr is not None and running.stderr.readline() == "working\n"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
    assert (running.returncode, out) == (130, "") and "Traceback" not in err
