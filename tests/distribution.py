"""Which process of pytest-xdist runs which tests: whole modules, those that take longest first.

What the tests of a module share (fixtures, instances, answers that are kept) is made in one process
and not in each. The distributions of pytest-xdist have no use of how long tests take; those that
distribute tests one by one make each process prepare what others have, and with so many tests they
search lists of finished ones for two milliseconds a test.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
from xdist.report import report_collection_diff
from xdist.workermanage import parse_tx_spec_config

from tests.slow_tests import slow_tests

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

TYPICAL_S = 0.015
"""What a test takes that is not in the list of slow ones, on average."""
AHEAD = 2
"""Tests that a process has while there are more: it runs one only when it knows the next."""


def module_of(nodeid: str) -> str:
    """Return the file of a test.

    Examples
    --------
    >>> module_of("tests/test_api.py::TestA::test_b[x::y]")
    'tests/test_api.py'
    """
    return nodeid.split("::", 1)[0]


def modules(collection: Sequence[str], seconds: dict[str, float]) -> list[list[int]]:
    """Return the places of the tests in the collection, by module; the longest module is first.

    Examples
    --------
    >>> modules(["a.py::x", "a.py::y", "b.py::x", "a.py::z"], {"b.py::x": 2.0})
    [[2], [0, 1, 3]]
    """
    parts: dict[str, list[int]] = {}
    lengths: dict[str, float] = {}
    for index, nodeid in enumerate(collection):
        module = module_of(nodeid)
        parts.setdefault(module, []).append(index)
        lengths[module] = lengths.get(module, 0.0) + seconds.get(nodeid, TYPICAL_S)
    return [parts[module] for module in sorted(parts, key=lambda module: -lengths[module])]


class ModuleScheduling:
    """A scheduler of pytest-xdist, with the methods of its `xdist.scheduler.protocol`."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        self.config = config
        self.numnodes = len(parse_tx_spec_config(config))
        self.collections: dict[WorkerController, list[str]] = {}
        self.collection: list[str] | None = None
        self.waiting: deque[list[int]] = deque()
        self.pending: dict[WorkerController, dict[int, None]] = {}

    @property
    def nodes(self) -> list[WorkerController]:
        return list(self.pending)

    @property
    def collection_is_completed(self) -> bool:
        return len(self.collections) >= self.numnodes

    @property
    def tests_finished(self) -> bool:
        """Return whether no process has a test beyond the one that it may be running."""
        few = all(len(tests) < AHEAD for tests in self.pending.values())
        return self.collection_is_completed and not self.waiting and few

    @property
    def has_pending(self) -> bool:
        return bool(self.waiting) or any(self.pending.values())

    def add_node(self, node: WorkerController) -> None:
        self.pending[node] = {}

    def add_node_collection(self, node: WorkerController, collection: Sequence[str]) -> None:
        self.collections[node] = list(collection)
        if self.collection is not None and self._differs(node, self.collection):
            del self.pending[node]  # it gets no tests: their numbers would mean others
            node.shutdown()

    def schedule(self) -> None:
        """Distribute; called when all have collected, and again when one that replaces has."""
        if self.collection is None:
            if not self._all_collected_the_same():
                return
            self.collection = next(iter(self.collections.values()))
            self.waiting.extend(modules(self.collection, slow_tests()))
        for node in self.nodes:
            self._send(node)

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        del self.pending[node][item_index]
        self._send(node)

    def remove_node(self, node: WorkerController) -> str | None:
        """Forget a process that ended; what it had, but for the test that ended it, waits again."""
        crashed, *left = self.pending.pop(node, {}) or [None]
        if crashed is None:
            return None
        assert self.collection is not None
        if left:
            self.waiting.appendleft(left)
        for other in self.nodes:
            self._send(other)
        return self.collection[crashed]

    def mark_test_pending(self, item: str) -> None:
        raise NotImplementedError

    def remove_pending_tests_from_node(
        self, node: WorkerController, indices: Sequence[int]
    ) -> None:
        raise NotImplementedError

    def _send(self, node: WorkerController) -> None:
        """Send modules until the process has enough to go on; it ends when no more are left."""
        if node.shutting_down:
            return
        while self.waiting and len(self.pending[node]) <= AHEAD:
            tests = self.waiting.popleft()
            self.pending[node].update(dict.fromkeys(tests))
            node.send_runtest_some(tests)
        if not self.waiting:
            node.shutdown()

    def _all_collected_the_same(self) -> bool:
        first, *others = self.collections
        return not sum(self._differs(node, self.collections[first]) for node in others)

    def _differs(self, node: WorkerController, expected: list[str]) -> bool:
        """Report if a process has collected other tests, or in another order."""
        message = report_collection_diff(
            expected, self.collections[node], "the others", node.gateway.id
        )
        if message:
            self._report(node.gateway.id, message)
        return bool(message)

    def _report(self, node: str, message: str) -> None:
        report = pytest.CollectReport(node, "failed", longrepr=message, result=[])
        self.config.hook.pytest_collectreport(report=report)
