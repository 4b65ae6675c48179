"""The queue of ``priced`` where all nodes take hardly more time than one: it chooses for each task.

On all nodes a task ends first, and leaves most time for others; but while it runs, nothing else
does. On the fewest that end by its deadline, small tasks have the other nodes meanwhile. Which of
both blocks less is estimated from the forecast when the task arrives
(`dlopt.heuristics.admission.bid_prices.BidPrices.blocks_less_on_fewest`). All nodes take more node
time, since each waits for what it is sent. That costs nothing while nodes would be idle; where so
much waits that none would (`BUSY_TASKS`), a task gets the fewest. What is chosen remains, however
often the task is planned again.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.bid_prices import BidPrices
from dlopt.heuristics.admission.edf_iit_2 import EdfIit2Planner
from dlopt.heuristics.admission.priced_queue import PricedQueue
from dlopt.heuristics.admission.queue import Checkpoint
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import PlannedTask, QueuedTask, Rejection

ALL_NODES = Algorithm("edf", "iit", "an")
FEWEST_NODES = Algorithm("edf", "iit", "mn")
BUSY_TASKS = 3
"""Tasks of mean node time that wait or run when no node would be idle if a new task gets the
fewest. Measured on seeds 0 to 9 of Mamat 2011's workload (docs/better.md)."""


class NodeChoosingQueue(PricedQueue):
    """A queue with bid prices whose tasks get all nodes or the fewest.

    Parameters
    ----------
    prices : BidPrices
        They also keep which tasks get the fewest nodes, from one planner to the next.
    costs, ready, channel
        See `PricedQueue`.

    Notes
    -----
    Complexity of a decision: that of EDF-IIT-2, and O(n + `FORECAST_TASKS`) for the prices.

    Examples
    --------
    Small tasks need an eighth of the nodes and are urgent, a large one has time: it gets half of
    the nodes, and no small one is lost:

    >>> from dlopt import Admission
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> for name in ("priced-edf-opr-an", "priced"):
    ...     head = Admission(Cluster(8, tau=0, chi=8), name)
    ...     for i in range(60):
    ...         small = Task(f"small-{i}", arrival=i, load=1 / 8, deadline=1)
    ...         _ = head.submit(small)
    ...         if i % 20 == 19:
    ...             _ = head.submit(Task(f"large-{i}", arrival=i, load=4, deadline=8))
    ...     print(sum(decision.accepted for decision in head.decisions))
    60
    63
    """

    def __init__(
        self,
        prices: BidPrices,
        costs: tuple[Number, ...],
        ready: Sequence[Number],
        channel: Number,
    ) -> None:
        super().__init__(prices, ALL_NODES, costs, ready, channel)
        self._on_all = self.task_planner
        self._on_fewest = EdfIit2Planner(FEWEST_NODES, costs, len(ready))

    def try_admit(self, new: QueuedTask) -> Rejection | None:
        """Accept a task that arrives now, or return why not; in either case forecast with it."""
        refused = super().try_admit(new)
        waiting = {task.key[1] for task in self.tasks}
        self.prices.on_fewest &= waiting
        return refused

    def would_reject(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss if a task that arrives now were accepted; changes nothing."""
        before = self.prices.on_fewest
        found = super().would_reject(new)
        self.prices.on_fewest = before
        return found

    def _replan(
        self, new: QueuedTask
    ) -> tuple[int, list[PlannedTask], list[Checkpoint]] | Rejection:
        """Plan with a new task, on all nodes or the fewest."""
        forecast, promised = self.prices.forecast, self._promised(new.arrival).nodes
        busy = promised * len(forecast) > BUSY_TASKS * sum(task.times.nodes for task in forecast)
        if busy or self.prices.blocks_less_on_fewest(self._forecast_task(new)):
            self.prices.on_fewest |= {new.key[1]}
        return super()._replan(new)

    def _has_all_nodes(self, task: QueuedTask) -> bool:
        """Tell whether a task is given all nodes."""
        return task.key[1] not in self.prices.on_fewest

    def _plan_tasks(
        self,
        nodes: ReadyTimes,
        tasks: list[QueuedTask],
        now: Number,
        before: int,
        checkpoints: list[Checkpoint],
    ) -> list[PlannedTask] | Rejection:
        """Plan tasks, each on all nodes or the fewest; the first has so many `before` it."""
        plan: list[PlannedTask] = []
        for number, task in enumerate(tasks, start=before):
            self.task_planner = self._on_all if self._has_all_nodes(task) else self._on_fewest
            found = super()._plan_tasks(nodes, [task], now, number, checkpoints)
            if isinstance(found, Rejection):
                return found
            plan += found
        return plan
