"""What a terminal shows while a command works, tables that fit it, and what Ctrl-C leaves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from dlopt.cli import progress
from dlopt.cli.console import out
from dlopt.cli.tables import TerminalTable
from dlopt.result import Result, Status
from tests.cli.conftest import INSTANCES, Command

THREE = INSTANCES / "three-nodes.json"
ADMISSION = INSTANCES.parent / "admission" / "two-of-three.json"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that makes standard output a terminal of some width."""

    def of_width(columns: int) -> None:
        monkeypatch.setattr(type(out), "is_terminal", property(lambda self: True))
        monkeypatch.setattr(out, "width", columns)

    return of_width


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_search_tells_incumbent_bound_and_gap(
    dlopt: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    hints: list[bool] = []
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)

    class Line:
        def __enter__(self) -> Callable[[str], None]:
            return shown.append

        def __exit__(self, *rest: object) -> None:
            return None

    def line(label: str, hint: bool) -> Line:
        hints.append(hint)
        return Line()

    monkeypatch.setattr("dlopt.cli.solve.line", line)
    monkeypatch.setattr("dlopt.cli.compare.line", line)
    dlopt("solve", THREE)
    assert shown[-1] == "exact: completion 4.875, bound 4.875, gap 0.00%"
    shown.clear()
    dlopt("compare", THREE, "--methods", "opr,exact")
    assert shown[0] == "three-nodes (1 of 1)"
    assert "three-nodes (1 of 1), opr: completion 6.4" in shown
    dlopt("solve", THREE, "-m", "bound-fluid")
    assert shown[-1] == "bound-fluid: completion bound 4.66667"
    for limit in ("--work", "--time-limit"):
        for command in ("solve", "compare"):
            dlopt(command, THREE, limit, "9")
    assert hints == [True] * 3 + [False] * 4


def test_the_line_is_shown_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with progress.line("exact") as show:
        assert show is None
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.line("exact", hint=True) as show:
        assert show is not None
        show("completion \x1b 5")
    assert "\x1b 5" not in capfd.readouterr().err


def test_a_search_without_limit_gives_a_hint(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    hint_printed = threading.Event()
    monkeypatch.setattr(progress.err, "print", lambda *texts, **rest: hint_printed.set())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "HINT_AFTER_S", 0.0)
    with progress.line("exact", hint=True):
        assert hint_printed.wait(30)


@pytest.mark.parametrize("columns", [80, 200])
def test_tables_fit_the_terminal(
    dlopt: Command, terminal: Callable[[int], None], columns: int
) -> None:
    terminal(columns)
    words = ("compare", ADMISSION, "--methods", "fast-edf-iit-simulated,exact")
    text = plain(dlopt(*words).out).partition("gap to optimum:")[0]
    assert max(len(line.rstrip()) for line in text.splitlines()) <= columns
    assert re.search(r"^ +fast-edf-iit-simulated +1 .* exact", text, re.MULTILINE)
    assert ("no room for: accepted load, utilization, proof" in text) == (columns == 80)
    text = plain(dlopt("methods", "admission").out)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= columns
    assert "fast-edf-iit-simulated" in text


def test_columns_are_left_out_in_order(
    terminal: Callable[[int], None], capfd: pytest.CaptureFixture[str]
) -> None:
    terminal(50)
    table = TerminalTable(("name", "large number", "note"), droppable=("note", "large number"))
    table.add({"name": "a" * 30, "large number": "1", "note": "n" * 30})
    table.print()
    lines = plain(capfd.readouterr().out).splitlines()
    assert [line.split() for line in lines[1:3]] == [["large"], ["name", "number"]]
    assert lines[-1] == "no room for: note (--json has all)"


def test_a_table_without_room_is_a_list(dlopt: Command, terminal: Callable[[int], None]) -> None:
    terminal(40)
    text = plain(dlopt("compare", THREE, "--methods", "opr,exact").out)
    assert "method: opr\n completion: 6.4\n nodes: 2\n gap to optimum: 31.28%\n" in text
    assert "…" not in text and max(map(len, text.splitlines())) <= 40
    text = plain(dlopt("solve", THREE, "--method", "opr").out)
    assert "node: 0\n load: 1.8\n transmission start: 1\n" in text
    terminal(80)
    assert "method: opr" not in dlopt("compare", THREE, "--methods", "opr,exact").out


def test_piped_tables_are_not_broken(dlopt: Command) -> None:
    text = dlopt("solve", ADMISSION.with_name("as-it-stands.json"), "-m", "edf-opr-mn").out
    assert "transmission start  transmission end  computation start  computation end" in text


INTERRUPTING = """
import os, signal, threading, dlopt
from dlopt.cli import main

def interrupting(instance, **rest):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(60)

dlopt.register("iit", "interrupting", interrupting)
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_leaves_the_finished_rows() -> None:
    words = ["compare", THREE, THREE, "--methods", "opr,interrupting,exact"]
    line = [sys.executable, "-c", INTERRUPTING, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 130
    assert re.search(r"^ +opr +6.4 ", done.stdout, re.MULTILINE)
    assert "skipped: exact on three-nodes: stopped before it began" in done.stdout
    assert done.stderr.endswith("1 of 2 instances are compared\ninterrupted\n")


ENDING_LATE = """
import atexit, os, signal, threading, dlopt
from dlopt.cli import main

def interrupting(state, task):
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(60)

dlopt.register("admission", "interrupting", dlopt.OnlinePolicy(interrupting))
atexit.register(threading.Event().wait, 60)
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_command_that_takes_long_to_end_is_interrupted_once() -> None:
    words = ["simulate", "cluster", "--file", ADMISSION, "--method", "interrupting"]
    line = [sys.executable, "-c", ENDING_LATE, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


def test_what_is_known_of_a_search_without_a_bound() -> None:
    known = Result(Status.FEASIBLE, "plan", objective="accepted", value=3)
    assert progress.search_text(known) == "accepted 3"
