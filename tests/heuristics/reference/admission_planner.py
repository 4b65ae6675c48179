"""Reference implementations: one ready time a node, everything planned again for each task.

The planners of dlopt are compared with them, in tests for equal decisions and in benchmarks for
speed.
A task costs O(N log N), a decision O(n N log N) with `n` tasks waiting; under MCDF, which orders
all of them for each that starts, O(n^2 log N) more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.records import (
    DeadlineMiss,
    Placement,
    PlannedTask,
    QueuedTask,
    Rejection,
)
from dlopt.heuristics.iit import edf_iit_2
from dlopt.heuristics.iit.edf_iit_2 import Costs
from dlopt.problems.cluster import Cluster


class ReferenceReadyTimes:
    """The ready times of all nodes, sorted; the reference for
    `dlopt.heuristics.admission.ready_times.ReadyTimes`.
    """

    def __init__(self, ready: Iterable[Number], channel: Number) -> None:
        self.times = sorted(ready)
        self.channel = channel

    def copy(self) -> ReferenceReadyTimes:
        """Return a copy that shares nothing that changes."""
        return ReferenceReadyTimes(self.times, self.channel)

    def allocate(self, placement: Placement) -> None:
        """Allocate the nodes that are ready first, and the channel, to a task."""
        rest = [max(time, placement.not_before) for time in self.times[placement.nodes :]]
        self.times = sorted(rest + [placement.end] * placement.nodes)
        self.channel = max(self.channel, placement.sent)


class ReferenceOprEprPlanner:
    """OPR and EPR: try one node, two nodes, and so on."""

    def __init__(self, algorithm: Algorithm, costs: tuple[Number, ...], nodes: int) -> None:
        self.rule = algorithm.rule(costs)
        self.nodes = nodes
        self._algorithm = algorithm

    def place(
        self, nodes: ReferenceReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Return the placement of a task that is not sent before `not_before`."""
        most = self.most(load)
        tried = range(1, most + 1) if self._algorithm.assignment == "mn" else (most,)
        late = None
        for n in tried:
            start = max(nodes.times[n - 1], not_before)
            end = start + self.rule.execution_time(load, n)
            if end <= deadline or not self._algorithm.control:
                return self.placement_on(n, start, load)
            late = end - deadline if late is None else min(late, end - deadline)
        assert late is not None  # at least one node was tried
        return DeadlineMiss(late, "time")

    def most(self, load: Number) -> int:
        """Return the number of useful nodes for a load, n* or all."""
        return self.rule.n_star(load, self.nodes) or self.nodes

    def placement_on(self, n: int, start: Number, load: Number) -> Placement:
        """Return the placement of a load on `n` nodes from an instant on."""
        sent = start + n * self.rule.theta_cm + load * self.rule.tau
        return Placement(n, start, start, sent, start + self.rule.execution_time(load, n))


class ReferenceEdfIit2Planner:
    """EDF-IIT-2: the closed form over the ready time of each node."""

    def __init__(self, algorithm: Algorithm, costs: tuple[Number, ...], nodes: int) -> None:
        self.costs = Costs(*costs)
        self.cluster = Cluster(nodes, *costs)
        self._fewest = algorithm.assignment == "mn"

    def place(
        self, nodes: ReferenceReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Return the placement of a task that is not sent before `not_before`."""
        ready = [max(time, not_before) for time in nodes.times]
        most = None
        if self._fewest:
            most, left = self._count(ready, load, deadline)
            if left > 0:
                return DeadlineMiss(left, "load")
        end, loads = edf_iit_2.minimum_completion(self.cluster, ready, load, most)
        if end > deadline and not self._fewest:
            return DeadlineMiss(end - deadline, "time")
        sent = end - self.costs.theta_cp - self.costs.chi * loads[-1]
        return Placement(len(loads), not_before, ready[0], sent, end)

    def _count(self, ready: list[Number], load: Number, deadline: Number) -> tuple[int, Number]:
        """Return the fewest nodes that meet a deadline, and the load that all of them leave."""
        costs, unit = self.costs, self.costs.tau + self.costs.chi
        until = deadline - costs.theta_cm - costs.theta_cp
        share: Number | None = None
        for count, instant in enumerate(ready, start=1):
            free = until - instant
            share = free if share is None else min(free, costs.beta * share - costs.theta_cm)
            if share <= 0:
                break
            load -= share / unit
            if load <= 0:
                return count, load
        return len(ready), load


def reference_mwf_order(
    task_planner: ReferenceOprEprPlanner, tasks: Sequence[QueuedTask], now: Number
) -> list[QueuedTask] | Rejection:
    """Return the tasks in the order of MWF."""
    ranked = _ranked(task_planner, tasks, now)
    return ranked if isinstance(ranked, Rejection) else [task for task, _ in ranked]


def reference_plan_mcdf(
    task_planner: ReferenceOprEprPlanner,
    nodes: ReferenceReadyTimes,
    tasks: Sequence[QueuedTask],
    now: Number,
    channel: bool,
) -> list[PlannedTask] | Rejection:
    """Plan as MCDF does, sorting all waiting tasks again at each instant."""
    left = list(tasks)
    plan: list[PlannedTask] = []
    instant = now
    while left:
        instant = max(instant, now, nodes.times[0], nodes.channel if channel else now)
        ranked = _ranked(task_planner, left, instant)
        if isinstance(ranked, Rejection):
            return ranked
        available = sum(time <= instant for time in nodes.times)
        started = False
        for task, fewest in ranked:
            if fewest > available or (started and channel):
                continue
            plan.append(PlannedTask(task, task_planner.placement_on(fewest, instant, task.load)))
            nodes.allocate(plan[-1].placement)
            left.remove(task)
            available -= fewest
            started = True
        if not (started and channel):
            instant = min((time for time in nodes.times if time > instant), default=instant)
    return plan


def _ranked(
    task_planner: ReferenceOprEprPlanner, tasks: Sequence[QueuedTask], instant: Number
) -> list[tuple[QueuedTask, int]] | Rejection:
    """Return tasks with their fewest sufficient nodes from an instant on, in their order."""
    ranked = []
    for task in tasks:
        slack = task.deadline - instant
        fewest = task_planner.rule.n_min(task.load, slack, task_planner.nodes)
        if fewest is None:
            time = task_planner.rule.execution_time(task.load, task_planner.most(task.load))
            return Rejection(task, DeadlineMiss(time - slack, "time"))
        ranked.append(
            (-task_planner.rule.cost_derivative(task.load, fewest), task.key[1], task, fewest)
        )
    return [(task, fewest) for _, _, task, fewest in sorted(ranked)]
