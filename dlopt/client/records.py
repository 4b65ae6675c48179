"""Answers of the service, read into the records of dlopt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from dlopt import arithmetic
from dlopt.arithmetic import Number
from dlopt.books import Archive, Conflict, ConflictPart, Consequences, Offer
from dlopt.books.verb_results import Dimension, PartKind
from dlopt.heuristics.multistage.reservation_records import ReservationArchive
from dlopt.io import instance_from_data
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.validated_record import Header
from dlopt.result import Value

Json: TypeAlias = Mapping[str, object]
"""The data of a JSON object."""
Submission: TypeAlias = admission.Task | multistage.Reservation | coreservation.Request
Decision: TypeAlias = admission.Decision | multistage.Grant | coreservation.Decision
Plan: TypeAlias = admission.Solution | multistage.Solution | coreservation.Solution
Allocation: TypeAlias = admission.Chunk | coreservation.Share
BookArchive: TypeAlias = Archive[Decision, Allocation] | ReservationArchive

_SUBMISSIONS: Mapping[str, type[Submission]] = {
    "task": admission.Task,
    "reservation": multistage.Reservation,
    "request": coreservation.Request,
}
_DECISIONS: Mapping[str, type[Decision]] = {
    "task": admission.Decision,
    "reservation": multistage.Grant,
    "request": coreservation.Decision,
}


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Hold:
    """A promise that is taken back unless it is confirmed in time.

    Parameters
    ----------
    id : str
        Identity of what was submitted.
    expires_at : float
        In seconds of the service's clock, since 1970.
    ttl_s : float
        Its time to live in seconds.
    """

    id: str
    expires_at: float
    ttl_s: float


@dataclass(frozen=True, slots=True)
class HoldAnswer:
    """The answer to `hold`: the decision and, of an acceptance, the hold."""

    decision: Decision
    hold: Hold | None


@dataclass(frozen=True, slots=True)
class BookState:
    """What is alive in a book: an instance and its plan, which `dlopt.check` accepts.

    Parameters
    ----------
    instance : Instance
    plan : Solution
    nodes : tuple of int, optional
        Of a cluster: which of its nodes those of the instance are.
    """

    instance: Header
    plan: Plan
    nodes: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job is: what is checked so far, after so many seconds."""

    value: Value | None
    bound: Value | None
    gap: Value | None
    seconds: float


@dataclass(frozen=True, slots=True)
class JobStatus:
    """The state of a job.

    Parameters
    ----------
    id, kind : str
    state : {"queued", "running", "done", "failed", "cancelled", "interrupted"}
    hash : str, optional
        Of its instance.
    method : str, optional
    progress : JobProgress, optional
    reason : str, optional
        Why it failed or ended early.
    created_at, started_at, ended_at : float, optional
        In seconds of the service's clock, since 1970.
    """

    id: str
    kind: str
    state: str
    hash: str | None = None
    method: str | None = None
    progress: JobProgress | None = None
    reason: str | None = None
    created_at: float | None = None
    started_at: float | None = None
    ended_at: float | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in ("queued", "running")


@dataclass(frozen=True, slots=True)
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
        return read_progress(self.data) if self.event == "progress" else None


def submission_fields(submission: Submission | Json) -> dict[str, object]:
    """Return a submission as a body says it.

    Parameters
    ----------
    submission : Task, Reservation, Request or mapping
        A mapping is taken as it is: ``{"task": {...}}``, without `arrival` for one that arrives now
        by the wall's clock.

    Examples
    --------
    >>> submission_fields(admission.Task("a", arrival=0, load=1, deadline=3))
    {'task': {'id': 'a', 'arrival': 0, 'load': 1, 'deadline': 3}}
    """
    if isinstance(submission, Mapping):
        return dict(submission)
    kind = next(key for key, record in _SUBMISSIONS.items() if isinstance(submission, record))
    return {kind: submission.to_data()}


def read_submission(data: Json) -> Submission:
    """Read ``{"task": {...}}``, ``{"reservation": {...}}`` or ``{"request": {...}}``."""
    ((kind, fields),) = data.items()
    return _SUBMISSIONS[kind].from_data(cast(Json, fields))


def read_decision(data: Json) -> Decision:
    """Read the decision on a task, a reservation or a request."""
    return next(record for key, record in _DECISIONS.items() if key in data).from_data(data)


def read_number(value: object) -> Number:
    """Read a number, or the text of one.

    Examples
    --------
    >>> read_number("39/8"), read_number(0.5)
    (Fraction(39, 8), 0.5)
    """
    if isinstance(value, str):
        return arithmetic.simplest(arithmetic.parse(value))
    if not arithmetic.is_number(value):
        raise ValueError(f"not a number: {value!r}")
    return value


def read_value(value: object) -> Value | None:
    """Read an objective value, of one level or several."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(read_number(level) for level in value)
    return None if value is None else read_number(value)


def read_offers(offers: Sequence[Json]) -> tuple[Offer[Submission], ...]:
    """Read counter-offers."""
    return tuple(
        Offer(
            cast(Dimension, offer["dimension"]),
            read_number(offer["value"]),
            read_submission(cast(Json, offer["submission"])),
            read_number(offer["concession"]),
            bool(offer["least"]),
        )
        for offer in offers
    )


def read_conflict(data: Json | None) -> Conflict | None:
    """Read what stands in the way."""
    if data is None:
        return None
    parts = tuple(
        ConflictPart(cast(PartKind, part["kind"]), str(part.get("id", "")))
        for part in cast(Sequence[Json], data["parts"])
    )
    return Conflict(parts, str(data["reason"]), bool(data["irreducible"]))


def read_consequences(data: Json) -> Consequences:
    """Read what a call did to the promises."""
    broken, moved = (cast(Sequence[str], data[name]) for name in ("broken", "moved"))
    return Consequences(tuple(broken), tuple(moved), bool(data["least"]))


def read_archive(data: Json) -> BookArchive:
    """Read what is over."""
    decided, allocated = (cast(Sequence[Json], data[name]) for name in ("decisions", "allocations"))
    until, decisions = read_number(data["until"]), tuple(map(read_decision, decided))
    if "grants" in data:
        grants, reservations = (
            cast(Sequence[Json], data[name]) for name in ("grants", "reservations")
        )
        return ReservationArchive(
            until,
            cast("tuple[admission.Decision, ...]", decisions),
            tuple(map(admission.Chunk.from_data, allocated)),
            tuple(map(multistage.Grant.from_data, grants)),
            tuple(map(multistage.Reservation.from_data, reservations)),
        )
    return Archive(until, decisions, tuple(map(_read_allocation, allocated)))


def _read_allocation(data: Json) -> Allocation:
    kind: type[Allocation] = coreservation.Share if "request" in data else admission.Chunk
    return kind.from_data(data)


def read_plan(data: Json) -> Plan:
    """Read decisions and allocations."""
    if "shares" in data:
        return coreservation.Solution.from_data(data)
    kind: type[Plan] = multistage.Solution if "grants" in data else admission.Solution
    return kind.from_data(data)


def read_state(data: Json | None) -> BookState | None:
    """Read what is alive; None if nothing is."""
    if data is None:
        return None
    nodes = cast(Sequence[int] | None, data.get("nodes"))
    return BookState(
        cast(Header, instance_from_data(data["instance"])),
        read_plan(cast(Json, data["plan"])),
        None if nodes is None else tuple(nodes),
    )


def read_description(data: Json) -> BookDescription:
    """Read the description of a book."""
    known = {name: data[name] for name in BookDescription.__slots__}
    return BookDescription(**known | {"now": read_number(data["now"])})  # type: ignore[arg-type]


def read_hold_answer(data: Json) -> HoldAnswer:
    """Read the answer to `hold`."""
    hold = cast(Json | None, data["hold"])
    return HoldAnswer(
        read_decision(cast(Json, data["decision"])), None if hold is None else read_hold(hold)
    )


def read_hold(data: Json) -> Hold:
    """Read a hold."""
    expires_at, ttl_s = (float(read_number(data[name])) for name in ("expires_at", "ttl_s"))
    return Hold(str(data["id"]), expires_at, ttl_s)


def read_progress(data: Json) -> JobProgress:
    """Read value, bound and gap at an instant of a run."""
    value, bound, gap = (read_value(data.get(name)) for name in ("value", "bound", "gap"))
    return JobProgress(value, bound, gap, float(read_number(data["seconds"])))


def read_status(data: Json) -> JobStatus:
    """Read the state of a job."""
    progress = cast(Json | None, data.get("progress"))
    known = ("hash", "method", "reason", "created_at", "started_at", "ended_at")
    return JobStatus(
        str(data["id"]),
        str(data["kind"]),
        str(data["state"]),
        progress=None if progress is None else read_progress(progress),
        **{name: data.get(name) for name in known},  # type: ignore[arg-type]
    )
