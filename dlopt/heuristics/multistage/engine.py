"""The online engine: one cluster, one algorithm, tasks and reservations as they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlopt.arithmetic import Number, is_less, simplest
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.admission.online_engine import OnlineEngine, PromiseError
from dlopt.heuristics.multistage.algorithm_names import (
    Algorithm,
    make_planner,
    parse,
    reason_against,
)
from dlopt.heuristics.multistage.busy_intervals import ReservationRequest
from dlopt.heuristics.multistage.conflict_messages import conflict_message, conflicting_promises
from dlopt.heuristics.multistage.literal_stream import LiteralPlanner
from dlopt.heuristics.multistage.queue import MultiStageQueue, Refusal
from dlopt.problems.admission.data import Chunk
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.data import Grant, Instance, Reservation, Solution


class MultiStage(OnlineEngine):
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
    >>> from dlopt.problems.multistage import Task
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
        self.algorithm: Algorithm = parse(algorithm)
        super().__init__(cluster, now, ready_times, channel_ready, exact_numbers)
        self.planner: MultiStageQueue | LiteralPlanner = make_planner(
            self.algorithm,
            (self._cast(cluster.tau_of(0)), self._cast(cluster.chi_of(0))),
            self._ready,
            self._channel_ready,
            self.now,
            reference=reference,
        )
        self._grants: dict[str, Grant] = {}
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
        promised = [
            reservation
            for reservation in instance.reservations
            if is_less(reservation.arrival, instance.now)
        ]
        for reservation in promised:
            arrival = min(engine._cast(reservation.arrival), engine.now)
            engine._reserve(reservation, arrival, promised=True)
        clash = conflicting_promises(promised, engine._cast)
        if clash is not None:
            raise PromiseError(clash)
        remaining = {} if instance.stream is None else instance.stream.remaining
        engine._load_promised(
            (task, remaining[task.id])
            for task in instance.tasks
            if is_less(task.arrival, instance.now)
        )
        return engine

    @property
    def waiting(self) -> tuple[str, ...]:
        """Identities of the tasks that have not begun, in the order of the plan."""
        with self._lock:
            return tuple(planned.task.id for planned in self.planner.waiting)

    @property
    def grants(self) -> tuple[Grant, ...]:
        """The last decision on each reservation, in the order in which they were made."""
        with self._lock:
            return tuple(self._grants.values())

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
            faults = self._submission_faults(reservation, self._grants.get(reservation.id))
            if isinstance(reservation.nodes, tuple):
                rule = f"must be one of the nodes 0 to {self.cluster.nodes - 1}"
                strange = (node for node in reservation.nodes if node >= self.cluster.nodes)
                faults += [Fault("nodes", node, rule) for node in strange]
            if faults:
                raise InvalidInstanceError(faults)
            return self._reserve(reservation, self._cast(reservation.arrival))

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
