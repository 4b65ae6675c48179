"""The set-packing master program over given columns: branch and cut, all bounds in integers.

With ``P_g`` the given columns of group ``g``, symbols as in `columns`::

    maximise    sum_k v_k x_k + sum_g sum_{p in P_g} v_p lambda_p
    subject to  sum_{p : i in p} lambda_p = x_k                  part i of request k
                sum_{p in P_g} lambda_p <= m_g                   machines of a group
                sum_{p : |p and S| >= 2} lambda_p <= 1           triples S of parts, as cuts
                0 <= x <= 1, lambda >= 0, integer

The linear relaxation is strengthened by subset-row cuts on triples of parts (Jepsen et al. 2008),
see `subset_row_cuts`. It is branched on requests (accepted or not), on parts and groups of
machines, and on pairs of parts (Ryan and Foster 1981), chosen by strong branching (Applegate,
Bixby, Chvatal, Cook 1995). Whatever the floats are in which linear programs are solved, their duals
rounded to integers prove a bound, and by reduced cost fixing which columns no better schedule has.

Examples
--------
>>> from dlopt.models.coreservation.scaled_instance import ScaledInstance
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(f"r{k}", 0, 1, 2, 1, (Part(k + 2),)) for k in range(3))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 6),), requests), "rejections")
>>> pool = ColumnPool(scaled, "rejections")
>>> columns = [PricedColumn(frozenset(parts), 0, 0) for parts in ([0, 1], [0, 2], [1])]
>>> search = SetPackingBnC(pool, BranchingDecisions({}, {}), [columns], 0, inf, 0)
>>> search.run(), search.incumbent == 2 * pool.request_values[0]
(True, True)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, combinations
from math import inf
from typing import Any, TypeAlias

import numpy as np

from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.backends.linear_program import LinearProgram, ProgramBuilder
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import PricedColumn
from dlopt.models.coreservation.branch_and_price.subset_row_cuts import (
    INTEGRALITY_TOLERANCE,
    SubsetRowCut,
    has_two_of_three,
    violated_cuts,
)
from dlopt.result import Status

MAX_CUT_ROUNDS = 20
"""Rounds of separation at a node; chosen by hand: more tighten the bound, and delay branching."""
STRONG_BRANCHING_CANDIDATES = 10
"""Candidates for which both branches are solved; chosen by hand: trees against time at nodes."""
MIN_GAIN = 1e-12
"""The gain of a branch counts for no less, so that a product of gains ranks by the other one."""
MAX_DUAL_SUM = 1 << 60
"""No sum of duals is larger: reduced values fit into 64 bits."""

ColumnLists: TypeAlias = list[list[PricedColumn]]
"""Columns, for each group of machines."""


def master_relaxation(
    pool: ColumnPool, requests: Mapping[int, bool], lists: ColumnLists
) -> LinearProgram:
    """Return the linear relaxation: variables are requests, then columns, group by group.

    Columns have no upper bounds: the rows of parts imply them, and only rows have duals.
    """
    scaled, factor, one = pool.scaled, pool.scaling.factor, Fraction(1)
    builder = ProgramBuilder()
    for k, value in enumerate(pool.request_values):
        low, high = (Fraction(requests[k]),) * 2 if k in requests else (Fraction(0), one)
        builder.add_column(low, high, cost=Fraction(-value, factor))
    part_rows: list[list[tuple[int, Fraction]]] = [[(part.request, -one)] for part in scaled.parts]
    for group, columns in zip(pool.groups, lists, strict=True):
        chosen = []
        for column in columns:
            variable = builder.add_column(Fraction(0), None, cost=Fraction(-column.value, factor))
            for i in column.parts:
                part_rows[i].append((variable, one))
            chosen.append((variable, one))
        builder.add_row(chosen, None, Fraction(len(group.machines)))
    for row in part_rows:
        builder.add_row(row, Fraction(0), Fraction(0))
    return builder.build()


class UnresolvedNodeError(Exception):
    """A linear program was not solved in time, or what it reports was not proven."""


@dataclass(frozen=True, slots=True)
class SetPackingNode:
    """A branch-and-cut node.

    Parameters
    ----------
    open : array of bool
        The columns that may be selected.
    requests : mapping of int to bool
        Those that are decided.
    cuts : tuple of SubsetRowCut
        Inherited from the parent.
    """

    open: Any
    requests: Mapping[int, bool]
    cuts: tuple[SubsetRowCut, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchingCandidate:
    """Two branches of a node.

    Parameters
    ----------
    excluded : tuple of two arrays of bool
        The columns that the first branch excludes, and the second.
    request : int or None
        A request that is accepted in the first branch and rejected in the second.
    """

    excluded: tuple[Any, Any]
    request: int | None = None


class SetPackingBnC:
    """Branch and cut over columns.

    Parameters
    ----------
    pool : ColumnPool
    decisions : BranchingDecisions
        Of the branch-and-price node.
    columns : list of list of PricedColumn
        Of the node, for each group.
    incumbent : int
        The value of the best known assignment, not negative, a multiple of the pool's granularity:
        better ones are searched for.
    stop : float
        Instant of the monotonic clock at which to end.
    seed : int

    Attributes
    ----------
    incumbent : int
        The value of the best assignment.
    selected : list of list of PricedColumn or None
        The columns of a better assignment, for each group, none of them empty, if one was found.
        It need not observe the decisions of the node.
    """

    def __init__(
        self,
        pool: ColumnPool,
        decisions: BranchingDecisions,
        columns: ColumnLists,
        incumbent: int,
        stop: float,
        seed: int,
    ) -> None:
        self.pool, self.columns, self.incumbent = pool, columns, incumbent
        self.stop, self.seed = stop, seed
        self.selected: ColumnLists | None = None
        all_columns, num_parts = [*chain.from_iterable(columns)], len(pool.scaled.parts)
        self.values = np.array([column.value for column in all_columns], np.int64)
        self.groups = np.repeat(np.arange(len(columns)), [len(own) for own in columns])
        self.incidence = np.zeros((len(all_columns), num_parts), np.int8)
        for n, column in enumerate(all_columns):
            self.incidence[n, list(column.parts)] = 1
        self.nodes = [SetPackingNode(np.ones(len(all_columns), np.bool_), decisions.requests)]

    def run(self, max_nodes: int | None = None) -> bool:
        """Search for the best assignment, depth first; tell whether it is proven optimal.

        False after `max_nodes`, if time is up, or if floats do not tell better assignments apart.
        """
        while self.nodes and max_nodes != 0:
            try:
                self.nodes[-1:] = self._solve_node(NodeRelaxation(self, self.nodes[-1]))
            except UnresolvedNodeError:
                return False
            max_nodes = None if max_nodes is None else max_nodes - 1
        return not self.nodes

    def select(self, mask: Any) -> ColumnLists:
        """Return the columns of a mask, for each group."""
        places = iter(mask.tolist())
        return [[column for column in own if next(places)] for own in self.columns]

    def _solve_node(self, relaxation: NodeRelaxation) -> list[SetPackingNode]:
        """Return the branches where better assignments may be; integer points update the best."""
        while relaxation.tighten():
            candidate = relaxation.select_candidate()
            if candidate is not None:
                return relaxation.branches(candidate)
            self._update_incumbent(relaxation)
        return []

    def _update_incumbent(self, relaxation: NodeRelaxation) -> None:
        """Keep the assignment of an integer point, whatever requests it accepts, if it is better.

        `UnresolvedNodeError` is raised if the point is no assignment, or not a better one.
        """
        pool, accepted = self.pool, relaxation.accepted_requests()
        chosen = relaxation.selected_columns() & self.incidence.any(1)
        covered = self.incidence[chosen].sum(0)
        feasible = all(
            covered[i] == (part.request in accepted) for i, part in enumerate(pool.scaled.parts)
        )
        for n, group in enumerate(pool.groups):
            feasible = feasible and chosen[self.groups == n].sum() <= len(group.machines)
        value = self.values[chosen].sum().item() + sum(pool.request_values[k] for k in accepted)
        if not feasible or value <= self.incumbent:
            raise UnresolvedNodeError
        self.incumbent, self.selected = value, self.select(chosen)


class NodeRelaxation:
    """The linear relaxation of a node.

    Parameters
    ----------
    search : SetPackingBnC
    node : SetPackingNode

    Attributes
    ----------
    point : array
        Its optimum: ``x`` of requests, then ``lambda`` of columns.
    surviving : array of bool
        The columns of the node that a better assignment may have.
    """

    def __init__(self, search: SetPackingBnC, node: SetPackingNode) -> None:
        self.search, self.node = search, node
        self.places = np.flatnonzero(node.open)
        self.incidence = search.incidence[self.places]
        self.values, self.groups = search.values[self.places], search.groups[self.places]
        self.surviving = np.ones(len(self.places), np.bool_)
        self.num_requests = len(search.pool.request_values)
        program = master_relaxation(search.pool, node.requests, search.select(node.open))
        self.solver = LinearSolver(program, search.seed, search.stop)
        self.costs = np.array([float(cost) for cost in program.costs])
        self.cuts: dict[SubsetRowCut, Any] = {}
        for cut in node.cuts:
            self.add_cut(cut)

    def tighten(self) -> bool:
        """Add violated subset-row cuts; tell whether a better assignment may be in the node."""
        for _ in range(MAX_CUT_ROUNDS):
            optimum = self._solve()
            self.surviving &= self.within_gap(optimum)
            if not self.surviving.any():
                return False
            if optimum.status is not Status.OPTIMAL:
                raise UnresolvedNodeError  # infeasible, as far as floats tell
            self.point = np.array(optimum.point)
            weights = self.point[self.num_requests :]
            violated = [
                cut for cut in violated_cuts(self.incidence, weights) if cut not in self.cuts
            ]
            for cut in violated:
                self.add_cut(cut)
            if not violated:
                break
        return True

    def branches(self, candidate: BranchingCandidate) -> list[SetPackingNode]:
        """Return both branches, the first one last, so that it is searched first."""
        return [self._child(candidate, side) for side in (1, 0)]

    def select_candidate(self) -> BranchingCandidate | None:
        """Return the best candidate by strong branching, None if the point is integer.

        The candidates nearest to one half are tried; the product of both gains decides.
        """
        candidates = sorted(self._candidates(), key=lambda pair: pair[0])
        value = (self.costs @ self.point).item()
        best, best_score = None, -1.0
        for _, candidate in candidates[:STRONG_BRANCHING_CANDIDATES]:
            gains = [max(self._strong_branch(candidate, side) - value, 0) for side in (0, 1)]
            score = max(gains[0], MIN_GAIN) * max(gains[1], MIN_GAIN)
            if score > best_score:
                best, best_score = candidate, score
        return best

    def accepted_requests(self) -> set[int]:
        """Return the requests that the point accepts."""
        return set(np.flatnonzero(self.point[: self.num_requests] > 0.5).tolist())

    def selected_columns(self) -> Any:
        """Return the mask of the columns that the point selects, among those of all nodes."""
        chosen = np.zeros_like(self.search.groups, np.bool_)
        chosen[self.places[self.point[self.num_requests :] > 0.5]] = True
        return chosen

    def _solve(self) -> LpSolution:
        optimum = self.solver.solve()
        if optimum.status is Status.LIMIT:
            raise UnresolvedNodeError
        return optimum

    def _child(self, candidate: BranchingCandidate, side: int) -> SetPackingNode:
        mask = np.zeros_like(self.node.open)
        mask[self.places[self.surviving & ~candidate.excluded[side]]] = True
        decided = {} if candidate.request is None else {candidate.request: side == 0}
        return SetPackingNode(mask, {**self.node.requests, **decided}, tuple(self.cuts))

    def within_gap(self, optimum: LpSolution) -> Any:
        """Return by reduced cost fixing which columns a better assignment may have.

        Duals in floats are rounded to integers, which prove a bound whatever they are. If the
        program is infeasible they are those of a ray (Farkas): all values count as 0.
        """
        pool, optimal = self.search.pool, optimum.status is Status.OPTIMAL
        num_groups, num_parts = len(pool.groups), len(pool.scaled.parts)
        reported = np.zeros(num_groups + num_parts + len(self.cuts))
        reported[: len(optimum.multipliers)] = optimum.multipliers
        reported = np.where(np.isfinite(reported), reported, 0.0)[num_groups:]
        largest = MAX_DUAL_SUM // max(len(reported), 1)
        unit = largest / max(np.abs(reported).max(initial=0), MIN_GAIN)
        unit = float(pool.scaling.factor) if optimal else unit
        clipped = np.clip(reported, -largest / unit, largest / unit)
        integers = np.rint(-unit * clipped).astype(np.int64)
        duals, cut_duals = integers[:num_parts], np.maximum(integers[num_parts:], 0)
        reduced = self.values * optimal - self.incidence @ duals
        for in_cut, dual in zip(self.cuts.values(), cut_duals, strict=True):
            reduced -= dual * in_cut
        best = [
            reduced[self.surviving & (self.groups == n)].max(initial=0).item()
            for n in range(num_groups)
        ]
        decisions = BranchingDecisions(self.node.requests, {})
        bound = pool.dual_bound(best, duals.tolist(), decisions, with_values=optimal)
        bound += sum(cut_duals.tolist())
        gap = bound - (self.search.incumbent + pool.granularity) * optimal
        return reduced >= np.array(best, np.int64)[self.groups] - min(gap, 4 * MAX_DUAL_SUM)

    def add_cut(self, cut: SubsetRowCut) -> None:
        """Add the subset-row cut of three parts."""
        in_cut = has_two_of_three(self.incidence, np.array(cut))
        variables = (self.num_requests + np.flatnonzero(in_cut)).tolist()
        self.cuts[cut] = in_cut
        terms = tuple((variable, Fraction(1)) for variable in variables)
        self.solver.add((terms, None, Fraction(1)))

    def _candidates(self) -> Iterator[tuple[float, BranchingCandidate]]:
        """Yield the branching candidates that are fractional, with their distance from one half.

        Requests, parts on a group of machines, and pairs of parts on one machine; both branches of
        each exclude columns, or decide on a request.
        """
        weights = self.point[self.num_requests :]
        support = np.flatnonzero(weights > INTEGRALITY_TOLERANCE)
        weights, incidence = weights[support], self.incidence[support].astype(float)
        for k, request in enumerate(self.search.pool.scaled.requests):
            if _is_fractional(self.point[k]):
                of_request = self.incidence[:, list(request.parts)].any(1)
                excluded = np.zeros_like(of_request), of_request
                yield abs(self.point[k] - 0.5), BranchingCandidate(excluded, k)
        for n in range(len(self.search.columns) - 1):
            in_group = self.groups == n
            for i, share in enumerate((weights * in_group[support]) @ incidence):
                if _is_fractional(share):
                    part = self.incidence[:, i] > 0
                    yield from _candidate(share, part & ~in_group, part & in_group)
        together = incidence.T @ (incidence * weights[:, None])
        for i, j in combinations(range(len(together)), 2):
            if _is_fractional(together[i, j]):
                first, second = self.incidence[:, i] > 0, self.incidence[:, j] > 0
                yield from _candidate(together[i, j], first ^ second, first & second)

    def _strong_branch(self, candidate: BranchingCandidate, side: int) -> float:
        """Return the optimum of the linear program of a branch."""
        excluded = (self.num_requests + np.flatnonzero(candidate.excluded[side])).tolist()
        self.solver.set_upper(excluded, 0.0)
        if candidate.request is not None:
            self.solver.set_bounds(candidate.request, 1.0 - side, 1.0 - side)
        optimum = self._solve()
        self.solver.set_upper(excluded, inf)
        if candidate.request is not None:
            self.solver.set_bounds(candidate.request, 0.0, 1.0)
        return (self.costs @ optimum.point).item() if optimum.point else inf


def _is_fractional(value: float) -> bool:
    return INTEGRALITY_TOLERANCE < value < 1 - INTEGRALITY_TOLERANCE


def _candidate(value: float, first: Any, second: Any) -> Iterator[tuple[float, BranchingCandidate]]:
    if first.any():  # else its first branch excludes nothing
        yield abs(value - 0.5), BranchingCandidate((first, second))
