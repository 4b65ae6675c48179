"""The portfolio of the exact methods: schedules and bounds are improved, level by level.

Each level is bounded by a relaxation first; then the schedule is improved by the program of the
pairs of least reduced costs (`near_relaxation`) and by large neighbourhood search, and at last the
whole program is solved by CP-SAT, or by a MILP solver.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf
from typing import Literal

from dlopt.backends import cpsat
from dlopt.backends.pulp import UNCERTIFIED, Outcome
from dlopt.backends.size_limits import too_large
from dlopt.backends.time_budget import Budget
from dlopt.certificates import BoundCertificate, can_be_stated
from dlopt.errors import SolverError
from dlopt.models.bag.cpsat import CpSatModel, estimate_terms
from dlopt.models.bag.flowtime_assignment import FlowtimeAssignment, solve_assignment
from dlopt.models.bag.flowtime_subsets import search_subsets
from dlopt.models.bag.identical_machines import is_number_partitioning, search_partitions
from dlopt.models.bag.lns import (
    NeighbourhoodSearch,
    fractional_jobs,
    near_relaxation,
    round_relaxation,
    shift_from_last_machine,
)
from dlopt.models.bag.makespan_bound import MakespanDualBound, bound_makespan
from dlopt.models.bag.milp import AssignmentMilp
from dlopt.models.bag.on_time_bound import bound_count_on_time
from dlopt.models.bag.proof_flowtime import total_completion_certificate
from dlopt.models.bag.proof_programs import (
    count_certificate,
    flowtime_certificate,
    makespan_certificate,
)
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import (
    ObjectiveKey,
    Sequences,
    dispatch,
    list_schedule,
    machine_ends,
    objective_key,
    without_late_jobs,
)
from dlopt.models.bag.trivial_bounds import negated_flowtime, trivial_bound
from dlopt.models.common.lexicographic import (
    CLOSED_GAP,
    ROUNDED_GAP,
    Bound,
    LexicographicSearch,
    SearchResult,
)
from dlopt.models.common.number_partitioning import NUMBER_PARTITIONING
from dlopt.models.common.rounded_work_bound import ROUNDED_WORK, rounded_work_bound
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
REDUCED_PROGRAM_SHARE = 0.5
"""Share of the time for neighbourhoods for the program of `near_relaxation`. Chosen by hand."""
REDUCED_PROGRAM_EFFORT = 10.0
"""Deterministic seconds of CP-SAT for it without a time limit. Chosen by hand."""
COMPLETE_SEARCH_SHARE = 0.5
"""Share of the time for the search over sets of jobs. Chosen by hand."""

LP_MACHINE_DUALS = "LP relaxation of R||Cmax, certified in integers"
LP_WINDOWS = "LP relaxation with time windows, certified in fractions"
ASSIGNMENT = "assignment problem of positions, certified in integers"
SUBSETS = "dynamic programming over sets of tasks, in integers"
CP_SAT = f"{cpsat.NAME} (integer times)"


class ExactSearch(LexicographicSearch[str, Sequences, Fraction]):
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
    >>> result.proven_levels, result.bounds
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
        self.assignment: FlowtimeAssignment | None = None
        super().__init__(
            scaled.levels, without_late_jobs(scaled, list_schedule(scaled)), limits.gap
        )

    def run(self, hint: Sequences | None) -> SearchResult[Sequences, Fraction]:
        """Search until all levels are proven, or time is up."""
        self.update_incumbent(hint)
        self.prove_levels(self._solve_level)
        return self.result

    def certificate(self) -> BoundCertificate | None:
        """Return the certificate of the bounds of all levels; None if there is none."""
        if self.result.proven_levels < len(self.levels):
            return None
        return certificate_of_bounds(
            self.scaled,
            self.result.bounds,
            self.dual_bound,
            self.assignment,
            self.seed,
            self.budget.stop,
        )

    def objective_key(self, incumbent: Sequences) -> ObjectiveKey:
        """Return the values of all levels, which are maximised."""
        return objective_key(self.scaled, incumbent)

    def trivial_bound(self, level: str) -> Bound[Fraction]:
        """Return the bound of a level if every task had a machine of its own."""
        return trivial_bound(self.scaled, level)

    def tolerance(self, bound: Fraction) -> Fraction:
        """Return how much value and bound may differ: by `CLOSED_GAP` if numbers are floats.

        That is relative to the flowtime, or to the makespan since the first possible start.
        """
        return Fraction(0) if self.scaled.instance.exact else CLOSED_GAP * abs(bound)

    def update_incumbent(self, candidate: Sequences | None) -> None:
        """Make a schedule the incumbent if it is better without its late jobs."""
        if candidate is not None:
            super().update_incumbent(without_late_jobs(self.scaled, candidate))

    def _solve_level(self, level: str, bounds: list[Bound[Fraction]]) -> None:
        """Solve a level: by a relaxation, neighbourhoods, the whole program."""
        if self.use_relaxations and not self.is_closed(bounds):
            bounds.append(self._solve_relaxation(level))
        if self.formulation != "none" and not self.is_closed(bounds):
            self._search_completely(level, bounds)
        if self.use_neighbourhoods and not self.is_closed(bounds):
            self._search_neighbourhoods(bounds)
        if self.formulation != "none" and not self.is_closed(bounds):
            bounds.append(self._solve_whole_program(level, self.tightest(bounds).value))

    def _solve_relaxation(self, level: str) -> Bound[Fraction]:
        scaled = self.scaled
        if scaled.objective_kind == "makespan":
            dual_bound = self.dual_bound = bound_makespan(scaled, self.seed, self._stop())
            bound = Bound(-scaled.to_instance_time(dual_bound.bound), LP_MACHINE_DUALS)
            least = ceil(dual_bound.bound)
            if len(set(scaled.arrivals)) == 1:
                makespan = max(machine_ends(scaled, self.result.incumbent))
                times, ready = scaled.processing_times, scaled.arrivals[0]
                rounded = rounded_work_bound(times, ready, least, makespan)
                if rounded > least:
                    bound = Bound(-scaled.to_instance_time(rounded), ROUNDED_WORK)
            if not self.is_proven([bound]):
                self.update_incumbent(self._round_relaxation(dual_bound))
            return bound
        if scaled.objective_kind == "count":
            count = bound_count_on_time(scaled, level, seed=self.seed, stop=self._stop())
            return Bound(count, LP_WINDOWS)
        assignment = self.assignment = solve_assignment(scaled)
        if assignment is None:
            return trivial_bound(scaled, level)
        self.update_incumbent(assignment.sequences)
        return Bound(negated_flowtime(scaled, assignment.bound), ASSIGNMENT)

    def _search_completely(self, level: str, bounds: list[Bound[Fraction]]) -> None:
        """Search over sets of jobs where that is a complete search, for some of the time."""
        scaled, incumbent = self.scaled, self.result.incumbent
        is_flowtime = scaled.objective_kind == "flowtime"
        if not (is_flowtime or is_number_partitioning(scaled)):
            return
        limits, known = self.budget.left(COMPLETE_SEARCH_SHARE), self.tightest(bounds).value
        stop = inf if limits.time_s is None else time.monotonic() + limits.time_s
        if is_flowtime:
            proof, lower = SUBSETS, (scaled.total_release - known) * scaled.scale
            found = search_subsets(scaled, incumbent, lower, stop)
        else:
            proof, least = NUMBER_PARTITIONING, _units_rounded_down(scaled, -known)
            found = search_partitions(scaled, incumbent, least, stop)
        self.update_incumbent(found.sequences)
        bounds.append(Bound(self._as_level(level, found.bound), proof))

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

    def _search_neighbourhoods(self, bounds: Sequence[Bound[Fraction]]) -> None:
        program_follows = self.formulation != "none"
        pairs = sum(map(len, self.scaled.eligible_machines))
        if program_follows and pairs <= MAX_PAIRS_WITHOUT_NEIGHBOURHOODS:
            return
        budget = Budget(self.budget.left(NEIGHBOURHOODS_SHARE if program_follows else 1))
        scaled, dual_bound, rounds = self.scaled, self.dual_bound, 0
        if dual_bound is not None:
            scaled = near_relaxation(scaled, dual_bound, self.result.incumbent)
        if scaled is not self.scaled:
            first = self.result.incumbent
            self.update_incumbent(shift_from_last_machine(scaled, first, budget.stop))
            limits, known = budget.left(REDUCED_PROGRAM_SHARE), self.tightest(bounds).value
            if not self.is_closed(bounds):
                self._solve_by_cp_sat(scaled, self.levels[0], known, limits, complete=False)
        with suppress(TimeoutError):
            for part in [scaled] if scaled is self.scaled else [scaled, self.scaled]:
                first = self.result.incumbent
                search = NeighbourhoodSearch(part, first, budget, self.seed, dual_bound)
                while not (self.is_closed(bounds) or search.exhausted):
                    if self.budget.limits.time_s is None and rounds >= NEIGHBOURHOOD_ROUNDS:
                        return
                    rounds += 1
                    if search.improve():
                        self.update_incumbent(search.sequences)

    def _solve_whole_program(self, level: str, bound: Fraction) -> Bound[Fraction]:
        """Solve the program over all jobs, of which a bound is known."""
        if self.formulation == "milp":
            return self._solve_milp(level)
        scaled, reduced = self.scaled, self._fix_by_reduced_cost()
        reason = too_large("program for CP-SAT", estimate_terms(reduced))
        if reason is not None:
            self.result.skipped_reason = reason
            return trivial_bound(scaled, level)
        limits = self.budget.left()
        if not scaled.exactly_scaled:
            limits = replace(limits, gap=max(limits.gap, ROUNDED_GAP))
        proven_bound = self._solve_by_cp_sat(reduced, level, bound, limits, complete=True)
        if proven_bound is None:
            raise TimeoutError
        return proven_bound

    def _solve_by_cp_sat(
        self, reduced: ScaledInstance, level: str, bound: Fraction, limits: Limits, complete: bool
    ) -> Bound[Fraction] | None:
        """Solve the program over all jobs, and return its bound if it holds of all schedules."""
        scaled, program = self.scaled, CpSatModel(reduced)
        if scaled.objective_kind == "makespan":
            program.minimise_makespan(_units_rounded_down(scaled, -bound))
        elif scaled.objective_kind == "flowtime":
            program.minimise_total_completion()
        else:
            program.maximise_count(level, int(bound) - scaled.undated_count(level))
            for proven, value in self.fixed_levels:
                program.require_count(proven, int(value) - scaled.undated_count(proven))
        program.hint(self.result.incumbent)

        def read(known: cpsat.Outcome) -> tuple[Sequences | None, Bound[Fraction] | None]:
            sequences = None if known.value_of is None else program.sequences(known)
            if known.bound is None or not complete:
                return sequences, None
            proven = self._as_level(level, Fraction(known.bound))
            return sequences, Bound(proven, CP_SAT, relies_on_solver=True)

        with self.watching(read) as report:
            effort = None if complete or limits.time_s is not None else REDUCED_PROGRAM_EFFORT
            outcome = program.solve(limits, self.seed, effort, report)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT reports infeasible, but a feasible schedule is known")
        sequences, proven_bound = read(outcome)
        self.update_incumbent(sequences)
        return proven_bound

    def _fix_by_reduced_cost(self) -> ScaledInstance:
        """Return the instance without pairs of job and machine that reduced costs exclude."""
        if self.dual_bound is None:
            return self.scaled
        scaled, dual_bound = self.scaled, self.dual_bound
        makespan = max(machine_ends(scaled, self.result.incumbent))
        jobs = tuple(range(len(scaled.jobs)))
        return scaled.restrict(
            jobs, [dual_bound.machines_within_gap(job, makespan) for job in jobs]
        )

    def _solve_milp(self, level: str) -> Bound[Fraction]:
        scaled = self.scaled
        program = AssignmentMilp(scaled)
        for proven, value in self.fixed_levels:
            program.require_count(proven, int(value) - scaled.undated_count(proven))

        def read(known: Outcome) -> tuple[Sequences | None, Bound[Fraction] | None]:
            sequences, value = None, self.value
            if known.assignment:
                sequences = dispatch(scaled, program.assigned_jobs(known))
                value = max(value, self.objective_key(sequences)[self.result.proven_levels])
            if known.bound is None:
                return sequences, None
            bound = program.safe_bound(known.bound, -value * scaled.scale)
            proof = f"{known.solver} {UNCERTIFIED}"
            return sequences, Bound(self._as_level(level, bound), proof, relies_on_solver=True)

        with self.watching(read) as report:
            outcome = program.optimise(level, self.budget.left(), self.solver, self.seed, report)
        if outcome.status is Status.INFEASIBLE:
            raise SolverError(
                f"{outcome.solver} reports infeasible, but a feasible schedule is known"
            )
        sequences, dual_bound = read(outcome)
        self.update_incumbent(sequences)
        if dual_bound is None:
            raise TimeoutError
        return dual_bound

    def _as_level(self, level: str, number: Fraction) -> Fraction:
        """Return the objective of a program as a level of the instance, to be maximised."""
        scaled = self.scaled
        if scaled.objective_kind == "makespan":
            return -scaled.to_instance_time(number)
        if scaled.objective_kind == "flowtime":
            return negated_flowtime(scaled, number)
        return number + scaled.undated_count(level)


def certificate_of_bounds(
    scaled: ScaledInstance,
    bounds: Sequence[Fraction],
    dual_bound: MakespanDualBound | None,
    assignment: FlowtimeAssignment | None,
    seed: int = 0,
    stop: float = inf,
) -> BoundCertificate | None:
    """Return the certificate of the bounds of all levels; None if there is none.

    Parameters
    ----------
    scaled : ScaledInstance
    bounds : sequence of Fraction
        Levels are maximised, so that times are negative.
    dual_bound : MakespanDualBound or None
    assignment : FlowtimeAssignment or None
    seed : int
    stop : float
        Instant of the monotonic clock at which a search for the proof ends.
    """
    if scaled.without_idle_time or not can_be_stated(1 / scaled.scale, scaled.times.origin):
        return None
    if scaled.objective_kind == "makespan":
        units = -bounds[0] * scaled.scale
        return makespan_certificate(scaled, units, dual_bound, seed, stop)
    if scaled.objective_kind == "count":
        return count_certificate(scaled, bounds, seed, stop)
    if assignment is not None and negated_flowtime(scaled, assignment.bound) <= bounds[0]:
        return flowtime_certificate(scaled, assignment)
    total = (scaled.total_release - bounds[0]) * scaled.scale
    return total_completion_certificate(scaled, total, seed, stop)


def _units_rounded_down(scaled: ScaledInstance, time: Fraction) -> int:
    """Return scaled units that are certainly no more than a time."""
    return int(time * scaled.scale)
