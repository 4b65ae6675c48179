"""Which tests `--fast` leaves out: those that took long when `--record-slow` was last given.

`slow_tests.txt` has a line for each: the seconds of processor time, with those of processes that
it started, and the test. A test that is not in it is taken to be fast.
"""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

FILE = Path(__file__).with_suffix(".txt")
SLOW_S = 0.1
"""All tests that take less make up about a fifth of the time of all."""
MEASURED_S = 0.3
"""Measuring coverage doubles the time of a test: those that take so long do without."""


def add_options(group: pytest.OptionGroup) -> None:
    """Add the options that select tests by their time, and the one that measures it."""
    group.addoption("--fast", action="store_true", help="leave out all tests of slow_tests.txt")
    group.addoption(
        "--measure",
        metavar="PATHS",
        help="measure coverage of fast tests below these paths only (separated by spaces)",
    )
    group.addoption("--record-slow", action="store_true", help="write slow_tests.txt again")


def register(config: pytest.Config) -> None:
    """Add what the options ask for; a worker of pytest-xdist measures, and its parent writes."""
    if config.getoption("fast"):
        config.pluginmanager.register(_LeavingOut())
    if hasattr(config, "workerinput"):
        _stop_first_measurement(config)
    if config.getoption("measure"):
        config.pluginmanager.register(_Measuring(tuple(config.getoption("measure").split())))
    if config.getoption("record_slow"):
        config.pluginmanager.register(_Recording(is_parent=not hasattr(config, "workerinput")))


def slow_tests() -> dict[str, float]:
    """Return the tests of the file, and their seconds."""
    lines = [line.split(" ", 1) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return {test: float(seconds) for seconds, test in lines}


def _processor_time_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _stop_first_measurement(config: pytest.Config) -> None:
    """Stop what pytest-cov starts in a worker of pytest-xdist before it knows that it is one.

    It would go on beside the measurement of the worker, and nothing reads its data: all tests would
    be traced twice, and those that are not to be traced once.
    """
    measurement = getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if measurement is not None:
        measurement.pause()


def _name(test: pytest.Item | pytest.TestReport) -> str:
    return test.nodeid.split("@")[0]  # without the group of pytest-xdist


class _LeavingOut:
    """Without the tests of the file."""

    def pytest_collection_modifyitems(self, config, items):
        slow = slow_tests()
        kept, left_out = [], []
        for item in items:
            (left_out if _name(item) in slow else kept).append(item)
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


class _Measuring:
    """Coverage is measured of the tests below some paths, but for those that take long."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.paths = paths

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        seconds = slow_tests()
        for item in items:
            name = _name(item)
            if not name.startswith(self.paths) or seconds.get(name, 0.0) >= MEASURED_S:
                item.add_marker("no_cover")


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
            self.seconds[_name(report)] = dict(report.user_properties).get("processor_time_s", 0.0)

    def pytest_sessionfinish(self):
        if self.is_parent:
            slow = sorted(name for name, took in self.seconds.items() if took >= SLOW_S)
            lines = [f"{self.seconds[name]:.1f} {name}\n" for name in slow]
            FILE.write_text("".join(lines), encoding="utf-8")
