"""What the bodies of requests and responses look like: the source of the OpenAPI document.

These records describe; they are never made. What a body must be is decided where it is used: by
the records of instances and of the arguments of verbs, which the document describes too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from dlopt.arithmetic import Number
from dlopt.books import Conflict, Consequences
from dlopt.problems.admission.data import Chunk, Task
from dlopt.problems.admission.data import Decision as TaskDecision
from dlopt.problems.coreservation.data import Decision as RequestDecision
from dlopt.problems.coreservation.data import Request, Share
from dlopt.problems.multistage.data import Grant, Reservation

Decision: TypeAlias = TaskDecision | RequestDecision | Grant
Data: TypeAlias = Mapping[str, Any]
"""An object of a format that is described elsewhere, such as the solution of a problem."""


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
        Promises for a while, which are not yet confirmed.
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
class DecisionAnswer:
    """A decision, or those on a batch of requests.

    Parameters
    ----------
    decision : Decision
    decisions : list of Decision
        Of a batch, which is sent as ``requests``.
    reason : str
        Why it was rejected, in words.
    """

    decision: Decision | None = None
    decisions: tuple[Decision, ...] | None = None
    reason: str | None = None


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
    reason: str | None = None


@dataclass(frozen=True)
class HoldState:
    """A hold as it was when it was confirmed."""

    hold: Hold


@dataclass(frozen=True)
class BookName:
    """The name of a book."""

    name: str


@dataclass(frozen=True)
class ClockTime:
    """The time of a book."""

    now: Number


@dataclass(frozen=True)
class PlanAnswer:
    """All decisions and allocations, as the solution in a result has them."""

    plan: Data


@dataclass(frozen=True)
class State:
    """What is still to come.

    Parameters
    ----------
    instance : object
        As in an instance file.
    plan : object
        A solution of it.
    nodes : list of int
        Which nodes of the book the nodes of the instance are.
    """

    instance: Data
    plan: Data
    nodes: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StateAnswer:
    """What is still to come; null if nothing is."""

    state: State | None


@dataclass(frozen=True)
class LogAnswer:
    """Records of the log, in order."""

    records: tuple[Data, ...]


@dataclass(frozen=True)
class SnapshotAnswer:
    """The whole state of the engine, as `dlopt.Book.snapshot` returns it."""

    snapshot: Data


@dataclass(frozen=True)
class ArchiveAnswer:
    """What is over: the book has forgotten it."""

    until: Number
    decisions: tuple[Decision, ...]
    allocations: tuple[Chunk | Share, ...]
    grants: tuple[Grant, ...] | None = None
    reservations: tuple[Reservation, ...] | None = None


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
