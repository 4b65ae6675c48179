"""What the calls of a book contain, as records: their faults have path, value and rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from dlopt.errors import MISSING, Fault
from dlopt.problems.admission.data import Task
from dlopt.problems.coreservation.data import Machine, Request
from dlopt.problems.multistage.data import Reservation
from dlopt.problems.validated_record import NonNegative, Positive, Record

MAX_LOG_RECORDS = 1_000
"""Log records that one answer has at the most."""
MAX_OFFERS = 20
"""Offers that can be asked for at a time: several for each dimension in which a book offers."""
MAX_TTL_S = 31_536_000
"""Longest time to live of a hold: a year. What should last longer is confirmed."""


@dataclass(frozen=True, slots=True)
class NoArguments(Record):
    """The arguments of a call that has none."""


@dataclass(frozen=True, slots=True)
class TaskArguments(Record):
    """A submission to a book of tasks.

    Parameters
    ----------
    task : Task
        A divisible task.
    """

    task: Task


@dataclass(frozen=True, slots=True)
class TaskOrReservation(Record):
    """A submission to a book of tasks and reservations: one of the two.

    Parameters
    ----------
    task : Task, optional
        A divisible task.
    reservation : Reservation, optional
        An advance reservation.
    """

    task: Task | None = None
    reservation: Reservation | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault unless there is exactly one."""
        return _one_of(("task", "reservation"), known)


@dataclass(frozen=True, slots=True)
class RequestArguments(Record):
    """A submission to a book of CPU shares.

    Parameters
    ----------
    request : Request
        A request for CPU shares.
    """

    request: Request


@dataclass(frozen=True, slots=True)
class RequestOrBatch(Record):
    """A submission to a book of CPU shares: a request, or several that are decided together.

    Parameters
    ----------
    request : Request, optional
        A request for CPU shares.
    requests : tuple of Request, optional
        Several requests, which are decided together.
    at : Number, optional
        When they are decided; by default when the last of them arrived.
    """

    request: Request | None = None
    requests: tuple[Request, ...] | None = None
    at: NonNegative | None = None

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault unless there is exactly one of the two."""
        return _one_of(("request", "requests"), known)


@dataclass(frozen=True, slots=True)
class OfferOptions(Record):
    """What `offer` takes in addition to the submission.

    Parameters
    ----------
    k : int, default 3
        How many offers, at the most.
    """

    k: Annotated[int, Ge(1), Le(MAX_OFFERS)] = 3


@dataclass(frozen=True, slots=True)
class HoldOptions(Record):
    """What `hold` takes in addition to the submission.

    Parameters
    ----------
    ttl_s : Number
        Seconds of the wall clock after which the promise is taken back unless it is confirmed.
    """

    ttl_s: Annotated[Positive, Le(MAX_TTL_S)]


@dataclass(frozen=True, slots=True)
class Identity(Record):
    """Which promise is meant.

    Parameters
    ----------
    id : str
        Identity under which it was submitted.
    """

    id: str


@dataclass(frozen=True, slots=True)
class IdentityOfKind(Identity):
    """Which promise is meant, in a book of tasks and reservations.

    Parameters
    ----------
    kind : {"task", "reservation"}, optional
        Needed where both have the identity.
    """

    kind: Literal["task", "reservation"] | None = None


@dataclass(frozen=True, slots=True)
class ExpiredHold(Record):
    """Which hold has expired.

    Parameters
    ----------
    id : str
        Identity under which it was submitted.
    kind : {"task", "reservation", "request"}
    """

    id: str
    kind: Literal["task", "reservation", "request"]


@dataclass(frozen=True, slots=True)
class End(Identity):
    """When something that has begun ends.

    Parameters
    ----------
    at : Number
        Not before the clock of the book.
    """

    at: NonNegative


@dataclass(frozen=True, slots=True)
class EndOfKind(End):
    """When something that has begun ends, in a book of tasks and reservations.

    Parameters
    ----------
    kind : {"task", "reservation"}, optional
        Needed where both have the identity.
    """

    kind: Literal["task", "reservation"] | None = None


@dataclass(frozen=True, slots=True)
class NodeChanges(Record):
    """A change of the nodes of a cluster.

    Parameters
    ----------
    add : int, default 0
        How many new nodes, which get the next numbers.
    remove : tuple of int
        Nodes to which nothing is sent any more; they complete what has begun.
    fail : tuple of int
        Nodes that are lost with what they compute or receive.
    repair : tuple of int
        Nodes that are free again.
    """

    add: Annotated[int, Ge(0)] = 0
    remove: tuple[Annotated[int, Ge(0)], ...] = ()
    fail: tuple[Annotated[int, Ge(0)], ...] = ()
    repair: tuple[Annotated[int, Ge(0)], ...] = ()


@dataclass(frozen=True, slots=True)
class MachineChanges(Record):
    """A change of the machines.

    Parameters
    ----------
    add : tuple of Machine
        New machines, which get the next numbers.
    remove : tuple of int
        Machines on which nothing new is placed.
    fail : tuple of int
        Machines without capacity from now on.
    repair : tuple of int
        Machines that failed, and have their former capacity again.
    """

    add: tuple[Machine, ...] = ()
    remove: tuple[Annotated[int, Ge(0)], ...] = ()
    fail: tuple[Annotated[int, Ge(0)], ...] = ()
    repair: tuple[Annotated[int, Ge(0)], ...] = ()


@dataclass(frozen=True, slots=True)
class Instant(Record):
    """What the clock of a book is advanced to.

    Parameters
    ----------
    now : Number
        Not before the clock of the book.
    """

    now: NonNegative


@dataclass(frozen=True, slots=True)
class LogRange(Record):
    """Which records of a log are asked for.

    Parameters
    ----------
    after : int, default 0
        Sequence number after which they begin.
    limit : int, default 100
        How many, at the most.
    """

    after: Annotated[int, Ge(0), Le(2**62)] = 0
    limit: Annotated[int, Ge(1), Le(MAX_LOG_RECORDS)] = 100


def _one_of(names: tuple[str, str], known: Mapping[str, Any]) -> Iterable[Fault]:
    if all(name in known for name in names):  # else there is a fault of the field itself
        given = [name for name in names if known[name] is not None]
        if not given:
            yield Fault(names[0], MISSING, f"is missing, or {names[1]}")
        elif len(given) == 2:
            yield Fault(names[1], known[names[1]], f"must not be given together with {names[0]}")
