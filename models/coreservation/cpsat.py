"""The CP-SAT model: which requests are accepted, on which machines, with how much CPU.

With requests ``k``, parts ``i`` of request ``k(i)``, machines ``j``, and for each part segments
``q`` of its benefit function from ``low`` to ``high``, with value ``b`` at the low end and slope
``m``; each weight is ``w_k / |I_k|``::

    maximise    sum_i w_k(i) sum_q (b_iq z_iq + m_iq r_iq)            benefit
                or sum_k p_k x_k, sum_k x_k, -sum_j u_j               the other levels
    subject to  sum_j y_ij = x_k(i),  sum_q z_iq = x_k(i)             one machine, one segment
                0 <= r_iq <= (high_iq - low_iq) z_iq                  increment on the segment
                c_i = sum_q (low_iq z_iq + r_iq) if accepted          CPU share
                sum_{i active at t} c_i y_ij <= C_jt                  machine capacity, cumulative
                sum_{i active at t} c_i <= sum_j C_jt                 aggregate capacity
                identical machines in the order of first use          symmetry breaking
                x, y, z, u in {0, 1}, c, r integer

Only maximal cliques of parts that can exceed a machine have capacity constraints. The aggregate
capacity is redundant: models get it by `CpSatModel.add_aggregate_capacity`.

Examples
--------
>>> from dlopt.models.coreservation.objective import objective_key
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5), Machine("n", 4)), requests))
>>> model = CpSatModel(scaled)
>>> model.model.maximize(
...     model.objective_expression(ObjectiveScaling.for_level(scaled, "benefit"))
... )
>>> objective_key(scaled, model.read_assignment(model.solve(Limits(), 0)))
(Fraction(2, 3),)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from dlopt.backends import cpsat
from dlopt.backends.cpsat import Report
from dlopt.models.coreservation.objective import (
    Assignment,
    ObjectiveScaling,
    segment_coefficients,
)
from dlopt.models.coreservation.requests import Clique
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.result import Limits

Expression: TypeAlias = Any
"""A variable, a linear expression or a number; OR-Tools is imported where a model is stated."""

MAX_LISTED_PARTS = 64
"""Earlier parts that a symmetry-breaking constraint lists; one variable stands for more of them.

Chosen by hand: a constraint for each part and machine would otherwise grow with the square.
"""


def estimated_terms(scaled: ScaledInstance) -> float:
    """Return about how many literals and coefficients the model of an instance has."""
    choices = sum(len(part.machines) for part in scaled.parts)
    segments = sum(len(part.segments) for part in scaled.parts)
    interchangeable = sum(map(len, identical_machines(scaled)))
    return 6.0 * (choices + segments) + MAX_LISTED_PARTS / 2 * interchangeable * len(scaled.parts)


class CpSatModel:
    """The CP-SAT model of an instance, without an objective.

    Parameters
    ----------
    scaled : ScaledInstance
    symmetric : bool
        Leave identical machines interchangeable; by default they are used in order.

    Attributes
    ----------
    accept : list
        ``x[k]`` = 1 if request k is accepted.
    assign : list of dict
        ``y[i][j]`` = 1 if part i is on machine j.
    segment : list of list
        ``z[i][q]`` = 1 if the share of part i is on segment q.
    increment : list of list
        ``r[i][q]``, what the share exceeds the low end of segment q by.
    cpu : list
        ``c[i]``, the share of part i; of one that is rejected, its minimum.
    machine_used : list
        ``u[j]`` = 1 if machine j is used; see `add_machine_use`.
    """

    def __init__(self, scaled: ScaledInstance, *, symmetric: bool = False) -> None:
        self.scaled = scaled
        self.model = cpsat.new_model()
        self.accept = [self.model.new_bool_var(f"x{k}") for k in range(len(scaled.requests))]
        self.assign: list[dict[int, Expression]] = []
        self.segment: list[list[Expression]] = []
        self.increment: list[list[Expression]] = []
        self.cpu: list[Expression] = []
        self.machine_used: list[Expression] = []
        self.identical = [] if symmetric else identical_machines(scaled)
        self.add_parts()
        self.add_capacity()
        self.break_machine_symmetry()

    def add_parts(self) -> None:
        """Each part of an accepted request has one machine and one segment, others have none."""
        for i, part in enumerate(self.scaled.parts):
            accept = self.accept[part.request]
            self.assign.append(
                {j: self._choice(accept, len(part.machines), f"y{i},{j}") for j in part.machines}
            )
            self.segment.append(
                [
                    self._choice(accept, len(part.segments), f"z{i},{q}")
                    for q in range(len(part.segments))
                ]
            )
            for choices in (list(self.assign[-1].values()), self.segment[-1]):
                if len(choices) > 1:
                    self.model.add_exactly_one([*choices, accept.negated()])
            self._add_share(i)

    def _choice(self, accept: Expression, count: int, name: str) -> Expression:
        """Return a variable for one of several choices; a single choice is that of acceptance."""
        return accept if count == 1 else self.model.new_bool_var(name)

    def _add_share(self, i: int) -> None:
        """The share of a part is the low end of its segment and the increment above it."""
        part = self.scaled.parts[i]
        increments, terms, minimum = [], [], part.minimum
        for q, (segment, chosen) in enumerate(zip(part.segments, self.segment[i], strict=True)):
            increment: Expression = 0
            length = segment.high - segment.low
            if length > 0:
                increment = self.model.new_int_var(0, length, f"r{i},{q}")
                self.model.add(increment <= length * chosen)
                terms.append(increment)
            terms.append((segment.low - minimum) * chosen)
            increments.append(increment)
        self.increment.append(increments)
        if len(part.segments) == 1 and part.segments[0].high == minimum:
            self.cpu.append(minimum)
        else:  # a part that is rejected keeps its minimum
            share = self.model.new_int_var(minimum, part.segments[-1].high, f"c{i}")
            self.model.add(share == minimum + sum(terms))
            self.cpu.append(share)

    def add_capacity(self) -> None:
        """At every instant the shares on a machine are at most its free capacity."""
        scaled = self.scaled
        for j in range(len(scaled.free)):
            eligible = [i for i, part in enumerate(scaled.parts) if j in part.machines]
            self.add_machine_capacity(j, scaled.overloadable_cliques(eligible, (j,)))

    def add_machine_capacity(self, j: int, cliques: Sequence[Clique]) -> None:
        """Of one machine, given the cliques that can exceed it."""
        competing = {i for clique in cliques for i in clique.parts}
        if all(len(self.scaled.parts[i].machines) == 1 for i in competing):
            for clique in cliques:
                self.model.add(sum(self._load(clique.parts)) <= clique.free[0])
        else:
            self._add_cumulative(j, sorted(competing))

    def _add_cumulative(self, j: int, parts: Sequence[int]) -> None:
        """A cumulative constraint; what is not free of the machine is a fixed interval."""
        scaled, model = self.scaled, self.model
        first = min(scaled.parts[i].start for i in parts)
        last = max(scaled.parts[i].end for i in parts)
        capacity = max(scaled.free[j][first:last])
        intervals, demands = [], []
        for i in parts:
            part = scaled.parts[i]
            intervals.append(
                model.new_optional_fixed_size_interval_var(
                    part.start, part.end - part.start, self.assign[i][j], f"i{i},{j}"
                )
            )
            demands.append(self.cpu[i])
        since = first
        for t in range(first, last):
            if t + 1 == last or scaled.free[j][t + 1] != scaled.free[j][since]:
                if scaled.free[j][since] < capacity:
                    intervals.append(
                        model.new_fixed_size_interval_var(since, t + 1 - since, f"h{j},{t}")
                    )
                    demands.append(capacity - scaled.free[j][since])
                since = t + 1
        model.add_cumulative(intervals, demands, capacity)

    def add_aggregate_capacity(self) -> None:
        """At every instant all shares are at most the capacity of all machines: it bounds well."""
        scaled = self.scaled
        for clique in scaled.overloadable_cliques(
            range(len(scaled.parts)), range(len(scaled.free))
        ):
            self.model.add(sum(self._load(clique.parts)) <= sum(clique.free))

    def _load(self, parts: Sequence[int]) -> list[Expression]:
        return [
            load
            for i in parts
            for segment, chosen, increment in zip(
                self.scaled.parts[i].segments, self.segment[i], self.increment[i], strict=True
            )
            for load in (segment.low * chosen, increment)
        ]

    def break_machine_symmetry(self) -> None:
        """Of identical machines each is used by some part before the next one is."""
        for group in self.identical:
            eligible = [i for i, part in enumerate(self.scaled.parts) if group[0] in part.machines]
            for before, after in pairwise(group):
                earlier: list[Expression] = []
                for i in eligible:
                    self.model.add_bool_or([*earlier, self.assign[i][after].negated()])
                    earlier.append(self.assign[i][before])
                    if len(earlier) > MAX_LISTED_PARTS:
                        some_earlier = self.model.new_bool_var(f"e{i},{before}")
                        self.model.add_bool_or([*earlier, some_earlier.negated()])
                        earlier = [some_earlier]

    def add_machine_use(self) -> None:
        """A machine is used if a part is on it that needs a unit; of identical ones the first.

        Parts that need none can be next to others, or, where no machine of theirs is used,
        anywhere.
        """
        self.machine_used = [self.model.new_bool_var(f"u{j}") for j in range(len(self.scaled.free))]
        for part, assign in zip(self.scaled.parts, self.assign, strict=True):
            for j, assigned in assign.items() if part.minimum else ():
                self.model.add_implication(assigned, self.machine_used[j])
        for group in self.identical:
            for before, after in pairwise(group):
                self.model.add_implication(self.machine_used[after], self.machine_used[before])

    def objective_expression(self, scaling: ObjectiveScaling) -> Expression:
        """Return a maximised level of the objective, with integer coefficients."""
        scaled, level = self.scaled, scaling.level
        if level == "machines":
            self.add_machine_use()
            return -sum(self.machine_used)
        if level != "benefit":
            return sum(
                scaling.to_int(scaled.weight(level, k)) * accept
                for k, accept in enumerate(self.accept)
            )
        terms = []
        for i, part in enumerate(scaled.parts):
            for q, segment in enumerate(part.segments):
                intercept, slope = (
                    scaling.to_int(number) for number in segment_coefficients(scaled, i, segment)
                )
                terms.append(intercept * self.segment[i][q])
                if slope:
                    terms.append(slope * self.increment[i][q])
        return sum(terms)

    def hint(self, assignment: Assignment) -> None:
        """Start from an assignment."""
        if self.identical:
            assignment = relabel_symmetric(self.scaled, assignment, self.identical)
        accepted = {self.scaled.parts[i].request for i in assignment}
        for k, accept in enumerate(self.accept):
            self.model.add_hint(accept, k in accepted)
        for i in range(len(self.scaled.parts)):
            machine, units = assignment.get(i, (-1, -1))
            chosen, increment = -1, 0
            if i in assignment:
                chosen = _best_segment(self.scaled, i, units)
                segment = self.scaled.parts[i].segments[chosen]
                increment = min(units, segment.high) - segment.low
            self.hint_part(i, machine, chosen, increment)
        if self.machine_used:
            busy = {machine for machine, _ in assignment.values()}
            for j, used in enumerate(self.machine_used):
                self.model.add_hint(used, j in busy)

    def hint_part(self, i: int, machine: int, chosen: int, increment: int) -> None:
        """Start a part from a machine, a segment and an increment; -1 if it has none."""
        part = self.scaled.parts[i]
        if len(part.machines) > 1:
            for j, assigned in self.assign[i].items():
                self.model.add_hint(assigned, j == machine)
        for q, segment in enumerate(part.segments):
            if len(part.segments) > 1:
                self.model.add_hint(self.segment[i][q], q == chosen)
            if segment.high > segment.low:
                self.model.add_hint(self.increment[i][q], increment if q == chosen else 0)

    def solve(
        self, limits: Limits, seed: int, effort: float | None = None, report: Report | None = None
    ) -> cpsat.Outcome:
        """Solve the model; `effort` limits CP-SAT's deterministic time."""
        return cpsat.optimise(self.model, limits, seed=seed, effort=effort, report=report)

    def read_assignment(self, outcome: cpsat.Outcome) -> dict[int, tuple[int, int]]:
        """Return the assignment of a solved model."""
        value_of = outcome.value_of
        assert value_of is not None
        assignment = {}
        for i, part in enumerate(self.scaled.parts):
            if value_of(self.accept[part.request]):
                machine = next(j for j, assigned in self.assign[i].items() if value_of(assigned))
                share = self.cpu[i]
                assignment[i] = machine, share if isinstance(share, int) else value_of(share)
        return assignment


def identical_machines(scaled: ScaledInstance) -> list[tuple[int, ...]]:
    """Return the groups of two or more interchangeable machines."""
    return [group for group, _ in scaled.identical_machines() if len(group) > 1]


def relabel_symmetric(
    scaled: ScaledInstance, assignment: Assignment, groups: Sequence[Sequence[int]]
) -> dict[int, tuple[int, int]]:
    """Return an assignment with identical machines renamed in the order of their first parts."""
    renamed = {j: j for j in range(len(scaled.free))}
    for group in groups:
        used = dict.fromkeys(machine for _, (machine, _) in sorted(assignment.items()))
        busy = [j for j in used if j in group]
        renamed |= zip([*busy, *(j for j in group if j not in used)], group, strict=True)
    return {i: (renamed[machine], units) for i, (machine, units) in assignment.items()}


def _best_segment(scaled: ScaledInstance, i: int, units: int) -> int:
    """Return the segment of a part on which a share has the largest benefit."""
    segments = scaled.parts[i].segments

    def benefit(q: int) -> tuple[Fraction, int]:
        segment = segments[q]
        if segment.low > units:
            return Fraction(-1), q
        increment = min(units, segment.high) - segment.low
        return segment.benefit + segment.slope * increment, -q

    return max(range(len(segments)), key=benefit)
