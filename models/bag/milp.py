"""The integer program: which machine runs each job, where one order is best on each machine."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.backends.sizes import check_size
from dlopt.models.bag.scaled_instance import MOST_LISTED, Case
from dlopt.result import Limits

_SIZE = 1000
"""What the horizon is to the solver."""
_CARE, _MET = Fraction(1, 10**6), Fraction(1, 10**7)
_PARTS = 10


def terms_of(case: Case) -> float:
    """Return about how many coefficients the program of a case has, in O(jobs x machines)."""
    terms = 3.0 * sum(map(len, case.places))
    dues = len({due for due in case.dues if due is not None})
    for k in case.machines:
        jobs = len(case.able[k])
        starts = len({case.arrivals[job][k] for job in case.able[k]})
        terms += starts * dues * jobs / 4  # windows, half of whose jobs are inside on average
        if case.kind == "makespan":
            terms += starts * jobs / 2
    together = MOST_LISTED / 2
    return terms + sum(together * len(group) * len(case.able[group[0]]) for group in case.alike)


class LinearModel:
    """Choose machines for jobs.

    Parameters
    ----------
    case : Case
        Of the makespan, or with jobs that arrive on every machine together.

    Raises
    ------
    NotApplicableError
        If it is too large to state.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        check_size("integer program over machines", terms_of(case))
        self.problem = pulp.LpProblem("bag")
        self.unit = Fraction(max(case.horizon, 1), _SIZE)
        self.on = [
            {k: self.problem.add_variable(f"x{job}_{k}", cat=pulp.LpBinary) for k in places}
            for job, places in enumerate(case.places)
        ]
        self.last = self.problem.add_variable("C", lowBound=0)
        self.add_jobs()
        self.add_machines()
        self.order_machines()

    def add_jobs(self) -> None:
        """A job runs on one machine; if it has a deadline, it may run on none."""
        for job, on in enumerate(self.on):
            terms: list[Term] = [(1, placed) for placed in on.values()]
            self._at_most(terms, 1)
            if self.case.dues[job] is None:
                self._at_most([(-1, placed) for placed in on.values()], -1)

    def add_machines(self) -> None:
        """The jobs due by an instant fit before it; those that arrive after one, after it."""
        case = self.case
        for k in case.machines:
            for start, end, jobs in case.windows(k):
                self._at_most(self._load(jobs, k), (end - start) / self.unit)
            if case.kind == "makespan":
                self._add_last_end(k)

    def _add_last_end(self, machine: int) -> None:
        """All machines end by the makespan, first come, first served."""
        for start, _, jobs in self.case.tails(machine, self.case.longest):
            self._at_most([*self._load(jobs, machine), (-1, self.last)], -start / self.unit)
        for job, (start, _, jobs) in self.case.late_tails(machine):
            late: Term = (start / self.unit, self.on[job][machine])
            self._at_most([*self._load(jobs, machine), late, (-1, self.last)], 0)

    def _load(self, jobs: Sequence[int], machine: int) -> list[Term]:
        return [(self.case.length(job, machine) / self.unit, self.on[job][machine]) for job in jobs]

    def order_machines(self) -> None:
        """Of machines that are alike each has an earlier job than the next one."""
        for group in self.case.alike:
            for before, after in pairwise(group):
                earlier: list[Term] = []
                for job in self.case.able[before]:
                    self._at_most([(1, self.on[job][after]), *earlier], 0)
                    earlier.append((-1, self.on[job][before]))
                    if len(earlier) > MOST_LISTED:
                        any_of_them = self.problem.add_variable(f"e{job}_{before}", 0, 1)
                        self._at_most([(1, any_of_them), *earlier], 0)
                        earlier = [(-1, any_of_them)]

    def require(self, level: str, count: int) -> None:
        """Ask for plans that are as good on a level of numbers of jobs."""
        terms: list[Term] = [(-weight, one) for weight, one in self._count(level)]
        if terms:
            self._at_most(terms, -count)

    def _count(self, level: str) -> list[Term]:
        weights = self.case.weights(level)
        return [
            (1, placed)
            for weight, on in zip(weights, self.on, strict=True)
            if weight
            for placed in on.values()
        ]

    def optimise(self, level: str, limits: Limits, solver: str, seed: int) -> Outcome:
        """Make the makespan small, or a number of jobs large."""
        if self.case.kind == "makespan":
            self.problem.setObjective(linear([(1, self.last)]))
        else:
            self.problem.sense = pulp.LpMaximize
            self.problem.setObjective(linear(self._count(level)))
        return optimise(self.problem, limits, solver=solver, seed=seed)

    def bound(self, said: Number, known: Fraction) -> Fraction:
        """Return the bound of a solver, in units of time or as a number of jobs.

        Its tolerances are parts of the horizon. A makespan that is a small part of it is bounded
        with that care; one that is not, and is met but for rounding, is taken at the solver's word.

        Parameters
        ----------
        said : Number
        known : Fraction
            The makespan of a plan.
        """
        if self.case.kind != "makespan":
            return Fraction(floor(exact(said) + _CARE))
        least = exact(said) * self.unit
        if known * _PARTS >= self.case.horizon and abs(least - known) <= _MET * known:
            return known
        least = max(least - 2 * _CARE * self.case.horizon, Fraction(0))
        return Fraction(ceil(least)) if self.case.whole else least

    def sets(self, outcome: Outcome) -> list[list[int]]:
        """Return the jobs of each machine."""
        sets: list[list[int]] = [[] for _ in self.case.machines]
        for job, on in enumerate(self.on):
            for k, placed in on.items():
                if outcome[placed] > 0.5:
                    sets[k].append(job)
        return sets

    def _at_most(self, terms: Sequence[Term], side: Number) -> None:
        self.problem += linear(terms) <= side
