"""The online engine: one cluster, one algorithm, tasks and reservations as they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dlopt.arithmetic import Number, NumberField, exact, is_exact, shown, simplest
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.engine import PromiseError
from dlopt.heuristics.admission.records import QueuedTask
from dlopt.heuristics.guarded import Guarded
from dlopt.heuristics.multistage.algorithm_names import make_planner, parse, reason_against
from dlopt.heuristics.multistage.busy_intervals import ReservationRequest
from dlopt.heuristics.multistage.conflict_messages import conflict_message, conflicting_promises
from dlopt.heuristics.multistage.queue import Refusal
from dlopt.heuristics.resubmitted import resubmission_faults
from dlopt.problems.admission.data import Chunk, Decision, Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution
from dlopt.problems.validated_record import NonNegative, Record


@dataclass(frozen=True, slots=True)
class _InitialState(Record):
    now: NonNegative = 0
    ready_times: tuple[NonNegative, ...] = ()
    channel_ready: NonNegative = 0


class MultiStage(Guarded):
    """Decides on divisible tasks and on reservations one by one, and keeps a plan for the tasks.

    Parameters
    ----------
    cluster : Cluster
        Of identical nodes, without set-up costs.
    algorithm : str, default "multi-stage"
        See :func:`dlopt.heuristics.multistage.algorithm_names.parse`.
    now : Number, default 0
    ready_times : sequence of Number, shape (nodes,), optional
        When each node becomes free; by default at once.
    channel_ready : Number, default 0
        When the head node can send again.
    exact_numbers : bool, optional
        Compute in fractions, or in floats; by default in fractions if no number above is a float.
    reference : bool, default False
        Use the reference implementation, whose decisions are equal and which is slower.

    Attributes
    ----------
    now : Number
        The clock: the latest instant of `advance` or of what was accepted.
    planner : PlannedQueue
        What plans the accepted tasks; only the methods of this class may change it.

    Raises
    ------
    NotApplicableError
        If the nodes differ, there are set-up costs, or the algorithm does not exist.

    Notes
    -----
    Several threads may use one: a call waits until those before it have ended. Copies and pickles
    go on by themselves.

    Guarantee, of ``multi-stage``: every accepted task meets its deadline and every accepted
    reservation starts and ends as promised, for the plan that `plan` returns is valid at all
    times, and what is accepted changes it only into another valid plan. A task is committed whole
    once its first transmission starts before `now`; until then it may be planned again.

    Source: Mamat 2011, chapter 5, repaired; the modules of this package say how.

    Examples
    --------
    >>> head = MultiStage(Cluster(2, tau=1, chi=1))
    >>> head.reserve(Reservation("r", arrival=0, start=2, end=6, io_ratio=0.5)).nodes
    (1,)
    >>> head.submit(Task("a", arrival=0, load=2, deadline=6)).accepted
    True
    >>> [(chunk.node, str(chunk.load)) for chunk in head.plan().chunks]
    [(0, '2')]
    >>> head.reserve(Reservation("q", arrival=0, start=1, end=7, nodes=2)).reason
    'too few of its nodes are free'
    """

    def __init__(
        self,
        cluster: Cluster,
        algorithm: str = "multi-stage",
        *,
        now: Number = 0,
        ready_times: Sequence[Number] = (),
        channel_ready: Number = 0,
        exact_numbers: bool | None = None,
        reference: bool = False,
    ) -> None:
        if not isinstance(cluster, Cluster):
            raise NotApplicableError(f"a cluster is needed, not a {type(cluster).__name__}")
        reason = reason_against(cluster)
        if reason is not None:
            raise NotApplicableError(f"multi-stage algorithms do not apply: {reason}")
        self.algorithm = parse(algorithm)
        given = _InitialState(now, ready_times, channel_ready)  # type: ignore[arg-type]
        now, channel_ready = given.now, given.channel_ready
        ready = given.ready_times or (now,) * cluster.nodes
        if len(ready) != cluster.nodes:
            rule = f"must have one entry for each of the {cluster.nodes} nodes"
            raise InvalidInstanceError([Fault("ready_times", len(ready), rule)])
        if exact_numbers is None:
            exact_numbers = cluster.exact and is_exact((now, channel_ready, *ready))
        cast: NumberField = exact if exact_numbers else float
        self.cluster = cluster
        self.now: Number = cast(now)
        self._cast = cast
        costs = cast(cluster.tau_of(0)), cast(cluster.chi_of(0))
        state = costs, [cast(instant) for instant in ready], cast(channel_ready), self.now
        self.planner = make_planner(self.algorithm, *state, reference=reference)
        self._decisions: dict[str, Decision] = {}
        self._grants: dict[str, Grant] = {}
        self._submissions = 0
        self._accepted: dict[str, tuple[Reservation, tuple[int, ...]]] = {}

    @classmethod
    def of(
        cls, instance: Instance, algorithm: str = "multi-stage", *, reference: bool = False
    ) -> MultiStage:
        """Start from the state of an instance: what it promised before ``now`` is planned.

        Raises
        ------
        PromiseError
            If the algorithm cannot plan these tasks, or the reservations are in conflict.
        """
        engine = cls(
            instance.cluster,
            algorithm,
            now=instance.now,
            ready_times=instance.free_times,
            channel_ready=instance.channel_free,
            exact_numbers=instance.exact,
            reference=reference,
        )
        for reservation in instance.reservations:
            if reservation.id in instance.promised:
                engine._reserve(
                    reservation, min(engine._cast(reservation.arrival), engine.now), promised=True
                )
        kept = [
            reservation
            for reservation in instance.reservations
            if reservation.id in instance.promised
        ]
        clash = conflicting_promises(kept, engine._cast)
        if clash is not None:
            raise PromiseError(clash)
        stream = instance.stream
        remaining = {} if stream is None else stream.remaining
        waiting = []
        for task in instance.tasks:
            if task.arrival < instance.now:
                if remaining[task.id] > 0:
                    waiting.append(engine._to_queued_task(task, remaining[task.id]))
                engine._record_decision(task.id, True, engine._cast(task.arrival))
        refused = engine.planner.load_promised(waiting, engine.now)
        if refused is not None:
            name = engine.algorithm.name
            raise PromiseError(f"{name} finds no plan that keeps the promise to {refused.task.id}")
        return engine

    @property
    def waiting(self) -> tuple[str, ...]:
        """Identities of the tasks that have not begun, in the order of the plan."""
        with self._lock:
            return tuple(planned.task.id for planned in self.planner.waiting)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The last decision on each task, in the order in which they were made."""
        with self._lock:
            return tuple(self._decisions.values())

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The last decision on each reservation, in the order in which they were made."""
        with self._lock:
            return tuple(self._grants.values())

    def submit(self, task: Task) -> Decision:
        """Decide on a task that arrives.

        Parameters
        ----------
        task : Task
            Its arrival must not lie before `now`. What arrives at one instant is decided in the
            order of the calls, before anything is sent at that instant. It may have the
            identity of a task that was rejected, not after its own arrival; then it takes the
            place of that task.

        Returns
        -------
        Decision
            If it is a rejection, its `reason` says which task would miss and by how much.

        Raises
        ------
        InvalidInstanceError
            If the task arrives in the past or before its own rejection, or its identity was
            accepted before. As after a rejection, plan and clock are what they were.
        """
        with self._lock:
            if not isinstance(task, Task):
                raise NotApplicableError(f"a task is needed, not a {type(task).__name__}")
            faults = self._faults(task, self._decisions.get(task.id))
            if task.remaining is not None:
                faults.append(Fault("remaining", task.remaining, "is for tasks of a state only"))
            if faults:
                raise InvalidInstanceError(faults)
            new = self._to_queued_task(task, task.load)
            refused = self.planner.try_admit(new)
            if refused is not None:
                by, of = refused.miss
                rest = {"missed": refused.task.id, "by": simplest(by), "of": of}
                return self._record_decision(task.id, False, new.arrival, **rest)
            self.now = new.arrival
            return self._record_decision(task.id, True, new.arrival)

    def reserve(self, reservation: Reservation) -> Grant:
        """Decide on a reservation that is requested.

        Parameters
        ----------
        reservation : Reservation
            It may have the identity of one that was refused, not after its own arrival; then it
            takes the place of that one. Tasks and reservations have identities of their own.

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
            faults = self._faults(reservation, self._grants.get(reservation.id))
            if isinstance(reservation.nodes, tuple):
                rule = f"must be one of the nodes 0 to {self.cluster.nodes - 1}"
                strange = (node for node in reservation.nodes if node >= self.cluster.nodes)
                faults += [Fault("nodes", node, rule) for node in strange]
            if faults:
                raise InvalidInstanceError(faults)
            return self._reserve(reservation, self._cast(reservation.arrival))

    def advance(self, now: Number) -> None:
        """Advance the clock: what was to be sent before `now` has been sent.

        Raises
        ------
        InvalidInstanceError
            If `now` lies before the engine's clock.
        """
        with self._lock:
            instant = self._cast(_InitialState(now).now)
            if instant < self.now:
                rule = f"must not lie before {shown(simplest(self.now), 15)}"
                raise InvalidInstanceError([Fault("now", now, rule)])
            self.planner.advance(instant)
            self.now = instant

    def plan(self) -> Solution:
        """Return all decisions, and the chunks of all accepted tasks, sent or only planned.

        It is a plan for what was submitted last of each identity: of a task that was rejected and
        submitted again, the first content is forgotten.
        """
        with self._lock:
            chunks = tuple(
                Chunk(planned.task.id, node, load, start, sent, sent, end)
                for planned in self.planner.placements()
                for node, load, start, sent, end in planned.chunks
            )
            return Solution(self.decisions, self.grants, chunks)

    def _faults(self, new: Task | Reservation, before: Decision | Grant | None) -> list[Fault]:
        faults, arrival = [], self._cast(new.arrival)
        if arrival < self.now:
            rule = f"must not lie before now, {shown(simplest(self.now), 15)}"
            faults.append(Fault("arrival", new.arrival, rule))
        if not new.id:
            faults.append(Fault("id", new.id, "must not be empty"))
        return [*faults, *resubmission_faults(new, arrival, before)]

    def _reserve(self, reservation: Reservation, at: Number, *, promised: bool = False) -> Grant:
        begun = self.now if promised else self._cast(0)  # what was before is over
        start, sent, end = (
            max(self._cast(time), begun)
            for time in (reservation.start, reservation.channel_end, reservation.end)
        )
        request = ReservationRequest(start, sent, end, reservation.nodes)
        found: Any = reservation.nodes
        if end > start:
            found = self.planner.reserve(request, max(at, self.now))
        if isinstance(found, Refusal):
            grant = Grant(reservation.id, False, simplest(at), (), found.because, found.missed)
            if promised or reservation.mandatory:
                kind = "promised" if promised else "mandatory"
                why = conflict_message(
                    reservation, grant, self._accepted, self.planner.started(max(at, self.now))
                )
                raise PromiseError(f"{kind} reservation {reservation.id}: {why}")
        else:
            grant = Grant(reservation.id, True, simplest(at), found)
            self._accepted[reservation.id] = reservation, found
            self.now = max(at, self.now)
        self._grants.pop(reservation.id, None)  # the last decision is listed where it was made
        self._grants[reservation.id] = grant
        return grant

    def _to_queued_task(self, task: Task, load: Number) -> QueuedTask:
        cast = self._cast
        arrival = cast(task.arrival)
        deadline = arrival + cast(task.deadline)
        return QueuedTask((deadline, self._submissions), task.id, arrival, cast(load), deadline)

    def _record_decision(self, task: str, accepted: bool, at: Number, **rest: Any) -> Decision:
        decision = Decision(task, accepted, simplest(at), **rest)
        self._decisions.pop(task, None)  # the last decision is listed where it was made
        self._decisions[task] = decision
        self._submissions += 1
        return decision
