"""The command as a process of its own: signals, closed pipes, full disks, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dlopt import check, generate, io, write
from dlopt.version import __version__
from tests.cli.conftest import INSTANCES

DLOPT = [sys.executable, "-m", "dlopt"]
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""The environment, without what changes how Python writes."""
PATIENCE = 120
"""Seconds after which a command that should have ended counts as hung."""

# Says on standard error when the solver is at work. The thread that says so waits for a lock that
# is opened just before, and for the interpreter, which only the solver then lets go.
TELLING = """
import sys, threading, highspy
from dlopt.cli import main

def tell():
    begun.acquire()
    sys.stderr.write("solving\\n")
    sys.stderr.flush()

def run(model):
    if begun.locked():
        begun.release()
    return highs_run(model)

begun = threading.Lock()
begun.acquire()
sys.setswitchinterval(1000)
threading.Thread(target=tell, daemon=True).start()
highs_run, highspy.Highs.run = highspy.Highs.run, run
main()
"""


def start(*words: object, command: list[str] = DLOPT, **environment: str) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    line = [*command, *map(str, words)]
    return subprocess.Popen(line, text=True, stdout=pipe, stderr=pipe, env=PLAIN | environment)


def test_text_json_and_exit_codes_of_the_real_command(tmp_path: Path) -> None:
    done = start("--version")
    assert done.communicate(timeout=PATIENCE) == (f"{__version__}\n", "") and done.returncode == 0
    file = INSTANCES / "three-nodes.json"
    done = start("solve", file, "--json", "--out", tmp_path / "r.json", "--exact-numbers")
    out, err = done.communicate(timeout=PATIENCE)
    assert done.returncode == 0 and err == "" and json.loads(out)["value"] == "39/8"
    done = start("check", INSTANCES / "four-nodes.json", tmp_path / "r.json", "--json")
    out, err = done.communicate(timeout=PATIENCE)
    assert (
        done.returncode == 2 and out == "" and "another instance" in err and "Traceback" not in err
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_while_a_solver_runs(tmp_path: Path) -> None:
    hard = generate("iit", "random", nodes=20, spread=5, seed=3)
    write(hard, tmp_path / "hard.json")
    (tmp_path / "r.json").write_text("old")
    words = ["solve", tmp_path / "hard.json", "--out", tmp_path / "r.json", "--json"]
    process = start(*words, command=[sys.executable, "-c", TELLING])
    try:
        assert process.stderr is not None and process.stderr.readline() == "solving\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "interrupted" in err and "Traceback" not in err
    found = json.loads(out)
    assert found["status"] == "feasible" and found["reason"].startswith("stopped")
    assert json.loads((tmp_path / "r.json").read_text()) == found
    assert check(hard, io.result_from_data(found, hard)) == ()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hard.json", "r.json"]


LOSING = """
try:
    import inner
except:
    pass
"""
TELLING_AND = "import sys, time\nprint('working', file=sys.stderr, flush=True)\n"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGTERM, 143, "terminated\n"), (signal.SIGINT, 130, "interrupted\n")],
)
@pytest.mark.parametrize(
    "inner",
    ["time.sleep(0.5)\n", "while True:\n try:\n  time.sleep(9)\n except:\n  pass\n"],
    ids=["lost", "lost for ever"],
)
def test_a_signal_that_code_of_others_loses(
    tmp_path: Path, inner: str, number: int, code: int, message: str
) -> None:
    """PuLP, too, imports its solvers under a bare ``except``."""
    (tmp_path / "inner.py").write_text(TELLING_AND + inner)
    (tmp_path / "losing.py").write_text(LOSING)
    file, rows = INSTANCES / "three-nodes.json", tmp_path / "r.jsonl"
    words = ["batch", file, "--methods", "opr", "--out", rows, "--import", tmp_path / "losing.py"]
    at = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from dlopt.cli import main; main()"
    process = start(*words, command=[sys.executable, "-c", at])
    assert process.stderr is not None and process.stderr.readline() == "working\n"
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, "") and err.endswith(message)


@pytest.mark.parametrize(
    "words",
    [
        ["methods"],
        ["generate", "iit", "--family", "ramp"],
        ["generate", "iit", "--family", "ramp", "--set", "nodes=20000"],
    ],
    ids=["text", "little JSON", "more JSON than a pipe holds"],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves(words: list[str], unbuffered: str) -> None:
    process = start(*words, PYTHONUNBUFFERED=unbuffered)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # before the command has written anything: it reads its code first
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 0
    process.stderr.close()


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["text", "JSON"])
def test_a_reader_that_leaves_does_not_change_what_is_found(
    tmp_path: Path, as_json: list[str]
) -> None:
    (tmp_path / "p.json").write_text('{"chunks": []}')
    file = INSTANCES / "three-nodes.json"
    process = start("check", file, tmp_path / "p.json", *as_json)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(PATIENCE) == 1
    process.stderr.close()


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
def test_closed_and_full_output() -> None:
    file = INSTANCES / "three-nodes.json"

    def shell(words: str) -> tuple[int, str]:
        command = f'"$0" -m dlopt {words}'
        done = subprocess.run(
            ["sh", "-c", command, sys.executable, file], capture_output=True, text=True, env=PLAIN
        )
        assert done.stdout == ""
        return done.returncode, done.stderr

    assert shell('solve "$1" --json >&-') == (0, "")
    assert shell("solve nothing.json 2>&-") == (2, "")
    if os.path.exists("/dev/full"):
        for words in ('solve "$1" -m opr', 'solve "$1" -m opr --json', "--version"):
            code, message = shell(f"{words} >/dev/full")
            if "--json" in words:
                assert code == 2 and json.loads(message)["detail"] == "No space left on device"
            else:
                assert code == 2 and message == "error: No space left on device\n"


def test_letters_that_the_output_does_not_know(tmp_path: Path) -> None:
    data = json.loads((INSTANCES / "three-nodes.json").read_text()) | {"name": "caf\u00e9"}
    (tmp_path / "a.json").write_text(json.dumps(data))
    words = ["compare", tmp_path / "a.json", "--methods", "opr"]
    process = start(*words, PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and err == "" and "caf\\xe9" in out
