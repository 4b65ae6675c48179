"""The mixed-integer program over orders of chunks.

Chunk ``a = (task i, node j, number)`` has a load ``x_a``, a start ``s_a`` in its window
``[r_a, d_a]`` and a presence ``p_a``; an absent one has no load and takes no time. ``y_ab`` says
that `a` is before `b`, if both are there.

maximise    sum_i weight_i z_i                    or, with z = 1, minimise T
subject to  sum_a x_a = load_i z_i,  x_a <= room_a p_a,  p_a <= z_i
            s_a >= r_a,  s_a + theta p_a + w_a x_a <= due_i + T            (w = tau + chi)
            s_b >= s_a + time_a - (d_a - r_b)(1 - y_ab)
            s_a >= s_b + time_b - (d_b - r_a)(2 - p_a - p_b + y_ab)
            sum of what has its window in [s, e] <= e - max(s, free)       redundant

For chunks of one node `time_a` is ``theta p_a + w_a x_a``, for others ``theta_cm p_a + tau_a x_a``
on the port. One order binary serves both, for the order on the port is the order on each node.
Chunks whose windows do not meet need none.

The solver works in floats. So due dates are set back by `SPARE`: what it proves impossible is
impossible without it, and by a margin; what it finds, `fixed_sequence_lp` has to confirm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise
from typing import NamedTuple

import pulp

from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import Part, takes_port
from dlopt.models.admission.scaled_instance import Case
from dlopt.result import Limits

SPARE = Fraction(1, 2**12)
"""In units of the model, whose horizon is about a thousand."""
_DIGITS = 7
"""Decimal digits of a start that tell chunks apart."""
_NOTHING = 1e-7
"""Share of a load that is none: what integers in floats leave to a chunk that is not there."""
MOST_PAIRS = 10_000
"""A larger model would hardly fit into memory, let alone be solved."""
TOO_MANY = (
    "there are too many orders of chunks to model: the program would have more than "
    f"{MOST_PAIRS:,} pairs of chunks"
)
"""Why the program over orders is left out."""


class Slot(NamedTuple):
    """A chunk that may be sent: the job, the node, and its number among those of both."""

    job: int
    node: int
    number: int


class OrderModel:
    """The program above.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node.
    late : Fraction, optional
        Accept all tasks and minimise their largest lateness, which is this at the most.
    """

    def __init__(self, case: Case, installments: int, late: Fraction | None = None) -> None:
        self.case, self.installments = case, installments
        self.everyone, self.late = late is not None, late or Fraction(0)
        self.due = [job.due + self.late + SPARE for job in case.jobs]
        slots = (
            Slot(i, j, number)
            for i in range(len(case.jobs))
            for j in case.nodes
            if self._room(i, j) > 0
            for number in range(installments)
        )
        self.slots = sorted(slots, key=self.release)
        self.pairs = self._pairs()

    def state(self) -> OrderModel:
        """State the program above."""
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        add = self.problem.add_variable
        names = {slot: "_".join(map(str, slot)) for slot in self.slots}
        self.load = {a: add(f"x_{names[a]}", 0) for a in self.slots}
        self.start = {a: add(f"s_{names[a]}", self.release(a), self.due[a.job]) for a in self.slots}
        self.present = {a: add(f"p_{names[a]}", cat=pulp.LpBinary) for a in self.slots}
        self.before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary) for a, b in self.pairs or ()
        }
        self.accepted = [
            add(f"z_{i}", lowBound=int(job.must or self.everyone), upBound=1, cat=pulp.LpInteger)
            for i, job in enumerate(self.case.jobs)
        ]
        self.lateness = add("T", 0, self.late)
        if self.everyone:
            self.problem += linear([(1, self.lateness)])
        else:
            weights = (-job.weight for job in self.case.jobs)
            self.problem += linear(zip(weights, self.accepted, strict=True))
        self.add_loads()
        self.add_deadlines()
        self.add_orders()
        self.add_numbers()
        self.add_node_windows()
        self.add_port_windows()
        self.add_alike_nodes()
        return self

    def release(self, a: Slot) -> Fraction:
        """Return when a chunk can be sent at the earliest."""
        return self.case.start(self.case.jobs[a.job], a.node)

    def add_loads(self) -> None:
        """Send all of an accepted task, in chunks that are there."""
        parts = defaultdict(list)
        for a in self.slots:
            parts[a.job].append((1, self.load[a]))
            room = self._room(a.job, a.node)
            self.problem += linear([(room, self.present[a]), (-1, self.load[a])]) >= 0
            self.problem += linear([(1, self.accepted[a.job]), (-1, self.present[a])]) >= 0
        for i, job in enumerate(self.case.jobs):
            self.problem += linear([*parts[i], (-job.load, self.accepted[i])]) == 0

    def add_deadlines(self) -> None:
        """Compute every chunk by its deadline, or no later than the lateness."""
        for a in self.slots:
            terms = [(1, self.start[a]), *self._time(a, port=False), (-1, self.lateness)]
            self.problem += linear(terms) <= self.case.jobs[a.job].due + SPARE

    def add_orders(self) -> None:
        """Let one of two chunks wait for the other, if both are there."""
        for (a, b), y in self.before.items():
            port = a.node != b.node
            slack = self._end(a, port) - self.release(b)
            terms: list[Term] = [(1, self.start[b]), (-1, self.start[a]), (-slack, y)]
            terms += [(-c, v) for c, v in self._time(a, port)]
            self.problem += linear(terms) >= -slack
            slack = self._end(b, port) - self.release(a)
            terms = [(1, self.start[a]), (-1, self.start[b]), (slack, y)]
            terms += [(-slack, self.present[a]), (-slack, self.present[b])]
            terms += [(-c, v) for c, v in self._time(b, port)]
            self.problem += linear(terms) >= -2 * slack

    def add_numbers(self) -> None:
        """Number the chunks of a task on a node in their order, without gaps (they are alike)."""
        for (a, b), y in self.before.items():
            if (a.job, a.node) == (b.job, b.node):
                self.problem += linear([(1, self.present[a]), (-1, self.present[b])]) >= 0
                self.problem += linear([(1, y)]) == 1

    def add_node_windows(self) -> None:
        """Leave a node the time for all chunks whose windows lie between two instants."""
        for j in self.case.nodes:
            slots = [a for a in self.slots if a.node == j]
            for start, end, inside in self._windows(slots, port=False):
                terms = [term for a in inside for term in self._time(a, port=False)]
                self.problem += linear(terms) <= end - start

    def add_port_windows(self) -> None:
        """Leave the port the time for all chunks whose windows lie between two instants."""
        slots = [a for a in self.slots if takes_port(self.case, a.node)]
        for start, end, inside in self._windows(slots, port=True):
            terms = [term for a in inside for term in self._time(a, port=True)]
            self.problem += linear(terms) <= end - start

    def add_alike_nodes(self) -> None:
        """Serve nodes that are alike in a fixed order, by the task with most chunks in its way."""
        crowd: dict[int, int] = defaultdict(int)
        for a, b in self.before:
            crowd[a.job] += 1
            crowd[b.job] += 1
        for a, b in self._alike(max(crowd, key=lambda i: crowd[i], default=0)):
            self.problem += linear([(1, self.present[a]), (-1, self.present[b])]) >= 0
            if (a, b) in self.before:
                self.problem += linear([(1, self.before[a, b])]) == 1

    def solve(self, limits: Limits, solver: str, seed: int) -> tuple[list[Part], Outcome]:
        """Return the chunks with loads in the order that was found, and the outcome."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        if not outcome.assignment:
            return [], outcome
        there = [
            (round(float(outcome[self.start[a]]), _DIGITS), a.number, a)
            for a in self.slots
            if outcome[self.load[a]] > _NOTHING * self.case.jobs[a.job].load
        ]
        return [Part(a.job, a.node) for *_, a in sorted(there)], outcome

    def _alike(self, job: int) -> list[tuple[Slot, Slot]]:
        """Return neighbours among the first chunks of a job on nodes that are alike."""
        alike = defaultdict(list)
        for a in self.slots:
            if a.job == job and a.number == 0:
                case, j = self.case, a.node
                first = min(job.release for job in case.jobs)
                alike[case.tau[j], case.chi[j], max(case.free[j], first)].append(a)
        return [pair for slots in alike.values() for pair in pairwise(slots)]

    def _windows(
        self, slots: list[Slot], port: bool
    ) -> Iterator[tuple[Fraction, Fraction, list[Slot]]]:
        """Yield start and end of windows too short for all chunks whose own windows lie inside."""
        costs = {a: self._costs(a, port) for a in slots}
        most = {a: setup + unit * self._room(a.job, a.node) for a, (setup, unit) in costs.items()}
        for start in sorted({self.release(a) for a in slots}):
            later = [a for a in slots if self.release(a) >= start]
            for end in sorted({self.due[a.job] for a in later}):
                inside = [a for a in later if self.due[a.job] <= end]
                if sum(most[a] for a in inside) > end - start:
                    yield start, end, inside

    def _pairs(self) -> list[tuple[Slot, Slot]] | None:
        """Return the chunks that could be in each other's way, None if they are too many."""
        pairs: list[tuple[Slot, Slot]] = []
        for p, a in enumerate(self.slots):
            for b in islice(self.slots, p + 1, None):
                if self.release(b) >= self.due[a.job]:
                    break
                if self._meet(a, b):
                    pairs.append((a, b))
            if len(pairs) > MOST_PAIRS:
                return None
        return pairs

    def _meet(self, a: Slot, b: Slot) -> bool:
        port = a.node != b.node
        if port and not (takes_port(self.case, a.node) and takes_port(self.case, b.node)):
            return False
        return self._end(a, port) > self.release(b) and self._end(b, port) > self.release(a)

    def _end(self, a: Slot, port: bool) -> Fraction:
        """Return when a chunk must be sent, or computed, at the latest."""
        return self.due[a.job] - (self.case.theta_cp if port else 0)

    def _room(self, i: int, j: int) -> Fraction:
        job, case = self.case.jobs[i], self.case
        time = self.due[i] - case.start(job, j) - case.overhead
        return min(job.load, time / case.unit(j))

    def _time(self, a: Slot, port: bool) -> list[Term]:
        """Return how long a chunk holds the port, or its node."""
        setup, unit = self._costs(a, port)
        return [(setup, self.present[a]), (unit, self.load[a])]

    def _costs(self, a: Slot, port: bool) -> tuple[Fraction, Fraction]:
        """Return the set-up time of a chunk, and its time for each unit of load."""
        if port:
            return self.case.theta_cm, self.case.tau[a.node]
        return self.case.overhead, self.case.unit(a.node)
