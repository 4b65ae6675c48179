"""Prices of parts: a linear program over patterns, and what the dearest pattern is.

Patterns are made as the linear program asks for them (Gilmore and Gomory 1961; Barnhart et al.,
Operations Research 46, 1998).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Knapsacks
from dlopt.models.coreservation.cpsat import PackingModel
from dlopt.result import Status

_SOME = 1e-6
_STEPS = 20_000
"""Parts to decide about for one pattern; what is left then bounds it."""


class Pricer:
    """Finds the dearest pattern of a group of machines.

    Parameters
    ----------
    patterns : Patterns
    n : int
        The group.
    branch : Branch
    budget : Budget
    seed : int

    Attributes
    ----------
    machine : Knapsacks or None
        By which it is found, if so few instants matter; else by CP-SAT.
    """

    def __init__(
        self, patterns: Patterns, n: int, branch: Branch, budget: Budget, seed: int
    ) -> None:
        self.group, self.budget, self.seed = patterns.groups[n], budget, seed
        self.machine: Knapsacks | None = None
        if Knapsacks.applies(patterns, n):
            self.machine = Knapsacks(patterns, n, branch)
        else:
            self._model(patterns, branch)

    def _model(self, patterns: Patterns, branch: Branch) -> None:
        self.model = PackingModel(self.group.alone, symmetric=True)
        self.model.add_pooled()
        place = {i: q for q, i in enumerate(self.group.jobs)}
        accepted, model = self.model.accepted, self.model.model
        for q, i in enumerate(self.group.jobs):
            if branch.wishes.get(patterns.case.jobs[i].wish) is False:
                model.add(accepted[q] == 0)
        for (a, b), one in branch.pairs.items():
            if one:
                first, second = (accepted[place[i]] if i in place else 0 for i in (a, b))
                model.add(first == second)
            elif a in place and b in place:
                model.add_at_most_one(accepted[place[a]], accepted[place[b]])
        self.base = self.model.worth(patterns.scale) if patterns.level == "benefit" else 0

    def dearest(self, prices: Sequence[int]) -> tuple[int, dict[int, tuple[int, int]]]:
        """Return what patterns are worth at the most, less what they pay, and the best one."""
        limits = replace(self.budget.left(), work=None, threads=1)
        if self.machine is not None:
            most, chosen = self.machine.dearest(prices, _STEPS, self.budget.stop)
            return most, self.machine.shares(chosen.jobs)
        jobs = self.group.jobs
        paid = sum(
            prices[i] * one for i, one in zip(jobs, self.model.accepted, strict=True) if prices[i]
        )
        self.model.model.clear_objective()
        self.model.model.maximize(self.base - paid)
        outcome = self.model.solve(limits, self.seed)
        if outcome.bound is None:
            raise TimeoutError
        return outcome.bound, {jobs[q]: at for q, at in self.model.held(outcome).items()}


class Master:
    """The linear program over patterns, by its dual: prices of parts, of machines, of requests."""

    def __init__(self, patterns: Patterns, branch: Branch, stop: float, seed: int) -> None:
        case, groups = patterns.case, patterns.groups
        self.all = patterns
        self.jobs, self.unit = len(case.jobs), patterns.scale.factor
        high = 2 * patterns.total
        first = self.jobs + len(groups)
        rows: list[tuple[tuple[int, Fraction], ...]] = []
        sides: list[tuple[Fraction | None, Fraction | None]] = []
        bounds: list[tuple[Fraction | None, Fraction | None]] = [(-high, high)] * self.jobs
        bounds += [(Fraction(0), high * self.jobs)] * len(groups)
        for k, wish in enumerate(case.wishes):
            decided = branch.wishes.get(k)
            lowest = -high * self.jobs if decided else Fraction(0)
            bounds.append((lowest, high * self.jobs))
            if decided is not False:
                rows.append(((first + k, Fraction(1)), *((i, Fraction(-1)) for i in wish.jobs)))
                sides.append((Fraction(patterns.worths[k], self.unit), None))
        self.decided = [branch.wishes.get(k) is not False for k in range(len(case.wishes))]
        self.columns: list[frozenset[int]] = []
        for n, pool in enumerate(patterns.known):
            for pattern in pool:
                if branch.allows(case, pattern):
                    terms, low, _ = self._row(n, pattern)
                    rows.append(terms)
                    sides.append((low, None))
                    self.columns.append(pattern)
        costs = [Fraction(0)] * self.jobs
        costs += [Fraction(len(group.machines)) for group in groups]
        costs += [Fraction(1)] * len(case.wishes)
        program = LinearProgram(len(costs), tuple(costs), tuple(rows), tuple(sides), tuple(bounds))
        self.costs = [float(cost) for cost in costs]
        self.solver = LinearSolver(program, seed, stop)
        self.weights: Sequence[float] = ()

    def solve(self) -> tuple[list[float], int]:
        """Return prices of parts, and what the best mixture of patterns is worth."""
        found = self.solver.solve()
        if found.status is not Status.OPTIMAL:
            raise TimeoutError
        self.weights = found.multipliers
        worth = sum(cost * x for cost, x in zip(self.costs, found.point, strict=True))
        return list(found.point[: self.jobs]), int(worth * self.unit)

    def add(self, n: int, pattern: frozenset[int]) -> None:
        """Add a pattern of a group."""
        self.solver.add(self._row(n, pattern))
        self.columns.append(pattern)

    def accepted(self) -> list[float]:
        """Return how much of each request is accepted."""
        weights = iter(self.weights)
        return [next(weights) if one else 0.0 for one in self.decided]

    def taken(self) -> Iterator[tuple[frozenset[int], float]]:
        """Yield how much is taken of which pattern."""
        weights = self.weights[sum(self.decided) :]
        return ((p, w) for p, w in zip(self.columns, weights, strict=False) if w > _SOME)

    def _row(self, n: int, pattern: frozenset[int]) -> tuple[Any, Fraction, None]:
        worth = Fraction(self.all.known[n][pattern][0], self.unit)
        terms = ((self.jobs + n, Fraction(1)), *((i, Fraction(1)) for i in sorted(pattern)))
        return terms, worth, None


def first_prices(patterns: Patterns, stop: float, seed: int) -> list[float]:
    """Return prices of parts by a linear program in which patterns are filled in part.

    CPU has a price at every instant. A part pays what it is worth, less what its CPU costs.
    """
    case, unit = patterns.case, Fraction(1)
    costs = [Fraction(0)] * len(case.jobs)
    high = 2 * patterns.total
    bounds: list[tuple[Fraction | None, Fraction | None]] = [(-high, high)] * len(case.jobs)
    rows: list[tuple[tuple[int, Fraction], ...]] = []
    sides: list[tuple[Fraction | None, Fraction | None]] = []
    for group in patterns.groups:
        paid: dict[int, list[int]] = defaultdict(list)
        for row in group.alone.crowds():
            for q in row.jobs:
                paid[q].append(len(costs))
            costs.append(Fraction(len(group.machines) * row.free[0]))
            bounds.append((Fraction(0), high))
        for q, i in enumerate(group.jobs):
            weight = case.weight("benefit", case.jobs[i].wish) * (patterns.level == "benefit")
            for piece in case.jobs[i].pieces:
                for share, worth in {(piece.low, piece.worth), (piece.high, piece.best)}:
                    rows.append(((i, unit), *((column, Fraction(share)) for column in paid[q])))
                    sides.append((weight * worth, None))
    for k, wish in enumerate(case.wishes):
        rows.append(((len(costs), unit), *((i, -unit) for i in wish.jobs)))
        sides.append((Fraction(patterns.worths[k], patterns.scale.factor), None))
        costs.append(unit)
        bounds.append((Fraction(0), high * len(case.jobs)))
    program = LinearProgram(len(costs), tuple(costs), tuple(rows), tuple(sides), tuple(bounds))
    found = LinearSolver(program, seed, stop).solve()
    if found.status is not Status.OPTIMAL:
        raise TimeoutError
    return list(found.point[: len(case.jobs)])
