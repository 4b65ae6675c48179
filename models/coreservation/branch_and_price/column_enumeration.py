"""Route enumeration applied to machines: all columns within the gap of a node.

**Lemma.** Let duals of parts prove the bound ``b``: the sum over machines of the largest reduced
value of a column, and over requests of the gain of accepting them, if that is positive. A schedule
of value ``v`` has on every machine a column whose reduced value is at most ``b - v`` below the
largest one there. *Proof.* The value of the schedule is the sum of the reduced values of its
columns and of the gains of its requests; no term exceeds its share of ``b``, so none lies below it
by more than all do together. (Baldacci, Christofides, Mingozzi, Math. Program. 115, 2008, do so
for routes.)

So an optimal schedule of the node, if better than the incumbent, consists of columns within the
gap; it is found by the branch and cut of `set_packing` over these.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.master import Pricer
from dlopt.models.coreservation.branch_and_price.set_packing import ColumnLists, SetPackingBnC

NEAREST_TIME_SHARE = 1 / 6
"""Share of the remaining time for the branch and cut over some of the columns.

Chosen by hand: it may find an incumbent that narrows the gap, but proves nothing.
"""
ALL_TIME_SHARE = 3 / 4
"""Share of the remaining time for the branch and cut over all columns within the gap.

Chosen by hand: the proof of the node, but if it fails branching must still have some time.
"""
NEAREST_NODES = 40
"""Nodes of the branch and cut over some columns, if there is no time limit; chosen by hand."""
ALL_NODES = 200
"""Nodes of the branch and cut over all columns, if there is no time limit.

The hardest instance of benchmarks/results/coreservation.md, seed 4 of 10 requests, needs about 100.
"""
GAP_DIVISORS = (16, 8, 4, 2, 1)
"""The gap is divided by these in turn, so that columns nearest to the best are tried first.

Where all columns within the gap are too many, an incumbent may be among the first ones.
"""


@dataclass(frozen=True, slots=True)
class EnumerationResult:
    """What column enumeration proves of a node.

    Parameters
    ----------
    bound : int or None
        No assignment of the node has a larger value, unless the incumbent has; None if not proven.
    assignment : dict or None
        A better assignment than the incumbent, if one was found.
    """

    bound: int | None
    assignment: dict[int, tuple[int, int]] | None


NOT_APPLICABLE = EnumerationResult(None, None)


class ColumnEnumeration:
    """The assignments of a node, from all columns that could be part of a better one.

    Parameters
    ----------
    pool : ColumnPool
    decisions : BranchingDecisions
        Of the node.
    pricers : sequence of Pricer
        One for each group.
    duals : sequence of int
        Of all parts.
    budget : Budget
    seed : int

    Attributes
    ----------
    begun : bool
        Whether the columns nearest to the best ones were enumerated and tried.
    """

    def __init__(
        self,
        pool: ColumnPool,
        decisions: BranchingDecisions,
        pricers: Sequence[Pricer],
        duals: Sequence[int],
        budget: Budget,
        seed: int,
    ) -> None:
        self.pool, self.decisions, self.duals = pool, decisions, duals
        self.budget, self.seed = budget, seed
        self.knapsacks = [pricer.knapsack for pricer in pricers if pricer.knapsack is not None]
        self.applies = len(self.knapsacks) == len(pricers)
        self.best_reduced_values = (
            [pricer.price(duals)[0] for pricer in pricers] if self.applies else []
        )
        self.begun = False
        self._tried = -1, 0  # the incumbent, and how many divisors of the gap were tried with it

    def solve(self, incumbent: int, max_nodes: int) -> EnumerationResult | None:
        """Find an optimal assignment of the node, or a better one, or prove that there is none.

        Parameters
        ----------
        incumbent : int
            The value of the best known assignment.
        max_nodes : int
            Nodes of the enumeration tree for all columns of a group, at the most.

        Returns
        -------
        EnumerationResult or None
            Among all columns within the gap the best assignment, or a better one; among some,
            where all are too many, a better one. None if there is none, or if those that
            `max_nodes` suffice to enumerate were tried before: more nodes may find more.
        """
        if not self.applies:
            return NOT_APPLICABLE
        bound = self.pool.dual_bound(self.best_reduced_values, self.duals, self.decisions)
        gap = bound - incumbent - self.pool.granularity
        columns, (before, count) = None, self._tried
        count = count if before == incumbent else 0
        for divisor in GAP_DIVISORS[count:]:
            wider = self.columns_within(gap // divisor, max_nodes)
            if wider is None:
                break
            columns, count = wider, count + 1
        self._tried = incumbent, count
        if columns is None:
            return None
        self.begun = True
        complete = count == len(GAP_DIVISORS)
        result = self._solve_set_packing(columns, incumbent, complete=complete)
        return result if complete or result.assignment else None

    def columns_within(self, gap: int, max_nodes: int) -> ColumnLists | None:
        """Return all columns of each group within a gap of the best; None if too many."""
        lists: ColumnLists = []
        for knapsack, best in zip(self.knapsacks, self.best_reduced_values, strict=True):
            columns = knapsack.enumerate_columns(
                self.duals, best - gap, max_nodes, self.budget.stop
            )
            if columns is None:
                return None
            lists.append(columns)
        return lists

    def _to_assignment(self, selected: ColumnLists) -> dict[int, tuple[int, int]]:
        """Return the assignment of the columns that were selected."""
        assignment: dict[int, tuple[int, int]] = {}
        for knapsack, group, columns in zip(
            self.knapsacks, self.pool.groups, selected, strict=True
        ):
            unused = list(group.machines)
            for column in columns:
                machine, shares = unused.pop(), knapsack.optimal_shares(column.parts)
                assignment |= {i: (machine, units) for i, (_, units) in shares.items()}
        return assignment

    def _solve_set_packing(
        self, columns: ColumnLists, incumbent: int, *, complete: bool
    ) -> EnumerationResult:
        """Select columns; a bound is proven only if all columns within the gap are there."""
        share, max_nodes = NEAREST_TIME_SHARE, NEAREST_NODES
        if complete:
            share, max_nodes = ALL_TIME_SHARE, ALL_NODES
        limits, stop = self.budget.left(share), inf
        if limits.time_s is not None:
            stop = time.monotonic() + limits.time_s
        search = SetPackingBnC(self.pool, self.decisions, columns, incumbent, stop, self.seed)
        solved = search.run(max_nodes if limits.time_s is None else None)
        assignment = None if search.selected is None else self._to_assignment(search.selected)
        bound = search.incumbent if solved and complete else None
        return EnumerationResult(bound, assignment)
