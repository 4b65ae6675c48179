"""OPR and EPR (optimal and equal partitioning rule) in a stream.

All nodes of a task wait for the last of them, and are free again together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.affine import AffineNumber
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.beta_powers import ExecutionTimes
from dlopt.heuristics.admission.ready_times import ReadyTimes, breakpoints
from dlopt.heuristics.admission.records import DeadlineMiss, Placement

MAX_CACHED_LOADS = 100_000
"""Loads whose costs are cached. Chosen by hand: it bounds the memory of an engine that runs for
long."""


@dataclass(frozen=True, slots=True)
class LoadCosts:
    """The costs of a load on a cluster, which do not depend on time.

    Parameters
    ----------
    most : int
        The number of nodes that help, n*, or all.
    time : callable
        The execution time as a function of the number of nodes.
    derivatives : dict of int to Number
        Derivatives of the cost by the number of nodes, as far as requested so far.
    """

    most: int
    time: Callable[[int], Number]
    derivatives: dict[int, Number] = field(default_factory=dict)


class OprEprPlanner:
    """Plans tasks by a partitioning rule for nodes that are all ready at once.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    nodes : int

    Notes
    -----
    A task takes the nodes that are ready first and starts when the last of them is. With the
    minimum number of nodes, it takes the fewest that end by its deadline then; this is the
    earliest instant at which as many nodes are ready as it needs, as figure 4.1 of Mamat 2011
    has it. All of its nodes are free again at its end, ``start + E(load, n)``.

    Examples
    --------
    Nodes that are ready at 0 and 1, and a load of 3 that is due at 5:

    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> planner = OprEprPlanner(Algorithm.parse("edf-opr-mn"), costs, 2)
    >>> placement = planner.place(ReadyTimes((zero, one), zero), zero, 3 * one, 5 * one)
    >>> placement.nodes, str(placement.end)
    (2, '5')
    """

    def __init__(self, algorithm: Algorithm, costs: tuple[Number, ...], nodes: int) -> None:
        self.rule = algorithm.rule(costs)
        self.durations = ExecutionTimes(self.rule, nodes)
        self._all = algorithm.assignment == "an"
        self._control = algorithm.control
        self._exact = isinstance(self.rule.tau, Fraction)
        self._known: dict[Number, LoadCosts] = {}

    def __getstate__(self) -> dict[str, Number]:
        """Return the state without the cache."""
        return {**vars(self), "_known": {}}

    def work(self, load: Number) -> LoadCosts:
        """Return the costs of a load, from the cache if possible."""
        if isinstance(load, AffineNumber):
            return LoadCosts(self.durations.n_star(load), self.durations.of(load))
        found = self._known.get(load)
        if found is None:
            if len(self._known) > MAX_CACHED_LOADS:
                self._known.clear()
            found = LoadCosts(self.durations.n_star(load), self.durations.of(load))
            self._known[load] = found
        return found

    def place(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Place a task that is not sent before an instant; the ready times are clipped to it."""
        nodes.clip(not_before)
        work = self.work(load)
        if self._all:
            start = nodes.nth(work.most)
            end = start + work.time(work.most)
            if self._control and end > deadline:
                return DeadlineMiss(end - deadline, "time")
            return self.placement_on(work.most, start, load)
        return self._fewest(nodes, load, deadline, work)

    def _fewest(
        self, nodes: ReadyTimes, load: Number, deadline: Number, work: LoadCosts
    ) -> Placement | DeadlineMiss:
        most, time = work.most, work.time
        seen, late = 0, None
        for start, count in zip(nodes.times, nodes.counts, strict=True):
            low, seen = seen + 1, min(seen + count, most)
            slack = deadline - start
            n = self.durations.least(load, slack, low, seen) if self._exact else None
            if n is not None:  # few nodes suffice, and exact times of many have many digits
                return self.placement_on(n, start, load)
            over = time(seen) - slack
            if over <= 0:
                n = self.durations.least(load, slack, low, seen) or seen
                return self.placement_on(n, start, load)
            late = over if late is None else min(late, over)
        assert late is not None  # at least one node was tried
        return DeadlineMiss(late, "time")

    def placement_on(self, n: int, start: Number, load: Number) -> Placement:
        """Return the placement of a load on `n` nodes from an instant on."""
        sent = start + n * self.rule.theta_cm + load * self.rule.tau
        return Placement(n, start, start, sent, start + self.work(load).time(n))

    def loads(self, load: Number, ready: list[Number], placement: Placement) -> list[Number]:
        """Return the load of each node, in the order of transmission."""
        return self.rule.loads(load, placement.nodes)

    def deadlines(
        self, nodes: ReadyTimes, not_before: Number, load: Number, low: Number
    ) -> Iterator[Number]:
        """Yield the deadlines from `low` on at which the result of `place` changes, ascending."""
        nodes.clip(not_before)
        most, time = self.work(load).most, self.work(load).time
        if self._all:
            yield max(low, nodes.nth(most) + time(most))
            return
        ends, seen = [], 0
        for start, count in zip(nodes.times, nodes.counts, strict=True):
            first, seen = seen + 1, min(seen + count, most)
            ends += [start + time(n) for n in range(first, seen + 1)]
        yield from breakpoints(ends, low)

    def fewest(self, load: Number, slack: Number) -> int | None:
        """Return the fewest nodes that meet a deadline if all are ready, or None if too late."""
        return self.durations.least(load, slack, 1, self.work(load).most)

    def derivative(self, load: Number, n: int) -> Number:
        """Return the derivative of the cost at `n` nodes, W(n + 1) - W(n)."""
        derivatives = self.work(load).derivatives
        found = derivatives.get(n)
        if found is None:
            found = derivatives[n] = self.rule.cost_derivative(load, n)
        return found
