"""A cluster that executes what a book of tasks and reservations plans, and reports to the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from dlopt.arithmetic import Number
from dlopt.books import Consequences
from dlopt.heuristics.multistage.engine import MultiStage
from dlopt.problems.admission.trace import BreakCause
from dlopt.problems.multistage import (
    BrokenReservation,
    ExecutedReservation,
    Grant,
    Instance,
    Move,
    Reservation,
    Scenario,
)
from dlopt.simulation.engine import Rank
from dlopt.simulation.stream_execution import StreamExecution, promised_loads


@dataclass(slots=True, eq=False)
class ReservationRun:
    """An accepted reservation.

    Parameters
    ----------
    name : str
    nodes : tuple of int
        Those that it has at present.
    start, io_end, due : Number
        As it is reserved.
    end : Number
        When it truly ends.
    lost : Number, optional
        When one of its nodes failed, after its start.
    is_over : bool
        Whether it has ended, or is broken.
    """

    name: str
    nodes: tuple[int, ...]
    start: Number
    io_end: Number
    due: Number
    end: Number
    lost: Number | None = None
    is_over: bool = False

    @property
    def left(self) -> float:
        """When it left its nodes."""
        return float(self.end if self.lost is None else self.lost)

    def executed(self) -> ExecutedReservation:
        """Return the reservation as traces have it."""
        io_end = min(self.io_end, self.end)
        return ExecutedReservation(self.name, self.nodes, self.start, io_end, self.end, self.lost)


class MixedExecution(StreamExecution):
    """Runs a stream of tasks and reservations through a book until nothing is left to do.

    Parameters
    ----------
    book : MultiStage
        With what was promised before; it is used up.
    instance : Instance
    scenario : Scenario
        That can happen to the instance.

    Attributes
    ----------
    grants : list of Grant
        On what was promised before, and then on what is requested, in that order.
    promised_grants : int
        How many of them were made before.
    reservations : list of ReservationRun
        Those that are accepted and not broken before they begin, in the order of the decisions.
    moves : list of Move
    broken_reservations : list of BrokenReservation

    Notes
    -----
    That a reservation ends early the book learns as it ends; that it ends late, when it was to end,
    and it then learns, too, when it will end. A node that fails ends the reservations that it has.
    """

    def __init__(self, book: MultiStage, instance: Instance, scenario: Scenario) -> None:
        stream = instance.stream
        super().__init__(book, instance, scenario, {} if stream is None else promised_loads(stream))
        self._mixed_book = book
        self._true_ends = {one.reservation: self._cast(one.end) for one in scenario.ends}
        self._alive: dict[str, ReservationRun] = {}
        self.grants: list[Grant] = list(book.grants)
        self.promised_grants = len(self.grants)
        self.reservations: list[ReservationRun] = []
        self.moves: list[Move] = []
        self.broken_reservations: list[BrokenReservation] = []
        wanted = {one.id: one for one in instance.reservations}
        for grant in self.grants:
            one = wanted.pop(grant.reservation)
            if self._cast(one.end) > self._loop.now:
                self._await_end(one, grant)
        for one in wanted.values():
            self._loop.at(self._cast(one.arrival), Rank.RESERVATION, self._request, one)

    def _request(self, reservation: Reservation) -> None:
        self._informed_book()
        grant = self._mixed_book.reserve(reservation)
        self.grants.append(grant)
        if grant.accepted:
            self._await_end(reservation, grant)

    def _await_end(self, reservation: Reservation, grant: Grant) -> None:
        """Schedule the reports on a reservation that is accepted."""
        name, due = reservation.id, self._cast(reservation.end)
        start, io_end = self._cast(reservation.start), self._cast(reservation.channel_end)
        end = self._true_ends.get(name, due)
        run = ReservationRun(name, grant.nodes, start, io_end, due, end)
        self._alive[name] = run
        self.reservations.append(run)
        if end > due:
            self._loop.at(due, Rank.OVERRUN, self._report_end, run)
        self._loop.at(end, Rank.END, self._finish_reservation, run)

    def _report_end(self, run: ReservationRun) -> None:
        """Report to the book when a reservation ends that does not end as it is reserved."""
        if run.is_over:
            return
        self._informed_book()
        done = self._mixed_book.finished(run.name, run.end, kind="reservation")
        self._record(done, "overrun")

    def _finish_reservation(self, run: ReservationRun) -> None:
        if run.is_over:
            return
        if run.end < run.due:
            self._report_end(run)
        run.is_over = True
        del self._alive[run.name]

    def _record(self, done: Consequences, cause: BreakCause) -> None:
        """Record what a report did to the promises, and which reservations got other nodes."""
        super()._record(done, cause)
        if not done.moved:
            return
        nodes = {grant.reservation: grant.nodes for grant in self._mixed_book.grants}
        for name in done.moved:
            self._alive[name].nodes = nodes[name]
            self.moves.append(Move(name, nodes[name], self._loop.now, cause))

    def _break(self, names: Collection[str], cause: BreakCause) -> None:
        """Record which promises are broken; a reservation may be named as a task is."""
        of_tasks = []
        for name, count in Counter(names).items():
            run = self._alive.get(name)
            is_broken = run is not None and name not in self._mixed_book.promised_reservations
            if run is not None and is_broken:
                self._break_reservation(run, cause)
            if count > is_broken:
                of_tasks.append(name)
        super()._break(of_tasks, cause)

    def _break_reservation(self, run: ReservationRun, cause: BreakCause) -> None:
        now = self._loop.now
        self.broken_reservations.append(BrokenReservation(run.name, now, cause))
        run.is_over = True
        del self._alive[run.name]
        if run.start < now:
            run.lost = now
        else:
            self.reservations.remove(run)
