"""Solvers that are programs: they end with the process that asked, and leave no file."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pulp
import pytest

from dlopt import SolverError, interruption, read, solve
from dlopt.backends.pulp import optimise
from dlopt.batch import Failure, plan_runs, read_item, run_batch
from dlopt.result import Limits
from tests.gates import PATIENCE, Gate

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="programs of POSIX")

FILE = Path(__file__).parents[2] / "instances" / "iit" / "three-nodes.json"
ENDLESS = """#!/bin/sh
exec 3> "$DLOPT_TEST_GATE"
printf ! >&3
: > "$1.log"
sleep 1000
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let a solver that never ends stand for CBC; return where temporary files go."""
    program, home = tmp_path / "bin" / "cbc", tmp_path / "home"
    program.parent.mkdir()
    program.write_text(ENDLESS)
    program.chmod(0o755)
    home.mkdir()
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(tmp_path / "gate"))
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return home


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [
        (signal.SIGINT, 130, "interrupted\n"),
        (signal.SIGTERM, 143, "terminated\n"),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL"],
)
def test_a_command_that_is_ended(home: Path, number: int, code: int, told: str) -> None:
    gate = Gate(home.parent / "gate")
    words = ["solve", str(FILE), "-m", "bound-fluid", "--set", "solver=COIN_CMD"]
    with subprocess.Popen(
        [sys.executable, "-m", "dlopt", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert gate.read() == b"!"
            assert [path.name.rpartition("-")[0] for path in home.iterdir()] == ["dlopt-run"]
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()  # or a test that fails waits for it
    assert (process.returncode, out, err) == (code, "", told)
    assert gate.read() == b"" and list(home.iterdir()) == []


def test_a_cell_that_is_ended(home: Path, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    cells = {"options": {"solver": "COIN_CMD"}, "hard_timeout_s": 3.0}
    plan = plan_runs([read_item(FILE)], ["bound-fluid"], **cells)  # type: ignore[arg-type]
    (record,) = run_batch(plan, tmp_path / "rows.jsonl", workers=1).records
    assert record.status is Failure.TIMEOUT
    assert gate.read() == b"!" and gate.read() == b"" and list(home.iterdir()) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_method_that_is_given_up(home: Path, tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    found = solve(read(FILE), "bound-fluid", limits=Limits(1.0), solver="COIN_CMD")
    assert found.bound is None and "overran its limit of 1 s" in (found.reason or "")
    assert gate.read() == b"!" and gate.read() == b""
    while interruption.still_working():
        threading.Event().wait(0.01)
    gc.collect()  # PuLP leaves the null device open if it is interrupted
    assert list(home.iterdir()) == []


def test_a_solver_that_fails_leaves_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "cbc").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(SolverError, match="COIN_CMD failed"):
        solve(read(FILE), "bound-fluid", solver="COIN_CMD")
    assert list(home.iterdir()) == []


def test_programs_of_others_are_left_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside dlopt, PuLP starts what it starts as ever."""
    (home.parent / "bin" / "cbc").write_text("#!/bin/sh\nexit 3\n")
    problem = pulp.LpProblem("least", pulp.LpMinimize)
    x = problem.add_variable("x", 2, None)
    problem.setObjective(1 * x)
    problem += x >= 3
    started: list[list[str]] = []
    plain = subprocess.Popen

    def popen(command: list[str], **options: Any) -> Any:
        started.append(command)
        return plain(command, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(SolverError, match="COIN_CMD failed"):
        optimise(problem, Limits(), solver="COIN_CMD")
    assert started == []
    with pytest.raises(pulp.PulpSolverError):
        problem.solve(pulp.COIN_CMD(msg=False))
    assert [command[0] for command in started] == ["cbc"]
