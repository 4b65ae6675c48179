"""The portfolio of the exact methods: schedules and bounds are improved, level by level.

Each level is bounded by a relaxation first; then the schedule is improved by large neighbourhood
search, and at last the whole program is solved by CP-SAT, or by a MILP solver.
"""

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
from dlopt.models.bag.cpsat import CpSatModel, estimate_terms
from dlopt.models.bag.flowtime_assignment import solve_assignment
from dlopt.models.bag.lns import NeighbourhoodSearch, fractional_jobs, round_relaxation
from dlopt.models.bag.makespan_bound import MakespanDualBound, bound_makespan
from dlopt.models.bag.milp import AssignmentMilp
from dlopt.models.bag.on_time_bound import bound_count_on_time
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import (
    Sequences,
    dispatch,
    list_schedule,
    machine_ends,
    objective_key,
    without_late_jobs,
)
from dlopt.result import Limits, Status

Formulation = Literal["cp-sat", "milp", "none"]

MAX_PAIRS_WITHOUT_NEIGHBOURHOODS = 200
"""Pairs of a job and a machine up to which the whole program is solved without neighbourhoods
before it. Chosen by hand: CP-SAT solves most of these sizes in less time."""
NEIGHBOURHOOD_ROUNDS = 40
"""Neighbourhoods without a time limit. Chosen by hand."""
NEIGHBOURHOODS_SHARE = 0.85
"""Share of the time for neighbourhoods before the whole program. Chosen by hand: sizes that need
them are rarely closed by the whole program."""
CLOSED_GAP = Fraction(1, 10**7)
"""Relative gap at which a level is closed where numbers are floats: of the flowtime, or of the
makespan since the first possible start."""
ROUNDED_GAP = 1e-8
"""Relative gap at which CP-SAT may stop where times are rounded: to prove the last, rounded digits
takes a search for each."""

LP_MACHINE_DUALS = "LP relaxation of R||Cmax, certified in integers"
LP_WINDOWS = "LP relaxation with time windows, certified in fractions"
ASSIGNMENT = "assignment problem of positions, certified in integers"
ALL_ON_TIME = "trivial bound (all tasks on time)"
LONGEST_TASK = "longest task"
EACH_TASK_ALONE = "each task alone on a machine"
CP_SAT = f"{cpsat.NAME} bound (integer times)"

CERTIFIED = frozenset(
    {LP_MACHINE_DUALS, LP_WINDOWS, ASSIGNMENT, ALL_ON_TIME, LONGEST_TASK, EACH_TASK_ALONE}
)
"""Bounds that this package certifies in integers or fractions; the rest are claims of solvers."""

Bound = tuple[Fraction, str]
"""An upper bound of a level that is maximised, and how it is proven."""


@dataclass
class SearchResult:
    """A schedule, and the bounds of its levels.

    Attributes
    ----------
    sequences : tuple of tuple of int
    bounds : list of Fraction
        Of the levels that are closed, and of the first that is not; all levels are maximised.
    closed_levels : int
        The number of levels that are solved to optimality.
    proofs : list of str
        How the bounds are proven.
    skipped_reason : str or None
        Why the whole program was not built.
    """

    sequences: Sequences
    bounds: list[Fraction] = field(default_factory=list)
    closed_levels: int = 0
    proofs: list[str] = field(default_factory=list)
    skipped_reason: str | None = None


class ExactSearch:
    """Search for an optimal schedule of an instance, with bounds.

    Parameters
    ----------
    scaled : ScaledInstance
    limits : Limits
    seed : int
    formulation : {"cp-sat", "milp", "none"}
        The program over all jobs.
    solver : str
        Of the integer program: any that PuLP knows by name.
    use_relaxations, use_neighbourhoods : bool
        Whether to bound by relaxations, and to improve schedules in neighbourhoods.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> scaled = ScaledInstance.from_instance(Instance(etc=((3, 4), (2, 2), (2, 3))), "makespan")
    >>> result = ExactSearch(scaled, Limits()).run(hint=None)
    >>> result.closed_levels, result.bounds
    (1, [Fraction(-4, 1)])
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        limits: Limits,
        seed: int = 0,
        *,
        formulation: Formulation = "cp-sat",
        solver: str = "HiGHS",
        use_relaxations: bool = True,
        use_neighbourhoods: bool = True,
    ) -> None:
        self.scaled, self.budget, self.seed = scaled, Budget(limits), seed
        self.formulation, self.solver = formulation, solver
        self.use_relaxations, self.use_neighbourhoods = use_relaxations, use_neighbourhoods
        self.dual_bound: MakespanDualBound | None = None
        self.result = SearchResult(without_late_jobs(scaled, list_schedule(scaled)))

    def run(self, hint: Sequences | None) -> SearchResult:
        """Search until all levels are closed, or time is up."""
        self._update_incumbent(hint)
        for level in self.scaled.levels:
            self._solve_level(level)
            if self.result.closed_levels < len(self.result.bounds):
                break
        return self.result

    @property
    def value(self) -> Fraction:
        """The value of the incumbent on the level that is searched; it is maximised."""
        return objective_key(self.scaled, self.result.sequences)[self.result.closed_levels]

    def _solve_level(self, level: str) -> None:
        """Solve a level: by a relaxation, neighbourhoods, the whole program."""
        bounds = [trivial_bound(self.scaled, level)]
        try:
            if self.use_relaxations and not self._is_within_gap(bounds):
                bounds.append(self._solve_relaxation(level))
            if self.use_neighbourhoods and not self._is_within_gap(bounds):
                self._search_neighbourhoods(bounds)
            if self.formulation != "none" and not self._is_within_gap(bounds):
                bounds.append(self._solve_whole_program(level, min(bounds)[0]))
        except TimeoutError:
            pass
        bound, proof = min(bounds, key=lambda pair: pair[0])
        value = self.value
        if value > bound + self._tolerance * abs(bound):
            raise SolverError(f"a schedule of value {value} exceeds its bound {bound}: {proof}")
        self.result.bounds.append(bound)
        self.result.proofs.append(proof)
        if self._is_closed(bound):
            self.result.closed_levels += 1

    @property
    def _tolerance(self) -> Fraction:
        """The relative gap of a closed level: 0 in exact numbers."""
        return Fraction(0) if self.scaled.instance.exact else CLOSED_GAP

    def _is_closed(self, bound: Fraction) -> bool:
        return bound - self.value <= self._tolerance * abs(bound)

    def _is_within_gap(self, bounds: Sequence[Bound]) -> bool:
        """Tell whether the gap of a level is no more than the limits ask for."""
        bound, gap = min(bounds)[0], exact(self.budget.limits.gap)
        return self._is_closed(bound) or bound - self.value <= gap * abs(self.value)

    def _solve_relaxation(self, level: str) -> Bound:
        scaled = self.scaled
        if scaled.objective_kind == "makespan":
            self.dual_bound = bound_makespan(scaled, self.seed, self._stop())
            self._update_incumbent(self._round_relaxation(self.dual_bound))
            return -scaled.to_instance_time(self.dual_bound.bound), LP_MACHINE_DUALS
        if scaled.objective_kind == "count":
            bound = bound_count_on_time(scaled, level, seed=self.seed, stop=self._stop())
            return bound, LP_WINDOWS
        assignment = solve_assignment(scaled)
        if assignment is None:
            return trivial_bound(scaled, level)
        self._update_incumbent(assignment.sequences)
        return negated_flowtime(scaled, assignment.bound), ASSIGNMENT

    def _round_relaxation(self, dual_bound: MakespanDualBound) -> Sequences:
        """Return the rounded relaxation; jobs that it splits are then assigned by CP-SAT."""
        sequences = round_relaxation(self.scaled, dual_bound)
        split = fractional_jobs(self.scaled, dual_bound)
        if not dual_bound.shares or not split:
            return sequences
        search = NeighbourhoodSearch(self.scaled, sequences, self.budget, self.seed, None)
        search.reassign(split)
        return search.sequences

    def _stop(self) -> float:
        """Return the instant at which a relaxation has to end."""
        self.budget.left()
        return self.budget.stop

    def _search_neighbourhoods(self, bounds: Sequence[Bound]) -> None:
        timed = self.budget.limits.time_s is not None
        program_follows = self.formulation != "none"
        pairs = sum(map(len, self.scaled.eligible_machines))
        if program_follows and pairs <= MAX_PAIRS_WITHOUT_NEIGHBOURHOODS:
            return
        budget = Budget(self.budget.left(NEIGHBOURHOODS_SHARE if program_follows else 1))
        search = NeighbourhoodSearch(
            self.scaled, self.result.sequences, budget, self.seed, self.dual_bound
        )
        rounds = 0
        try:
            while not (self._is_within_gap(bounds) or search.exhausted):
                if not timed and rounds >= NEIGHBOURHOOD_ROUNDS:
                    break
                rounds += 1
                if search.improve():
                    self._update_incumbent(search.sequences)
        except TimeoutError:
            pass

    def _solve_whole_program(self, level: str, bound: Fraction) -> Bound:
        """Solve the program over all jobs, of which a bound is known."""
        if self.formulation == "milp":
            return self._solve_milp(level, bound)
        scaled, reduced = self.scaled, self._fix_by_reduced_cost()
        reason = too_large("program for CP-SAT", estimate_terms(reduced))
        if reason is not None:
            self.result.skipped_reason = reason
            return trivial_bound(scaled, level)
        program = CpSatModel(reduced)
        if scaled.objective_kind == "makespan":
            program.minimise_makespan(_units_rounded_down(scaled, -bound))
        elif scaled.objective_kind == "flowtime":
            program.minimise_total_completion()
        else:
            program.maximise_count(level, int(bound) - scaled.undated_count(level))
            for closed, value in self._closed_levels():
                program.require_count(closed, int(value) - scaled.undated_count(closed))
        program.hint(self.result.sequences)
        limits = self.budget.left()
        if not scaled.exactly_scaled:
            limits = replace(limits, gap=max(limits.gap, ROUNDED_GAP))
        outcome = program.solve(limits, self.seed)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT reports infeasible, but a feasible schedule is known")
        if outcome.bound is None:
            raise TimeoutError
        self._update_incumbent(program.sequences(outcome))
        return self._as_level(level, Fraction(outcome.bound)), CP_SAT

    def _fix_by_reduced_cost(self) -> ScaledInstance:
        """Return the instance without pairs of job and machine that reduced costs exclude."""
        if self.dual_bound is None:
            return self.scaled
        scaled, dual_bound = self.scaled, self.dual_bound
        makespan = max(machine_ends(scaled, self.result.sequences))
        jobs = tuple(range(len(scaled.jobs)))
        return scaled.restrict(
            jobs, [dual_bound.machines_within_gap(job, makespan) for job in jobs]
        )

    def _solve_milp(self, level: str, bound: Fraction) -> Bound:
        scaled = self.scaled
        program = AssignmentMilp(scaled)
        for closed, value in self._closed_levels():
            program.require_count(closed, int(value) - scaled.undated_count(closed))
        outcome = program.optimise(level, self.budget.left(), self.solver, self.seed)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError(
                f"{outcome.solver} reports infeasible, but a feasible schedule is known"
            )
        if outcome.assignment:
            self._update_incumbent(dispatch(scaled, program.assigned_jobs(outcome)))
        if outcome.bound is None:
            raise TimeoutError
        dual_bound = program.safe_bound(outcome.bound, -self.value * scaled.scale)
        proof = f"{outcome.solver} dual bound (floating point, not certified)"
        return min(self._as_level(level, dual_bound), bound), proof

    def _as_level(self, level: str, number: Fraction) -> Fraction:
        """Return the objective of a program as a level of the instance, to be maximised."""
        scaled = self.scaled
        if scaled.objective_kind == "makespan":
            return -scaled.to_instance_time(number)
        if scaled.objective_kind == "flowtime":
            return negated_flowtime(scaled, number)
        return number + scaled.undated_count(level)

    def _closed_levels(self) -> list[tuple[str, Fraction]]:
        """Return the levels that are closed, with their values."""
        levels = self.scaled.levels[: self.result.closed_levels]
        return list(zip(levels, objective_key(self.scaled, self.result.sequences), strict=False))

    def _update_incumbent(self, sequences: Sequences | None) -> None:
        """Make a schedule the incumbent if it is better, first levels first."""
        if sequences is not None:
            sequences = without_late_jobs(self.scaled, sequences)
            best = objective_key(self.scaled, self.result.sequences)
            if objective_key(self.scaled, sequences) > best:
                self.result.sequences = sequences


def trivial_bound(scaled: ScaledInstance, level: str) -> Bound:
    """Return the bound of a level if every task had a machine of its own, and its proof."""
    if scaled.objective_kind == "count":
        count = scaled.undated_count(level) + sum(scaled.weights(level))
        return Fraction(count), ALL_ON_TIME
    if scaled.objective_kind == "makespan":
        return -scaled.to_instance_time(scaled.longest_job), LONGEST_TASK
    ends = [
        min(arrivals[k] + scaled.processing_time(job, k) for k in scaled.eligible_machines[job])
        for job, arrivals in enumerate(scaled.arrivals)
    ]
    return negated_flowtime(scaled, Fraction(sum(ends))), EACH_TASK_ALONE


def negated_flowtime(scaled: ScaledInstance, total_completion: Fraction) -> Fraction:
    """Return a flowtime, negated, from a sum of completions in scaled units."""
    return scaled.total_release - scaled.to_instance_time(total_completion)


def _units_rounded_down(scaled: ScaledInstance, time: Fraction) -> int:
    """Return scaled units that are certainly no more than a time."""
    return int(time * scaled.scale)
