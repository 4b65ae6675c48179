"""Jobs that are cancelled, that overrun their limits, and whose process dies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from dlopt.serve.errors import NotFoundError, UnavailableError
from dlopt.serve.jobs import job_dispatcher, job_runner
from dlopt.serve.jobs.job_records import JobInput, JobRecords
from dlopt.serve.jobs.job_service import JobService
from dlopt.serve.jobs.worker_handle import WorkerHandle
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
    return [pid for pid in pids if b"worker_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


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


def test_a_process_that_is_killed_leaves_no_bound_that_is_not_certified(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, {"instance": hard("dag"), "certified": True})
            async for sent in await service.events(job):
                if sent["event"] == "progress" and sent["data"]["bound"] is not None:
                    break
            (pid,) = processes_of_jobs()
            os.kill(pid, signal.SIGKILL)
            assert (await ended(service, job))["state"] == "failed"
            result, progress = service.result(job).body, service.status(job).body["progress"]
            assert_checked(hard("dag"), result)
            assert result["status"] == "feasible" and result["value"] == progress["value"]
            assert result["bound"] is result["proof"] is None
            claimed = "certified: certificates are checked at the end of the search"
            assert result["reason"].endswith(claimed)

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
        ("sticks", "it exceeded its time limit of 0.1 s by 1 s"),
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
    requests = {
        "compare": {"kind": "compare", "instance": hard("dag"), "methods": ["exact"]},
        "falsify": {"kind": "falsify", "problem": "iit", "method": "opr"},
    }

    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, requests[kind])
            await until(service, job, "started")
            answer = await service.cancel(job)
            assert answer.body["state"] == "cancelled" and answer.body["result"] is None

    run(test)


class BrokenStore(Store):
    """A store that can neither be read nor written while it has a fault.

    `event_loop` is set to the thread of the event loop, in which no transaction may be made.
    """

    fault: Exception | None = None
    event_loop = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        assert threading.get_ident() != self.event_loop, "the event loop waits for the database"
        if self.fault is not None:
            raise self.fault
        with super().reading() as connection:  # as each transaction does
            yield connection


@contextlib.asynccontextmanager
async def service_with_store(folder: Path) -> AsyncIterator[tuple[JobService, BrokenStore]]:
    settings = ServiceSettings(f"sqlite:///{folder}/jobs.db")
    with BrokenStore(settings.store) as store:
        service = JobService(store, settings)
        await service.start()
        try:
            yield service, store
        finally:
            await service.stop()


def test_the_event_loop_never_waits_for_the_database(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_with_store(tmp_path) as (service, store):
            store.event_loop = threading.get_ident()
            job = (await service.submit(three_nodes("opr"))).body["id"]
            names = [event["event"] async for event in await service.events(job)]
            assert names[:2] == ["queued", "started"] and names[-1] == "ended"
            again = [event["event"] async for event in await service.events(job)]
            assert again == names
            assert (await service.submit(three_nodes("opr"))).status == 200
            assert (await service.cancel(job)).body["result"]["value"] == "32/5"
            running = (await service.submit({"instance": hard("dag")})).body["id"]
            await until(service, running, "started")
        async with service_with_store(tmp_path) as (service, store):
            store.event_loop = threading.get_ident()
            with pytest.raises(NotFoundError):
                await service.plot("0" * 32)

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_a_job_whose_end_can_never_be_stored_fails_and_the_next_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))

    async def test() -> None:
        async with service_with_store(tmp_path) as (service, store):
            job = await submitted(service, three_nodes("gated"))
            await until(service, job, "started")
            events = await service.events(job, after=2)
            store.fault = ZeroDivisionError("by the store")
            # Its status cannot be read either: only that it has ended is known.
            with pytest.raises(ZeroDivisionError):
                await service.cancel(job)
            assert [event async for event in events] == []
            store.fault = None
            other = await submitted(service, three_nodes("opr"))
            assert (await ended(service, other))["state"] == "done"

    run(test)
    assert "the end of job" in caplog.text and "by the store" in caplog.text


def test_a_runner_that_fails_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(job_dispatcher, "RETRY_S", 0.001)
    start, failures = WorkerHandle.start, asyncio.Event()

    async def fail(memory_mb: int) -> WorkerHandle:
        failures.set()
        raise ZeroDivisionError("by the start")

    async def test() -> None:
        monkeypatch.setattr(WorkerHandle, "start", fail)
        async with service_on(tmp_path) as service:
            job = await submitted(service, three_nodes("opr"))
            await failures.wait()
            while service.trouble is None:
                await asyncio.sleep(0)
            assert service.trouble == "ZeroDivisionError: by the start"
            monkeypatch.setattr(WorkerHandle, "start", start)
            assert (await ended(service, job))["state"] == "done"
            assert service.trouble is None

    run(test)
    assert "a runner of jobs failed" in caplog.text


def test_a_job_whose_request_cannot_be_read_waits_until_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "RETRY_S", 0.001)
    read, is_lost, attempts = JobRecords.input, True, 0

    def fail_at_times(records: JobRecords, job: str) -> JobInput:
        nonlocal attempts
        attempts += 1
        if is_lost:
            raise UnavailableError("the store failed: no route to host")
        return read(records, job)

    async def test() -> None:
        nonlocal is_lost
        monkeypatch.setattr(JobRecords, "input", fail_at_times)
        async with service_on(tmp_path) as service:
            job = await submitted(service, three_nodes("opr"))
            while attempts < 3:
                await asyncio.sleep(0)
            assert service.status(job).body["state"] == "queued"
            assert (await service.cancel(job)).body["state"] == "cancelled"
            job = await submitted(service, three_nodes("opr"))
            is_lost = False
            assert (await ended(service, job))["state"] == "done"

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_a_job_whose_end_cannot_be_stored_ends_once_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))

    async def test() -> None:
        async with service_with_store(tmp_path) as (service, store):
            job = await submitted(service, three_nodes("gated"))
            await until(service, job, "started")
            events = await service.events(job, after=2)
            store.fault = UnavailableError("the store failed: disk full")
            with pytest.raises(UnavailableError, match="its end is not stored yet: ask again"):
                await service.cancel(job)
            with pytest.raises(UnavailableError, match="disk full"):
                await service.submit(three_nodes("opr"))
            store.fault = None
            assert [event["event"] async for event in events] == ["ended"]
            assert service.status(job).body["state"] == "cancelled"
            other = await submitted(service, three_nodes("opr"))
            assert (await ended(service, other))["state"] == "done"
            await service.stop()
            with pytest.raises(UnavailableError, match="about to stop"):
                await service.submit(three_nodes("opr"))

    run(test)
