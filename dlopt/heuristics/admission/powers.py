"""Powers of beta and their sums, looked up rather than computed.

With ``beta = chi / (tau + chi)``: ``power[n] = beta^n``, ``total[n] = sum_{j<n} beta^j`` and
``twice[n] = sum_{j<n} total[j]``. A share followed by ``n - 1`` others is
``X beta^(n-1) - theta_cm total[n-1]``, and `n` of them sum to ``X total[n] - theta_cm twice[n]``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from dlopt.heuristics.iit.partition import OptimalPartition, PartitionRule, smallest


class Powers:
    """Tables for one `beta`, grown as far as they are asked for.

    Parameters
    ----------
    beta : Number
        A float or a fraction.

    Examples
    --------
    >>> from fractions import Fraction
    >>> table = Powers(Fraction(1, 2)).upto(3)
    >>> table.power[3], table.total[3], table.twice[3]
    (Fraction(1, 8), Fraction(7, 4), Fraction(5, 2))
    """

    __slots__ = ("beta", "power", "total", "twice")

    def __init__(self, beta: Any) -> None:
        zero = beta * 0
        self.beta = beta
        self.power: list[Any] = [zero + 1]
        self.total: list[Any] = [zero]
        self.twice: list[Any] = [zero]

    def upto(self, n: int) -> Powers:
        """Grow the tables to index `n` at least, and return them."""
        power, total, twice = self.power, self.total, self.twice
        while len(power) <= n:
            twice.append(twice[-1] + total[-1])
            total.append(total[-1] + power[-1])
            power.append(power[-1] * self.beta)
        return self


class Durations:
    """Execution times of a partitioning rule on identical nodes, faster than the rule itself.

    Parameters
    ----------
    rule : PartitionRule
    most : int
        Nodes of the cluster.
    """

    __slots__ = ("_optimal", "_powers", "_rule", "most")

    def __init__(self, rule: PartitionRule, most: int) -> None:
        self._rule = rule
        self._optimal = isinstance(rule, OptimalPartition)
        self._powers = Powers(rule.chi / (rule.tau + rule.chi))
        self.most = most

    def of(self, load: Any) -> Callable[[int], Any]:
        """Return the execution time of a load as a function of the number of nodes."""
        rule = self._rule
        overhead = rule.theta_cm + rule.theta_cp
        if not self._optimal:
            fixed, work, setup = load * rule.tau + rule.theta_cp, load * rule.chi, rule.theta_cm
            return lambda n: n * setup + fixed + work / n
        work, setup = load * (rule.tau + rule.chi), rule.theta_cm
        table = self._powers.upto(self.most)
        total, twice = table.total, table.twice
        if setup == 0:
            return lambda n: work / total[n] + overhead
        return lambda n: (work + setup * twice[n]) / total[n] + overhead

    def n_star(self, load: Any) -> int:
        """Return how many nodes help, `most` at the most."""
        rule, most = self._rule, self.most
        setup = rule.theta_cm
        if not self._optimal or rule.chi == 0:
            return rule.n_star(load, most) or most
        if setup == 0:
            return most
        work = load * (rule.tau + rule.chi)
        table = self._powers.upto(most)
        power, total, twice = table.power, table.total, table.twice

        def starved(n: int) -> bool:
            """Whether the last of n + 1 nodes would get nothing."""
            first = (work + setup * twice[n + 1]) / total[n + 1]
            return bool(power[n] * first <= setup * total[n])

        return smallest(starved, most - 1) or most

    def least(self, load: Any, slack: Any, low: int, high: int) -> int | None:
        """Return the fewest nodes in low..high that do a load within `slack`.

        The execution time must fall up to `high`.
        """
        rule = self._rule
        if self._optimal and rule.theta_cm == 0:
            room = slack - rule.theta_cp
            if room <= 0:
                return None
            total = self._powers.upto(self.most).total
            n = bisect_left(total, load * (rule.tau + rule.chi) / room, low, high + 1)
            return n if n <= high else None
        time = self.of(load)
        if high < low or time(high) > slack:
            return None
        while low < high:
            middle = (low + high) // 2
            if time(middle) <= slack:
                high = middle
            else:
                low = middle + 1
        return low
