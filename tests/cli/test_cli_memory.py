"""``--memory``: one message where memory is not enough, and nobody is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dlopt.cli.child import ChildExit
from dlopt.cli.console import Exit
from dlopt.cli.memory import exit_code_of
from dlopt.errors import SolverError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="memory is limited on POSIX only")

INSTANCE = "instances/iit/three-nodes.json"
PATIENCE_S = 60

GREEDY = """
from dlopt import Result, Status, register

def greedy(instance, **_):
    {work}

register("iit", "greedy", greedy, kind="exact", claim="optimal")
import sys
from dlopt.cli import main
sys.argv = ["dlopt", "solve", {file!r}, "-m", "greedy", "--memory", "300"]
main()
"""


def dlopt(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dlopt", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)


def started(work: str) -> subprocess.Popen[str]:
    code = GREEDY.format(work=work, file=INSTANCE)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def lives(process: int) -> bool:
    """Tell whether a process is there, and not only its exit code, which waits to be asked for."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()
    return state != "Z"


def test_an_answer_in_bounded_memory_is_as_without() -> None:
    bounded = dlopt("solve", INSTANCE, "-m", "edf-iit-2", "--memory", "2000", "--json")
    assert bounded.returncode == 0 and '"value": "39/8"' in bounded.stdout


def test_memory_that_is_not_enough_is_one_message() -> None:
    running = started("held = [bytearray(2**20) for _ in range(10_000)]")
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out, err) == (Exit.NO_ANSWER, "", "error: out of memory\n")


def test_a_solver_that_aborts_is_one_message() -> None:
    running = started("import os; os.abort()")
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out) == (Exit.NO_ANSWER, "")
    assert err == "error: out of memory, of 300 MB\n"


def test_wrong_bounds_are_refused() -> None:
    for wrong in ("0", "-1"):
        refused = dlopt("solve", INSTANCE, "--memory", wrong)
        assert refused.returncode == Exit.BAD_INPUT
        assert refused.stderr == f"error: --memory must be positive, got {wrong}\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_child_ends_with_its_parent(number: signal.Signals, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    running = started(
        f"import os, time; open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(600)"
    )
    stop = time.monotonic() + PATIENCE_S
    while not (pid_file.exists() and pid_file.read_text()) and time.monotonic() < stop:
        time.sleep(0.05)
    child = int(pid_file.read_text())
    assert child != running.pid
    running.send_signal(number)
    running.communicate(timeout=PATIENCE_S)  # the child would hold the pipes open
    assert running.returncode != 0
    while lives(child) and time.monotonic() < stop:
        time.sleep(0.05)
    assert not lives(child)


def test_how_a_child_ended_is_told() -> None:
    assert exit_code_of(ChildExit(0, True), 9) == 0 and exit_code_of(ChildExit(3, True), 9) == 3
    assert exit_code_of(ChildExit(-signal.SIGINT, False), 9) == Exit.INTERRUPTED
    assert exit_code_of(ChildExit(-signal.SIGTERM, False), 9) == 128 + signal.SIGTERM
    with pytest.raises(SolverError, match="the solver was killed by SIGSEGV"):
        exit_code_of(ChildExit(-signal.SIGSEGV, False), 9)


def test_a_method_that_ends_the_program_is_one_message() -> None:
    running = started("import os; os._exit(0)")
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, out) == (Exit.NO_ANSWER, "")
    assert err == "error: the solver ended with exit code 0 before it was done\n"
