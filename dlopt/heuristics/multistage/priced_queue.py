"""Bid-price control of tasks and reservations: what fits is rejected if it costs too much.

As `dlopt.heuristics.admission.priced_queue`: a task or a reservation is accepted only if it passes
the admission test of `multi-stage`, and the bid prices of `dlopt.heuristics.admission.bid_prices`.
The first test makes the algorithm sound, whatever the prices are. They depend on arrivals until now
alone.

Plans have no set-up times, and no node waits within a chunk. So a task of load ``sigma`` takes
``sigma tau`` of the channel and ``sigma (tau + chi)`` of the nodes, however it is divided, and so
much the plan grows by it. A reservation takes the channel for its I/O, and each of its nodes for
its window; its weight is 1. Both are in one forecast. What is promised within the horizon of the
prices is capacity that is not there: from now on for a task, from its start on for a reservation.
A mandatory reservation is not refused for its price, and is no part of the forecast.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.bid_prices import BidPrices, ForecastTask, ResourceTimes
from dlopt.heuristics.admission.records import DeadlineMiss, QueuedTask, Rejection
from dlopt.heuristics.multistage.busy_intervals import ReservationRequest
from dlopt.heuristics.multistage.queue import FoundNodes, MultiStageQueue, Refusal, Replanning


class PricedMultiStageQueue(MultiStageQueue):
    """A queue around reservations with bid prices.

    Parameters
    ----------
    costs, ready, channel, now
        See `MultiStageQueue`.
    prices : BidPrices, optional
        Every task and every reservation that is tried is added to their forecast. By default that
        is empty.

    Notes
    -----
    Complexity of a decision: that of `MultiStageQueue`, and O(n + b + `FORECAST_TASKS`) for the
    prices, with `n` tasks waiting and `b` busy intervals of the nodes within the horizon.

    Examples
    --------
    Small tasks that are urgent, two in each time unit, and at times a large one that is not, on a
    node that is reserved from 20 to 23. With prices the large ones are rejected, and more small
    ones are completed:

    >>> from dlopt import MultiStage
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Reservation, Task
    >>> for name in ("multi-stage", "priced-multi-stage"):
    ...     head = MultiStage(Cluster(1, tau=0, chi=1), name)
    ...     _ = head.reserve(Reservation("r", arrival=0, start=20, end=23))
    ...     for i in range(60):
    ...         _ = head.submit(Task(f"small-{i}", arrival=i / 2, load=1, deadline=2))
    ...         if i % 8 == 3 and i > 8:
    ...             last = head.submit(Task(f"large-{i}", arrival=i / 2, load=6, deadline=20))
    ...     print(sum(decision.accepted for decision in head.decisions))
    19
    28
    >>> last.reason
    'task large-59 takes 5 more time than the bid prices allow'
    """

    def __init__(
        self,
        costs: tuple[Number, Number],
        ready: Sequence[Number],
        channel: Number,
        now: Number,
        *,
        prices: BidPrices | None = None,
    ) -> None:
        super().__init__(costs, ready, channel, now)
        self.prices = BidPrices() if prices is None else prices
        self._costs = costs

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return why not; in either case forecast with it."""
        refused = super().try_admit(new)
        if self._node_count:
            times = self._times_of(new.load)
            relative = new.deadline - new.arrival
            self.prices.observe(ForecastTask(new.arrival, relative, times, new.weight))
        return refused

    def reserve(self, request: ReservationRequest, now: Number) -> Refusal | tuple[int, ...]:
        """Reserve nodes, or return why not; in either case forecast with the reservation."""
        found = super().reserve(request, now)
        if self._node_count and not request.promised:
            times = self._reserved_times(request)
            length, advance = request.end - request.start, request.start - now
            self.prices.observe(ForecastTask(now, length, times, advance=advance))
        return found

    def _find_plan(self, new: QueuedTask) -> Replanning | Rejection:
        """Return a plan with a task that arrives now; one that takes too much is rejected."""
        found, horizon = super()._find_plan(new), self.prices.horizon
        if isinstance(found, Rejection) or not horizon:
            return found
        promised = self._promised(found.begun, new.arrival, new.arrival + horizon)
        over = self.prices.excess(self._times_of(new.load), promised, new.arrival, new.weight)
        return found if over is None else Rejection(new, DeadlineMiss(over, "price"))

    def _find_nodes(self, request: ReservationRequest, now: Number) -> FoundNodes | Refusal:
        """Return nodes for a reservation; one that takes too much is refused."""
        found, horizon = super()._find_nodes(request, now), self.prices.horizon
        if isinstance(found, Refusal) or request.promised or not horizon:
            return found
        start, required = request.start, self._reserved_times(request)
        promised = self._promised(len(self.waiting), start, start + horizon)
        over = self.prices.excess(required, promised, now, advance=start - now)
        return found if over is None else Refusal("price")

    @property
    def _node_count(self) -> int:
        return len(self.committed_state.nodes)

    def _times_of(self, load: Number) -> ResourceTimes:
        """Return what a load takes, wherever it is processed."""
        tau, chi = self._costs
        return ResourceTimes(load * tau, load * (tau + chi) / self._node_count)

    def _reserved_times(self, request: ReservationRequest) -> ResourceTimes:
        """Return what a reservation takes."""
        node_time = (request.end - request.start) * request.node_count
        return ResourceTimes(request.io_end - request.start, node_time / self._node_count)

    def _promised(self, begun: int, now: Number, end: Number) -> ResourceTimes:
        """Return what is promised: until an instant what is reserved or begun, and what waits.

        `begun` is the number of tasks of the queue of which the former counts.
        """
        channel, nodes = self.committed_state.busy_times(now, end)
        for planned in self.waiting[:begun]:
            for chunk in planned.chunks:
                channel += max(min(chunk.sent, end) - max(chunk.start, now), 0)
                nodes += max(min(chunk.end, end) - max(chunk.start, now), 0)
        waiting = self._times_of(sum(planned.task.load for planned in self.waiting[begun:]))
        nodes = (nodes or Fraction(0)) / self._node_count  # 0 / n would be a float
        return ResourceTimes(channel + waiting.channel, nodes + waiting.nodes)
