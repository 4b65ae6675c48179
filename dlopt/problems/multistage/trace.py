"""Executed traces of a stream of tasks and reservations."""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.arithmetic import Number
from dlopt.problems import admission
from dlopt.problems.admission.trace import BreakCause
from dlopt.problems.multistage.data import Grant, Solution
from dlopt.problems.validated_record import Record


@dataclass(frozen=True, slots=True)
class ExecutedReservation(Record):
    """What an accepted reservation occupied, once it had begun.

    Parameters
    ----------
    reservation : str
    nodes : tuple of int
        0-based.
    start, io_end, end : Number
        The channel was occupied in ``[start, io_end)``, the nodes in ``[start, end)``. Of one that
        was lost, those after `lost` are when it would have ended.
    lost : Number, optional
        When one of its nodes failed. Nodes and channel are free of it from then on.
    """

    reservation: str
    nodes: tuple[int, ...]
    start: Number
    io_end: Number
    end: Number
    lost: Number | None = None


@dataclass(frozen=True, slots=True)
class Move(Record):
    """Other nodes for an accepted reservation that has not begun.

    Parameters
    ----------
    reservation : str
    nodes : tuple of int
        All that it has from then on.
    at : Number
        When the cause became known, as of a `BrokenReservation`.
    cause : {"failure", "overrun"}
    """

    reservation: str
    nodes: tuple[int, ...]
    at: Number
    cause: BreakCause


@dataclass(frozen=True, slots=True)
class BrokenReservation(Record):
    """A reservation of which the head node said that the promise cannot be kept.

    Parameters
    ----------
    reservation : str
    at : Number
        When the cause became known: that of a failure, or the instant at which a transmission, a
        computation or a reservation was to end and did not.
    cause : {"failure", "overrun"}
    """

    reservation: str
    at: Number
    cause: BreakCause


@dataclass(frozen=True, slots=True)
class Trace(admission.Trace):
    """What was executed of a stream of tasks and reservations.

    Parameters
    ----------
    decisions, chunks, dropped, broken
        Of the tasks, see `dlopt.problems.admission.Trace`.
    grants : tuple of Grant
        The decisions on reservations, one each, with the nodes that were promised first.
    reservations : tuple of ExecutedReservation
        Of those that had begun; of what was over before the instance's `now` none is needed.
    moves : tuple of Move
    broken_reservations : tuple of BrokenReservation
        At most one a reservation.
    """

    grants: tuple[Grant, ...] = ()
    reservations: tuple[ExecutedReservation, ...] = ()
    moves: tuple[Move, ...] = ()
    broken_reservations: tuple[BrokenReservation, ...] = ()


def occupancy(trace: Trace) -> Solution:
    """Return the decisions, and when each chunk occupied channel and node, for charts."""
    of_tasks = admission.occupancy(trace)
    return Solution(of_tasks.decisions, trace.grants, of_tasks.chunks)
