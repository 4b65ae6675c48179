"""The portfolio of the exact method: schedules and bounds are improved until they meet.

A level of the objective is bounded by the critical path and by work first. Then follow list
schedules (`forward_backward`), number partitioning for independent tasks, a large neighbourhood
search, linear programs over starts (`time_indexed_bound`), and at last CP-SAT on the whole model
(`program_steps`).
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import inf

from dlopt.backends import cpsat
from dlopt.backends.size_limits import too_large
from dlopt.backends.time_budget import Budget
from dlopt.certificates import InfeasibilityProof
from dlopt.errors import SolverError
from dlopt.models.common.lexicographic import (
    CLOSED_GAP,
    ROUNDED_GAP,
    Bound,
    LexicographicSearch,
)
from dlopt.models.common.number_partitioning import NUMBER_PARTITIONING, NumberPartitioning
from dlopt.models.dag.completion_bounds import scaled_for_objective
from dlopt.models.dag.cpsat_alternatives import AlternativesModel
from dlopt.models.dag.forward_backward import forward_backward_schedules
from dlopt.models.dag.independent_tasks import is_number_partitioning, partition_schedule
from dlopt.models.dag.lower_bounds import LowerBounds, compute_heads_tails, compute_lower_bounds
from dlopt.models.dag.objective import LEVELS, ObjectiveLevel, level_value
from dlopt.models.dag.program_steps import (
    ProgramStep,
    constraint_count,
    has_many_jobs,
    is_cumulative,
    needs_neighbourhoods,
    program_steps,
)
from dlopt.models.dag.proof_search import certificate_of_bound
from dlopt.models.dag.scaled_instance import sequential_horizon
from dlopt.models.dag.schedules import Schedule, initial_schedule, meets_restriction, runs_on
from dlopt.models.dag.time_indexed_bound import time_indexed_makespan_bound
from dlopt.problems.dag.data import Instance, Solution
from dlopt.result import Limits, Status

CP_SAT = "CP-SAT"
"""A bound that is the claim of the solver; all other bounds are proven by this package."""
TIME_INDEXED_LP = "time-indexed LP"
PER_GRAPH = "per-graph lower bounds"
SHORTEST_REMAINING = "preemptive relaxation to one machine (SRPT)"

MAX_CONSTRAINTS = 400_000
"""Constraints above which the whole model is not built. Chosen by hand, for memory and time."""
FIRST_NEIGHBOURHOODS_SHARE = 0.1
"""Share of the time for neighbourhoods before the linear programs. Chosen by hand."""
TIME_INDEXED_SHARE = 0.4
"""Share of the remaining time for linear programs over starts. Chosen by hand."""
PARTITIONING_SHARE = 0.4
"""Share of the remaining time for number partitioning. Chosen by hand."""
NEIGHBOURHOODS_SHARE = 0.4
"""Share of the remaining time for neighbourhoods before the whole model. Chosen by hand."""
LISTS_SHARE = 0.4
"""Share of the time within which the first list schedules are made. Chosen by hand."""
MORE_LISTS_SHARE = 0.1
"""Share of the time up to which further list schedules are made. Chosen by hand."""
JOBS_IN_FIRST_LISTS = 100_000
"""Jobs in all of the first list schedules together, which are made even without a time limit."""
MIN_LISTS = 50
"""List schedules at least. Chosen by hand: in benchmarks/results/dag.md, the first or second closed
22 of 26 cases."""
MAX_LISTS = 20_000
"""List schedules at most, with a time limit. Chosen by hand."""
NEIGHBOURHOOD_ROUNDS = 60
"""Neighbourhoods for `NEIGHBOURHOODS_SHARE` without a time limit; up to ten times as many with one.
Chosen by hand."""
FREE_JOBS = 12
"""Jobs of the first neighbourhoods, and the fewest. Chosen by hand: larger neighbourhoods improve
more schedules, and are solved to optimality less often.
"""
NEIGHBOURHOOD_EFFORT = 0.5
"""Deterministic seconds of CP-SAT for a neighbourhood. Chosen by hand."""


class ExactSearch(LexicographicSearch[ObjectiveLevel, Schedule, int]):
    """Search for an optimal schedule of an instance, with a proof.

    Parameters
    ----------
    instance : Instance
    objective : str
    limits : Limits
        `work` counts conflicts of each program.
    seed : int

    Attributes
    ----------
    result : SearchResult
        The best schedule, and lower bounds of its levels in scaled units.
    lower_bounds : LowerBounds
        Bounds of all levels before any search; there are none before `run`.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k + 1) for k in range(4)))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> search = ExactSearch(instance, "makespan", Limits(), seed=0)
    >>> search.run(hint=None)
    >>> search.result.bounds, search.result.proofs, search.result.proven_levels
    ([5], ['the total work'], 1)
    """

    sense = -1
    lower_bounds: LowerBounds

    def __init__(self, instance: Instance, objective: str, limits: Limits, seed: int) -> None:
        self.budget, self.seed, self.random = Budget(limits), seed, random.Random(seed)
        self.scaled = scaled_for_objective(instance, objective)
        self.heads_tails = compute_heads_tails(self.scaled)
        priorities = (self.heads_tails.costs + self.heads_tails.tails).min(axis=1)
        super().__init__(LEVELS[objective], initial_schedule(self.scaled, priorities))

    def run(self, hint: Solution | None) -> None:
        """Improve the schedule and the bounds until they meet, or a limit is reached."""
        if hint is not None and runs_on(self.scaled, hint):
            self.update_incumbent(Schedule.from_solution(self.scaled, hint))
        last = max(self.result.incumbent.completions(self.scaled))
        self.lower_bounds = compute_lower_bounds(self.scaled, self.heads_tails, upper_bound=last)
        self.prove_levels(self._solve_level)

    def certificate(self) -> InfeasibilityProof | None:
        """Return the certificate of the bound; None if there is none."""
        found = self.result
        if not found.bounds:
            return None
        trivial = (self.trivial_bound(level).value for level in self.levels)
        return certificate_of_bound(
            self.scaled,
            self.heads_tails,
            self.levels,
            found.bounds_of_all_levels(trivial),
            self.budget.stop,
            cases=found.proven_levels > 0,
        )

    def update_incumbent(self, candidate: Schedule | None) -> None:
        """Make a schedule the incumbent if it is better, and the scaled instance is true of it."""
        if candidate is not None and meets_restriction(self.scaled, candidate):
            super().update_incumbent(candidate)

    def objective_key(self, incumbent: Schedule) -> tuple[int, ...]:
        """Return the values of all levels, in scaled units."""
        completions = incumbent.completions(self.scaled)
        return tuple(level_value(self.scaled, completions, level) for level in self.levels)

    def trivial_bound(self, level: ObjectiveLevel) -> Bound[int]:
        """Return the bound of a level that `lower_bounds` has."""
        bounds = self.lower_bounds
        proof: str = bounds.proof if level == "makespan" else PER_GRAPH
        if level == "total-response-time" and bounds.total_completion > sum(bounds.graphs):
            proof = SHORTEST_REMAINING
        return Bound(bounds.for_level(self.scaled, level), proof)

    def tolerance(self, bound: int) -> Fraction:
        """Return how much value and bound may differ: by `CLOSED_GAP` if numbers are floats.

        That is relative to the makespan since the first arrival, or to the total response time.
        """
        level = self.levels[self.result.proven_levels]
        if self.scaled.instance.exact or level == "tardy-graphs":
            return Fraction(0)
        return CLOSED_GAP * self._duration(level, bound)

    def _meets(self, bound: int) -> bool:
        """Tell whether the incumbent meets a bound of the level that is searched."""
        return self.value - bound <= self.tolerance(bound)

    def _duration(self, level: ObjectiveLevel, units: int) -> int:
        """Return a value of a level that is a time, as a duration since the arrivals."""
        return units - sum(self.scaled.arrivals) if level == "total-response-time" else units

    def _solve_level(self, level: ObjectiveLevel, bounds: list[Bound[int]]) -> None:
        """Improve the incumbent and the bound of a level, unless they meet."""
        if self.is_proven(bounds):
            return
        bound = bounds[0].value
        scaled, makespan = self.scaled, max(self.result.incumbent.completions(self.scaled))
        identical = is_cumulative(scaled) and len(scaled.identical_machines) == 1
        if has_many_jobs(scaled) and identical:
            self._forward_backward(bound)
        if level == "makespan" and is_number_partitioning(scaled):
            bounds.append(self._number_partitioning(bound))
            bound = self.tightest(bounds).value
            if self.is_proven(bounds):
                return
        decompose = needs_neighbourhoods(scaled, makespan)
        if decompose and level == "makespan" and not is_cumulative(scaled):
            self._large_neighbourhood_search(level, bound, FIRST_NEIGHBOURHOODS_SHARE)
            bound = self._time_indexed_bound(bound)
            bounds.append(Bound(bound, TIME_INDEXED_LP))
        if decompose:
            self._large_neighbourhood_search(level, bound, NEIGHBOURHOODS_SHARE)
        for step in program_steps(scaled, makespan, self.budget.limits.threads):
            if self.is_proven(bounds):
                break
            self.result.skipped_reason = too_large(
                "program for CP-SAT",
                constraint_count(scaled, step.program),
                MAX_CONSTRAINTS,
                "rows",
            )
            if self.result.skipped_reason is not None:
                break
            bound = self._solve_whole_model(level, self.tightest(bounds).value, step)
            bounds.append(Bound(bound, CP_SAT, relies_on_solver=True))

    def _solve_whole_model(self, level: ObjectiveLevel, bound: int, step: ProgramStep) -> int:
        """Solve the whole model with CP-SAT; return the bound that it proves.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self._limits(level, step)
        latest = self._latest_completions(level)
        program = step.program(self.scaled, self.heads_tails, latest, self._max_late_graphs)
        program.minimise(level, bound)
        program.hint(self.result.incumbent)

        def read(known: cpsat.Outcome) -> tuple[Schedule | None, Bound[int] | None]:
            schedule = None if known.value_of is None else program.schedule(known.value_of)
            proven = None if known.bound is None else Bound(known.bound, CP_SAT, False, True)
            return schedule, proven

        with self.watching(read) as report:
            outcome = cpsat.optimise(
                program.model,
                limits,
                seed=self.seed,
                effort=step.effort,
                searches=step.searches,
                report=report,
            )
        if outcome.status is Status.INFEASIBLE:
            raise SolverError("CP-SAT reports infeasible, but the schedule in its hint is feasible")
        if outcome.value_of is None or outcome.bound is None:
            return bound
        self.update_incumbent(program.schedule(outcome.value_of))
        return outcome.bound

    def _limits(self, level: ObjectiveLevel, step: ProgramStep) -> Limits:
        """Return the limits of a program; where times are rounded, a small gap may be left.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(step.share)
        if self.scaled.exactly_scaled or level == "tardy-graphs" or not self.value:
            return limits
        rounded = ROUNDED_GAP * self._duration(level, self.value) / self.value
        return replace(limits, gap=max(limits.gap, rounded))

    def _time_indexed_bound(self, bound: int) -> int:
        """Return a bound of the makespan by time-indexed linear programs.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(TIME_INDEXED_SHARE)
        stop = Budget(limits).stop
        return time_indexed_makespan_bound(
            self.scaled, self.heads_tails, bound, self.value, stop, self.seed
        )

    def _forward_backward(self, bound: int) -> None:
        """Improve the incumbent by forward-backward list scheduling.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        start, limits = time.monotonic(), self.budget.left()
        duration = inf if limits.time_s is None else limits.time_s
        first_lists = max(MIN_LISTS, JOBS_IN_FIRST_LISTS // len(self.scaled.jobs))
        lists = first_lists if limits.time_s is None else MAX_LISTS
        schedules = forward_backward_schedules(
            self.scaled, self.heads_tails, self.result.incumbent, random.Random(self.seed)
        )
        for count, schedule in enumerate(islice(schedules, lists)):
            self.update_incumbent(schedule)
            share = LISTS_SHARE if count < first_lists else MORE_LISTS_SHARE
            time_is_up = time.monotonic() > start + share * duration
            if self._meets(bound) or time_is_up:
                break

    def _number_partitioning(self, bound: int) -> Bound[int]:
        """Improve the incumbent by partitions of the tasks; return the bound that is proven.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        scaled = self.scaled
        sizes = [scaled.cost(job, 0) for job in range(len(scaled.jobs))]
        search = NumberPartitioning(sizes, scaled.machine_count, bound, self.value)

        def read(known: NumberPartitioning) -> tuple[Schedule | None, Bound[int]]:
            schedule = known.best and partition_schedule(scaled, known.best)
            return schedule or None, Bound(known.bound, NUMBER_PARTITIONING)

        with self.watching(read) as report:
            report(search)
            search.run(Budget(self.budget.left(PARTITIONING_SHARE)).stop)
        schedule, proven = read(search)
        self.update_incumbent(schedule)
        return proven

    def _large_neighbourhood_search(self, level: ObjectiveLevel, bound: int, share: float) -> None:
        """Improve the incumbent in neighbourhoods: jobs that run near one instant are free.

        A neighbourhood grows by one job after one that was solved without improvement, and shrinks
        after one that was not solved in time.

        Raises
        ------
        TimeoutError
            If time is up.
        """
        limits = self.budget.left(share)
        stop = Budget(limits).stop
        free_jobs = FREE_JOBS
        rounds = round(NEIGHBOURHOOD_ROUNDS * share / NEIGHBOURHOODS_SHARE)
        rounds *= 1 if limits.time_s is None else 10
        for _ in range(min(rounds, limits.work or rounds)):
            if self._meets(bound) or time.monotonic() > stop:
                break
            outcome = self._reoptimise_neighbourhood(level, bound, free_jobs)
            free_jobs += {Status.OPTIMAL: 0, Status.INFEASIBLE: 1}.get(outcome.status, -1)
            free_jobs = max(free_jobs, FREE_JOBS)

    def _reoptimise_neighbourhood(
        self, level: ObjectiveLevel, bound: int, free_jobs: int
    ) -> cpsat.Outcome:
        """Solve for the jobs that run near a random one; the others keep machine and sequence."""
        schedule, value = self.result.incumbent, self.value
        latest = self._latest_completions(level, improvement=1)
        jobs = range(len(schedule.starts))
        centre = schedule.starts[self.random.choice(jobs)]
        nearest = sorted(jobs, key=lambda job: (abs(schedule.starts[job] - centre), job))
        free = set(nearest[:free_jobs])
        latest_of_job = [latest[graph] for graph, _ in self.scaled.jobs]
        fixed = {
            job: machine
            for job, machine in enumerate(schedule.machines)
            if job not in free
            and self.heads_tails.completion_bounds[job, machine] <= latest_of_job[job]
        }
        program = AlternativesModel(
            self.scaled, self.heads_tails, latest, self._max_late_graphs, fixed
        )
        program.fix_sequence(schedule)
        program.minimise(level, bound)
        program.require_improvement(value)
        program.hint(schedule)
        limits = replace(self.budget.left(), work=None, gap=0)
        outcome = cpsat.optimise(program.model, limits, seed=self.seed, effort=NEIGHBOURHOOD_EFFORT)
        if outcome.value_of is not None:
            self.update_incumbent(program.schedule(outcome.value_of))
        return outcome

    @property
    def _max_late_graphs(self) -> int | None:
        """The number of late graphs, if it is proven."""
        return dict(self.fixed_levels).get("tardy-graphs")

    def _latest_completions(self, level: ObjectiveLevel, improvement: int = 0) -> list[int]:
        """Return upper bounds of completions in schedules that are no worse than the incumbent.

        Or, with `improvement`, that are better by as much.
        """
        graphs, known = self.lower_bounds.graphs, self.scaled.restriction
        latest = [self.value - improvement] * len(graphs)
        if level == "total-response-time":
            slack = self.value - improvement - sum(graphs)
            latest = [bound + slack for bound in graphs]
        elif level == "tardy-graphs":
            latest = [sequential_horizon(self.scaled)] * len(graphs)
        return latest if known is None else list(map(min, latest, known.latest_completions))
