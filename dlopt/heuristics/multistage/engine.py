"""The online engine: one cluster, one algorithm, tasks and reservations as they arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from dlopt.arithmetic import Number, is_less
from dlopt.errors import NotApplicableError, short_text
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.heuristics.multistage.algorithm_names import (
    Algorithm,
    make_planner,
    parse,
    reason_against,
)
from dlopt.heuristics.multistage.conflict_messages import conflicting_promises
from dlopt.heuristics.multistage.literal_stream import LiteralPlanner
from dlopt.heuristics.multistage.queue import MultiStageQueue
from dlopt.heuristics.multistage.reservation_progress_book import ReservationProgressBook
from dlopt.heuristics.multistage.saved_records import ReservationSnapshot
from dlopt.problems.admission.data import Chunk
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage.data import Instance, Solution


class MultiStage(ReservationProgressBook):
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

    Guarantee, of ``multi-stage``, with prices or without: every accepted task meets its deadline
    and every accepted reservation starts and ends as promised, for the plan that `plan` returns is
    valid at all times, and what is accepted changes it only into another valid plan. A task is
    committed whole once its first transmission starts before `now`; until then it may be planned
    again.

    Source: Mamat 2011, chapter 5, repaired; the modules of this package say how.

    Examples
    --------
    >>> from dlopt.problems.multistage import Reservation, Task
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
    ) -> None:
        if not isinstance(cluster, Cluster):
            raise NotApplicableError(f"a cluster is needed, not a {type(cluster).__name__}")
        reason = reason_against(cluster)
        if reason is not None:
            raise NotApplicableError(f"multi-stage algorithms do not apply: {reason}")
        self.algorithm: Algorithm = parse(algorithm)
        super().__init__(cluster, now, ready_times, channel_ready, exact_numbers)
        self._start_without_reservations()
        self._prices = BidPrices() if self.algorithm.priced else None
        self.planner = self._new_planner(self._ready, self._channel_ready)

    @classmethod
    def of(cls, instance: Instance, algorithm: str = "multi-stage") -> Self:
        """Start from the state of an instance: what it promised before ``now`` is planned.

        Raises
        ------
        NotApplicableError
            If it is no instance of `multistage`.
        PromiseError
            If the algorithm cannot plan these tasks, or the reservations are in conflict.
        """
        if not isinstance(instance, Instance):
            raise NotApplicableError(
                f"an instance of multistage is needed, got {short_text(instance)}"
            )
        engine = cls(
            instance.cluster,
            algorithm,
            now=instance.now,
            ready_times=instance.free_times,
            channel_ready=instance.channel_free,
            exact_numbers=instance.exact,
        )
        promised = [
            reservation
            for reservation in instance.reservations
            if is_less(reservation.arrival, instance.now)
        ]
        for reservation in promised:
            engine._load_reservation(reservation)
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
            planned = (one.task.id for one in self.planner.waiting)
            return tuple(
                name for name in planned if name in self._queued and name not in self._ended
            )

    def plan(self) -> Solution:
        """Return all decisions, and the chunks of all accepted tasks in the order of transmission.

        It is a plan for what was submitted last of each identity: of a task that was rejected and
        submitted again, the first content is forgotten.
        """
        with self._lock:
            chunks = sorted((*self._sent, *self._planned_chunks()), key=_order_of_transmission)
            return Solution(self.decisions, self.grants, tuple(chunks))

    @classmethod
    def _with_settings(cls, saved: ReservationSnapshot) -> Self:
        return cls(
            saved.cluster,
            saved.algorithm,
            now=saved.now,
            exact_numbers=saved.exact_numbers,
        )

    def _new_planner(
        self, ready: list[Number], channel: Number
    ) -> MultiStageQueue | LiteralPlanner:
        return make_planner(
            self.algorithm,
            self._costs,
            ready,
            channel,
            self.now,
            prices=self._prices,
        )

    @property
    def _is_literal(self) -> bool:
        return self.algorithm.flaw is not None


def _order_of_transmission(chunk: Chunk) -> tuple[Number, int, str]:
    return chunk.transmission_start, chunk.node, chunk.task
