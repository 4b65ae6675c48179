"""What `--fast` leaves out: the tests of the list, which are there, and no others."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.instance_files import ROOT
from tests.slow_tests import MEASURED_S, Measuring, slow_tests

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
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, SAMPLE]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return {line for line in listed.splitlines() if line.startswith(SAMPLE)}


def test_slow_tests_alone_are_left_out() -> None:
    every = collected()
    slow = every & slow_tests().keys()
    assert slow and collected("--fast") == every - slow


def test_coverage_is_measured_of_fast_tests_below_the_paths_alone() -> None:
    long = {name for name, seconds in slow_tests().items() if seconds >= MEASURED_S}
    every, measured = collected(), ("-m", "measured")
    assert every & long
    assert collected("--measure=tests/cli tests/architecture", *measured) == every - long
    assert not collected("--measure=tests/cli dlopt", *measured)


class FakeController:
    """Notes whether coverage would be measured."""

    started = True

    def pause(self) -> None:
        self.started = False

    def resume(self) -> None:
        self.started = True


class FakeTest:
    """A test that is measured, or is not."""

    def __init__(self, marker: str | None) -> None:
        self.marker = marker

    def get_closest_marker(self, name: str) -> str | None:
        return name if name == self.marker else None


@pytest.mark.parametrize(
    ("marker", "scope", "expected"),
    [
        ("measured", "function", (True, True)),
        (None, "function", (False, False)),
        (None, "module", (False, True)),
    ],
)
def test_nothing_is_measured_but_measured_tests_and_fixtures(marker, scope, expected) -> None:
    """A fixture that tests share may be set up first by one that is not measured."""
    test, controller = FakeTest(marker), FakeController()
    measuring = Measuring(("tests",), runs_tests=False)
    measuring.controller = controller
    controller.pause()
    fixture, request = SimpleNamespace(scope=scope), SimpleNamespace(node=test)
    hooks = measuring.pytest_runtest_call(test), measuring.pytest_fixture_setup(fixture, request)
    for hook, is_measured in zip(hooks, expected, strict=True):
        next(hook)
        assert controller.started is is_measured
        with pytest.raises(ZeroDivisionError):
            hook.throw(ZeroDivisionError())
        assert not controller.started
