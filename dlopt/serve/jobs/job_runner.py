"""Runs queued jobs, one after the other or several at a time, and stores what comes of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from dlopt.errors import described, printable, shortened
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.event_history import EventHistory
from dlopt.serve.jobs.job_process import STOPPABLE, Begun, Ended, Progress
from dlopt.serve.jobs.job_queue import JobQueue
from dlopt.serve.jobs.job_records import JobEnd, JobRecords
from dlopt.serve.jobs.questions import time_limit_s
from dlopt.serve.jobs.supervised_process import ProcessEndedError, SupervisedProcess
from dlopt.serve.settings import ServiceSettings

AnswerT = TypeVar("AnswerT")

ANSWER_TO_CANCEL_S = 0.95
"""Seconds after which a client that cancels is answered, even if the store does not."""
RETRY_S = 1.0
"""Seconds after which what has failed is tried again: the store, or the start of a process."""
INTERRUPTED = "the service was stopped while the job was running"
"""The reason of a job that is interrupted by `JobRunner.stop`."""
CANCELLED = "cancelled by a client"
"""The reason of a job that is ended by `JobRunner.cancel`."""

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class LiveJob:
    """A job that is queued or running.

    Attributes
    ----------
    id : str
    history : EventHistory
        What is stored of it, and may be known to anyone.
    process : SupervisedProcess or None
        None as long as it is queued.
    is_cancelled : bool
    started_at : float or None
    progress, result : dict or None
        The best checked result so far, and what is shown of it.
    ended : asyncio.Event
        Set once the end is stored, or left to the next server.
    """

    id: str
    history: EventHistory
    process: SupervisedProcess | None = None
    is_cancelled: bool = False
    started_at: float | None = None
    progress: JsonObject | None = None
    result: JsonObject | None = None
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class _Storing:
    """Stores what comes of a running job, and then tells it.

    Of results that come while one is being stored, only the last one is.
    """

    def __init__(self, job: LiveJob, runner: JobRunner) -> None:
        self._job = job
        self._runner = runner
        self._news = asyncio.Event()
        self._is_over = False
        self._is_started = False
        self._stored: JsonObject | None = None
        self._work = asyncio.create_task(self._store_all())

    def wake(self) -> None:
        """Let it look at what there is to be stored."""
        self._news.set()

    async def finish(self) -> None:
        """Store the beginning of the job, if that is not stored yet; progress is out of date."""
        self._is_over = True
        self.wake()
        await self._work

    async def _store_all(self) -> None:
        while not self._is_over:
            await self._news.wait()
            self._news.clear()
            try:
                await self._store_start()
                if not self._is_over:
                    await self._store_progress()
            except UnavailableError as error:
                _LOG.warning("progress of job %s is not stored: %s", self._job.id, error)
                if not self._is_over:
                    await asyncio.sleep(RETRY_S)
                    self.wake()

    async def _store_start(self) -> None:
        job, records = self._job, self._runner.records
        if job.started_at is None or self._is_started:
            return
        number = job.history.last_id + 1
        await self._runner.write(partial(records.start, job.id, job.started_at, number))
        job.history.add(job.history.next("started", records.status(job.id)))
        self._is_started = True

    async def _store_progress(self) -> None:
        job, progress, result = self._job, self._job.progress, self._job.result
        if progress is None or result is None or progress is self._stored:
            return
        event = job.history.next("progress", progress)
        keep = partial(self._runner.records.keep_progress, job.id, progress, result)
        await self._runner.write(partial(keep, event["id"]))
        job.history.add(event)
        self._stored = progress


class JobRunner:
    """The queue of a service's jobs, and the processes that work on it.

    It belongs to one event loop. What it tells anyone is stored before.

    Parameters
    ----------
    records : JobRecords
    settings : ServiceSettings

    Attributes
    ----------
    queue : JobQueue
    live : dict of str to LiveJob
        The jobs that are queued or running, by name.
    is_stopping : bool
    """

    def __init__(self, records: JobRecords, settings: ServiceSettings) -> None:
        self.records = records
        self.queue = JobQueue(settings.queued_jobs)
        self.live: dict[str, LiveJob] = {}
        self.is_stopping = False
        self._settings = settings
        self._waiting = asyncio.Semaphore(0)
        self._tasks: set[asyncio.Task[None]] = set()
        # One thread writes all: in order, and never in two transactions at once.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="dlopt-jobs")

    def start(self) -> None:
        """Begin to work."""
        for _ in range(self._settings.concurrent_jobs):
            self._begin(self._work())

    async def stop(self) -> None:
        """End: running jobs are interrupted with what they have, queued ones stay queued."""
        self.is_stopping = True
        running = [job for job in self.live.values() if job.process is not None]
        for job in running:
            assert job.process is not None
            job.process.stop()
        for job in running:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.ended.wait(), ANSWER_TO_CANCEL_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in self.live.values():
            job.history.close()
        self._writer.shutdown()

    def enqueue(self, job: LiveJob, owner: str, priority: int) -> None:
        """Let a stored job wait for its turn."""
        self.live[job.id] = job
        self.queue.put(job.id, owner, priority)
        self._waiting.release()

    async def cancel(self, job: LiveJob) -> None:
        """End a job, and wait until that is stored.

        Raises
        ------
        UnavailableError
            If the store does not take it in time.
        """
        job.is_cancelled = True
        if job.process is not None:
            job.process.stop()
        elif self.queue.remove(job.id):
            self._begin(self.end(job, JobEnd("cancelled", CANCELLED)))
        try:
            await asyncio.wait_for(job.ended.wait(), ANSWER_TO_CANCEL_S)
        except TimeoutError as error:
            raise UnavailableError(f"the end of job {job.id!r} is not stored yet") from error

    async def write(self, work: Callable[[], AnswerT]) -> AnswerT:
        """Return the answer of some work on the store, done in its turn."""
        return await asyncio.get_running_loop().run_in_executor(self._writer, work)

    async def end(self, job: LiveJob, end: JobEnd) -> None:
        """Store the end of a job, however long that takes, and then tell it."""
        now = time.time()
        reason = None if end.reason is None else printable(shortened(end.reason))
        while True:
            try:
                status = self.records.status(job.id)
                status |= {"state": end.state, "reason": reason, "ended_at": now}
                status["started_at"] = job.started_at or status["started_at"]
                status["progress"] = job.progress or status["progress"]
                ended = job.history.next("ended", status)
                events = [*job.history.events, ended]
                await self.write(partial(self.records.end, job.id, end, status, events))
                break
            except UnavailableError as error:
                _LOG.warning("the end of job %s is not stored: %s", job.id, error)
                await asyncio.sleep(RETRY_S)
        self.live.pop(job.id, None)
        job.history.add(ended)
        job.ended.set()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        """Do some work in the background; a task that nobody holds could be collected."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _work(self) -> None:
        """Run one job after the other, in a process that is ready before the job is."""
        process: SupervisedProcess | None = None
        try:
            while True:
                process = await self._prepared(process)
                await self._waiting.acquire()
                process = await self._prepared(process)  # it may have died since
                name = None if self.is_stopping else self.queue.pop()
                if name is not None:  # else it was cancelled
                    await self._run(self.live[name], process)
        finally:
            if process is not None:
                await process.close()

    async def _prepared(self, process: SupervisedProcess | None) -> SupervisedProcess:
        """Return a process that can be asked: the same one if it can be, or else a new one."""
        while process is None or not process.is_usable or not process.is_alive:
            if process is not None:
                await process.close()
            try:
                process = await SupervisedProcess.start(self._settings.job_memory_mb)
            except (OSError, EOFError) as error:
                process = None
                _LOG.warning("a process for jobs cannot be started: %s", described(error))
                await asyncio.sleep(RETRY_S)
        return process

    async def _run(self, job: LiveJob, process: SupervisedProcess) -> None:
        """Run a job to its end, whatever that is."""
        job.process = process
        storing = _Storing(job, self)
        begun = time.perf_counter()

        def receive(message: Begun | Progress) -> None:
            nonlocal begun
            if isinstance(message, Begun):
                begun, job.started_at = time.perf_counter(), time.time()
            else:
                # A plan that was sent before is not sent again.
                plan = {"solution": (job.result or {}).get("solution")}
                job.progress, job.result = message.progress, plan | message.result
            storing.wake()

        try:
            task = await self.write(partial(self.records.task, job.id))
            asked = json.loads(task.asked)
            answer = await process.ask(
                task,
                time_s=time_limit_s(asked) or self._settings.job_time_s,
                is_stoppable=asked["kind"] in STOPPABLE,
                receive=receive,
            )
        except (ProcessEndedError, UnavailableError) as error:
            answer = Ended(str(error))
        await storing.finish()
        if self.is_stopping and job.started_at is None and not job.is_cancelled:
            job.ended.set()  # it is still queued, for the next server
            return
        if answer.progress is not None:
            job.progress = answer.progress | {"seconds": time.perf_counter() - begun}
        await self.end(job, self._end_of(job, answer))

    def _end_of(self, job: LiveJob, answer: Ended) -> JobEnd:
        """Return how a job has ended, by what its process has answered."""
        if answer.result is None or answer.is_stopped:
            best = answer.result or job.result
            if job.is_cancelled:
                return JobEnd("cancelled", CANCELLED, best)
            if self.is_stopping:
                return JobEnd("interrupted", INTERRUPTED, best)
            if answer.result is None:
                return JobEnd("failed", answer.reason, best)
        assert answer.result is not None
        reason = answer.result.get("reason")
        return JobEnd("done", reason, answer.result, answer.certificate, answer.is_proven)
