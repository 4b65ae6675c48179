"""A service on a store of its own, and methods that misbehave in its processes."""

from __future__ import annotations

from pathlib import Path

import pytest

import tests.batch.conftest  # it withdraws the methods that their module registers
from dlopt import registry
from tests.method_table import MethodTable
from tests.serve.jobs.stuck_methods import METHODS

assert tests.batch.conftest.NAUGHTY

AT_START = """
import tests.batch.misbehaving_methods
from tests.serve.jobs.stuck_methods import register_own
register_own()
"""


@pytest.fixture
def misbehaving(method_table: MethodTable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let the service and its processes have the methods: no request can import any."""
    for name, function in METHODS.items():
        registry.register("iit", name, function, objectives=("completion",))
    home = tmp_path / "at-start"
    home.mkdir()
    (home / "sitecustomize.py").write_text(AT_START)
    monkeypatch.syspath_prepend(home)
