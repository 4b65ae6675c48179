"""Windows of a log as samples, its first jobs, and what a conversion says of its choices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dlopt import load
from dlopt.simulation.windows import windows_of
from tests.cli.conftest import Command, file_of

JOB = "{0} {1} -1 30 2 -1 -1 2 60 -1 1 1 1 -1 -1 -1 -1 -1"
LOG = (
    "; MaxProcs: 4\n" + "\n".join(JOB.format(number, 10 * number) for number in range(1, 9)) + "\n"
)
TO_STREAM = ("convert", "swf", "log.swf", "--to", "admission")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    (tmp_path / "log.swf").write_text(LOG)
    return tmp_path / "log.swf"


def test_windows_give_intervals(dlopt: Command, log: Path) -> None:
    dlopt(*TO_STREAM, "--out", "s.json")
    flags = ("simulate", "cluster", "--file", "s.json", "--methods", "edf-opr-mn,edf-opr-an")
    plain = dlopt(*flags, "--json").json["points"]
    assert [point["reject_ratio"]["ci95"] for point in plain] == [None, None]
    points = dlopt(*flags, "--windows", 4, "--json").json["points"]
    assert [point["method"] for point in points] == ["edf-opr-mn", "edf-opr-an"]
    for point in points:
        assert [outcome["tasks"] for outcome in point["outcomes"]] == [2, 2, 2, 2]
        assert point["reject_ratio"]["ci95"] is not None
    assert "s.json, 4 windows" in dlopt(*flags, "--windows", 4).out


def test_short_windows_are_noted(dlopt: Command, log: Path) -> None:
    flags = ("simulate", "cluster", "--file", "s.json", "--windows", 4, "--json")
    dlopt(*TO_STREAM, "--out", "s.json")
    note = "note: windows are short (length 17.5, mean drain time 60.6): each starts on an idle"
    assert dlopt(*flags).err.startswith(note)
    jobs = [JOB.format(number, 1000 * number) for number in range(1, 9)]
    log.write_text("; MaxProcs: 4\n" + "\n".join(jobs) + "\n")
    dlopt(*TO_STREAM, "--out", "s.json")
    assert dlopt(*flags).err == ""


def test_windows_are_equal_parts_of_the_time() -> None:
    stream = load("admission/bursts-6")
    parts = windows_of(stream, 2)
    assert [task for part in parts for task in part.tasks] == list(stream.tasks)
    middle = (stream.tasks[0].arrival + stream.tasks[-1].arrival) / 2
    assert parts[0].tasks[-1].arrival < middle <= parts[1].tasks[0].arrival
    assert {part.cluster for part in parts} == {stream.cluster}


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (("--windows", "3"), "--windows needs --file"),
        (("--file", "s.json", "--windows", "1"), "windows must be at least 2, got 1"),
        (("--file", "s.json", "--windows", "99"), "no task arrives in one of the 99 windows"),
        (("--file", "s.json", "--windows", "2", "--mtbf", "9"), "does not go together"),
    ],
)
def test_windows_that_cannot_be(
    dlopt: Command, log: Path, flags: tuple[str, ...], text: str
) -> None:
    dlopt(*TO_STREAM, "--out", "s.json")
    assert text in dlopt("simulate", "cluster", *flags, code=2).err


def test_the_first_jobs_of_a_log(dlopt: Command, log: Path) -> None:
    assert len(dlopt(*TO_STREAM, "--first", 3).json["tasks"]) == 3
    made = dlopt("convert", "swf", "log.swf", "--to", "coreservation", "--first", 2).json
    assert len(made["requests"]) == 2
    assert "first must be an integer from 1" in dlopt(*TO_STREAM, "--first", 0, code=2).err
    assert (
        "--first is for --to"
        in dlopt("convert", "swf", log, "--to", "iit", "--first", 1, code=2).err
    )


def test_an_instant_beyond_the_log(dlopt: Command, log: Path) -> None:
    message = dlopt(*TO_STREAM, "--at", 500, code=2).err
    assert "none in that time; its jobs are submitted from 10 to 80" in message


def test_the_load_of_a_job_is_said(dlopt: Command, log: Path) -> None:
    message = dlopt(*TO_STREAM, "--chi", 5, "--deadline-rule", "requested").err
    assert "run time times processors of its job, by chi = 5; deadline: 2 times its req" in message
    assert "the execution time of the load on as many nodes" in dlopt(*TO_STREAM).err


def test_what_a_task_graph_has_no_place_for_is_said(dlopt: Command, tmp_path: Path) -> None:
    task = {"id": "a", "runtimeInSeconds": 3, "children": [], "parents": [], "files": []}
    data = {"schemaVersion": "1.4", "workflow": {"tasks": [task | {"cores": 4, "machine": "m"}]}}
    file = file_of(tmp_path / "w.json", data)
    done = dlopt("convert", "graph", file, "--machines", 1)
    assert done.err == "ignored of the tasks: cores, machine\n"
    assert json.loads(done.out)["problem"] == "dag"
    data["workflow"]["tasks"] = [task]  # type: ignore[index]
    file_of(file, data)
    assert dlopt("convert", "graph", file, "--machines", 1).err == ""
