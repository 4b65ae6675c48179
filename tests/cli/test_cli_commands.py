"""The other commands: compare, check, methods, schema, generate, convert."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dlopt import io, registry
from dlopt.io import instance_from_data, instance_hash, read
from dlopt.problems.iit import Instance
from dlopt.problems.validated_record import Header
from dlopt.version import __version__
from tests.cli.conftest import FIELDS, INSTANCES, ROOTS, THREE, Command, file_of

LOG = """; Computer: Toy
; MaxProcs: 4
1 0 -1 10 3 -1 -1 3 -1 -1 1 1 1 -1 -1 -1 -1 -1
2 5 2 20 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1
"""


# compare


def test_compare_holds_all_methods_against_the_optimum(dlopt: Command, three: Path) -> None:
    (compared,) = dlopt("compare", three, "--json").json["comparisons"]
    assert compared["problem"] == "iit" and compared["instance"] == "three"
    rows = {row["method"]: row for row in compared["rows"]}
    assert {m.name for m in registry.methods("iit") if not m.literal} == rows.keys()
    assert all(row.keys() >= FIELDS for row in rows.values())
    assert rows["exact"]["gap_to_optimum"] == rows["edf-iit-2"]["gap_to_optimum"] == 0
    assert rows["opr"]["gap_to_optimum"] == pytest.approx((32 / 5) / (39 / 8) - 1)
    assert rows["bound-fluid"]["gap_to_optimum"] is None and rows["opr"]["violations"] == []
    assert {row["gap_to_bound"] for row in rows.values()} == {None}
    assert {row["failure"] for row in rows.values()} == {None}
    assert compared["skipped"] == compared["left_out"] == [] and compared["hash"] == instance_hash(
        read(three)
    )


def test_compare_as_text(dlopt: Command, three: Path) -> None:
    done = dlopt("compare", three, INSTANCES / "different-6.json", "--methods", "opr,exact")
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["opr"]]
    assert "6.4" in line and "31.28%" in line and "exact" in line
    assert "skipped: opr on different-6: its nodes differ" in done.out
    assert done.out.index("three") < done.out.index("different-6")


def test_compare_takes_names_as_they_are(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"name": "a [/red] \ud800 \u00e9"})
    assert "a [/red] \\ud800 \u00e9" in dlopt("compare", file, "--methods", "opr").out


def test_compare_marks_what_is_unsound(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    (plain,) = dlopt("compare", file, "--objective", "nodes", "--json").json["comparisons"]
    assert not any("literal" in row["method"] for row in plain["rows"])
    done = dlopt("compare", file, "--objective", "nodes", "--literal", code=1)
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["epr:literal-roots"]]
    assert "UNSOUND: deadline" in line


# check


def test_check_of_a_good_plan(dlopt: Command, three: Path, tmp_path: Path) -> None:
    dlopt("solve", three, "--out", "r.json")
    valid = "valid, verified: exact; completion = 39/8 (4.875), nodes = 3\n"
    claim = "not verified: that no plan has a better value than 39/8 (4.875)"
    claim += " (--certificate FILE verifies a proof)\n"
    assert dlopt("check", three, "r.json").out == valid + claim
    assert dlopt("check", three, "r.json", "--json").content == {
        "valid": True,
        "tolerance": 0,
        "objectives": {"completion": "39/8", "nodes": 3},
        "objectives_float": {"completion": 4.875, "nodes": 3.0},
        "violations": [],
        "unverified": ["that no plan has a better value than 39/8 (4.875)"],
    }
    assert dlopt("check", three, "r.json", "--exact-numbers").out == valid + claim
    plan = file_of(tmp_path / "p.json", json.loads((tmp_path / "r.json").read_text())["solution"])
    assert dlopt("check", three, plan).out == valid


def test_check_writes_the_statement_of_an_accepted_certificate(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    dlopt("solve", three, "--out", "r.json", "--certificate", "p.vipr")
    proof = ("check", three, "r.json", "--certificate", "p.vipr", "--statement", "s.vipr")
    dlopt(*proof)
    statement, file = (tmp_path / "s.vipr").read_text(), tmp_path / "p.vipr"
    head, steps = file.read_text().split("SOL 0\n")
    assert [line for line in statement.splitlines() if line[0] != "%"] == [
        line for line in head.splitlines() if line[0] != "%"
    ]
    file.write_text(statement + "SOL 0\n" + steps)  # they are a certificate together
    dlopt(*proof)
    (tmp_path / "s.vipr").unlink()
    file.write_text(statement.replace("RTP range 39/8", "RTP range 40/8") + "SOL 0\n" + steps)
    dlopt(*proof, code=1)
    assert not (tmp_path / "s.vipr").exists()
    assert "--certificate" in dlopt(*proof[:3], *proof[5:], code=2).err


@pytest.mark.parametrize("name", ["r.json", "p.vipr", "none/s.vipr"])
def test_no_statement_replaces_a_file_that_is_read(
    dlopt: Command, three: Path, tmp_path: Path, name: str
) -> None:
    dlopt("solve", three, "--out", "r.json", "--certificate", "p.vipr")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    asked = ("check", three, "r.json", "--certificate", "p.vipr", "--statement", name)
    assert name in dlopt(*asked, code=2).err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_check_of_a_corrupted_plan(dlopt: Command, three: Path, tmp_path: Path) -> None:
    answer = dlopt("solve", three, "--json").json
    answer["solution"]["chunks"][0]["load"] = 2
    file = file_of(tmp_path / "r.json", answer)
    found = dlopt("check", three, file, "--json", code=1).json
    assert not found["valid"]
    assert {v["kind"]: (v["resource"], v["amount"]) for v in found["violations"]} == {
        "load-not-conserved": ("load", "-3/8"),
        "transmission-duration": ("node 0", "3/8"),
        "computation-duration": ("node 0", "3/4"),
    }
    assert "load-not-conserved on load by -3/8" in dlopt("check", three, file, code=1).out


def test_check_of_false_claims(dlopt: Command, three: Path, tmp_path: Path) -> None:
    answer = dlopt("solve", three, "--json").json

    def kinds(**changes: Any) -> set[str]:
        file = file_of(tmp_path / "r.json", answer | changes)
        found = dlopt("check", three, file, "--json", code=None).json["violations"]
        return {violation["kind"] for violation in found}

    assert kinds() == set()
    assert kinds(value=4) == {"value"}
    assert kinds(value=None) == {"value"}
    assert kinds(bound=5) == {"bound"}
    assert kinds(bound=4) == {"status"}
    assert kinds(bound=4, status="feasible") == set()
    assert kinds(objective="[/b]") == {"unknown-objective"}
    assert "[/b]" in dlopt("check", three, tmp_path / "r.json", code=1).out
    assert "load-not-conserved" in kinds(solution={"chunks": []})


def test_the_tolerance_of_check(dlopt: Command, three: Path, tmp_path: Path) -> None:
    plan = dlopt("solve", three, "--json").json["solution"]
    last = plan["chunks"][2]
    last["load"] = float(Fraction(last["load"])) + 1e-8
    file = file_of(tmp_path / "p.json", plan)
    found = dlopt("check", three, file, code=1).out
    assert found.startswith("3 violations (exact):")
    assert "--tolerance 1e-9 allows for their rounding" in found
    assert "valid, verified: tol 1e-6; " in dlopt("check", three, file, "--tolerance", "1e-6").out
    last["load"] += 1e-11 - 1e-8
    file_of(file, plan)
    assert "valid" in dlopt("check", three, file, "--tolerance", "1e-9").out
    found = dlopt("check", three, file, "--json", code=1).json
    assert found["tolerance"] == 0 and not found["valid"]
    in_floats = dlopt("check", three, file, "--float-numbers", "--json").json
    assert in_floats["tolerance"] == 1e-9 and in_floats["valid"]


# methods, schema, --version, --help


def test_methods(dlopt: Command) -> None:
    listed = dlopt("methods", "--json").json["methods"]
    assert [(m["problem"], m["method"]) for m in listed] == [
        (m.stem, m.name) for m in registry.methods()
    ]
    exact = next(m for m in listed if m["method"] == "exact")
    assert exact["kind"] == "exact" and exact["claim"] == "optimal"
    assert exact["plan_class"] == "single" and exact["objectives"] == ["completion", "nodes"]
    assert {o["name"]: o["default"] for o in exact["options"]}["installments"] == 1
    text = dlopt("methods", "iit").out
    for method in registry.methods("iit"):
        assert method.name in text
    assert "--set formulation=auto|sequence|prefix|order  how the problem" in text
    assert "[default: auto]" in text and "plan class" in text and "description (source)" in text


def test_schema_accepts_what_ships_and_little_else(dlopt: Command) -> None:
    schema = dlopt("schema", "iit").json
    assert dlopt("schema", "iit", "--json").content == {"schema": schema}
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    files = sorted(INSTANCES.glob("*.json"))
    assert files
    for file in files:
        validator.validate(json.loads(file.read_text()))
    for change in ({"load": -1}, {"lod": 3}, {"version": 2}, {"cluster": {"nodes": 3}}):
        assert not validator.is_valid(THREE | change)


def test_version_and_help(dlopt: Command) -> None:
    assert dlopt("--version").out == f"{__version__}\n"
    commands = {"solve", "compare", "check", "methods", "generate", "convert", "plot", "schema"}
    printed = dlopt("--help").out
    assert commands <= set(printed.split()) and "--version" in printed
    for command in commands - {"convert"}:
        assert "--json" in dlopt(command, "--help").out
    assert commands <= set(dlopt(code=2).err.split() + dlopt(code=2).out.split())


COMMANDS = (
    *("solve", "compare", "check", "methods", "generate", "falsify", "batch", "report", "plot"),
    *("schema", "convert", "convert swf", "convert bins", "convert graph", "convert etc"),
    *("simulate", "simulate cluster", "simulate feedback", "simulate grid", ""),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_terminal_and_cuts_no_sentence(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = dlopt(*command.split(), "--help").out.splitlines()
    assert max(map(len, lines)) <= 80 and not any(line.endswith("...") for line in lines[1:])


# generate, convert


def test_generate(dlopt: Command, tmp_path: Path) -> None:
    flags = ["iit", "--family", "burst", "--seed", "1", "--set", "nodes=5", "--set", "theta-cm=0.5"]
    made = dlopt("generate", *flags).json
    instance = instance_from_data(made)
    assert isinstance(instance, Instance) and instance.cluster.nodes == 5
    assert instance.cluster.theta_cm == Fraction(1, 2) and instance.exact
    assert dlopt("generate", *flags, "--json").content == {"instance": made, "file": None}
    assert dlopt("generate", *flags, "--out", "a.json").out == ""
    assert json.loads((tmp_path / "a.json").read_text()) == made
    assert dlopt("generate", *flags, "--out", "a.json", "--json").content["instance"] == made


def test_convert(dlopt: Command, tmp_path: Path) -> None:
    log = tmp_path / "toy.swf"
    log.write_text(LOG)
    flags = ["--to", "iit", "--load", "50", "--at", "8", "--deadline", "1000.5", "--chi", "7/2"]
    made = dlopt("convert", "swf", log, *flags).json
    # job 1 runs on 3 until 10, job 2 on 1 from 7 until 27
    assert made["ready_times"] == [2, 2, 2, 19] and made["load"] == 50
    assert made["absolute_deadline"] == "2001/2"
    assert made["cluster"] == {"nodes": 4, "tau": 1, "chi": "7/2"}
    assert "Toy" in made["origin"]
    unnamed = tmp_path / "toy.log"
    unnamed.write_text(LOG)
    done = dlopt("convert", "swf", unnamed, *flags, "--out", "a.json")
    note, summary = done.err.splitlines()
    assert done.out == "" and summary == "a.json: iit, 4 nodes"
    assert note.startswith("1 job without wait time: its start is its submission (--starts fcfs")
    assert json.loads((tmp_path / "a.json").read_text()) == made
    wider = dlopt("convert", "swf", log, *flags, "--machines", "6", "--starts", "fcfs").json
    # first come, first served starts job 2 when it is submitted, at 5
    assert wider["ready_times"] == [0, 0, 2, 2, 2, 17]
    dlopt("solve", "a.json", "-m", "edf-iit-2")


READINGS = {"exact": ["--exact-numbers"], "float": ["--float-numbers"], "plain": []}


@pytest.mark.parametrize("reading", READINGS)
def test_a_result_is_read_as_its_instance_was(
    dlopt: Command, three: Path, tmp_path: Path, reading: str
) -> None:
    """In floats 1/3 is another instance, with another hash; 0.1 is the decimal either way."""
    data = json.loads(three.read_text())
    data["cluster"] |= {"tau": 0.1, "theta_cm": "1/3"}
    file, result, picture = (tmp_path / name for name in ("d.json", "r.json", "p.svg"))
    file.write_text(json.dumps(data))
    dlopt("solve", file, *READINGS[reading], "--out", result)
    message = {"float": "with --float-numbers it is"}.get(reading, "with --exact-numbers it is")
    for wrong in READINGS.keys() - {reading}:
        for command in (["check"], ["plot", "--out", picture]):
            as_wrong = (command[0], file, result, *command[1:], *READINGS[wrong])
            if "float" in (reading, wrong):
                done = dlopt(*as_wrong, code=2)
                assert f"must be the hash of the instance given ({message})" in done.err
                assert not picture.exists()
            else:
                dlopt(*as_wrong)
                picture.unlink(missing_ok=True)
    assert dlopt("check", file, result, *READINGS[reading]).out.startswith("valid")
    dlopt("plot", file, result, *READINGS[reading], "--out", picture)
    assert picture.stat().st_size > 0


def test_a_result_of_another_instance(dlopt: Command, three: Path, tmp_path: Path) -> None:
    dlopt("solve", three, "--out", "r.json")
    other = file_of(tmp_path / "other.json", THREE | {"load": "1e-400"})  # 0 as a float
    message = dlopt("check", other, "r.json", code=2).err
    assert "it is not, whether with --exact-numbers, --float-numbers or neither" in message


@pytest.mark.parametrize(
    ("words", "hashes"),
    [
        (["solve"], 0),
        (["solve", "--json", "--out", "r.json"], 1),
        (["compare"], 0),
        (["compare", "--json"], 1),
    ],
    ids=["table", "JSON", "comparison", "comparison as JSON"],
)
def test_an_instance_is_hashed_where_the_hash_is_told(
    dlopt: Command,
    three: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    hashes: int,
) -> None:
    """Of millions of numbers it takes seconds."""
    hashed: list[Header] = []

    def counted(instance: Header) -> str:
        hashed.append(instance)
        return instance_hash(instance)

    monkeypatch.setattr(io, "instance_hash", counted)
    dlopt(words[0], three, *words[1:])
    assert len(hashed) == hashes
