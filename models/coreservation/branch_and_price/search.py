"""The best plan with machines kept apart: branch and price over what single machines can hold.

Given prices of parts, no plan is worth more than the dearest patterns, less what they pay, and what
requests are paid. The dearest pattern is found in whole numbers, so every bound is proven, whatever
the prices are. Where few patterns could be part of a better plan, the best one is chosen among
them. Branched on is who is accepted, then which two parts are on one machine (Ryan and
Foster 1981).
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
from dlopt.models.coreservation.branch_and_price.column_enumeration import NOTHING, Closing
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.master import Master, Pricer, first_prices
from dlopt.models.coreservation.objective import Held
from dlopt.models.coreservation.scaled_instance import Case

_WHOLE = 1e-6
_SHARES = (0.1, 0.5, 1.0)
"""How far prices go from the best ones to those of the linear program, which jump about."""
_ENOUGH = 0.1
"""A subproblem is branched on when so much of what branching must prove is left to its prices."""
_NEAR = Fraction(1, 50)
"""All patterns are looked at when no more than so much of all there is is left to prove."""
_STEPS, _MORE = (10_000, 40_000, 640_000), 4
"""Parts to decide about for all patterns of a group: at first, at the most, at the most where those
nearest to the dearest are found; how much more each time."""
_EFFORT = 2.0
"""Deterministic time to choose among patterns, where there is no time limit."""


@dataclass(frozen=True, slots=True)
class Priced:
    """What is proven with machines apart.

    Parameters
    ----------
    worth : Fraction
        No plan has more of the level, where more is better, and that of accepting nothing is 0.
    held : dict
        The best plan that was found, or the one that was known.
    subproblems : int
    claimed : bool
        Whether CP-SAT was trusted about patterns: where too many instants matter for knapsacks.
    """

    worth: Fraction
    held: dict[int, tuple[int, int]]
    subproblems: int
    claimed: bool = False


@dataclass(order=True, slots=True)
class _Node:
    """A subproblem: what it may be worth at the most, and the prices that prove it."""

    order: tuple[int, int]
    bound: int
    branch: Branch
    prices: Sequence[float]


class PatternSearch:
    """Branch and price.

    Parameters
    ----------
    case : Case
    level : str
        Any but ``machines``; its `Scale` must be exact.
    held : Held
        A valid plan.
    budget : Budget
        `work` counts subproblems.
    seed : int

    Attributes
    ----------
    patterns : Patterns
    held : dict
        The best plan that is known.
    value : int
        What it is worth.
    reach : int
        All patterns of a subproblem are looked at when no more is left to prove.
    """

    def __init__(self, case: Case, level: str, held: Held, budget: Budget, seed: int = 0) -> None:
        self.case, self.budget, self.seed = case, budget, seed
        self.patterns = Patterns(case, level)
        self.patterns.add_plan(held)
        self.held, self.value = dict(held), self.patterns.value(held)
        self.reach = self.patterns.scale.units(self.patterns.total * _NEAR)
        self.claimed = False

    def run(self) -> Priced:
        """Search until the best plan is proven, or time or work are up."""
        scale, most = self.patterns.scale, self.budget.limits.work
        everything = scale.units(self.patterns.total)
        left = [_Node((-everything, 0), everything, Branch({}, {}), ())]
        count = number = stuck = 0
        try:
            left[0].prices = first_prices(self.patterns, self.budget.stop, self.seed)
            while left and left[0].bound > self.value and (most is None or count < most):
                node = left[0]
                count += 1
                pricers = self._pricers(node.branch)
                master = self._price(node, pricers)
                if node.bound > self.value:
                    self._choose()
                if node.bound > self.value:
                    self._close(node, pricers)
                heappop(left)
                if node.bound <= self.value:
                    continue
                branches = list(self._branches(node.branch, master))
                if not branches:
                    stuck = max(stuck, node.bound)
                for branch in branches:
                    number -= 1  # of equal ones the latest first
                    order = -node.bound, number
                    heappush(left, _Node(order, node.bound, branch, node.prices))
        except TimeoutError:
            pass
        bound = max([self.value, stuck, *(node.bound for node in left)])
        return Priced(Fraction(bound, scale.factor), self.held, count, self.claimed)

    def _pricers(self, branch: Branch) -> list[Pricer]:
        pricers = [
            Pricer(self.patterns, n, branch, self.budget, self.seed)
            for n in range(len(self.patterns.groups))
        ]
        self.claimed |= any(pricer.machine is None for pricer in pricers)
        return pricers

    def _close(self, node: _Node, pricers: Sequence[Pricer]) -> None:
        """Look for the best plan among all patterns that could be part of a better one.

        Where they are too many it is tried again with more steps; after the most of them, when what
        is left to prove is half as much.
        """
        if node.bound > self.value + self.reach:
            return
        factor = self.patterns.scale.factor
        whole = [round(price * factor) for price in node.prices]
        closing = Closing(self.patterns, node.branch, pricers, whole, self.budget, self.seed)
        steps = _STEPS[0]
        while self.value < node.bound <= self.value + self.reach:
            found = closing.close(self.value, steps)
            if found is None:
                steps *= _MORE
                if steps > _STEPS[1 + closing.begun]:
                    self.reach = (node.bound - self.value) // 2
                    return
                continue
            if found == NOTHING:
                return
            if found.bound is not None:
                node.bound = min(node.bound, found.bound)
            if found.held is not None:
                self.held, self.value = found.held, self.patterns.value(found.held)

    def _price(self, node: _Node, pricers: Sequence[Pricer]) -> Master:
        """Make patterns until prices prove no more; the bound of the subproblem falls."""
        patterns, stop = self.patterns, self.budget.stop
        master = Master(patterns, node.branch, stop, self.seed)
        while True:
            point, worth = master.solve()
            for share in _SHARES:
                prices = [a + share * (b - a) for a, b in zip(node.prices, point, strict=True)]
                bound, fresh = self._bound(prices, node.branch, pricers, master)
                if bound < node.bound:
                    node.bound, node.prices = bound, prices
                if fresh or node.bound <= self.value:
                    break
            enough = _ENOUGH * (worth - self.value)
            if not fresh or node.bound <= max(self.value, worth + enough):
                return master

    def _bound(
        self, prices: Sequence[float], branch: Branch, pricers: Sequence[Pricer], master: Master
    ) -> tuple[int, bool]:
        """Return what prices prove, a multiple of the step, and whether there are new patterns."""
        patterns = self.patterns
        whole = [round(price * patterns.scale.factor) for price in prices]
        worths, fresh = [], False
        for n, pricer in enumerate(pricers):
            most, held = pricer.dearest(whole)
            worths.append(most)
            if patterns.add(n, held):
                master.add(n, frozenset(held))
                fresh = True
        bound = patterns.bound(worths, whole, branch)
        return bound - bound % patterns.step, fresh

    def _choose(self) -> None:
        """Look for the best plan among patterns that are known."""
        case, patterns, model = self.case, self.patterns, cpsat.new_model()
        accepted = [model.new_bool_var("") for _ in case.wishes]
        covered: list[list[Any]] = [[] for _ in case.jobs]
        taken: list[tuple[int, Held, Any]] = []
        terms = [w * x for w, x in zip(patterns.worths, accepted, strict=True) if w]
        for n, group in enumerate(patterns.groups):
            counts = []
            for worth, held in patterns.known[n].values():
                counts.append(model.new_bool_var(""))
                taken.append((n, held, counts[-1]))
                terms.append(worth * counts[-1])
                for i in held:
                    covered[i].append(counts[-1])
            model.add(sum(counts) <= len(group.machines))
        for i, job in enumerate(case.jobs):
            model.add(sum(covered[i]) == accepted[job.wish])
        model.maximize(sum(terms))
        limits = replace(self.budget.left(1 / 4), work=None)
        effort = _EFFORT if limits.time_s is None else None
        outcome = cpsat.optimise(model, limits, seed=self.seed, effort=effort)
        if outcome.value_of is None:
            return
        free = [list(group.machines) for group in patterns.groups]
        found: dict[int, tuple[int, int]] = {}
        for n, held, count in taken:
            if held and outcome.value_of(count):
                machine = free[n].pop()
                found |= {i: (machine, units) for i, (_, units) in held.items()}
        value = patterns.value(found)
        if value > self.value:
            self.held, self.value = found, value

    def _branches(self, branch: Branch, master: Master) -> Iterator[Branch]:
        """Decide what the linear program leaves open most: a request, or else a pair of parts."""
        wishes = {k: x for k, x in enumerate(master.accepted()) if k not in branch.wishes}
        together: dict[tuple[int, int], float] = defaultdict(float)
        for pattern, weight in master.taken():
            for one in combinations(sorted(pattern), 2):
                together[one] += weight
        pairs = {pair: x for pair, x in together.items() if pair not in branch.pairs}
        wish = min(wishes, key=lambda k: abs(wishes[k] - 0.5), default=None)
        pair = min(pairs, key=lambda one: abs(pairs[one] - 0.5), default=None)
        whole = pair is None or abs(pairs[pair] - 0.5) >= 0.5 - _WHOLE
        if wish is not None and (whole or abs(wishes[wish] - 0.5) < 0.5 - _WHOLE):
            yield Branch({**branch.wishes, wish: True}, branch.pairs)
            yield Branch({**branch.wishes, wish: False}, branch.pairs)
        elif pair is not None:
            owners = {self.case.jobs[i].wish: True for i in pair}
            yield Branch({**branch.wishes, **owners}, {**branch.pairs, pair: True})
            yield Branch(branch.wishes, {**branch.pairs, pair: False})
