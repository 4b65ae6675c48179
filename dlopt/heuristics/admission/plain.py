"""The straightforward twins: one ready time a node, everything planned anew for each task.

They are what the fast planners are held against, in tests for equal decisions and in benchmarks
for speed. A task costs O(N log N), a decision O(n N log N) with `n` tasks waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dlopt.heuristics.admission.algorithm import Algorithm
from dlopt.heuristics.admission.nodes import Miss, Placement
from dlopt.heuristics.iit import closed_form
from dlopt.heuristics.iit.closed_form import Costs
from dlopt.problems.cluster import Cluster


class PlainNodes:
    """The ready times of all nodes, sorted; used as `dlopt.heuristics.admission.nodes.Nodes` is."""

    def __init__(self, ready: Iterable[Any], channel: Any) -> None:
        self.times = sorted(ready)
        self.channel = channel

    def copy(self) -> PlainNodes:
        """Return a copy that shares nothing that changes."""
        return PlainNodes(self.times, self.channel)

    def hold(self, placement: Placement) -> None:
        """Let a task hold the nodes that are ready first, and the channel."""
        rest = [max(time, placement.floor) for time in self.times[placement.nodes :]]
        self.times = sorted(rest + [placement.end] * placement.nodes)
        self.channel = max(self.channel, placement.sent)


class PlainTogether:
    """OPR and EPR: try one node, two nodes, and so on."""

    def __init__(self, algorithm: Algorithm, costs: tuple[Any, ...], nodes: int) -> None:
        self.rule = algorithm.rule(costs)
        self._algorithm = algorithm

    def place(self, nodes: PlainNodes, floor: Any, load: Any, deadline: Any) -> Placement | Miss:
        """Return where a task goes that is not sent before `floor`."""
        size = len(nodes.times)
        most = self.rule.n_star(load, size) or size
        tried = range(1, most + 1) if self._algorithm.assignment == "mn" else (most,)
        late = None
        for n in tried:
            start = max(nodes.times[n - 1], floor)
            end = start + self.rule.execution_time(load, n)
            if end <= deadline or not self._algorithm.control:
                sent = start + n * self.rule.theta_cm + load * self.rule.tau
                return Placement(n, start, start, sent, end)
            late = end - deadline if late is None else min(late, end - deadline)
        return Miss(late, "time")


class PlainInserted:
    """EDF-IIT-2: the closed form over the ready time of each node."""

    def __init__(self, algorithm: Algorithm, costs: tuple[Any, ...], nodes: int) -> None:
        self.costs = Costs(*costs)
        self.cluster = Cluster(nodes, *costs)
        self._fewest = algorithm.assignment == "mn"

    def place(self, nodes: PlainNodes, floor: Any, load: Any, deadline: Any) -> Placement | Miss:
        """Return where a task goes that is not sent before `floor`."""
        ready = [max(time, floor) for time in nodes.times]
        most = None
        if self._fewest:
            most, left = self._count(ready, load, deadline)
            if left > 0:
                return Miss(left, "load")
        end, loads = closed_form.minimum_completion(self.cluster, ready, load, most)
        if end > deadline and not self._fewest:
            return Miss(end - deadline, "time")
        sent = end - self.costs.theta_cp - self.costs.chi * loads[-1]
        return Placement(len(loads), floor, ready[0], sent, end)

    def _count(self, ready: list[Any], load: Any, deadline: Any) -> tuple[int, Any]:
        """Return the fewest nodes that do a load by a deadline, and what all of them leave."""
        costs, unit = self.costs, self.costs.tau + self.costs.chi
        until = deadline - costs.theta_cm - costs.theta_cp
        share: Any = None
        for count, instant in enumerate(ready, start=1):
            free = until - instant
            share = free if share is None else min(free, costs.beta * share - costs.theta_cm)
            if share <= 0:
                break
            load -= share / unit
            if load <= 0:
                return count, load
        return len(ready), load
