"""Jobs of every kind, what is reported of them, and answers that are given again."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.serve.errors import ConflictingStateError, NotFoundError, TooManyRequestsError
from dlopt.serve.jobs import job_service
from tests.gates import PATIENCE, Gate
from tests.serve.jobs.services import (
    assert_checked,
    ended,
    run,
    service_on,
    shipped,
    submitted,
    three_nodes,
    until,
)

WINDOWS = shipped("admission/two-tasks-one-channel")


def test_what_is_told_of_a_job(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, three_nodes("exact"))
            events = [event async for event in await service.events(job)]
            names = [event["event"] for event in events]
            assert names[:2] == ["queued", "started"] and names[-1] == "ended"
            assert [event["id"] for event in events] == list(range(1, len(events) + 1))
            assert [event async for event in await service.events(job, after=1)] == events[1:]

            status = service.status(job).body
            assert events[-1]["data"] == status and service.list().body == {"jobs": [status]}
            assert status["state"] == "done" and status["kind"] == "solve"
            assert status["method"] == "exact" and status["reason"] is None
            assert status["created_at"] <= status["started_at"] <= status["ended_at"]
            progress = status["progress"]
            assert (progress["value"], progress["bound"], progress["gap"]) == ("39/8", "39/8", 0)
            assert progress["seconds"] > 0

            result = service.result(job).body
            assert result["hash"] == status["hash"] and result["status"] == "optimal"
            assert_checked(shipped("iit/three-nodes"), result)

    run(test)


def test_every_kind(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            solved = await submitted(service, three_nodes("opr"))
            await ended(service, solved)
            result = service.result(solved).body
            hashed = result["hash"]

            job = await submitted(service, {"kind": "check", "hash": hashed, "solution": result})
            assert (await ended(service, job))["state"] == "done"
            assert service.result(job).body["valid"] is True
            wrong = result["solution"]["chunks"][:1]
            request = {"kind": "check", "hash": hashed, "solution": {"chunks": wrong}}
            job = await submitted(service, request)
            await ended(service, job)
            verdict = service.result(job).body
            assert verdict["valid"] is False and verdict["violations"][0]["resource"] == "load"

            request = {"kind": "compare", "hash": hashed, "methods": ["opr", "exact"]}
            job = await submitted(service, request)
            assert (await ended(service, job))["state"] == "done"
            rows = service.result(job).body["rows"]
            assert [(row["method"], row["value"]) for row in rows] == [
                ("opr", "32/5"),
                ("exact", "39/8"),
            ]

            request = {"kind": "falsify", "problem": "admission", "limits": {"work": 500}}
            job = await submitted(service, request | {"method": "edf-opr-mn:literal"})
            assert (await ended(service, job))["state"] == "done"
            assert service.result(job).body["kind"] == "channel-overlap"

    run(test)


def test_certificates(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            request = {"kind": "certificate", "instance": WINDOWS, "method": "bound-window-cuts"}
            job = await submitted(service, request)
            assert (await ended(service, job))["state"] == "done"
            assert service.result(job).body["bound"] == 1
            assert b"\nDER " in service.certificate(job)

            job = await submitted(service, three_nodes("opr", kind="certificate"))
            status = await ended(service, job)
            assert status["state"] == "failed" and "no certificate" in status["reason"]
            assert_checked(shipped("iit/three-nodes"), service.result(job).body)
            with pytest.raises(NotApplicableError, match="has no certificate"):
                service.certificate(job)

    run(test)


def test_bounds_only_with_certificates(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            around = {
                "instance": shipped("multistage/around-a-reservation"),
                "objective": "accepted-load",
            }
            around["instance"]["cluster"]["tau"] = 1.0  # decimals have no certificate by spans
            job = await submitted(service, {**around, "certified": True})
            assert (await ended(service, job))["state"] == "done"
            result = service.result(job).body
            assert [result[key] for key in ("status", "value", "bound")] == ["feasible", 5, 9]
            assert "a bound of 5 is claimed, not certified" in result["reason"]
            assert b"\nDER " in service.certificate(job)
            plain = await submitted(service, around)
            assert (await ended(service, plain))["state"] == "done"
            assert service.result(plain).body["status"] == "optimal"

            request = three_nodes("x", kind="compare", certified=True)
            request["methods"] = ["opr", "exact", "edf-iit-2"]
            request["options"] = {"opr.assignment": "all"}
            del request["method"]
            job = await submitted(service, request)
            assert (await ended(service, job))["state"] == "done"
            body = service.result(job).body
            assert body["certified"] is True
            assert [(row["status"], row["value"], row["bound"]) for row in body["rows"]] == [
                ("feasible", "157/19", None),
                ("optimal", "39/8", "39/8"),
                ("feasible", "39/8", None),
            ]

    run(test)


def test_drawings(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")

    async def test() -> None:
        async with service_on(tmp_path) as service:
            job = await submitted(service, three_nodes("opr"))
            await ended(service, job)
            drawing = await service.plot(job)
            assert drawing.startswith(b"<?xml") and b"</svg>" in drawing
            job = await submitted(service, {"instance": WINDOWS, "method": "bound-fluid"})
            await ended(service, job)
            with pytest.raises(NotApplicableError, match="no plan to be drawn"):
                await service.plot(job)

    run(test)


def test_answers_are_given_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            optimal = await submitted(service, three_nodes("exact"))
            hashed = (await ended(service, optimal))["hash"]
            for limits in ({}, {"time_s": 5}, {"gap": 0.5}):  # the optimum is the optimum
                again = await service.submit({"hash": hashed, "limits": limits}, owner="another")
                assert again.status == 200 and again.location == f"/v1/jobs/{optimal}"
                assert again.body == service.status(optimal).body

            plain = await submitted(service, {"hash": hashed, "method": "opr"})
            await ended(service, plain)
            again = await service.submit({"hash": hashed, "method": "opr", "priority": 3})
            assert again.body["id"] == plain
            for other in ({"limits": {"work": 5}}, {"seed": 1}):
                job = await submitted(service, {"hash": hashed, "method": "opr", **other})
                await ended(service, job)
            assert len(service.list().body["jobs"]) == 4
        async with service_on(tmp_path) as service:  # after a restart, too
            again = await service.submit(three_nodes("exact"))
            assert again.status == 200 and again.body["id"] == optimal
            assert service.result(optimal).body["value"] == "39/8"

    run(test)


def test_validation_makes_no_job(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            assert (await service.validate(three_nodes("exact"))).body == {"faults": []}
            for ask in (service.submit, service.validate):
                with pytest.raises(InvalidInstanceError) as refused:
                    await ask({"method": "opt", "seed": 0.5})
                assert {fault.path for fault in refused.value.faults} == {"instance", "seed"}
            assert service.list().body == {"jobs": []}

    run(test)


def test_validation_has_a_thread_of_its_own_and_a_queue_with_an_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_service, "MAX_REQUESTS_READ", 2)
    go_on = threading.Event()

    class SlowRequest(dict[str, object]):
        def get(self, *_: object) -> None:
            go_on.wait(PATIENCE)

    async def test() -> None:
        async with service_on(tmp_path) as service:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(ThreadPoolExecutor(1))
            busy = loop.run_in_executor(None, go_on.wait)  # as by large bodies
            assert (await service.validate(three_nodes("exact"))).body == {"faults": []}
            slow = [asyncio.create_task(service.validate(SlowRequest())) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(TooManyRequestsError, match="2 job requests are being validated"):
                await service.submit(three_nodes("exact"))
            go_on.set()
            await busy
            for task in slow:
                with pytest.raises(InvalidInstanceError):
                    await task
            assert (await service.validate(three_nodes("exact"))).body == {"faults": []}

    run(test)


def test_jobs_that_are_not_there(tmp_path: Path) -> None:
    async def test() -> None:
        async with service_on(tmp_path) as service:
            for ask in (service.status, service.result, service.certificate):
                for name in ("x", "", "0" * 32, "\0" * 32, "\ud800", "A" * 32):
                    with pytest.raises(NotFoundError, match="there is no job '"):
                        ask(name)
            with pytest.raises(NotFoundError):
                await service.events("x")
            with pytest.raises(NotFoundError):
                await service.plot("x")
            with pytest.raises(NotFoundError):
                await service.cancel("x")

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))

    async def test() -> None:
        async with service_on(tmp_path, queued_jobs=4) as service:
            running = await submitted(service, three_nodes("gated"))
            await until(service, running, "started")
            with pytest.raises(ConflictingStateError, match="is running"):
                service.result(running)
            jobs = [
                await submitted(service, three_nodes("opr", seed=seed, priority=priority), owner)
                for seed, (owner, priority) in enumerate(
                    [("Ann", 0), ("Ann", 0), ("Bob", 0), ("Ann", 1)]
                )
            ]
            with pytest.raises(TooManyRequestsError):
                await service.submit(three_nodes("opr", seed=9))
            with pytest.raises(ConflictingStateError, match="is queued"):
                service.result(jobs[1])

            cancelled = await service.cancel(running)
            assert cancelled.body["state"] == "cancelled"
            assert cancelled.body["result"]["status"] == "limit"
            begun = {job: (await ended(service, job))["started_at"] for job in jobs}
            assert sorted(jobs, key=begun.__getitem__) == [jobs[3], jobs[0], jobs[2], jobs[1]]

    run(test)


@pytest.mark.usefixtures("misbehaving")
def test_a_queued_job_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(tmp_path / "gate")
    monkeypatch.setenv("DLOPT_TEST_GATE", str(gate.path))

    async def test() -> None:
        async with service_on(tmp_path, queued_jobs=1) as service:
            running = await submitted(service, three_nodes("gated"))
            await until(service, running, "started")
            queued = await submitted(service, three_nodes("opr"))
            answer = await service.cancel(queued)
            assert answer.body["state"] == "cancelled" and answer.body["started_at"] is None
            assert [event["event"] async for event in await service.events(queued)] == [
                "queued",
                "ended",
            ]
            with pytest.raises(NotFoundError, match="cancelled by a client"):
                service.result(queued)
            assert (await service.cancel(queued)).body == answer.body  # once more changes nothing
            other = await submitted(service, three_nodes("opr"))  # its place is free
            await service.cancel(running)
            assert (await ended(service, other))["state"] == "done"
            assert (await service.cancel(other)).body["state"] == "done"

    run(test)
