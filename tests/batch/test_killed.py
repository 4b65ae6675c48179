"""Runs that are killed with SIGKILL at a known moment, and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dlopt.batch import read_records
from tests.batch.conftest import INSTANCES, NAUGHTY
from tests.batch.misbehaving_methods import GATE
from tests.gates import PATIENCE, Gate

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")


def start(out: Path, *words: str, gate: Path | None = None) -> subprocess.Popen[bytes]:
    files = [str(INSTANCES / f"{name}.json") for name in ("three-nodes", "late-node")]
    line = [sys.executable, "-m", "dlopt", "batch", *files, "--out", str(out), *words]
    line += ["--methods", "opr,epr,gated,exact", "--import", NAUGHTY]
    environment = os.environ | ({} if gate is None else {GATE: str(gate)})
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process: subprocess.Popen[bytes]) -> bytes:
    _, told = process.communicate(timeout=PATIENCE)
    return told


def test_killed_and_started_again(tmp_path: Path) -> None:
    out, gate = tmp_path / "rows.jsonl", Gate(tmp_path / "gate")
    process = start(out, "--workers", "1", gate=gate.path)
    assert gate.read() == b"!"  # the third cell is at work, the first is written
    process.kill()
    ended(process)
    assert process.returncode == -signal.SIGKILL
    assert gate.read() == b""  # the worker does not outlive the run
    before = out.read_bytes()
    kept = [record.key.method for record in read_records(out)]
    assert kept in (["opr"], ["opr", "epr"])

    out.write_bytes(before + b'{"version":1,"problem":"ii')  # as if killed within a write
    again = start(out)
    told = ended(again)
    assert again.returncode == 0, told
    assert out.read_bytes().startswith(before)
    runs = Counter(
        (record["instance"], record["method"])
        for record in map(json.loads, out.read_bytes().splitlines())
    )
    assert len(runs) == 8 and set(runs.values()) == {1}

    done = out.read_bytes()
    once_more = start(out)
    assert ended(once_more) == b"" and once_more.returncode == 0
    assert out.read_bytes() == done


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, b"interrupted"), (signal.SIGTERM, 143, b"terminated")],
    ids=["Ctrl-C", "SIGTERM"],
)
def test_a_signal_ends_the_workers_and_keeps_the_rows(
    tmp_path: Path, number: int, code: int, word: bytes
) -> None:
    out, gate = tmp_path / "rows.jsonl", Gate(tmp_path / "gate")
    process = start(out, "--workers", "1", gate=gate.path)
    assert gate.read() == b"!"
    process.send_signal(number)
    told = ended(process)
    assert process.returncode == code and gate.read() == b""
    assert told.endswith(b"the same command resumes\n" + word + b"\n")
    assert b"Traceback" not in told
    assert next(record.key.method for record in read_records(out)) == "opr"


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="files are locked on POSIX only")
    out, gate = tmp_path / "rows.jsonl", Gate(tmp_path / "gate")
    first = start(out, "--workers", "1", gate=gate.path)
    assert gate.read() == b"!"
    second = start(out)
    assert b"another run is writing to it" in ended(second) and second.returncode == 2
    first.kill()
    ended(first)
