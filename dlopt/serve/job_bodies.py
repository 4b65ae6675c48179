"""What the bodies of requests and responses about jobs look like, see `dlopt.serve.bodies`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Gt, Le

from dlopt.arithmetic import Number
from dlopt.problems.admission.data import Instance as AdmissionInstance
from dlopt.problems.bag.data import Instance as BagInstance
from dlopt.problems.coreservation.data import Instance as CoreservationInstance
from dlopt.problems.dag.data import Instance as DagInstance
from dlopt.problems.iit.data import Instance as IitInstance
from dlopt.problems.multistage.data import Instance as MultistageInstance
from dlopt.serve.bodies import Data
from dlopt.serve.jobs.job_records import JobState
from dlopt.serve.jobs.job_request_reader import MAX_PRIORITY

Instance: TypeAlias = (
    IitInstance
    | AdmissionInstance
    | MultistageInstance
    | CoreservationInstance
    | DagInstance
    | BagInstance
)
JobKind: TypeAlias = Literal["solve", "compare", "check", "falsify", "certificate"]


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
    solution: Data | None = None
    limits: JobLimits | None = None
    seed: int = 0
    options: Data | None = None
    problem: str | None = None
    claim: str | None = None
    target: Literal["claim", "gap"] | None = None
    priority: Annotated[int, Ge(-MAX_PRIORITY), Le(MAX_PRIORITY)] = 0


@dataclass(frozen=True)
class JobProgress:
    """The best checked value and bound so far, and after how many seconds they were known."""

    value: Number | tuple[Number, ...] | None
    bound: Number | tuple[Number, ...] | None
    gap: Number | tuple[Number, ...] | None
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


@dataclass(frozen=True)
class EndedJob(JobStatus):
    """A job that has ended, with the best checked result."""

    result: Data | tuple[Data, ...] | None


@dataclass(frozen=True)
class JobList:
    """All jobs."""

    jobs: tuple[JobStatus, ...]
