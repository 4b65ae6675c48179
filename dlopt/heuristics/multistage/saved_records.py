"""The records of which snapshots of books with reservations consist."""

from __future__ import annotations

from dataclasses import dataclass

from dlopt.heuristics.admission.saved_records import (
    Index,
    SavedForecastTask,
    SavedTask,
    StreamSnapshot,
)
from dlopt.problems.multistage.data import Grant, Reservation
from dlopt.problems.validated_record import NonNegative, Record


@dataclass(frozen=True, slots=True)
class SavedWindow(Record):
    """When an accepted reservation has the channel and which nodes, and its place in the order."""

    reservation: str
    start: NonNegative
    io_end: NonNegative
    end: NonNegative
    nodes: tuple[Index, ...]
    number: Index


@dataclass(frozen=True, slots=True)
class SavedWithdrawal(Record):
    """A reservation that was taken back or broken, and when it would have ended."""

    reservation: str
    end: NonNegative


@dataclass(frozen=True, slots=True)
class SavedChunk(Record):
    """A chunk of a waiting task, on a node of the planner by its place among these."""

    node: Index
    load: NonNegative
    start: NonNegative
    sent: NonNegative
    end: NonNegative


@dataclass(frozen=True, slots=True)
class SavedPlan(SavedTask):
    """A waiting task with its chunks, in the order of transmission."""

    chunks: tuple[SavedChunk, ...]


@dataclass(frozen=True, slots=True)
class SavedIntervals(Record):
    """When a node is busy with what is promised or begun: start, end, start, end, ..."""

    busy: tuple[NonNegative, ...]


@dataclass(frozen=True, slots=True)
class SavedQueue(Record):
    """A planner.

    Parameters
    ----------
    nodes : tuple of int
        The numbers of its nodes.
    channel : tuple of Number
        When the channel is busy with what is promised or begun: start, end, start, end, ...
    intervals : tuple of SavedIntervals
        One a node.
    waiting : tuple of SavedPlan
        In the order of their deadlines.
    """

    nodes: tuple[Index, ...]
    channel: tuple[NonNegative, ...]
    intervals: tuple[SavedIntervals, ...]
    waiting: tuple[SavedPlan, ...]


@dataclass(frozen=True, slots=True)
class ReservationSnapshot(StreamSnapshot):
    """The state of a book of divisible tasks and reservations.

    Parameters
    ----------
    reservations : tuple of Reservation
        As they were submitted last, in the order of the last decisions on them.
    grants : tuple of Grant
        One a reservation.
    accepted : tuple of SavedWindow
        One for each accepted reservation.
    withdrawn : tuple of SavedWithdrawal
    planner : SavedQueue
    forecast : tuple of SavedForecastTask
        Of an algorithm with bid prices, in the order of the decisions.

    Notes
    -----
    The other parameters are those of `dlopt.heuristics.admission.saved_records.StreamSnapshot`.
    """

    reservations: tuple[Reservation, ...]
    grants: tuple[Grant, ...]
    accepted: tuple[SavedWindow, ...]
    withdrawn: tuple[SavedWithdrawal, ...]
    planner: SavedQueue
    forecast: tuple[SavedForecastTask, ...] = ()
