"""A store for the log of a broker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dlopt.serve.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path}/broker.db") as store:
        yield store
