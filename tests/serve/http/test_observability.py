"""Metrics, logs and health."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from dlopt.serve import observability
from dlopt.serve.app import create_app
from dlopt.serve.errors import UnavailableError
from dlopt.serve.observability import (
    HEALTH_INTERVAL_S,
    HealthMonitor,
    JsonLines,
    log_to_standard_error,
)
from dlopt.serve.settings import ServiceSettings
from tests.serve.http.fakes import FakeBooks, FakeJobs, opening


def samples(client: TestClient) -> dict[tuple[str, ...], float]:
    """Return the values of all metrics by their names and labels."""
    text = client.get("/metrics").text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_decisions_commits_and_jobs_are_counted(
    client: TestClient, books: FakeBooks
) -> None:
    client.post("/v1/books/main/submit", json={})
    client.post("/v1/books/main/submit", json={})
    books.raises = UnavailableError("disk full")
    client.post("/v1/books/main/submit", json={})
    client.get("/nothing")
    found = samples(client)
    assert found["dlopt_requests_total", "book_submit", "200"] == 2
    assert found["dlopt_requests_total", "book_submit", "503"] == 1
    assert found["dlopt_requests_total", "unknown", "404"] == 1
    assert found["dlopt_request_seconds_count", "book_submit"] == 3
    assert found["dlopt_decisions_total", "true"] == 2
    assert found["dlopt_decisions_total", "false"] == 0
    assert found["dlopt_jobs", "running"] == 1
    assert found["dlopt_jobs", "queued"] == 0
    assert (found["dlopt_commits_total",], found["dlopt_records_total",]) == (2, 3)


def test_two_services_in_one_process_count_apart(serving: Callable[..., TestClient]) -> None:
    one, other = serving(), create_app(ServiceSettings("sqlite:///unused.db"))
    one.get("/v1/books")
    assert "list_books" in one.app.state.application.metrics.text().decode()  # type: ignore[attr-defined]
    assert "list_books" not in other.state.application.metrics.text().decode()


def test_health(client: TestClient) -> None:
    answer = client.get("/healthz").json()
    assert answer["status"] == "ok"
    assert answer["parts"]["store"] == "ok"


def test_books_that_cannot_be_written(client: TestClient, books: FakeBooks) -> None:
    books.is_alive = False
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["parts"] == {
        "store": "ok",
        "books": "changes cannot be stored",
        "jobs": "ok",
    }


def test_jobs_that_cannot_be_run(client: TestClient, jobs: FakeJobs) -> None:
    jobs.trouble = "a worker process cannot be started: OSError: no memory"
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["jobs"] == jobs.trouble


def test_the_store_is_looked_at_once_however_often_health_is_asked_for(client: TestClient) -> None:
    store = client.app.state.application.services.store  # type: ignore[attr-defined]
    looks = []
    store.check = lambda: looks.append(1)
    begun = time.monotonic()
    for _ in range(20):
        assert client.get("/healthz").json()["parts"]["store"] == "ok"
    assert len(looks) <= 1 + (time.monotonic() - begun) / HEALTH_INTERVAL_S


def test_other_work_does_not_keep_health_from_being_told(
    tmp_path: Path, books: FakeBooks, jobs: FakeJobs
) -> None:
    async def test() -> None:
        loop, go_on = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        busy = loop.run_in_executor(None, go_on.wait)
        settings = ServiceSettings(f"sqlite:///{tmp_path}/a.db")
        async with opening(books, jobs)(settings, time.time) as services:
            assert (await HealthMonitor().parts(services))["store"] == "ok"
        go_on.set()
        await busy

    asyncio.run(test())


def test_a_store_that_fails(client: TestClient) -> None:
    client.app.state.application.services.store.close()  # type: ignore[attr-defined]
    store = client.app.state.application.services.store  # type: ignore[attr-defined]

    def fail() -> None:
        raise UnavailableError("the store failed: disk I/O error")

    store.check = fail
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json()["parts"]["store"] == "the store failed: disk I/O error"


def test_a_store_that_does_not_answer(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observability, "HEALTH_TIME_S", 0.01)
    store = client.app.state.application.services.store  # type: ignore[attr-defined]
    store.check = lambda: time.sleep(0.2)
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "failing")


def test_logs_are_lines_of_json(capsys: pytest.CaptureFixture[str]) -> None:
    loggers = [logging.getLogger(name) for name in ("dlopt", "uvicorn", "asyncio")]
    before = [(logger.handlers[:], logger.propagate, logger.level) for logger in loggers]
    try:
        log_to_standard_error(logging.DEBUG)
        log = logging.getLogger("dlopt.serve.app")
        log.info("two\nlines \x1b[31m", extra={"request_id": "7", "seconds": 0.5})
        try:
            raise ZeroDivisionError("by zero")
        except ZeroDivisionError:
            log.exception("unexpected")
        logging.getLogger("asyncio").debug("not shown")
    finally:
        for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first["message"] == "two\nlines \\x1b[31m"
    assert (first["request_id"], first["seconds"], first["level"]) == ("7", 0.5, "info")
    assert second["error"] == "ZeroDivisionError: by zero"
    assert "Traceback" in second["traceback"]
    assert JsonLines().format(logging.makeLogRecord({"msg": "a"})).count("\n") == 0
