"""What is left of jobs when the service ends, on request or by SIGKILL."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs import job_dispatcher
from dlopt.serve.jobs.event_history import Event
from dlopt.serve.jobs.job_records import JobRecords
from dlopt.serve.jobs.job_request_reader import read_job_request
from dlopt.serve.jobs.job_retention import JobRetention
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store
from tests.gates import PATIENCE
from tests.serve.jobs.services import (
    assert_checked,
    ended,
    hard,
    run,
    service_on,
    submitted,
    three_nodes,
    until,
)


def test_a_server_that_is_killed(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tests.serve.jobs.killed_server", str(tmp_path)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        running, *waiting = server.stdout.readline().split()
        server.kill()
        assert server.wait(PATIENCE) == -signal.SIGKILL

    async def test() -> None:
        async with service_on(tmp_path) as service:
            status = service.status(running).body
            assert status["state"] == "interrupted"
            assert status["reason"] == "the server ended while the job was running"
            assert status["progress"]["value"] is not None and status["ended_at"] is not None
            assert_checked(hard("dag"), service.result(running).body)
            events = [event async for event in await service.events(running)]
            assert [event["event"] for event in events] == ["progress", "ended"]
            known = events[0]["id"]  # a reader that knew so much gets the rest
            rest = [event async for event in await service.events(running, after=known)]
            assert [event["event"] for event in rest] == ["ended"]
            begun = []
            for job in waiting:
                status = await ended(service, job)
                assert status["state"] == "done"
                begun.append(status["started_at"])
            assert begun == sorted(begun)

    run(test)


def test_a_service_that_stops_and_starts(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            running = await submitted(service, {"instance": hard("dag")})
            await until(service, running, "progress")
            urgent = three_nodes("epr", priority=1)
            waiting = [await submitted(service, q) for q in (three_nodes("opr"), urgent)]
        async with service_on(tmp_path) as service:
            status = service.status(running).body
            assert status["state"] == "interrupted"
            assert status["reason"] == "the service was stopped while the job was running"
            assert_checked(hard("dag"), service.result(running).body)
            begun = [(await ended(service, job))["started_at"] for job in waiting]
            assert begun[1] < begun[0]

    run(test)


def test_a_service_that_starts_while_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It answers what can be read, and stores the rest once there is room."""
    monkeypatch.setattr(job_dispatcher, "ANSWER_TO_CANCEL_S", 0.01)
    monkeypatch.setattr(job_dispatcher, "RETRY_S", 0.001)
    disk_full, end = UnavailableError("the store failed: disk full"), JobRecords.end
    is_full = True
    asked = read_job_request(three_nodes("opr"), ServiceSettings(store=""), {}.get)
    running, queued = "a" * 32, "b" * 32
    with Store(f"sqlite:///{tmp_path}/jobs.db") as store:
        records = JobRecords(store)
        records.add(running, asked, "", now=0.0)
        records.start(running, now=1.0, last_event=2)
        records.add(queued, asked, "", now=0.0)

    def end_if_there_is_room(records: JobRecords, *args: Any) -> Event:
        if is_full:
            raise disk_full
        return end(records, *args)

    def no_room(*_: object) -> None:
        raise disk_full

    monkeypatch.setattr(JobRecords, "end", end_if_there_is_room)
    monkeypatch.setattr(JobRetention, "expired", no_room)

    async def test() -> None:
        nonlocal is_full
        async with service_on(tmp_path) as service:
            assert service.status(running).body["state"] == "running"
            with pytest.raises(UnavailableError, match="its end is not stored yet"):
                await service.cancel(running)
            is_full = False
            assert (await ended(service, running))["state"] == "interrupted"
            assert (await ended(service, queued))["state"] == "done"

    run(test)
    assert "old jobs cannot be removed" in caplog.text
