"""Jobs that are cancelled, that overrun their limits, and whose process dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

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
            told = service.status(job).body["progress"]
            answer = await service.cancel(job)
            assert answer.body["state"] == "cancelled"
            assert answer.body["reason"] == "cancelled by a client"
            result = answer.body["result"]
            assert result == service.result(job).body
            assert_checked(hard(stem), result)
            assert told["value"] is not None and result["value"] is not None
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
