"""The command that lists the shipped instances."""

from __future__ import annotations

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
