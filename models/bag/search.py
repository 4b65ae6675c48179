"""The search for the best plan: plans from one side, bounds from the other, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from dlopt.arithmetic import exact
from dlopt.backends import cpsat
from dlopt.backends.sizes import too_large
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.bag.cpsat import Program, terms_of
from dlopt.models.bag.flowtime_assignment import assign
from dlopt.models.bag.lns import Neighbourhood, rounded, split_jobs
from dlopt.models.bag.makespan_bound import Weighed, lightest
from dlopt.models.bag.milp import LinearModel
from dlopt.models.bag.on_time_bound import most_in_time
from dlopt.models.bag.scaled_instance import Case
from dlopt.models.bag.solutions import (
    Orders,
    ends_in_units,
    first_orders,
    in_best_order,
    kept,
    key_of,
)
from dlopt.result import Limits, Status

Formulation = Literal["cp-sat", "milp", "none"]

_SMALL = 200
"""Pairs of a job and a machine up to which the whole program needs no neighbourhoods before it."""
_ROUNDS = 40
"""Neighbourhoods where there is no time limit."""
_SHARE = 0.85
"""Share of the time for them, where the whole program comes after."""
_CARE = Fraction(1, 10**7)
"""By how much a bound may be off where numbers are floats or a solver's are: relative to the
flowtime, or to the makespan since the first possible start."""

_ROUNDED = 1e-8
"""Relative gap at which CP-SAT may stop where times are rounded."""


@dataclass
class Found:
    """A plan, and what is proven of its levels.

    Attributes
    ----------
    orders : tuple of tuple of int
    bounds : list of Fraction
        Of the levels that are proven, and of the first that is not; such that more is better.
    proven : int
        So many levels are proven.
    proofs : list of str
        Where the bounds come from.
    """

    orders: Orders
    bounds: list[Fraction] = field(default_factory=list)
    proven: int = 0
    proofs: list[str] = field(default_factory=list)
    left_out: str | None = None


class Search:
    """One search.

    Parameters
    ----------
    case : Case
    limits : Limits
    seed : int
    formulation : {"cp-sat", "milp", "none"}
        The program over all jobs.
    solver : str
        Of the integer program: any that PuLP knows by name.
    relaxed, neighbours : bool
        Whether to bound by the relaxations, and to improve plans in neighbourhoods.
    """

    def __init__(
        self,
        case: Case,
        limits: Limits,
        seed: int = 0,
        *,
        formulation: Formulation = "cp-sat",
        solver: str = "HiGHS",
        relaxed: bool = True,
        neighbours: bool = True,
    ) -> None:
        self.case, self.budget, self.seed = case, Budget(limits), seed
        self.formulation, self.solver = formulation, solver
        self.relaxed, self.neighbours = relaxed, neighbours
        self.weighed: Weighed | None = None
        self.found = Found(kept(case, first_orders(case)))

    def run(self, hint: Orders | None) -> Found:
        """Search until all levels are proven, or time is up."""
        self._take(hint)
        for level in self.case.levels:
            self._prove(level)
            if self.found.proven < len(self.found.bounds):
                break
        return self.found

    @property
    def value(self) -> Fraction:
        """The level that is searched for, of the best plan; such that more is better."""
        return key_of(self.case, self.found.orders)[self.found.proven]

    def _prove(self, level: str) -> None:
        """Prove a level, or bound it: by a relaxation, neighbourhoods, the whole program."""
        bounds = [trivial(self.case, level)]
        try:
            if self.relaxed and not self._meets(bounds):
                bounds.append(self._by_relaxation(level))
            if self.neighbours and not self._meets(bounds):
                self._by_neighbourhoods(bounds)
            if self.formulation != "none" and not self._meets(bounds):
                bounds.append(self._by_program(level, min(bounds)[0]))
        except TimeoutError:
            pass
        bound, proof = min(bounds, key=lambda one: one[0])
        value = self.value
        if value > bound + self._care * abs(bound):
            raise SolverError(f"a plan is worth {value}, but its bound is {bound}: {proof}")
        self.found.bounds.append(bound)
        self.found.proofs.append(proof)
        if self._met(bound):
            self.found.proven += 1

    @property
    def _care(self) -> Fraction:
        """By how much value and bound may differ, relatively: not at all in exact numbers."""
        return Fraction(0) if self.case.instance.exact else _CARE

    def _met(self, bound: Fraction) -> bool:
        return bound - self.value <= self._care * abs(bound)

    def _meets(self, bounds: Sequence[tuple[Fraction, str]]) -> bool:
        """Tell whether a level is proven as well as was asked for."""
        bound, gap = min(bounds)[0], exact(self.budget.limits.gap)
        return self._met(bound) or bound - self.value <= gap * abs(self.value)

    def _by_relaxation(self, level: str) -> tuple[Fraction, str]:
        case = self.case
        if case.kind == "makespan":
            self.weighed = lightest(case, self.seed, self._stop())
            self._take(self._rounded(self.weighed))
            return -case.time(self.weighed.bound), WEIGHTS
        if case.kind == "count":
            return most_in_time(case, level, seed=self.seed, stop=self._stop()), WINDOWS
        found = assign(case)
        if found is None:
            return trivial(case, level)
        self._take(found.orders)
        return of_ends(case, found.bound), ASSIGNMENT

    def _rounded(self, weighed: Weighed) -> Orders:
        """Return the plan of the relaxation: jobs that it splits are decided about together."""
        orders, split = rounded(self.case, weighed), split_jobs(self.case, weighed)
        if not weighed.shares or not split:
            return orders
        search = Neighbourhood(self.case, orders, self.budget, self.seed, None)
        search.settle(split)
        return search.orders

    def _stop(self) -> float:
        """Return when a relaxation has to end."""
        self.budget.left()
        return self.budget.stop

    def _by_neighbourhoods(self, bounds: Sequence[tuple[Fraction, str]]) -> None:
        timed = self.budget.limits.time_s is not None
        whole = self.formulation != "none"
        if whole and sum(map(len, self.case.places)) <= _SMALL:
            return
        budget = Budget(self.budget.left(_SHARE if whole else 1))
        search = Neighbourhood(self.case, self.found.orders, budget, self.seed, self.weighed)
        rounds = 0
        try:
            while not (self._meets(bounds) or search.exhausted) and (timed or rounds < _ROUNDS):
                rounds += 1
                if search.improve():
                    self._take(search.orders)
        except TimeoutError:
            pass

    def _by_program(self, level: str, known: Fraction) -> tuple[Fraction, str]:
        """Solve the whole program, of which a bound is known."""
        if self.formulation == "milp":
            return self._by_linear(level, known)
        case, useful = self.case, self._useful()
        reason = too_large("program for CP-SAT", terms_of(useful))
        if reason is not None:
            self.found.left_out = reason
            return trivial(case, level)
        program = Program(useful)
        if case.kind == "makespan":
            program.minimise_last_end(_units(case, -known))
        elif case.kind == "flowtime":
            program.minimise_ends()
        else:
            program.maximise_count(level, int(known) - case.offset(level))
            for one, value in self._pinned():
                program.require(one, int(value) - case.offset(one))
        program.hint(self.found.orders)
        limits = self.budget.left()
        if not case.whole:  # the last digits are rounded, and take a search for each of them
            limits = replace(limits, gap=max(limits.gap, _ROUNDED))
        outcome = program.solve(limits, self.seed)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT refutes a plan that was found")
        if outcome.bound is None:
            raise TimeoutError
        self._take(program.orders(outcome))
        return self._stated(level, Fraction(outcome.bound)), CP_SAT

    def _useful(self) -> Case:
        """Return the case without what the bound excludes from plans that are as good."""
        if self.weighed is None:
            return self.case
        case, weighed = self.case, self.weighed
        last = max(ends_in_units(case, self.found.orders))
        jobs = tuple(range(len(case.jobs)))
        return case.only(jobs, [weighed.useful(job, last) for job in jobs])

    def _by_linear(self, level: str, known: Fraction) -> tuple[Fraction, str]:
        case = self.case
        model = LinearModel(case)
        for one, value in self._pinned():
            model.require(one, int(value) - case.offset(one))
        outcome = model.optimise(level, self.budget.left(), self.solver, self.seed)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError(f"{outcome.solver} refutes a plan that was found")
        if outcome.assignment:
            self._take(in_best_order(case, model.sets(outcome)))
        if outcome.bound is None:
            raise TimeoutError
        bound = self._stated(level, model.bound(outcome.bound, -self.value * case.scale))
        return min(bound, known), f"the word of {outcome.solver}, in floats"

    def _stated(self, level: str, number: Fraction) -> Fraction:
        """Return what a program says of a level as the instance does, such that more is better."""
        case = self.case
        if case.kind == "makespan":
            return -case.time(number)
        if case.kind == "flowtime":
            return of_ends(case, number)
        return number + case.offset(level)

    def _pinned(self) -> list[tuple[str, Fraction]]:
        levels = self.case.levels[: self.found.proven]
        return list(zip(levels, key_of(self.case, self.found.orders), strict=False))

    def _take(self, orders: Orders | None) -> None:
        """Take a plan if it is better, first levels first."""
        if orders is not None:
            orders = kept(self.case, orders)
            if key_of(self.case, orders) > key_of(self.case, self.found.orders):
                self.found.orders = orders


WEIGHTS = "weights of the machines, in whole numbers"
WINDOWS = "tasks in part, in fractions"
ASSIGNMENT = "an assignment of places, in whole numbers"
IN_TIME, LONGEST, BY_ITSELF = "all that could be in time", "the longest task", "each task by itself"
CP_SAT = f"{cpsat.NAME}, in whole numbers"

PROVEN = frozenset({WEIGHTS, WINDOWS, ASSIGNMENT, IN_TIME, LONGEST, BY_ITSELF})
"""What is proven here, in whole numbers or fractions; the rest are claims of solvers."""


def trivial(case: Case, level: str) -> tuple[Fraction, str]:
    """Return what a level would be if every task could have a machine of its own, and why."""
    if case.kind == "count":
        return Fraction(case.offset(level) + sum(case.weights(level))), IN_TIME
    if case.kind == "makespan":
        return -case.time(case.longest), LONGEST
    ends = [
        min(here[k] + case.length(job, k) for k in case.places[job])
        for job, here in enumerate(case.arrivals)
    ]
    return of_ends(case, Fraction(sum(ends))), BY_ITSELF


def of_ends(case: Case, units: Fraction) -> Fraction:
    """Return a flowtime, negated, from a sum of ends in units of time."""
    return case.released - case.time(units)


def _units(case: Case, time: Fraction) -> int:
    """Return units of time that are certainly no more than a time."""
    return int(time * case.scale)
