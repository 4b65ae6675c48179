"""Bid-price control: a planned queue that rejects tasks whose opportunity cost is too high.

A task that fits can still be a bad choice: its channel and node time may serve several tasks that
arrive later. So a task is accepted only if it passes two tests, in this order. The admission test
of the algorithm finds whether all deadlines are met with it, and by which plan. The prices of
`dlopt.heuristics.admission.bid_prices` decide whether the time by which that plan grows costs more
than the value of the task. That includes the additional nodes of other tasks that are postponed.

The first test makes the algorithm sound, whatever the prices are. They depend on arrivals until now
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.bid_prices import BidPrices, ForecastTask, ResourceTimes
from dlopt.heuristics.admission.opr_epr import OprEprPlanner
from dlopt.heuristics.admission.queue import Checkpoint, PlannedQueue
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    PlannedTask,
    QueuedTask,
    Rejection,
)


class PricedQueue(PlannedQueue):
    """A planned queue with bid prices.

    Parameters
    ----------
    prices : BidPrices
        Every task that is tried is added to their forecast.
    algorithm : Algorithm
        The base, whose admission test decides in the end.
    costs, ready, channel
        See `PlannedQueue`.

    Notes
    -----
    Complexity of a decision: that of the algorithm, and O(n + `FORECAST_TASKS`) for the prices,
    with `n` tasks waiting.

    Examples
    --------
    Small tasks that are urgent, two in each time unit, and at times a large one that is not. EDF
    accepts the large ones while the node is idle, and loses the small ones meanwhile:

    >>> from dlopt import Admission
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> for name in ("edf-opr-mn", "priced-edf-opr-mn"):
    ...     head = Admission(Cluster(1, tau=0, chi=1), name)
    ...     for i in range(60):
    ...         _ = head.submit(Task(f"small-{i}", arrival=i / 2, load=1, deadline=2))
    ...         if i % 8 == 3 and i > 8:
    ...             last = head.submit(Task(f"large-{i}", arrival=i / 2, load=6, deadline=20))
    ...     print(sum(decision.accepted for decision in head.decisions))
    20
    31
    >>> last.reason
    'task large-59 takes 5 more time than the bid prices allow'
    """

    piecewise_affine = False
    proves_earliest = False

    def __init__(
        self,
        prices: BidPrices,
        algorithm: Algorithm,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
    ) -> None:
        super().__init__(algorithm, costs, ready, channel)
        self.prices = prices
        self._nodes, self._set_up = len(ready), costs[2]
        self._alone = OprEprPlanner(algorithm, costs, len(ready))

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return why not; in either case forecast with it."""
        refused = super().try_admit(new)
        self.prices.observe(self._forecast_task(new))
        return refused

    def _replan(
        self, new: QueuedTask
    ) -> tuple[int, list[PlannedTask], list[Checkpoint]] | Rejection:
        """Plan with a new task; a plan that takes too much for it is rejected."""
        found = super()._replan(new)
        if isinstance(found, Rejection):
            return found
        if not self.prices.horizon:
            return found
        at, plan, _ = found
        before, after = self._times_of(self.waiting[at:]), self._times_of(plan)
        required = ResourceTimes(after.channel - before.channel, after.nodes - before.nodes)
        promised, all_nodes = self._promised(new.arrival), self._has_all_nodes(new)
        asked = required, promised, new.arrival, new.weight
        over = self.prices.excess(*asked, all_nodes=all_nodes)
        if over is not None:  # with growth there is more capacity, and what fits is accepted
            growth = self._growth_when_late()
            over = self.prices.excess(*asked, all_nodes=all_nodes, growth=growth)
        return found if over is None else Rejection(new, DeadlineMiss(over, "price"))

    def _growth_when_late(self) -> Number:
        """Return by which factor tasks take more of the channel after half of their deadlines.

        One that needs `n` nodes needs twice as many then, each with its set-up; but none needs less
        than one.
        """
        if not self._set_up:
            return 1
        more: Number = 0
        channel: Number = 0
        for task in self.prices.forecast:
            needed = self._nodes * task.times.nodes / task.deadline if task.deadline else 0
            more += max(2 * needed, 1) - max(needed, 1)
            channel += task.times.channel
        return 1 + self._set_up * more / channel if channel else 1

    def _has_all_nodes(self, task: QueuedTask) -> bool:
        """Tell whether a task is given all nodes."""
        return self.algorithm.assignment == "an"

    def _forecast_task(self, task: QueuedTask) -> ForecastTask:
        """Return a task that arrives as the forecast has it."""
        relative, times = task.deadline - task.arrival, self._times_alone(task)
        return ForecastTask(task.arrival, relative, times, task.weight)

    def _times_alone(self, task: QueuedTask) -> ResourceTimes:
        """Return what a task takes on an idle cluster."""
        work = self._alone.work(task.load)
        n = work.most
        if self.algorithm.assignment == "mn":
            n = self._alone.fewest(task.load, task.deadline - task.arrival) or n
        place = self._alone.placement_on(n, task.arrival, task.load)
        return self._times_of([PlannedTask(task, place)])

    def _times_of(self, plan: Iterable[PlannedTask]) -> ResourceTimes:
        """Return what planned tasks take."""
        channel: Number = 0
        nodes: Number = Fraction(0)  # an integer, divided, would be a float
        for _, place in plan:
            channel += place.sent - place.start
            nodes += (place.end - place.start) * place.nodes
        return ResourceTimes(channel, nodes / self._nodes)

    def _promised(self, now: Number) -> ResourceTimes:
        """Return what waits, and for how long what has begun delays a task that comes.

        If tasks need few nodes, it does so until a few are free; if they need all, with all that it
        still has to do. In between it is the mean, weighted by the share that they need.
        """
        begun, share = self._started_count(now), self.prices.mean_node_share
        free, horizon = self._nodes_before(begun), self.prices.horizon
        waiting = self._times_of(self.waiting[begun:])
        channel = max(free.channel - now, 0)
        delay = max(free.nth(max(ceil(share * self._nodes), 1)) - now, 0)
        busy = sum(
            min(instant - now, horizon) * count
            for instant, count in zip(free.times, free.counts, strict=True)
            if instant > now
        )
        nodes = (1 - share) * delay + share / self._nodes * busy
        return ResourceTimes(waiting.channel + channel, waiting.nodes + nodes)
