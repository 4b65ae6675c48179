"""Tables of the powers of beta and of their sums.

With ``beta = chi / (tau + chi)``: ``powers[n] = beta^n``, ``sums[n] = sum_{j<n} beta^j`` and
``double_sums[n] = sum_{j<n} sums[j]``. If the first node has the share `X` of processing time, the
share of the `n`-th is ``X beta^(n-1) - theta_cm sums[n-1]``, and the first `n` have
``X sums[n] - theta_cm double_sums[n]`` together.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.affine import AffineNumber
from dlopt.heuristics.iit.monotone_search import (
    binary_search,
    galloping_search,
    smallest_satisfying,
)
from dlopt.heuristics.iit.partitioning_rules import OptimalPartition, PartitionRule

_INITIAL_BITS = 128
"""Bits of a power that are computed first to compare it with a number; four times as many each
further time. Chosen by hand: most comparisons are decided by them."""


class LazySequence(dict[int, Number]):
    """The terms of a sequence, each computed at its first access.

    Parameters
    ----------
    formula : callable
    """

    def __init__(self, formula: Callable[[int], Number]) -> None:
        super().__init__()
        self._formula = formula

    def __missing__(self, n: int) -> Number:
        term = self[n] = self._formula(n)
        return term


class BetaPowers:
    """Powers of one `beta`: growing tables in floats, only the requested terms in fractions.

    An exact ``beta^n`` has about ``n`` times as many digits as `beta`, so that a table up to a
    million nodes would not fit into memory.

    Parameters
    ----------
    beta : Number
        A float or a fraction.

    Examples
    --------
    >>> from fractions import Fraction
    >>> table = BetaPowers(Fraction(1, 2)).extend_to(3)
    >>> table.powers[3], table.sums[3], table.double_sums[3]
    (Fraction(1, 8), Fraction(7, 4), Fraction(5, 2))
    """

    __slots__ = ("beta", "double_sums", "exact", "powers", "sums")

    def __init__(self, beta: Number) -> None:
        self.beta: Any = beta
        self.exact = isinstance(beta, Fraction)
        self.powers: Any = [1.0]
        self.sums: Any = [0.0]
        self.double_sums: Any = [0.0]
        if self.exact:
            rate = 1 - beta
            powers = self.powers = LazySequence(lambda n: beta**n)
            sums = LazySequence(lambda n: (1 - powers[n]) / rate if rate else Fraction(n))
            self.sums = sums
            self.double_sums = LazySequence(
                lambda n: (n - sums[n]) / rate if rate else Fraction(n * (n - 1), 2)
            )

    def __reduce__(self) -> tuple[type[BetaPowers], tuple[Number]]:
        """Copy and pickle `beta` alone; the tables are computed again."""
        return BetaPowers, (self.beta,)

    def extend_to(self, n: int) -> BetaPowers:
        """Extend the tables to index `n` at least, and return them."""
        if not self.exact:
            powers, sums, double_sums = self.powers, self.sums, self.double_sums
            while len(powers) <= n:
                double_sums.append(double_sums[-1] + sums[-1])
                sums.append(sums[-1] + powers[-1])
                powers.append(powers[-1] * self.beta)
        return self

    def fewest_terms_reaching(self, sum_: Number, low: int, high: int) -> int | None:
        """Return the smallest `n` in low..high with ``sums[n] >= sum_``, or None."""
        beta = self.beta
        if not self.exact:
            n = bisect_left(self.extend_to(high).sums, sum_, low, high + 1)
            return n if n <= high else None
        if beta == 1:
            return galloping_search(lambda n: bool(n >= sum_), low, high)
        rest: Any = 1 - sum_ * (1 - beta)
        if rest < 0 or (rest == 0 and beta > 0):  # no number of nodes would do
            return None
        return galloping_search(lambda n: power_at_most(beta, n, rest), low, high)


def power_at_most(beta: Fraction, n: int, bound: Fraction) -> bool:
    """Tell whether ``beta^n <= bound``, for beta in 0..1, from as few of its digits as suffice.

    Examples
    --------
    >>> [power_at_most(Fraction(1, 2), n, Fraction(1, 1024)) for n in (9, 10)]
    [False, True]
    >>> power_at_most(Fraction(10**6, 10**6 + 1), 10**9, Fraction(1, 10**434))
    True
    """
    up, down = beta.numerator, beta.denominator
    bits = _INITIAL_BITS
    while bits < n * down.bit_length():
        least = most = 1 << bits
        floor, ceiling = (up << bits) // down, -((-up << bits) // down)
        for digit in f"{n:b}":
            least, most = least * least >> bits, -(-most * most >> bits)
            if digit == "1":
                least, most = least * floor >> bits, -(-most * ceiling >> bits)
        limit = bound.numerator << bits
        if most * bound.denominator <= limit:
            return True
        if least * bound.denominator > limit:
            return False
        bits *= 4
    return bool(beta**n <= bound)


class ExecutionTimes:
    """Execution times of a partitioning rule on identical nodes, from tables.

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
        self._powers = BetaPowers(rule.chi / (rule.tau + rule.chi))
        self.most = most

    def of(self, load: Number) -> Callable[[int], Number]:
        """Return the execution time of a load as a function of the number of nodes."""
        rule = self._rule
        overhead = rule.theta_cm + rule.theta_cp
        if not self._optimal:
            fixed, work, setup = load * rule.tau + rule.theta_cp, load * rule.chi, rule.theta_cm
            return lambda n: n * setup + fixed + work / n
        work, setup = load * (rule.tau + rule.chi), rule.theta_cm
        table = self._powers.extend_to(self.most)
        sums, double_sums = table.sums, table.double_sums
        if setup == 0:
            return lambda n: work / sums[n] + overhead
        return lambda n: (work + setup * double_sums[n]) / sums[n] + overhead

    def n_star(self, load: Number) -> int:
        """Return n*, beyond which nodes do not help, or `most` if that is less."""
        rule, most = self._rule, self.most
        setup = rule.theta_cm
        if not self._optimal or rule.chi == 0:
            return rule.n_star(load, most) or most
        if setup == 0:
            return most
        work = load * (rule.tau + rule.chi)
        table = self._powers.extend_to(most)
        powers, sums, double_sums = table.powers, table.sums, table.double_sums

        def starved(n: int) -> bool:
            """Tell whether the last of n + 1 nodes would get no load."""
            first = (work + setup * double_sums[n + 1]) / sums[n + 1]
            return bool(powers[n] * first <= setup * sums[n])

        if table.exact:
            return galloping_search(starved, 1, most - 1) or most
        return smallest_satisfying(starved, most - 1) or most

    def least(self, load: Number, slack: Number, low: int, high: int) -> int | None:
        """Return n_min, the fewest nodes in low..high that process a load within `slack`.

        The execution time must fall up to `high`.
        """
        rule = self._rule
        parametric = isinstance(load, AffineNumber) or isinstance(slack, AffineNumber)
        if self._optimal and rule.theta_cm == 0 and not parametric:
            room = slack - rule.theta_cp
            if room <= 0:
                return None
            return self._powers.fewest_terms_reaching(
                load * (rule.tau + rule.chi) / room, low, high
            )
        time = self.of(load)
        if self._powers.exact:
            return galloping_search(lambda n: bool(time(n) <= slack), low, high)
        if high < low or time(high) > slack:
            return None
        return binary_search(lambda n: bool(time(n) <= slack), low, high)
