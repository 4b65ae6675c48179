"""Which tests `--fast` leaves out: those that took long when `--record-slow` was last given.

`slow_tests.txt` has a line for each: the seconds of processor time, with those of processes that
it started, and the test. A test that is not in it is taken to be fast.
"""

from __future__ import annotations

import math
import resource
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".txt")
SLOW_S = 0.1
"""All tests that take less make up about a fifth of the time of all."""


def add_options(group: pytest.OptionGroup) -> None:
    """Add the options that select tests by their time, and the one that measures it."""
    limits = {
        "--faster-than": "leave out tests that take at least so long, by slow_tests.txt",
        "--slower-than": "only tests that take at least so long, by slow_tests.txt",
    }
    for option, text in limits.items():
        group.addoption(option, type=float, metavar="SECONDS", help=text)
    group.addoption(
        "--fast",
        action="store_const",
        const=SLOW_S,
        dest="faster_than",
        help="leave out all tests of slow_tests.txt",
    )
    group.addoption("--record-slow", action="store_true", help="write slow_tests.txt again")


def register(config: pytest.Config) -> None:
    """Add what the options ask for; a worker of pytest-xdist measures, and its parent writes."""
    faster_than, slower_than = (config.getoption(name) for name in ("faster_than", "slower_than"))
    if faster_than is not None or slower_than is not None:
        config.pluginmanager.register(_Selecting(slower_than or 0.0, faster_than or math.inf))
    if config.getoption("record_slow"):
        config.pluginmanager.register(_Recording(is_parent=not hasattr(config, "workerinput")))


def slow_tests() -> dict[str, float]:
    """Return the tests of the file, and their seconds."""
    lines = [line.split(" ", 1) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return {test: float(seconds) for seconds, test in lines}


def _processor_time_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class _Selecting:
    """Tests that take at least `shortest` seconds and less than `longest`."""

    def __init__(self, shortest: float, longest: float) -> None:
        self.shortest, self.longest = shortest, longest

    def pytest_collection_modifyitems(self, config, items):
        seconds = slow_tests()
        kept, left_out = [], []
        for item in items:
            fits = self.shortest <= seconds.get(item.nodeid, 0.0) < self.longest
            (kept if fits else left_out).append(item)
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


class _Recording:
    def __init__(self, is_parent: bool) -> None:
        self.is_parent = is_parent
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        begun = _processor_time_s()
        try:
            return (yield)
        finally:
            item.user_properties.append(("processor_time_s", _processor_time_s() - begun))

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            name = report.nodeid.split("@")[0]  # without the group of pytest-xdist
            self.seconds[name] = dict(report.user_properties).get("processor_time_s", 0.0)

    def pytest_sessionfinish(self):
        if self.is_parent:
            slow = sorted(name for name, took in self.seconds.items() if took >= SLOW_S)
            lines = [f"{self.seconds[name]:.1f} {name}\n" for name in slow]
            FILE.write_text("".join(lines), encoding="utf-8")
