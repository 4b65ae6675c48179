"""EDF-IIT-1 in a stream: nodes that are ready early pass for faster ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.ready_times import ReadyTimes, breakpoints
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.heuristics.iit.edf_iit_1 import HeterogeneousView, heterogeneous_view
from dlopt.problems.cluster import Cluster


class EdfIit1Planner:
    """Places tasks by the heterogeneous view, on the fewest nodes whose promise is in time.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field.
    nodes : int

    Notes
    -----
    The nodes are held until the promise, even if their work ends before it. Complexity: O(N) for
    each number of nodes that is tried, O(N^2) a task.
    """

    def __init__(self, algorithm: Algorithm, costs: tuple[Any, ...], nodes: int) -> None:
        self.tau, _, self.theta_cm, _ = costs
        self.cluster = Cluster(nodes, *costs)

    def place(
        self, nodes: ReadyTimes, not_before: Any, load: Any, deadline: Any
    ) -> Placement | DeadlineMiss:
        """Return where a task goes that is not sent before `not_before`; the nodes are clipped to it."""
        nodes.clip(not_before)
        ready = nodes.ready()
        late = None
        for n in range(1, len(ready) + 1):
            view = heterogeneous_view(self.cluster, ready, load, n)
            if view is None:
                break
            over = view.promise - deadline
            if over <= 0:
                return Placement(n, not_before, ready[0], self._sent(ready, view), view.promise)
            late = over if late is None else min(late, over)
            if ready[n - 1] >= deadline:
                break
        return DeadlineMiss(late, "time")

    def deadlines(self, nodes: ReadyTimes, not_before: Any, load: Any, low: Any) -> Iterator[Any]:
        """Yield the deadlines from `low` on at which `place` changes its answer, ascending."""
        nodes.clip(not_before)
        ready = nodes.ready()
        views = (heterogeneous_view(self.cluster, ready, load, n) for n in range(1, len(ready) + 1))
        yield from breakpoints([view.promise for view in views if view is not None], low)

    def loads(self, load: Any, ready: list[Any], placement: Placement) -> list[Any]:
        """Return what each node gets, in the order of transmission."""
        view = heterogeneous_view(self.cluster, ready, load, len(ready))
        return [] if view is None else list(view.loads)

    def _sent(self, ready: list[Any], view: HeterogeneousView) -> Any:
        sent = ready[0]
        for instant, share in zip(ready, view.loads, strict=False):
            sent = max(sent, instant) + self.theta_cm + share * self.tau
        return sent
