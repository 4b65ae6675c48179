"""A compact integer program for tiny cases: machines, starts, and an order of every two jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import ceil

import pulp

from dlopt.backends.pulp import DEFAULT, Outcome, linear, optimise
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.models.dag.cpsat import Level
from dlopt.models.dag.scaled_instance import Case, horizon_of
from dlopt.models.dag.schedules import Plan, pulled
from dlopt.models.dag.search import worth_of
from dlopt.result import Limits

_LONGEST = 1000
"""No horizon is longer, in units of time of a program."""
_CARE = 1e-6
"""By how much of the horizon the solver may be off, for each time that is minimised."""
_SAME = 1e-4
"""Starts in a program that differ by less are the same."""
_ROOMS = (1, 2, 3)
"""Horizons that are tried, as multiples of the shortest."""


@dataclass(slots=True)
class Found:
    """What the program says of some levels.

    Parameters
    ----------
    plan : Plan or None
        The last that was found.
    bounds : list of int
        One for each level that was bounded, in units of the case.
    version : str or None
        Of the solver.
    """

    plan: Plan | None = None
    bounds: list[int] = field(default_factory=list)
    version: str | None = None


def minimised(
    case: Case, levels: tuple[Level, ...], budget: Budget, seed: int = 0, solver: str = DEFAULT
) -> Found:
    """Minimise levels one after the other, as far as each is proven.

    HiGHS rejects a plan of its own now and then that is off by a hair more than it allows, from
    every seed. With a longer horizon, which forbids nothing that the shortest allows, it does not.

    Raises
    ------
    NotApplicableError
        If PuLP knows no solver of that name.
    SolverError
        If the solver is missing or fails with every horizon.
    """
    for room in _ROOMS[:-1]:
        try:
            return _minimised(CompactProgram(case, room), levels, budget, seed, solver)
        except SolverError:
            continue
    return _minimised(CompactProgram(case, _ROOMS[-1]), levels, budget, seed, solver)


def _minimised(
    program: CompactProgram, levels: tuple[Level, ...], budget: Budget, seed: int, solver: str
) -> Found:
    found = Found()
    for level in levels:
        try:
            outcome, bound = program.minimise(level, budget.left(), seed, solver)
        except TimeoutError:
            break
        found.version = outcome.version
        if not outcome.assignment or bound is None:
            break
        values = {name: float(number) for name, number in outcome.assignment.items()}
        found.plan = program.plan(values)
        found.bounds.append(bound)
        if worth_of(program.case, found.plan, level) > bound:
            break
    return found


class CompactProgram:
    """Minimise levels one after the other.

    Solvers are right to some 1e-6 of what they see, and the indicators of orders and lateness
    are so to 1e-6 of the horizon. Times therefore count from the first arrival, in a power of 2
    of units of the case such that the horizon is 1000 at the most, and a bound is what the
    solver proves less that care: sharp for horizons up to some 10^6 units, a little weak beyond.

    Parameters
    ----------
    case : Case
    room : int
        The horizon, as a multiple of the shortest.
    """

    def __init__(self, case: Case, room: int = 1) -> None:
        self.case = case
        self.problem = pulp.LpProblem("dag", pulp.LpMinimize)
        self.origin = min(case.arrivals)
        length = room * (horizon_of(case) - self.origin)
        self.unit = 1 << max(0, (length // _LONGEST).bit_length())
        self.horizon = self._time(length)
        jobs = range(len(case.jobs))
        self.starts = [self._number(f"s{job}") for job in jobs]
        self.on = [{p: self._binary(f"x{job}_{p}") for p in case.places[job]} for job in jobs]
        self.complete = [self._number(f"C{graph}") for graph in range(len(case.members))]
        self._add_machines()
        self._add_arcs()
        self._add_orders()
        self._add_completions()
        self._add_lans()

    def minimise(
        self, level: Level, limits: Limits, seed: int = 0, solver: str = DEFAULT
    ) -> tuple[Outcome, int | None]:
        """Minimise one level, keep it, and return what the solver says and the bound it proves."""
        terms = self._goal(level)
        self.problem.setObjective(linear(terms))
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        if outcome.bound is None:
            return outcome, None
        if level == "late-graphs":
            bound = max(0, ceil(float(outcome.bound) - _SAME))
            self.problem += linear(terms) <= bound, f"kept {level}"
            return outcome, bound
        # What is proven of times since the origin, made a bound of times since instant 0.
        least = (Fraction(outcome.bound) - len(terms) * self._care()) * self.unit
        return outcome, max(0, ceil(least)) + len(terms) * self.origin

    def plan(self, values: Mapping[str, float]) -> Plan:
        """Return the plan of an assignment: its machines and orders, as early as they can be."""
        places = [max(own, key=lambda p: values[own[p].name]) for own in self.on]
        starts = [values[start.name] for start in self.starts]
        keys = [(round(start / _SAME), job) for job, start in enumerate(starts)]
        return pulled(self.case, places, _forward(self.case, keys))

    def _goal(self, level: Level) -> list[tuple[int, pulp.LpVariable]]:
        if level == "response":
            return [(1, complete) for complete in self.complete]
        if level == "makespan":
            end = self._number("C")
            for complete in self.complete:
                self.problem += end >= complete
            return [(1, end)]
        late = []
        for graph, due in enumerate(self.case.due):
            if due is not None:
                literal = self._binary(f"late{graph}")
                late.append((1, literal))
                # As completions are integers, nothing is between due and half a unit later.
                latest = max(self._time(due - self.origin) + max(0.5 / self.unit, self._care()), 0)
                spare = max(self.horizon - latest, 0)
                self.problem += self.complete[graph] <= latest + spare * literal
        return late

    def _add_machines(self) -> None:
        """Every job runs on one machine, once its input is there."""
        for job, own in enumerate(self.on):
            self.problem += linear((1, literal) for literal in own.values()) == 1
            self.problem += self.starts[job] >= linear(
                (self._time(self.case.ready[job][p] - self.origin), literal)
                for p, literal in own.items()
            )

    def _add_arcs(self) -> None:
        """A job starts once data has come from the machine of another to its own."""
        for arc in self.case.arcs:
            before, job = arc.source, arc.target
            for p, q in product(self.on[before], self.on[job]):
                took = self._time(self.case.cost(before, p) + self.case.send(arc, p, q))
                both = self.on[before][p] + self.on[job][q]
                self.problem += self.starts[job] >= self.starts[before] + took * (both - 1)

    def _add_orders(self) -> None:
        """Of two jobs on one machine, one starts after the other has ended."""
        for one, other in combinations(range(len(self.on)), 2):
            shared = [
                p
                for p in self.on[one]
                if p in self.on[other] and self.case.cost(one, p) and self.case.cost(other, p)
            ]
            if not shared:
                continue
            first = self._binary(f"y{one}_{other}")
            for p in shared:
                apart = 2 - self.on[one][p] - self.on[other][p]
                for before, after, free in ((one, other, 1 - first), (other, one, 1 * first)):
                    took = self._time(self.case.cost(before, p))
                    head = self._time(min(self.case.ready[after]) - self.origin)
                    self.problem += self.starts[after] >= (
                        self.starts[before] + took - (self.horizon - head) * (apart + free)
                    )

    def _add_completions(self) -> None:
        """A graph is complete once every job has ended and its output has arrived."""
        for job, (graph, _) in enumerate(self.case.jobs):
            self.problem += self.complete[graph] >= self.starts[job] + linear(
                (self._time(self.case.cost(job, p) + self.case.after[job][p]), literal)
                for p, literal in self.on[job].items()
            )

    def _add_lans(self) -> None:
        """The jobs of a graph that must stay in one LAN do."""
        lans = self.case.lans
        for graph, members in enumerate(self.case.members):
            if lans is None or not self.case.instance.graphs[graph].one_lan:
                continue
            homes = {lan: self._binary(f"h{graph}_{lan}") for lan in sorted(set(lans))}
            self.problem += linear((1, home) for home in homes.values()) == 1
            for job in members:
                for p, literal in self.on[job].items():
                    self.problem += literal <= homes[lans[p]]

    def _time(self, units: int) -> float:
        """Return a time of the case in units of the program."""
        return units / self.unit

    def _care(self) -> float:
        """Return by how much the solver may be off, in units of the program."""
        return _CARE * self.horizon

    def _number(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, 0, self.horizon)

    def _binary(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, 0, 1, cat=pulp.LpBinary)


def _forward(case: Case, keys: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return keys such that no job comes before one that it needs data of."""
    found = list(keys)
    for arc in case.arcs:
        if found[arc.target] <= found[arc.source]:
            found[arc.target] = (found[arc.source][0], arc.target)
    return found
