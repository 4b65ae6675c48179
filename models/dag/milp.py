"""Disjunctive MILP for tiny instances: machines, starts, and an order of every two jobs.

With `x_jp` whether job `j` runs on machine `p`, `y_ij` whether `i` goes before `j` where both run
on one machine, `s_j` starts, `C_g` completions, `r_jp` release times, `c_jp` costs, `t_ij(p, q)`
transfer times, `d_jp` delivery times and the horizon `H` as big M::

    minimise    C  or  sum_g U_g  or  sum_g C_g             levels, one after another
    subject to  sum_p x_jp = 1
                s_j >= sum_p r_jp x_jp
                s_j >= s_i + (c_ip + t_ij(p, q)) (x_ip + x_jq - 1)               arcs (i, j)
                s_j >= s_i + c_ip - (H - r_j) (2 - x_ip - x_jp + 1 - y_ij)       i before j on p
                s_i >= s_j + c_jp - (H - r_i) (2 - x_ip - x_jp + y_ij)           j before i on p
                C_g >= s_j + sum_p (c_jp + d_jp) x_jp       jobs j of graph g
                C >= C_g                                    makespan
                C_g <= due_g + (H - due_g) U_g              late graphs
                x_jp <= l_gk, sum_k l_gk = 1                one LAN k for graph g, p in k
                x, y, U, l in {0, 1},  0 <= s, C_g, C <= H

HiGHS solves it twice, with presolve and without: either way HiGHS 1.12 has called schedules optimal
that are not, of different instances. A bound that the other solution refutes is left out.

Source: disjunctive constraints of Manne 1960, with alternative machines and transfers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from math import ceil, inf

import pulp

from dlopt.backends.pulp import DEFAULT, Outcome, linear, optimise
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.dag.objective import ObjectiveLevel, level_value
from dlopt.models.dag.scaled_instance import ScaledInstance, sequential_horizon
from dlopt.models.dag.schedules import Schedule, left_shifted
from dlopt.result import Limits

MAX_MODEL_HORIZON = 1000
"""Longest horizon, in units of time of the program. Chosen by hand: the tolerances of solvers are
absolute, about 1e-6, and large numbers lose their digits against big-M constraints.
"""
HORIZON_TOLERANCE = 1e-6
"""Error of the solver in each time that is minimised, relative to the horizon: its tolerance for
integrality, times big M.
"""
EQUAL_START_TOLERANCE = 1e-4
"""Starts that differ by less, in units of time of the program, are equal. Chosen by hand: a hundred
times the solver's tolerance.
"""
HORIZON_FACTORS = (1, 2, 3)
"""Horizons that are tried one after another, as multiples of the shortest, if the solver fails."""


@dataclass(slots=True)
class MilpResult:
    """Schedule and bounds of the levels that were solved.

    Parameters
    ----------
    schedule : Schedule or None
        Of the last level with a solution.
    bounds : list of int
        One for each level that was bounded, in units of the scaled instance.
    version : str or None
        Of the solver.
    """

    schedule: Schedule | None = None
    bounds: list[int] = field(default_factory=list)
    version: str | None = None


def minimise_levels(
    scaled: ScaledInstance,
    levels: tuple[ObjectiveLevel, ...],
    budget: Budget,
    seed: int = 0,
    solver: str = DEFAULT,
) -> MilpResult:
    """Minimise levels one after another, as long as each is solved to optimality.

    HiGHS sometimes rejects a solution of its own that violates a constraint by slightly more than
    its tolerance, whatever the seed. With a longer horizon, which excludes no solution, it does
    not; so several horizons are tried.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails with every horizon.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k + 1) for k in range(4)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> minimise_levels(scaled, ("makespan",), Budget(Limits())).bounds
    [5]
    """
    for factor in HORIZON_FACTORS[:-1]:
        try:
            return _minimise_levels(DisjunctiveMilp(scaled, factor), levels, budget, seed, solver)
        except SolverError:
            continue
    last = DisjunctiveMilp(scaled, HORIZON_FACTORS[-1])
    return _minimise_levels(last, levels, budget, seed, solver)


def _minimise_levels(
    program: DisjunctiveMilp,
    levels: tuple[ObjectiveLevel, ...],
    budget: Budget,
    seed: int,
    solver: str,
) -> MilpResult:
    result = MilpResult()
    for level in levels:
        try:
            outcome, bound = program.minimise(level, budget.left(), seed, solver)
        except TimeoutError:
            break
        result.version = outcome.version
        if not outcome.assignment or bound is None:
            break
        values = {name: float(number) for name, number in outcome.assignment.items()}
        result.schedule = program.schedule(values)
        result.bounds.append(bound)
        completions = result.schedule.completions(program.scaled)
        if level_value(program.scaled, completions, level) > bound:
            break
    return result


class DisjunctiveMilp:
    """The program of the module, whose levels are minimised one after another.

    Solvers are exact to some 1e-6 of the numbers that they see, and big-M constraints to 1e-6 of
    the horizon. Times therefore count from the first arrival, in a power of 2 of units of the
    scaled instance such that the horizon is `MAX_MODEL_HORIZON` at most, and a bound is the dual
    bound of the solver less that tolerance: sharp for horizons up to some 10^6 scaled units, a
    little weak beyond.

    Parameters
    ----------
    scaled : ScaledInstance
    horizon_factor : int
        The horizon, as a multiple of the shortest.
    """

    def __init__(self, scaled: ScaledInstance, horizon_factor: int = 1) -> None:
        self.scaled = scaled
        self.problem = pulp.LpProblem("dag", pulp.LpMinimize)
        self.origin = min(scaled.arrivals)
        length = horizon_factor * (sequential_horizon(scaled) - self.origin)
        self.unit = 1 << max(0, (length // MAX_MODEL_HORIZON).bit_length())
        self.horizon = self._to_model_time(length)
        jobs = range(len(scaled.jobs))
        self.starts = [self._continuous(f"s{job}") for job in jobs]
        self.assign = [
            {p: self._binary(f"x{job}_{p}") for p in scaled.eligible_machines[job]} for job in jobs
        ]
        self.completions = [
            self._continuous(f"C{graph}") for graph in range(len(scaled.jobs_of_graph))
        ]
        if scaled.restriction is not None:
            latest = scaled.restriction.latest_completions
            for completion, units in zip(self.completions, latest, strict=True):
                self.problem += completion <= self._to_model_time(units - self.origin)
        self._add_assignment()
        self._add_precedence()
        self._add_disjunctions()
        self._add_completions()
        self._add_lan_choice()

    def minimise(
        self, level: ObjectiveLevel, limits: Limits, seed: int = 0, solver: str = DEFAULT
    ) -> tuple[Outcome, int | None]:
        """Minimise one level; return the outcome, and a bound in scaled units.

        A level of late graphs is then kept by a constraint.
        """
        # PuLP would add a variable to an objective without one: no graph may have a due date.
        terms = self._objective_terms(level) or [(0, self.starts[0])]
        self.problem.setObjective(linear(terms))
        outcome = self._optimise(limits, seed, solver)
        if outcome.bound is None:
            return outcome, None
        if level == "tardy-graphs":
            bound = max(0, ceil(float(outcome.bound) - EQUAL_START_TOLERANCE))
            self.problem += linear(terms) <= bound, f"kept {level}"
            return outcome, bound
        # A bound of times since the origin, converted to times since instant 0.
        bound_since = (Fraction(outcome.bound) - len(terms) * self._tolerance()) * self.unit
        return outcome, max(0, ceil(bound_since)) + len(terms) * self.origin

    def _optimise(self, limits: Limits, seed: int, solver: str) -> Outcome:
        """Return the better solution of the two that HiGHS finds, with a bound that it admits."""
        if solver != DEFAULT:
            return optimise(self.problem, limits, solver=solver, seed=seed)
        budget = Budget(limits)
        first = optimise(self.problem, budget.left(1 / 2), seed=seed)
        second = optimise(self.problem, budget.left_or_minimum(), seed=seed, presolve=False)
        best, other = sorted(
            (first, second), key=lambda one: inf if one.value is None else one.value
        )
        if best.value is None or best.bound is None or other.bound is None:
            return best
        is_refuted = other.bound > best.value
        return best if is_refuted else replace(best, bound=max(best.bound, other.bound))

    def schedule(self, values: Mapping[str, float]) -> Schedule:
        """Return the left-shifted schedule with the machines and sequences of an assignment."""
        machines = [
            max(literals, key=lambda p: values[literals[p].name]) for literals in self.assign
        ]
        starts = [values[start.name] for start in self.starts]
        keys = [(round(start / EQUAL_START_TOLERANCE), job) for job, start in enumerate(starts)]
        return left_shifted(self.scaled, machines, respect_precedence(self.scaled, keys))

    def _objective_terms(self, level: ObjectiveLevel) -> list[tuple[int, pulp.LpVariable]]:
        if level == "total-response-time":
            return [(1, completion) for completion in self.completions]
        if level == "makespan":
            makespan = self._continuous("C")
            for completion in self.completions:
                self.problem += makespan >= completion
            return [(1, makespan)]
        late = []
        for graph, due in enumerate(self.scaled.due_dates):
            if due is not None:
                literal = self._binary(f"late{graph}")
                late.append((1, literal))
                # Completions are integers: none is between the due date and half a unit later.
                slack = max(0.5 / self.unit, self._tolerance())
                latest = max(self._to_model_time(due - self.origin) + slack, 0)
                big_m = max(self.horizon - latest, 0)
                self.problem += self.completions[graph] <= latest + big_m * literal
        return late

    def _add_assignment(self) -> None:
        """Every job runs on one machine, after its release there."""
        for job, literals in enumerate(self.assign):
            self.problem += linear((1, literal) for literal in literals.values()) == 1
            release = self.scaled.release_times[job]
            self.problem += self.starts[job] >= linear(
                (self._to_model_time(release[p] - self.origin), literal)
                for p, literal in literals.items()
            )

    def _add_precedence(self) -> None:
        """A job starts once data has come from the machine of its predecessor to its own."""
        for arc in self.scaled.arcs:
            source, target = arc.source, arc.target
            for p, q in product(self.assign[source], self.assign[target]):
                time = self.scaled.cost(source, p) + self.scaled.transfer_time(arc, p, q)
                both = self.assign[source][p] + self.assign[target][q]
                self.problem += self.starts[target] >= (
                    self.starts[source] + self._to_model_time(time) * (both - 1)
                )

    def _add_disjunctions(self) -> None:
        """Of two jobs on one machine, one starts after the other has ended."""
        for job, other in combinations(range(len(self.assign)), 2):
            shared = [
                p
                for p in self.assign[job]
                if p in self.assign[other]
                and self.scaled.cost(job, p)
                and self.scaled.cost(other, p)
            ]
            if not shared:
                continue
            first = self._binary(f"y{job}_{other}")
            for p in shared:
                apart = 2 - self.assign[job][p] - self.assign[other][p]
                for before, after, relaxed in ((job, other, 1 - first), (other, job, 1 * first)):
                    cost = self._to_model_time(self.scaled.cost(before, p))
                    release = min(self.scaled.release_times[after]) - self.origin
                    big_m = self.horizon - self._to_model_time(release)
                    self.problem += self.starts[after] >= (
                        self.starts[before] + cost - big_m * (apart + relaxed)
                    )

    def _add_completions(self) -> None:
        """A graph is complete once every job has ended and its output has arrived."""
        for job, (graph, _) in enumerate(self.scaled.jobs):
            delivery = self.scaled.delivery_times[job]
            self.problem += self.completions[graph] >= self.starts[job] + linear(
                (self._to_model_time(self.scaled.cost(job, p) + delivery[p]), literal)
                for p, literal in self.assign[job].items()
            )

    def _add_lan_choice(self) -> None:
        """All jobs of a graph that must stay in one LAN run on machines of one LAN."""
        lans = self.scaled.lans
        for graph, jobs in enumerate(self.scaled.jobs_of_graph):
            if lans is None or not self.scaled.instance.graphs[graph].one_lan:
                continue
            choice = {lan: self._binary(f"h{graph}_{lan}") for lan in sorted(set(lans))}
            self.problem += linear((1, literal) for literal in choice.values()) == 1
            for job in jobs:
                for p, literal in self.assign[job].items():
                    self.problem += literal <= choice[lans[p]]

    def _to_model_time(self, units: int) -> float:
        """Return a time of the scaled instance in units of the program."""
        return units / self.unit

    def _tolerance(self) -> float:
        """Return the error of the solver in a time, in units of the program."""
        return HORIZON_TOLERANCE * self.horizon

    def _continuous(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, 0, self.horizon)

    def _binary(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, 0, 1, cat=pulp.LpBinary)


def respect_precedence(
    scaled: ScaledInstance, keys: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return keys such that no job comes before one of its predecessors."""
    repaired = list(keys)
    for arc in scaled.arcs:
        if repaired[arc.target] <= repaired[arc.source]:
            repaired[arc.target] = (repaired[arc.source][0], arc.target)
    return repaired
