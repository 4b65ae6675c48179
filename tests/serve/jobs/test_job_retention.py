"""Which jobs and instances are removed: the old ones, and of too many the oldest."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dlopt.serve.errors import NotFoundError
from dlopt.serve.jobs.job_records import JobEnd, JobRecords
from dlopt.serve.jobs.job_request_reader import read_job_request
from dlopt.serve.jobs.job_retention import MIN_KEPT_S, JobRetention
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store
from tests.serve.jobs.services import Data, ended, run, service_on, shipped, submitted, three_nodes

DAY_S = 86_400.0
SETTINGS = ServiceSettings(store="")
OTHER = {"instance": shipped("admission/two-tasks-one-channel"), "method": "bound-fluid"}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(f"sqlite:///{tmp_path}/jobs.db") as opened:
        yield opened


def add(store: Store, asked: Data, ended_at: float | None, size: int = 0) -> str:
    """Store a job that may have ended, with a result of about so many bytes; return its name."""
    records, name = JobRecords(store), uuid.uuid4().hex
    records.add(name, read_job_request(asked, SETTINGS, {}.get), "", now=0.0)
    if ended_at is not None:
        events: Any = [{"id": 1, "event": "queued", "data": {}}]
        changes = {"state": "done", "reason": None, "ended_at": ended_at}
        records.end(name, JobEnd("done", result={"text": "a" * size}), changes, events)
    return name


def kept(store: Store, now: float, **limits: Any) -> list[str]:
    """Return the jobs that are left when those are removed that are expired."""
    retention = JobRetention(store, ServiceSettings(store="", **limits))
    retention.remove(retention.expired(now))
    assert retention.expired(now) == []
    return [status["id"] for status in reversed(JobRecords(store).recent())]


def test_nothing_is_removed_within_the_limits(store: Store) -> None:
    jobs = [add(store, three_nodes("opr"), 0.0), add(store, three_nodes("epr"), None)]
    assert kept(store, now=29 * DAY_S) == jobs


def test_jobs_are_removed_by_age_and_those_that_have_not_ended_never(store: Store) -> None:
    add(store, three_nodes("opr"), 0.0)
    jobs = [add(store, three_nodes("epr"), None), add(store, three_nodes("exact"), DAY_S)]
    assert kept(store, now=1.5 * DAY_S, job_retention_s=DAY_S) == jobs


def test_of_too_many_jobs_the_latest_are_kept(store: Store) -> None:
    jobs = [add(store, three_nodes("opr", seed=seed), 0.0) for seed in range(5)]
    assert kept(store, now=DAY_S, max_stored_jobs=2) == jobs[3:]


def test_of_too_large_jobs_the_latest_are_kept(store: Store) -> None:
    jobs = [add(store, three_nodes("opr", seed=seed), 0.0, 100_000) for seed in range(5)]
    assert kept(store, now=DAY_S, max_job_bytes=250_000) == jobs[3:]


def test_an_instance_is_counted_once(store: Store) -> None:
    large = {"instance": shipped("iit/three-nodes") | {"origin": "a" * 50_000}, "method": "opr"}
    jobs = [add(store, large | {"seed": seed}, 0.0) for seed in range(5)]
    assert kept(store, now=DAY_S, max_job_bytes=60_000) == jobs
    assert kept(store, now=DAY_S, max_job_bytes=50_000) == []


def test_what_has_just_ended_can_be_fetched(store: Store) -> None:
    job = add(store, three_nodes("opr"), 0.0)
    limits = {"job_retention_s": 0.0, "max_stored_jobs": 0, "max_job_bytes": 0}
    assert kept(store, MIN_KEPT_S - 1, **limits) == [job]
    assert kept(store, MIN_KEPT_S, **limits) == []


@pytest.mark.parametrize("ended_at", [DAY_S, None])
def test_an_instance_stays_as_long_as_a_job_is_about_it(
    store: Store, ended_at: float | None
) -> None:
    records = JobRecords(store)
    add(store, three_nodes("opr"), 0.0)
    latest = add(store, three_nodes("epr"), ended_at)
    without_instance = add(store, {"kind": "falsify", "problem": "iit", "method": "opr"}, DAY_S)
    other = add(store, OTHER, 0.0)
    hashes = [records.status(job)["hash"] for job in (latest, other)]
    assert kept(store, now=1.5 * DAY_S, job_retention_s=DAY_S) == [latest, without_instance]
    assert [records.instance_of_hash(one) is not None for one in hashes] == [True, False]


def test_a_service_removes_old_jobs_when_it_starts_and_answers_their_requests_anew(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        async with service_on(tmp_path, job_retention_s=DAY_S) as service:
            job = await submitted(service, three_nodes("opr"))
            status = await ended(service, job)
            await service.remove_expired(status["ended_at"] + DAY_S - 1)
            assert service.status(job).body == status
            await service.remove_expired(status["ended_at"] + DAY_S)
            with pytest.raises(NotFoundError):
                service.status(job)
            again = await submitted(service, three_nodes("opr"))
            await ended(service, again)
        with Store(f"sqlite:///{tmp_path}/jobs.db") as store:
            old = add(store, three_nodes("epr"), 0.0)
        async with service_on(tmp_path) as service:
            assert service.status(again).body["state"] == "done"
            with pytest.raises(NotFoundError):
                service.status(old)

    run(test)
