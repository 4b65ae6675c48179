"""Jobs of which it is not known whether they are stored: they are queued once they are found."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import UnavailableError
from dlopt.serve.jobs.event_history import EventHistory
from dlopt.serve.jobs.job_dispatcher import JobDispatcher
from dlopt.serve.jobs.job_runner import ActiveJob
from dlopt.serve.jobs.stored_requests import JobRequest

FIRST_PAUSE_S = 1.0
"""Seconds until a submission is looked for; the pause doubles each time."""
MAX_PAUSE_S = 60.0
"""Seconds between two attempts at most. PostgreSQL may let all that write wait for one."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Submission:
    job: str
    request: JobRequest
    owner: str

    @property
    def question(self) -> tuple[str, str]:
        """What is equal if the same client asks the same again."""
        return self.owner, self.request.key


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
        self._unsettled: dict[str, _Submission] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._settling = asyncio.Lock()

    def add(self, job: str, request: JobRequest, owner: str) -> None:
        """Find out in the background whether a job is stored."""
        submission = _Submission(job, request, owner)
        self._unsettled[job] = submission
        self._dispatcher.begin(self._settle_in_the_end(submission))

    async def job_of(self, request: JobRequest, owner: str) -> str | None:
        """Return the job of an earlier submission of a request whose client does not know it.

        Nothing is returned if there is none that is queued or running.

        Raises
        ------
        UnavailableError
            If there may be one, and it cannot be known now.
        """
        question = (owner, request.key)
        for submission in [one for one in self._unsettled.values() if one.question == question]:
            await self._settle(submission)
        job = self._dispatcher.active.get(self._found.get(question, ""))
        return None if job is None or job.is_cancelled else job.id

    def answered(self, request: JobRequest, owner: str) -> None:
        """Forget the job of a request: its client has its status now."""
        self._found.pop((owner, request.key), None)

    async def _settle_in_the_end(self, submission: _Submission) -> None:
        pause = FIRST_PAUSE_S
        while submission.job in self._unsettled:
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
            if job not in self._unsettled:  # another call was faster
                return
            try:
                status = await asyncio.to_thread(self._dispatcher.records.added, job)
            except UnavailableError as error:
                raise UnavailableError(
                    f"it is not known yet whether job {job!r} is stored: {error}",
                    retry_after_s=FIRST_PAUSE_S,
                ) from error
            del self._unsettled[job]
            if status is not None:
                self._enqueue(submission, status)

    def _enqueue(self, submission: _Submission, status: JsonObject) -> None:
        history = EventHistory([{"id": 1, "event": "queued", "data": status}])
        active = ActiveJob(submission.job, history)
        self._dispatcher.enqueue(active, submission.owner, submission.request.priority)
        unended = self._dispatcher.active
        self._found = {key: job for key, job in self._found.items() if job in unended}
        self._found[submission.question] = submission.job
