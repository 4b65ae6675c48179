"""Best-first branch and bound over a few binary variables, with an exact dual bound at every leaf.

    minimise    c x
    subject to  lower <= A x <= upper,  l <= x <= u,  x_j in {0, 1} for the binaries j

The floating-point answers of the LP solver only guide the search. The bound of each subproblem is
computed by `SafeDualBound` in integers from the dual multipliers that the solver reports, so the
bound that is returned holds exactly, whenever the search is stopped. The method is ours; the safe
dual bound is that of Neumaier and Shcherbina (2004).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf

from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.backends.linear_program import LinearProgram, Row
from dlopt.backends.safe_dual_bound import ZERO_DUALS, DualVector, SafeDualBound
from dlopt.certificates import BoundCertificate, Leaf
from dlopt.result import Status

Cuts = Callable[[Sequence[float]], Iterable[Row]]
"""Separates cuts: rows that all points with integral binaries satisfy, the given one does not."""

INTEGRALITY_TOLERANCE = 1e-6
"""Distance to an integer up to which a binary counts as integral: the usual one of MIP solvers."""
SHORT_MULTIPLIERS = (6, 10, 16, 24)
"""Binary digits of multipliers that are tried one after another, for short certificates."""
MAX_CUT_ROUNDS = 30
"""Rounds of cut separation per subproblem. Set by hand: more tighten its bound, fewer save time."""
MAX_LEAF_CUT_ROUNDS = 100
"""The same of a subproblem in which all binaries are fixed: nothing is left but cuts."""


@dataclass(frozen=True, slots=True)
class BranchAndBoundResult:
    """A proven lower bound of the objective, and whether it is the optimum.

    Parameters
    ----------
    bound : Fraction or None
        No point with integral binaries has a smaller objective; None if there is no such point.
    point : sequence of float
        A point that attains the bound, in floats; empty if none was found.
    subproblems : int
        Number of subproblems solved.
    complete : bool
        Whether the bound is the optimum, or reaches the known objective; False if a limit ended
        the search.
    """

    bound: Fraction | None
    point: Sequence[float]
    subproblems: int
    complete: bool


@dataclass(order=True, slots=True)
class Subproblem:
    """A node of the search tree: some binaries are fixed, and multipliers prove its bound.

    Parameters
    ----------
    bound : Fraction
    depth, number : int
        By which nodes of the same bound are ordered.
    fixed : tuple of (int, int)
        Binaries and their values.
    multipliers : DualVector
    infeasible : bool
        Whether they prove infeasibility (Farkas).
    """

    bound: Fraction
    depth: int
    number: int
    fixed: tuple[tuple[int, int], ...] = field(compare=False)
    multipliers: DualVector = field(compare=False, default=ZERO_DUALS)
    infeasible: bool = field(compare=False, default=False)


class BranchAndBound:
    """Branch and bound over the binaries of a program, best bound first.

    If all binaries are fixed, the question is whether there is a point at all. The solver then
    maximises the sum of those that are fixed at one, since it gets multipliers of an optimum faster
    than those that prove infeasibility: they are the same.

    Parameters
    ----------
    program : LinearProgram
        Every variable has bounds; only binaries have costs.
    binaries : sequence of int
        Columns of the binary variables.
    step : Fraction
        Granularity of the objective: every value that it can take is a multiple of `step`, so
        that bounds are rounded up to the next multiple.
    cuts : callable, optional
        Separates cuts; it is called with the optimal points of subproblems.
    seed : int
    stop : float
        Instant of the monotonic clock at which to stop.
    first : collection of int
        Binaries that are branched on before others.

    Attributes
    ----------
    required : list of int
        If all binaries are fixed, those that are fixed at one.
    leaves : list
        Subproblems that cover all points, each with the multipliers that prove its bound or its
        infeasibility.

    Examples
    --------
    >>> unit = (Fraction(0), Fraction(1))
    >>> odd = tuple((j, Fraction(2)) for j in range(3))
    >>> costs = (Fraction(-1),) * 3
    >>> program = LinearProgram(3, costs, (odd,), ((None, Fraction(5)),), (unit,) * 3)
    >>> BranchAndBound(program, range(3), Fraction(1)).minimise().bound
    Fraction(-2, 1)
    """

    def __init__(
        self,
        program: LinearProgram,
        binaries: Sequence[int],
        step: Fraction,
        cuts: Cuts | None = None,
        seed: int = 0,
        stop: float = inf,
        first: Collection[int] = (),
    ) -> None:
        self.program, self.binaries, self.step = program, list(binaries), step
        self.first = frozenset(first)
        self.cuts, self.stop = cuts, stop
        self.safe = SafeDualBound(program)
        self.bounds = list(self.safe.bounds)
        is_question = all(self.bounds[j][0] == self.bounds[j][1] for j in self.binaries)
        self.required = [j for j in self.binaries if is_question and self.bounds[j][0] == 1]
        self.solver = LinearSolver(_relaxed(program, self.required), seed, stop)
        self.fixed: dict[int, int] = {}
        self.leaves: list[Subproblem] = []

    def minimise(
        self, known: Fraction | None = None, max_subproblems: int | None = None
    ) -> BranchAndBoundResult:
        """Return the minimum of the objective, or a lower bound of it.

        Parameters
        ----------
        known : Fraction, optional
            Objective of an incumbent: the search ends once nothing can be smaller.
        max_subproblems : int, optional
            Largest number of subproblems to solve.
        """
        lowest = sum((min(c * low, c * high) for c, (low, high) in self._cost_terms()), Fraction(0))
        open_nodes = [Subproblem(lowest, 0, 0, ())]
        infeasible_leaves: list[Subproblem] = []
        count = 0
        while open_nodes:
            node = open_nodes[0]
            if known is not None and node.bound >= known:
                break
            if time.monotonic() > self.stop or (
                max_subproblems is not None and count >= max_subproblems
            ):
                self.leaves = infeasible_leaves + open_nodes
                return BranchAndBoundResult(node.bound, (), count, False)
            heapq.heappop(open_nodes)
            count += 1
            point = self._solve(node, known)
            if node.infeasible:
                infeasible_leaves.append(node)
                continue
            column = self._branching_binary(point)
            if column is not None:
                for value in (1, 0):
                    fixed = (*node.fixed, (column, value))
                    number = 2 * count + value
                    heapq.heappush(
                        open_nodes,
                        Subproblem(node.bound, node.depth - 1, number, fixed, node.multipliers),
                    )
            elif not open_nodes or node.bound <= open_nodes[0].bound:
                self.leaves = [*infeasible_leaves, node, *open_nodes]
                return BranchAndBoundResult(node.bound, point, count, bool(point))
            else:
                heapq.heappush(
                    open_nodes, replace(node, depth=-len(self.binaries), number=2 * count)
                )
        self.leaves = infeasible_leaves + open_nodes
        return BranchAndBoundResult(known, (), count, True)

    def shorten_multipliers(self, bound: Fraction | None) -> None:
        """Round the multipliers of the leaves to few digits, where they prove a bound all the same.

        Certificates get shorter. `bound` is what they have to prove, None for infeasibility. When
        time is up, the others stay as long as they are.
        """
        for node in self.leaves:
            if time.monotonic() > self.stop:  # pragma: no cover - between the search and this
                return
            bounds = self.leaf_bounds(node)
            terms, unit = node.multipliers
            largest = max((abs(weight).bit_length() for _, weight in terms), default=0)
            for digits in SHORT_MULTIPLIERS:
                shift = max(largest - digits, 0)
                if unit % (1 << shift) and not node.infeasible:
                    continue
                few = tuple((r, weight >> shift) for r, weight in terms)
                short = DualVector(few, 1 if node.infeasible else unit >> shift)
                if (
                    self.safe.proves_infeasible(short, bounds)
                    if node.infeasible
                    else bound is not None and self.safe.bound(short, bounds) > bound - self.step
                ):
                    node.multipliers = short
                    break

    def solve_leaf(self, leaf: Subproblem) -> int | None:
        """Solve a leaf by itself, whose multipliers may be those of the subproblem it was in.

        It gets better ones, or those that prove it infeasible, if there are any.

        Returns
        -------
        int or None
            A binary to branch on; None if all are integral.
        """
        return self._branching_binary(self._solve(leaf))

    def leaf_bounds(self, leaf: Subproblem) -> list[tuple[Fraction, Fraction]]:
        """Return the bounds of all columns in a leaf."""
        bounds = list(self.safe.bounds)
        for column, value in leaf.fixed:
            bounds[column] = Fraction(value), Fraction(value)
        return bounds

    def release(self) -> None:
        """Release all binaries that are fixed, so that the solver has the whole program again."""
        self._fix_binaries({})

    def certificate(
        self, bound: Fraction | None, names: Sequence[str], remarks: Sequence[str] = ()
    ) -> BoundCertificate:
        """Return the certificate of the bound that `minimise` has proven.

        Parameters
        ----------
        bound : Fraction or None
            The bound that `minimise` returned.
        names : sequence of str
            Names of the columns.
        remarks : sequence of str
            Comments for the head of the file.
        """
        program, safe = self.program, self.safe
        cuts = [safe.original_row(r) for r in range(len(program.rows), len(safe.rows))]
        return BoundCertificate(
            names=tuple(names),
            costs=program.costs,
            rows=(*program.rows, *(terms for terms, _, _ in cuts)),
            row_bounds=(*program.row_bounds, *((low, high) for _, low, high in cuts)),
            column_bounds=tuple(safe.bounds),
            binaries=tuple(self.binaries),
            cuts=len(cuts),
            step=self.step,
            bound=bound,
            leaves=tuple(
                Leaf(node.fixed, safe.in_row_units(node.multipliers), node.infeasible)
                for node in self.leaves
            ),
            remarks=tuple(remarks),
        )

    def _solve(self, node: Subproblem, known: Fraction | None = None) -> Sequence[float]:
        """Set the bound of a node, or its infeasibility, with the proof; return its LP optimum."""
        self._fix_binaries(dict(node.fixed))
        is_leaf = all(low == high for low, high in map(self.bounds.__getitem__, self.binaries))
        for _ in range(MAX_LEAF_CUT_ROUNDS if is_leaf else MAX_CUT_ROUNDS):
            relaxed = self.solver.solve()
            if relaxed.status is not Status.OPTIMAL:
                ray = self._infeasibility_proof(relaxed)
                if ray is not None:
                    node.multipliers, node.infeasible = ray, True
                return ()
            multipliers = self.safe.quantise(relaxed.multipliers)
            if self.required and self.safe.proves_infeasible(multipliers, self.bounds):
                node.multipliers, node.infeasible = multipliers, True
                return ()
            bound = self.step * ceil(self.safe.bound(multipliers, self.bounds) / self.step)
            if bound > node.bound:
                node.bound, node.multipliers = bound, multipliers
            cuts = self.cuts if known is None or node.bound < known else None
            rows = [] if cuts is None else list(cuts(relaxed.point))
            if not rows:
                break
            for row in rows:
                self.safe.add(row)
                self.solver.add(row)
        is_point = all(relaxed.point[j] > 1 - INTEGRALITY_TOLERANCE for j in self.required)
        return relaxed.point if is_point else ()

    def _infeasibility_proof(self, relaxed: LpSolution) -> DualVector | None:
        """Return a Farkas proof of infeasibility: the solver's dual ray, or a single row."""
        if relaxed.multipliers:
            ray = self.safe.quantise(relaxed.multipliers)
            if self.safe.proves_infeasible(ray, self.bounds):
                return ray
        if relaxed.status is not Status.INFEASIBLE:
            return None
        return self.safe.infeasible_row(self.bounds)

    def _branching_binary(self, point: Sequence[float]) -> int | None:
        """Return the most fractional binary of the point; None if all are integral."""
        free = [j for j in self.binaries if j not in self.fixed and len(set(self.bounds[j])) > 1]
        if not point:
            return free[0] if free else None
        distances = {j: min(point[j], 1 - point[j]) for j in free}
        fractional = [j for j in free if distances[j] > INTEGRALITY_TOLERANCE]
        return max(fractional, key=lambda j: (j in self.first, distances[j]), default=None)

    def _fix_binaries(self, fixed: dict[int, int]) -> None:
        for column in {*self.fixed, *fixed}:
            low, high = self.safe.bounds[column]
            if column in fixed:
                low = high = Fraction(fixed[column])
            self.bounds[column] = low, high
            self.solver.set_bounds(column, float(low), float(high))
        self.fixed = fixed

    def _cost_terms(self) -> Iterable[tuple[Fraction, tuple[Fraction, Fraction]]]:
        return (
            (cost, b) for cost, b in zip(self.program.costs, self.safe.bounds, strict=True) if cost
        )


def _relaxed(program: LinearProgram, required: Collection[int]) -> LinearProgram:
    """Return the program that maximises the sum of some binaries, if there are any."""
    if not required:
        return program
    costs, bounds = [Fraction(0)] * program.columns, list(program.column_bounds)
    for j in required:
        costs[j], bounds[j] = Fraction(-1), (Fraction(0), Fraction(1))
    return replace(program, costs=tuple(costs), column_bounds=tuple(bounds))
