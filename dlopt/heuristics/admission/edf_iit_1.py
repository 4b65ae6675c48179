"""EDF-IIT-1 in a stream: early-ready nodes are modelled as faster nodes."""

from __future__ import annotations

from collections.abc import Iterator

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.ready_times import ReadyTimes, breakpoints
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.heuristics.iit.edf_iit_1 import HeterogeneousView, heterogeneous_view
from dlopt.problems.cluster import Cluster


class EdfIit1Planner:
    """Plans tasks by the heterogeneous view, on the fewest nodes whose promise is in time.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    nodes : int

    Notes
    -----
    The nodes are allocated until the promise, even if their work ends before it. Complexity: O(N)
    for each number of nodes that is tried, O(N^2) a task.

    Examples
    --------
    Nodes that are ready at 0 and 1, and a load of 3 that is due at 5:

    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> planner = EdfIit1Planner(Algorithm.parse("edf-iit-1"), costs, 2)
    >>> placement = planner.place(ReadyTimes((zero, one), zero), zero, 3 * one, 5 * one)
    >>> placement.nodes, str(placement.end)
    (2, '34/7')
    """

    def __init__(self, algorithm: Algorithm, costs: tuple[Number, ...], nodes: int) -> None:
        self.tau, _, self.theta_cm, _ = costs
        self.cluster = Cluster(nodes, *costs)

    def place(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Place a task that is not sent before an instant; the ready times are clipped to it."""
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
        assert late is not None  # at least one node was tried
        return DeadlineMiss(late, "time")

    def deadlines(
        self, nodes: ReadyTimes, not_before: Number, load: Number, low: Number
    ) -> Iterator[Number]:
        """Yield the deadlines from `low` on at which the result of `place` changes, ascending."""
        nodes.clip(not_before)
        ready = nodes.ready()
        views = (heterogeneous_view(self.cluster, ready, load, n) for n in range(1, len(ready) + 1))
        yield from breakpoints([view.promise for view in views if view is not None], low)

    def loads(self, load: Number, ready: list[Number], placement: Placement) -> list[Number]:
        """Return the load of each node, in the order of transmission."""
        view = heterogeneous_view(self.cluster, ready, load, len(ready))
        return [] if view is None else list(view.loads)

    def _sent(self, ready: list[Number], view: HeterogeneousView) -> Number:
        sent = ready[0]
        for instant, share in zip(ready, view.loads, strict=False):
            sent = max(sent, instant) + self.theta_cm + share * self.tau
        return sent
