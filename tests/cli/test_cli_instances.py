"""The command that lists the shipped instances."""

from __future__ import annotations

from pathlib import Path

import pytest

import dlopt as library
from tests.cli.conftest import Command


def test_all_shipped_instances_are_listed(dlopt: Command) -> None:
    found = dlopt("instances", "--json").json["instances"]
    assert [one["name"] for one in found] == [one.name for one in library.list_instances()]
    (three,) = (one for one in found if one["name"] == "iit/three-nodes")
    assert three["problem"] == "iit" and three["size"] == {"nodes": 3}
    assert three["best_known"][0]["value"] == "39/8"
    assert (three["best_value"], three["best_value_float"]) == ("39/8", 4.875)
    assert library.read(three["file"]) == library.load("iit/three-nodes")


def test_those_of_one_problem_are_printed_with_size_value_and_origin(dlopt: Command) -> None:
    text = dlopt("instances", "iit").out
    (line,) = (line for line in text.splitlines() if "iit/three-nodes" in line)
    assert "3 nodes" in line and "completion 4.875 (optimal)" in line and "by hand" in line
    assert "dag/" not in text
    assert "the files are in " in text


def test_a_problem_that_there_is_not_is_refused(dlopt: Command) -> None:
    assert "no problem 'jobshop'" in dlopt("instances", "jobshop", code=2).err


def test_a_shipped_instance_is_named_wherever_an_instance_is_read(
    dlopt: Command, tmp_path: Path
) -> None:
    name = "iit/three-nodes"
    solved = dlopt("solve", name, "--method", "opr", "--out", "result.json", "--json").json
    assert solved["instance"] == "three-nodes"
    assert dlopt("check", name, "result.json", "--json").json["valid"]
    dlopt("plot", name, "result.json", "--out", "plan.svg")
    (compared,) = dlopt("compare", name, "--methods", "opr", "--json").json["comparisons"]
    assert compared["instance"] == "three-nodes"
    dlopt("batch", name, "--methods", "opr", "--out", "records.jsonl")
    assert '"instance":"three-nodes"' in (tmp_path / "records.jsonl").read_text()
    stream = ("simulate", "cluster", "--file", "admission/as-it-stands")
    assert dlopt(*stream, "--methods", "edf-iit-2").out


def test_a_file_of_the_name_of_a_shipped_instance_goes_first(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    (tmp_path / "iit").mkdir()
    (tmp_path / "iit" / "four-nodes").write_bytes(three.read_bytes())
    solved = dlopt("solve", "iit/four-nodes", "--method", "opr", "--json").json
    assert solved["instance"] == "three"


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "iit/tree-nodes"),
        ("compare", "tree-nodes"),
        ("check", "iit/tree-nodes", "result.json"),
        ("batch", "iit/tree-nodes", "--out", "records.jsonl"),
        ("simulate", "grid", "--file", "iit/tree-nodes"),
    ],
)
def test_a_name_that_is_misspelled_is_answered_with_similar_ones(
    dlopt: Command, command: tuple[str, ...]
) -> None:
    assert "did you mean iit/three-nodes, iit/" in dlopt(*command, code=2).errors


def test_a_missing_file_that_is_like_no_shipped_instance_suggests_none(dlopt: Command) -> None:
    error = dlopt("solve", "measurements.json", code=2).errors
    assert error.endswith("measurements.json: cannot be read: No such file or directory\n")
