"""`dlopt batch` and `dlopt report`: what they print, write and refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dlopt.version import __version__
from tests.cli.conftest import INSTANCES, ROOTS, THREE, Command, file_of
from tests.method_table import MethodTable

MINE = """
from dlopt import registry

def wrong(instance, **_):
    raise ZeroDivisionError("by nodes")

try:
    registry.method("iit", "wrong-of-mine")
except ValueError:
    registry.register("iit", "wrong-of-mine", wrong)
"""


@pytest.fixture(autouse=True)
def own_methods(method_table: MethodTable) -> None:
    """What a test registers is not there for others."""


def rows_of(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_solve_and_go_on_and_report(dlopt: Command, three: Path, tmp_path: Path) -> None:
    other = file_of(tmp_path / "other.json", THREE | {"load": 4, "name": ""})
    words = ["batch", three, other, "--out", "records.jsonl", "--workers", 1, "--methods"]
    first = dlopt(*words, "opr,exact")
    assert first.err == "" and "records.jsonl: 4 runs, 4 of them executed now" in first.out
    assert all(line == line.rstrip() for line in first.out.splitlines())
    assert [line.split() for line in first.out.splitlines() if "iit" in line] == [
        ["iit", "opr", "2", "-"],
        ["iit", "exact", "-", "2"],
    ]
    records = rows_of(tmp_path / "records.jsonl")
    assert [(record["instance"], record["method"]) for record in records] == [
        ("three", "opr"),
        ("three", "exact"),
        ("other", "opr"),
        ("other", "exact"),
    ]
    assert (
        records[1]["value"] == "39/8" and records[1]["gap"] == 0 and records[1]["checked"] is True
    )
    assert records[1]["dlopt"] == __version__ and records[1]["solver"] and records[1]["seed"] == 0
    before = (tmp_path / "records.jsonl").read_bytes()
    again = dlopt(*words, "opr,exact,epr", "--json").json
    assert again["runs"] == 6 and again["solved"] == 2
    assert again["by_status"] == {"feasible": 4, "optimal": 2}
    assert (tmp_path / "records.jsonl").read_bytes().startswith(before)

    flags = ("-o", "r.html", "--title", "Three & more", "--json")
    share = {"problem": "iit", "method": "exact", "optimal": 2, "certified": 2, "share": 1.0}
    assert dlopt("report", "records.jsonl", *flags).content == {
        "report": "r.html",
        "records": 6,
        "rows": 6,
        "contradictions": 0,
        "certified": [share | {"refused": 0, "size_bytes": None}],
    }
    assert "<h1>Three &amp; more</h1>" in (tmp_path / "r.html").read_text()
    assert "r.csv: 6 records" in dlopt("report", "records.jsonl", "-o", "r.csv").out
    table = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [(line["instance"], line["optimum"]) for line in table] == [
        ("other", str(records[3]["value"])),
        ("three", "39/8"),
    ]


def test_limits_seeds_and_objectives_multiply(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    flags = ["--time-limit", 9, "--time-limit", 8, "--seed", 1, "--seed", 2, "--objective", "all"]
    dlopt("batch", file, "--methods", "edf-iit-2", "--out", "records.jsonl", *flags)
    runs = {
        (record["objective"], record["limits"]["time_s"], record["seed"])  # type: ignore[index]
        for record in rows_of(tmp_path / "records.jsonl")
    }
    assert len(runs) == 8


def test_a_method_of_ones_own_that_fails(dlopt: Command, three: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    words = ["batch", three, "--out", "records.jsonl", "--methods", "wrong-of-mine,opr"]
    words += ["--import", tmp_path / "mine.py"]
    done = dlopt(*words, code=4)
    assert "wrong-of-mine on three: failed: wrong-of-mine failed: ZeroDivisionError" in done.err
    assert "2 runs, 2 of them executed now" in done.out
    assert "0 of them executed now" in dlopt(*words, code=4).out  # the same code, solved or read
    assert "1 of them executed now" in dlopt(*words, "--retry", code=4).out
    assert "1 without" not in dlopt("report", "records.jsonl", "-o", "r.html").err


def test_an_unsound_plan_is_found(dlopt: Command, tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.json", ROOTS)
    words = ["--methods", "epr:literal-roots", "--objective", "nodes", "--out", "records.jsonl"]
    done = dlopt("batch", file, *words, code=1)
    assert "unsound" in done.out and done.err == ""
    (record,) = rows_of(tmp_path / "records.jsonl")
    assert record["checked"] is False and record["violations"] and record["bound"] is None


def test_pictures(dlopt: Command, three: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    dlopt("batch", three, "--methods", "opr", "-o", "records.jsonl", "--pictures", "drawn")
    (picture,) = (tmp_path / "drawn").iterdir()
    dlopt("report", "records.jsonl", "-o", "r.html")
    assert f'href="drawn/{picture.name}"' in (tmp_path / "r.html").read_text()
    dlopt("report", "records.jsonl", "-o", "r.html", "--pictures", "inline")
    assert "data:image/svg+xml;base64," in (tmp_path / "r.html").read_text()


def test_pictures_from_elsewhere_are_left_out(dlopt: Command, three: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "rows").mkdir()
    dlopt("batch", three, "--methods", "opr,epr", "-o", "rows/r.jsonl", "--pictures", "drawn")
    done = dlopt("report", "rows/r.jsonl", "-o", "r.html", "--pictures", "inline")
    assert "skipped: ../drawn/" in done.err and done.err.endswith("of the batch, and 1 more\n")
    assert "base64" not in (tmp_path / "r.html").read_text()
    words = ["--pictures", "inline", "--picture-folder", "drawn"]
    done = dlopt("report", "rows/r.jsonl", "-o", "r.html", *words)
    assert done.err == "" and (tmp_path / "r.html").read_text().count("base64") == 2


def test_equal_instances_and_what_is_left_out(dlopt: Command, tmp_path: Path) -> None:
    for name in ("a", "b"):
        file_of(tmp_path / f"{name}.json", THREE | {"name": name})
    different = INSTANCES / "different-6.json"
    words = ["--methods", "opr", "-o", "records.jsonl"]
    done = dlopt("batch", "a.json", "b.json", different, *words)
    assert done.err == "b equals a: solved once\n"
    assert "1 run, 1 of them executed now; 1 skipped" in done.out
    data = dlopt("batch", "a.json", different, *words, "--json").json
    assert [left["instance"] for left in data["skipped"]] == ["different-6"]


def test_bad_instances_are_all_told_before_any_work(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    file_of(tmp_path / "bad.json", THREE | {"load": -1})
    file_of(tmp_path / "worse.json", [])
    done = dlopt("batch", three, "bad.json", "worse.json", "-o", "records.jsonl", code=2)
    assert "bad.json: load" in done.err and "worse.json: must be a JSON object" in done.err
    assert not (tmp_path / "records.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--methods", "exakt"], "no method 'exakt'"),
        (["--methods", ","], "--methods names no method"),
        (["--set", "depth=3"], "no method has the option 'depth'"),
        (["--objective", "beauty"], "objective 'beauty'"),
        (["--time-limit", "0"], "time_s (--time-limit)"),
        (["--hard-timeout", "-1"], "hard-timeout must be positive"),
        (["--workers", "0"], "workers must be an integer from 1 on"),
        (["--memory", "0"], "memory must be an integer from 1 on"),
        (["--executor", "cloud"], "no executor 'cloud'"),
        (["--executor", "dask://host"], "dask://host is no address: write dask://HOST:PORT"),
        (["--executor", "dask://host:65536"], "is no address"),
        (["--executor", "dask://tcp://host:8786"], "is no address"),
        (["--import", "no_such_module"], "cannot import no_such_module"),
        (["--exact-numbers", "--float-numbers"], "either as exact ones or as floats"),
        (["--pictures", "three.json"], "it is no folder"),
        (["--pictures", "no/pictures"], "its folder does not exist"),
    ],
)
def test_bad_words(dlopt: Command, three: Path, words: list[str], message: str) -> None:
    given = [] if "--methods" in words or "--set" in words else ["--methods", "opr"]
    assert message in dlopt("batch", three, "-o", "records.jsonl", *given, *words, code=2).err


def test_a_file_of_another_kind_is_not_appended_to(
    dlopt: Command, three: Path, tmp_path: Path
) -> None:
    before = three.read_text()
    done = dlopt("batch", three, "--methods", "opr", "-o", three, code=2)
    assert done.out == "" and "three.json: is an instance: `dlopt batch` makes records" in done.err
    assert three.read_text() == before
    assert "its folder does not exist" in dlopt("batch", three, "-o", "no/r.jsonl", code=2).err


def test_bad_reports(dlopt: Command, three: Path, tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_text("")
    for words, message in (
        (["records.jsonl", "-o", "r.html"], "there are no records to report"),
        (["records.jsonl", "-o", "r.pdf"], "must end in .html or .csv"),
        (["records.jsonl", "-o", "r.html", "--pictures", "big"], "--pictures takes"),
        (["nothing.jsonl", "-o", "r.html"], "nothing.jsonl: cannot be read"),
        ([three, "-o", "r.html"], "three.json: is an instance: `dlopt batch` makes records"),
    ):
        assert message in dlopt("report", *words, code=2).err


def test_a_report_of_what_contradicts(dlopt: Command, three: Path, tmp_path: Path) -> None:
    dlopt("batch", three, "--methods", "opr,exact", "-o", "records.jsonl")
    records = rows_of(tmp_path / "records.jsonl")
    lines = [
        json.dumps(record | ({"value": 4} if record["method"] == "opr" else {}))
        for record in records
    ]
    (tmp_path / "records.jsonl").write_text("\n".join(lines))
    done = dlopt("report", "records.jsonl", "-o", "r.html", code=1)
    assert "opr on three is better than the proven optimum: one of them is wrong" in done.err


def test_a_report_names_methods_without_a_gap(dlopt: Command, three: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from dataclasses import replace\n"
        "from dlopt.registry import method, register\n"
        "opr = method('iit', 'opr').load()\n"
        "def wide(instance, **given):\n"
        "    return replace(opr(instance, **given), plan_class='any')\n"
        "register('iit', 'wide', wide)\n"
    )
    words = ("--import", "mine.py", "--methods", "wide,exact", "--workers", 1)
    dlopt("batch", three, *words, "-o", "r.jsonl")
    done = dlopt("report", "r.jsonl", "-o", "r.html")
    assert done.err.startswith("wide has no gap: no optimum or bound is proven for its plan class")


FORGER = """
import dlopt
from dataclasses import replace

def forger(instance, **rest):
    other = dlopt.load("dag/fork-join")
    return replace(dlopt.solve(instance), certificate=dlopt.solve(other).certificate)

dlopt.register("dag", "forger", forger, kind="exact", claim="optimal", objectives=("makespan",))
"""


def test_certificates(dlopt: Command, tmp_path: Path) -> None:
    file = INSTANCES.parent / "dag" / "chain.json"
    (tmp_path / "forger.py").write_text(FORGER)
    words = ["-o", "records.jsonl", "--certificates", "proofs", "--import", "forger.py"]
    done = dlopt("batch", file, "--methods", "exact,forger", *words, code=1)
    assert "2 certificates, 1 of them refused" in done.out
    assert done.err.startswith("forger on chain: certificate refused: program on")
    assert len(list((tmp_path / "proofs").iterdir())) == 2
    made = dlopt("report", "records.jsonl", "-o", "r.html", "--json").json
    assert {one["method"]: one["share"] for one in made["certified"]} == {"exact": 1, "forger": 0}
    (tmp_path / "full").write_text("")
    words[3] = "full"
    assert "it is no folder" in dlopt("batch", file, *words, code=2).err


@pytest.mark.parametrize("words", [["batch", INSTANCES, "--out", "-"], ["report", "r", "-o", "-"]])
def test_files_are_not_written_to_standard_output(
    dlopt: Command, tmp_path: Path, words: list[object]
) -> None:
    found = dlopt(*words, code=2)
    assert "cannot go to standard output: name a file instead of -" in found.err
    assert not (tmp_path / "-").exists()


def test_one_record_is_counted_as_one(dlopt: Command, three: Path) -> None:
    dlopt("batch", three, "--out", "records.jsonl", "--workers", 1, "--methods", "opr")
    assert dlopt("report", "records.jsonl", "-o", "r.html").out == "r.html: 1 record\n"
