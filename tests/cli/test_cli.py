"""The commands as a user types them: what they print, as text and as JSON, and how they end."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dlopt import registry
from dlopt.io import instance_from_data, instance_hash, read
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Result, Status
from dlopt.version import __version__
from tests.cli.conftest import INSTANCES, THREE, Command, file_of

FIELDS = {
    "problem",
    "instance",
    "hash",
    "method",
    "status",
    "objective",
    "value",
    "bound",
    "gap",
    "reason",
    "runtime_s",
    "violations",
    "tolerance",
    "solution",
}
LATE = THREE | {"absolute_deadline": 3}
ROOTS = {  # EPR's quadratic formula finds two nodes, and two miss the deadline
    "problem": "iit",
    "version": 1,
    "name": "roots",
    "cluster": {"nodes": 2, "tau": 1, "chi": 1, "theta_cm": 5},
    "ready_times": [0, 0],
    "load": 11,
    "absolute_deadline": 26,
}
LOG = """; Computer: Toy
; MaxProcs: 4
1 0 -1 10 3 -1 -1 3 -1 -1 1 1 1 -1 -1 -1 -1 -1
2 5 2 20 1 -1 -1 1 -1 -1 1 1 1 -1 -1 -1 -1 -1
"""


# solve


@pytest.mark.parametrize("method", ["edf-iit-2", "exact"])
def test_acceptance(dlopt: Command, tmp_path: Path, method: str) -> None:
    data = THREE | {"load": 3.0, "cluster": {"nodes": 3, "tau": 1.0, "chi": 2.0}}
    file = file_of(tmp_path / "a.json", data)
    answer = dlopt("solve", file, "--method", method, "--exact-numbers", "--json").json
    assert answer["value"] == answer["bound"] == "39/8"
    assert answer["status"] == "optimal" and answer["gap"] == 0 and answer["tolerance"] == 0
    assert [c["load"] for c in answer["solution"]["chunks"]] == ["13/8", "13/12", "7/24"]
    assert [c["node"] for c in answer["solution"]["chunks"]] == [0, 1, 2]


def test_floats_stay_floats_without_exact_numbers(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"load": 3.0})
    answer = dlopt("solve", file, "-m", "edf-iit-2", "--json").json
    assert isinstance(answer["value"], float) and answer["value"] == pytest.approx(39 / 8)
    assert answer["tolerance"] == 1e-9


def test_json_of_solve_has_the_fields_of_a_result(dlopt: Command, three: Path) -> None:
    answer = dlopt("solve", three, "--json", "--seed", 7).json
    assert answer.keys() >= FIELDS
    assert answer["problem"] == "iit" and answer["instance"] == "three"
    assert answer["hash"] == instance_hash(read(three)) and re.fullmatch(
        "[0-9a-f]{64}", answer["hash"]
    )
    assert answer["method"] == "exact" and answer["objective"] == "completion"
    assert answer["violations"] == [] and answer["reason"] is None and answer["seed"] == 7
    assert answer["runtime_s"] > 0 and answer["solver"] == "HiGHS" and answer["solver_version"]


def test_text_of_solve_tells_status_value_and_plan(dlopt: Command, three: Path) -> None:
    done = dlopt("solve", three, "-m", "edf-iit-2")
    head = done.out.splitlines()[0]
    assert "optimal" in head and "39/8 (4.875)" in head and "checked exactly" in head
    assert "edf-iit-2" in head and "13/12" in done.out and done.err == ""


def test_the_middle_of_a_long_plan_is_cut(dlopt: Command) -> None:
    done = dlopt("solve", INSTANCES / "random-32.json", "-m", "epr", "--set", "assignment=all")
    assert "... 16 more" in done.out


def test_options_objective_and_limits_reach_the_method(dlopt: Command, three: Path) -> None:
    twice = dlopt("solve", three, "--set", "installments=2", "--json").json
    assert twice["value"] == "14/3" and twice["plan_class"] == "k"
    every = dlopt("solve", three, "-m", "epr", "--set", "assignment=all", "--json").json
    assert len(every["solution"]["chunks"]) == 3
    nodes = dlopt("solve", INSTANCES / "four-nodes.json", "--objective", "nodes", "--json").json
    assert nodes["objective"] == "nodes" and nodes["value"] == 2


def test_a_bound_has_no_plan_and_is_no_failure(dlopt: Command, three: Path) -> None:
    answer = dlopt("solve", three, "-m", "bound-fluid", "--json").json
    assert answer["status"] == "bound" and answer["bound"] == "14/3"
    assert answer["value"] is None and answer["solution"] is None and answer["gap"] is None
    assert ">= 14/3" in dlopt("solve", three, "-m", "bound-fluid").out


@pytest.mark.parametrize("as_json", [True, False])
def test_unsound(dlopt: Command, tmp_path: Path, as_json: bool) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    flags = ["--method", "epr:literal-roots", "--objective", "nodes"]
    done = dlopt("solve", file, *flags, *["--json"] * as_json, code=1)
    if as_json:
        answer = done.json
        assert answer["status"] == "unsound" and answer["bound"] is None
        assert answer["value"] == 2 and answer["solution"]["chunks"]
        assert {v["kind"] for v in answer["violations"]} == {"deadline"}
        assert answer["violations"][0]["end"] == "53/2"
    else:
        assert "unsound" in done.out and "deadline on node 1 in [26, 53/2] by 1/2" in done.out


@pytest.mark.parametrize("method", ["edf-iit-2", "exact"])
def test_infeasible_tells_the_load_that_can_be_done(
    dlopt: Command, tmp_path: Path, method: str
) -> None:
    file = file_of(tmp_path / "a.json", LATE)
    answer = dlopt("solve", file, "-m", method, "--json", code=3).json
    assert answer["status"] == "infeasible" and answer["solution"] is None
    # by 3: node 0 alone computes 1, node 1 ready at 1 another 2/3
    assert answer["value"] is None and "5/3 of load 3 can be done" in answer["reason"]
    assert answer["reason"] in dlopt("solve", file, "-m", method, code=3).out


def test_a_heuristic_that_misses_the_deadline_only_says_unknown(
    dlopt: Command, tmp_path: Path
) -> None:
    file = file_of(tmp_path / "a.json", LATE)
    answer = dlopt("solve", file, "-m", "opr", "--json", code=4).json
    assert answer["status"] == "unknown" and answer["reason"] and answer["bound"] is None
    assert "unknown" in dlopt("solve", file, "-m", "opr", code=4).out


def test_a_limit_without_a_plan(dlopt: Command, tmp_path: Path) -> None:
    file = tmp_path / "hard.json"
    settings = ["--set", "nodes=12", "--set", "spread=5", "--seed", "3"]
    dlopt("generate", "iit", "--family", "random", *settings, "--out", file)
    best = Fraction(dlopt("solve", file, "-m", "equal-finish", "--json").json["value"])
    # just too early for the heuristics, so that there is no hint, and for no proof
    deadline = best * Fraction(999, 1000)
    file_of(file, json.loads(file.read_text()) | {"absolute_deadline": str(deadline)})
    answer = dlopt("solve", file, "--time-limit", "0.001", "--json", code=4).json
    assert answer["status"] == "limit" and "limit" in answer["reason"]
    assert answer["solution"] is None and answer["value"] is None


def bad(instance: Instance, *, objective: str, **_: Any) -> Result[Solution]:
    """Answer that all of the load is done at once."""
    chunk = Chunk(0, instance.load, 0, 0, 0, 1)
    return Result(Status.FEASIBLE, solution=Solution((chunk,)), value=1, plan_class="single")


def no_number(instance: Instance, **_: Any) -> Result[Solution]:
    answer = bad(instance, objective="completion")
    return Result(Status.FEASIBLE, solution=answer.solution, value=float("nan"))


@pytest.fixture
def registered() -> Any:
    for function in (bad, no_number):
        registry.register("iit", function.__name__.replace("_", "-"), function)
    yield
    for function in (bad, no_number):
        registry._METHODS.pop(("iit", function.__name__.replace("_", "-")))


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("command", [["solve", "--method"], ["compare", "--json", "--methods"]])
def test_a_refuted_answer_is_saved(
    dlopt: Command, three: Path, tmp_path: Path, command: list[str]
) -> None:
    done = dlopt(command[0], three, *command[1:], "bad", code=5)
    assert done.out == "" and "refuted" in done.err
    assert "dlopt-refuted-bad.json" in done.err
    saved = json.loads((tmp_path / "dlopt-refuted-bad.json").read_text())
    assert instance_from_data(saved["instance"]) == read(three)
    assert saved["result"]["method"] == "bad" and len(saved["result"]["solution"]["chunks"]) == 1
    kinds = {violation["kind"] for violation in saved["result"]["violations"]}
    assert kinds == {"transmission-duration", "computation-duration"}
    # what was saved can be held against the rules again
    plan = file_of(tmp_path / "plan.json", saved["result"]["solution"])
    assert {
        v["kind"] for v in dlopt("check", three, plan, "--json", code=1).json["violations"]
    } == (kinds)


@pytest.mark.usefixtures("registered")
def test_a_refuted_answer_that_cannot_be_saved_is_still_refuted(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    done = dlopt("solve", three, "--method", "no-number", code=5)
    assert "refuted" in done.err and "saved" not in done.err
    assert not list(tmp_path.glob("*refuted*"))


# --out and --plot


def test_out_writes_what_json_prints(dlopt: Command, three: Path, tmp_path: Path) -> None:
    done = dlopt("solve", three, "--json", "--out", "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == done.json
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "three.json"]


@pytest.mark.parametrize(("failure", "code"), [(OSError(28, "No space left"), 2), (None, 130)])
def test_out_leaves_the_old_file_whole(
    dlopt: Command,
    three: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failure: OSError | None,
    code: int,
) -> None:
    (tmp_path / "r.json").write_text("old")

    def fail(*_: object) -> None:
        raise failure or KeyboardInterrupt

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail)
            done = dlopt("solve", three, "-m", "opr", "--out", "r.json", code=code)
        assert ("No space left" if failure else "interrupted") in done.err and done.out == ""
        assert (tmp_path / "r.json").read_text() == "old"
        assert sorted(p.name for p in tmp_path.iterdir()) == ["r.json", "three.json"]


def test_plot_beside_solve_and_alone(dlopt: Command, three: Path, tmp_path: Path) -> None:
    dlopt("solve", three, "-m", "opr", "--plot", "a.svg", "--out", "r.json")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    told = dlopt("plot", three, "r.json", "-o", "b.svg", "--json").json
    assert told == {"plot": "b.svg"} and "<svg" in (tmp_path / "b.svg").read_text()
    assert dlopt("plot", three, "r.json", "-o", "c.png").out == ""
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_a_result_without_a_plan(dlopt: Command, three: Path) -> None:
    dlopt("solve", three, "-m", "bound-fluid", "--out", "r.json")
    assert "no plan to draw" in dlopt("plot", three, "r.json", "-o", "b.svg", code=2).err


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
    assert compared["left_out"] == [] and compared["hash"] == instance_hash(read(three))


def test_compare_as_text(dlopt: Command, three: Path) -> None:
    done = dlopt("compare", three, INSTANCES / "different-6.json", "--methods", "opr,exact")
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["opr"]]
    assert "32/5" in line and "31.28%" in line and "exactly" in line
    assert "left out: opr on different-6: its nodes differ" in done.out
    assert done.out.index("three") < done.out.index("different-6")


def test_compare_takes_names_as_they_are(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"name": "a [/red] \ud800 \u00e9"})
    assert "a [/red] \\ud800 \u00e9" in dlopt("compare", file, "--methods", "opr").out


def test_compare_marks_what_is_unsound(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    assert (
        "roots" not in dlopt("compare", file, "--objective", "nodes", "--json").out.split("rows")[1]
    )
    done = dlopt("compare", file, "--objective", "nodes", "--literal", code=1)
    (line,) = [line for line in done.out.splitlines() if line.split()[:1] == ["epr:literal-roots"]]
    assert "UNSOUND: deadline" in line


# check


def test_check_of_a_good_plan(dlopt: Command, three: Path, tmp_path: Path) -> None:
    dlopt("solve", three, "--out", "r.json")
    assert dlopt("check", three, "r.json").out == "valid\n"
    assert dlopt("check", three, "r.json", "--json").json == {"valid": True, "violations": []}
    assert dlopt("check", three, "r.json", "--exact-numbers").out == "valid\n"
    plan = file_of(tmp_path / "p.json", json.loads((tmp_path / "r.json").read_text())["solution"])
    assert dlopt("check", three, plan).out == "valid\n"


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
        return {
            v["kind"] for v in dlopt("check", three, file, "--json", code=None).json["violations"]
        }

    assert kinds() == set()
    assert kinds(value=4) == {"value"}
    assert kinds(value=None) == {"value"}
    assert kinds(bound=5) == {"bound"}
    assert kinds(bound=4) == set()
    assert kinds(objective="[/b]") == {"unknown-objective"}
    assert "[/b]" in dlopt("check", three, tmp_path / "r.json", code=1).out
    assert "load-not-conserved" in kinds(solution={"chunks": []})


def test_the_tolerance_of_check(dlopt: Command, three: Path, tmp_path: Path) -> None:
    plan = dlopt("solve", three, "--json").json["solution"]
    last = plan["chunks"][2]
    last["load"] = float(Fraction(last["load"])) + 1e-8
    file = file_of(tmp_path / "p.json", plan)
    assert dlopt("check", three, file, code=1).out
    assert dlopt("check", three, file, "--tolerance", "1e-6").out == "valid\n"


# methods, schema, --version, --help


def test_methods(dlopt: Command) -> None:
    listed = dlopt("methods", "--json").json
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
    assert "exact --set formulation=auto|sequence|prefix|order" in text


def test_schema_accepts_what_ships_and_little_else(dlopt: Command) -> None:
    schema = dlopt("schema", "iit").json
    assert dlopt("schema", "iit", "--json").json == schema
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
    told = dlopt("--help").out
    assert commands <= set(told.split()) and "--version" in told
    for command in commands:
        assert "--json" in dlopt(command, "--help").out
    assert commands <= set(dlopt(code=2).err.split() + dlopt(code=2).out.split())


# generate, convert


def test_generate(dlopt: Command, tmp_path: Path) -> None:
    flags = ["iit", "--family", "burst", "--seed", "1", "--set", "nodes=5", "--set", "theta-cm=0.5"]
    made = dlopt("generate", *flags).json
    instance = instance_from_data(made)
    assert isinstance(instance, Instance) and instance.cluster.nodes == 5
    assert instance.cluster.theta_cm == Fraction(1, 2) and instance.exact
    assert dlopt("generate", *flags, "--json").json == made
    assert dlopt("generate", *flags, "--out", "a.json").out == ""
    assert json.loads((tmp_path / "a.json").read_text()) == made
    assert dlopt("generate", *flags, "--out", "a.json", "--json").json == made


def test_convert(dlopt: Command, tmp_path: Path) -> None:
    log = tmp_path / "toy.swf"
    log.write_text(LOG)
    flags = ["--to", "iit", "--load", "50", "--at", "8", "--deadline", "1000.5", "--chi", "7/2"]
    made = dlopt("convert", log, *flags).json
    # job 1 runs on 3 until 10, job 2 on 1 from 7 until 27
    assert made["ready_times"] == [2, 2, 2, 19] and made["load"] == 50
    assert made["absolute_deadline"] == "2001/2"
    assert made["cluster"] == {"nodes": 4, "tau": 1, "chi": "7/2"}
    assert "Toy" in made["origin"]
    unnamed = tmp_path / "toy.log"
    unnamed.write_text(LOG)
    assert dlopt("convert", unnamed, "--from", "swf", *flags, "--out", "a.json").out == ""
    assert json.loads((tmp_path / "a.json").read_text()) == made
    wider = dlopt("convert", log, *flags, "--machines", "6", "--starts", "fcfs").json
    # first come, first served starts job 2 when it is submitted, at 5
    assert wider["ready_times"] == [0, 0, 2, 2, 2, 17]
    dlopt("solve", "a.json", "-m", "edf-iit-2")
