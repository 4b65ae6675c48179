"""Searches from the command line: exit codes, files, JSON, and an interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command

PATIENCE = 120
"""Seconds after which a command that should have ended counts as hung."""

FLAWED = ("falsify", "admission", "edf-opr-mn:literal", "--examples", 99)
STEM = "edf-opr-mn-literal-channel-overlap"

# Says on standard error that the search has begun.
TELLING = """
import sys
from dlopt.cli import main
from dlopt.verify.budget import SearchBudget

def telling(self, applied, shipped=False):
    if not self.tried + self.shipped:
        sys.stderr.write("searching\\n")
        sys.stderr.flush()
    count(self, applied, shipped)

count, SearchBudget.count = SearchBudget.count, telling
main()
"""


def test_a_flaw_is_found_and_written(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt(*FLAWED, code=1)
    assert done.err == ""
    assert done.out.startswith("claim refuted: sound (edf-opr-mn:literal, 2 tasks x 2 nodes)\n")
    assert "channel-overlap on channel" in done.out
    assert "no plan has the reported value" in done.out
    assert "per second" in done.out
    folder = tmp_path / "falsified"
    names = [f"{STEM}.json", f"{STEM}.result.json", f"{STEM}.svg"]
    assert sorted(file.name for file in folder.iterdir()) == names
    checked = dlopt("check", folder / names[0], folder / names[1], code=1)
    assert "channel-overlap" in checked.out


def test_json(dlopt: Command) -> None:
    first = dlopt(*FLAWED, "--json", "--out", "one", code=1).json
    again = dlopt(*FLAWED, "--json", "--out", "one", code=1).json
    assert first["instance"] == again["instance"]
    assert (first["found"], first["claim"], first["kind"]) == (True, "sound", "channel-overlap")
    assert (first["jobs"], first["machines"], first["impossible"]) == (2, 2, True)
    assert first["instance"]["name"] == STEM
    assert first["files"] == [f"one/{STEM}.json", f"one/{STEM}.svg", f"one/{STEM}.result.json"]
    assert first["shipped"] == again["shipped"] > 0


def test_nothing_is_found_of_what_is_sound(dlopt: Command, tmp_path: Path) -> None:
    done = dlopt("falsify", "bag", "gds", "--examples", 40, "--no-shipped", "--plain")
    assert done.out.startswith("nothing found: 40 instances in ")
    assert "shipped" not in done.out
    assert not (tmp_path / "falsified").exists()
    data = dlopt("falsify", "admission", "edf-opr-mn", "--examples", 40, "--json").json
    assert data["found"] is False
    assert data["shipped"] > 0
    assert data["tried"] + data["skipped"] == 40
    printed = dlopt("falsify", "admission", "edf-opr-mn", "--examples", 40).out
    assert f"{data['skipped']} more skipped: " in printed
    assert f" instances and {data['shipped']} shipped ones in " in printed


def test_the_size_is_in_the_words_of_the_problem(dlopt: Command) -> None:
    words = {
        ("coreservation", "rspb:literal"): "1 request x 1 machine",
        ("multistage", "multi-stage:literal-F9"): "1 task x 1 node",
        ("iit", "opr:literal-timeline"): "1 node",
        ("bag", "gds:literal-duplicate"): "1 task x 2 machines",
    }
    for (stem, method), size in words.items():
        done = dlopt("falsify", stem, method, "--examples", 99, code=1)
        assert done.out.splitlines()[0] == f"claim refuted: sound ({method}, {size})"


def test_a_search_leaves_no_files(dlopt: Command, tmp_path: Path) -> None:
    """Hypothesis, too, keeps nothing in the working folder: the third generator has its turn."""
    words = ("--examples", 700, "--no-shipped", "--jobs", 1, "--machines", 1)
    dlopt("falsify", "iit", "opr", *words)
    assert list(tmp_path.iterdir()) == []


def test_a_claim_by_its_name(dlopt: Command) -> None:
    words = ("falsify", "bag", "gds", "--claim", "meets-what-edf-meets", "--examples", 400)
    data = dlopt(*words, "--json", code=1).json
    assert data["kind"] == "worse-than-claimed"
    assert "edf has a solution of value" in data["broken"][0]


def test_options_of_a_method(dlopt: Command) -> None:
    words = ("falsify", "admission", "hybrid", "--set", "threshold=1", "--examples", 400)
    words += ("--claim", "as-good-as-planned")
    done = dlopt(*words, code=1)
    assert "as-good-as-planned (hybrid threshold=1, 2 tasks x 2 nodes)" in done.out
    data = dlopt(*words, "--json", code=1).json
    assert data["options"] == {"threshold": 1}


OWN = """
from dlopt.problems.bag import Solution
from dlopt.result import Result, Status

def lazy(instance, *, objective, limits, hint, seed):
    return Result(Status.FEASIBLE, Solution(()), value=0)
"""


def test_a_function_of_ones_own(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    data = dlopt("falsify", "bag", "own.py:lazy", "--examples", 40, "--json", code=1).json
    assert (data["claim"], data["jobs"], data["machines"]) == ("sound", 1, 1)
    assert data["files"][0] == f"falsified/lazy-{data['kind']}.json"


LOUD = """
import os, sys
from dlopt.problems.bag import Instance, Solution

os.write(1, b"no JSON")
print("no JSON")

def quits(instance, **_):
    os.write(1, b"no JSON")
    print("no JSON")
    sys.exit(0)
"""


def test_a_function_that_prints_and_ends_the_program(dlopt: Command, tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    done = dlopt("falsify", "bag", "loud.py:quits", "--examples", 9, "--json", code=1)
    assert done.json["kind"] == "failed" and done.err.count("no JSON") > 3
    assert done.json["broken"] == ["quits failed: it ends the program, with 0 (loud.py, line 11)"]


def test_the_largest_gap_is_no_failure(
    dlopt: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlopt.verify.gap_search.MAX_SHRINKING_RUNS", 20)
    words = ("--target", "gap", "--objective", "accepted", "--examples", 60)
    done = dlopt("falsify", "bag", "olb", *words, "--jobs", 2, "--machines", 2)
    assert "relative gap" in done.out and "found by annealing" in done.out
    assert (tmp_path / "falsified" / "olb-gap.json").exists()


def test_a_method_that_fails_has_no_picture(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlopt.heuristics.bag.immediate_methods.edf", None)
    data = dlopt("falsify", "bag", "edf", "--examples", 9, "--json", code=1).json
    assert (data["kind"], data["result"]) == ("failed", None)
    assert data["files"] == ["falsified/edf-failed.json"]


def test_without_matplotlib_there_is_no_picture(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    data = dlopt(*FLAWED, "--json", code=1).json
    assert data["files"] == [f"falsified/{STEM}.json", f"falsified/{STEM}.result.json"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("tsp", "opt"), "no problem 'tsp'"),
        (("bag", "gdss"), "no method 'gdss'"),
        (("bag", "gds", "--target", "moon"), "--target must be claim or gap"),
        (("bag", "gds", "--claim", "fewest-nodes"), "no claim 'fewest-nodes' about gds"),
        (("bag", "gds", "--kind", "late"), "bag has no violation 'late' (known: unknown-task, "),
        (("bag", "none.py:method"), "cannot import none.py: FileNotFoundError"),
        (("bag", "bad.py:method"), "cannot import bad.py: ZeroDivisionError"),
        (("bag", "bad.txt.py:method"), "cannot import"),
        (("bag", "bad.py"), "bad.py names no function: write bad.py:FUNCTION"),
        (("admission", "hybrid", "--set", "threshold=few"), "option threshold takes"),
        (("bag", "gds", "--jobs", "0"), "--jobs and --machines must be positive"),
        (("bag", "gds", "--seconds", "0"), "must be positive"),
        (("bag", "gds", "--out", "a-file"), "it is no folder"),
        (("bag", "gds", "--out", "none/new"), "its folder does not exist"),
    ],
)
def test_bad_input(dlopt: Command, tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    (tmp_path / "a-file").write_text("")
    (tmp_path / "bad.py").write_text("1 / 0")
    done = dlopt("falsify", *words, code=2)
    assert text in done.err
    assert done.out == ""


def test_a_folder_that_cannot_be_written_to_is_told_before_the_search(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dlopt.cli.options.os.access", lambda path, mode: False)
    for words in ((), ("--out", "new")):
        done = dlopt("falsify", "bag", "gds", "--seconds", 600, *words, code=2)
        assert done.err.endswith(": no permission\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TELLING, "falsify", "dag", "heft", "--seconds", "600"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, text=True, stdout=pipe, stderr=pipe, cwd=tmp_path)
    try:
        assert process.stderr is not None and process.stderr.readline() == "searching\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out.startswith("nothing found: ") and " in " in out and out.count("\n") == 1
    assert err == "interrupted\n"
    assert list(tmp_path.iterdir()) == []
