"""What the bodies of requests and responses look like: the source of the OpenAPI document.

These records describe; they are never made. What a body must be is decided where it is used: by
the records of instances, which the schemas here refer to, and by the verbs of the books.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from annotated_types import Ge, Gt, Le, MaxLen, MinLen

from dlopt.arithmetic import Number
from dlopt.books import Conflict, Consequences
from dlopt.problems.admission.data import Chunk, Task
from dlopt.problems.admission.data import Decision as TaskDecision
from dlopt.problems.admission.data import Instance as AdmissionInstance
from dlopt.problems.bag.data import Instance as BagInstance
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation.data import Decision as RequestDecision
from dlopt.problems.coreservation.data import Instance as CoreservationInstance
from dlopt.problems.coreservation.data import Machine, Request, Share
from dlopt.problems.dag.data import Instance as DagInstance
from dlopt.problems.iit.data import Instance as IitInstance
from dlopt.problems.multistage.data import Grant, Reservation
from dlopt.problems.multistage.data import Instance as MultistageInstance
from dlopt.problems.validated_record import NonNegative, Positive

Decision: TypeAlias = TaskDecision | RequestDecision | Grant
Instance: TypeAlias = (
    IitInstance
    | AdmissionInstance
    | MultistageInstance
    | CoreservationInstance
    | DagInstance
    | BagInstance
)
Data: TypeAlias = Mapping[str, Any]
"""An object of a format that is described elsewhere, such as the solution of a problem."""
Index: TypeAlias = Annotated[int, Ge(0)]
Name: TypeAlias = Annotated[str, MinLen(1), MaxLen(200)]
JobKind: TypeAlias = Literal["solve", "compare", "check", "falsify", "certificate"]
JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
StreamProblem: TypeAlias = Literal["admission", "multistage"]


@dataclass(frozen=True)
class BookDefinition:
    """A new book.

    Parameters
    ----------
    problem : str
        What it decides on: ``admission`` (tasks), ``multistage`` (tasks and reservations) or
        ``coreservation`` (requests for shares of machines).
    cluster : Cluster
        Of a book of tasks.
    machines : list of Machine
        Of a book of requests.
    algorithm : str
        By which it decides; see `dlopt methods`.
    now : Number
        The time at which it begins.
    ready_times : list of Number
        When each node becomes free; by default at once.
    channel_ready : Number
        When the head node can send again.
    exact_numbers : bool
        Whether decimals in bodies are read as the fractions that they spell.
    clock : str
        ``caller``: the time advances by what callers say. ``wall``: it is that of the server, in
        seconds since 1970.
    """

    problem: Literal["admission", "multistage", "coreservation"]
    cluster: Cluster | None = None
    machines: Annotated[tuple[Machine, ...], MinLen(1)] | None = None
    algorithm: str | None = None
    now: NonNegative | None = None
    ready_times: tuple[NonNegative, ...] | None = None
    channel_ready: NonNegative | None = None
    exact_numbers: bool = False
    clock: Literal["caller", "wall"] = "caller"


@dataclass(frozen=True)
class BookDescription:
    """A book.

    Parameters
    ----------
    name, problem, algorithm, clock
        As in its definition.
    now : Number
        Its time.
    version : int
        Number of the records of its log: its ETag.
    holds : int
        Promises that are held and not yet confirmed.
    promises : int
        Promises that are kept.
    """

    name: str
    problem: str
    algorithm: str
    clock: str
    now: Number
    version: int
    holds: int
    promises: int


@dataclass(frozen=True)
class BookList:
    """All books."""

    books: tuple[BookDescription, ...]


@dataclass(frozen=True)
class Submission:
    """What is submitted: exactly one of the three, as it stands in an instance file.

    Parameters
    ----------
    task : Task
        For ``admission`` and ``multistage``.
    reservation : Reservation
        For ``multistage``.
    request : Request
        For ``coreservation``.
    """

    task: Task | None = None
    reservation: Reservation | None = None
    request: Request | None = None


@dataclass(frozen=True)
class OfferQuestion(Submission):
    """What was rejected, and how many alternatives are asked for.

    Parameters
    ----------
    k : int
        The most offers that are returned.
    """

    k: Annotated[int, Ge(1), Le(100)] = 3


@dataclass(frozen=True)
class HoldQuestion(Submission):
    """What is to be promised for a while.

    Parameters
    ----------
    ttl_s : Number
        Seconds after which the promise is taken back unless it is confirmed.
    """

    ttl_s: Positive = 60


@dataclass(frozen=True)
class PromiseName:
    """The identity of a promise."""

    id: Name


@dataclass(frozen=True)
class EndReport:
    """When something that has begun ends.

    Parameters
    ----------
    id : str
        Identity of a promise.
    at : Number
    """

    id: Name
    at: NonNegative


@dataclass(frozen=True)
class ResourceChange:
    """A change of the nodes or machines from now on.

    Parameters
    ----------
    add : int or list of Machine
        How many nodes, or which machines.
    remove, fail, repair : list of int
        Numbers of nodes or machines (0-based).
    """

    add: Index | tuple[Machine, ...] | None = None
    remove: tuple[Index, ...] | None = None
    fail: tuple[Index, ...] | None = None
    repair: tuple[Index, ...] | None = None


@dataclass(frozen=True)
class ClockTime:
    """The time of a book."""

    now: NonNegative


@dataclass(frozen=True)
class Nothing:
    """An empty object."""


@dataclass(frozen=True)
class DecisionAnswer:
    """A decision; with its promise, if there is one."""

    decision: Decision


@dataclass(frozen=True)
class OfferAnswer:
    """An alternative that would be accepted; see `dlopt.books.Offer`."""

    dimension: str
    value: Number
    submission: Submission
    concession: Number
    least: bool


@dataclass(frozen=True)
class OffersAnswer:
    """Alternatives, the smallest concession first."""

    offers: tuple[OfferAnswer, ...]


@dataclass(frozen=True)
class ConflictAnswer:
    """What stands in the way; null if the submission would be accepted."""

    conflict: Conflict | None


@dataclass(frozen=True)
class ConsequencesAnswer:
    """What happened to the promises."""

    consequences: Consequences


@dataclass(frozen=True)
class Hold:
    """A promise for a while.

    Parameters
    ----------
    id : str
        Its identity.
    expires_at : float
        When it is taken back, in seconds since 1970.
    ttl_s : Number
        Seconds for which it holds.
    """

    id: str
    expires_at: Number
    ttl_s: Number


@dataclass(frozen=True)
class HoldAnswer:
    """A decision, and the hold if it was accepted."""

    decision: Decision
    hold: Hold | None


@dataclass(frozen=True)
class ArchiveAnswer:
    """What is over: the book has forgotten it."""

    until: Number
    decisions: tuple[Decision, ...]
    allocations: tuple[Chunk | Share, ...]


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
    priority: int = 0


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
    hash: str
    method: str | None
    progress: JobProgress | None
    reason: str | None


@dataclass(frozen=True)
class JobList:
    """All jobs."""

    jobs: tuple[JobStatus, ...]


@dataclass(frozen=True)
class FaultData:
    """One thing that is wrong with a request.

    Parameters
    ----------
    path : str
        Where it is, as ``task.load``; empty for the whole body.
    rule : str
        What should stand there.
    value : object
        What stands there, if anything does.
    """

    path: str
    rule: str
    value: Any = None


@dataclass(frozen=True)
class FaultList:
    """Everything that is wrong with a question; empty if nothing is."""

    faults: tuple[FaultData, ...]


@dataclass(frozen=True)
class Problem:
    """An error, by RFC 9457.

    Parameters
    ----------
    type, title : str
        The kind of error, for programs and for people.
    status : int
        Of the response.
    detail : str
        What is wrong with this request.
    faults : list
        Everything that is wrong with its content.
    request_id : str
        Under which the log of the service tells more.
    """

    type: str
    title: str
    status: int
    detail: str
    faults: tuple[FaultData, ...]
    request_id: str


@dataclass(frozen=True)
class Health:
    """Whether the service can do its work.

    Parameters
    ----------
    status : str
        ``ok`` if all parts are.
    parts : object
        Each part with ``ok``, or what is wrong with it.
    version : str
        Of dlopt.
    """

    status: Literal["ok", "failing"]
    parts: Mapping[str, str]
    version: str
