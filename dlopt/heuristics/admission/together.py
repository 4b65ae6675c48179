"""OPR and EPR in a stream: all nodes of a task wait for the last of them, and end together."""

from __future__ import annotations

from typing import Any

from dlopt.heuristics.admission.algorithm import Algorithm
from dlopt.heuristics.admission.nodes import Miss, Nodes, Placement
from dlopt.heuristics.admission.powers import Durations


class Together:
    """Places tasks by a partitioning rule for nodes that are all ready at once.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field.
    nodes : int

    Notes
    -----
    A task takes the nodes that are ready first and starts when the last of them is. With the
    minimum number of nodes, it takes the fewest that end by its deadline then; this is the
    earliest instant at which as many nodes are ready as it needs, as figure 4.1 of Mamat 2011
    has it. All of its nodes are free again at its end, ``start + E(load, n)``.
    """

    def __init__(self, algorithm: Algorithm, costs: tuple[Any, ...], nodes: int) -> None:
        self.rule = algorithm.rule(costs)
        self.durations = Durations(self.rule, nodes)
        self._all = algorithm.assignment == "an"
        self._control = algorithm.control
        self._known: dict[Any, int] = {}

    def n_star(self, load: Any) -> int:
        """Return how many nodes help a load; the answer is kept, for queues ask again."""
        found = self._known.get(load)
        if found is None:
            if len(self._known) > 100_000:
                self._known.clear()
            found = self._known[load] = self.durations.n_star(load)
        return found

    def place(self, nodes: Nodes, floor: Any, load: Any, deadline: Any) -> Placement | Miss:
        """Return where a task goes that is not sent before `floor`; the nodes are clipped to it."""
        nodes.clip(floor)
        most = self.n_star(load)
        if self._all:
            start = nodes.nth(most)
            end = start + self.durations.of(load)(most)
            if self._control and end > deadline:
                return Miss(end - deadline, "time")
            return self.placed(most, start, load)
        return self._fewest(nodes, load, deadline, most)

    def _fewest(self, nodes: Nodes, load: Any, deadline: Any, most: int) -> Placement | Miss:
        time = self.durations.of(load)
        seen, late = 0, None
        for start, count in zip(nodes.times, nodes.counts, strict=True):
            low, seen = seen + 1, min(seen + count, most)
            slack = deadline - start
            over = time(seen) - slack
            if over <= 0:
                n = self.durations.least(load, slack, low, seen) or seen
                return self.placed(n, start, load)
            late = over if late is None else min(late, over)
        return Miss(late, "time")

    def placed(self, n: int, start: Any, load: Any) -> Placement:
        """Return the placement of a load that starts on `n` nodes at an instant."""
        sent = start + n * self.rule.theta_cm + load * self.rule.tau
        return Placement(n, start, start, sent, start + self.durations.of(load)(n))

    def loads(self, load: Any, ready: list[Any], placement: Placement) -> list[Any]:
        """Return what each node gets, in the order of transmission."""
        return self.rule.loads(load, placement.nodes)

    def derivative(self, load: Any, slack: Any) -> Any:
        """Return by how much one node more than the fewest raises the cost, or None if too late."""
        n = self.durations.least(load, slack, 1, self.n_star(load))
        return None if n is None else self.rule.cost_derivative(load, n)
