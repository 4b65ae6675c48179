"""Jobs of which it is not known whether they are stored: they are queued once they are found."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.job_dispatcher import JobDispatcher
from dlopt.serve.jobs.job_runner import ActiveJob
from dlopt.serve.jobs.stored_requests import JobRequest

FIRST_PAUSE_S = 1.0
"""Seconds until a submission is looked for; the pause doubles each time."""
MAX_PAUSE_S = 60.0
"""Seconds between two attempts at most. PostgreSQL may let all that write wait for one."""

_LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class _Submission:
    """A submission, and whether it is known by now if its job is stored."""

    job: str
    request: JobRequest
    owner: str
    is_settled: bool = False


class UnsettledSubmissions:
    """Submissions whose commit has failed, and may have happened all the same.

    Each is looked for until it is known whether it is stored, and then queued; unless the service
    ends before: the next one queues what is in the store. Its client does not know the job. If it
    sends the request again, it gets this job, and no second one.

    Parameters
    ----------
    dispatcher : JobDispatcher
    """

    def __init__(self, dispatcher: JobDispatcher) -> None:
        self._dispatcher = dispatcher
        self._submissions: dict[tuple[str, str], _Submission] = {}  # by owner and question
        self._settling = asyncio.Lock()

    def add(self, job: str, request: JobRequest, owner: str) -> None:
        """Find out in the background whether a job is stored."""
        unended = self._dispatcher.active
        self._submissions = {
            question: earlier
            for question, earlier in self._submissions.items()
            if not earlier.is_settled or earlier.job in unended
        }
        submission = _Submission(job, request, owner)
        self._submissions[owner, request.key] = submission
        self._dispatcher.begin(self._settle_in_the_end(submission))

    async def job_of(self, request: JobRequest, owner: str) -> str | None:
        """Return the job of an earlier submission of a request whose client does not know it.

        Nothing is returned if there is none that is queued or running.

        Raises
        ------
        UnavailableError
            If there may be one, and it cannot be known now.
        """
        submission = self._submissions.get((owner, request.key))
        if submission is None:
            return None
        await self._settle(submission)
        job = self._dispatcher.active.get(submission.job)
        return None if job is None or job.is_cancelled else job.id

    def answered(self, request: JobRequest, owner: str) -> None:
        """Forget the submission of a request: its client has the status of its job now."""
        self._submissions.pop((owner, request.key), None)

    async def _settle_in_the_end(self, submission: _Submission) -> None:
        pause = FIRST_PAUSE_S
        while not submission.is_settled:
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE_S)
            try:
                await self._settle(submission)
            except UnavailableError as error:
                _LOG.warning("%s", error)

    async def _settle(self, submission: _Submission) -> None:
        """Queue a job if it is stored, and look for it no longer if it is not."""
        job = submission.job
        async with self._settling:
            if submission.is_settled:  # another call was faster
                return
            try:
                status = await asyncio.to_thread(self._dispatcher.records.added, job)
            except UnavailableError as error:
                raise UnavailableError(
                    f"it is not known yet whether job {job!r} is stored: {error}",
                    retry_after_s=FIRST_PAUSE_S,
                ) from error
            submission.is_settled = True
            if status is not None:
                active, priority = ActiveJob.queued(status), submission.request.priority
                self._dispatcher.enqueue(active, submission.owner, priority)
