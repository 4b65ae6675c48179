"""Programs that end with the process that started them, and with them all that they started."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dlopt import child_processes
from dlopt.child_processes import Child, end_all
from dlopt.interruption import within
from tests.gates import PATIENCE, Gate

pytestmark = pytest.mark.skipif(not child_processes.KEPT, reason="no keeper")

STARTING = """
import os, sys
from dlopt.child_processes import Child
Child(sys.argv[2:], folder=sys.argv[1])
os.read(0, 1)
"""


def busy(gate: Gate) -> list[str]:
    """Return a program that starts another one, says so, and never ends; both hold the gate."""
    return ["sh", "-c", f"exec > {shlex.quote(str(gate.path))}; sleep 1000 & printf !; wait"]


def test_a_program_does_not_outlive_a_process_that_is_killed(tmp_path: Path) -> None:
    gate, folder = Gate(tmp_path / "gate"), tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    line = [sys.executable, "-c", STARTING, str(folder), *busy(gate)]
    with subprocess.Popen(line, stdin=subprocess.PIPE) as process:
        assert gate.read() == b"!" and folder.exists()
        process.kill()
    assert gate.read() == b"" and not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_the_code_is_that_of_the_program(number: int) -> None:
    assert Child(["sh", "-c", "exit 7"]).wait() == 7
    assert Child("exit 200", shell=True).wait() == 200
    assert Child(["sh", "-c", f"kill -{int(number)} $$"]).wait() == -number
    with Child(["no such program"], stderr=subprocess.PIPE, text=True) as child:
        _, told = child.communicate(timeout=PATIENCE)
    assert child.returncode == 127
    assert told == "cannot run no such program: No such file or directory\n"


def test_what_a_program_has_started_ends_with_it(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    child = Child([*busy(gate)[:2], busy(gate)[2].replace("; wait", "; kill -KILL $$")])
    assert gate.read() == b"!"
    assert child.wait(PATIENCE) == -signal.SIGKILL and gate.read() == b""


def test_a_wait_that_is_given_up_ends_the_program(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    child = Child(busy(gate))
    assert gate.read() == b"!"
    with pytest.raises(TimeoutError):
        within(1.0, child.wait)
    assert gate.read() == b""


def test_a_block_that_is_left_by_an_error_ends_the_program(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gate")
    with pytest.raises(ZeroDivisionError), Child(busy(gate)):
        raise ZeroDivisionError(gate.read())
    assert gate.read() == b""


def test_a_process_that_ends_ends_its_programs_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(tmp_path / "gate")
    child = Child(busy(gate))
    assert gate.read() == b"!"
    with monkeypatch.context() as patch:  # as in a fork, which has a copy of all objects
        patch.setattr(os, "getpid", lambda: -1)
        end_all()
    assert child.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(0.01)
    end_all()
    assert child.wait(PATIENCE) == -signal.SIGKILL and gate.read() == b""
    end_all()  # of what has ended there is nothing to end
