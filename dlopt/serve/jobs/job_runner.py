"""The queue of jobs, the workers that take from it, and the end of each job."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from dlopt.errors import described, printable, shortened
from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.job_process import Ended
from dlopt.serve.jobs.job_queue import JobQueue
from dlopt.serve.jobs.job_records import JobEnd, JobRecords
from dlopt.serve.jobs.job_worker import RETRY_S, JobWorker
from dlopt.serve.jobs.live_job import LiveJob
from dlopt.serve.settings import ServiceSettings

AnswerT = TypeVar("AnswerT")

ANSWER_TO_CANCEL_S = 0.95
"""Seconds after which a client that cancels is answered, even if the store does not."""
INTERRUPTED = "the service was stopped while the job was running"
"""The reason of a job that is interrupted by `JobRunner.stop`."""
CANCELLED = "cancelled by a client"
"""The reason of a job that is ended by `JobRunner.cancel`."""

_LOG = logging.getLogger(__name__)


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
        """Run one job after the other."""
        worker = JobWorker(
            self.records,
            self.write,
            memory_mb=self._settings.job_memory_mb,
            job_time_s=self._settings.job_time_s,
        )
        try:
            while not self.is_stopping:
                process = await worker.prepare()
                await self._waiting.acquire()
                name = None if self.is_stopping else self.queue.pop()
                if name is None:  # it was cancelled
                    continue
                job = self.live[name]
                job.process = process  # from now on, it is not queued
                try:
                    await self._run(job, worker)
                except Exception as error:  # no job keeps others from their turn
                    _LOG.exception("job %s failed within the service", job.id)
                    await self.end(job, JobEnd("failed", described(error)))
        finally:
            await worker.close()

    async def _run(self, job: LiveJob, worker: JobWorker) -> None:
        """Run a job to its end; one that has not begun when the service stops stays queued."""
        answer = await worker.run(job)
        if self.is_stopping and job.started_at is None and not job.is_cancelled:
            job.ended.set()
        else:
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
