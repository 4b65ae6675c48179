"""Sources are parsed once for all tests of a module, and are not kept for longer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.architecture.measures import parsed


@pytest.fixture(scope="module", autouse=True)
def _sources_are_forgotten() -> Iterator[None]:
    """Forget millions of objects, over which the collector of garbage would pass ever again."""
    yield
    parsed.cache_clear()
