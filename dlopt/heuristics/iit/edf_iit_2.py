"""EDF-IIT-2 for one load: minimum completion time and maximum load, in closed form.

Identical nodes, sorted by ready time ``r_1 <= ... <= r_N``; every node gets at most one chunk.
Serving a prefix of the nodes in this order is optimal. For a completion time `xi`, let
``X_i / (tau + chi)`` be the most that node `i` can take:

    X_1 = xi - r_1 - theta_cm - theta_cp
    X_i = min(xi - r_i - theta_cm - theta_cp, beta X_{i-1} - theta_cm)

Where the first term is the smaller one, node `i` *leads a block*: the channel waits for it. With
the leaders known, every ``X_i`` is linear in `xi`, and so is their sum; for a fixed number of
nodes the sum is concave in `xi`, hence Newton's method from the left takes finitely many steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import add

from dlopt.arithmetic import Number, NumberField, field
from dlopt.heuristics.iit.monotone_search import (
    binary_search,
    galloping_search,
    smallest_satisfying,
)
from dlopt.heuristics.iit.partitioning_rules import geometric
from dlopt.problems.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of identical nodes, all of one number type."""

    tau: Number
    chi: Number
    theta_cm: Number
    theta_cp: Number

    @classmethod
    def of(cls, cluster: Cluster, cast: NumberField) -> Costs:
        """Return the costs of a cluster of identical nodes, converted to a number type."""
        return cls(*map(cast, cluster.costs_of(0)))

    @property
    def beta(self) -> Number:
        """``chi / (tau + chi)``."""
        return self.chi / (self.tau + self.chi)


def maximum_loads(cluster: Cluster, ready: Sequence[Number], deadline: Number) -> list[Number]:
    """Return the maximum load of each node by a deadline, with one chunk a node.

    Parameters
    ----------
    cluster : Cluster
        Of identical nodes.
    ready : sequence of Number
        Ready times, ascending.
    deadline : Number
        Absolute.

    Returns
    -------
    list of Number
        Loads of the nodes of the longest useful prefix, in the order of `ready`. Its sum is the
        maximum load of any schedule with one chunk a node that ends by the deadline.

    Notes
    -----
    Guarantee: optimal, with and without set-up costs. Complexity: O(n).

    Examples
    --------
    >>> from fractions import Fraction
    >>> sum(maximum_loads(Cluster(3, tau=1, chi=2), (0, 1, 4), Fraction(39, 8)))
    Fraction(3, 1)
    """
    cast = field((*ready, deadline, *cluster.costs_of(0)))
    costs = Costs.of(cluster, cast)
    unit, overhead = costs.tau + costs.chi, costs.theta_cm + costs.theta_cp
    end, beta, theta = cast(deadline) - overhead, costs.beta, costs.theta_cm
    loads: list[Number] = []
    share: Number | None = None
    for instant in ready:
        free = end - instant
        share = free if share is None else min(free, beta * share - theta)
        if share <= 0:
            break
        loads.append(share / unit)
    return loads


def n_min(
    cluster: Cluster, ready: Sequence[Number], load: Number, deadline: Number, allowance: Number = 0
) -> int | None:
    """Return n_min, the fewest nodes that complete a load by a deadline; None if all miss it.

    Parameters
    ----------
    cluster, ready, deadline
        As in `maximum_loads`.
    load : Number
    allowance : Number, default 0
        Load that may be missing, for rounding errors of floats.

    Examples
    --------
    >>> n_min(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3, deadline=6)
    2
    """
    done: Number = 0
    for count, share in enumerate(maximum_loads(cluster, ready, deadline), start=1):
        done += share
        if done >= load - allowance:
            return count
    return None


def minimum_completion(
    cluster: Cluster,
    ready: Sequence[Number],
    load: Number,
    most: int | None = None,
    stop: float | None = None,
) -> tuple[Number, list[Number]]:
    """Return the minimum completion time of a load, and the loads that attain it.

    Parameters
    ----------
    cluster : Cluster
        Of identical nodes.
    ready : sequence of Number
        Ready times, ascending.
    load : Number
    most : int, optional
        Use this many nodes at the most.
    stop : float, optional
        Instant of the monotonic clock at which to give up: in exact numbers, digits grow with the
        number of nodes.

    Raises
    ------
    TimeoutError
        At that instant.

    Returns
    -------
    completion : Number
        A fraction if all numbers are exact, else a float.
    loads : list of Number
        Positive loads of a prefix of the nodes.

    Notes
    -----
    Guarantee: optimal among plans with one chunk a node, with and without set-up costs.
    Complexity: O(n log n) for `n` nodes that get a load, in practice a few passes over them.
    Source: Mamat 2011, section 6.4 (EDF-IIT-2), after Chuprat and Baruah's linear program.

    Examples
    --------
    >>> minimum_completion(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)[0]
    Fraction(39, 8)
    """
    cast = field((*ready, load, *cluster.costs_of(0)))
    origin = cast(ready[0])
    structure = _BlockStructure(
        Costs.of(cluster, cast), [r - origin for r in ready[:most]], [cast(0)], stop
    )
    work = cast(load) * (structure.costs.tau + structure.costs.chi)
    least = structure.least(work)
    used = structure.prefix(work, least)
    completion, shares = structure.completion(work, used, least)
    return completion + origin, structure.loads(shares, cast(load))


@dataclass(frozen=True, slots=True)
class _BlockStructure:
    """The block structure over sorted ready times that start at 0, of one number type."""

    costs: Costs
    ready: list[Number]
    needed: list[Number]
    """What ``X_{n-k}`` must be, at least, for ``X_n`` not to be negative, for k = 0, 1, ..."""
    stop: float | None = None

    def check_time_limit(self) -> None:
        """Raise `TimeoutError` after the time limit."""
        if self.stop is not None and time.monotonic() > self.stop:
            raise TimeoutError

    def least(self, work: Number) -> Number:
        """Return a lower bound on the completion: the channel is assumed to be always free.

        Then every node could work from its ready time on, ``X_n <= xi - r_n - overhead``.
        """
        sums = list(accumulate(self.ready))
        size = len(sums)
        enough = smallest_satisfying(
            lambda n: n == size or n * self.ready[n] - sums[n - 1] >= work, size
        )
        count = enough or size
        return (work + sums[count - 1]) / count + self.costs.theta_cm + self.costs.theta_cp

    def prefix(self, work: Number, least: Number) -> int:
        """Return how many nodes get a positive load in the optimal plan.

        Node `n` does iff the optimal completion lies beyond its threshold, the least `xi` with
        ``X_n >= 0``; and it does iff the first `n - 1` nodes cannot do the work by then. Nodes
        whose threshold lies before `least` do in any case; those whose threshold lies after the
        completion of a plan on these nodes do not.
        """
        size = len(self.ready)
        if self.costs.chi == 0:
            return 1

        def maybe_unused(n: int) -> bool:
            """Tell whether node n + 1 is not certain to be used."""
            return n >= size or bool(self._threshold(n + 1) >= least)

        def late(n: int) -> bool:
            """Tell whether node n + 1 is ready too late."""
            return n >= size or bool(self._work_done_by(self._threshold(n + 1), n) >= work)

        sure = galloping_search(maybe_unused, 1, size) or size
        if sure == size:
            return size
        enough, _ = self.completion(work, sure, least)  # a plan, hence not too early

        def useless(n: int) -> bool:
            """Tell whether node n + 1 is ready after the end of that schedule."""
            return n >= size or bool(self._threshold(n + 1) >= enough)

        return binary_search(late, sure, galloping_search(useless, sure, size) or size)

    def completion(self, work: Number, used: int, least: Number) -> tuple[Number, list[Number]]:
        """Return the `xi` at which the first `used` nodes have done the work, and their ``X_i``.

        Newton's method from the left. As `xi` grows, nodes cease to lead blocks and never start
        to, so that there are at most `used` steps.
        """
        xi = max(self._threshold(used), least)
        while True:
            shares, leaders = self._shares_and_leaders(xi, used)
            better = self._completion_given_leaders(work, leaders, used)
            if not better > xi:  # the same leaders, or nothing but rounding left
                return xi, shares
            xi = better

    def loads(self, shares: list[Number], load: Number) -> list[Number]:
        """Return the loads of the ``X_i``; in floats they are scaled to sum to `load`."""
        if shares[-1] <= 0:  # by rounding: the last node is at its threshold
            shares = [share for share in shares if share > 0]
        if isinstance(load, float):
            total = sum(shares)
            if not total > 0:  # the load is lost in rounding, compared with the set-up times
                return [load]
            factor = load / total
            return [share * factor for share in shares]
        unit = self.costs.tau + self.costs.chi
        loads = []
        for share in shares:
            self.check_time_limit()
            loads.append(share / unit)
        return loads

    def _shares_and_leaders(self, xi: Number, used: int) -> tuple[list[Number], list[int]]:
        """Return the ``X_i`` at `xi`, and the nodes that lead a block; the first always does."""
        beta, theta = self.costs.beta, self.costs.theta_cm
        end = xi - theta - self.costs.theta_cp
        share = end - self.ready[0]
        shares, leaders = [share], [0]
        for ready in self.ready[1:used]:
            self.check_time_limit()
            share = beta * share - theta
            free = end - ready
            if free < share:
                share = free
                leaders.append(len(shares))
            shares.append(share)
        return shares, leaders

    def _work_done_by(self, xi: Number, used: int) -> Number:
        """Return the sum of the positive ``X_i`` at `xi` over the first `used` nodes."""
        beta, theta = self.costs.beta, self.costs.theta_cm
        end = xi - theta - self.costs.theta_cp
        total = share = end - self.ready[0]
        for ready in self.ready[1:used]:
            self.check_time_limit()
            share = beta * share - theta
            free = end - ready
            if free < share:
                share = free
            if share <= 0:
                break
            total += share
        return total

    def _completion_given_leaders(self, work: Number, leaders: list[int], used: int) -> Number:
        """Return the `xi` at which blocks with these leaders do the work: the block formula.

        A block of `m` nodes, whose leader is ready at `r`, does
        ``(xi - r - overhead) G(m) - theta_cm sum_{j<m} G(j)`` with ``G(m) = sum_{j<m} beta^j``.
        """
        tau, chi, theta = self.costs.tau, self.costs.chi, self.costs.theta_cm
        overhead = theta + self.costs.theta_cp
        top, bottom = work, work * 0
        for leader, following in pairwise((*leaders, used)):
            self.check_time_limit()
            if following == leader + 1:
                top += self.ready[leader] + overhead
                bottom += 1
            else:
                powers, sums = geometric(tau, chi, following - leader)
                top += powers * (self.ready[leader] + overhead) + theta * sums
                bottom += powers
        return top / bottom

    def _threshold(self, n: int) -> Number:
        """Return the least `xi` with ``X_n >= 0``.

        ``X_n >= v`` needs ``xi >= r_n + overhead + v`` and ``X_{n-1} >= (v + theta_cm) / beta``.
        """
        theta = self.costs.theta_cm
        overhead = theta + self.costs.theta_cp
        if theta == 0:
            return self.ready[n - 1] + overhead
        while len(self.needed) < n:
            self.check_time_limit()
            self.needed.append((self.needed[-1] + theta) / self.costs.beta)
        latest: Number = max(map(add, self.ready[:n], self.needed[n - 1 :: -1]))
        return latest + overhead
