"""The scheduler of the tests: every test once, a module in one process, the longest first."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests import distribution
from tests.distribution import AHEAD, ModuleScheduling, module_of
from tests.instance_files import ROOT

SECONDS = {"b.py::1": 9.0, "c.py::3": 20.0}
TESTS = [f"{module}.py::{k}" for module in "abc" for k in range(5)]
TESTS += [f"d.py::{k}" for k in range(6)]
FIRST_TO_LAST = ["c.py", "b.py", "d.py", "a.py"]
"""Of two modules with short tests alone, one has more of them."""


class FakeNode:
    """A process that collected the tests, and notes what it is sent."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.queue: list[int] = []
        self.shutting_down = False

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True


class FakeHook:
    """Notes what was reported."""

    def __init__(self) -> None:
        self.reports: list[pytest.CollectReport] = []

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.reports.append(report)


@pytest.fixture
def scheduling(monkeypatch) -> ModuleScheduling:
    monkeypatch.setattr(distribution, "slow_tests", lambda: SECONDS)
    monkeypatch.setattr(distribution, "parse_tx_spec_config", lambda config: config.specs)
    return ModuleScheduling(SimpleNamespace(specs=["popen"] * 2, hook=FakeHook()))


def started(scheduling: ModuleScheduling, tests=TESTS) -> list[FakeNode]:
    nodes = [FakeNode(name) for name in scheduling.config.specs]
    for node in nodes:
        scheduling.add_node(node)
        scheduling.add_node_collection(node, tests)
    scheduling.schedule()
    return nodes


def run_one(scheduling: ModuleScheduling, node: FakeNode) -> str:
    """Run what the process has to run next; it must know what follows, or that nothing does."""
    assert len(node.queue) >= AHEAD or node.shutting_down
    index = node.queue.pop(0)
    scheduling.mark_test_complete(node, index)
    return TESTS[index]


def run_all(scheduling: ModuleScheduling, nodes: list[FakeNode]) -> list[tuple[str, str]]:
    """Run all, in turn, and return each process with what it ran."""
    ran = []
    while not scheduling.tests_finished or any(node.queue for node in nodes):
        for node in nodes:
            if node.queue:
                ran.append((node, run_one(scheduling, node)))
    assert not scheduling.has_pending
    assert all(node.shutting_down for node in nodes)
    return ran


def test_every_test_runs_once_and_a_module_in_one_process(scheduling) -> None:
    ran = run_all(scheduling, started(scheduling))
    assert sorted(test for _, test in ran) == sorted(TESTS)
    for module in FIRST_TO_LAST:
        assert len({node for node, test in ran if module_of(test) == module}) == 1
    assert len({node for node, _ in ran}) == 2


def test_modules_begin_by_their_length(scheduling) -> None:
    ran = run_all(scheduling, started(scheduling))
    assert list(dict.fromkeys(module_of(test) for _, test in ran)) == FIRST_TO_LAST


def test_what_a_process_that_ends_had_is_run_by_others_but_for_the_test_that_ended_it(
    scheduling,
) -> None:
    ended, other = started(scheduling)
    first, crashed = run_one(scheduling, ended), TESTS[ended.queue[0]]
    assert scheduling.remove_node(ended) == crashed
    ran = [test for _, test in run_all(scheduling, [other])]
    assert sorted([first, crashed, *ran]) == sorted(TESTS)


def test_a_process_that_replaces_another_takes_over(scheduling) -> None:
    nodes = started(scheduling)
    ran = [run_one(scheduling, nodes[0])]
    ran += [scheduling.remove_node(node) for node in nodes]
    assert scheduling.has_pending and not scheduling.tests_finished
    late = FakeNode("late")
    scheduling.add_node(late)
    scheduling.add_node_collection(late, TESTS)
    scheduling.schedule()
    ran += [test for _, test in run_all(scheduling, [late])]
    assert sorted(ran) == sorted(TESTS)


def test_a_process_that_replaces_another_and_collected_other_tests_runs_none(scheduling) -> None:
    nodes = started(scheduling)
    ended = scheduling.remove_node(nodes[0])
    late = FakeNode("late")
    scheduling.add_node(late)
    scheduling.add_node_collection(late, TESTS[::-1])
    scheduling.schedule()
    assert late.shutting_down and not late.queue
    (report,) = scheduling.config.hook.reports
    assert report.outcome == "failed" and TESTS[0] in report.longrepr
    ran = [test for _, test in run_all(scheduling, [nodes[1]])]
    assert sorted([ended, *ran]) == sorted(TESTS)
    assert scheduling.remove_node(late) is None


def test_a_process_that_ends_with_nothing_left_ended_no_test(scheduling) -> None:
    nodes = started(scheduling)
    run_all(scheduling, nodes)
    assert [scheduling.remove_node(node) for node in nodes] == [None, None]


def test_a_process_without_tests_ends(scheduling) -> None:
    nodes = started(scheduling, [])
    assert scheduling.tests_finished and all(node.shutting_down for node in nodes)


def test_processes_that_collected_different_tests_run_none(scheduling) -> None:
    nodes = [FakeNode("one"), FakeNode("other")]
    for node, tests in zip(nodes, (TESTS, TESTS[1:]), strict=True):
        scheduling.add_node(node)
        scheduling.add_node_collection(node, tests)
    scheduling.schedule()
    (report,) = scheduling.config.hook.reports
    assert report.outcome == "failed" and TESTS[0] in report.longrepr
    assert not any(node.queue for node in nodes) and scheduling.tests_finished


def test_tests_run_without_pytest_xdist_as_mutants_do() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-pno:xdist", "tests/examples.py"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
