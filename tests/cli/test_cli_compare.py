"""`compare` where methods fail, where nothing is proven, and what stands below its table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dlopt import registry
from dlopt.problems.earliest_schedule import earliest_plan
from dlopt.problems.iit import Chunk, Instance, Solution
from dlopt.result import Result, Status
from tests.cli.conftest import FIELDS, INSTANCES, ROOTS, THREE, Command, file_of
from tests.method_table import MethodTable


def late(instance: Instance, **_: Any) -> Result[Solution]:
    """Answer that all of the load is done at once."""
    chunk = Chunk(0, instance.load, 0, 0, 0, 1)
    return Result(Status.FEASIBLE, solution=Solution((chunk,)), value=1, plan_class="single")


def crash(instance: Instance, **_: Any) -> Result[Solution]:
    raise ZeroDivisionError("by [/red] nodes")


def weak(instance: Instance, **_: Any) -> Result[Solution]:
    """Give a plan that ends at 9, and prove no more than 6."""
    plan = earliest_plan(instance, [0], [instance.load])
    return Result(Status.FEASIBLE, solution=plan, value=9, bound=6, plan_class="single")


@pytest.fixture(autouse=True)
def registered(method_table: MethodTable) -> None:
    registry.register("iit", "late", late)
    registry.register("iit", "crash", crash)
    registry.register("iit", "weak", weak, kind="exact", claim="optimal")


def line_of(text: str, first: str) -> str:
    (line,) = [line for line in text.splitlines() if line.split()[:1] == [first]]
    return line


def test_a_method_that_fails_is_a_row_as_text(dlopt: Command, three: Path) -> None:
    done = dlopt("compare", three, "--methods", "crash,opr,exact", code=4)
    assert "failed: ZeroDivisionError" in line_of(done.out, "crash")
    assert "31.28%" in line_of(done.out, "opr") and "optimal" in line_of(done.out, "exact")
    assert "crash on three: crash failed: ZeroDivisionError: by [/red] nodes" in done.err


def test_a_refuted_answer_is_a_row_and_saved_for_each_instance(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    other = file_of(tmp_path / "other.json", THREE | {"load": 4, "name": ""})
    done = dlopt("compare", three, other, "--methods", "late,crash,opr", code=5)
    assert done.out.count("INVALID: computation-duration,") == 2  # the rest may be wrapped
    assert done.out.count("transmission-duration") == 2
    assert done.out.count("failed: ZeroDivisionError") == 2 and "31" not in done.err
    assert "late on three: the result of late is invalid" in done.err
    assert "late on other.json: the result of late is invalid" in done.err
    saved = [json.loads(path.read_text()) for path in tmp_path.glob("dlopt-invalid-late-*.json")]
    assert sorted(one["instance"]["load"] for one in saved) == [3, 4]


def test_failures_in_json(dlopt: Command, three: Path) -> None:
    done = dlopt("compare", three, "--methods", "late,crash,opr", "--json", code=5)
    rows = {row["method"]: row for row in done.json["comparisons"][0]["rows"]}
    assert all(row.keys() >= FIELDS | {"failure"} for row in rows.values())
    assert rows["late"]["failure"].startswith("INVALID: the result of late is invalid")
    assert {v["kind"] for v in rows["late"]["violations"]} == {
        "transmission-duration",
        "computation-duration",
    }
    crash = rows["crash"]
    assert crash["failure"] == "failed: crash failed: ZeroDivisionError: by [/red] nodes"
    assert crash["status"] is crash["value"] is crash["tolerance"] is crash["seed"] is None
    assert crash["violations"] == [] and crash["hash"] == rows["opr"]["hash"]
    assert rows["opr"]["failure"] is None and rows["opr"]["value"] == "32/5"


def test_a_failure_outweighs_what_is_unsound(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    flags = ["--objective", "nodes", "--methods"]
    dlopt("compare", file, *flags, "epr:literal-roots", code=1)
    dlopt("compare", file, *flags, "crash,epr:literal-roots", code=4)
    dlopt("compare", file, *flags, "late,crash,epr:literal-roots", code=5)


def test_the_gap_to_the_optimum_or_the_bound(dlopt: Command, three: Path) -> None:
    proven = dlopt("compare", three, "--methods", "opr,exact").out
    assert "gap to optimum: |value - optimum| / |optimum|" in proven
    assert "gap to the bound" not in proven
    done = dlopt("compare", three, "--methods", "opr,weak").out
    assert "*: gap to optimum is at most |value - bound| / |bound|" in done
    assert "| / |optimum|" not in done
    assert "50.00%*" in line_of(done, "weak") and "6.67%*" in line_of(done, "opr")
    data = dlopt("compare", three, "--methods", "opr,weak", "--json").json["comparisons"][0]
    weak = data["rows"][1]
    assert weak["gap_to_bound"] == 0.5 and weak["gap_to_optimum"] is None
    assert weak["behind_bound"] == 0.5 and weak["behind_optimum"] is None  # former keys
    assert weak["gap"] == "1/3"  # the result's own, relative to its value
    alone = dlopt("compare", three, "--methods", "opr").out
    assert "|value" not in alone


def test_reasons_stand_below_the_table(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", THREE | {"absolute_deadline": 3})
    done = dlopt("compare", file, "--methods", "exact,opr,edf-iit-2")
    notes = [line.partition(": ") for line in done.out.splitlines() if "on three: " in line]
    assert [who for who, _, _ in notes] == ["exact on three", "opr on three", "edf-iit-2 on three"]
    assert (
        "infeasible: the minimum completion time is 39/8; 5/3 of load 3 can be done" in notes[0][2]
    )
    assert notes[1][2].startswith("unknown: its schedule misses the deadline by ")


def test_best_known_values_that_are_wrong_are_told(dlopt: Command, tmp_path: Path) -> None:
    best = {"objective": "completion", "plan_class": "single", "value": 4, "method": "me"}
    file = file_of(tmp_path / "a.json", THREE | {"best_known": [best, best | {"value": "39/8"}]})
    done = dlopt("compare", file, "--methods", "exact,opr")
    note = "three: best_known (completion, single by me) is wrong: its value 4 is better than 39/8"
    (line,) = [line for line in done.out.splitlines() if "best_known" in line]
    assert line == f"{note}, the bound that exact proves"
    (data,) = dlopt("compare", file, "--methods", "exact", "--json").json["comparisons"]
    (wrong,) = data["contradictions"]
    assert wrong["kind"] == "value-beyond-bound" and wrong["best_known"] == best
    assert wrong["method"] == "exact" and wrong["found"] == "39/8"
    (data,) = dlopt("compare", file, "--methods", "opr", "--json").json["comparisons"]
    assert data["contradictions"] == []


def test_an_instance_without_a_name_goes_by_its_file(dlopt: Command, tmp_path: Path) -> None:
    data = json.loads((INSTANCES / "different-6.json").read_text())
    file = file_of(tmp_path / "nameless.json", data | {"name": ""})
    done = dlopt("compare", file, "--methods", "opr,epr,equal-finish")
    assert "skipped: opr, epr on nameless.json: its nodes differ" in done.out
    assert "\n nameless.json\n" in done.out


def test_a_method_named_twice_counts_once(dlopt: Command, three: Path) -> None:
    data = dlopt("compare", three, "--methods", "opr, epr,opr,", "--json").json
    assert [row["method"] for row in data["comparisons"][0]["rows"]] == ["opr", "epr"]


def test_no_method_that_was_named_applies(dlopt: Command, tmp_path: Path) -> None:
    """A table without rows is laid out, too."""
    instance = tmp_path / "different.json"
    instance.write_text(json.dumps(THREE | {"cluster": {"nodes": 3, "tau": 1, "chi": [1, 2, 3]}}))
    done = dlopt("compare", instance, "--methods", "opr,epr")
    assert "skipped: opr, epr on three: " in done.out and done.err == ""


SHIPPED = INSTANCES.parent


@pytest.mark.parametrize(
    ("names", "objective", "shown", "hidden"),
    [
        (["dag/chain"], "makespan", {"response"}, {"tardy"}),
        (["dag/chain", "dag/deadlines"], "makespan", {"tardy", "response"}, set()),
        (["bag/small-etc"], "makespan", {"flowtime"}, {"critical", "accepted"}),
        (["bag/small-etc"], "flowtime", {"makespan"}, {"critical", "accepted"}),
        (["bag/small-grid"], "accepted", {"critical", "makespan"}, set()),
    ],
)
def test_columns_that_say_nothing_are_left_out(
    dlopt: Command, names: list[str], objective: str, shown: set[str], hidden: set[str]
) -> None:
    files = [SHIPPED / f"{name}.json" for name in names]
    method = "heft" if names[0].startswith("dag") else "edf"
    done = dlopt("compare", *files, "--methods", method, "--objective", objective).out
    heading = next(line for line in done.splitlines() if line.split()[:1] == ["method"]).split()
    assert shown <= set(heading) and hidden.isdisjoint(heading)


def test_critical_tasks_are_a_column_where_there_are_any(dlopt: Command, tmp_path: Path) -> None:
    tasks = [{"id": "a", "work": 1, "absolute_deadline": 3}, {"id": "b", "work": 1}]
    data = {"problem": "bag", "version": 1, "name": "x", "machines": [{"id": "m"}], "tasks": tasks}
    words = ("--methods", "edf", "--objective", "accepted")
    file = file_of(tmp_path / "a.json", data)
    assert "critical" not in dlopt("compare", file, *words).out
    assert "critical then all" in dlopt("compare", file, "--methods", "edf").out  # it is asked for
    tasks[1]["priority"] = "critical"
    assert "critical then all" in dlopt("compare", file_of(file, data), *words).out


def test_whether_tasks_are_late_is_shown_where_they_can_be(dlopt: Command) -> None:
    words = ("solve", SHIPPED / "bag" / "small-etc.json", "--method", "edf")
    assert "late" not in dlopt(*words).out
    placement = dlopt(*words, "--json").json["schedule"]["placements"][0]
    assert placement["late"] is False
    assert "late" in dlopt("solve", SHIPPED / "bag" / "figure-5.json", "--method", "edf").out


def test_large_values_are_whole_and_dates_keep_their_decimals(
    dlopt: Command, tmp_path: Path
) -> None:
    long = THREE | {"cluster": {"nodes": 3, "tau": 10**6, "chi": 2 * 10**6}}
    date = THREE | {"ready_times": [1_700_000_000 + late for late in (0, 1, 4)]}
    for data, opr, best in ((long, "4263162", "4263158"), (date, "1700000006.4", "1700000004.875")):
        file = file_of(tmp_path / "a.json", data)
        done = dlopt("compare", file, "--methods", "opr,exact").out
        assert line_of(done, "opr").split()[1] == opr
        assert line_of(done, "exact").split()[1] == best
    done = dlopt("compare", file_of(file, long), "--methods", "exact", "--fractions").out
    assert line_of(done, "exact").split()[1] == "81000000/19"
