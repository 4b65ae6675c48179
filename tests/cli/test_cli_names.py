"""Names and end times in what `dlopt solve` prints, and in its JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dlopt as library
from dlopt.batch import read_records
from tests.cli.conftest import Command

SHIPPED = Path(__file__).parents[2] / "instances"
CASES = [
    ("dag/topcuoglu-10", "heft", ["graph", "task", "machine", "start", "end"], "g n1 P3 0 9"),
    (
        "bag/small-grid",
        "gds",
        ["task", "machine", "start", "end", "late", "site"],
        "t2 m2 0 2 no s2",
    ),
    (
        "coreservation/across-machines",
        "co-rspb",
        ["request", "part", "machine", "cpu", "start", "end"],
        "b 0 m1 80 70 100",
    ),
    (
        "multistage/maintenance",
        "multi-stage",
        ["reservation", "accepted", "decided", "at", "nodes", "start", "end"],
        "r yes 2 1 9 13",
    ),
]


@pytest.mark.parametrize(("name", "method", "headings", "row"), CASES, ids=lambda case: str(case))
def test_tables_have_names_and_end_times(
    dlopt: Command, name: str, method: str, headings: list[str], row: str
) -> None:
    lines = dlopt("solve", SHIPPED / f"{name}.json", "--method", method).out.splitlines()
    cells = [line.split() for line in lines]
    assert headings in cells
    assert row.split() in cells


def test_the_end_of_an_accepted_task_is_printed(dlopt: Command) -> None:
    out = dlopt("solve", SHIPPED / "admission" / "as-it-stands.json", "-m", "edf-iit-2").out
    (line,) = (line for line in out.splitlines() if line.split()[:3] == ["b", "yes", "0"])
    assert line.split()[-1] == "11"
    assert "would miss its deadline" not in out.partition("decided at")[2]


def test_json_has_the_schedule_by_names_and_the_exact_solution(
    dlopt: Command, tmp_path: Path
) -> None:
    file = SHIPPED / "dag" / "topcuoglu-10.json"
    answer = dlopt("solve", file, "--method", "heft", "--json", "--out", "r.json").json
    assert json.loads((tmp_path / "r.json").read_text()) == answer
    first, *_ = answer["schedule"]["placements"]
    assert first == {"graph": 0, "graph_id": "g", "task": 0, "task_id": "n1", "machine": 2,
                     "machine_id": "P3", "start": 0, "end": 9}  # fmt: skip
    assert answer["solution"]["placements"][0] == {
        key: first[key] for key in ("graph", "task", "machine", "start")
    }
    assert "valid" in dlopt("check", file, "r.json").out


def test_fractions_of_the_schedule_are_floats(dlopt: Command) -> None:
    answer = dlopt("solve", SHIPPED / "iit" / "three-nodes.json", "--json").json
    assert answer["solution"]["chunks"][0]["load"] == "13/8"
    assert answer["schedule"]["chunks"][0]["load"] == 1.625
    assert (answer["value"], answer["value_float"], answer["gap_float"]) == ("39/8", 4.875, 0.0)


def test_without_a_plan_there_is_no_schedule(dlopt: Command) -> None:
    file = SHIPPED / "iit" / "three-nodes.json"
    answer = dlopt("solve", file, "--method", "bound-fluid", "--json").json
    assert answer["schedule"] is None
    assert answer["bound_float"] == pytest.approx(14 / 3)


def test_comparisons_and_records_have_floats(dlopt: Command, tmp_path: Path) -> None:
    file = SHIPPED / "iit" / "three-nodes.json"
    (compared,) = dlopt("compare", file, "--methods", "opr", "--json").json["comparisons"]
    assert compared["rows"][0]["value_float"] == 6.4
    dlopt("batch", file, "--methods", "opr", "--out", "records.jsonl")
    (line,) = (tmp_path / "records.jsonl").read_text().splitlines()
    assert (json.loads(line)["value"], json.loads(line)["value_float"]) == ("32/5", 6.4)
    (record,) = read_records(tmp_path / "records.jsonl")
    assert record.value == library.solve(library.read(file), "opr").value


def test_violations_of_task_graphs_have_names(dlopt: Command, tmp_path: Path) -> None:
    file = SHIPPED / "dag" / "topcuoglu-10.json"
    answer = dlopt("solve", file, "--method", "heft", "--json").json
    del answer["solution"]["placements"][0]
    (tmp_path / "r.json").write_text(json.dumps(answer["solution"]))
    found = dlopt("check", file, "r.json", code=1).out
    assert "task-missing on task n1 of graph g" in found
    data = dlopt("check", file, "r.json", "--json", code=1).json
    assert data["violations"][0]["resource"] == "task 0 of graph 0"
