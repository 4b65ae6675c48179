"""The bodies of requests and answers about jobs: the server writes them, clients read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Gt, Le

from dlopt.problems import bag, dag, iit
from dlopt.result import Value
from dlopt.service_api.book_records import BookInstance
from dlopt.service_api.json_data import Json, read_record

Instance: TypeAlias = iit.Instance | BookInstance | dag.Instance | bag.Instance
JobKind: TypeAlias = Literal["solve", "compare", "check", "falsify", "certificate"]
JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
"""``done``: answered; ``failed``: not answered, for the reason that is given; ``cancelled``: by a
client; ``interrupted``: by the end of the server. The last three may have a checked result, too."""
MAX_PRIORITY = 1_000
"""The highest priority of a job; the negative of it is the lowest. Chosen by hand."""


@dataclass(frozen=True)
class JobLimits:
    """What a job may spend; see `dlopt.Limits`.

    Parameters
    ----------
    time_s : float
        Seconds of wall-clock time.
    work : int
        Nodes or iterations, a limit that gives equal answers.
    threads : int
        Of a solver.
    gap : float
        Relative gap at which a solver may stop.
    """

    time_s: Annotated[float, Gt(0)] | None = None
    work: Annotated[int, Ge(1)] | None = None
    threads: Annotated[int, Ge(1)] = 1
    gap: Annotated[float, Ge(0)] = 0.0


@dataclass(frozen=True)
class JobQuestion:
    """What a job is to answer.

    Parameters
    ----------
    kind : str
        What to do with the instance.
    instance : Instance
        As it stands in an instance file; or its hash, if the service has it.
    hash : str
        Of the canonical JSON of an instance that was sent before.
    method, methods : str, list of str
        See `dlopt methods`; several for ``compare``.
    objective : str
        See `dlopt methods`.
    solution : object
        For ``check``: as a result has it.
    limits : JobLimits
    seed : int
        Of random numbers.
    options : object
        Of the method.
    problem, claim, target : str
        For ``falsify``: the problem type, the claim that a counterexample is searched for, and
        whether a ``gap`` is searched for instead.
    priority : int
        Jobs of higher priority begin first.
    """

    kind: JobKind = "solve"
    instance: Instance | None = None
    hash: str | None = None
    method: str | None = None
    methods: tuple[str, ...] | None = None
    objective: str | None = None
    solution: Json | None = None
    limits: JobLimits | None = None
    seed: int = 0
    options: Json | None = None
    problem: str | None = None
    claim: str | None = None
    target: Literal["claim", "gap"] | None = None
    priority: Annotated[int, Ge(-MAX_PRIORITY), Le(MAX_PRIORITY)] = 0


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
        """Value and bound, of an event that tells them."""
        return read_record(JobProgress, self.data) if self.event == "progress" else None


@dataclass(frozen=True)
class EndedJob(JobStatus):
    """A job that has ended, with the best checked result."""

    result: Json | tuple[Json, ...] | None


@dataclass(frozen=True)
class JobList:
    """All jobs."""

    jobs: tuple[JobStatus, ...]
