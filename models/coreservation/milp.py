"""The MILP: which requests are accepted, on which machines, and each part's share there.

With the symbols of `cpsat`, but a binary ``y_ijq`` for part ``i`` on machine ``j`` and segment
``q``, and the increment as the fraction ``r_ijq`` of the segment's length::

    maximise    sum_i w_k(i) sum_jq (b_iq y_ijq + m_iq (high_iq - low_iq) r_ijq)    benefit
                or sum_k p_k x_k, sum_k x_k, -sum_j u_j                             other levels
    subject to  sum_jq y_ijq = x_k(i)                           one machine and one segment
                0 <= r_ijq <= y_ijq                             increment on the segment
                sum_{i active at t} sum_q (low_iq y_ijq + (high_iq - low_iq) r_ijq) <= C_jt
                y_ijq <= u_j                                    machines that are used
                identical machines in the order of first use    symmetry breaking
                x, y, u in {0, 1}, r in [0, 1]

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5), Machine("n", 4)), requests))
>>> model = MilpModel(scaled)
>>> outcome = model.maximise("benefit", Limits(), "HiGHS", 0)
>>> len(model.read_assignment(outcome))
2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import floor

import pulp

from dlopt.arithmetic import Number, exact
from dlopt.backends.pulp import Outcome, Report, Term, linear, optimise
from dlopt.models.coreservation.construction import raise_shares
from dlopt.models.coreservation.cpsat import MAX_LISTED_PARTS, identical_machines
from dlopt.models.coreservation.objective import segment_coefficients
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.result import Limits

MAX_UNITS = 1 << 10
"""With more units than this, CPU is given to the solver as a share of the largest machine.

Chosen by hand: solvers in floats are inaccurate where coefficients are very large.
"""
LONG_SLOPE = 1 << 10
"""Units of CPU from which on a share that may be raised is a long one.

CP-SAT reaches the best shares of long slopes step by step, and may not end even for ten requests;
in a MILP the length does not matter. Chosen by hand: it proves slopes of 20 units in .02 s where
the MILP takes .1 s, and does not prove those of 20,000 in a minute.
"""
SHARE_TOLERANCE = Fraction(1, 10**6)
"""A share in floats this little below an integer is that integer, as in HiGHS."""
BENEFIT_LEVEL_SLACK = Fraction(1, 10**9)
"""How much less of the benefit is accepted where that level was maximised before; it is at most 1.
"""
COUNT_LEVEL_SLACK = Fraction(1, 10**6)
"""The same for counts and priorities: HiGHS's feasibility tolerance, times ten."""


def has_long_slopes(scaled: ScaledInstance) -> bool:
    """Tell whether the share of some part can be raised by many units, with benefit for each.

    Examples
    --------
    >>> from dlopt.problems.coreservation import Instance, Machine, Part, Request, linear
    >>> asked = Request("r", 0, 1, 2, 1, (Part(9999, 1000, benefit=linear()),))
    >>> has_long_slopes(ScaledInstance.from_instance(Instance((Machine("m", 5000),), (asked,))))
    True
    """
    return any(
        segment.slope and segment.high - segment.low >= LONG_SLOPE
        for part in scaled.parts
        for segment in part.segments
    )


def estimated_terms(scaled: ScaledInstance) -> float:
    """Return about how many coefficients the model of an instance has.

    Complexity: that of the cliques of all machines together.
    """
    sizes = [2 * len(part.segments) for part in scaled.parts]
    choices = sum(size * len(part.machines) for size, part in zip(sizes, scaled.parts, strict=True))
    in_cliques = sum(sizes[i] for clique in scaled.maximal_cliques() for i in clique.parts)
    eligible = choices / max(1, sum(sizes))  # machines of a part, on average
    interchangeable = sum(map(len, identical_machines(scaled)))
    symmetry = MAX_LISTED_PARTS / 2 * interchangeable * len(scaled.parts)
    return 4 * choices + eligible * in_cliques + symmetry


class MilpModel:
    """The MILP of an instance, without an objective.

    The increment of a share is the fraction of its segment's length, from 0 to 1: in units of the
    machines a short and steep segment would have coefficients that solvers refuse.

    Parameters
    ----------
    scaled : ScaledInstance
    symmetric : bool
        Leave identical machines interchangeable; by default they are used in order.

    Attributes
    ----------
    accept : list
        ``x[k]`` = 1 if request k is accepted.
    assign : list of dict of dict
        ``y[i][j][q]`` = 1 if part i is on machine j and segment q.
    increment : list of dict of dict
        ``r[i][j][q]``, for segments that are no points.
    machine_used : list
        ``u[j]`` = 1 if machine j is used; see `add_machine_use`.
    """

    def __init__(self, scaled: ScaledInstance, *, symmetric: bool = False) -> None:
        self.scaled = scaled
        self.problem = pulp.LpProblem("coreservation", pulp.LpMaximize)
        self.accept = [self._binary(f"x{k}") for k in range(len(scaled.requests))]
        self.assign: list[dict[int, dict[int, pulp.LpVariable]]] = []
        self.increment: list[dict[int, dict[int, pulp.LpVariable]]] = []
        self.machine_used: list[pulp.LpVariable] = []
        self.identical = [] if symmetric else identical_machines(scaled)
        largest = max(map(max, scaled.free))
        self.unit = 1 if largest <= MAX_UNITS else largest
        self.add_parts()
        self.add_capacity()
        self.break_machine_symmetry()

    def add_parts(self) -> None:
        """A part of an accepted request has one machine and one segment, and an increment on it."""
        for i, part in enumerate(self.scaled.parts):
            assign: dict[int, dict[int, pulp.LpVariable]] = {}
            increments: dict[int, dict[int, pulp.LpVariable]] = {}
            for j in part.machines:
                assign[j] = {q: self._binary(f"y{i}_{j}_{q}") for q in range(len(part.segments))}
                increments[j] = {}
                for q, segment in enumerate(part.segments):
                    if segment.high > segment.low:
                        increments[j][q] = self.problem.add_variable(f"r{i}_{j}_{q}", 0, 1)
                        self._at_most([(1, increments[j][q]), (-1, assign[j][q])], 0)
            self.assign.append(assign)
            self.increment.append(increments)
            accept = self.accept[part.request]
            chosen = [(1, y) for on_machine in assign.values() for y in on_machine.values()]
            self._at_most([*chosen, (-1, accept)], 0)
            self._at_most([*((-1, y) for _, y in chosen), (1, accept)], 0)

    def add_capacity(self) -> None:
        """At every instant the shares on a machine are at most its free capacity."""
        scaled = self.scaled
        for j in range(len(scaled.free)):
            eligible = [i for i, part in enumerate(scaled.parts) if j in part.machines]
            for clique in scaled.overloadable_cliques(eligible, (j,)):
                self._at_most(self._load(clique.parts, j), Fraction(clique.free[0], self.unit))

    def _load(self, parts: Sequence[int], j: int) -> list[Term]:
        terms: list[Term] = []
        for i in parts:
            segments = self.scaled.parts[i].segments
            for q, assigned in self.assign[i][j].items():
                terms.append((Fraction(segments[q].low, self.unit), assigned))
            for q, increment in self.increment[i][j].items():
                length = segments[q].high - segments[q].low
                terms.append((Fraction(length, self.unit), increment))
        return terms

    def break_machine_symmetry(self) -> None:
        """Of identical machines each has an earlier part than the next one."""
        for group in self.identical:
            eligible = [i for i, part in enumerate(self.scaled.parts) if group[0] in part.machines]
            for before, after in pairwise(group):
                earlier: list[Term] = []
                for i in eligible:
                    on_after: list[Term] = [(1, y) for y in self.assign[i][after].values()]
                    self._at_most([*on_after, *earlier], 0)
                    earlier += [(-1, y) for y in self.assign[i][before].values()]
                    if len(earlier) > MAX_LISTED_PARTS:
                        some_earlier = self.problem.add_variable(f"e{i}_{before}", 0, 1)
                        self._at_most([(1, some_earlier), *earlier], 0)
                        earlier = [(-1, some_earlier)]

    def add_machine_use(self) -> None:
        """A machine is used if a part is on it that needs a unit."""
        self.machine_used = [self._binary(f"u{j}") for j in range(len(self.scaled.free))]
        for part, assign in zip(self.scaled.parts, self.assign, strict=True):
            for j, on_machine in assign.items() if part.minimum else ():
                chosen = ((1, y) for y in on_machine.values())
                self._at_most([*chosen, (-1, self.machine_used[j])], 0)

    def objective_terms(self, level: str) -> list[Term]:
        """Return a maximised level of the objective, without its constant."""
        scaled = self.scaled
        if level == "machines":
            self.add_machine_use()
            return [(-1, used) for used in self.machine_used]
        if level != "benefit":
            return [(scaled.weight(level, k), accept) for k, accept in enumerate(self.accept)]
        terms: list[Term] = []
        for i, part in enumerate(scaled.parts):
            for q, segment in enumerate(part.segments):
                intercept, slope = segment_coefficients(scaled, i, segment)
                for j in part.machines:
                    terms.append((intercept, self.assign[i][j][q]))
                    if q in self.increment[i][j]:
                        gain = slope * (segment.high - segment.low)
                        terms.append((gain, self.increment[i][j][q]))
        return terms

    def require(self, level: str, minimum: Fraction) -> None:
        """Require a value of a level, without its constant, but for rounding."""
        slack = BENEFIT_LEVEL_SLACK if level == "benefit" else COUNT_LEVEL_SLACK
        self.problem += linear(self.objective_terms(level)) >= minimum - slack

    def maximise(
        self, level: str, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> Outcome:
        """Maximise a level; then, with all binaries fixed, find shares at a vertex."""
        self.problem.setObjective(linear(self.objective_terms(level)))
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, report=report)
        if not outcome.assignment:
            return outcome
        binaries = [
            variable for variable in self.problem.variables() if variable.cat == pulp.LpInteger
        ]
        for variable in binaries:
            variable.cat = pulp.LpContinuous
            variable.lowBound = variable.upBound = round(outcome[variable])
        shares = optimise(self.problem, replace(limits, work=None), solver=solver, seed=seed)
        for variable in binaries:
            variable.cat, variable.lowBound, variable.upBound = pulp.LpInteger, 0, 1
        return replace(outcome, assignment=shares.assignment or outcome.assignment)

    def read_assignment(self, outcome: Outcome) -> dict[int, tuple[int, int]] | None:
        """Return the assignment of a solved model, its shares integers.

        They are rounded down and raised again; where they overflow by rounding, they start at the
        low ends of their segments. None if the assignment is feasible in floats only.
        """
        for at_low_ends in (False, True):
            assignment = self._rounded_shares(outcome, at_low_ends=at_low_ends)
            if is_feasible(self.scaled, assignment):
                return raise_shares(self.scaled, assignment)
        return None

    def _rounded_shares(self, outcome: Outcome, *, at_low_ends: bool) -> dict[int, tuple[int, int]]:
        assignment: dict[int, tuple[int, int]] = {}
        for i, part in enumerate(self.scaled.parts):
            if outcome[self.accept[part.request]] < 0.5:
                continue
            chosen = {
                (j, q): outcome[assigned]
                for j in part.machines
                for q, assigned in self.assign[i][j].items()
            }
            j, q = max(chosen, key=lambda choice: float(chosen[choice]))
            increment = self.increment[i][j].get(q)
            share = part.segments[q].low
            if increment is not None and not at_low_ends:
                length = part.segments[q].high - share
                share += floor(length * exact(outcome[increment]) + SHARE_TOLERANCE)
            assignment[i] = j, min(share, part.segments[q].high)
        return assignment

    def _binary(self, name: str) -> pulp.LpVariable:
        return self.problem.add_variable(name, cat=pulp.LpBinary)

    def _at_most(self, terms: Sequence[Term], side: Number) -> None:
        self.problem += linear(terms) <= side


def round_count_bound(level: str, bound: Fraction, tolerance: Fraction) -> Fraction:
    """Return the bound of a level that counts as an integer, but for rounding of the solver."""
    counts = level in ("rejections", "machines")
    return Fraction(floor(bound + tolerance * 10)) if counts else bound
