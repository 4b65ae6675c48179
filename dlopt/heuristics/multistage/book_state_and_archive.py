"""What the verbs of a book with reservations return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dlopt.books import Archive
from dlopt.problems.admission.data import Chunk, Decision
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution


class ReservationBookState(NamedTuple):
    """What is still to come, as a problem of its own, with its plan.

    Its nodes are those in service, in the order of `nodes`; they are busy with what has begun.
    """

    instance: Instance
    plan: Solution
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ReservationArchive(Archive[Decision, Chunk]):
    """What is over, handed out once: tasks, and reservations.

    Parameters
    ----------
    until, decisions, allocations
        Of tasks, see `dlopt.books.Archive`.
    grants : tuple of Grant
        On reservations that are over, and the refusals before that instant.
    reservations : tuple of Reservation
        The accepted ones as they were in the end, with their nodes.
    """

    grants: tuple[Grant, ...] = ()
    reservations: tuple[Reservation, ...] = ()
