"""Code of others that ends the program, however it does: one message, and never exit code 0."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dlopt.cli.child import code_of_others
from dlopt.cli.console import Exit
from tests.cli.conftest import INSTANCES

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nobody sees how a command ends")

PATIENCE_S = 120
BATCH = ["batch", str(INSTANCES / "three-nodes.json"), "--methods", "opr", "--out", "records.jsonl"]
FALSIFY = ["falsify", "iit", "mine.py:method", "--examples", "3"]
METHOD = "def method(instance, **_):\n    {}\n"


def dlopt(folder: Path, words: list[str], code: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder where mine.py holds the code."""
    (folder / "mine.py").write_text(code)
    return subprocess.run(
        [sys.executable, "-m", "dlopt", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [([*BATCH, "--import", "mine.py"], "mine.py"), (FALSIFY, "mine.py:method")],
    ids=["batch", "falsify"],
)
@pytest.mark.parametrize(
    ("code", "ended", "exit_code"),
    [
        ("import os; os._exit(0)", "ended with exit code 0 before it was done", Exit.BAD_INPUT),
        ("from posix import _exit; _exit(1)", "ended with exit code 1 before", Exit.BAD_INPUT),
        ("import os; os.execv('/bin/sh', ['sh', '-c', ':'])", "exit code 0", Exit.BAD_INPUT),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL", Exit.NO_ANSWER),
    ],
    ids=["os._exit", "another code", "another program", "killed"],
)
def test_a_module_that_ends_the_program(
    tmp_path: Path, words: list[str], named: str, code: str, ended: str, exit_code: int
) -> None:
    done = dlopt(tmp_path, words, code)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert done.stderr.startswith("error: the program ") and ended in done.stderr
    assert done.stderr.endswith(f", in code of {named}\n") and done.stderr.count("\n") == 1


def test_a_method_that_ends_the_program(tmp_path: Path) -> None:
    done = dlopt(tmp_path, FALSIFY, "import os\n" + METHOD.format("os._exit(0)"))
    assert (done.returncode, done.stdout) == (Exit.BAD_INPUT, "")
    assert done.stderr == (
        "error: the program ended with exit code 0 before it was done, in code of mine.py:method\n"
    )


def test_a_method_that_raises_what_is_no_exception(tmp_path: Path) -> None:
    done = dlopt(tmp_path, FALSIFY, METHOD.format("raise BaseException('odd')"))
    assert done.returncode == Exit.FOUND and done.stderr == ""
    assert "method failed: BaseException: odd (mine.py, line 2)" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [*BATCH, "--import", "mine.py"],
            "error: cannot import mine.py: BaseException: odd (mine.py, line 1)\n",
        ),
        (FALSIFY, "error: cannot import mine.py: BaseException: odd (mine.py, line 1)\n"),
    ],
    ids=["batch", "falsify"],
)
def test_a_module_that_raises_what_is_no_exception(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = dlopt(tmp_path, words, "raise BaseException('odd')")
    assert (done.returncode, done.stdout, done.stderr) == (Exit.BAD_INPUT, "", message)


@pytest.mark.parametrize("late", ["", "import atexit, os; atexit.register(os._exit, 7)\n"])
def test_the_exit_code_is_that_of_the_command(tmp_path: Path, late: str) -> None:
    done = dlopt(tmp_path, FALSIFY, late + METHOD.format("raise ValueError"))
    assert done.returncode == Exit.FOUND and "claim refuted" in done.stdout
    done = dlopt(tmp_path, ["falsify", "iit", "mine.py:other"], late + METHOD.format("pass"))
    assert done.returncode == Exit.BAD_INPUT and "mine.py has no function 'other'" in done.stderr


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [
        (signal.SIGINT, 130, "interrupted\n"),
        (signal.SIGTERM, 143, "terminated\n"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_signals_reach_the_command(tmp_path: Path, number: int, code: int, message: str) -> None:
    """That the child holds the pipes shows that it has ended, too."""
    waiting = "import time; print('working', flush=True); time.sleep(600)"
    (tmp_path / "mine.py").write_text(METHOD.format(waiting))
    process = subprocess.Popen(
        [sys.executable, "-m", "dlopt", *FALSIFY],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None and process.stderr.readline() == "working\n"
    process.send_signal(number)
    assert process.communicate(timeout=PATIENCE_S) == ("", message)
    assert process.returncode == code


def test_only_code_of_others_is_set_aside() -> None:
    assert code_of_others(["solve", "a.json", "--out", "b.json"]) == ""
    assert code_of_others(["batch", "a.json", "--import"]) == ""


def test_code_of_others_may_read_from_the_terminal(tmp_path: Path) -> None:
    """A process of the background would be stopped, as in a debugger that waits for a command."""
    pty = pytest.importorskip("pty")
    (tmp_path / "mine.py").write_text("answer = input()\nraise ValueError(answer)\n")
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
        os.execv(sys.executable, [sys.executable, "-m", "dlopt", *FALSIFY])
    os.write(terminal, b"forty-two\n")
    output = b""
    try:
        while block := os.read(terminal, 1024):
            output += block
    except OSError:  # how Linux tells that nobody has the terminal open any more
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == Exit.BAD_INPUT
    assert b"ValueError: forty-two" in output
