"""The bodies of answers about jobs: the server writes them, clients read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from dlopt.problems import bag, dag, iit
from dlopt.result import Value
from dlopt.service_api.book_records import BookInstance
from dlopt.service_api.json_data import Json, read_record

Instance: TypeAlias = iit.Instance | BookInstance | dag.Instance | bag.Instance
JobKind: TypeAlias = Literal["solve", "compare", "check", "falsify", "certificate"]
JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
"""``done``: answered; ``failed``: not answered, for the reason that is given; ``cancelled``: by a
client; ``interrupted``: by the end of the server. The last three may have a checked result, too."""

JobEventName: TypeAlias = Literal["queued", "started", "progress", "ended"]


@dataclass(frozen=True)
class JobProgress:
    """The best checked value and bound so far, and after how many seconds they were known."""

    value: Value | None
    bound: Value | None
    gap: Value | None
    seconds: float


@dataclass(frozen=True)
class JobStatus:
    """A job; times are in seconds since 1970."""

    id: str
    kind: JobKind
    state: JobState
    created_at: float
    started_at: float | None
    ended_at: float | None
    hash: str | None
    method: str | None
    progress: JobProgress | None
    reason: str | None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("queued", "running")


@dataclass(frozen=True)
class JobEvent:
    """Something that happened to a job.

    Parameters
    ----------
    id : int
        Events of a job are numbered in their order.
    event : {"queued", "started", "progress", "ended"}
    data : mapping
    """

    id: int
    event: str
    data: Json

    @property
    def progress(self) -> JobProgress | None:
        """Value and bound, of an event of progress."""
        return read_record(JobProgress, self.data) if self.event == "progress" else None


@dataclass(frozen=True)
class EndedJob(JobStatus):
    """A job that has ended, with the best checked result."""

    result: Json | tuple[Json, ...] | None


@dataclass(frozen=True)
class JobList:
    """All jobs."""

    jobs: tuple[JobStatus, ...]
