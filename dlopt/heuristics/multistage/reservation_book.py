"""The verbs of a book of divisible tasks and advance reservations."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias, overload

from dlopt.arithmetic import Number, shown, simplest
from dlopt.books import Consequences
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.records import Rejection
from dlopt.heuristics.multistage.book_state_and_archive import (
    ReservationArchive,
    ReservationBookState,
)
from dlopt.heuristics.multistage.negotiating_reservation_engine import (
    NegotiatingReservationEngine,
)
from dlopt.heuristics.multistage.queue import Refusal
from dlopt.heuristics.multistage.reservation_changes import ChangedReservation, is_within
from dlopt.heuristics.multistage.reservation_facts import AcceptedReservation, ReservationFacts
from dlopt.problems.admission.data import Decision, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution

Kind: TypeAlias = Literal["task", "reservation"]


class ReservationBook(NegotiatingReservationEngine):
    """The verbs of `dlopt.Book` for divisible tasks and reservations.

    Tasks and reservations have identities of their own. A verb that is given an identity finds out
    which of the two is meant; where both have it, `kind` says it. `Consequences` names identities
    alone: what is broken is no longer among the decisions or the grants, and only reservations are
    moved.

    After a failure, a removal or a late end, mandatory reservations are kept first, then other
    reservations, then tasks; of each as many as possible, of equally many those made first.
    """

    def cancel(self, identity: str, *, kind: Kind | None = None) -> Consequences:
        """Take back a promise; what has begun of it is broken off now.

        Nodes and channel are free of it from now on. It disappears from plan, decisions and grants,
        as if it had never been submitted; its identity cannot be used again until `archive` forgets
        it.

        Parameters
        ----------
        identity : str
        kind : {"task", "reservation"}, optional
            Needed where both a task and a reservation have the identity.

        Raises
        ------
        NotApplicableError
            If it was never accepted, is cancelled already, or is over; if `kind` is needed and
            missing; or if the algorithm does not keep what it promises.
        """
        with self._lock:
            if self._kind_of(identity, kind) == "task":
                return super().cancel(identity)
            former, facts = self._alive_reservation(identity)
            self._free_time(facts.without_reservations({identity}))
            self._forget_reservations({identity})
            self._withdrawn[identity] = former.window.end
            return Consequences()

    @overload
    def change(self, task: Task) -> Decision: ...
    @overload
    def change(self, task: Reservation) -> Grant: ...
    def change(self, task: Task | Reservation) -> Decision | Grant:
        """Replace a promise by another content of its identity, if all promises hold then.

        Parameters
        ----------
        task : Task or Reservation
            With the identity and the arrival of an accepted one. A task may have any load and
            deadline, the load not less than what of it has begun to be sent. A reservation may have
            any window from now on, I/O and nodes; one that has begun keeps start and nodes and, if
            its I/O is over, that end, and may end earlier or later. Where it asks for a number of
            nodes it keeps those that it has, as far as they are free.

        Returns
        -------
        Decision or Grant
            If it is a rejection, nothing has changed, and the former promise holds.

        Raises
        ------
        InvalidInstanceError
            If the content is impossible.
        NotApplicableError
            As `cancel`.

        Examples
        --------
        >>> from dlopt import MultiStage
        >>> from dlopt.problems.cluster import Cluster
        >>> head = MultiStage(Cluster(2, tau=1, chi=1))
        >>> head.reserve(Reservation("r", arrival=0, start=2, end=6, nodes=2)).nodes
        (0, 1)
        >>> head.change(Reservation("r", arrival=0, start=3, end=9)).nodes
        (1,)
        """
        with self._lock:
            if isinstance(task, Reservation):
                return self._change_reservation(task)
            return super().change(task)

    def finished(self, identity: str, at: Number, *, kind: Kind | None = None) -> Consequences:
        """Record that something that has begun ends at an instant, earlier or later than planned.

        Parameters
        ----------
        identity : str
        at : Number
            Not before now. If it is before the planned end, nodes and channel are free from then
            on, and what is left of a task is dropped. If it is later, the nodes (of a task, those
            that it would leave last) are busy until then. A reservation that was to end just now
            may still end later.
        kind : {"task", "reservation"}, optional
            As of `cancel`.

        Returns
        -------
        Consequences
            A late end may break promises or move reservations to other nodes. A task is broken
            itself if it misses its deadline then; a reservation is not, for it has its nodes.

        Raises
        ------
        InvalidInstanceError
            If `at` is no number, or lies before now.
        NotApplicableError
            If it has not begun, or as `cancel`.
        """
        with self._lock:
            if self._kind_of(identity, kind) == "task":
                return super().finished(identity, at)
            end = self._instant("at", at)
            former, facts = self._alive_reservation(identity, end)
            if not former.has_begun(self.now):
                raise NotApplicableError(f"reservation {identity} has not begun")
            before = former.window
            window = before._replace(io_end=min(before.io_end, end), end=end)
            facts = facts.with_reservations(former._replace(window=window))
            if end > before.end:
                return self._take_time(facts)
            self._free_time(facts)
            return Consequences()

    def archive(self) -> ReservationArchive:
        """Hand out what is over by now, and forget it.

        These are the tasks of which everything is computed, the reservations that have ended, and
        the rejections before now. Their identities are new again afterwards.
        """
        with self._lock:
            now, tasks = self.now, super().archive()
            over = {one.id: one for one in self._accepted.values() if one.window.end <= now}
            grants = tuple(
                grant
                for identity, grant in self._grants.items()
                if identity in over or (not grant.accepted and grant.at < now)
            )
            self._forget_reservations({grant.reservation for grant in grants})
            self._withdrawn = {name: end for name, end in self._withdrawn.items() if end > now}
            ran = tuple(self._stated(one, one.window.nodes) for one in over.values())
            return ReservationArchive(tasks.until, tasks.decisions, tasks.allocations, grants, ran)

    def state(self) -> ReservationBookState | None:  # type: ignore[override]
        """Return what is still to come as a problem of its own; None if nothing is.

        Promised reservations name the nodes in service that they have. `dlopt.check` accepts the
        plan at every moment: it is what the book promises.
        """
        with self._lock:
            facts, now = self._facts(), self.now
            begun = tuple(chunk for chunk in facts.chunks if chunk.transmission_start < now)
            busy = replace(facts, chunks=begun)
            free, channel = busy.free_times(now), busy.channel_free(now)
            number = {node: index for index, node in enumerate(free)}
            wanted = []
            for one in sorted(facts.reservations, key=lambda one: one.content.arrival):
                nodes = tuple(sorted(number[n] for n in one.window.nodes if n in number))
                if nodes:
                    wanted.append(self._stated(one, nodes))
                else:  # it has begun on nodes that were removed: only its I/O is still felt
                    channel = max(channel, one.window.io_end)
            planned = [*facts.not_begun(now), *self._planned_chunks()]
            tasks = self._tasks_of(planned)
            if not tasks and not wanted:
                return None
            instance = Instance(
                Cluster(len(free), *self.cluster.costs_of(0)),
                tasks,
                tuple(wanted),
                now=now,
                ready_times=tuple(free.values()),
                channel_ready=channel,
            )
            grants = tuple(
                Grant(one.id, True, one.arrival, tuple(one.nodes))  # type: ignore[arg-type]
                for one in wanted
            )
            chunks = tuple(replace(chunk, node=number[chunk.node]) for chunk in planned)
            plan = Solution(self._promises_to(tasks), grants, chunks)
            return ReservationBookState(instance, plan, tuple(free))

    def _kind_of(self, identity: str, kind: Kind | None) -> Kind:
        """Return whether a task or a reservation is meant."""
        if not isinstance(identity, str):
            raise NotApplicableError(f"an identity is needed, not a {type(identity).__name__}")
        if kind is not None:
            if kind not in ("task", "reservation"):
                rule = "must be 'task' or 'reservation'"
                raise InvalidInstanceError([Fault("kind", kind, rule)])
            return kind
        if identity in self._queued and identity in self._accepted:
            raise NotApplicableError(
                f"both a task and a reservation are named {identity}: "
                "kind='task' or kind='reservation' is needed"
            )
        if identity in self._accepted or (
            identity in self._withdrawn and identity not in self._queued
        ):
            return "reservation"
        if identity not in self._queued and identity not in self._cancelled:
            raise NotApplicableError(f"no task and no reservation {identity} was ever accepted")
        return "task"

    def _alive_reservation(
        self, identity: str, end: Number = 0
    ) -> tuple[AcceptedReservation, ReservationFacts]:
        """Return a reservation that is promised and not over, and the facts.

        With an `end` after now, one that was to end now is not over.
        """
        self._require_sound()
        one = self._accepted.get(identity)
        if one is None:
            was = "is cancelled already" if identity in self._withdrawn else "was never accepted"
            raise NotApplicableError(f"reservation {identity} {was}")
        if one.window.end < self.now or max(one.window.end, end) == self.now:
            raise NotApplicableError(f"reservation {identity} is over")
        return one, self._facts()

    def _change_reservation(self, content: Reservation) -> Grant:
        former, facts = self._alive_reservation(content.id)
        faults = self._node_faults(content)
        arrival = self._cast(former.content.arrival)
        if self._cast(content.arrival) != arrival:
            rule = f"must be that of the accepted reservation, {shown(simplest(arrival), 15)}"
            faults.append(Fault("arrival", content.arrival, rule))
        asked = ChangedReservation(content, self._window(content), former)
        faults += asked.faults(self.now)
        if faults:
            raise InvalidInstanceError(faults)
        rest = facts.without_reservations({content.id})
        window = asked.window_around(rest, self.now)
        if isinstance(window, Refusal):
            return self._grant(content, self.now, window)
        changed = rest.with_reservations(AcceptedReservation(content, window, self._submissions))
        if is_within(window, former.window):
            self._free_time(changed)
        else:
            planning = self._plan(changed)
            if isinstance(planning, Rejection):
                return self._grant(content, self.now, Refusal("task", planning.task.id))
            self._install(changed, planning)
        self._submissions += 1
        return self._record_grant(content, self._grant(content, self.now, window.nodes))

    def _stated(self, one: AcceptedReservation, nodes: tuple[int, ...]) -> Reservation:
        """Return a reservation as it is now, with nodes."""
        start, sent, end, _ = one.window
        return Reservation(
            one.id,
            simplest(self._cast(one.content.arrival)),
            simplest(start),
            simplest(end),
            io_end=simplest(sent),
            nodes=nodes,
            mandatory=one.content.mandatory,
        )
