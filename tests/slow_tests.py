"""Which tests `--fast` leaves out: those that took long when `--record-slow` was last given.

`slow_tests.txt` has a line for each: the seconds of processor time, with those of its fixtures and
of processes that it started, and the test. A test that is not in it is taken to be fast.
Properties are tried on fewer examples, and a module whose tests are all slow keeps its fastest one.
"""

from __future__ import annotations

import importlib
import pkgutil
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.examples import EXAMPLES, share

FILE = Path(__file__).with_suffix(".txt")
SLOW_S = 0.03
"""All tests that take less make up about a tenth of the time of all."""
ROUNDING_S = 0.005
"""The file has hundredths of a second."""
FAST_EXAMPLES = 10
"""Examples of a property under `--fast`."""
MEASURED_S = 0.3
"""Measuring coverage doubles the time of a test: those that take so long do without."""
MEASURED = ("dlopt.problems", "dlopt.heuristics", "dlopt.models")
"""The packages that coverage is measured of."""


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
        _try_fewer_examples()
        config.pluginmanager.register(_LeavingOut())
    if hasattr(config, "workerinput"):
        _stop_first_measurement(config)
    if config.getoption("measure"):
        paths = tuple(config.getoption("measure").split())
        config.pluginmanager.register(Measuring(paths, _runs_tests(config)))
    if config.getoption("record_slow"):
        config.pluginmanager.register(_Recording(is_parent=not hasattr(config, "workerinput")))


def slow_tests() -> dict[str, float]:
    """Return the tests of the file, and their seconds."""
    lines = [line.split(" ", 1) for line in FILE.read_text(encoding="utf-8").splitlines()]
    return {test: float(seconds) for seconds, test in lines}


def _try_fewer_examples() -> None:
    """Load a profile of few examples; before tests are imported, since they take shares of it."""
    settings.register_profile("fast", share(FAST_EXAMPLES / EXAMPLES))
    settings.load_profile("fast")


def left_out(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the slow ones of these tests, but for the fastest of a module that has no other."""
    known = slow_tests()
    modules: dict[Path, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.path, []).append(item)
    slow: list[pytest.Item] = []
    for tests in modules.values():
        seconds = [_seconds(item, known) for item in tests]
        # All that take as long as the fastest run, or all that are fast.
        least = max(min(seconds), SLOW_S - ROUNDING_S)
        slow += [item for item, took in zip(tests, seconds, strict=True) if took > least]
    return slow


def _seconds(item: pytest.Item, known: dict[str, float]) -> float:
    """Return what a test takes under `--fast`."""
    share = FAST_EXAMPLES / EXAMPLES if item.get_closest_marker("property") else 1
    return known.get(item.nodeid, 0.0) * share


def _processor_time_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _stop_first_measurement(config: pytest.Config) -> None:
    """Stop what pytest-cov starts in a worker of pytest-xdist before it knows that it is one.

    It would continue in addition to the measurement of the worker, and its data is not used: tests
    would be traced twice, and those that are not to be traced once.
    """
    measurement = _controller(config)
    if measurement is not None:
        measurement.pause()


def _controller(config: pytest.Config) -> Any:
    """Return what starts and stops the measurement of pytest-cov; None if nothing is measured."""
    return getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)


def _runs_tests(config: pytest.Config) -> bool:
    """Return whether this process runs tests: the parent of workers does not."""
    return hasattr(config, "workerinput") or not config.getoption("numprocesses", default=None)


class _LeavingOut:
    """Without the tests of the file."""

    def pytest_collection_modifyitems(self, config, items):
        slow = left_out(items)
        config.hook.pytest_deselected(items=slow)
        names = {item.nodeid for item in slow}
        items[:] = [item for item in items if item.nodeid not in names]


class Measuring:
    """Coverage is measured of the tests below some paths, but for those that take long.

    While it is measured, all Python code takes two to five times its time, also what coverage does
    not count: so it is measured while modules are imported, such tests run and their fixtures are
    set up, but not while tests are collected, distributed and reported.
    """

    def __init__(self, paths: tuple[str, ...], runs_tests: bool) -> None:
        self.paths = paths
        self.runs_tests = runs_tests
        self.controller: Any = None

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session):
        self.controller = _controller(session.config)
        if self.controller is not None:
            if self.runs_tests:
                _import_all()
            self.controller.pause()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items):
        seconds = slow_tests()
        for item in items:
            name = item.nodeid
            if name.startswith(self.paths) and seconds.get(name, 0.0) < MEASURED_S:
                item.add_marker("measured")

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_fixture_setup(self, fixturedef, request):
        is_shared = fixturedef.scope != "function"
        with self._measured(is_shared or _is_measured(request.node)):
            return (yield)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        with self._measured(_is_measured(item)):
            return (yield)

    @contextmanager
    def _measured(self, is_measured: bool) -> Iterator[None]:
        if self.controller is None or not is_measured or self.controller.started:
            yield
            return
        self.controller.resume()
        try:
            yield
        finally:
            self.controller.pause()


def _is_measured(test: pytest.Item) -> bool:
    return test.get_closest_marker("measured") is not None


def _import_all() -> None:
    """Import what coverage is measured of: tests would import it while nothing is measured."""
    for package in map(importlib.import_module, MEASURED):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


class _Recording:
    def __init__(self, is_parent: bool) -> None:
        self.is_parent = is_parent
        self.seconds: dict[str, float] = {}

        self.begun = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        self.begun = _processor_time_s()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item):
        try:
            return (yield)
        finally:
            item.user_properties.append(("processor_time_s", _processor_time_s() - self.begun))

    def pytest_runtest_logreport(self, report):
        if report.when == "teardown":
            self.seconds[report.nodeid] = dict(report.user_properties).get("processor_time_s", 0.0)

    def pytest_sessionfinish(self):
        if self.is_parent:
            slow = sorted(name for name, took in self.seconds.items() if took >= SLOW_S)
            lines = [f"{self.seconds[name]:.2f} {name}\n" for name in slow]
            FILE.write_text("".join(lines), encoding="utf-8")
