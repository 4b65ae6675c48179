"""What `--fast` leaves out: the tests of the list, which are there, and no others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests import slow_tests as selection
from tests.examples import EXAMPLES
from tests.instance_files import ROOT
from tests.slow_tests import FAST_EXAMPLES, MEASURED_S, SLOW_S, Measuring, left_out, slow_tests

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


def names_left_out(monkeypatch, seconds: dict[str, float], properties: str = "") -> list[str]:
    """Return what is left out of tests of one module or several, by what they took."""
    monkeypatch.setattr(selection, "slow_tests", lambda: seconds)
    items = [FakeItem(name, is_property=name in properties.split()) for name in seconds]
    return [item.nodeid for item in left_out(items)]


class FakeItem:
    """A test of a module, perhaps a property."""

    def __init__(self, nodeid: str, *, is_property: bool) -> None:
        self.nodeid, self.path, self.is_property = nodeid, nodeid.split("::")[0], is_property

    def get_closest_marker(self, name: str) -> bool:
        return name == "property" and self.is_property


def test_a_test_is_left_out_from_its_limit_on(monkeypatch) -> None:
    seconds = {"a::0": 0.0, "a::1": SLOW_S - 0.01, "a::2": SLOW_S, "a::3": 1.0}
    assert names_left_out(monkeypatch, seconds) == ["a::2", "a::3"]


def test_every_module_keeps_its_fastest_test(monkeypatch) -> None:
    seconds = {"a::1": 2.0, "b::1": 0.01, "a::2": 1.5, "b::2": 0.1, "c::1": 9.0}
    assert names_left_out(monkeypatch, seconds) == ["a::1", "b::2"]


def test_a_property_counts_by_the_examples_that_it_is_tried_on(monkeypatch) -> None:
    took = SLOW_S * EXAMPLES / FAST_EXAMPLES
    seconds = {"a::0": 0.0, "a::1": took * 0.8, "a::2": took * 1.2, "a::3": took * 0.8}
    assert names_left_out(monkeypatch, seconds, "a::1 a::2") == ["a::2", "a::3"]


def test_properties_are_tried_on_fewer_examples() -> None:
    program = """
import pytest
class Plugin:
    def pytest_collection_finish(self):
        from hypothesis import settings
        print("tried on", settings.default.max_examples)
pytest.main(["-q", "--collect-only", "-pno:cacheprovider", *OPTIONS], plugins=[Plugin()])
"""
    for options, examples in (([], EXAMPLES), (["--fast"], FAST_EXAMPLES)):
        arguments = [*options, "tests/examples.py"]
        command = [sys.executable, "-c", program.replace("OPTIONS", repr(arguments))]
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "ci"}
        ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert f"tried on {examples}\n" in ran.stdout


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
