"""The envelope of what commands print as JSON, errors as JSON, and the schemas of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dlopt import io
from dlopt.output_schemas import OUTPUTS, output_schema
from dlopt.version import __version__
from tests.cli.conftest import INSTANCES, ROOTS, Command, file_of
from tests.instance_files import ROOT

THREE = INSTANCES / "three-nodes.json"


def conforms(data: Any, name: str) -> None:
    jsonschema.Draft202012Validator(output_schema(name)).validate(data)


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_shipped_schema_is_the_one_that_the_records_make(dlopt: Command, name: str) -> None:
    made = dlopt("schema", name).json
    jsonschema.Draft202012Validator.check_schema(made)
    shipped = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text())
    assert shipped == made  # else: write it again by `dlopt schema NAME`


@pytest.mark.parametrize(
    ("words", "command", "schema"),
    [
        (["solve", THREE, "-m", "opr"], "solve", "result"),
        (["compare", THREE, "--methods", "opr,exact"], "compare", "comparison"),
        (
            ["compare", "roots.json", "--methods", "epr:literal-roots,exact"],
            "compare",
            "comparison",
        ),
        (["methods", "iit"], "methods", "envelope"),
        (["instances", "iit"], "instances", "envelope"),
        (["generate", "iit"], "generate", "envelope"),
        (["generate", "iit", "--family", "ramp"], "generate", "envelope"),
        (["convert", "etc", "etc.txt"], "convert etc", "envelope"),
        (["schema", "iit"], "schema", "envelope"),
    ],
)
def test_results_stand_in_one_envelope(
    dlopt: Command, tmp_path: Path, words: list[object], command: str, schema: str
) -> None:
    file_of(tmp_path / "roots.json", ROOTS)
    (tmp_path / "etc.txt").write_text("1 2\n3 4\n")
    found = dlopt(*words, "--json", code=None).json
    assert list(found)[:3] == ["schema_version", "command", "dlopt"]
    assert (found["schema_version"], found["command"], found["dlopt"]) == (1, command, __version__)
    conforms(found, schema)


def test_what_solve_prints_is_what_it_writes_and_check_reads(dlopt: Command) -> None:
    printed = dlopt("solve", THREE, "--json", "--out", "r.json").json
    assert json.loads(Path("r.json").read_text()) == printed
    found = dlopt("check", THREE, "r.json", "--json").json
    conforms(found, "verification")
    assert found["valid"] and found["command"] == "check"


def test_generated_instances_stand_in_the_envelope_or_alone(dlopt: Command) -> None:
    alone = dlopt("generate", "iit", "--family", "ramp").json
    within = dlopt("generate", "iit", "--family", "ramp", "--json", "--out", "a.json").json
    assert within["instance"] == alone == json.loads(Path("a.json").read_text())
    assert within["file"] == "a.json"
    assert io.instance_from_data(alone).problem == "iit"


@pytest.mark.parametrize(
    ("command", "words", "kind", "text"),
    [
        ("solve", ["nothing.json"], "invalid-content", "cannot be read"),
        ("solve", [THREE, "--method", "x"], "not-applicable", "no method 'x'"),
        ("solve", [THREE, "--nonsense"], "wrong-usage", "--nonsense"),
        ("compare", [THREE, "nothing.json"], "invalid-content", "cannot be read"),
        ("simulate cluster", ["--workload", "x"], "not-applicable", "no workload 'x'"),
    ],
)
def test_errors_are_lines_of_json(
    dlopt: Command, command: str, words: list[object], kind: str, text: str
) -> None:
    done = dlopt(*command.split(), *words, "--json", code=2)
    assert done.out == ""
    found = json.loads(done.err)
    conforms(found, "error")
    assert found["type"] == f"urn:dlopt:{kind}" and text in found["detail"]
    assert found["command"] == command and found["exit_code"] == 2


def test_every_fault_is_an_entry_of_the_error(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "bad.json", {"problem": "iit", "version": 1, "load": -1})
    found = json.loads(dlopt("solve", file, "--json", code=2).err)
    conforms(found, "error")
    assert {"path": "load", "rule": "must be positive", "value": -1} in found["faults"]
    assert {"path": "cluster", "rule": "is missing"} in found["faults"]


def test_schemas_that_do_not_exist(dlopt: Command) -> None:
    assert "did you mean result?" in dlopt("schema", "results", code=2).err
