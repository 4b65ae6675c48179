"""OPR and EPR, the optimal and the equal partitioning rule: nodes are all ready at once.

Both rules are written for identical nodes, with and without set-up costs, and answer exactly on
integers and fractions. Symbols: beta = chi / (tau + chi); ``X_i``, the time in which node `i`
receives and computes its share, set-up times not counted, is ``load_i (tau + chi)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dlopt.arithmetic import Number, exact, field
from dlopt.heuristics.iit.monotone_search import binary_search, smallest_satisfying
from dlopt.problems.cluster import Cluster


@dataclass(frozen=True, slots=True)
class PartitionRule(ABC):
    """How a load is divided among `n` identical nodes that are all ready at once.

    Parameters
    ----------
    tau, chi : Number
        Unit transmission and processing time; not both 0.
    theta_cm, theta_cp : Number, default 0
        Set-up times.

    Examples
    --------
    >>> rule = OptimalPartition(tau=1, chi=2)
    >>> rule.execution_time(3, 2), rule.n_min(3, slack=5, most=8)
    (Fraction(27, 5), 3)
    """

    tau: Number
    chi: Number
    theta_cm: Number = 0
    theta_cp: Number = 0

    def __post_init__(self) -> None:
        cast = field((self.tau, self.chi, self.theta_cm, self.theta_cp))
        for name in ("tau", "chi", "theta_cm", "theta_cp"):
            object.__setattr__(self, name, cast(getattr(self, name)))

    @classmethod
    def of(cls, cluster: Cluster) -> PartitionRule:
        """Return the rule with the costs of a cluster of identical nodes."""
        return cls(*cluster.costs_of(0))

    @abstractmethod
    def execution_time(self, load: Number, n: int) -> Number:
        """Return E(load, n): from the first transmission to the last result on `n` nodes."""

    @abstractmethod
    def loads(self, load: Number, n: int) -> list[Number]:
        """Return the load of each of the `n` nodes, in the order of transmission."""

    @abstractmethod
    def n_star(self, load: Number, most: int | None = None) -> int | None:
        """Return the number of nodes beyond which the load takes no less time; None if none.

        With `most`, numbers of nodes beyond it do not matter: it is returned in their place.
        """

    def n_min(self, load: Number, slack: Number, most: int) -> int | None:
        """Return the fewest nodes, `most` at the most, that do the load within `slack`.

        Returns
        -------
        int or None
            None if ``min(most, n_star)`` nodes need longer. The execution time falls strictly up
            to `n_star`, so a binary search is right there, and only there.

        Notes
        -----
        Source: Mamat 2011, (4.7) and (4.9). Complexity: O(log most) execution times.
        """
        last = self.n_star(load, most) or most
        return smallest_satisfying(lambda n: bool(self.execution_time(load, n) <= slack), last)

    def cost(self, load: Number, n: int) -> Number:
        """Return W(n) = n E(load, n), in node time. Source: Lin et al. 2005, section 5."""
        return n * self.execution_time(load, n)

    def cost_derivative(self, load: Number, n: int) -> Number:
        """Return W(n + 1) - W(n), by which MCDF and MWF order tasks.

        ``n + 1`` nodes need not be usable: beyond `n_star` a load would be negative, and beyond
        the cluster there is no node. Source: Mamat 2011, (4.1).
        """
        return self.cost(load, n + 1) - self.cost(load, n)

    def _cast(self, load: Number) -> Number:
        return exact(load) if isinstance(self.tau, Fraction) and isinstance(load, int) else load


class OptimalPartition(PartitionRule):
    """OPR: all `n` nodes end at the same instant.

    The execution time is ``X_1 + theta_cm + theta_cp``, where the ``X_i`` follow
    ``X_{i+1} = beta X_i - theta_cm`` and sum to ``load (tau + chi)``. It is optimal among plans
    that use all `n` nodes as long as ``n <= n_star``; beyond, some load is negative.

    Notes
    -----
    Source: Mamat 2011, (4.2)-(4.6); Lin et al. 2005, (4.7)-(4.12), where the last line of the
    timeline lacks one set-up time. Complexity: O(log n) operations.
    """

    __slots__ = ()

    def execution_time(self, load: Number, n: int) -> Number:
        """Return E(load, n), equation (4.6); beyond `n_star` it is a formula without a plan."""
        return self._first_share(load, n) + self.theta_cm + self.theta_cp

    def loads(self, load: Number, n: int) -> list[Number]:
        """Return the loads in the order of transmission; beyond `n_star` some are negative."""
        share = self._first_share(load, n)
        beta, unit = self.chi / (self.tau + self.chi), self.tau + self.chi
        loads = []
        for _ in range(n):
            loads.append(share / unit)
            share = beta * share - self.theta_cm
        total = sum(loads)
        if isinstance(total, float) and total > 0:
            # Small loads are rounded off, compared with set-ups.
            loads = [part * (load / total) for part in loads]
        return loads

    def n_star(self, load: Number, most: int | None = None) -> int | None:
        """Return n*, the most nodes that all get a positive load; None if any number does."""
        if self.chi == 0:
            return 1
        if self.theta_cm == 0:
            return None
        beta = self.chi / (self.tau + self.chi)

        def starved(n: int) -> bool:
            """Tell whether the last of n + 1 nodes gets no load."""
            geometric_sum, _ = geometric(self.tau, self.chi, n)
            return bool(beta**n * self._first_share(load, n + 1) <= self.theta_cm * geometric_sum)

        return _smallest_within(starved, most)

    def _first_share(self, load: Number, n: int) -> Number:
        geometric_sum, double_sum = geometric(self.tau, self.chi, n)
        return (
            self._cast(load) * (self.tau + self.chi) + self.theta_cm * double_sum
        ) / geometric_sum


class EqualPartition(PartitionRule):
    """EPR: every one of `n` nodes gets the same load.

    Notes
    -----
    Source: Mamat 2011, (4.8)-(4.10). The printed `n_min` forgets that an integer must lie
    between the roots; here it comes from the execution time itself.
    """

    __slots__ = ()

    def execution_time(self, load: Number, n: int) -> Number:
        """Return E(load, n), equation (4.8). The node served last ends last."""
        load = self._cast(load)
        return n * self.theta_cm + load * self.tau + self.theta_cp + load * self.chi / n

    def loads(self, load: Number, n: int) -> list[Number]:
        """Return `n` times the same load."""
        return [self._cast(load) / n] * n

    def n_star(self, load: Number, most: int | None = None) -> int | None:
        """Return the least `n` with ``n (n + 1) theta_cm >= load chi``; None if there is none."""
        work = load * self.chi
        if work == 0:
            return 1
        if self.theta_cm == 0:
            return None
        return _smallest_within(lambda n: bool(n * (n + 1) * self.theta_cm >= work), most)


def _smallest_within(holds: Callable[[int], bool], most: int | None) -> int:
    """Return the smallest `n` for which `holds`, or `most` if it is larger; doubling first."""
    last = 1
    while not holds(last):
        if most is not None and last >= most:
            return most
        last *= 2
    found = binary_search(holds, 1, last)
    return found if most is None else min(found, most)


def geometric(tau: Number, chi: Number, n: int) -> tuple[Number, Number]:
    """Return ``G(n) = sum_{j<n} beta^j`` and ``sum_{j<n} G(j)``.

    In floats both are computed without the cancellation of ``1 - beta^n`` at beta close to 1.
    """
    if tau == 0:
        return n, n * (n - 1) // 2
    rate = tau / (tau + chi)
    if isinstance(rate, Fraction):
        exact_sum = (1 - (1 - rate) ** n) / rate
        return exact_sum, (n - exact_sum) / rate
    if rate == 1 or n == 1:
        return 1.0, float(n - 1)
    geometric_sum = -math.expm1(n * math.log1p(-rate)) / rate
    if rate * n > 1e-2:
        return geometric_sum, (n - geometric_sum) / rate
    double_sum, term = 0.0, n * (n - 1) / 2.0
    for k in range(2, 12):  # the binomial series of (n - G(n)) / rate
        double_sum += term
        term *= -rate * (n - k) / (k + 1)
    return geometric_sum, double_sum
