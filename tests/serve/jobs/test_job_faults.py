"""Jobs that are cancelled, that overrun their limits, and whose process dies."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.job_service import JobService
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store
from tests.gates import Gate
from tests.serve.jobs.services import (
    assert_checked,
    ended,
    hard,
    run,
    service_on,
    shipped,
    submitted,
    three_nodes,
    until,
)

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="no /proc")


def processes_of_jobs() -> list[int]:
    """Return the numbers of the processes that this one has for jobs, without supervisors."""
    own = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    supervisors = [pid for file in own for pid in file.read_text().split()]
    inner = [Path(f"/proc/{pid}/task/{pid}/children").read_text() for pid in supervisors]
    pids = [int(pid) for text in inner for pid in text.split()]
    return [pid for pid in pids if b"job_process" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.mark.parametrize("stem", ["dag", "coreservation", "admission", "bag"])
def test_a_running_job_is_cancelled(tmp_path: Path, stem: str) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, {"instance": hard(stem)})
            await until(service, job, "progress")
            progress = service.status(job).body["progress"]
            answer = await service.cancel(job)
            assert answer.body["state"] == "cancelled"
            assert answer.body["reason"] == "cancelled by a client"
            result = answer.body["result"]
            assert result == service.result(job).body
            assert_checked(hard(stem), result)
            assert progress["value"] is not None and result["value"] is not None
            again = await service.submit({"instance": hard(stem)})  # it is no answer
            assert again.status == 202

    run(test)


def test_a_process_that_is_killed_loses_nothing_that_was_told(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, {"instance": hard("dag")})
            await until(service, job, "progress")
            (pid,) = processes_of_jobs()
            os.kill(pid, signal.SIGKILL)
            status = await ended(service, job)
            assert status["state"] == "failed"
            assert status["reason"].startswith("its process was killed by SIGKILL")
            assert_checked(hard("dag"), service.result(job).body)

            job = await submitted(service, three_nodes("opr"))  # another process is at work
            assert (await ended(service, job))["state"] == "done"
            (idle,) = processes_of_jobs()
            assert idle != pid
            os.kill(idle, signal.SIGKILL)  # between two jobs: neither notices
            job = await submitted(service, three_nodes("epr"))
            assert (await ended(service, job))["state"] == "done"

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_what_cannot_stop_is_ended_with_what_it_has_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, go_on = Gate(tmp_path / "gate"), tmp_path / "go-on"
    os.mkfifo(go_on)
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))
    monkeypatch.setenv("DLOPT_TEST_GO_ON", str(go_on))

    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, three_nodes("offers-and-sticks"))
            await until(service, job, "progress")
            go_on.write_bytes(b"!")
            assert gate.read() == b"!"  # it is stuck
            answer = await service.cancel(job)
            assert answer.body["state"] == "cancelled"
            assert_checked(shipped("iit/three-nodes"), answer.body["result"])
            job = await submitted(service, three_nodes("opr"))
            assert (await ended(service, job))["state"] == "done"

    run(test)


@pytest.mark.usefixtures("misbehaving")
@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("hungry", "out of memory, of 600 MB"),
        ("abort", "out of memory, of 600 MB: terminate called"),
        ("leave", "its process ended with code 3"),
        ("quits", "quits failed: it ends the program, with 0"),
        ("wrong", "wrong failed: ZeroDivisionError: by <nodes>"),
        ("picky", "not today"),
        ("late", "the result of late is invalid"),
        ("wordy", "wordy failed: ValueError: xxx"),
        ("mute", "its text cannot be shown"),
        ("sticks", "ended 1 s after its time limit of 0.1 s"),
    ],
)
def test_a_method_that_misbehaves_fails_and_the_next_job_does_not(
    tmp_path: Path, method: str, reason: str
) -> None:
    async def test() -> None:
        async with service_on(tmp_path, job_memory_mb=600) as service:
            job = await submitted(service, three_nodes(method, limits={"time_s": 0.1}))
            status = await ended(service, job)
            assert status["state"] == "failed" and reason in status["reason"]
            job = await submitted(service, three_nodes("opr"))
            assert (await ended(service, job))["state"] == "done"
            assert len(processes_of_jobs()) == 1

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_what_a_method_prints_and_forks_is_no_answer(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            for method in ("chatty", "twice"):
                job = await submitted(service, three_nodes(method))
                assert (await ended(service, job))["state"] == "done"
                assert service.result(job).body["value"] == 9

    run(test)


@pytest.mark.parametrize("kind", ["compare", "falsify"])
def test_kinds_without_a_plan_are_ended_at_once(tmp_path: Path, kind: str) -> None:
    questions = {
        "compare": {"kind": "compare", "instance": hard("dag"), "methods": ["exact"]},
        "falsify": {"kind": "falsify", "problem": "iit", "method": "opr"},
    }

    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, questions[kind])
            await until(service, job, "started")
            answer = await service.cancel(job)
            assert answer.body["state"] == "cancelled" and answer.body["result"] is None

    run(test)


class BrokenStore(Store):
    """A store that does nothing while it is broken, as on a full disk."""

    is_broken = False

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        if self.is_broken:
            raise UnavailableError("the store failed: disk full")
        with super().transaction() as connection:
            yield connection


@pytest.mark.usefixtures("misbehaving")
def test_a_job_whose_end_cannot_be_stored_ends_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))

    async def test() -> None:
        settings = ServiceSettings(f"sqlite:///{tmp_path}/jobs.db")
        with BrokenStore(settings.store) as store:
            service = JobService(store, settings)
            await service.start()
            job = await submitted(service, three_nodes("gated"))
            await until(service, job, "started")
            events = service.events(job, after=2)
            store.is_broken = True
            with pytest.raises(UnavailableError, match="is not stored yet"):
                await service.cancel(job)
            with pytest.raises(UnavailableError, match="disk full"):
                await service.submit(three_nodes("opr"))
            store.is_broken = False
            assert [event["event"] async for event in events] == ["ended"]
            assert service.status(job).body["state"] == "cancelled"
            other = await submitted(service, three_nodes("opr"))
            assert (await ended(service, other))["state"] == "done"
            await service.stop()
            with pytest.raises(UnavailableError, match="about to stop"):
                await service.submit(three_nodes("opr"))

    run(test)
