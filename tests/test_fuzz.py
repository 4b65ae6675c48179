"""A short run of the fuzz of the command line, and what it says of commands that misbehave."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest

from benchmarks import fuzz
from benchmarks.fuzz_mutations import mutated


def test_some_hundred_mutants_end_in_short_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = fuzz.main(["--count", "300", "--seed", "7", "--folder", str(tmp_path)])
    told = capsys.readouterr().out
    assert code == 0, told
    assert "PASS 300 mutants, 0 findings, seed 7" in told


def test_mutants_are_those_of_the_seed() -> None:
    content = b'{"a": [1, {"b": "c"}], "d": 2.5}\n'
    drawn = [[mutated(content, random.Random(f"{s}")) for s in range(200)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 100
    for empty in (b"", b"[]", b"{}", b"\xff"):
        assert all(isinstance(mutated(empty, random.Random(s)), bytes) for s in range(100))


@pytest.mark.parametrize(
    ("code", "said", "told", "finding"),
    [
        (0, "fine\n", "", ""),
        (2, "", "error: short\n", ""),
        (7, "", "", "exit code 7"),
        (2, "", "", "bad input without a message"),
        (2, "", "x" * 20_000, "a message of 20000 characters"),
        (4, "", "error: out of memory\n", "over 2147483648 bytes"),
        (1, "", "Traceback (most recent call last):\n", "Traceback"),
        (0, "a\x1bb\n", "", r"raw '\x1b' in 'a\x1bb"),
        (0, "", "a\u202eb\n", r"raw '\u202e'"),
    ],
)
def test_what_is_a_finding(code: int, said: str, told: str, finding: str) -> None:
    found = fuzz.finding_of(code, io.BytesIO(said.encode()), io.BytesIO(told.encode()))
    assert found.startswith(finding)
    assert bool(found) == bool(finding)


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("while True: pass", "hangs"),
        ("import os; os.kill(os.getpid(), 9)", "died (-9)"),
        ("raise KeyError('seen')", ""),
    ],
)
def test_commands_that_hang_die_or_raise_are_told(
    tmp_path: Path, program: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker with a command of its own: the next mutant is run by another worker."""
    code = f"""
import sys
import dlopt.cli.program
from benchmarks import fuzz
fuzz.HANG_S = 1
def main():
    if sys.argv[1:] == ["bad"]:
        {program}
    raise SystemExit(0)
dlopt.cli.program.run = main
class Subject: pass
fuzz.subjects = lambda folder, run: []
fuzz.written = lambda known, folder, seed, n: dict(kind="k", command=["bad"] if n == 1 else ["a"])
fuzz.main(sys.argv[1:])
"""
    (tmp_path / "worker.py").write_text(code)
    monkeypatch.setattr(fuzz, "WORKER", (str(tmp_path / "worker.py"),))
    ends = float("inf")
    first = list(fuzz.watched(tmp_path, 0, 0, 3, ends))
    reports = [*first, *fuzz.watched(tmp_path, 0, first[-1]["n"] + 1, 3, ends)]
    assert [report["n"] for report in reports] == [0, 1, 2]
    assert reports[0]["finding"] == reports[2]["finding"] == ""
    assert str(reports[1]["code"]) == (kind or "-1")
    assert ("KeyError: 'seen'" in reports[1]["finding"]) == (not kind)
    json.dumps(reports)
