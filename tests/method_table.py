"""The table of methods, for tests that add methods of their own or replace one.

Users only ever add methods: the library has no way to remove or replace one.
"""

from __future__ import annotations

import pytest

from dlopt import registry
from dlopt.registry import Method

MethodTable = dict[tuple[str, str], Method]


def own_method_table(patch: pytest.MonkeyPatch) -> MethodTable:
    """Let the registry use a copy of its table, which a test may change, until it ends."""
    table = dict(registry._METHODS)
    patch.setattr(registry, "_METHODS", table)
    return table


def withdraw(stem: str, name: str) -> Method:
    """Take a method out of the registry for good, and return it."""
    return registry._METHODS.pop((stem, name))
