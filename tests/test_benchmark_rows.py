"""Rows of benchmarks: torn lines are cut off, files of another kind and second runs are refused."""

from __future__ import annotations

import importlib
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks import saga_schedulers
from benchmarks.rows import kept, plain, records, stored
from dlopt.errors import InvalidInstanceError, NotApplicableError


@dataclass(frozen=True)
class Some:
    name: str
    seconds: float


FORM = records("some", Some, lambda row: row.name)
MODULES = ["coreservation", "dag_exact", "invariants", "falsification_log", "solver_claims"]
MODULES += [
    "papers.bag_runs",
    "papers.coreservation_runs",
    "better",
    "blind_spots",
    "saga_schedulers",
]


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    with kept(file, FORM) as rows:
        for row in (Some("a", 1), Some("b", 2.5), Some("a", 3)):
            rows.add(row)
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"some": 1, "na')
    assert stored(file, FORM) == [Some("b", 2.5), Some("a", 3)]
    with kept(file, FORM) as rows:
        assert rows.by_key == {"a": Some("a", 3), "b": Some("b", 2.5)}
        with pytest.raises(NotApplicableError, match="another run"), kept(file, FORM):
            pass
    assert file.read_bytes() == whole


def test_without_a_file_rows_are_kept_in_memory(tmp_path: Path) -> None:
    with kept(None, FORM) as rows:
        rows.add(Some("a", 1))
        assert list(rows) == [Some("a", 1)]
    assert stored(None, FORM) == stored(tmp_path / "none", FORM) == []


@pytest.mark.parametrize(
    "text",
    ["text", "{}", "[]", '{"some": 2, "name": "a", "seconds": 1}', '{"some": 1, "name": "a"}'],
)
def test_another_kind_of_file_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(f"{text}\n")
    with pytest.raises(InvalidInstanceError, match="line 1: must be a row of a some, version 1"):
        stored(file, FORM)
    with pytest.raises(InvalidInstanceError), kept(file, FORM):
        pass
    assert file.read_text() == f"{text}\n"


def test_rows_that_are_dictionaries(tmp_path: Path) -> None:
    with kept(tmp_path / "a.jsonl", plain("word", "stem")) as rows:
        rows.add({"stem": "iit", "found": 1})
        rows.add({"stem": "iit", "found": 2})
        assert rows.by_key == {("iit",): {"stem": "iit", "found": 2}}
    with pytest.raises(InvalidInstanceError):
        stored(tmp_path / "a.jsonl", plain("word", "kind"))
    with kept(None, plain("word")) as rows:
        rows.add({"stem": "iit"})
        rows.add({"stem": "bag"})
        assert len(list(rows)) == 2


def test_no_two_benchmarks_take_each_others_files() -> None:
    begins = [importlib.import_module(f"benchmarks.{name}").FORM.begin for name in MODULES]
    assert len({begin.partition(b":")[0] for begin in begins}) == len(MODULES)


@pytest.mark.parametrize(
    "words",
    [
        ["falsify", "--sound", "--seconds", "1", "--rows"],
        ["invariants", "--stems", "iit", "--instances", "5", "--rows"],
        ["papers.bag", "--quick", "--rows"],
    ],
    ids=lambda words: words[0],
)
def test_a_foreign_file_is_refused(tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader,\n")
    command = [sys.executable, "-m", f"benchmarks.{words[0]}", *words[1:], str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "letter.txt: line 1: must be a row of a" in done.stderr
    assert file.read_text() == "Dear reader,\n"


def test_an_instance_that_no_other_scheduler_solves_has_a_row() -> None:
    peers = ("a=no schedule within 20 s=20", "b=KeyError: 3=.1")
    row = saga_schedulers.Comparison("stg", "r", 2, 1.0, "True", 0.1, ("1=2.0=.1",), peers)
    assert row.valid() == {} and row.invalid()["b"] == "KeyError: 3"
    solved = saga_schedulers.Comparison("stg", "r", 2, 1.0, "True", 0.1, (), (*peers, "c=3=.5"))
    assert solved.valid() == {"c": (3.0, 0.5), "HybridScheduler": (3.0, 0.5)}
