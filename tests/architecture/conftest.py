"""Sources are parsed once for all tests of a module, and are not kept for longer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.architecture.measures import nodes_of, parsed


@pytest.fixture(scope="module", autouse=True)
def _release_sources() -> Iterator[None]:
    """Release millions of objects, which every pass of the garbage collector would visit."""
    yield
    parsed.cache_clear()
    nodes_of.cache_clear()
