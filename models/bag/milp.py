"""Assignment MILP: the machine of each job, where one sequence is optimal on each machine.

With `x_jk` whether job `j` runs on machine `k`, `p_jk` processing times, `a_jk` arrivals and `d_j`
due dates::

    minimise    C    or maximise  sum_j w_j sum_k x_jk
    subject to  sum_k x_jk = 1                                      jobs without a due date
                sum_k x_jk <= 1                                     jobs with a due date
                sum_{j: a_jk >= a, d_j <= d} p_jk x_jk <= d - a     windows [a, d] of machine k
                a + sum_{j: a_jk >= a} p_jk x_jk <= C               arrivals a <= longest job
                a_jk x_jk + sum_{i: a_ik >= a_jk} p_ik x_ik <= C    later arrivals a_jk
                identical machines in the order of their first jobs     symmetry breaking
                x_jk in {0, 1},  C >= 0

Source: Jackson 1955 (earliest due date on a machine); Lenstra, Shmoys and Tardos 1990 (R||Cmax);
constraints over arrivals are ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import Outcome, Report, Term, linear, optimise
from dlopt.backends.size_limits import check_size
from dlopt.models.bag.scaled_instance import MAX_CLAUSE_LENGTH, ScaledInstance
from dlopt.result import Limits

MODEL_HORIZON = 1000
"""The horizon in units of time of the program. Chosen by hand: the tolerances of solvers are
absolute, about 1e-6."""
SOLVER_TOLERANCE = Fraction(1, 10**6)
"""Error of a dual bound, relative to the horizon, or absolute for a number of jobs."""
EQUAL_BOUND_TOLERANCE = Fraction(1, 10**7)
"""Relative difference up to which a bound equals the makespan of a schedule. Chosen by hand."""
MAX_HORIZON_RATIO = 10
"""Horizon, as a multiple of the makespan, up to which bounds are so compared. Chosen by hand."""


def estimate_terms(scaled: ScaledInstance) -> float:
    """Return about how many coefficients the program of an instance has.

    Complexity: O(jobs x machines).
    """
    terms = 3.0 * sum(map(len, scaled.eligible_machines))
    dues = len({due for due in scaled.due_dates if due is not None})
    for k in scaled.machines:
        jobs = len(scaled.eligible_jobs[k])
        starts = len({scaled.arrivals[job][k] for job in scaled.eligible_jobs[k]})
        terms += starts * dues * jobs / 4  # windows, half of whose jobs are inside on average
        if scaled.objective_kind == "makespan":
            terms += starts * jobs / 2
    return terms + scaled.symmetry_terms


class AssignmentMilp:
    """The program of the module.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the makespan, or with jobs that arrive on every machine together.

    Raises
    ------
    NotApplicableError
        If the program would be too large.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 4), (2, 2), (2, 3))), "makespan")
    >>> program = AssignmentMilp(scaled)
    >>> outcome = program.optimise("makespan", Limits(), "HiGHS", seed=0)
    >>> program.safe_bound(outcome.bound, makespan=Fraction(4))
    Fraction(4, 1)
    """

    def __init__(self, scaled: ScaledInstance) -> None:
        self.scaled = scaled
        check_size("integer program over machines", estimate_terms(scaled))
        self.problem = pulp.LpProblem("bag")
        self.unit = Fraction(max(scaled.horizon, 1), MODEL_HORIZON)
        self.assign = [
            {k: self.problem.add_variable(f"x{job}_{k}", cat=pulp.LpBinary) for k in machines}
            for job, machines in enumerate(scaled.eligible_machines)
        ]
        self.makespan = self.problem.add_variable("C", lowBound=0)
        self.add_assignment()
        self.add_machine_capacity()
        self.break_machine_symmetry()

    def add_assignment(self) -> None:
        """A job runs on one machine; if it has a due date, it may run on none."""
        for job, literals in enumerate(self.assign):
            terms: list[Term] = [(1, literal) for literal in literals.values()]
            self._add_at_most(terms, 1)
            if self.scaled.due_dates[job] is None:
                self._add_at_most([(-1, literal) for literal in literals.values()], -1)

    def add_machine_capacity(self) -> None:
        """The jobs due by an instant fit before it; those that arrive after one, after it."""
        scaled = self.scaled
        for k in scaled.machines:
            for start, end, jobs in scaled.overloadable_windows(k):
                self._add_at_most(self._load(jobs, k), (end - start) / self.unit)
            if scaled.objective_kind == "makespan":
                self._add_makespan(k)

    def _add_makespan(self, machine: int) -> None:
        """A machine ends by the makespan, first come, first served."""
        for start, _, jobs in self.scaled.arrival_tails(machine, self.scaled.longest_job):
            terms = [*self._load(jobs, machine), (-1, self.makespan)]
            self._add_at_most(terms, -start / self.unit)
        for job, (start, _, jobs) in self.scaled.late_arrival_tails(machine):
            arrival: Term = (start / self.unit, self.assign[job][machine])
            self._add_at_most([*self._load(jobs, machine), arrival, (-1, self.makespan)], 0)

    def _load(self, jobs: Sequence[int], machine: int) -> list[Term]:
        return [
            (self.scaled.processing_time(job, machine) / self.unit, self.assign[job][machine])
            for job in jobs
        ]

    def break_machine_symmetry(self) -> None:
        """Each of several identical machines has its first job after the machine before it has.

        Long constraints are cut by a variable that says whether any of their jobs runs there.
        """
        for group in self.scaled.identical_machines:
            for before, after in pairwise(group):
                earlier: list[Term] = []
                for job in self.scaled.eligible_jobs[before]:
                    self._add_at_most([(1, self.assign[job][after]), *earlier], 0)
                    earlier.append((-1, self.assign[job][before]))
                    if len(earlier) > MAX_CLAUSE_LENGTH:
                        any_of_them = self.problem.add_variable(f"e{job}_{before}", 0, 1)
                        self._add_at_most([(1, any_of_them), *earlier], 0)
                        earlier = [(-1, any_of_them)]

    def require_count(self, level: str, count: int) -> None:
        """Require a number of jobs on time of a level."""
        terms: list[Term] = [(-weight, literal) for weight, literal in self._count(level)]
        if terms:
            self._add_at_most(terms, -count)

    def _count(self, level: str) -> list[Term]:
        weights = self.scaled.weights(level)
        return [
            (1, literal)
            for weight, literals in zip(weights, self.assign, strict=True)
            if weight
            for literal in literals.values()
        ]

    def optimise(
        self, level: str, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> Outcome:
        """Minimise the makespan, or maximise a number of jobs on time."""
        if self.scaled.objective_kind == "makespan":
            self.problem.setObjective(linear([(1, self.makespan)]))
        else:
            self.problem.sense = pulp.LpMaximize
            self.problem.setObjective(linear(self._count(level)))
        return optimise(self.problem, limits, solver=solver, seed=seed, report=report)

    def safe_bound(self, dual_bound: Number, makespan: Fraction) -> Fraction:
        """Return the dual bound of a solver less its tolerance, in scaled units or jobs.

        Tolerances are relative to the horizon. The bound of a makespan that is a small part of the
        horizon is lowered by that much; one that is not small, and equals the makespan of a
        schedule but for rounding, is taken to be that makespan.

        Parameters
        ----------
        dual_bound : Number
        makespan : Fraction
            Of a schedule that is known.
        """
        if self.scaled.objective_kind != "makespan":
            return Fraction(floor(exact(dual_bound) + SOLVER_TOLERANCE))
        bound = exact(dual_bound) * self.unit
        is_large = makespan * MAX_HORIZON_RATIO >= self.scaled.horizon
        if is_large and abs(bound - makespan) <= EQUAL_BOUND_TOLERANCE * makespan:
            return makespan
        bound = max(bound - 2 * SOLVER_TOLERANCE * self.scaled.horizon, Fraction(0))
        return Fraction(ceil(bound)) if self.scaled.exactly_scaled else bound

    def assigned_jobs(self, outcome: Outcome) -> list[list[int]]:
        """Return the jobs of each machine."""
        assigned: list[list[int]] = [[] for _ in self.scaled.machines]
        for job, literals in enumerate(self.assign):
            for k, literal in literals.items():
                if outcome[literal] > 0.5:
                    assigned[k].append(job)
        return assigned

    def _add_at_most(self, terms: Sequence[Term], side: Number) -> None:
        self.problem += linear(terms) <= side
