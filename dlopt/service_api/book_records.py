"""The bodies of answers of books: the server writes them, clients read them.

The bodies of requests to books are in `dlopt.service_api.arguments` and `definitions`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator

from dlopt import io
from dlopt.arithmetic import Number
from dlopt.books import Archive, Conflict, Consequences, Offer
from dlopt.books.verb_results import Dimension
from dlopt.heuristics.multistage.book_state_and_archive import ReservationArchive
from dlopt.problems import admission, coreservation, multistage
from dlopt.service_api.json_data import Json

Submitted: TypeAlias = admission.Task | multistage.Reservation | coreservation.Request
Decision: TypeAlias = admission.Decision | coreservation.Decision | multistage.Grant
Plan: TypeAlias = admission.Solution | multistage.Solution | coreservation.Solution
Allocation: TypeAlias = admission.Chunk | coreservation.Share
BookArchive: TypeAlias = Archive[Decision, Allocation] | ReservationArchive
BookInstance: TypeAlias = admission.Instance | multistage.Instance | coreservation.Instance


@dataclass(frozen=True)
class BookDescription:
    """A book of a service.

    Parameters
    ----------
    name, problem, algorithm, clock
        As it was created.
    now : Number
        Its time.
    version : int
        Number of the records of its log: its ETag.
    holds : int
        Promises that expire unless they are confirmed.
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
    """All books.

    Parameters
    ----------
    books : list of BookDescription
    unreadable : object, optional
        By name, why books in the store cannot be served.
    """

    books: tuple[BookDescription, ...]
    unreadable: Mapping[str, str] | None = None


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

    task: admission.Task | None = None
    reservation: multistage.Reservation | None = None
    request: coreservation.Request | None = None

    @classmethod
    def of(cls, submitted: Submitted) -> Submission:
        """Return the record with what is submitted in the field of its kind."""
        return cls(**{kind_of(submitted): submitted})  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if (self.task, self.reservation, self.request).count(None) != 2:
            raise ValueError("must have exactly one of task, reservation and request")

    @property
    def submitted(self) -> Submitted:
        """The one of the three that is given."""
        given = (self.task, self.reservation, self.request)
        return next(one for one in given if one is not None)


def kind_of(submitted: Submitted) -> Literal["task", "reservation", "request"]:
    """Return the name of the kind of a submission.

    Examples
    --------
    >>> kind_of(admission.Task("a", arrival=0, load=1, deadline=2))
    'task'
    """
    if isinstance(submitted, coreservation.Request):
        return "request"
    return "reservation" if isinstance(submitted, multistage.Reservation) else "task"


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

    @classmethod
    def of(cls, decision: Decision) -> DecisionAnswer:
        """Return the record of one decision, with the reason of a rejection."""
        return cls(decision, reason=None if decision.accepted else decision.reason)


@dataclass(frozen=True)
class OfferAnswer:
    """An alternative that would be accepted; see `dlopt.books.Offer`."""

    dimension: Dimension
    value: Number
    submission: Submission
    concession: Number
    least: bool

    @classmethod
    def of(cls, offer: Offer[Any]) -> OfferAnswer:
        """Return the record of an offer of a book."""
        submission = Submission.of(offer.submission)
        return cls(offer.dimension, offer.value, submission, offer.concession, offer.least)

    @property
    def offer(self) -> Offer[Submitted]:
        """The offer as a local book makes it."""
        submitted = self.submission.submitted
        return Offer(self.dimension, self.value, submitted, self.concession, self.least)


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
        When it is taken back, in seconds of the service's clock, since 1970.
    ttl_s : float
        Its time to live in seconds.
    """

    id: str
    expires_at: float
    ttl_s: float


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

    plan: Plan


@dataclass(frozen=True)
class State:
    """What is still to come.

    Parameters
    ----------
    instance : Instance
        As in an instance file.
    plan : Solution
        Of the instance; `dlopt.check` accepts it.
    nodes : list of int
        Which nodes of the book the nodes of the instance are.
    """

    instance: Annotated[BookInstance, BeforeValidator(io.instance_from_data)]
    plan: Plan
    nodes: tuple[int, ...] | None = None


@dataclass(frozen=True)
class StateAnswer:
    """What is still to come; null if nothing is."""

    state: State | None


@dataclass(frozen=True)
class LogAnswer:
    """Records of the log, in order."""

    records: tuple[Json, ...]


@dataclass(frozen=True)
class SnapshotAnswer:
    """The whole state of the engine, as `dlopt.Book.snapshot` returns it."""

    snapshot: Json


@dataclass(frozen=True)
class ArchiveAnswer:
    """What is over: the book has forgotten it."""

    until: Number
    decisions: tuple[Decision, ...]
    allocations: tuple[Allocation, ...]
    grants: tuple[multistage.Grant, ...] | None = None
    reservations: tuple[multistage.Reservation, ...] | None = None

    @classmethod
    def of(cls, archive: Archive[Any, Any]) -> ArchiveAnswer:
        """Return the record of an archive of a book."""
        fields = dataclasses.fields(archive)
        return cls(**{field.name: getattr(archive, field.name) for field in fields})

    @property
    def archive(self) -> BookArchive:
        """The archive as a local book hands it out."""
        found = self.until, self.decisions, self.allocations
        if self.grants is None or self.reservations is None:
            return Archive(*found)
        return ReservationArchive(*found, self.grants, self.reservations)  # type: ignore[arg-type]
