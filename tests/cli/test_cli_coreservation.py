"""Requests for CPU shares on the command line: generated, and made of other formats."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Command

BINS = "2\n u_0 \n 10.0 3 2\n4.5\n6\n5\n u_1\n 7 1 1\n7\n"
LOG = "; MaxProcs: 8\n" + "\n".join(
    f"{number} {10 * number} 2 50 6 -1 -1 6 80 -1 1 {number % 2} 1 -1 {number % 3} -1 -1 -1"
    for number in range(6)
)


def test_families(dlopt: Command) -> None:
    listed = dlopt("generate", "coreservation").out
    for family in ("small", "min-4", "min-5", "overloaded", "bins"):
        assert f"coreservation --family {family}: " in listed
    flags = ("--family", "min-5", "--seed", 3, "--set", "requests=4", "--set", "floating=1/2")
    made = dlopt("generate", "coreservation", *flags).json
    assert (made["name"], len(made["requests"]), made["batch"]) == (
        "min-5-4-3",
        4,
        {"interval": 50},
    )


def test_bins_become_machines(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "bins.txt").write_text(BINS)
    flags = ("--format", "orlib", "--problem", "u_0")
    made = dlopt("convert", "bins", "bins.txt", *flags).json
    assert [machine["capacity"] for machine in made["machines"]] == [20, 20]
    assert [one["parts"][0]["cpu"] for one in made["requests"]] == [9, 12, 10]
    assert made["best_known"][0]["value"] == [0, 2]
    assert len(dlopt("convert", "bins", "bins.txt", *flags, "--machines", 3).json["machines"]) == 3
    assert "batch" in made
    assert "batch" not in dlopt("convert", "bins", "bins.txt", *flags, "--online").json
    (tmp_path / "one.txt").write_text("1\n9\n5\n")
    assert dlopt("convert", "bins", "one.txt", "--format", "bpplib").json["name"] == "one"
    (tmp_path / "t.txt").write_text("1 9 0 0\n0 3 5 5\n")
    dlopt("convert", "bins", "t.txt", "--format", "temporal", "--out", "t.json")
    assert '"start": 3' in (tmp_path / "t.json").read_text()


def test_jobs_become_requests(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "toy.swf").write_text(LOG)
    flags = ("--machines", 2, "--priority", "user", "--least", "1/2", "--batch", "30")
    made = dlopt("convert", "swf", "toy.swf", "--to", "coreservation", *flags, "--span", 40).json
    assert made["machines"] == [{"id": "0", "capacity": 4}, {"id": "1", "capacity": 4}]
    assert len(made["requests"]) == 4
    first = made["requests"][0]
    assert (first["start"], first["end"], first["priority"]) == (2, 52, "1/2")
    assert [(part["cpu"], part["cpu_min"]) for part in first["parts"]] == [(3, "3/2")] * 2
    wide = dlopt("convert", "swf", "toy.swf", "--to", "coreservation", "--machine-size", 9).json
    assert [machine["capacity"] for machine in wide["machines"]] == [9]


REQUESTS = ("--to", "coreservation")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bins", "bins.txt"], "Missing option '--format'"),
        (["bins", "bins.txt", "--format", "vbp"], "unknown format 'vbp' of bin packing"),
        (
            ["bins", "bins.txt", "--format", "orlib"],
            "--problem is needed: bins.txt has 2 (u_0, u_1, ...)",
        ),
        (
            ["bins", "bins.txt", "--format", "orlib", "--problem", "x"],
            "bins.txt has no problem 'x' (known: u_0, u_1)",
        ),
        (["bins", "bins.txt", "--format", "orlib", "--least", "1"], "No such option: --least"),
        (
            ["bins", "bins.txt", "--format", "bpplib"],
            "bins.txt: line 2: the capacity must be a number, got 'u_0'",
        ),
        (["bins", "bins.txt", "--format", "orlib", "--machines", "0"], "must be positive, got 0"),
        (
            ["swf", "toy.swf", "--to", "coreservation", "--problem", "x"],
            "No such option: --problem",
        ),
        (
            ["swf", "toy.swf", "--to", "admission", "--least", "1"],
            "--least is for --to coreservation",
        ),
        (
            ["swf", "toy.swf", "--to", "coreservation", "--load", "1"],
            "--load is for --to iit, not for",
        ),
        (
            ["swf", "toy.swf", "--to", "coreservation", "--machine-size", "x"],
            "--machine-size: not a num",
        ),
        (
            ["swf", "toy.swf", "--to", "coreservation", "--priority", "x"],
            "priority must be one of equal",
        ),
    ],
)
def test_bad_conversions(
    arguments: list[str], message: str, dlopt: Command, tmp_path: Path
) -> None:
    (tmp_path / "bins.txt").write_text(BINS)
    (tmp_path / "toy.swf").write_text(LOG)
    done = dlopt("convert", *arguments, code=2)
    assert message in done.err
    assert done.out == ""
