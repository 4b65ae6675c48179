"""Jobs whose commit fails: what is answered is what the store says, or that nobody knows."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dlopt.serve.errors import UnavailableError, UnknownOutcomeError
from dlopt.serve.jobs import unsettled_submissions
from dlopt.serve.jobs.job_records import JobRecords
from dlopt.serve.jobs.job_service import JobService
from tests.serve.jobs.services import (
    Data,
    ended,
    hard,
    run,
    service_on,
    submitted,
    three_nodes,
    until,
)
from tests.serve.lost_commits import Network, failing_network

LONG: Data = {"instance": hard("dag")}
"""A request that is not answered while a test runs."""


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_job_that_is_submitted_in_a_lost_commit(tmp_path: Path, is_committed: bool) -> None:
    """A job that is in the store is run, and one that is not is refused as such."""

    async def test() -> None:
        async with service_on(tmp_path) as service:
            with failing_network() as network:
                network.loses_before, network.loses_after = not is_committed, is_committed
                if not is_committed:
                    with pytest.raises(UnavailableError, match="nothing was done") as refused:
                        await service.submit(three_nodes("opr"))
                    assert refused.value.status == 503
                    assert service.list().body == {"jobs": []}
                job = await submitted(service, three_nodes("opr"))
                assert not (network.loses_before or network.loses_after)
            status = service.list().body["jobs"]
            assert [one["id"] for one in status] == [job]
            assert (await ended(service, job))["state"] == "done"

    run(test)


@contextlib.asynccontextmanager
async def unknown_submission(
    folder: Path, request: Data, *, is_committed: bool
) -> AsyncIterator[tuple[JobService, Network]]:
    """Yield a service that was asked for a job, and does not know whether it is stored."""
    async with service_on(folder) as service:
        with failing_network() as network:
            network.loses_before, network.loses_after = not is_committed, is_committed
            network.stays_down = True
            with pytest.raises(UnknownOutcomeError) as unknown:
                await service.submit(request)
            assert unknown.value.status == 504
            yield service, network


def test_a_job_of_which_nobody_knows_whether_it_is_stored(tmp_path: Path) -> None:
    async def test() -> None:
        async with unknown_submission(tmp_path, three_nodes("opr"), is_committed=True) as (
            _,
            network,
        ):
            network.is_down = False
        async with service_on(tmp_path) as service:  # which queues what is in the store
            (job,) = service.list().body["jobs"]
            assert (await ended(service, job["id"]))["state"] == "done"

    run(test)


def test_a_job_is_queued_once_it_is_known_to_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsettled_submissions, "FIRST_PAUSE_S", 0.001)

    async def test() -> None:
        async with unknown_submission(tmp_path, three_nodes("opr"), is_committed=True) as (
            service,
            network,
        ):
            await asyncio.sleep(0.01)  # it is looked up, in vain
            network.is_down = False
            (job,) = service.list().body["jobs"]
            while service.status(job["id"]).body["state"] != "done":
                await asyncio.sleep(0.001)
            again = await service.submit(three_nodes("opr"))
            assert (again.status, again.body["id"]) == (200, job["id"])
            assert len(service.list().body["jobs"]) == 1

    run(test)


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_request_that_is_sent_again_gets_its_first_job(
    tmp_path: Path, is_committed: bool
) -> None:
    async def test() -> None:
        async with unknown_submission(tmp_path, LONG, is_committed=is_committed) as (
            service,
            network,
        ):
            with pytest.raises(UnavailableError) as refused:
                await service.submit(LONG)
            assert refused.value.status == 503  # this time nothing was sent
            network.is_down = False
            stored = [job["id"] for job in service.list().body["jobs"]]
            assert len(stored) == is_committed
            for job in stored:  # nobody has taken it into the queue yet
                with pytest.raises(UnavailableError, match="ask again"):
                    await service.cancel(job)
                with pytest.raises(UnavailableError, match="ask again"):
                    await service.events(job)
            other = await submitted(service, LONG, owner="somebody else")
            job = await submitted(service, LONG)
            assert stored in ([], [job]) and job != other
            third = await submitted(service, LONG)
            assert third != job, "a job is given to one request"
            assert len(service.list().body["jobs"]) == 3
            assert {(await service.cancel(one)).status for one in (other, job, third)} == {200}

    run(test)


def test_a_request_whose_answer_fails_gets_its_first_job_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsettled_submissions, "FIRST_PAUSE_S", 0.001)

    async def test() -> None:
        async with unknown_submission(tmp_path, LONG, is_committed=True) as (service, network):
            network.is_down = False
            (job,) = service.list().body["jobs"]
            while service.status(job["id"]).body["state"] != "running":
                await asyncio.sleep(0.001)  # it is known to be stored
            await until(service, job["id"], "started")  # nothing else asks for its status now
            failures = [UnavailableError("the disk fails")]
            status = JobRecords.status

            def failing_once(records: JobRecords, identity: str) -> Data:
                if failures:
                    raise failures.pop()
                return status(records, identity)

            monkeypatch.setattr(JobRecords, "status", failing_once)
            with pytest.raises(UnavailableError, match="the disk fails"):
                await service.submit(LONG)
            again = await service.submit(LONG)
            assert (again.status, again.body["id"]) == (202, job["id"])
            assert len(service.list().body["jobs"]) == 1
            await service.cancel(job["id"])

    run(test)
