r"""The supply bound of a cluster: load done by an instant, whatever the dispatcher sends first.

Let ``m_1 <= ... <= m_N`` be when nodes can be sent to: when node and head are free, not before now.
With ``beta = chi / (tau + chi)``,

    Psi(d) = sum_k beta^(k-1) max(0, d - m_k) / (tau + chi).

**Lemma.** If the dispatcher sends a part `c`, then ``c + Psi'(d) >= Psi(d)`` for every `d`, where
`Psi'` is that afterwards.

*Proof.* Let ``z = c (tau + chi)`` and ``v_k = d - m_k``, and let ``v_1 > 0``, for ``Psi(d)`` is 0
otherwise. The node that is served has ``max(0, v_1 - z)`` left, the others ``min(v_k, u)`` with
``u = max(0, v_1 - tau c)``, where ``tau c = (1 - beta) z``: the head is free no sooner. Let `j` of
them have ``v_k > u``: those with ``k = 2, ..., j + 1``. A decreasing order makes the weighted sum
largest, so another one bounds it from below: `j` times `u`, then the node that is served, then the
rest unchanged. What `Psi` counts of the first ``j + 1`` is at most ``v_1`` each. With
``b_j = 1 + beta + ... + beta^(j-1)``, hence ``(1 - beta) b_j = 1 - beta^j``, the difference ``D =
(tau + chi) (c + Psi'(d) - Psi(d))`` is not negative:

If ``z <= v_1``, the part is computed by `d`, and

    D >= z + u b_j + beta^j (v_1 - z) - v_1 b_(j+1)
       = z (1 - (1 - beta) b_j - beta^j) + v_1 (b_j + beta^j - b_(j+1)) = 0.

If ``z > v_1``, it is computed later, and ``D >= z + u b_j - v_1 b_(j+1)``. With ``u > 0`` that is
``beta^j (z - v_1)``. With ``u = 0``, ``z >= v_1 / (1 - beta)``, and ``b_(j+1)`` is no more than
``1 / (1 - beta)``.

**Theorem.** Let tasks be served in some order, such as that of their deadlines, in which two tasks
that wait never change places. If at every admission the work that waits up to each task, its own
included, is at most ``Psi(d)`` for its deadline `d`, then the dispatcher misses no deadline.

*Proof.* While a task waits, the parts that are sent are of it or of tasks before it, so that what
waits up to it stays at most ``Psi(d)`` by the lemma, even if a part of a task before it is computed
after `d`. Something is sent as soon as ``m_1`` has come, so time alone changes nothing. If some of
the task still waited at `d`, that would exceed ``Psi(d) = 0``; and what is sent of it is done by
`d`. A later arrival after the task does not count; one before it is admitted only if the work does
not exceed ``Psi(d)`` with it.

The paper's own proof (Mamat 2011, 6.2.4) fails where it says that all that was admitted is done by
`d` (before (6.5)): a part of a task with a later deadline that was sent before holds its node.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, repeat
from operator import mul

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.fast.dispatcher import Dispatcher
from dlopt.heuristics.admission.records import QueuedTask


class SupplyBound:
    """The supply bound `Psi` of a dispatcher in its present state.

    Parameters
    ----------
    tau, chi : Number
        Not both 0.
    nodes : int

    Attributes
    ----------
    slope : Number
        Of `Psi` beyond the last ``m_k``: loads by time.
    deficit : Number
        By how much `Psi` after the last ``m_k`` is less than ``slope d``.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlopt.heuristics.admission.fast.dispatcher import SortedTaskQueue
    >>> costs = (Fraction(1), Fraction(1), Fraction(0), Fraction(0))
    >>> supply_bound = SupplyBound(*costs[:2], nodes=2)
    >>> supply_bound.evaluate(Dispatcher(costs, [0, 1], 0, 0, SortedTaskQueue()))
    >>> [str(supply_bound.load(d)) for d in (1, 2, 3)]
    ['1/2', '5/4', '2']
    """

    def __init__(self, tau: Number, chi: Number, nodes: int) -> None:
        self.chi, self.unit = chi, tau + chi
        beta = chi / self.unit
        weights: Iterator[Number] = accumulate(repeat(beta, nodes - 1), mul, initial=beta**0)
        self.sums: list[Number] = list(accumulate(weights, initial=beta * 0))
        """Sums of the first weights: of none, of one, ..."""
        self.slope = self.sums[-1] / self.unit
        self._version: tuple[int, int] | None = None
        self._times: list[Number] = []
        self._sums: list[Number] = []
        self._tails: list[Number] = []
        self._earliest_start: Number = 0
        self._first = 0
        self.deficit: Number = 0

    def execution_time(self, load: Number) -> Number:
        """Return the time that a load takes on all nodes. Source: Mamat 2011, (6.1)."""
        return load / self.slope

    def evaluate(self, cluster: Dispatcher) -> None:
        """Evaluate the bound for the present state of a cluster.

        Complexity: O(log g), or O(g) if something was sent since; `g` as in `Dispatcher`.
        """
        version = id(cluster), cluster.version
        if version != self._version:
            self._version, self._times = version, cluster.times
            self._sums = [self.sums[n] for n in accumulate(cluster.counts, initial=0)]
            parts = [
                time * (above - below)
                for time, below, above in zip(
                    cluster.times, self._sums, self._sums[1:], strict=False
                )
            ]
            self._tails = [*accumulate(reversed(parts), initial=0 * self.unit)][::-1]
        self._earliest_start = cluster.base
        self._first = first = bisect_right(self._times, self._earliest_start)
        self.deficit = (self._earliest_start * self._sums[first] + self._tails[first]) / self.unit

    def load(self, instant: Number) -> Number:
        """Return the load that the cluster is certain to process by an instant: ``Psi``."""
        if instant <= self._earliest_start:
            return 0 * self.unit
        first, last = self._first, bisect_left(self._times, instant)
        time = (instant - self._earliest_start) * self._sums[first]
        if last > first:
            time += instant * (self._sums[last] - self._sums[first])
            time -= self._tails[first] - self._tails[last]
        return time / self.unit

    def is_exceeded(self, tasks: Iterable[QueuedTask], clipped: bool = True) -> bool:
        """Tell whether the loads of tasks up to one of them exceed the bound at its deadline.

        Parameters
        ----------
        tasks : iterable of QueuedTask
            In the order of their deadlines.
        clipped : bool, default True
            As of `instant`.
        """
        slope, deficit = self.slope, self.deficit
        work: Number = 0 * self.unit
        for task in tasks:
            work += task.load
            if work > task.deadline * slope - deficit and (
                not clipped or work > self.load(task.deadline)
            ):
                return True
        return False

    def instant(self, load: Number, clipped: bool = True) -> Number:
        """Return by when the cluster is certain to process a load, which must not be 0.

        If not `clipped`, this is by the line that `Psi` becomes beyond the last ``m_k``.

        Examples
        --------
        >>> from fractions import Fraction
        >>> from dlopt.heuristics.admission.fast.dispatcher import SortedTaskQueue
        >>> costs = (Fraction(1), Fraction(1), Fraction(0), Fraction(0))
        >>> supply_bound = SupplyBound(*costs[:2], nodes=2)
        >>> supply_bound.evaluate(Dispatcher(costs, [0, 1], 0, 0, SortedTaskQueue()))
        >>> [str(supply_bound.instant(load)) for load in (Fraction(1, 2), Fraction(5, 4), 2)]
        ['1', '2', '3']
        """
        if not clipped:
            return (load + self.deficit) / self.slope
        first, size = self._first, len(self._times)
        found: Number = 0
        for last in range(max(first, 1), size + 1):
            time = load * self.unit + self._earliest_start * self._sums[first]
            time += self._tails[first] - self._tails[last]
            found = time / self._sums[last]
            if last < size and found <= self._times[last]:
                break
        return found
