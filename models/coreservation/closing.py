"""The best plan of a subproblem, from all patterns that could be part of a better one.

**Lemma.** Let prices of parts prove the bound ``b``, the sum over machines of what the dearest
pattern is worth less what it pays, and over requests of what accepting them pays, if that is
positive. A plan that is worth ``v`` has on every machine a pattern that is worth, less what it
pays, at most ``b - v`` less than the dearest there. *Proof.* The plan is worth what its patterns
are worth less what they pay, and what its requests pay; no term exceeds its share of ``b``, so none
lies below it by more than all do together. (Baldacci, Christofides, Mingozzi, Math. Program. 115,
2008, do so for routes.)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.budget import Budget
from dlopt.backends.highs import LinearSolver
from dlopt.backends.linear_program import LinearProgram
from dlopt.models.coreservation.alone import Chosen
from dlopt.models.coreservation.patterns import Branch, Patterns
from dlopt.models.coreservation.plans import fits
from dlopt.models.coreservation.pricing import Pricer
from dlopt.result import Status

_SHARE = 1 / 2
"""Of the time that is left, to choose among patterns."""
_EFFORT = 20.0
"""Deterministic time to choose among them, where there is no time limit."""
_GUESS, _NODES, _WIDE = 1 / 6, 20, 5000
"""Of the time that is left, for HiGHS to find a plan among them; its nodes, and the most patterns
for it, where there is no time limit."""
_PARTS = (16, 8, 4, 2, 1)
"""Where there are too many patterns, a plan is looked for among those so many times as near to the
dearest."""


@dataclass(frozen=True, slots=True)
class Closed:
    """What is known of a subproblem.

    Parameters
    ----------
    bound : int or None
        No plan of it is worth more, or than what was known; None if that was not proven.
    held : dict or None
        A plan that is worth more than what was known, if one was found.
    """

    bound: int | None
    held: dict[int, tuple[int, int]] | None


class Closing:
    """Plans of a subproblem, from patterns that could be part of a better one.

    Parameters
    ----------
    patterns : Patterns
    branch : Branch
    pricers : sequence of Pricer
        One a group.
    budget : Budget
    seed : int
    """

    def __init__(
        self,
        patterns: Patterns,
        branch: Branch,
        pricers: Sequence[Pricer],
        budget: Budget,
        seed: int,
    ) -> None:
        self.patterns, self.branch, self.pricers = patterns, branch, pricers
        self.budget, self.seed = budget, seed
        self.machines = [one.machine for one in pricers if one.machine is not None]

    def close(self, prices: Sequence[int], known: int, steps: int) -> Closed | None:
        """Find the best plan, or a better one, or that none is worth more.

        Parameters
        ----------
        prices : sequence of int
            Of all parts.
        known : int
            What a plan is worth.
        steps : int
            Parts to decide about for all patterns of a group, at the most.

        Returns
        -------
        Closed or None
            None if there are too many patterns, or a machine that is not looked at so, and no
            better plan was found. With a better plan that HiGHS found nothing is proven: what is
            left to prove is less.
        """
        if len(self.machines) < len(self.pricers):
            return None
        most = [pricer.dearest(prices)[0] for pricer in self.pricers]
        slack = self.patterns.bound(most, prices, self.branch) - known - self.patterns.step
        near = None
        for part in _PARTS:
            found = self._within(most, prices, slack // part, steps)
            if found is None:
                break
            near = found
        held = None if near is None else self._guessed(near, known)
        if held is not None:
            return Closed(None, held)
        return None if found is None else self._chosen(found, known)

    def _within(
        self, most: Sequence[int], prices: Sequence[int], slack: int, steps: int
    ) -> list[list[Chosen]] | None:
        """Return all patterns of each group that are so near to its dearest; None if too many."""
        found: list[list[Chosen]] = []
        for machine, worth in zip(self.machines, most, strict=True):
            some = machine.within(prices, worth - slack, steps, self.budget.stop)
            if some is None:
                return None
            found.append(some)
        return found

    def _guessed(
        self, found: Sequence[Sequence[Chosen]], known: int
    ) -> dict[int, tuple[int, int]] | None:
        """Return a plan of patterns that is worth more than what is known, if HiGHS finds one."""
        limits, stop = replace(self.budget.left(_GUESS), work=None), inf
        if limits.time_s is not None:
            stop = time.monotonic() + limits.time_s
        elif sum(map(len, found)) <= _WIDE:
            limits = replace(limits, work=_NODES)
        else:
            return None
        program = self._program(found)
        solver = LinearSolver(program, self.seed, stop)
        _, point = solver.solve_integral(range(program.columns), limits, any_point=True)
        if not point:
            return None
        taken, first = [], len(self.patterns.case.wishes)
        for own in found:
            taken.append([round(point[first + n]) for n in range(len(own))])
            first += len(own)
        held = self._held(found, taken)
        good = fits(self.patterns.case, held) and self.patterns.value(held) > known
        return held if good else None

    def _program(self, found: Sequence[Sequence[Chosen]]) -> LinearProgram:
        """Return the program that accepts requests, then takes patterns, group by group."""
        patterns, one = self.patterns, Fraction(1)
        case, unit = patterns.case, patterns.scale.factor
        costs = [Fraction(-worth, unit) for worth in patterns.worths]
        bounds = [(Fraction(0), one)] * len(costs)
        for k, decided in self.branch.wishes.items():
            bounds[k] = (Fraction(decided),) * 2
        parts: list[list[tuple[int, Fraction]]] = [[(job.wish, -one)] for job in case.jobs]
        rows: list[tuple[tuple[int, Fraction], ...]] = []
        sides: list[tuple[Fraction | None, Fraction | None]] = []
        for group, own in zip(patterns.groups, found, strict=True):
            first = len(costs)
            for pattern in own:
                for i in pattern.jobs:
                    parts[i].append((len(costs), one))
                costs.append(Fraction(-pattern.worth, unit))
                bounds.append((Fraction(0), one))
            rows.append(tuple((column, one) for column in range(first, len(costs))))
            sides.append((None, Fraction(len(group.machines))))
        rows += map(tuple, parts)
        sides += [(Fraction(0), Fraction(0))] * len(parts)
        return LinearProgram(len(costs), tuple(costs), tuple(rows), tuple(sides), tuple(bounds))

    def _held(
        self, found: Sequence[Sequence[Chosen]], taken: Sequence[Sequence[int]]
    ) -> dict[int, tuple[int, int]]:
        """Return the plan of the patterns that are taken."""
        held: dict[int, tuple[int, int]] = {}
        groups = zip(self.machines, self.patterns.groups, found, taken, strict=True)
        for machine, group, own, some in groups:
            free = list(group.machines)
            for one, count in zip(own, some, strict=True):
                if one.jobs and count:
                    host, shares = free.pop(), machine.shares(one.jobs)
                    held |= {i: (host, units) for i, (_, units) in shares.items()}
        return held

    def _chosen(self, found: Sequence[Sequence[Chosen]], known: int) -> Closed | None:
        """Choose a pattern a machine such that each part of an accepted request is in one."""
        patterns, model = self.patterns, cpsat.new_model()
        case, step = patterns.case, patterns.step
        accepted = [model.new_bool_var("") for _ in case.wishes]
        for k, decided in self.branch.wishes.items():
            model.add(accepted[k] == decided)
        covered: list[list[Any]] = [[] for _ in case.jobs]
        worth: Any = sum(w // step * x for w, x in zip(patterns.worths, accepted, strict=True) if w)
        counts: list[list[Any]] = []
        for group, own in zip(patterns.groups, found, strict=True):
            counts.append([model.new_bool_var("") for _ in own])
            for one, count in zip(own, counts[-1], strict=True):
                for i in one.jobs:
                    covered[i].append(count)
            model.add(sum(counts[-1]) <= len(group.machines))
            worth += sum(one.worth // step * x for one, x in zip(own, counts[-1], strict=True))
        for i, job in enumerate(case.jobs):
            model.add(sum(covered[i]) == accepted[job.wish])
        model.add(worth >= known // step + 1)
        model.maximize(worth)
        limits = replace(self.budget.left(_SHARE), work=None)
        effort = _EFFORT if limits.time_s is None else None
        outcome = cpsat.optimise(model, limits, seed=self.seed, effort=effort)
        if outcome.status is Status.INFEASIBLE:
            return Closed(known, None)
        if outcome.value_of is None or outcome.bound is None:
            return None
        taken = [[outcome.value_of(count) for count in own] for own in counts]
        return Closed(outcome.bound * step, self._held(found, taken))
