"""Faults that are found when files are put together name the file that they stand in."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command, file_of

INSTANCES = Path(__file__).parents[2] / "instances"
STREAM = INSTANCES / "admission" / "bursts-6.json"


def test_a_scenario_of_other_tasks_and_nodes(dlopt: Command, tmp_path: Path) -> None:
    scenario = file_of(
        tmp_path / "s.json",
        {
            "scenario": "admission",
            "version": 1,
            "factors": [{"task": "nobody", "tau": 1, "chi": 1}],
            "failures": [{"node": 99, "from": 1, "until": 2}],
        },
    )
    done = dlopt("simulate", "feedback", "--file", STREAM, "--scenario", scenario, code=2)
    first, second = done.err.splitlines()
    assert first.startswith(f"error: {scenario}: factors[0].task: must be a task of the instance")
    assert second.startswith(f"{scenario}: failures[0].node: must be one of the nodes 0 to")


def test_a_stream_on_nodes_that_differ(dlopt: Command) -> None:
    file = INSTANCES / "admission" / "nodes-that-differ.json"
    done = dlopt("simulate", "feedback", "--file", file, code=2)
    assert done.err == f"error: {file}: a workload is for identical nodes\n"


def test_task_graphs_that_run_on_no_grid(dlopt: Command) -> None:
    file = INSTANCES / "dag" / "chain.json"
    done = dlopt("simulate", "grid", "--file", file, code=2)
    assert done.err.startswith(f"error: {file}: data goes from machine to machine: convention must")


def test_failures_of_other_machines(dlopt: Command, tmp_path: Path) -> None:
    found = [{"machine": 0, "begin": 1}, {"machine": 9999, "begin": 1}]
    failures = file_of(tmp_path / "f.json", found)
    done = dlopt("simulate", "grid", "--tasks", 5, "--failures", failures, code=2)
    assert done.err.startswith(f"error: {failures}: failures[1].machine: must be one of the")
    file_of(failures, [{"machine": 0, "begin": 1, "until": "1/0"}])
    done = dlopt("simulate", "grid", "--tasks", 5, "--failures", failures, code=2)
    assert done.err.startswith(f"error: {failures}: [0].until: ") or str(failures) in done.err


def test_a_deeply_nested_line_among_the_rows_of_a_sweep(dlopt: Command, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("[" * 100_000 + "\n")
    done = dlopt("simulate", "grid", "--tasks", 5, "--rows", rows, code=2)
    assert str(rows) in done.err
    assert len(done.err) < 500
