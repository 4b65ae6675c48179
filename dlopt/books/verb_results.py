"""What the verbs of a book return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from dlopt.arithmetic import Number, exact

Dimension: TypeAlias = Literal["deadline", "load", "wait", "start", "end", "nodes", "cpu"]
"""What a counter-offer changes: the deadline, the load, the instant of submission, the start or the
end of a window, the number of nodes, or the CPU of all parts."""

PartKind: TypeAlias = Literal[
    "task", "reservation", "request", "holding", "node", "channel", "machine"
]

Submission = TypeVar("Submission")
Decided = TypeVar("Decided")
Chunks = TypeVar("Chunks")


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a cancellation, a report or a change of the resources did to the promises.

    Parameters
    ----------
    broken : tuple of str
        Identities of the promises that cannot be kept, in the order in which they were made. Only
        a failure, a removal or a late end breaks promises. What goes on after its deadline is named
        once when it becomes late, and again only if it is given up later.
    moved : tuple of str
        Identities of the promises that are kept in another place than was promised: reservations
        and requests, whose nodes or machines are part of the promise.
    least : bool
        Whether it is proven that the algorithm of the book finds no plan that breaks fewer. What
        has begun is kept before what has not, and where promises differ in rank, those of a higher
        rank are decided without regard to the others: of equally many, those made first are kept.
    """

    broken: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    least: bool = True


@dataclass(frozen=True, slots=True)
class Offer(Generic[Submission]):
    """Something that would be accepted instead of what was rejected.

    Parameters
    ----------
    dimension : str
        What differs from the rejected submission: everything else is as it was.
    value : Number
        Its value: the deadline as tasks state it, the load, the time to wait, and so on.
    submission : Task, Reservation or Request
        What to submit, as it is, to get it.
    concession : Number
        How far the value is from the one asked for, as a share of it, by which offers are ranked;
        of a wait, as a share of the relative deadline, and of the start or end of a window, of its
        length. A deadline that is earlier than asked for is no concession: 0.
    least : bool
        Whether it is proven that no smaller concession in this dimension is accepted; in floats,
        none that is smaller by a millionth of the value. Else none was found, and the one that is
        smaller by as much is rejected.
    """

    dimension: Dimension
    value: Number
    submission: Submission
    concession: Number
    least: bool


@dataclass(frozen=True, slots=True)
class ConflictPart:
    """One thing that stands in the way of a submission.

    Parameters
    ----------
    kind : str
        A promise (task, reservation, request), what others reserved (holding), a node or machine
        that is out of service or busy from the beginning, or the channel, busy from the beginning.
    id : str
        Its identity; of nodes and machines the number. The channel has none: "".
    """

    kind: PartKind
    id: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.id}".strip()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a submission is rejected: each part is necessary, and together they suffice.

    Without any one of the parts, and with the others alone, the submission is accepted; with all of
    them, and nothing else, it is rejected. If there is no part, the idle system would reject it.

    Parameters
    ----------
    parts : tuple of ConflictPart
    reason : str
        The reason of the rejection, in words.
    irreducible : bool
        Whether each part is necessary. Else the search for parts that are not was broken off.
    """

    parts: tuple[ConflictPart, ...]
    reason: str
    irreducible: bool = True

    def __str__(self) -> str:
        if not self.parts:
            return f"{self.reason}, even in an idle system"
        return f"{self.reason}; in the way: {', '.join(map(str, self.parts))}"


@dataclass(frozen=True, slots=True)
class Archive(Generic[Decided, Chunks]):
    """What is over, handed out once: the book has forgotten it.

    Parameters
    ----------
    until : Number
        The instant of the book's clock.
    decisions : tuple of Decision
        On what is over, and of the rejections before that instant.
    allocations : tuple of Chunk or Share
        When and where it ran.
    """

    until: Number
    decisions: tuple[Decided, ...]
    allocations: tuple[Chunks, ...]


def ranked(offers: Sequence[Offer[Any]], count: int) -> tuple[Offer[Any], ...]:
    """Return the offers of the smallest concessions, one a dimension.

    Examples
    --------
    >>> later = Offer("deadline", 6, None, 0.5, True)
    >>> less = Offer("load", 3, None, 0.25, True)
    >>> [offer.dimension for offer in ranked([later, less], 2)]
    ['load', 'deadline']
    """
    return tuple(sorted(offers, key=lambda offer: offer.concession)[:count])


def concession(value: Number, asked: Number) -> Number:
    """Return how far a value is from what was asked for, as a share of it.

    Examples
    --------
    >>> concession(6, 4), concession(3, 0)
    (Fraction(1, 2), 3)
    """
    if not asked:
        return value if value >= 0 else -value
    if isinstance(value, float) or isinstance(asked, float):
        return abs(float(value) - float(asked)) / abs(float(asked))
    return abs(exact(value) / exact(asked) - 1)
