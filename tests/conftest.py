"""Hypothesis: derandomised and bounded by default, heavy on demand; what it drives is marked."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal import entropy

from tests import slow_tests
from tests.collected_doctests import FilesWithDoctests
from tests.examples import EXAMPLES
from tests.method_table import own_method_table
from tests.remembered_strategies import remember
from tests.worker_messages import report_less

# A shell that runs the tests in the background has them ignore interrupts, and what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=QUIET,
)
settings.register_profile(
    "heavy", max_examples=3000, deadline=None, print_blob=True, suppress_health_check=QUIET
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Hypothesis would save, seed and restore the global generator of NumPy around each example, which
# takes a fifth of the time of a short one. Nothing here uses it: ruff (NPY002) sees to that.
entropy.NP_RANDOM = "is not managed"

remember()


# A tenth of the time of the tests went into looking for garbage among what is still in use, with
# the thresholds of Python (700, 10, 10), and a hundredth into the function that hypothesis has
# called at each collection, however small, with 2,000 in place of 10,000. Chosen by hand.
gc.set_threshold(10_000, 20, 10)
MODULES_BETWEEN_FREEZES = 25
"""Modules after which what they leave (instances and answers that are cached) is excluded from
garbage collection: benchmarks and services collect garbage whenever they start to measure or to
listen, and each pass takes about a second for a million objects. Chosen by hand."""
modules_run = 0


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Exclude the tests themselves, which exist to the end, from garbage collection.

    To look for garbage among them takes a second, and finds little.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_runtest_teardown(item, nextitem):
    """Exclude what tests have cached from garbage collection, from time to time."""
    global modules_run
    if nextitem is not None and nextitem.path != item.path:
        modules_run += 1
        if modules_run % MODULES_BETWEEN_FREEZES == 0:
            gc.collect()
            gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark every test that hypothesis drives, so that none is forgotten, before `-m` selects."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("property")


@pytest.fixture
def method_table(monkeypatch):
    """The table of methods, which the test may change: the next one sees that of dlopt again."""
    return own_method_table(monkeypatch)


def pytest_addoption(parser):
    slow_tests.add_options(parser.getgroup("dlopt"))


def pytest_configure(config):
    slow_tests.register(config)
    config.pluginmanager.register(FilesWithDoctests())
    report_less(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Return one process more than there are processors: a fifth of the time goes into waiting."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Distribute whole modules, the longest first, where whole modules are asked for."""
    if config.getoption("dist") == "loadfile":
        from tests.distribution import ModuleScheduling

        return ModuleScheduling(config, log)
    return None
