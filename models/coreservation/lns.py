"""A large-neighbourhood search: a few requests at a time are decided again, the others stay."""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.cpsat import PackingModel
from dlopt.models.coreservation.objective import Held, Scale, key_of
from dlopt.models.coreservation.scaled_instance import Case

_COARSE = 1 << 40
"""Coefficients up to this are exact in a neighbourhood; finer ones are rounded up."""
_FREE, _NEAR, _EVERY = 6, 8, 4
"""Requests that are decided again; those near them that keep their machines, in every fourth
neighbourhood: with none of them one is solved much faster."""
_SECONDS, _EFFORT = 0.4, 0.4
"""Of a neighbourhood: seconds under a time limit, else deterministic time."""


class Neighbourhood:
    """Improves a plan, request by request, over the program of `PackingModel`.

    Parameters
    ----------
    case : Case
    held : Held
        A valid plan.
    budget : Budget
    seed : int

    Attributes
    ----------
    held : dict of int to (int, int)
        The best plan so far.
    """

    def __init__(self, case: Case, held: Held, budget: Budget, seed: int) -> None:
        self.case, self.budget = case, budget
        self.random = random.Random(seed)
        self.seed = seed
        self.held = dict(held)
        self.free = [list(one) for one in case.free]
        self._take(self.held, 1)
        self.starts = [wish.start for wish in case.wishes]
        self.rounds = 0
        self.longest = max((wish.end - wish.start for wish in case.wishes), default=0)

    def sweep(self, size: int = _FREE) -> None:
        """Decide all requests again, in order of their windows."""
        count = len(self.case.wishes)
        for first in range(0, count, size):
            self.budget.left()
            self.decide_again(range(first, min(first + size, count)))

    def wander(self, rounds: int, size: int = _FREE) -> bool:
        """Decide requests again that overlap one drawn at random; tell if any round helped."""
        helped = False
        for _ in range(rounds):
            self.budget.left()
            around = self._near(self.random.randrange(len(self.case.wishes)))
            some = self.random.sample(around, min(size, len(around)))
            helped = self.decide_again(some) or helped
        return helped

    def _near(self, centre: int) -> list[int]:
        """Return the requests that share an instant with one of them, itself first."""
        one = self.case.wishes[centre]
        first = bisect_right(self.starts, one.start - self.longest - 1)
        last = bisect_right(self.starts, one.end - 1)
        found = (k for k in range(first, last) if self.case.wishes[k].end > one.start)
        return [centre, *(k for k in found if k != centre)]

    def decide_again(self, wishes: Sequence[int]) -> bool:
        """Decide some requests again, some near them keep their machines; tell if it helped."""
        case = self.case
        self.rounds += 1
        keep = 0 if self.rounds % _EVERY else _NEAR
        chosen = set(wishes)
        around = {k for one in wishes for k in self._near(one)} - chosen
        near = sorted(k for k in around if case.wishes[k].jobs[0] in self.held)
        if len(near) > keep:
            near = sorted(self.random.sample(near, keep))
        moved = sorted(chosen) + near
        origin = [i for k in moved for i in case.wishes[k].jobs]
        before = {n: self.held[i] for n, i in enumerate(origin) if i in self.held}
        self._take({origin[n]: at for n, at in before.items()}, -1)
        fixed = {i: self.held[i][0] for k in near for i in case.wishes[k].jobs}
        part = case.within(moved, self.free, fixed)
        after = self._solve(part, before)
        better = key_of(part, after) > key_of(part, before)
        if "machines" in case.levels:
            rest = {i: at for i, at in self.held.items() if i not in set(origin)}
            key = key_of(case, rest | {origin[n]: at for n, at in after.items()})
            better = key > key_of(case, self.held)
        if better:
            for i in origin:
                self.held.pop(i, None)
            self.held |= {origin[n]: at for n, at in after.items()}
        self._take({i: self.held[i] for i in origin if i in self.held}, 1)
        return better

    def _solve(self, part: Case, before: Held) -> Held:
        """Return a plan of a few requests that is no worse, if it is found in time."""
        model = PackingModel(part, symmetric=True)
        model.add_pooled()
        model.model.maximize(_blend(model, part))
        model.hint(before)
        limits, effort = replace(self.budget.limits, work=None), _EFFORT
        if limits.time_s is not None:
            left = max(self.budget.stop - time.monotonic(), 0.01)
            limits = replace(limits, time_s=min(left, _SECONDS))
        outcome = model.solve(limits, self.seed, effort if limits.time_s is None else None)
        return before if outcome.value_of is None else model.held(outcome)

    def _take(self, held: Held, sign: int) -> None:
        """Take what is held from what is free, or give it back."""
        for i, (machine, units) in held.items():
            row, job = self.free[machine], self.case.jobs[i]
            for t in range(job.start, job.end):
                row[t] -= sign * units


def _blend(model: PackingModel, case: Case) -> Any:
    """Return all levels as one number, an earlier one above all later ones."""
    total: Any = 0
    weight = 1
    for level in reversed(case.levels):
        scale = Scale.of(case, level, _COARSE >> 10)
        total = total + weight * model.worth(scale)
        most = sum(scale.units(case.weight(level, k)) for k in range(len(case.wishes)))
        weight *= (len(case.free) if level == "machines" else most) + 1
    return total
