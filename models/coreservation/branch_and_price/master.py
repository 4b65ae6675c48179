"""The restricted master program of column generation, and its pricing problem.

The linear relaxation of the master program in `columns` is solved by its dual. With ``pi_i`` the
dual of a part, ``mu_g`` that of the machines of a group and ``sigma_k`` that of ``x_k <= 1``::

    minimise    sum_g m_g mu_g + sum_k sigma_k
    subject to  mu_g + sum_{i in p} pi_i >= v_p        generated columns p of group g
                sigma_k - sum_{i in I_k} pi_i >= v_k   requests k that are not rejected
                mu, sigma >= 0                         sigma_k free if request k is accepted

A new column is a new row of the dual. The pricing problem of a group finds the column of the
largest reduced value ``v_p - sum_{i in p} pi_i`` (Gilmore and Gomory 1961; Barnhart et al.,
Operations Research 46, 1998).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import ProgramBuilder
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import MachineKnapsack
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.result import Status

ACTIVE_WEIGHT = 1e-6
"""Columns of a smaller value in the linear program are not active: HiGHS's feasibility tolerance
is 1e-7."""
MAX_PRICING_NODES = 20_000
"""Nodes of the enumeration tree for one pricing problem; then open nodes bound the reduced value.

Chosen by hand: fewer give weaker bounds, more delay the master program.
"""


class Pricer:
    """The pricing problem of a group of machines.

    Parameters
    ----------
    pool : ColumnPool
    n : int
        The group.
    decisions : BranchingDecisions
    budget : Budget
    seed : int

    Attributes
    ----------
    knapsack : MachineKnapsack or None
        Solves it if at most two cliques matter; otherwise CP-SAT does.
    """

    def __init__(
        self, pool: ColumnPool, n: int, decisions: BranchingDecisions, budget: Budget, seed: int
    ) -> None:
        self.group, self.budget, self.seed = pool.groups[n], budget, seed
        self.knapsack: MachineKnapsack | None = None
        if MachineKnapsack.applies(pool, n):
            self.knapsack = MachineKnapsack(pool, n, decisions)
        else:
            self._build_model(pool, decisions)

    def _build_model(self, pool: ColumnPool, decisions: BranchingDecisions) -> None:
        self.model = CpSatModel(self.group.single_machine, symmetric=True)
        self.model.add_aggregate_capacity()
        position = {i: q for q, i in enumerate(self.group.parts)}
        accept, model = self.model.accept, self.model.model
        for q, i in enumerate(self.group.parts):
            if decisions.requests.get(pool.scaled.parts[i].request) is False:
                model.add(accept[q] == 0)
        for (a, b), together in decisions.pairs.items():
            if together:
                first, second = (accept[position[i]] if i in position else 0 for i in (a, b))
                model.add(first == second)
            elif a in position and b in position:
                model.add_at_most_one(accept[position[a]], accept[position[b]])
        benefit = pool.level == "benefit"
        self.value = self.model.objective_expression(pool.scaling) if benefit else 0

    def price(self, duals: Sequence[int]) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return an upper bound on the reduced value of all columns, and the best column.

        Raises
        ------
        TimeoutError
            If the time is up.
        """
        limits = replace(self.budget.left(), work=None, threads=1)
        if self.knapsack is not None:
            bound, column = self.knapsack.price(duals, MAX_PRICING_NODES, self.budget.stop)
            return bound, self.knapsack.optimal_shares(column.parts)
        parts = self.group.parts
        dual_cost = sum(
            duals[i] * accept
            for i, accept in zip(parts, self.model.accept, strict=True)
            if duals[i]
        )
        self.model.model.clear_objective()
        self.model.model.maximize(self.value - dual_cost)
        outcome = self.model.solve(limits, self.seed)
        if outcome.bound is None:
            raise TimeoutError
        assignment = self.model.read_assignment(outcome)
        return outcome.bound, {parts[q]: at for q, at in assignment.items()}


class RestrictedMaster:
    """The dual of the linear program over the columns that were generated.

    Parameters
    ----------
    pool : ColumnPool
    decisions : BranchingDecisions
        Columns that they exclude are left out.
    stop : float
        Instant of the monotonic clock at which `solve` raises `TimeoutError`.
    seed : int
    """

    def __init__(
        self, pool: ColumnPool, decisions: BranchingDecisions, stop: float, seed: int
    ) -> None:
        scaled, groups = pool.scaled, pool.groups
        self.pool = pool
        self.num_parts, self.factor = len(scaled.parts), pool.scaling.factor
        high = 2 * pool.max_value
        builder, one = ProgramBuilder(), Fraction(1)
        for _ in scaled.parts:
            builder.add_column(-high, high)
        for group in groups:
            machines = Fraction(len(group.machines))
            builder.add_column(Fraction(0), high * self.num_parts, cost=machines)
        for k, request in enumerate(scaled.requests):
            decided = decisions.requests.get(k)
            lowest = -high * self.num_parts if decided else Fraction(0)
            column = builder.add_column(lowest, high * self.num_parts, cost=one)
            if decided is not False:
                value = Fraction(pool.request_values[k], self.factor)
                builder.add_row([(column, one), *((i, -one) for i in request.parts)], value, None)
        self.may_accept = [
            decisions.requests.get(k) is not False for k in range(len(scaled.requests))
        ]
        self.columns: list[frozenset[int]] = []
        for n, columns in enumerate(pool.columns):
            for parts in columns:
                if decisions.allows(scaled, parts):
                    builder.add_row(*self._column_row(n, parts))
                    self.columns.append(parts)
        self.costs = [float(cost) for cost in builder.costs]
        self.solver = LinearSolver(builder.build(), seed, stop)
        self.weights: Sequence[float] = ()

    def solve(self) -> tuple[list[float], int]:
        """Return the duals of parts, and the value of the restricted master program."""
        optimum = self.solver.solve()
        if optimum.status is not Status.OPTIMAL:
            raise TimeoutError
        self.weights = optimum.multipliers
        value = sum(cost * x for cost, x in zip(self.costs, optimum.point, strict=True))
        return list(optimum.point[: self.num_parts]), int(value * self.factor)

    def add_column(self, n: int, column: frozenset[int]) -> None:
        """Add a column of group `n`."""
        self.solver.add(self._column_row(n, column))
        self.columns.append(column)

    def acceptance(self) -> list[float]:
        """Return ``x_k`` of each request in the linear program."""
        weights = iter(self.weights)
        return [next(weights) if may_accept else 0.0 for may_accept in self.may_accept]

    def active_columns(self) -> Iterator[tuple[frozenset[int], float]]:
        """Yield the columns that the linear program uses, with ``lambda_p``."""
        weights = self.weights[sum(self.may_accept) :]
        return (
            (column, weight)
            for column, weight in zip(self.columns, weights, strict=False)
            if weight > ACTIVE_WEIGHT
        )

    def _column_row(self, n: int, column: frozenset[int]) -> tuple[Any, Fraction, None]:
        value = Fraction(self.pool.columns[n][column][0], self.factor)
        terms = ((self.num_parts + n, Fraction(1)), *((i, Fraction(1)) for i in sorted(column)))
        return terms, value, None


def initial_duals(pool: ColumnPool, stop: float, seed: int) -> list[float]:
    """Return duals of parts from the linear relaxation with all columns, fractional ones too.

    With ``rho`` the dual of a machine's capacity at the instant of a clique, ``u`` the shares::

        minimise    sum_g m_g sum_t free_gt rho_gt + sum_k sigma_k
        subject to  pi_i + u sum_{t in i} rho_gt >= f_i(u)    ends u of segments, parts i, groups g
                    sigma_k - sum_{i in I_k} pi_i >= v_k       requests k
                    rho, sigma >= 0

    So ``pi_i`` is the benefit of a part less the dual cost of its CPU.
    """
    scaled, one = pool.scaled, Fraction(1)
    high = 2 * pool.max_value
    builder = ProgramBuilder()
    for _ in scaled.parts:
        builder.add_column(-high, high)
    for group in pool.groups:
        capacity_duals: dict[int, list[int]] = defaultdict(list)
        for clique in group.single_machine.maximal_cliques():
            capacity = Fraction(len(group.machines) * clique.free[0])
            dual = builder.add_column(Fraction(0), high, cost=capacity)
            for q in clique.parts:
                capacity_duals[q].append(dual)
        for q, i in enumerate(group.parts):
            weight = scaled.weight("benefit", scaled.parts[i].request) * (pool.level == "benefit")
            for segment in scaled.parts[i].segments:
                ends = {(segment.low, segment.benefit), (segment.high, segment.max_benefit)}
                for share, benefit in ends:
                    cpu_terms = ((column, Fraction(share)) for column in capacity_duals[q])
                    builder.add_row([(i, one), *cpu_terms], weight * benefit, None)
    for k, request in enumerate(scaled.requests):
        surplus = builder.add_column(Fraction(0), high * len(scaled.parts), cost=one)
        value = Fraction(pool.request_values[k], pool.scaling.factor)
        builder.add_row([(surplus, one), *((i, -one) for i in request.parts)], value, None)
    optimum = LinearSolver(builder.build(), seed, stop).solve()
    if optimum.status is not Status.OPTIMAL:
        raise TimeoutError
    return list(optimum.point[: len(scaled.parts)])
