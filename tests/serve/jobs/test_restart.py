"""What is left of jobs when the service ends, on request or by SIGKILL."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

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
