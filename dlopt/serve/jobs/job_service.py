"""The service's jobs: submitted, watched, cancelled, and asked for what has come of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from dlopt.errors import NotApplicableError
from dlopt.serve.answers import Answer, JsonObject
from dlopt.serve.errors import ConflictingStateError, NotFoundError, UnavailableError
from dlopt.serve.jobs.event_history import Event, EventHistory
from dlopt.serve.jobs.job_records import JobEnd, JobRecords, Task, UnfinishedJob
from dlopt.serve.jobs.job_runner import JobRunner
from dlopt.serve.jobs.live_job import LiveJob
from dlopt.serve.jobs.question_reader import read_question
from dlopt.serve.jobs.questions import Question, to_json_text
from dlopt.serve.jobs.supervised_process import ProcessEndedError, SupervisedProcess
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store

PLOT_TIME_S = 60.0
"""Seconds in which a plan must be drawn; chosen by hand, as in a batch."""
SERVER_ENDED = "the server ended while the job was running"
"""The reason of a job that a former server has left running."""


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
    ...         names = [event["event"] async for event in service.events(job)]
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
        self._runner = JobRunner(self._records, settings)
        self._submitting = asyncio.Lock()
        # Large instances are read one after the other, and keep no other thread busy.
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="dlopt-questions")
        self._drawing = asyncio.Lock()

    async def start(self) -> None:
        """Queue what is queued in the store, report what was running, and begin to work."""
        for job in await self._runner.write(self._records.unfinished):
            live = LiveJob(job.id, self._last_event(job))
            if job.state == "running":
                await self._runner.end(live, JobEnd("interrupted", SERVER_ENDED))
            else:
                self._runner.enqueue(live, job.owner, job.priority)
        self._runner.start()

    async def stop(self) -> None:
        """End: running jobs are interrupted with what they have, queued ones stay queued."""
        await self._runner.stop()
        self._reader.shutdown(wait=False)

    async def submit(self, question: Mapping[str, object], *, owner: str = "") -> Answer:
        """Make a job of a question, or return the one that has answered it.

        An answer is given again to the same question; one that is proven optimal, or that there is
        no plan, whatever the limits. It is never given again by another version of dlopt.

        Parameters
        ----------
        question : mapping
            See `dlopt.serve.jobs.question_reader.FIELDS`.
        owner : str
            Owners take turns in the queue.

        Returns
        -------
        Answer
            The status of the job: 202 if it is new, 200 if it has answered the question before.

        Raises
        ------
        InvalidInstanceError
            With every fault of the question.
        TooManyRequestsError
            If the queue is full.
        UnavailableError
            If the store cannot be written.
        """
        self._require_running()
        loop = asyncio.get_running_loop()
        read = await loop.run_in_executor(self._reader, self._read, question)
        # A client that goes away does not keep a stored job from being queued.
        return await asyncio.shield(asyncio.create_task(self._submit(read, owner)))

    async def _submit(self, question: Question, owner: str) -> Answer:
        async with self._submitting:
            self._require_running()
            known = await self._runner.write(partial(self._records.answered, question))
            if known is not None:
                return Answer(self._records.status(known), location=_location(known))
            self._require_running()
            self._runner.queue.require_place()
            add = partial(self._records.add, question, owner, time.time())
            name = await self._runner.write(add)
            status = self._records.status(name)
            history = EventHistory([{"id": 1, "event": "queued", "data": status}])
            self._runner.enqueue(LiveJob(name, history), owner, question.priority)
        return Answer(status, status=202, location=_location(name))

    def validate(self, question: Mapping[str, object]) -> Answer:
        """Return that a question has no faults.

        Raises
        ------
        InvalidInstanceError
            With every fault that it has.
        """
        self._read(question)
        return Answer({"faults": []})

    def list(self) -> Answer:
        """Return the statuses of the latest jobs, the last one first."""
        return Answer({"jobs": self._records.recent()})

    def counts(self) -> dict[str, int]:
        """Return how many jobs are queued and how many are running."""
        queued = len(self._runner.queue)
        return {"queued": queued, "running": len(self._runner.live) - queued}

    def status(self, job: str) -> Answer:
        """Return the status of a job.

        Raises
        ------
        NotFoundError
            If there is no such job.
        """
        return Answer(self._records.status(job))

    def events(self, job: str, after: int = 0) -> AsyncIterator[Event]:
        """Return what happens to a job, after an event, until it has ended.

        Raises
        ------
        NotFoundError
            If there is no such job.
        """
        live = self._runner.live.get(job)
        history = live.history if live else EventHistory(self._records.events(job))
        if not history.events:
            raise UnavailableError(f"nothing happens to job {job!r}: the service is stopped")
        return history.follow(after)

    async def cancel(self, job: str) -> Answer:
        """End a job, and return its status with its last checked result as ``result``.

        Of a job that has ended, nothing changes.

        Raises
        ------
        NotFoundError
            If there is no such job.
        UnavailableError
            If the store does not take the end of the job.
        """
        live = self._runner.live.get(job)
        if live is not None:
            await self._runner.cancel(live)
        return Answer(self._records.status(job) | {"result": self._records.result(job)})

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
        result = self._result(job)
        if result.get("solution") is None:
            raise NotApplicableError(f"job {job!r} has no plan to be drawn")
        task = self._records.task(job)
        asked = to_json_text({"kind": "plot", "result": result})
        async with self._drawing:  # one at a time, however many ask
            process = await SupervisedProcess.start(self._settings.job_memory_mb)
            try:
                ended = await process.ask(
                    Task(asked, task.instance),
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

    def _read(self, question: Mapping[str, object]) -> Question:
        return read_question(question, self._settings, self._records.instance_of_hash)

    def _result(self, job: str) -> JsonObject:
        status = self._records.status(job)
        if status["state"] in ("queued", "running"):
            raise ConflictingStateError(f"job {job!r} is {status['state']}: it has no result yet")
        result = self._records.result(job)
        if result is None:
            raise NotFoundError(f"job {job!r} has no result: {status['reason']}")
        return result

    def _last_event(self, job: UnfinishedJob) -> EventHistory:
        """Return the last event of a job that a reader of a former server may know."""
        status = self._records.status(job.id)
        event: Event = {"id": job.last_event, "event": "queued", "data": status}
        if job.state == "running":
            event["event"] = "started"
            if status["progress"] is not None:
                event |= {"event": "progress", "data": status["progress"]}
        return EventHistory([event])

    def _require_running(self) -> None:
        if self._runner.is_stopping:
            raise UnavailableError("the service is about to stop")


def _location(job: str) -> str:
    return f"/v1/jobs/{job}"
