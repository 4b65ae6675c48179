"""The integer program: who is accepted, on which machines, and how much each part gets there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import floor

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.models.coreservation.construction import raised
from dlopt.models.coreservation.cpsat import MOST_LISTED, alike
from dlopt.models.coreservation.objective import coefficients
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import fits
from dlopt.result import Limits

_LARGEST = 1 << 20
"""Larger units are told to the solver as shares of the largest machine."""
_CARE = Fraction(1, 10**6)


def terms_of(case: Case) -> float:
    """Return about how many coefficients the program of a case has.

    Complexity: that of the rows of all machines together.
    """
    sizes = [2 * len(job.pieces) for job in case.jobs]
    choices = sum(size * len(job.machines) for size, job in zip(sizes, case.jobs, strict=True))
    crowds = sum(sizes[i] for row in case.crowds() for i in row.jobs)
    share = choices / max(1, sum(sizes))  # of the machines, on which a job may be
    alike_ones = sum(map(len, alike(case)))
    return 4 * choices + share * crowds + MOST_LISTED / 2 * alike_ones * len(case.jobs)


class LinearModel:
    """Accept wishes, choose a machine and a piece for each job, and a share on the piece.

    A share is told as the part of its piece that it rises, from 0 to 1: in units of the machines a
    short and steep piece would have coefficients that solvers refuse.

    Parameters
    ----------
    case : Case
    symmetric : bool
        Leave machines that are alike interchangeable; by default they are used in order.

    """

    def __init__(self, case: Case, *, symmetric: bool = False) -> None:
        self.case = case
        self.problem = pulp.LpProblem("coreservation", pulp.LpMaximize)
        self.accepted = [self._binary(f"x{k}") for k in range(len(case.wishes))]
        self.on: list[dict[int, dict[int, pulp.LpVariable]]] = []
        self.rises: list[dict[int, dict[int, pulp.LpVariable]]] = []
        self.used: list[pulp.LpVariable] = []
        self.alike = [] if symmetric else alike(case)
        largest = max(map(max, case.free))
        self.unit = 1 if largest <= _LARGEST else largest
        self.add_jobs()
        self.add_machines()
        self.order_machines()

    def add_jobs(self) -> None:
        """An accepted part has one machine and one piece, on which it may rise."""
        for i, job in enumerate(self.case.jobs):
            on: dict[int, dict[int, pulp.LpVariable]] = {}
            rises: dict[int, dict[int, pulp.LpVariable]] = {}
            for j in job.machines:
                on[j] = {q: self._binary(f"y{i}_{j}_{q}") for q in range(len(job.pieces))}
                rises[j] = {}
                for q, piece in enumerate(job.pieces):
                    if piece.high > piece.low:
                        rises[j][q] = self.problem.add_variable(f"r{i}_{j}_{q}", 0, 1)
                        self._at_most([(1, rises[j][q]), (-1, on[j][q])], 0)
            self.on.append(on)
            self.rises.append(rises)
            chosen = [(1, one) for own in on.values() for one in own.values()]
            self._at_most([*chosen, (-1, self.accepted[job.wish])], 0)
            self._at_most([*((-1, one) for _, one in chosen), (1, self.accepted[job.wish])], 0)

    def add_machines(self) -> None:
        """At every instant the shares on a machine are no more than what is free of it."""
        case = self.case
        for j in range(len(case.free)):
            mine = [i for i, job in enumerate(case.jobs) if j in job.machines]
            for row in case.rows(mine, (j,)):
                self._at_most(self._load(row.jobs, j), Fraction(row.free[0], self.unit))

    def _load(self, jobs: Sequence[int], j: int) -> list[Term]:
        terms: list[Term] = []
        for i in jobs:
            pieces = self.case.jobs[i].pieces
            for q, one in self.on[i][j].items():
                terms.append((Fraction(pieces[q].low, self.unit), one))
            for q, rise in self.rises[i][j].items():
                terms.append((Fraction(pieces[q].high - pieces[q].low, self.unit), rise))
        return terms

    def order_machines(self) -> None:
        """Of machines that are alike each has an earlier job than the next one."""
        for group in self.alike:
            allowed = [i for i, job in enumerate(self.case.jobs) if group[0] in job.machines]
            for before, after in pairwise(group):
                earlier: list[Term] = []
                for i in allowed:
                    own: list[Term] = [(1, one) for one in self.on[i][after].values()]
                    self._at_most([*own, *earlier], 0)
                    earlier += [(-1, one) for one in self.on[i][before].values()]
                    if len(earlier) > MOST_LISTED:
                        any_of_them = self.problem.add_variable(f"e{i}_{before}", 0, 1)
                        self._at_most([(1, any_of_them), *earlier], 0)
                        earlier = [(-1, any_of_them)]

    def count_machines(self) -> None:
        """A machine is used if any job is on it that needs a unit."""
        self.used = [self._binary(f"u{j}") for j in range(len(self.case.free))]
        for job, on in zip(self.case.jobs, self.on, strict=True):
            for j, own in on.items() if job.least else ():
                self._at_most([*((1, one) for one in own.values()), (-1, self.used[j])], 0)

    def worth(self, level: str) -> list[Term]:
        """Return a level of the objective, such that more is better, without its constant."""
        case = self.case
        if level == "machines":
            self.count_machines()
            return [(-1, one) for one in self.used]
        if level != "benefit":
            return [(case.weight(level, k), one) for k, one in enumerate(self.accepted)]
        terms: list[Term] = []
        for i, job in enumerate(case.jobs):
            for q, piece in enumerate(job.pieces):
                flat, steep = coefficients(case, i, piece)
                for j in job.machines:
                    terms.append((flat, self.on[i][j][q]))
                    if q in self.rises[i][j]:
                        gain = steep * (piece.high - piece.low)
                        terms.append((gain, self.rises[i][j][q]))
        return terms

    def require(self, level: str, least: Fraction) -> None:
        """Ask for plans that are as good on a level, but for rounding."""
        slack = Fraction(1, 10**9) if level == "benefit" else Fraction(1, 10**6)
        self.problem += linear(self.worth(level)) >= least - slack

    def maximise(self, level: str, limits: Limits, solver: str, seed: int) -> Outcome:
        """Make a level large; then, with who is where as it is, find shares at a vertex."""
        self.problem.setObjective(linear(self.worth(level)))
        found = optimise(self.problem, limits, solver=solver, seed=seed)
        if not found.assignment:
            return found
        binaries = [one for one in self.problem.variables() if one.cat == pulp.LpInteger]
        for one in binaries:
            one.cat = pulp.LpContinuous
            one.lowBound = one.upBound = round(found[one])
        shares = optimise(self.problem, replace(limits, work=None), solver=solver, seed=seed)
        for one in binaries:
            one.cat, one.lowBound, one.upBound = pulp.LpInteger, 0, 1
        return replace(found, assignment=shares.assignment or found.assignment)

    def held(self, outcome: Outcome) -> dict[int, tuple[int, int]] | None:
        """Return the plan of an assignment, its shares whole.

        They are rounded down and raised again; where they overflow by rounding, all the way from
        the low ends of their pieces. None if the assignment is a plan in floats only.
        """
        for least in (False, True):
            found = self._shares(outcome, least)
            if fits(self.case, found):
                return raised(self.case, found)
        return None

    def _shares(self, outcome: Outcome, least: bool) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for i, job in enumerate(self.case.jobs):
            if outcome[self.accepted[job.wish]] < 0.5:
                continue
            chosen = {
                (j, q): outcome[one] for j in job.machines for q, one in self.on[i][j].items()
            }
            j, q = max(chosen, key=lambda at: float(chosen[at]))
            rise = self.rises[i][j].get(q)
            share = job.pieces[q].low
            if rise is not None and not least:
                length = job.pieces[q].high - share
                share += floor(length * exact(outcome[rise]) + _CARE)
            found[i] = j, min(share, job.pieces[q].high)
        return found

    def _binary(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, cat=pulp.LpBinary)

    def _at_most(self, terms: Sequence[Term], side: Number) -> None:
        self.problem += linear(terms) <= side


def tidy(case: Case, level: str, bound: Fraction, care: Fraction) -> Fraction:
    """Return a bound of counts as the whole number that it is, but for rounding."""
    whole = level in ("rejections", "machines")
    return Fraction(floor(bound + care * 10)) if whole else bound
