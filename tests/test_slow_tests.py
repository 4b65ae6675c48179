"""What `--fast` leaves out: the tests of the list, which are there, and no others."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.instance_files import ROOT
from tests.slow_tests import SLOW_S, slow_tests

SAMPLE = "tests/architecture/test_private_names.py"
"""It reads all tests, which is slow, and has fast tests, too."""


def test_slow_tests_are_there() -> None:
    """One that was renamed would be taken to be fast, and its line would stay for ever."""
    gone = []
    for test in slow_tests():
        file, name, *_ = test.partition("[")[0].split("::")
        path = ROOT / file
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        is_doctest = not file.startswith("tests/")
        if not (text if is_doctest else re.search(rf"\b{name}\b", text)):
            gone.append(test)
    assert not gone, "change these lines, or write the list again by `pytest --record-slow`"


def collected(*options: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "--no-cov", *options, SAMPLE]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {line for line in listed.splitlines() if line.startswith(SAMPLE)}


def test_slow_tests_alone_are_left_out_or_kept() -> None:
    every = collected()
    slow = every & slow_tests().keys()
    assert slow and collected("--fast") == every - slow
    assert collected(f"--slower-than={SLOW_S}") == slow
