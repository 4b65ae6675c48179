"""The service's jobs: submitted, watched, cancelled, and asked for what has come of them."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from dlopt.errors import NotApplicableError
from dlopt.serve.answers import Answer, JsonObject
from dlopt.serve.errors import (
    ConflictingStateError,
    NotFoundError,
    TooManyRequestsError,
    UnavailableError,
    UnknownOutcomeError,
)
from dlopt.serve.jobs.event_history import Event, EventHistory
from dlopt.serve.jobs.job_dispatcher import JobDispatcher
from dlopt.serve.jobs.job_queue import RETRY_AFTER_S
from dlopt.serve.jobs.job_records import JobInput, JobRecords
from dlopt.serve.jobs.job_request_reader import read_job_request
from dlopt.serve.jobs.job_retention import MAX_REMOVED, JobRetention
from dlopt.serve.jobs.job_runner import RETRY_S, ActiveJob
from dlopt.serve.jobs.stored_requests import JobRequest, to_json_text
from dlopt.serve.jobs.unsettled_submissions import UnsettledSubmissions
from dlopt.serve.jobs.worker_handle import ProcessEndedError, WorkerHandle
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store

PLOT_TIME_S = 60.0
"""Seconds in which a plan must be drawn; chosen by hand, as in a batch."""
MAX_REQUESTS_READ = 16
"""Job requests that may wait to be validated: each takes memory several times its size."""
CLEANUP_INTERVAL_S = 3_600.0
"""Seconds between two removals of old jobs; chosen by hand."""
UNENDED = ("queued", "running")
"""States of jobs that have not ended."""
SERVER_ENDED = "the server ended while the job was running"
"""The reason of a job that a former server has left running."""

_LOG = logging.getLogger(__name__)


class JobService:
    """The jobs of one store, each run in a process of its own.

    It belongs to the event loop in which it was started.

    Parameters
    ----------
    store : Store
    settings : ServiceSettings

    Examples
    --------
    >>> import tempfile
    >>> from dlopt import io
    >>> instance = io.instance_to_data(io.read("instances/iit/three-nodes.json"))
    >>> async def solve(settings):
    ...     with Store(settings.store) as store:
    ...         service = JobService(store, settings)
    ...         await service.start()
    ...         job = (await service.submit({"instance": instance, "method": "opr"})).body["id"]
    ...         names = [event["event"] async for event in await service.events(job)]
    ...         value = service.result(job).body["value"]
    ...         await service.stop()
    ...     return names[0], names[-1], value
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asyncio.run(solve(ServiceSettings(f"sqlite:///{folder}/jobs.db")))
    ('queued', 'ended', '32/5')
    """

    def __init__(self, store: Store, settings: ServiceSettings) -> None:
        self._records = JobRecords(store)
        self._settings = settings
        self._dispatcher = JobDispatcher(self._records, settings)
        self._retention = JobRetention(store, settings)
        self._submitting = asyncio.Lock()
        self._unsettled = UnsettledSubmissions(self._dispatcher)
        # Large instances are read one after the other, and keep no other thread busy.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="dlopt-requests")
        self._requests_read = 0
        self._drawing = asyncio.Lock()

    async def start(self) -> None:
        """Queue what is queued in the store, report what was running, and begin to work.

        Jobs that are too old are removed, now and every `CLEANUP_INTERVAL_S`.

        Raises
        ------
        UnavailableError
            If the store cannot be read. To write to it is tried again in the background.
        """
        interrupted = []
        for job in await self._records.in_turn(self._records.unfinished):
            active = ActiveJob(job.id, EventHistory([job.last_event]))
            if job.last_event["event"] == "queued":
                self._dispatcher.enqueue(active, job.owner, job.priority)
            else:
                interrupted.append(active)
        await self._dispatcher.interrupt(interrupted, SERVER_ENDED)
        await self._try_to_remove_expired()
        self._dispatcher.start()
        self._dispatcher.begin(self._remove_expired_regularly())

    async def stop(self) -> None:
        """End: running jobs are interrupted with what they have, queued ones stay queued."""
        await self._dispatcher.stop()
        self._reader.shutdown(wait=False)

    async def submit(self, request: Mapping[str, object], *, owner: str = "") -> Answer:
        """Make a job of a request, or return the one that has answered it.

        An answer is given again to the same request; one that is proven optimal, or that there is
        no plan, whatever the limits. It is never given again by another version of dlopt.

        Parameters
        ----------
        request : mapping
            See `dlopt.service_api.job_requests.JOB_REQUESTS`.
        owner : str
            Owners take turns in the queue.

        Returns
        -------
        Answer
            The status of the job: 202 if it is new, 200 if it has answered the request before.

        Raises
        ------
        InvalidInstanceError
            With every fault of the request.
        TooManyRequestsError
            If the queue is full, or too many are being validated.
        UnavailableError
            If the store cannot be written.
        UnknownOutcomeError
            If it is not known now whether the job is stored. If it is, it will run; the same
            request, sent again by its owner, gets this job.
        """
        self._require_running()
        read = await self._read(request)
        # A client that goes away does not keep a stored job from being queued.
        return await asyncio.shield(asyncio.create_task(self._submit(read, owner)))

    async def _submit(self, request: JobRequest, owner: str) -> Answer:
        async with self._submitting:
            self._require_running()
            records = self._records
            earlier = await self._unsettled.job_of(request, owner)
            if earlier is not None:
                status = await records.in_turn(records.status, earlier)
                self._unsettled.answered(request, owner)
                return Answer(status, status=202, location=_location(status))
            known = await records.in_turn(records.answered, request)
            if known is not None:
                return Answer(known, location=_location(known))
            self._require_running()
            self._dispatcher.queue.require_place()
            job = uuid.uuid4().hex
            try:
                status = await records.in_turn(records.add, job, request, owner, time.time())
            except UnknownOutcomeError:
                self._unsettled.add(job, request, owner)
                raise
            self._dispatcher.enqueue(ActiveJob.queued(status), owner, request.priority)
        return Answer(status, status=202, location=_location(status))

    async def validate(self, request: Mapping[str, object]) -> Answer:
        """Return that a request has no faults.

        Raises
        ------
        InvalidInstanceError
            With every fault that it has.
        TooManyRequestsError
            If too many are being validated.
        """
        await self._read(request)
        return Answer({"faults": []})

    @property
    def trouble(self) -> str | None:
        """Why jobs cannot be run at present; None if they can."""
        return self._dispatcher.trouble

    def list(self) -> Answer:
        """Return the statuses of the latest jobs, the last one first."""
        return Answer({"jobs": self._records.recent()})

    def counts(self) -> dict[str, int]:
        """Return how many jobs are queued and how many are running."""
        queued = len(self._dispatcher.queue)
        return {"queued": queued, "running": len(self._dispatcher.active) - queued}

    def status(self, job: str) -> Answer:
        """Return the status of a job.

        Raises
        ------
        NotFoundError
            If there is no such job.
        """
        return Answer(self._records.status(job))

    async def events(self, job: str, after: int = 0) -> AsyncIterator[Event]:
        """Return what happens to a job, after an event, until it has ended.

        Raises
        ------
        NotFoundError
            If there is no such job.
        UnavailableError
            If it is not queued yet, or will not be before the next start of the service.
        """
        active = self._dispatcher.active.get(job)
        if active is not None:
            return active.history.follow(after)
        history = EventHistory(await asyncio.to_thread(self._records.events, job))
        if not history.events:
            raise _not_followed(job)
        return history.follow(after)

    async def cancel(self, job: str) -> Answer:
        """End a job, and return its status with its last checked result as ``result``.

        Of a job that has ended, nothing changes.

        Raises
        ------
        NotFoundError
            If there is no such job.
        UnavailableError
            If the store does not take the end of the job, or the job is not queued yet.
        """
        active = self._dispatcher.active.get(job)
        if active is not None:
            await self._dispatcher.cancel(active)
        found = await asyncio.to_thread(self._status_with_result, job)
        if found["state"] in UNENDED:
            raise _not_followed(job)
        return Answer(found)

    def result(self, job: str) -> Answer:
        """Return the result of a job that has ended: its answer, or the best checked one.

        Raises
        ------
        ConflictingStateError
            If it has not ended.
        NotFoundError
            If there is no such job, or it has no result.
        """
        return Answer(self._result(job))

    def certificate(self, job: str) -> bytes:
        """Return the proof of a job's bound as a VIPR file.

        Raises
        ------
        NotApplicableError
            If its result carries none.
        """
        self._result(job)
        text = self._records.certificate(job)
        if text is None:
            raise NotApplicableError(f"the result of job {job!r} has no certificate")
        return text.encode()

    async def plot(self, job: str) -> bytes:
        """Return the drawing of a job's plan, as SVG; it is made in a process of its own.

        Raises
        ------
        NotApplicableError
            If its result is no plan, or matplotlib is not installed.
        """
        plan = await asyncio.to_thread(self._plan_to_draw, job)
        async with self._drawing:  # one at a time, however many ask
            process = await WorkerHandle.start(self._settings.job_memory_mb)
            try:
                ended = await process.ask(
                    plan,
                    time_s=PLOT_TIME_S,
                    is_stoppable=False,
                    receive=lambda _: None,
                )
            except ProcessEndedError as error:
                raise NotApplicableError(f"the plan cannot be drawn: {error}") from error
            finally:
                await process.close()
        if ended.result is None:
            raise NotApplicableError(f"the plan cannot be drawn: {ended.reason}")
        return str(ended.result["svg"]).encode()

    async def remove_expired(self, now: float) -> None:
        """Remove the jobs that are too old, too many or too large by the settings.

        Raises
        ------
        UnavailableError
            If the store cannot be written.
        """
        numbers = await asyncio.to_thread(self._retention.expired, now)
        for start in range(0, len(numbers), MAX_REMOVED):
            some = numbers[start : start + MAX_REMOVED]
            await self._records.in_turn(self._retention.remove, some)

    async def _remove_expired_regularly(self) -> None:
        while True:
            await asyncio.sleep(CLEANUP_INTERVAL_S)
            await self._try_to_remove_expired()

    async def _try_to_remove_expired(self) -> None:
        try:
            await self.remove_expired(time.time())
        except Exception:  # the next time it may succeed
            _LOG.exception("old jobs cannot be removed")

    async def _read(self, request: Mapping[str, object]) -> JobRequest:
        if self._requests_read >= MAX_REQUESTS_READ:
            raise TooManyRequestsError(
                f"{self._requests_read} job requests are being validated",
                retry_after_s=RETRY_AFTER_S,
            )
        self._requests_read += 1
        try:
            loop = asyncio.get_running_loop()
            known = self._records.instance_of_hash
            return await loop.run_in_executor(
                self._reader, read_job_request, request, self._settings, known
            )
        finally:
            self._requests_read -= 1

    def _status_with_result(self, job: str) -> JsonObject:
        return self._records.status(job) | {"result": self._records.result(job)}

    def _plan_to_draw(self, job: str) -> JobInput:
        result = self._result(job)
        if result.get("solution") is None:
            raise NotApplicableError(f"job {job!r} has no plan to be drawn")
        asked = to_json_text({"kind": "plot", "result": result})
        return JobInput(asked, self._records.input(job).instance)

    def _result(self, job: str) -> JsonObject:
        status = self._records.status(job)
        if status["state"] in UNENDED:
            raise ConflictingStateError(f"job {job!r} is {status['state']}: it has no result yet")
        result = self._records.result(job)
        if result is None:
            raise NotFoundError(f"job {job!r} has no result: {status['reason']}")
        return result

    def _require_running(self) -> None:
        if self._dispatcher.is_stopping:
            raise UnavailableError("the service is about to stop")


def _not_followed(job: str) -> UnavailableError:
    """Return the error of a job that is stored, and not among those that are queued or running.

    Either a commit of unknown outcome has just been found to have happened, or the service stops.
    """
    return UnavailableError(f"job {job!r} is not followed now: ask again", retry_after_s=RETRY_S)


def _location(status: JsonObject) -> str:
    return f"/v1/jobs/{status['id']}"
