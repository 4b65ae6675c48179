"""simulate grid: one simulation, sweeps, files, and what is wrong."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from dlopt.generation import generate
from dlopt.io import write
from dlopt.simulation.grid import TOPOLOGIES, write_grid
from tests.cli.conftest import THREE, Command, file_of
from tests.cli.test_cli_process import PATIENCE, start

SMALL = ("simulate", "grid", "--set", "lans=2", "--set", "nodes=3", "--set", "kappa=20")


def test_one_simulation_is_told_in_full(dlopt: Command, tmp_path: Path) -> None:
    picture = tmp_path / "grid.svg"
    done = dlopt(*SMALL, "--tasks", "4", "--check", "--plot", str(picture))
    lines = done.out.splitlines()
    assert lines[0] == "4 of 4 tasks completed, 4 by their deadlines"
    assert lines[-1].split()[1:3] == ["events", "in"]
    assert done.err == "0 violations, verified: tol 1e-9\n"
    assert "4 of 4 tasks completed" in picture.read_text()


def test_the_json_has_every_measure(dlopt: Command) -> None:
    data = dlopt(*SMALL, "--tasks", "3", "--check", "--json").json
    assert data["returned"] == 3 and len(data["job_outcomes"]) == 3 and len(data["lans"]) == 2
    assert sum(period["sent"] for period in data["periods"]) == data["sent"]
    assert data["violations"] == []


def test_a_reading_that_breaks_the_rules_is_found(dlopt: Command) -> None:
    flags = ("--tasks", "5", "--failure-rates", ".2", "--variants", "corrected+never-dead")
    done = dlopt(*SMALL, *flags, "--check", code=1)
    assert "sent-to-suspected-machine on task" in done.err
    assert "violations, verified: tol 1e-9" in done.err


def test_the_setting_of_the_thesis(dlopt: Command, tmp_path: Path) -> None:
    """Routers, loaded CPUs, as much data for all subtasks of a task: checked with their bounds."""
    tiers = (*SMALL, "--topology", "tiers", "--tasks", "6", "--check", "--json")
    loaded = dlopt(*tiers, "--slowdown", ".3,1.95").json
    assert loaded["violations"] == []
    assert loaded["cells"] != dlopt(*tiers).json["cells"]
    flags = ("--set", "data_per=edge", "--set", "subtask_data=900", "--set", "memory=.5")
    assert dlopt(*tiers, *flags).json["internal"] > loaded["internal"]
    path = tmp_path / "grid.json"
    write(generate("dag", "chen", lans=2, nodes=2, tasks=2, fewest=2, most=3), path)
    done = dlopt("simulate", "grid", "--file", str(path), "--slowdown", "2,2", "--check")
    assert done.err == "0 violations, verified: exact\n"
    for wrong, words in (
        ("2", "--slowdown takes two numbers, not '2'"),
        ("a,b", "--slowdown takes two numbers, not 'a,b'"),
        ("2,1", "slowdown: must be two numbers, the first not above the second"),
        ("0,1", "slowdown[0]: must be positive"),
    ):
        assert words in dlopt(*SMALL, "--slowdown", wrong, code=2).err
    assert "data_per" in dlopt(*SMALL, "--set", "data_per=graph", code=2).err


def test_a_sweep_is_a_table_and_goes_on(dlopt: Command, tmp_path: Path) -> None:
    rows, picture = tmp_path / "rows.jsonl", tmp_path / "curves.svg"
    flags = ("--tasks", "3", "--queue-sizes", "1,2", "--processes", "1", "--rows", str(rows))
    done = dlopt(*SMALL, *flags, "--seeds", "2", "--plot", str(picture))
    assert "variant corrected, tasks 3, interval 4000, failure rate 0.002, 2 seeds" in done.out
    assert [line.split()[0] for line in done.out.splitlines()[4:6]] == ["1", "2"]
    drawn = picture.read_text()
    assert all(
        words in drawn
        for words in ("mean response (s)", "(KB)", "queue length of a node (subtasks)")
    )
    kept = rows.read_text()
    assert len(kept.splitlines()) == 4
    flags = (*flags, "--variants", "corrected,literal-head-of-line", "--seeds", "2", "--json")
    data = dlopt(*SMALL, *flags).json
    assert len(data["rows"]) == 8
    assert rows.read_text().startswith(kept)
    drawn = dlopt(*SMALL, *flags[:-1], "--plot", str(picture))
    assert "literal-head-of-line" in drawn.out


def test_extensions_of_the_thesis_are_variants(dlopt: Command) -> None:
    for name in ("corrected+near-future-load", "corrected+competitive"):
        done = dlopt(*SMALL, "--tasks", "6", "--variants", name, "--check")
        assert done.out.startswith("6 of 6 tasks completed")
        assert done.err == "0 violations, verified: tol 1e-9\n"


def test_an_instance_and_its_optimum(dlopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write(generate("dag", "chen", lans=2, nodes=2, tasks=2, fewest=2, most=3), path)
    done = dlopt("simulate", "grid", "--file", str(path), "--optimum", "bound-work", "--check")
    assert "makespan: simulated" in done.out and "bound-work -, bound" in done.out
    assert done.err == "0 violations, verified: exact\n"
    flags = ("--optimum", "bound-work", "--objective", "makespan", "--json")
    data = dlopt("simulate", "grid", "--file", str(path), *flags).json
    assert data["optimum"]["status"] == "bound"
    failing = dlopt("simulate", "grid", "--file", str(path), "--failure-rates", "1")
    assert "not completed: t0 failed in all 100 attempts" in failing.out


def test_a_grid_from_a_file(dlopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write_grid(TOPOLOGIES["waxman"](lans=3, nodes=2), path)
    done = dlopt("simulate", "grid", "--topology", str(path), "--tasks", "2")
    assert done.out.startswith("2 of 2 tasks completed")


def test_measures_over_time_are_drawn(dlopt: Command, tmp_path: Path) -> None:
    few, many, some = (tmp_path / f"{name}.svg" for name in ("few", "many", "some"))
    flags = ("--tasks", "6", "--period", "1000")
    dlopt(*SMALL, *flags, "--over-time", str(few))
    text = few.read_text()
    for words in (
        "all LANs",
        "LAN 0",
        "LAN 1",
        "utilization",
        "deadline hit ratio",
        "the next 1000 s",
        "mean response (s)",
        "(KB per LAN)",
        "time (s)",
    ):
        assert words in text
    wide = ("simulate", "grid", "--set", "lans=8", "--set", "nodes=2", "--tasks", "6")
    dlopt(*wide, "--over-time", str(many))
    assert "minimum over LANs" in many.read_text() and "LAN 1" not in many.read_text()
    dlopt(*wide, "--over-time", str(some), "--lans", "3,5")
    assert "LAN 5" in some.read_text() and "minimum over LANs" not in some.read_text()
    alone = ("simulate", "grid", "--set", "lans=1", "--set", "nodes=2", "--tasks", "2")
    dlopt(*alone, "--over-time", str(few))
    assert "LAN 0" not in few.read_text()


def test_a_gantt_of_some_lans_in_a_window(dlopt: Command, tmp_path: Path) -> None:
    picture = tmp_path / "grid.svg"
    flags = ("--tasks", "4", "--lans", "1", "--window", "0,4000")
    dlopt(*SMALL, *flags, "--plot", str(picture))
    assert "lan1.0" in picture.read_text() and "lan0.0" not in picture.read_text()


def test_machines_that_fail_are_read_from_a_file(dlopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "failures.json"
    path.write_text('[{"machine": 0, "begin": 0}, {"machine": 1, "begin": 0.5}]')
    alone = ("simulate", "grid", "--set", "lans=1", "--set", "nodes=2", "--tasks", "2")
    done = dlopt(*alone, "--failures", str(path), "--check")
    assert done.out.startswith("0 of 2 tasks completed")
    assert "t0 is ready and waits for a node of LAN 0: 2 of 2 suspected failed" in done.out
    path.write_text('[{"machine": -1, "begin": 0}, {"begin": 1}]')
    done = dlopt(*alone, "--failures", str(path), code=2)
    assert "failures[0].machine" in done.err and "failures[1].machine: is missing" in done.err


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupt_keeps_the_rows(processes: int, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    work = ("--tasks", "3,40000", "--processes", str(processes))
    running = start("simulate", "grid", "--set", "lans=2", *work, "--rows", str(rows))
    give_up = time.monotonic() + PATIENCE
    while not (rows.exists() and rows.read_text()) and time.monotonic() < give_up:
        assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    message = f"{rows} has the rows so far; the same command resumes\ninterrupted\n"
    assert (running.returncode, out, err) == (130, "", message)
    assert rows.read_text().endswith("}\n")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--queue-sizes", "0"), "queue_size: must be at least 1, got 0"),
        (("--variants", "exact"), "no variant 'exact'"),
        (
            ("--variants", "corrected+competitive+near-future-load"),
            "bid_load: must be current",
        ),
        (("--tasks", ","), "--tasks names nothing"),
        (("--tasks", "many"), "tasks"),
        (("--seeds", "0"), "--seeds must be positive, got 0"),
        (("--set", "seed=1"), "seed is no option for --set"),
        (("--set", "size=1"), "grid has no parameter 'size'"),
        (("--topology", "ring"), "no topology 'ring'"),
        (("--topology", "none.json"), "cannot be read"),
        (("--seeds", "2", "--check"), "--check is for one simulation"),
        (("--window", "1", "--plot", "x.svg", "--tasks", "1"), "--window takes two instants"),
        (("--lans", "0", "--tasks", "1"), "need --plot or --over-time"),
        (("--lans", "-1", "--plot", "x.svg"), "--lans takes numbers of LANs, not '-1'"),
        (("--lans", "100", "--plot", "x.svg"), "no LAN 100: they are numbered 0 to 99"),
        (("--lans", "100", "--over-time", "x.svg"), "no LAN 100: they are numbered 0 to 99"),
        (("--objective", "total-response-time", "--tasks", "1"), "need --optimum"),
        (("--time-limit", "9", "--seeds", "2"), "--time-limit is for one simulation"),
        (("--plot", "x.svg"), "1 to 400 machines are drawn, not 1000: choose LANs"),
        (("--over-time", "x.txt"), "cannot draw to x.txt"),
        (("--over-time", "x.svg", "--seeds", "2"), "--over-time is for one simulation"),
        (("--failures", "none.json"), "none.json: cannot be read"),
        (("--file", "x.json", "--seeds", "2"), "--file does not go with"),
        (("--file", "x.json", "--tasks", "2"), "--file is one simulation"),
        (("--file", "x.json", "--rows", "r.jsonl"), "--rows does not go with --file"),
    ],
)
def test_what_is_wrong_is_told(dlopt: Command, flags: tuple[str, ...], words: str) -> None:
    done = dlopt("simulate", "grid", *flags, code=2)
    assert words in done.err
    assert done.out == ""


def test_only_task_graphs_are_simulated(dlopt: Command, tmp_path: Path) -> None:
    path = file_of(tmp_path / "three.json", THREE)
    done = dlopt("simulate", "grid", "--file", str(path), code=2)
    assert "dag is simulated on a grid, not iit" in done.err
