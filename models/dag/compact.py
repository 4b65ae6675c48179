"""A compact integer program for tiny cases: machines, starts, and an order of every two jobs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from math import ceil

import pulp

from dlopt.backends.pulp import DEFAULT, Outcome, linear, optimise
from dlopt.models.dag.case import Case, horizon_of
from dlopt.models.dag.program import Level
from dlopt.models.dag.timing import Plan, pulled
from dlopt.result import Limits

_CARE = 1e-4
"""By how much of a unit of time the solver may be off."""


class CompactProgram:
    """Minimise levels one after the other.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        self.problem = pulp.LpProblem("dag", pulp.LpMinimize)
        self.horizon = horizon_of(case)
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
        bound = None if outcome.bound is None else max(0, ceil(float(outcome.bound) - _CARE))
        if bound is not None:
            self.problem += linear(terms) <= bound, f"kept {level}"
        return outcome, bound

    def plan(self, values: Mapping[str, float]) -> Plan:
        """Return the plan of an assignment: its machines and orders, as early as they can be."""
        places = [max(own, key=lambda p: values[own[p].name]) for own in self.on]
        starts = [values[start.name] for start in self.starts]
        keys = [(round(start / _CARE), job) for job, start in enumerate(starts)]
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
                late.append((1, self._binary(f"late{graph}")))
                self.problem += self.complete[graph] <= due + self.horizon * late[-1][1]
        return late

    def _add_machines(self) -> None:
        """Every job runs on one machine, once its input is there."""
        for job, own in enumerate(self.on):
            self.problem += linear((1, literal) for literal in own.values()) == 1
            self.problem += self.starts[job] >= linear(
                (self.case.ready[job][p], literal) for p, literal in own.items()
            )

    def _add_arcs(self) -> None:
        """A job starts once data has come from the machine of another to its own."""
        for arc in self.case.arcs:
            before, job = arc.source, arc.target
            for p, q in product(self.on[before], self.on[job]):
                took = self.case.cost(before, p) + self.case.send(arc, p, q)
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
                    self.problem += self.starts[after] >= self.starts[before] + self.case.cost(
                        before, p
                    ) - self.horizon * (apart + free)

    def _add_completions(self) -> None:
        """A graph is complete once every job has ended and its output has arrived."""
        for job, (graph, _) in enumerate(self.case.jobs):
            self.problem += self.complete[graph] >= self.starts[job] + linear(
                (self.case.cost(job, p) + self.case.after[job][p], literal)
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
