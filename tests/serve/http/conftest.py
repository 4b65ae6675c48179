from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dlopt.serve.app import create_app
from dlopt.serve.settings import ServiceSettings
from tests.serve.http.fakes import FakeBooks, FakeJobs, opening

ADDRESS = "http://127.0.0.1:8321"


@pytest.fixture
def books() -> FakeBooks:
    return FakeBooks()


@pytest.fixture
def jobs() -> FakeJobs:
    return FakeJobs()


@pytest.fixture
def serving(
    tmp_path: Path, books: FakeBooks, jobs: FakeJobs
) -> Iterator[Callable[..., TestClient]]:
    """Return what starts a service with some settings and gives a client of it."""
    with contextlib.ExitStack() as running:

        def start(**settings: object) -> TestClient:
            chosen = ServiceSettings(f"sqlite:///{tmp_path}/service.db", **settings)  # type: ignore[arg-type]
            app = create_app(chosen, open_services=opening(books, jobs))
            return running.enter_context(TestClient(app, base_url=ADDRESS))

        yield start


@pytest.fixture
def client(serving: Callable[..., TestClient]) -> TestClient:
    return serving()
