"""simulate grid: one simulation, sweeps, files, and what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlopt.generation import generate
from dlopt.io import write
from dlopt.simulation.grid import TOPOLOGIES, write_grid
from tests.cli.conftest import THREE, Command, file_of

SMALL = ("simulate", "grid", "--set", "lans=2", "--set", "nodes=3", "--set", "kappa=20")


def test_one_simulation_is_told_in_full(dlopt: Command, tmp_path: Path) -> None:
    picture = tmp_path / "grid.svg"
    done = dlopt(*SMALL, "--tasks", "4", "--check", "--plot", str(picture))
    lines = done.out.splitlines()
    assert lines[0] == "4 of 4 tasks came home, 4 by their deadlines"
    assert lines[-1].split()[1:3] == ["events", "in"]
    assert done.err == "no violation, checked to 1e-09\n"
    assert "4 of 4 tasks came home" in picture.read_text()


def test_the_json_has_every_measure(dlopt: Command) -> None:
    data = dlopt(*SMALL, "--tasks", "3", "--check", "--json").json
    assert data["returned"] == 3 and len(data["fates"]) == 3 and len(data["lans"]) == 2
    assert sum(period["sent"] for period in data["periods"]) == data["sent"]
    assert data["violations"] == []


def test_a_literal_variant_that_breaks_the_rules_is_found(dlopt: Command) -> None:
    flags = ("--tasks", "5", "--failure-rates", ".2", "--variants", "literal-never-dead")
    done = dlopt(*SMALL, *flags, "--check", code=1)
    assert "sent-to-presumed-dead on task" in done.err
    assert "violations, checked to 1e-09" in done.err


def test_a_sweep_is_a_table_and_goes_on(dlopt: Command, tmp_path: Path) -> None:
    rows, picture = tmp_path / "rows.jsonl", tmp_path / "curves.svg"
    flags = ("--tasks", "3", "--queue-sizes", "1,2", "--processes", "1", "--rows", str(rows))
    done = dlopt(*SMALL, *flags, "--seeds", "2", "--plot", str(picture))
    assert "variant corrected, tasks 3, interval 4000, failure rate 0.002, 2 seeds" in done.out
    assert [line.split()[0] for line in done.out.splitlines()[4:6]] == ["1", "2"]
    assert picture.exists()
    kept = rows.read_text()
    assert len(kept.splitlines()) == 4
    flags = (*flags, "--variants", "corrected,literal-head-of-line", "--seeds", "2", "--json")
    data = dlopt(*SMALL, *flags).json
    assert len(data["rows"]) == 8
    assert rows.read_text().startswith(kept)
    drawn = dlopt(*SMALL, *flags[:-1], "--plot", str(picture))
    assert "literal-head-of-line" in drawn.out


def test_an_instance_and_its_optimum(dlopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write(generate("dag", "chen", lans=2, nodes=2, tasks=2, fewest=2, most=3), path)
    done = dlopt("simulate", "grid", "--file", str(path), "--optimum", "bound-work", "--check")
    assert "makespan: simulated" in done.out and "bound-work -, bound" in done.out
    assert done.err == "no violation, checked to 0\n"
    flags = ("--optimum", "bound-work", "--objective", "makespan", "--json")
    data = dlopt("simulate", "grid", "--file", str(path), *flags).json
    assert data["optimum"]["status"] == "bound"
    failing = dlopt("simulate", "grid", "--file", str(path), "--failure-rates", "1")
    assert "never came home: t0 was sent 100 times in vain" in failing.out


def test_a_grid_from_a_file(dlopt: Command, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    write_grid(TOPOLOGIES["waxman"](lans=3, nodes=2), path)
    done = dlopt("simulate", "grid", "--topology", str(path), "--tasks", "2")
    assert done.out.startswith("2 of 2 tasks came home")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--queue-sizes", "0"), "queue_size: must be at least 1, got 0"),
        (("--variants", "exact"), "no variant 'exact'"),
        (("--tasks", ","), "--tasks names nothing"),
        (("--tasks", "many"), "tasks"),
        (("--seeds", "0"), "--seeds must be positive, got 0"),
        (("--set", "seed=1"), "seed is no option for --set"),
        (("--set", "size=1"), "grid has no parameter 'size'"),
        (("--topology", "ring"), "no topology 'ring'"),
        (("--topology", "none.json"), "cannot be read"),
        (("--seeds", "2", "--check"), "--check is for one simulation"),
        (("--window", "1", "--plot", "x.svg", "--tasks", "1"), "--window takes two instants"),
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
