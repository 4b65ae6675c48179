"""Branch and price: column generation with dual smoothing, Ryan-Foster branching.

`columns` defines the symbols of the master program, `master` has its dual and the pricing problem::

    maximise    sum_k v_k x_k + sum_g sum_{p in P_g} v_p lambda_p
    subject to  sum_g sum_{p in P_g : i in p} lambda_p = x_k     part i of request k
                sum_{p in P_g} lambda_p <= m_g                   machines of a group
                x, lambda in {0, 1}

The restricted master program has the columns that were generated so far. At a node:

1. Column generation with the duals smoothed (Wentges 1997): ``centre + step (master - centre)``,
   with the duals of the best Lagrangian bound as the stability centre. The pricing problems are
   solved in integers, so every Lagrangian bound is proven, whatever the duals are.
2. The restricted master program in integers, by CP-SAT, for a better incumbent.
3. If the gap is small, enumeration of all columns within it, see `column_enumeration`; the branch
   and cut over these closes the node.
4. Otherwise branching: on requests, accepted or rejected, then on pairs of parts, on one machine or
   on different ones (Ryan and Foster 1981). Nodes are searched best bound first.

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> from dlopt.result import Limits
>>> requests = tuple(Request(f"r{k}", 0, 1, 2, 1, (Part(k + 2),)) for k in range(4))
>>> instance = Instance((Machine("m", 6), Machine("n", 5)), requests)
>>> scaled = ScaledInstance.from_instance(instance, "rejections")
>>> result = BranchAndPrice(scaled, "rejections", {}, Budget(Limits())).run()
>>> result.bound, len(result.assignment)
(Fraction(3, 1), 3)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import combinations
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.column_enumeration import (
    NOT_APPLICABLE,
    ColumnEnumeration,
)
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.master import (
    Pricer,
    RestrictedMaster,
    initial_duals,
)
from dlopt.models.coreservation.objective import Assignment
from dlopt.models.coreservation.scaled_instance import ScaledInstance

INTEGRALITY_TOLERANCE = 1e-6
"""Pairs of parts this near to an integer are not branched on, as in HiGHS."""
SMOOTHING_STEPS = (0.1, 0.5, 1.0)
"""Wentges smoothing: steps from the stability centre towards the duals of the master program.

A longer step is tried if a shorter one generates no column (mispricing). Chosen by hand.
"""
TAILING_OFF_SHARE = 0.1
"""Column generation ends when the Lagrangian bound exceeds the master's value by no more than this
share of the gap between that value and the incumbent.

Chosen by hand: what is left is closed by branching sooner than by the tail of column generation.
"""
ENUMERATION_GAP = Fraction(1, 50)
"""Columns are enumerated when the gap is no more than this share of the largest value.

Chosen by hand: with a larger gap there are too many columns (up to some ten thousand are handled,
see benchmarks/results/coreservation.md).
"""
FIRST_ENUMERATION_NODES = 10_000
"""Nodes of the enumeration tree of a group at the first try; chosen by hand."""
MAX_FIRST_ENUMERATION_NODES = 40_000
"""The most of these while not even the columns nearest to the best could be enumerated."""
MAX_ENUMERATION_NODES = 640_000
"""The most of these otherwise: then all columns may come within reach. Chosen by hand."""
ENUMERATION_NODES_FACTOR = 4
"""How many times as many nodes the next try has."""
RESTRICTED_MASTER_TIME_SHARE = 1 / 4
"""Share of the remaining time for the restricted master program in integers; chosen by hand."""
RESTRICTED_MASTER_EFFORT = 2.0
"""CP-SAT's deterministic time for it, where there is no time limit; chosen by hand."""


@dataclass(frozen=True, slots=True)
class BranchAndPriceResult:
    """What branch and price has proven.

    Parameters
    ----------
    bound : Fraction
        No assignment has a larger value of the maximised level, less that of accepting nothing.
    assignment : dict
        The best assignment that was found, or the initial one.
    nodes : int
    relies_on_solver : bool
        Whether bounds of CP-SAT on pricing problems were trusted: where a machine has more cliques
        than the dynamic program of `pricing_knapsack` handles.
    """

    bound: Fraction
    assignment: dict[int, tuple[int, int]]
    nodes: int
    relies_on_solver: bool = False


@dataclass(order=True, slots=True)
class BranchAndPriceNode:
    """A node: its upper bound, and the duals that prove it, which are the stability centre."""

    order: tuple[int, int]
    bound: int
    decisions: BranchingDecisions
    duals: Sequence[float]


class BranchAndPrice:
    """Branch and price for one level of the objective.

    Parameters
    ----------
    scaled : ScaledInstance
    level : str
        Any but ``machines``; its `ObjectiveScaling` must be exact.
    assignment : Assignment
        A feasible one, the first incumbent.
    budget : Budget
        `work` counts nodes.
    seed : int
    cutoff : Fraction, optional
        Assignments of no larger value are not searched.

    Attributes
    ----------
    pool : ColumnPool
    assignment : dict
        The incumbent.
    value : int
        Its value, or the cutoff if that is larger.
    enumeration_gap : int
        The columns of a node are enumerated when its gap is no larger.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        level: str,
        assignment: Assignment,
        budget: Budget,
        seed: int = 0,
        *,
        cutoff: Fraction = Fraction(0),
    ) -> None:
        self.scaled, self.budget, self.seed = scaled, budget, seed
        self.pool = ColumnPool(scaled, level)
        self.pool.add_assignment(assignment)
        self.assignment = dict(assignment)
        self.value = max(self.pool.value(assignment), self.pool.scaling.to_int(cutoff))
        self.enumeration_gap = self.pool.scaling.to_int(self.pool.max_value * ENUMERATION_GAP)
        self.relies_on_solver = False

    def run(self) -> BranchAndPriceResult:
        """Search until the incumbent is proven optimal, or time or work are up."""
        scaling, max_nodes = self.pool.scaling, self.budget.limits.work
        largest = scaling.to_int(self.pool.max_value)
        open_nodes = [BranchAndPriceNode((-largest, 0), largest, BranchingDecisions({}, {}), ())]
        count = number = unresolved = 0
        try:
            open_nodes[0].duals = initial_duals(self.pool, self.budget.stop, self.seed)
            while (
                open_nodes
                and open_nodes[0].bound > self.value
                and (max_nodes is None or count < max_nodes)
            ):
                node = open_nodes[0]
                count += 1
                pricers = self.create_pricers(node.decisions)
                master = self.generate_columns(node, pricers)
                if node.bound > self.value:
                    self.solve_restricted_master()
                if node.bound > self.value:
                    self.enumerate_columns(node, pricers)
                heappop(open_nodes)
                if node.bound <= self.value:
                    continue
                branches = list(self.branch(node.decisions, master))
                if not branches:
                    unresolved = max(unresolved, node.bound)
                for decisions in branches:
                    number -= 1  # of equal ones the latest first
                    order = -node.bound, number
                    heappush(
                        open_nodes, BranchAndPriceNode(order, node.bound, decisions, node.duals)
                    )
        except TimeoutError:
            pass
        bound = max([self.value, unresolved, *(node.bound for node in open_nodes)])
        return BranchAndPriceResult(
            Fraction(bound, scaling.factor), self.assignment, count, self.relies_on_solver
        )

    def create_pricers(self, decisions: BranchingDecisions) -> list[Pricer]:
        """Return the pricing problem of each group of machines under the decisions of a node."""
        pricers = [
            Pricer(self.pool, n, decisions, self.budget, self.seed)
            for n in range(len(self.pool.groups))
        ]
        self.relies_on_solver |= any(pricer.knapsack is None for pricer in pricers)
        return pricers

    def enumerate_columns(self, node: BranchAndPriceNode, pricers: Sequence[Pricer]) -> None:
        """Close the node by enumeration of all columns that a better assignment may have.

        Where they are too many it is tried again with more nodes; after the most of them, when the
        gap is half as large.
        """
        if node.bound > self.value + self.enumeration_gap:
            return
        factor = self.pool.scaling.factor
        duals = [round(dual * factor) for dual in node.duals]
        enumeration = ColumnEnumeration(
            self.pool, node.decisions, pricers, duals, self.budget, self.seed
        )
        max_nodes = FIRST_ENUMERATION_NODES
        while self.value < node.bound <= self.value + self.enumeration_gap:
            result = enumeration.solve(self.value, max_nodes)
            if result is None:
                max_nodes *= ENUMERATION_NODES_FACTOR
                most = MAX_ENUMERATION_NODES if enumeration.begun else MAX_FIRST_ENUMERATION_NODES
                if max_nodes > most:
                    self.enumeration_gap = (node.bound - self.value) // 2
                    return
                continue
            if result == NOT_APPLICABLE:
                return
            if result.bound is not None:
                node.bound = min(node.bound, result.bound)
            if result.assignment is not None:
                self.assignment = result.assignment
                self.value = self.pool.value(result.assignment)

    def generate_columns(
        self, node: BranchAndPriceNode, pricers: Sequence[Pricer]
    ) -> RestrictedMaster:
        """Generate columns until the Lagrangian bound of the node is near the master's value."""
        master = RestrictedMaster(self.pool, node.decisions, self.budget.stop, self.seed)
        while True:
            master_duals, master_value = master.solve()
            for step in SMOOTHING_STEPS:
                duals = [
                    centre + step * (dual - centre)
                    for centre, dual in zip(node.duals, master_duals, strict=True)
                ]
                bound, new_columns = self._lagrangian_bound(duals, node.decisions, pricers, master)
                if bound < node.bound:
                    node.bound, node.duals = bound, duals
                if new_columns or node.bound <= self.value:
                    break
            tail = TAILING_OFF_SHARE * (master_value - self.value)
            if not new_columns or node.bound <= max(self.value, master_value + tail):
                return master

    def _lagrangian_bound(
        self,
        duals: Sequence[float],
        decisions: BranchingDecisions,
        pricers: Sequence[Pricer],
        master: RestrictedMaster,
    ) -> tuple[int, bool]:
        """Price all groups; return the bound, a multiple of the granularity, and if any is new."""
        pool = self.pool
        integers = [round(dual * pool.scaling.factor) for dual in duals]
        reduced_values, new_columns = [], False
        for n, pricer in enumerate(pricers):
            reduced_value, column = pricer.price(integers)
            reduced_values.append(reduced_value)
            if pool.add(n, column):
                master.add_column(n, frozenset(column))
                new_columns = True
        bound = pool.dual_bound(reduced_values, integers, decisions)
        return bound - bound % pool.granularity, new_columns

    def solve_restricted_master(self) -> None:
        """Solve the master program over the generated columns in integers, by CP-SAT.

        It is the program of `columns`: maximise the value subject to the rows of parts and groups.
        """
        scaled, pool, model = self.scaled, self.pool, cpsat.new_model()
        accept = [model.new_bool_var("") for _ in scaled.requests]
        covering: list[list[Any]] = [[] for _ in scaled.parts]
        selection: list[tuple[int, Assignment, Any]] = []
        terms = [v * x for v, x in zip(pool.request_values, accept, strict=True) if v]
        for n, group in enumerate(pool.groups):
            in_group = []
            for value, assignment in pool.columns[n].values():
                in_group.append(model.new_bool_var(""))
                selection.append((n, assignment, in_group[-1]))
                terms.append(value * in_group[-1])
                for i in assignment:
                    covering[i].append(in_group[-1])
            model.add(sum(in_group) <= len(group.machines))
        for i, part in enumerate(scaled.parts):
            model.add(sum(covering[i]) == accept[part.request])
        model.maximize(sum(terms))
        limits = replace(self.budget.left(RESTRICTED_MASTER_TIME_SHARE), work=None)
        effort = RESTRICTED_MASTER_EFFORT if limits.time_s is None else None
        outcome = cpsat.optimise(model, limits, seed=self.seed, effort=effort)
        if outcome.value_of is None:
            return
        unused = [list(group.machines) for group in pool.groups]
        candidate: dict[int, tuple[int, int]] = {}
        for n, assignment, selected in selection:
            if assignment and outcome.value_of(selected):
                machine = unused[n].pop()
                candidate |= {i: (machine, units) for i, (_, units) in assignment.items()}
        value = pool.value(candidate)
        if value > self.value:
            self.assignment, self.value = candidate, value

    def branch(
        self, decisions: BranchingDecisions, master: RestrictedMaster
    ) -> Iterator[BranchingDecisions]:
        """Branch on the request nearest to one half, else on such a pair of parts (Ryan-Foster)."""
        requests = {k: x for k, x in enumerate(master.acceptance()) if k not in decisions.requests}
        together: dict[tuple[int, int], float] = defaultdict(float)
        for column, weight in master.active_columns():
            for parts in combinations(sorted(column), 2):
                together[parts] += weight
        pairs = {pair: x for pair, x in together.items() if pair not in decisions.pairs}
        request = min(requests, key=lambda k: abs(requests[k] - 0.5), default=None)
        pair = min(pairs, key=lambda parts: abs(pairs[parts] - 0.5), default=None)
        almost = 0.5 - INTEGRALITY_TOLERANCE
        pairs_integer = pair is None or abs(pairs[pair] - 0.5) >= almost
        if request is not None and (pairs_integer or abs(requests[request] - 0.5) < almost):
            for accepted in (True, False):
                yield BranchingDecisions({**decisions.requests, request: accepted}, decisions.pairs)
        elif pair is not None:
            owners = {self.scaled.parts[i].request: True for i in pair}
            yield BranchingDecisions(
                {**decisions.requests, **owners}, {**decisions.pairs, pair: True}
            )
            yield BranchingDecisions(decisions.requests, {**decisions.pairs, pair: False})
