"""Runs one job after the other, in a worker process that is ready before the job is."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dlopt.errors import described
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.event_history import EventHistory
from dlopt.serve.jobs.job_records import JobInput, JobRecords
from dlopt.serve.jobs.stored_requests import time_limit_s
from dlopt.serve.jobs.worker_handle import ProcessEndedError, WorkerHandle
from dlopt.serve.jobs.worker_main import STOPPABLE, Begun, Ended, Progress
from dlopt.serve.settings import ServiceSettings

RETRY_S = 1.0
"""Seconds after which what has failed is tried again: the store, or the start of a process."""

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class ActiveJob:
    """A job that is queued or running, as the server has it in memory.

    Attributes
    ----------
    id : str
    history : EventHistory
        What is stored of it, and may be known to anyone.
    process : WorkerHandle or None
        None as long as it is queued.
    is_cancelled, is_answered : bool
    started_at : float or None
    progress, result : dict or None
        The best checked result so far, and what is shown of it.
    ended : asyncio.Event
        Set once the end is stored, or left to the next server.
    """

    id: str
    history: EventHistory
    process: WorkerHandle | None = None
    is_cancelled: bool = False
    is_answered: bool = False
    started_at: float | None = None
    progress: JsonObject | None = None
    result: JsonObject | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def queued(cls, status: JsonObject) -> ActiveJob:
        """Return a job that has just been stored, by its status."""
        return cls(status["id"], EventHistory([{"id": 1, "event": "queued", "data": status}]))


class JobRunner:
    """A worker process, and the job that runs in it.

    Parameters
    ----------
    records : JobRecords
    settings : ServiceSettings
        With the memory of the process, and the time of a job that has no limit of its own.

    Attributes
    ----------
    trouble : str or None
        Why it cannot work at present.
    """

    def __init__(self, records: JobRecords, settings: ServiceSettings) -> None:
        self._records, self._settings = records, settings
        self._process: WorkerHandle | None = None
        self.trouble: str | None = None

    async def prepare(self) -> WorkerHandle:
        """Return a process that can be asked: the same one if it can be, or else a new one."""
        while self._process is None or not self._process.is_usable:
            await self.close()
            try:
                self._process = await WorkerHandle.start(self._settings.job_memory_mb)
            except (OSError, EOFError) as error:
                self.trouble = f"a worker process cannot be started: {described(error)}"
                _LOG.warning("%s", self.trouble)
                await asyncio.sleep(RETRY_S)
        self.trouble = None
        return self._process

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            await process.close()

    async def run(self, job: ActiveJob) -> Ended:
        """Return what comes of a job, whatever that is."""
        begun = time.perf_counter()
        storing: asyncio.Task[None] | None = None

        def receive(message: Begun | Progress) -> None:
            nonlocal begun, storing
            if isinstance(message, Begun):
                begun, job.started_at = time.perf_counter(), time.time()
            else:
                # A plan that was sent before is not sent again.
                plan = {"solution": (job.result or {}).get("solution")}
                job.progress, job.result = message.progress, plan | message.result
            if storing is None or storing.done():
                storing = asyncio.create_task(self._store_news(job))

        try:
            answer = await self._ask(job, receive)
            if answer is None:  # it has died of something else, perhaps long ago: try another one
                answer = await self._ask(job, receive, is_last=True) or Ended()
        finally:
            job.is_answered = True
            if storing is not None:
                await storing
        if answer.progress is not None:
            job.progress = answer.progress | {"seconds": time.perf_counter() - begun}
        return answer

    async def _ask(
        self, job: ActiveJob, receive: Callable[[Begun | Progress], None], *, is_last: bool = False
    ) -> Ended | None:
        """Return the answer to a job's request.

        It is None if the process died before it had begun, unless this is the last attempt.
        """
        process = job.process = await self.prepare()
        given = await self._input(job)
        if given is None:
            return Ended("stopped")
        try:
            asked = json.loads(given.asked)
            return await process.ask(
                given,
                time_s=time_limit_s(asked) or self._settings.job_time_s,
                is_stoppable=asked["kind"] in STOPPABLE,
                receive=receive,
            )
        except ProcessEndedError as error:
            has_begun = job.started_at is not None or process.is_ended_on_purpose
            return Ended(str(error)) if has_begun or is_last else None

    async def _input(self, job: ActiveJob) -> JobInput | None:
        """Return what is asked, as soon as it can be read; None once the job is cancelled."""
        while not job.is_cancelled:
            try:
                return await self._records.in_turn(self._records.input, job.id)
            except UnavailableError as error:
                _LOG.warning("the request of job %s cannot be read: %s", job.id, error)
                await asyncio.sleep(RETRY_S)
        return None

    async def _store_news(self, job: ActiveJob) -> None:
        """Store what comes of a running job, and then tell its readers.

        Of results that come while one is being stored, only the last one is; none is once the job
        is answered.
        """
        records = self._records
        while True:
            last, progress, result = job.history.events[-1], job.progress, job.result
            number = last["id"] + 1
            try:
                if last["event"] == "queued":
                    assert job.started_at is not None
                    status = await records.in_turn(records.start, job.id, job.started_at, number)
                    job.history.add(job.history.next("started", status))
                elif job.is_answered or progress is None or progress is last["data"]:
                    return
                else:
                    assert result is not None
                    keep = records.keep_progress
                    await records.in_turn(keep, job.id, progress, result, number)
                    job.history.add(job.history.next("progress", progress))
            except UnavailableError as error:
                _LOG.warning("progress of job %s is not stored: %s", job.id, error)
                if job.is_answered:
                    return
                await asyncio.sleep(RETRY_S)
