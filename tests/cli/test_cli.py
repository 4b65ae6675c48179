"""`solve` as a user types it: what it prints, as text and as JSON, and how it ends."""

from __future__ import annotations

import json
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dlopt import registry
from dlopt.io import instance_from_data, instance_hash, read
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Result, Status
from tests.cli.conftest import FIELDS, INSTANCES, ROOTS, THREE, Command, file_of
from tests.method_table import MethodTable

LATE = THREE | {"absolute_deadline": 3}


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
    assert "optimal" in head and "39/8 (4.875)" in head and "verified: exact" in head
    exactly = dlopt("solve", three, "-m", "edf-iit-2", "--fractions").out
    assert "13/12" in exactly and "1.08333" not in exactly
    assert "edf-iit-2" in head and "1.08333" in done.out and done.err == ""


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
def registered(method_table: MethodTable) -> None:
    for function in (bad, no_number):
        registry.register("iit", function.__name__.replace("_", "-"), function)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("command", [["solve", "--method"], ["compare", "--methods"]])
def test_a_refuted_answer_is_saved(
    dlopt: Command, three: Path, tmp_path: Path, command: list[str]
) -> None:
    done = dlopt(command[0], three, *command[1:], "bad", code=5)
    assert (done.out == "") == (command[0] == "solve") and "invalid" in done.err
    name = f"dlopt-invalid-bad-{instance_hash(read(three))[:8]}.json"
    assert name in done.err
    saved = json.loads((tmp_path / name).read_text())
    assert instance_from_data(saved["instance"]) == read(three)
    assert saved["result"]["method"] == "bad" and len(saved["result"]["solution"]["chunks"]) == 1
    kinds = {violation["kind"] for violation in saved["result"]["violations"]}
    assert kinds == {"transmission-duration", "computation-duration"}
    # what was saved can be held against the rules again, and drawn, by the commands printed
    plan = file_of(tmp_path / "plan.json", saved["result"]["solution"])
    for arguments in ([three, plan], [three, name], [name, name]):
        again = dlopt("check", *arguments, "--json", code=1).json["violations"]
        assert {violation["kind"] for violation in again} == kinds
    for action, code in (("verify", 1), ("draw", 0)):
        (line,) = (line for line in done.err.splitlines() if f"{action} it: dlopt " in line)
        dlopt(*line.partition(": dlopt ")[2].split(), code=code)
    assert (tmp_path / "plan.svg").exists()


def test_a_false_value_is_confronted_with_that_of_the_schedule(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    result = dlopt("solve", three, "--json").content
    file = file_of(tmp_path / "result.json", result | {"value": 4})
    text = dlopt("check", three, file, code=1).out
    assert "value: the result states completion 4, its schedule has 39/8 (4.875)" in text


@pytest.mark.usefixtures("registered")
def test_a_refuted_answer_that_cannot_be_saved_is_still_refuted(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    done = dlopt("solve", three, "--method", "no-number", code=5)
    assert "invalid" in done.err and "saved" not in done.err
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
    content = dlopt("plot", three, "r.json", "-o", "b.svg", "--json").content
    assert content == {"plot": "b.svg"} and "<svg" in (tmp_path / "b.svg").read_text()
    assert dlopt("plot", three, "r.json", "-o", "c.png").out == ""
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_plot_of_a_result_without_a_plan(dlopt: Command, three: Path) -> None:
    dlopt("solve", three, "-m", "bound-fluid", "--out", "r.json")
    assert "no schedule to draw" in dlopt("plot", three, "r.json", "-o", "b.svg", code=2).err
