"""Multipliers that prove a bound in every leaf of a branch and bound, exact ones where needed.

The duals of a solver in floats prove a little less than the optimum of a leaf. Where the objective
has steps that is rounded up; elsewhere a leaf that has to prove its optimum itself is solved again
to an optimal basis, in fractions.

Examples
--------
>>> from dlopt.backends.linear_program import LinearProgram
>>> one, third = Fraction(1), Fraction(1, 3)
>>> program = LinearProgram(1, (one,), (((0, 3 * one),),), ((one, None),), ((0 * one, one),))
>>> search = BranchAndBound(program, [], FINE_STEP)
>>> search.minimise(third - ROUGHLY).complete
True
>>> LeafProofs(search, is_rounded=False, exact_leaves=1).of(third)[0][1]
((0, Fraction(1, 3)),)
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf

from dlopt.backends.branch_and_bound import BranchAndBound, Subproblem
from dlopt.backends.exact_lp import basis_from_highs, certify
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import Certificate
from dlopt.certificates import Terms
from dlopt.result import Status

FINE_STEP = Fraction(1, 1 << 80)
"""What bounds in the search are multiples of, where nothing may be rounded."""
ROUGHLY = Fraction(1, 10**9)
"""By how much less than the bound a subproblem may prove in floats, relative."""


class LeafProofs:
    """The leaves of a branch and bound with multipliers that prove a bound in each.

    Parameters
    ----------
    search : BranchAndBound
        After `minimise`.
    is_rounded : bool
        Whether the objective has steps, so that the bounds of leaves are rounded up.
    exact_leaves : int
        Leaves that may be solved in fractions.
    stop : float
        Instant of the monotonic clock at which it is given up.
    """

    def __init__(
        self, search: BranchAndBound, is_rounded: bool, exact_leaves: int, stop: float = inf
    ) -> None:
        self.search, self.is_rounded = search, is_rounded
        self.exact_leaves, self.stop = exact_leaves, stop

    def of(self, known: Fraction) -> list[tuple[Subproblem, Terms]] | None:
        """Return leaves that cover all points, with their multipliers.

        A leaf that proves too little is branched on. None if the bound is not reached in one of
        them, or there would be too many.
        """
        leaves: list[tuple[Subproblem, Terms]] = []
        open_nodes = list(self.search.leaves)
        while open_nodes:
            if time.monotonic() >= self.stop:  # pragma: no cover - between the search and this
                return None
            node = open_nodes.pop()
            multipliers = self._multipliers(node, known)
            if multipliers is not None:
                leaves.append((node, multipliers))
                continue
            column = self.search.solve_leaf(node)
            multipliers = self._multipliers(node, known) or self._exact_multipliers(node, known)
            if multipliers is not None:
                leaves.append((node, multipliers))
            elif column is None or self.exact_leaves <= 0:
                return None
            else:
                open_nodes += [
                    replace(node, fixed=(*node.fixed, (column, value))) for value in (0, 1)
                ]
        return leaves

    def _multipliers(self, node: Subproblem, known: Fraction) -> Terms | None:
        """Return the multipliers of a subproblem if they prove enough."""
        search = self.search
        is_enough = node.infeasible or self.is_rounded
        if not is_enough:
            is_enough = search.safe.bound(node.multipliers, search.leaf_bounds(node)) >= known
        return search.safe.in_row_units(node.multipliers) if is_enough else None

    def _exact_multipliers(self, node: Subproblem, known: Fraction) -> Terms | None:
        """Return those of an optimal basis in fractions, if they prove enough."""
        self.exact_leaves -= 1
        if self.exact_leaves < 0:
            return None
        optimum = solve_leaf_exactly(self.search, dict(node.fixed), self.stop)
        if optimum is None or optimum.value < known:
            return None
        return tuple((r, dual) for r, dual in enumerate(optimum.dual) if dual)


def solve_leaf_exactly(
    search: BranchAndBound, fixed: Mapping[int, int], stop: float
) -> Certificate | None:
    """Return an optimum of a leaf with its duals in fractions; None if it is not found in time.

    Parameters
    ----------
    search : BranchAndBound
    fixed : mapping of int to int
        Values of binaries in the leaf.
    stop : float
        Instant of the monotonic clock at which it is given up.
    """
    rows = [search.safe.original_row(r) for r in range(len(search.safe.rows))]
    bounds = [
        (Fraction(fixed[j]),) * 2 if j in fixed else bound
        for j, bound in enumerate(search.safe.bounds)
    ]
    program = replace(
        search.program,
        rows=tuple(terms for terms, _, _ in rows),
        row_bounds=tuple((low, high) for _, low, high in rows),
        column_bounds=tuple(bounds),
    )
    solver = LinearSolver(program, stop=stop)
    solved = solver.solve().status is Status.OPTIMAL
    left = None if stop == inf else max(0.0, stop - time.monotonic())
    statuses = basis_from_highs(solver.model) if solved else ((), ())
    return certify(program, *statuses, time_s=left) if solved else None
