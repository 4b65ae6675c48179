"""The queue of jobs, the runners that take from it, and the end of each job."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Coroutine, Sequence

from dlopt.errors import described, printable, shortened
from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.job_queue import JobQueue
from dlopt.serve.jobs.job_records import JobEnd, JobRecords
from dlopt.serve.jobs.job_runner import RETRY_S, ActiveJob, JobRunner
from dlopt.serve.jobs.worker_main import Ended
from dlopt.serve.settings import ServiceSettings

ANSWER_TO_CANCEL_S = 0.95
"""Seconds after which a client that cancels is answered, even if the store does not."""
INTERRUPTED = "the service was stopped while the job was running"
"""The reason of a job that is interrupted by `JobDispatcher.stop`."""
CANCELLED = "cancelled by a client"
"""The reason of a job that is ended by `JobDispatcher.cancel`."""

_LOG = logging.getLogger(__name__)


class JobDispatcher:
    """Hands queued jobs to runners, one for each job that may run at the same time.

    It belongs to one event loop. What it tells anyone is stored before.

    Parameters
    ----------
    records : JobRecords
    settings : ServiceSettings

    Attributes
    ----------
    queue : JobQueue
    active : dict of str to ActiveJob
        The jobs that are queued or running, by name.
    is_stopping : bool
    """

    def __init__(self, records: JobRecords, settings: ServiceSettings) -> None:
        self.records = records
        self.queue = JobQueue(settings.queued_jobs)
        self.active: dict[str, ActiveJob] = {}
        self.is_stopping = False
        self._runners = [JobRunner(records, settings) for _ in range(settings.concurrent_jobs)]
        self._waiting = asyncio.Semaphore(0)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def trouble(self) -> str | None:
        """Why a runner cannot work at present; None if all can."""
        return next((runner.trouble for runner in self._runners if runner.trouble), None)

    def start(self) -> None:
        """Begin to work."""
        for runner in self._runners:
            self.begin(self._run_jobs(runner))

    async def stop(self) -> None:
        """End: running jobs are interrupted with what they have, queued ones stay queued."""
        self.is_stopping = True
        running = [job for job in self.active.values() if job.process is not None]
        for job in running:
            assert job.process is not None
            job.process.stop()
        for job in running:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(job.ended.wait(), ANSWER_TO_CANCEL_S)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in self.active.values():
            job.history.close()
        self.records.close()

    def enqueue(self, job: ActiveJob, owner: str, priority: int) -> None:
        """Let a stored job wait for its turn."""
        self.active[job.id] = job
        self.queue.put(job.id, owner, priority)
        self._waiting.release()

    async def interrupt(self, jobs: Sequence[ActiveJob], reason: str) -> None:
        """End jobs that a former server has left running.

        This does not wait for a store that does not take it, as on a full disk: what is there can
        be read meanwhile.
        """
        for job in jobs:
            self.active[job.id] = job
            self.begin(self.end(job, JobEnd("interrupted", reason)))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_TO_CANCEL_S):
                for job in jobs:
                    await job.ended.wait()

    async def cancel(self, job: ActiveJob) -> None:
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
            self.begin(self.end(job, JobEnd("cancelled", CANCELLED)))
        try:
            await asyncio.wait_for(job.ended.wait(), ANSWER_TO_CANCEL_S)
        except TimeoutError as error:
            raise UnavailableError(
                f"job {job.id!r} is being cancelled, and its end is not stored yet: ask again",
                retry_after_s=RETRY_S,
            ) from error

    def begin(self, work: Coroutine[None, None, None]) -> None:
        """Do some work in the background, until it ends or the service stops."""
        task = asyncio.create_task(work)
        self._tasks.add(task)  # a task that nobody holds could be collected
        task.add_done_callback(self._tasks.discard)

    async def end(self, job: ActiveJob, end: JobEnd) -> None:
        """Store the end of a job, however long that takes, and then tell it.

        If it can never be stored, as a result that is no JSON, the job has failed.
        """
        now = time.time()
        try:
            await self._store_end(job, end, now)
        except Exception as error:
            _LOG.exception("the end of job %s cannot be stored", job.id)
            failed = JobEnd("failed", f"its result cannot be stored: {described(error)}")
            try:
                await self._store_end(job, failed, now)
            except Exception:
                _LOG.exception("nor can it be stored that job %s has failed", job.id)
                job.history.close()
        self.active.pop(job.id, None)
        job.ended.set()

    async def _store_end(self, job: ActiveJob, end: JobEnd, now: float) -> None:
        reason = None if end.reason is None else printable(shortened(end.reason))
        changes: JsonObject = {"state": end.state, "reason": reason, "ended_at": now}
        changes |= {} if job.started_at is None else {"started_at": job.started_at}
        changes |= {} if job.progress is None else {"progress": job.progress}
        events = job.history.events
        while True:
            try:
                ended = await self.records.in_turn(self.records.end, job.id, end, changes, events)
                job.history.add(ended)
                return
            except UnavailableError as error:
                _LOG.warning("the end of job %s is not stored: %s", job.id, error)
                await asyncio.sleep(RETRY_S)

    async def _run_jobs(self, runner: JobRunner) -> None:
        """Run one job after the other; no failure ends this, as long as the service does not."""
        try:
            while not self.is_stopping:
                try:
                    await self._run_next(runner)
                except Exception as error:
                    _LOG.exception("a runner of jobs failed, and goes on")
                    runner.trouble = described(error)
                    await asyncio.sleep(RETRY_S)
        finally:
            await runner.close()

    async def _run_next(self, runner: JobRunner) -> None:
        """Wait for a job, and run it to its end."""
        process = await runner.prepare()
        await self._waiting.acquire()
        name = None if self.is_stopping else self.queue.pop()
        if name is None:  # it was cancelled
            return
        job = self.active[name]
        job.process = process  # from now on, it is not queued
        try:
            answer = await runner.run(job)
        except Exception as error:
            _LOG.exception("job %s failed within the service", job.id)
            await self.end(job, JobEnd("failed", described(error)))
            return
        if self.is_stopping and job.started_at is None and not job.is_cancelled:
            job.ended.set()  # it has not begun, and stays queued
        else:
            await self.end(job, self._end_of(job, answer))

    def _end_of(self, job: ActiveJob, answer: Ended) -> JobEnd:
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
