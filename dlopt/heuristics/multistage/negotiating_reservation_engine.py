"""What a book says beyond a refusal: what would be accepted, and why not, around reservations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import overload

from dlopt.arithmetic import Number, simplest
from dlopt.books import Conflict, ConflictPart, Offer
from dlopt.books.verb_results import ranked
from dlopt.heuristics.admission.irreducible_conflict import EXACT_SHARE, find_conflict
from dlopt.heuristics.admission.negotiating_engine import check_offer_count
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from dlopt.heuristics.admission.replanning_engine import Planning
from dlopt.heuristics.admission.stream_facts import StreamFacts
from dlopt.heuristics.multistage.queue import Refusal
from dlopt.heuristics.multistage.reservation_engine import ReservationEngine, search_nodes
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation, ReservationFacts
from dlopt.heuristics.multistage.reservation_offers import ReservationOffers
from dlopt.problems.admission.data import Task
from dlopt.problems.multistage.data import Reservation

MAX_PLANNED_TASKS = 40_000
"""Tasks that are planned at the most, over all tests, in search of parts that are not necessary.
Chosen by hand: a few seconds in floats."""


class NegotiatingReservationEngine(ReservationEngine):
    """An engine that makes counter-offers to what it rejects, and names what stands in its way."""

    _max_planned_tasks = MAX_PLANNED_TASKS

    @overload
    def offer(self, task: Task, *, k: int = 3) -> tuple[Offer[Task], ...]: ...
    @overload
    def offer(self, task: Reservation, *, k: int = 3) -> tuple[Offer[Reservation], ...]: ...
    def offer(
        self, task: Task | Reservation, *, k: int = 3
    ) -> tuple[Offer[Task], ...] | tuple[Offer[Reservation], ...]:
        """Return up to k alternatives to what would be rejected; changes nothing.

        Parameters
        ----------
        task : Task or Reservation
            As for `submit` and `reserve`; also one that was rejected, unless it arrives in the past
            by now. To a mandatory reservation, too, offers are made.
        k : int, default 3
            How many, at the most; there are three dimensions of each.

        Returns
        -------
        tuple of Offer
            By their concessions, the smallest first. Of a task: the earliest ``deadline``, the
            largest ``load``, and the shortest ``wait``, as of `dlopt.Admission.offer`. Of a
            reservation: the earliest later ``start`` of a window as long, the latest ``end`` with
            the same start, and the largest number of ``nodes``, of as many others first if it names
            them. A dimension in which nothing is accepted, or nothing was found, is left out.
            Empty if it would be accepted, or if all are left out; `ask` tells which.

        Raises
        ------
        InvalidInstanceError
            As `submit` and `reserve`, or if `k` is no positive integer.
        NotApplicableError
            If the algorithm is a printed one, which does not keep what it promises.

        Notes
        -----
        Each is accepted by the algorithm's own test. The number of nodes is always ``least``; so
        are start and end where no task waits and there are no bid prices, and the load where no
        task that waits is in the way.
        The others are found by bisection to a millionth. Complexity: a decision for each step; for
        a start or an end, one for each instant at which something begins or ends, up to a limit.

        Examples
        --------
        >>> from dlopt import MultiStage
        >>> from dlopt.problems.cluster import Cluster
        >>> head = MultiStage(Cluster(2, tau=1, chi=1))
        >>> head.reserve(Reservation("r", arrival=0, start=2, end=6)).nodes
        (1,)
        >>> for offer in head.offer(Reservation("q", arrival=0, start=4, end=8, nodes=2)):
        ...     print(offer.dimension, offer.value, offer.least)
        start 6 True
        nodes 1 True
        """
        if not isinstance(task, Reservation):
            return super().offer(task, k=k)
        with self._lock:
            check_offer_count(k)
            self._require_promises()
            planning = self._deciding_planning(task)

            def accepts(reservation: Reservation) -> bool:
                return not isinstance(self._found_nodes(planning, reservation), Refusal)

            if accepts(task):
                return ()
            instants = frozenset(self._instants(planning))
            proven = self._prices is None and not planning.planner.state(self.now).tasks
            offers = ReservationOffers(self._in_own_numbers(task), accepts, instants, proven)
            return ranked(tuple(offers.all()), k)

    def why(self, task: Task | Reservation) -> Conflict | None:
        """Return what stands in the way of a submission; None if it would be accepted.

        Parameters
        ----------
        task : Task or Reservation
            As for `offer`.

        Returns
        -------
        Conflict or None
            Its parts are promised tasks and reservations; nodes that were removed, have failed, or
            were not ready from the beginning; and the channel, if it was not. Without a task or a
            reservation, what has begun of it is broken off now, and the tasks that wait are planned
            again; without a node or the channel, that is in service and ready from now on. Where
            several conflicts explain the rejection, it is one of nodes and channel rather than of
            promises, of reservations rather than tasks, and of large ones rather than small.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            As `offer`.

        Notes
        -----
        Complexity: O(k log(n / k)) plans for `k` of `n` parts. Where that takes too long, the
        search is broken off after some seconds, and the parts suffice, but need not be necessary
        (`Conflict.irreducible`).

        Source: Junker 2004, see `dlopt.books.irreducible_conflict`.

        Examples
        --------
        >>> from dlopt import MultiStage
        >>> from dlopt.problems.cluster import Cluster
        >>> head = MultiStage(Cluster(1, tau=1, chi=1))
        >>> head.reserve(Reservation("r", arrival=0, start=2, end=6)).accepted
        True
        >>> print(head.why(Reservation("q", arrival=0, start=4, end=8)))
        too few of its nodes are free; in the way: reservation r
        >>> print(head.why(Task("a", arrival=0, load=2, deadline=6)))
        1 of the load of task a would miss its deadline; in the way: reservation r
        """
        if not isinstance(task, Reservation):
            return super().why(task)
        with self._lock:
            self._require_promises()
            refusal = self._found_nodes(self._deciding_planning(task), task)
            if not isinstance(refusal, Refusal):
                return None
            at, window = self._arriving_reservation(task)
            facts = self._present_facts()

            def rejects(kept: Sequence[ConflictPart]) -> bool:
                found = self._plan(self._facts_with(facts, kept))
                if isinstance(found, Rejection):
                    return True
                return isinstance(search_nodes(found, task, window, at, asked=True), Refusal)

            parts = self._parts_of(facts)
            unlikely = {ConflictPart("task", name) for name in self._unconcerned(refusal, at)}
            likely = [part for part in parts if part not in unlikely]
            limit = MAX_PLANNED_TASKS // (EXACT_SHARE if self._is_exact else 1)
            reason = self._grant(task, at, refusal).reason or ""
            return find_conflict(reason, parts, likely, rejects, limit)

    def _found_nodes(
        self, planning: Planning, reservation: Reservation
    ) -> tuple[int, ...] | Refusal:
        """Return the nodes that a reservation would get, or got, or why it is refused."""
        known = self._grants.get(reservation.id)
        if known is not None and self._requested[reservation.id] == reservation:
            if known.accepted:
                return known.nodes
            assert known.conflict is not None  # as of all refusals
            return Refusal(known.conflict, known.missed)
        at, window = self._arriving_reservation(reservation)
        return search_nodes(planning, reservation, window, at, asked=True)

    def _deciding_planning(self, reservation: Reservation) -> Planning:
        """Return the planner that would decide on a reservation."""
        at = self._cast(reservation.arrival)
        return self._renewed_planning(at) or self._present_planning()

    def _unconcerned(self, refusal: Refusal, at: Number) -> Iterator[str]:
        """Yield tasks that are planned after the one that would miss, or need not give way."""
        tasks = self.planner.state(at).tasks
        missed = [task.key for task in tasks if task.id == refusal.missed]
        for task in tasks:
            if not missed or task.key > missed[0]:
                yield task.id

    def _instants(self, planning: Planning) -> Iterator[Number]:
        """Yield when something that is promised or sent begins or ends."""
        yield from (self._channel_ready, *self._in_service.values(), self._idle_at())
        for one in self._accepted.values():
            yield from one.window[:3]
        for chunk in (*self._sent, *planning.planner.chunks()):
            yield from (chunk.transmission_start, chunk.transmission_end, chunk.computation_end)

    def _idle_at(self) -> Number:
        ends = (one.window.end for one in self._accepted.values())
        return max((super()._idle_at(), *ends))

    def _in_own_numbers(self, reservation: Reservation) -> Reservation:
        """Return a reservation with the numbers that the engine computes in."""
        cast, io_end, ratio = self._cast, reservation.io_end, reservation.io_ratio
        return replace(
            reservation,
            arrival=simplest(cast(reservation.arrival)),
            start=cast(reservation.start),
            end=cast(reservation.end),
            io_end=None if io_end is None else cast(io_end),
            io_ratio=None if ratio is None else cast(ratio),
        )

    def _parts_of(self, facts: StreamFacts) -> list[ConflictPart]:
        assert isinstance(facts, ReservationFacts)
        parts = super()._parts_of(facts)
        first_task = next((n for n, part in enumerate(parts) if part.kind == "task"), len(parts))
        largest = sorted(facts.reservations, key=_size, reverse=True)
        parts[first_task:first_task] = [ConflictPart("reservation", one.id) for one in largest]
        return parts

    def _facts_with(self, facts: StreamFacts, kept: Iterable[ConflictPart]) -> ReservationFacts:
        others, reserved = list[ConflictPart](), set[str]()
        for part in kept:
            if part.kind == "reservation":
                reserved.add(part.id)
            else:
                others.append(part)
        changed = super()._facts_with(facts, others)
        assert isinstance(changed, ReservationFacts)
        return changed.only_reservations(reserved)

    def _rejected_by_sums(self, facts: StreamFacts, new: QueuedTask) -> bool | None:
        return None  # what a task gets depends on the gaps between the reservations


def _size(one: AcceptedReservation) -> Number:
    """Return for how long a reservation holds all its nodes, summed over them."""
    start, _, end, nodes = one.window
    return (end - start) * len(nodes)
