"""Services for tests, requests for them, and what becomes of their jobs."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import cache
from pathlib import Path
from typing import Any

import dlopt
from dlopt import generate, io
from dlopt.serve.jobs.job_service import JobService
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store
from tests.gates import PATIENCE
from tests.instance_files import ROOT

Data = dict[str, Any]


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a test, unless it hangs."""

    async def limited() -> None:
        async with asyncio.timeout(PATIENCE):
            await test()

    asyncio.run(limited())


@contextlib.asynccontextmanager
async def service_on(folder: Path, **settings: Any) -> AsyncIterator[JobService]:
    """Start a service on the store of a folder, and stop it."""
    chosen = ServiceSettings(f"sqlite:///{folder}/jobs.db", **settings)
    with Store(chosen.store) as store:
        service = JobService(store, chosen)
        await service.start()
        try:
            yield service
        finally:
            await service.stop()


@cache
def shipped(name: str) -> Data:
    """Return the data of a shipped instance."""
    data: Data = json.loads((ROOT / "instances" / f"{name}.json").read_text())
    return data


@cache
def hard(stem: str) -> Data:
    """Return the data of an instance that the exact method does not solve in minutes."""
    if stem == "admission":
        return shipped("admission/random-30")
    chosen: Data = {
        "dag": {"family": "layered", "tasks": 60},
        "coreservation": {"family": "overloaded"},
        "bag": {"family": "braun", "tasks": 60, "machines": 8},
    }[stem]
    settings = dict(chosen)
    return io.instance_to_data(generate(stem, settings.pop("family"), seed=1, **settings))


def three_nodes(method: str, **fields: Any) -> Data:
    """Return a request about a small instance."""
    return {"instance": shipped("iit/three-nodes"), "method": method, **fields}


async def submitted(service: JobService, request: Data, owner: str = "") -> str:
    """Submit a new request; return its job."""
    answer = await service.submit(request, owner=owner)
    assert answer.status == 202, "it was answered before"
    assert answer.location == f"/v1/jobs/{answer.body['id']}"
    name: str = answer.body["id"]
    return name


async def ended(service: JobService, job: str) -> Data:
    """Wait until a job has ended; return its status."""
    last = [event async for event in await service.events(job)][-1]
    assert last["event"] == "ended" and last["data"] == service.status(job).body
    return last["data"]


async def until(service: JobService, job: str, event: str) -> None:
    """Wait until something has happened to a job."""
    async for sent in await service.events(job):
        if sent["event"] == event:
            return
    raise AssertionError(f"{event} never came: {service.status(job).body}")


def assert_checked(instance: Data, result: Data) -> None:
    """Assert that a result has a plan of the value that it states, without violations."""
    read = io.instance_from_data(instance)
    found = io.result_from_data(result, read)
    assert found.solution is not None
    assert dlopt.check(read, found) == ()
