"""`--certified`, `--set` and `--gap` of the commands that run many methods."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dlopt import registry
from dlopt.output_schemas import output_schema
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Instance, Solution
from dlopt.result import Result, Status
from tests.cli.conftest import INSTANCES, THREE, Command, file_of
from tests.method_table import MethodTable

BURSTS = INSTANCES.parent / "admission" / "bursts-6.json"
CHAIN = INSTANCES.parent / "dag" / "chain.json"
STATED = ("status", "value", "bound", "proof")


@pytest.fixture(scope="module", autouse=True)
def no_proofs_by_order() -> Iterator[None]:
    """Leave the optimum of `BURSTS` without a certificate, as those of larger streams are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlopt.models.admission.proof_sequences.EFFORT", 0)
        patch.setattr("dlopt.models.admission.request_conflicts.EFFORT_OF_PROOF", 0)
        yield


def rows_of(done: Any) -> dict[str, dict[str, Any]]:
    (compared,) = done["comparisons"]
    return {row["method"]: row for row in compared["rows"]}


def cells_of(text: str, method: str) -> list[str]:
    """Return the cells of a method in a table; the notes below it may begin with its name."""
    return next(words for line in text.splitlines() if (words := line.split())[:1] == [method])


def test_a_comparison_with_certificates_only(dlopt: Command) -> None:
    words = ["compare", BURSTS, "--methods", "edf-iit-2,exact,bound-window-cuts", "--certified"]
    done = dlopt(*words).out
    assert cells_of(done, "exact")[-2:] == ["certificate", "exact"]  # and not "exact, optimal"
    assert "40.00%*" in cells_of(done, "exact") and "40.00%*" in cells_of(done, "edf-iit-2")
    assert "certified: bounds and optima count only with a certificate that is accepted" in done
    assert "exact on bursts-6: feasible: a bound of 3 is claimed, not certified" in done
    document = dlopt(*words, "--json").json
    jsonschema.Draft202012Validator(output_schema("comparison")).validate(document)
    rows = rows_of(document)
    assert document["comparisons"][0]["certified"] is True
    assert [rows["exact"][key] for key in STATED] == ["feasible", 3, 5, "certificate"]
    assert rows["exact"]["gap_to_optimum"] is None and rows["exact"]["gap_to_bound"] == 0.4
    assert cells_of(dlopt(*words[:-1]).out, "exact")[-3:] == ["(claimed", "by", "HiGHS)"]
    plain = dlopt(*words[:-1], "--json").json
    assert plain["comparisons"][0]["certified"] is False
    assert [rows_of(plain)["exact"][key] for key in STATED] == ["optimal", 3, 3, "solver"]


def test_what_becomes_of_claims_stands_below_the_table(dlopt: Command, three: Path) -> None:
    done = dlopt("compare", three, "--methods", "opr,edf-iit-2", "--certified").out
    assert "edf-iit-2 on three: feasible: a bound of 39/8 is claimed, not certified" in done
    assert "| / |" not in done  # there is nothing that gaps could be relative to
    machines = "coreservation/across-machines"
    done = dlopt("compare", machines, "--methods", "bound-knapsack", "--certified").out
    assert "bound-knapsack on across-machines: unknown: a bound of" in done


def test_options_and_gap_of_a_comparison(
    dlopt: Command, three: Path, method_table: MethodTable
) -> None:
    def weak(instance: Instance, **_: Any) -> Result[Solution]:
        plan = earliest_plan(instance, [0], [instance.load])
        return Result(Status.FEASIBLE, solution=plan, value=9, bound=6, plan_class="single")

    registry.register("iit", "weak", weak, kind="exact")
    words = ["compare", three, "--methods", "weak,opr,epr", "--set", "opr.assignment=all", "--json"]
    rows = rows_of(dlopt(*words, "--gap", "0.5").json)
    assert rows["weak"]["stopped_by"] == "gap" and rows["weak"]["gap"] == "1/3"
    assert rows_of(dlopt(*words, "--gap", "0.1").json)["weak"]["stopped_by"] is None
    best = rows_of(dlopt(*words, "--set", "assignment=best").json)
    every = rows_of(dlopt(*words[:4], "--set", "assignment=all", "--json").json)
    assert (best["opr"]["value"], best["epr"]["value"]) == ("157/19", 7)  # 4 + 3 (9/19) 3
    assert (every["opr"]["value"], every["epr"]["value"]) == ("157/19", 9)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--set instalments=2", "(did you mean installments? known: assignment, formulation"),
        ("--set exact.instalments=2", "exact has no option 'instalments' (did you mean instal"),
        ("--set exakt.installments=2", "no method 'exakt' (did you mean exact?"),
        ("--set assignment=all --methods exact", "'assignment'; opr and epr have it"),
        ("--set opr.assignment=all --methods exact", "opr is not among the methods that are run"),
        ("--set assignment", "--set takes K=V, got 'assignment'"),
        ("--set assignment=most", "option assignment takes best or all, got 'most'"),
        ("--set exact.seed=2", "seed is no option for --set"),
        ("--gap -1", "gap (--gap) must be a finite number, not negative"),
    ],
)
@pytest.mark.parametrize("command", ["compare", "batch"])
def test_options_that_nothing_takes(
    dlopt: Command, three: Path, command: str, flags: str, message: str
) -> None:
    files = [three, *(["-o", "records.jsonl"] if command == "batch" else [])]
    assert message in dlopt(command, *files, *flags.split(), code=2).err


def test_options_go_to_the_problems_whose_methods_have_them(dlopt: Command, three: Path) -> None:
    words = ["compare", three, CHAIN, "--methods", "exact", "--set", "exact.installments=1"]
    done = dlopt(*words, "--json").json
    assert [one["problem"] for one in done["comparisons"]] == ["iit", "dag"]
    assert "no method has the option 'speed'" in dlopt(*words, "--set", "speed=1", code=2).err


def test_a_batch_with_certificates_only(dlopt: Command, tmp_path: Path) -> None:
    text = (INSTANCES.parent / "multistage" / "around-a-reservation.json").read_text()
    around = tmp_path / "decimals.json"
    around.write_text(text.replace('"tau": 1', '"tau": 1.0'))
    words = ["batch", around, "--methods", "exact", "--workers", 1, "-o", "records.jsonl"]
    words += ["--objective", "accepted-load"]
    assert dlopt(*words, "--certified", "--json").json["by_status"] == {"feasible": 1}
    file = tmp_path / "records.jsonl"
    record = json.loads(file.read_text())
    assert record["certified"] is True and record["options"] == {}
    assert [record[key] for key in STATED] == ["feasible", 5, 9, "certificate"]
    plain = record | {"status": "optimal", "bound": 5, "proof": "solver"}
    del plain["certified"]
    file.write_text(f"{json.dumps(record)}\n{json.dumps(plain)}\n")
    dlopt("report", "records.jsonl", "-o", "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "Certificates were demanded of 1 run (" in page
    assert "<td>exact, certified</td>" in page and "<td>exact</td>" in page


def test_an_option_of_one_method_of_a_batch(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE)
    words = ["--methods", "opr,epr", "--workers", 1, "--set", "epr.assignment=all"]
    dlopt("batch", file, *words, "-o", "records.jsonl")
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert {one["method"]: (one["options"], one["value"]) for one in map(json.loads, lines)} == {
        "opr": ({}, "32/5"),
        "epr": ({"assignment": "all"}, 9),
    }


@pytest.mark.parametrize("command", ["solve", "compare", "batch"])
def test_the_shell_completes_the_option(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("_DLOPT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"dlopt {command} --certifi")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert "--certified" in dlopt().out.split()
