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


def register(config: pytest.Config) -> None:
    """Add what the options ask for; a worker of pytest-xdist measures, and its parent writes."""
    if config.getoption("fast"):
        config.pluginmanager.register(_Skipping())
    if config.getoption("record_slow"):
        config.pluginmanager.register(_Recording(is_parent=not hasattr(config, "workerinput")))


def slow_tests() -> set[str]:
    """Return the tests of the file."""
    return {line.split(" ", 1)[1] for line in FILE.read_text(encoding="utf-8").splitlines()}


def _processor_time_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


class _Skipping:
    def pytest_collection_modifyitems(self, config, items):
        left_out = slow_tests()
        slow = [item for item in items if item.nodeid in left_out]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item.nodeid not in left_out]


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
