"""Plans and bounds that meet: level by level, from a plan that is known."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any

from dlopt.backends import cpsat
from dlopt.backends.sizes import too_large
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.dag.cpsat import Level
from dlopt.models.dag.cpsat_alternatives import PlacedProgram
from dlopt.models.dag.cpsat_cumulative import PooledProgram
from dlopt.models.dag.forward_backward import shuffled
from dlopt.models.dag.lower_bounds import Floors, floors_of, windows_for
from dlopt.models.dag.scaled_instance import Case, horizon_of
from dlopt.models.dag.schedules import Plan, first_plan
from dlopt.models.dag.time_indexed_bound import sliced_bound
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Limits, Status

LEVELS: dict[str, tuple[Level, ...]] = {
    "makespan": ("makespan",),
    "late-graphs": ("late-graphs",),
    "response": ("response",),
    "late-then-response": ("late-graphs", "response"),
}
"""What is minimised, one after the other."""

CP_SAT = "CP-SAT"
"""What a bound is proven by that is the claim of the solver; all others are proven here."""

_LARGE = 400_000
"""Constraints of a program from which on it is not stated."""
_HARD = 35
"""Jobs up to which the program as a whole is soon solved."""
_PROVERS = (
    (0.4, ("objective_lb_search_no_lp", "default_lp")),
    (1.0, ("objective_lb_search", "default_lp")),
)
"""What two threads do on programs beyond that, and for which share of the time that is left: raise
the bound; plans mostly come from elsewhere. Without linear programs this is several times as fast
on some graphs, and nowhere near on others."""
_ALONE: tuple[tuple[float, tuple[str, ...]], ...] = ((1.0, ()),)
"""The solver's own choice, for all of the time."""
_SHARE_BEFORE, _SHARE_OF_SLICES, _SHARE = 0.1, 0.4, 0.4
"""Of the time, for better plans, a bound by linear programs, and better plans again, before the
program as a whole is asked."""
_LISTED, _FEWEST, _MOST_LISTS = 100_000, 50, 20_000
"""Jobs in all lists together, and lists: so many without a time limit, more within one."""
_SHARE_OF_LISTS = 0.1
"""Of the time, for more of them."""
_ROUNDS = 60
_FREE, _EFFORT = 12, 0.5
"""Jobs that are free at once, at first, and deterministic seconds for them."""

_SINGLE = "completions of single graphs"


class Search:
    """What is proven of an instance under an objective.

    Parameters
    ----------
    instance : Instance
    objective : str
    limits : Limits
        `work` counts conflicts of each program.
    seed : int

    Attributes
    ----------
    plan : Plan
        The best that is known.
    bounds : list of int
        No plan is better, level by level, in units of the case.
    proofs : list of str
        How these bounds were proven.
    floors : list of (int, str)
        Bounds before any search, and how they were proven; empty until they are computed.
    left_out : str or None
        Why the whole program was not stated.
    """

    def __init__(self, instance: Instance, objective: str, limits: Limits, seed: int) -> None:
        self.budget, self.seed = Budget(limits), seed
        self.draw = random.Random(seed)
        self.levels = LEVELS[objective]
        self.case = Case.of(instance)
        self.windows = windows_for(self.case)
        self.plan = first_plan(self.case, (self.windows.costs + self.windows.tails).min(axis=1))
        self.bounds: list[int] = []
        self.proofs: list[str] = []
        self.floors: list[tuple[int, str]] = []
        self.left_out: str | None = None

    def known(self) -> tuple[list[int], list[str]]:
        """Return bounds and proofs of all levels: of those not come to yet what bounds any plan."""
        rest = self.floors[len(self.bounds) :]
        return [*self.bounds, *(least for least, _ in rest)], [
            *self.proofs,
            *(by for _, by in rest),
        ]

    def run(self, hint: Solution | None) -> None:
        """Improve the plan and the bounds until they meet, or a limit is reached."""
        if hint is not None:
            self._adopt(Plan.of(self.case, hint))
        most = max(self.plan.completions(self.case))
        floors = floors_of(self.case, self.windows, most=most)
        self.floors = [
            (floors.of(self.case, level), floors.proof if level == "makespan" else _SINGLE)
            for level in self.levels
        ]
        most_late: int | None = None
        open_level = False
        for level, (least, proof) in zip(self.levels, self.floors, strict=True):
            if not open_level and worth_of(self.case, self.plan, level) > least:
                found, by = self._solve(level, least, floors, most_late)
                if found > least:
                    least, proof = found, by
            self.bounds.append(least)
            self.proofs.append(proof)
            if worth_of(self.case, self.plan, level) > least:
                open_level = True  # what is below it cannot be proven
            most_late = worth_of(self.case, self.plan, level)

    def _rank(self, plan: Plan) -> tuple[int, ...]:
        return tuple(worth_of(self.case, plan, level) for level in self.levels)

    def _solve(
        self, level: Level, least: int, floors: Floors, most_late: int | None
    ) -> tuple[int, str]:
        """Look for a better plan, at last by CP-SAT; return what is proven, and by what."""
        proof = ""
        try:
            if self._many and self._pooled and len(self.case.groups) == 1:
                self._shuffle(level, least)
            if self._hard and level == "makespan":
                self._improve(level, least, floors, most_late, _SHARE_BEFORE)
                least, proof = self._slice(least), "slices of time"
            if self._hard:
                self._improve(level, least, floors, most_late, _SHARE)
            hard = self._hard and self.budget.limits.threads > 1
            for share, searches in _PROVERS if hard else _ALONE:
                if worth_of(self.case, self.plan, level) > least:
                    self.left_out = too_large("program for CP-SAT", self._size(), _LARGE, "rows")
                    if self.left_out is not None:
                        break
                    latest = self._latest(level, floors)
                    found = self._ask(level, least, latest, most_late, share, searches)
                    least, proof = (found, CP_SAT) if found > least else (least, proof)
        except TimeoutError:
            pass
        return least, proof

    def _ask(
        self,
        level: Level,
        least: int,
        latest: list[int],
        most_late: int | None,
        share: float,
        searches: Sequence[str],
    ) -> int:
        """Ask CP-SAT about everything at once; return what it proves.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(share)
        program = self._program(latest, most_late)
        program.minimise(level, least)
        program.hint(self.plan)
        outcome = cpsat.optimise(program.model, limits, seed=self.seed, searches=searches)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT calls the plan infeasible that it was given")
        if outcome.value_of is None or outcome.bound is None:
            return least
        self._adopt(program.plan(outcome.value_of))
        return outcome.bound

    def _slice(self, least: int) -> int:
        """Return a bound of the makespan by slices of time.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(_SHARE_OF_SLICES)
        stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
        most = worth_of(self.case, self.plan, "makespan")
        return sliced_bound(self.case, self.windows, least, most, stop, self.seed)

    def _shuffle(self, level: Level, least: int) -> None:
        """Look for better plans by lists in many orders.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        now, limits = time.monotonic(), self.budget.left()
        span = inf if limits.time_s is None else limits.time_s
        few = max(_FEWEST, _LISTED // len(self.case.jobs))
        many = few if limits.time_s is None else _MOST_LISTS
        plans = shuffled(self.case, self.windows, self.plan, random.Random(self.seed))
        for count, plan in enumerate(islice(plans, many)):
            self._adopt(plan)
            share = _SHARE if count < few else _SHARE_OF_LISTS
            late = time.monotonic() > now + share * span
            if worth_of(self.case, self.plan, level) <= least or late:
                break

    def _improve(
        self, level: Level, least: int, floors: Floors, most_late: int | None, share: float
    ) -> None:
        """Look for better plans near the one known: some jobs that run at a time are free.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(share)
        stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
        free = _FREE
        rounds = round(_ROUNDS * share / _SHARE) * (1 if limits.time_s is None else 10)
        for _ in range(min(rounds, limits.work or rounds)):
            if worth_of(self.case, self.plan, level) <= least or time.monotonic() > stop:
                break
            outcome = self._near(level, least, floors, most_late, free)
            free += {Status.OPTIMAL: 0, Status.INFEASIBLE: 1}.get(outcome.status, -1)
            free = max(free, _FREE)

    def _near(
        self,
        level: Level,
        least: int,
        floors: Floors,
        most_late: int | None,
        free: int,
    ) -> cpsat.Outcome:
        """Solve for the jobs that run next to a random one; the others stay as they are."""
        plan, worth = self.plan, worth_of(self.case, self.plan, level)
        latest = self._latest(level, floors, 1)
        jobs = range(len(plan.starts))
        centre = plan.starts[self.draw.choice(jobs)]
        near = set(sorted(jobs, key=lambda job: (abs(plan.starts[job] - centre), job))[:free])
        ends = [latest[graph] for graph, _ in self.case.jobs]
        kept = {
            job: place
            for job, place in enumerate(plan.places)
            if job not in near and self.windows.ways[job, place] <= ends[job]
        }
        program = PlacedProgram(self.case, self.windows, latest, most_late, kept)
        program.keep_order(plan)
        program.minimise(level, least)
        program.beat(worth)
        program.hint(plan)
        limits = replace(self.budget.left(), work=None, gap=0)
        outcome = cpsat.optimise(program.model, limits, seed=self.seed, effort=_EFFORT)
        if outcome.value_of is not None:
            self._adopt(program.plan(outcome.value_of))
        return outcome

    def _adopt(self, plan: Plan) -> None:
        if self._rank(plan) < self._rank(self.plan):
            self.plan = plan

    @property
    def _hard(self) -> bool:
        """Whether CP-SAT alone is not expected to solve it."""
        return self._many and not self._pooled

    @property
    def _many(self) -> bool:
        return len(self.case.jobs) > _HARD

    @property
    def _pooled(self) -> bool:
        return self.case.silent and self.case.lans is None

    def _program(self, latest: Sequence[int], most_late: int | None) -> Any:
        kind = PooledProgram if self._pooled else PlacedProgram
        return kind(self.case, self.windows, list(latest), most_late)

    def _latest(self, level: Level, floors: Floors, better: int = 0) -> list[int]:
        """Return by when graphs are complete in plans that are no worse than the one known.

        Or, with `better`, that are better by as much.
        """
        if level == "makespan":
            return [worth_of(self.case, self.plan, level) - better] * len(floors.graphs)
        if level == "response":
            spare = worth_of(self.case, self.plan, level) - better - sum(floors.graphs)
            return [least + spare for least in floors.graphs]
        return [horizon_of(self.case)] * len(floors.graphs)

    def _size(self) -> int:
        case = self.case
        if self._pooled:
            return len(case.jobs) * len(case.groups) + len(case.arcs)
        ways = 1 if len({*sum(case.kinds, ())}) <= 2 else case.machines
        return case.machines * (len(case.jobs) + len(case.arcs) * ways)


def worth_of(case: Case, plan: Plan, level: Level) -> int:
    """Return what a plan is worth, in units of the case; responses from instant 0."""
    done = plan.completions(case)
    if level == "makespan":
        return max(done)
    if level == "response":
        return sum(done)
    pairs = zip(done, case.due, strict=True)
    return sum(due is not None and end > due for end, due in pairs)
