"""Decisions on reservations, and planning again around them: the engine under their book."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, KeysView
from dataclasses import replace
from typing import overload

from dlopt.arithmetic import Number, simplest
from dlopt.books import Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.admission.replanning_engine import Planning
from dlopt.heuristics.admission.savable_stream import SavableStream
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.heuristics.multistage.algorithm_names import queue_around
from dlopt.heuristics.multistage.busy_intervals import ReservationRequest, ReservedWindow
from dlopt.heuristics.multistage.conflict_messages import conflict_message
from dlopt.heuristics.multistage.literal_stream import LiteralPlanner
from dlopt.heuristics.multistage.queue import MultiStageQueue, Refusal
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation, ReservationFacts
from dlopt.heuristics.multistage.reservation_repair import keep_reservations
from dlopt.heuristics.multistage.saved_records import ReservationSnapshot
from dlopt.problems.admission.data import Chunk, Decision, Task
from dlopt.problems.multistage.data import Grant, Reservation


class ReservationEngine(SavableStream[ReservationSnapshot]):
    """Decides on reservations, too, and plans tasks again around them."""

    planner: MultiStageQueue | LiteralPlanner

    def _start_without_reservations(self) -> None:
        """Set the attributes of this class."""
        self._costs = self._cast(self.cluster.tau_of(0)), self._cast(self.cluster.chi_of(0))
        self._grants: dict[str, Grant] = {}
        self._requested: dict[str, Reservation] = {}  # as they were submitted last
        self._accepted: dict[str, AcceptedReservation] = {}
        self._withdrawn: dict[str, Number] = {}  # those that were accepted, and their ends

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The last decision on each reservation, in the order in which they were made."""
        with self._lock:
            return tuple(self._grants.values())

    @property
    def decision_count(self) -> int:
        """How many decisions on tasks and reservations are not archived."""
        return len(self._decisions) + len(self._grants)

    @property
    def promised_reservations(self) -> KeysView[str]:
        """A view of the identities of the accepted reservations that are not archived."""
        return self._accepted.keys()

    def reserve(self, reservation: Reservation) -> Grant:
        """Decide on a reservation that is requested.

        Parameters
        ----------
        reservation : Reservation
            The same one again gets the same answer, and changes nothing. Another one may have the
            identity of one that was refused, not after its own arrival; then it takes the place of
            that one. Tasks and reservations have identities of their own.

        Returns
        -------
        Grant
            With its nodes; if it is a refusal, its `reason` says why.

        Raises
        ------
        InvalidInstanceError
            If it is asked for in the past or before its own refusal, its identity was accepted
            before, or it names a node that does not exist. As after a refusal, plan and clock are
            what they were.
        PromiseError
            If it is mandatory and conflicts with what is promised; nothing changes either.
        """
        with self._lock:
            if not isinstance(reservation, Reservation):
                raise NotApplicableError(
                    f"a reservation is needed, not a {type(reservation).__name__}"
                )
            return self._decide(reservation, asked=False)

    @overload
    def ask(self, task: Task) -> Decision: ...
    @overload
    def ask(self, task: Reservation) -> Grant: ...
    def ask(self, task: Task | Reservation) -> Decision | Grant:
        """Return the decision that `submit` or `reserve` would make; changes nothing.

        Raises
        ------
        InvalidInstanceError, PromiseError
            As `submit` or `reserve`.
        """
        with self._lock:
            if isinstance(task, Reservation):
                return self._decide(task, asked=True)
            return super().ask(task)

    def _decide(self, reservation: Reservation, *, asked: bool) -> Grant:
        """Decide on a reservation; one that is only asked for changes nothing."""
        if self._requested.get(reservation.id) == reservation:
            return self._grants[reservation.id]
        at, window = self._arriving_reservation(reservation)
        renewed = self._renewed_planning(at)
        planning = renewed or self._present_planning()
        found = search_nodes(planning, reservation, window, at, asked=asked)
        grant = self._grant(reservation, at, found)
        if isinstance(found, Refusal):
            if reservation.mandatory:
                raise self._promise_error("mandatory", reservation, grant, at)
        elif not asked:
            if renewed is not None:
                self._go_on_with(renewed)
            self._accept(reservation, window._replace(nodes=found))
            self.now = at
        return grant if asked else self._record_grant(reservation, grant)

    def _load_reservation(self, reservation: Reservation) -> None:
        """Plan around a reservation that was promised before."""
        window, now = self._window(reservation), self.now
        found: tuple[int, ...] | Refusal = window.nodes
        if window.end > now:
            ahead = window._replace(start=max(window.start, now), io_end=max(window.io_end, now))
            planning = self._present_planning()
            found = search_nodes(planning, reservation, ahead, now, asked=False, promised=True)
        grant = self._grant(reservation, min(self._cast(reservation.arrival), now), found)
        if isinstance(found, Refusal):
            raise self._promise_error("promised", reservation, grant, now)
        self._accept(reservation, window)
        self._record_grant(reservation, grant)

    def _arriving_reservation(self, reservation: Reservation) -> tuple[Number, ReservedWindow]:
        """Return when a reservation arrives, and its window, or raise its faults."""
        faults = self._submission_faults(
            reservation, self._grants.get(reservation.id), self._withdrawn
        )
        faults += self._node_faults(reservation)
        if faults:
            raise InvalidInstanceError(faults)
        return self._cast(reservation.arrival), self._window(reservation)

    def _window(self, reservation: Reservation) -> ReservedWindow:
        """Return when a reservation holds the channel, and which nodes if it names them."""
        start, end = self._cast(reservation.start), self._cast(reservation.end)
        if reservation.io_end is not None:
            sent = self._cast(reservation.io_end)
        else:
            sent = start + (end - start) * self._cast(reservation.io_ratio or 0)
        nodes = reservation.nodes if isinstance(reservation.nodes, tuple) else ()
        return ReservedWindow(start, min(sent, end), end, nodes)

    def _node_faults(self, reservation: Reservation) -> list[Fault]:
        """Return which nodes that a reservation names do not exist."""
        named = reservation.nodes if isinstance(reservation.nodes, tuple) else ()
        rule = f"must be one of the nodes 0 to {self._node_count - 1}"
        return [Fault("nodes", node, rule) for node in named if node >= self._node_count]

    def _grant(
        self, reservation: Reservation, at: Number, found: tuple[int, ...] | Refusal
    ) -> Grant:
        """Return a decision at an instant, which is not recorded."""
        if isinstance(found, Refusal):
            because, missed = found
            return Grant(reservation.id, False, simplest(at), (), because, missed)
        return Grant(reservation.id, True, simplest(at), found)

    def _record_grant(self, reservation: Reservation, grant: Grant) -> Grant:
        self._requested[reservation.id] = reservation
        self._grants.pop(reservation.id, None)  # the last decision is listed where it was made
        self._grants[reservation.id] = grant
        return grant

    def _accept(self, reservation: Reservation, window: ReservedWindow) -> None:
        self._accepted[reservation.id] = AcceptedReservation(reservation, window, self._submissions)
        self._submissions += 1

    def _promise_error(
        self, kind: str, reservation: Reservation, refusal: Grant, at: Number
    ) -> PromiseError:
        """Return the error that a reservation conflicts which must not be refused."""
        chunks = (*self._sent, *self._own(self.planner.chunks(at)))
        why = conflict_message(reservation, refusal, self._accepted.values(), chunks)
        return PromiseError(f"{kind} reservation {reservation.id}: {why}")

    def _present_planning(self) -> Planning:
        nodes = tuple(range(self.cluster.nodes)) if self._nodes is None else self._nodes
        return Planning(self.planner, nodes)

    def _facts(self) -> ReservationFacts:
        facts = super()._facts()
        assert isinstance(facts, ReservationFacts)  # as `_facts_after` makes them
        return facts

    def _facts_after(self, sent: Iterable[Chunk]) -> ReservationFacts:
        facts = super()._facts_after(sent)
        alive = tuple(one for one in self._accepted.values() if one.window.end > self.now)
        return ReservationFacts(facts.ready, facts.channel, facts.chunks, facts.waiting, alive)

    def _plan_nothing(self, facts: StreamFacts) -> Planning:
        assert isinstance(facts, ReservationFacts)  # as `_facts` makes them
        fixed = facts.fixed_intervals(self.now)
        return Planning(queue_around(self._costs, fixed.state, self._prices), fixed.nodes)

    def _keep(self, facts: StreamFacts) -> None:
        assert isinstance(facts, ReservationFacts)
        super()._keep(facts)
        for one in facts.reservations:
            self._accepted[one.id] = one
            grant = self._grants.get(one.id)
            if grant is not None and grant.nodes != one.window.nodes:
                self._grants[one.id] = replace(grant, nodes=one.window.nodes)

    def _take_time(self, facts: StreamFacts, missed: Collection[str] = ()) -> Consequences:
        """Go on from facts that leave less time, and break as few promises as possible."""

        def break_tasks(kept: ReservationFacts) -> Consequences:
            rest = kept.without_reserved_nodes(self.now, self._queued)
            return super(ReservationEngine, self)._take_time(rest, missed)

        return self._break_around_reservations(facts, break_tasks)

    def _break_around_reservations(
        self, facts: StreamFacts, break_tasks: Callable[[ReservationFacts], Consequences]
    ) -> Consequences:
        """Break as few reservations as possible, and then as few tasks as possible.

        Mandatory reservations are kept first, then other reservations, then tasks.

        Parameters
        ----------
        facts : StreamFacts
        break_tasks : callable
            Goes on from facts with the reservations that are kept.
        """
        assert isinstance(facts, ReservationFacts)
        kept = keep_reservations(facts, self.now)
        made = {task.id: task.key[1] for task in self._queued.values()}
        before = {one.id: one.window.nodes for one in facts.reservations}
        done = break_tasks(kept.facts)
        lost = (*facts.broken, *kept.broken)
        self._withdrawn.update((one.id, one.window.end) for one in lost)
        self._forget_reservations({one.id for one in lost})
        broken = [(made[name], name) for name in done.broken]
        broken += [(one.made, one.id) for one in lost]
        moved = [
            (one.made, one.id)
            for one in kept.facts.reservations
            if one.window.nodes != before[one.id]
        ]
        return Consequences(
            tuple(name for _, name in sorted(broken)),
            tuple(name for _, name in sorted(moved)),
            done.least and kept.least,
        )

    def _forget_reservations(self, identities: Collection[str]) -> None:
        """Forget reservations."""
        for identity in identities:
            self._grants.pop(identity, None)
            self._requested.pop(identity, None)
            self._accepted.pop(identity, None)


def search_nodes(
    planning: Planning,
    reservation: Reservation,
    window: ReservedWindow,
    at: Number,
    *,
    asked: bool,
    promised: bool = False,
) -> tuple[int, ...] | Refusal:
    """Let a planner reserve nodes, or only say which it would; it numbers nodes in its own way."""
    promised = promised or reservation.mandatory
    nodes = reservation.nodes
    if not isinstance(nodes, int):
        index = {node: place for place, node in enumerate(planning.nodes)}
        if not index.keys() >= set(nodes):
            return Refusal("nodes")
        nodes = tuple(index[node] for node in nodes)
    request = ReservationRequest(window.start, window.io_end, window.end, nodes, promised)
    decide = planning.planner.find_nodes if asked else planning.planner.reserve
    found: tuple[int, ...] | Refusal = decide(request, at)
    if isinstance(found, Refusal):
        return found
    if isinstance(nodes, tuple):
        return tuple(planning.nodes[place] for place in found)
    return tuple(sorted(planning.nodes[place] for place in found))
