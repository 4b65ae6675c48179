"""Errors before any work is done, texts of help, and plans that are none."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from dlopt import api
from dlopt.generation import described, families
from tests.cli.conftest import THREE, Command, file_of


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--plot", "a.txt"], "must end in .svg, .png, .pdf"),
        (["--plot", "nowhere/a.svg"], "cannot write nowhere/a.svg: its folder does not exist"),
        (["--out", "nowhere/r.json"], "cannot write nowhere/r.json: its folder does not exist"),
        (["--out", "."], "cannot write .: it is a folder"),
        (["--plot", "a.svg"], "pip install 'dlopt[plot]'"),
        (["--out", "a", "--certificate", "./a"], "--certificate a would replace --out"),
        (["--plot", "a.svg", "--plot-progress", "a.svg"], "a.svg would replace --plot"),
        (["--out", "three.json"], "--out three.json would replace the file that is read"),
    ],
)
def test_what_cannot_be_written_is_told_before_solving(
    dlopt: Command, three: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], message: str
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("solved in vain")

    monkeypatch.setattr(api, "solve", never)
    if flags == ["--plot", "a.svg"]:
        monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = dlopt("solve", three, *flags, code=2)
    assert message in done.err and done.out == ""


def test_several_outputs_may_go_to_a_device(dlopt: Command, three: Path) -> None:
    done = dlopt("solve", three, "--out", "/dev/null", "--certificate", "/dev/null")
    assert "would replace" not in done.err and done.out.startswith("optimal")


def test_without_a_plan_there_is_no_picture(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"absolute_deadline": 3})
    for method, code in (("exact", 3), ("opr", 4), ("bound-fluid", 0)):
        done = dlopt("solve", file, "-m", method, "--plot", "a.svg", code=code)
        assert "no plan to draw: a.svg is not written" in done.err and done.out
    assert not (tmp_path / "a.svg").exists()


def test_a_long_list_of_violations_is_cut(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"absolute_deadline": 5})
    chunk = {
        "node": 7,
        "load": 0,
        "transmission_start": 0,
        "transmission_end": 0,
        "computation_start": 0,
        "computation_end": 0,
    }
    plan = file_of(tmp_path / "p.json", {"chunks": [chunk] * 30})
    done = dlopt("check", file, plan, code=1)
    lines = done.out.splitlines()
    assert lines[0] == "31 violations (exact):"
    assert len(lines) == 22 and lines[-1] == "... 11 more"
    found = dlopt("check", file, plan, "--json", code=1).json
    assert len(found["violations"]) == 31 and not found["valid"]
    assert found["objectives"] == {"completion": 0, "nodes": 1}


def test_an_instance_in_the_place_of_a_result(dlopt: Command, three: Path) -> None:
    message = f"error: {three}: is an instance of iit, and not a result\n"
    assert dlopt("check", three, three, code=2).err == message
    assert dlopt("plot", three, three, "--out", "a.svg", code=2).err == message


def test_a_result_without_a_plan_has_nothing_to_check(dlopt: Command, three: Path) -> None:
    dlopt("solve", three, "-m", "bound-fluid", "--out", "r.json")
    assert dlopt("check", three, "r.json").out == (
        "valid: there is no plan to check\n"
        "not verified: that no plan has a better value than 14/3 (4.66667)"
        " (--certificate FILE verifies a proof)\n"
    )
    assert dlopt("check", three, "r.json", "--json").json["objectives"] == {}


def test_a_result_written_by_hand_is_held_to_floats(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    result = dlopt("solve", three, "--float-numbers", "--json").json
    chunk = result["solution"]["chunks"][0]
    chunk["load"] = 0.1 + chunk["load"] - 0.1 + 2e-16
    del result["tolerance"]
    file = file_of(tmp_path / "r.json", result)
    assert dlopt("check", three, file, "--float-numbers", "--json").json["tolerance"] == 1e-9


def test_generate_without_a_family_lists_them(dlopt: Command) -> None:
    printed = dlopt("generate", "iit").out
    for name in families("iit"):
        assert f"iit --family {name}: " in printed
    assert "--set nodes=16 step=10 tau=1 chi=100" in printed
    assert "step: Time between two ready times." in printed
    assert "nodes: Number of nodes, 1 to 1,000,000." in printed
    assert "  The first group is ready at 0.\n  --set nodes=16 bursts=4" in printed
    assert "nodes (snapshot): Number of nodes, 1 to 10,000." in printed
    listed = dlopt("generate", "iit", "--json").json["families"]
    assert [family["family"] for family in listed] == list(families("iit"))
    assert [family["notes"] for family in listed][:3] == ["", "The first group is ready at 0.", ""]
    ramp = {p["name"]: p for p in listed[0]["parameters"]}
    assert ramp["step"] == {"name": "step", "default": 10, "help": "Time between two ready times."}
    assert ramp["load"]["default"] is None and "seed" not in ramp


def test_what_is_listed_of_a_family_can_be_set(dlopt: Command) -> None:
    for family in described("iit"):
        given = {p.name: p.default for p in family.parameters if p.default is not None}
        flags = [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
        made = dlopt("generate", "iit", "--family", family.name, *flags).json
        assert made == dlopt("generate", "iit", "--family", family.name).json


def test_help_says_where_the_names_are(dlopt: Command) -> None:
    def help_of(command: str) -> str:
        return " ".join(dlopt(command, "--help").out.replace("│", "").split())

    assert "`dlopt methods` lists the methods" in help_of("solve")
    assert "initial heuristics" in help_of("solve")
    assert "list the families and their parameters" in help_of("generate")
    for command in ("check", "plot"):
        assert "--exact-numbers" in help_of(command) and "--float-numbers" in help_of(command)


def test_the_schema_says_what_fields_mean(dlopt: Command) -> None:
    schema = dlopt("schema", "iit").json
    fields = schema["properties"]
    for name, field in fields.items():
        assert name == "cluster" or field["description"], name  # a cluster describes itself
    for kind in ("Cluster", "BestKnown"):
        for name, field in schema["$defs"][kind]["properties"].items():
            assert field["description"], name
    assert fields["load"]["description"] == "What is to be split, in units of load; positive."
    assert schema["description"] == "One divisible load and the initial state of the cluster."
    assert "Raises" not in json.dumps(schema) and "``" not in json.dumps(schema)
