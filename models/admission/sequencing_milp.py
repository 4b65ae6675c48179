"""The mixed-integer program over sequences of chunks, with continuous loads.

Chunk ``a = (task i, node j, number)`` has a load ``x_a``, a start ``s_a`` in its window
``[r_a, d_a]`` and a presence ``p_a``; an absent one has no load and takes no time. ``y_ab = 1`` if
`a` is before `b` and both are present; ``z_i`` accepts task `i`.

maximise    sum_i weight_i z_i                    or, with z = 1, minimise T
subject to  sum_a x_a = load_i z_i,  x_a <= cap_a p_a,  p_a <= z_i
            s_a >= r_a,  s_a + theta p_a + w_a x_a <= due_i + T            (w = tau + chi)
            s_b >= s_a + time_a - (d_a - r_b)(1 - y_ab)
            s_a >= s_b + time_b - (d_b - r_a)(2 - p_a - p_b + y_ab)
            sum of time_a over chunks with window in [s, e] <= e - s       redundant: energy
            x >= 0,   p, y, z in {0, 1}

For chunks of one node `time_a` is ``theta p_a + w_a x_a``, for others ``theta_cm p_a + tau_a x_a``
on the port. One sequencing binary serves both, for the sequence on the port is the sequence on each
node. Chunks whose windows do not overlap need none.

The solver works in floating point. Due dates are therefore extended by `DUE_DATE_MARGIN`: what the
solver proves impossible is impossible without the margin, and by a margin; what it finds,
`fixed_sequence_lp` has to confirm.

Source: ours. In the symbols of Mamat 2011, ``load_i`` is sigma_i, and ``due_i`` is A_i + D_i.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise
from typing import NamedTuple

import pulp

from dlopt.backends.pulp import Outcome, Report, Term, linear, optimise
from dlopt.backends.size_limits import too_large
from dlopt.models.admission.fixed_sequence_lp import UnsizedChunk, uses_port
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.result import Limits

DUE_DATE_MARGIN = Fraction(1, 2**12)
"""By how much due dates are extended, in units of the model, whose horizon is about a thousand.
Chosen by hand: well above the solver's feasibility tolerance of 1e-7, well below a chunk's time."""

START_DIGITS = 7
"""Decimal digits of a start by which chunks are ordered: as many as the solver's tolerance
gives."""

ZERO_LOAD = 1e-7
"""Share of a task's load up to which a chunk counts as absent: what the integrality tolerance of a
floating-point solver leaves to an absent chunk."""

MAX_PAIRS = 10_000
"""Pairs of chunks that need a sequencing binary. Chosen by hand: a larger model would hardly fit
into memory, and far smaller ones are not solved to optimality."""


class CandidateChunk(NamedTuple):
    """A chunk that may be sent: the task, the node, and its number among the chunks of both."""

    task: int
    node: int
    number: int


class SequencingMilp:
    """The program above.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node.
    max_lateness : Fraction, optional
        If given, accept all tasks and minimise their maximum lateness, up to this.

    Attributes
    ----------
    pairs : list of (CandidateChunk, CandidateChunk)
        Those that may compete for port or node.
    too_large : str or None
        Why the program is too large to be built, if it is.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = (Task("a", 0, 2, 14), Task("b", 0, 10, 15))  # only b first, then a, is in time
    >>> scaled = ScaledInstance.from_instance(Instance(Cluster(2, tau=1, chi=1), tasks))
    >>> sequence, _ = SequencingMilp(scaled, 1).build().solve(Limits(), "HiGHS", 0)
    >>> {chunk.task for chunk in sequence}
    {0, 1}
    """

    def __init__(
        self, scaled: ScaledInstance, installments: int, max_lateness: Fraction | None = None
    ) -> None:
        self.scaled, self.installments = scaled, installments
        self.accept_all = max_lateness is not None
        self.max_lateness = max_lateness or Fraction(0)
        self.due = [task.due + self.max_lateness + DUE_DATE_MARGIN for task in scaled.tasks]
        candidates = (
            CandidateChunk(i, j, number)
            for i in range(len(scaled.tasks))
            for j in scaled.nodes
            if self._max_load(i, j) > 0
            for number in range(installments)
        )
        self.candidates = sorted(candidates, key=self.release)
        self.pairs: list[tuple[CandidateChunk, CandidateChunk]] = []
        self.too_large = self._find_conflicting_pairs()

    def build(self) -> SequencingMilp:
        """State the program above."""
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        add = self.problem.add_variable
        names = {a: "_".join(map(str, a)) for a in self.candidates}
        self.load = {a: add(f"x_{names[a]}", 0) for a in self.candidates}
        self.start = {
            a: add(f"s_{names[a]}", self.release(a), self.due[a.task]) for a in self.candidates
        }
        self.present = {a: add(f"p_{names[a]}", cat=pulp.LpBinary) for a in self.candidates}
        self.before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary) for a, b in self.pairs
        }
        self.accepted = [
            add(
                f"z_{i}",
                lowBound=int(task.mandatory or self.accept_all),
                upBound=1,
                cat=pulp.LpInteger,
            )
            for i, task in enumerate(self.scaled.tasks)
        ]
        self.lateness = add("T", 0, self.max_lateness)
        if self.accept_all:
            self.problem += linear([(1, self.lateness)])
        else:
            weights = (-task.weight for task in self.scaled.tasks)
            self.problem += linear(zip(weights, self.accepted, strict=True))
        self.add_loads()
        self.add_deadlines()
        self.add_sequencing()
        self.add_chunk_numbering()
        self.add_node_energy()
        self.add_port_energy()
        self.break_node_symmetry()
        return self

    def release(self, a: CandidateChunk) -> Fraction:
        """Return the earliest start of a chunk."""
        return self.scaled.earliest_start(self.scaled.tasks[a.task], a.node)

    def add_loads(self) -> None:
        """Send the whole load of an accepted task, in present chunks."""
        loads = defaultdict(list)
        for a in self.candidates:
            loads[a.task].append((1, self.load[a]))
            max_load = self._max_load(a.task, a.node)
            self.problem += linear([(max_load, self.present[a]), (-1, self.load[a])]) >= 0
            self.problem += linear([(1, self.accepted[a.task]), (-1, self.present[a])]) >= 0
        for i, task in enumerate(self.scaled.tasks):
            self.problem += linear([*loads[i], (-task.load, self.accepted[i])]) == 0

    def add_deadlines(self) -> None:
        """Compute every chunk by its deadline, or no later than the lateness."""
        for a in self.candidates:
            terms = [(1, self.start[a]), *self._time_terms(a, port=False), (-1, self.lateness)]
            self.problem += linear(terms) <= self.scaled.tasks[a.task].due + DUE_DATE_MARGIN

    def add_sequencing(self) -> None:
        """Let one of two present chunks wait for the other."""
        for (a, b), y in self.before.items():
            port = a.node != b.node
            big_m = self._latest_end(a, port) - self.release(b)
            terms: list[Term] = [(1, self.start[b]), (-1, self.start[a]), (-big_m, y)]
            terms += [(-c, v) for c, v in self._time_terms(a, port)]
            self.problem += linear(terms) >= -big_m
            big_m = self._latest_end(b, port) - self.release(a)
            terms = [(1, self.start[a]), (-1, self.start[b]), (big_m, y)]
            terms += [(-big_m, self.present[a]), (-big_m, self.present[b])]
            terms += [(-c, v) for c, v in self._time_terms(b, port)]
            self.problem += linear(terms) >= -2 * big_m

    def add_chunk_numbering(self) -> None:
        """Number the identical chunks of a task on a node in their order, without gaps."""
        for (a, b), y in self.before.items():
            if (a.task, a.node) == (b.task, b.node):
                self.problem += linear([(1, self.present[a]), (-1, self.present[b])]) >= 0
                self.problem += linear([(1, y)]) == 1

    def add_node_energy(self) -> None:
        """Leave a node the time for all chunks whose windows lie in an interval (redundant)."""
        for j in self.scaled.nodes:
            candidates = [a for a in self.candidates if a.node == j]
            for start, end, inside in self._energy_windows(candidates, port=False):
                terms = [term for a in inside for term in self._time_terms(a, port=False)]
                self.problem += linear(terms) <= end - start

    def add_port_energy(self) -> None:
        """Leave the port the time for all chunks whose windows lie in an interval (redundant)."""
        candidates = [a for a in self.candidates if uses_port(self.scaled, a.node)]
        for start, end, inside in self._energy_windows(candidates, port=True):
            terms = [term for a in inside for term in self._time_terms(a, port=True)]
            self.problem += linear(terms) <= end - start

    def break_node_symmetry(self) -> None:
        """Let the task with most sequencing binaries use identical nodes in a fixed order."""
        binaries: dict[int, int] = defaultdict(int)
        for a, b in self.before:
            binaries[a.task] += 1
            binaries[b.task] += 1
        task = max(binaries, key=lambda i: binaries[i], default=0)
        for a, b in self._identical_node_pairs(task):
            self.problem += linear([(1, self.present[a]), (-1, self.present[b])]) >= 0
            if (a, b) in self.before:
                self.problem += linear([(1, self.before[a, b])]) == 1

    def solve(
        self, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> tuple[list[UnsizedChunk], Outcome]:
        """Return the chunks with load in the sequence of the solver's solution, and its outcome."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, report=report)
        if not outcome.assignment:
            return [], outcome
        present = [
            (round(float(outcome[self.start[a]]), START_DIGITS), a.number, a)
            for a in self.candidates
            if outcome[self.load[a]] > ZERO_LOAD * self.scaled.tasks[a.task].load
        ]
        return [UnsizedChunk(a.task, a.node) for *_, a in sorted(present)], outcome

    def _identical_node_pairs(self, task: int) -> list[tuple[CandidateChunk, CandidateChunk]]:
        """Return neighbours among the first chunks of a task on identical nodes."""
        groups = defaultdict(list)
        for a in self.candidates:
            if a.task == task and a.number == 0:
                scaled, j = self.scaled, a.node
                first = min(task.release for task in scaled.tasks)
                groups[scaled.tau[j], scaled.chi[j], max(scaled.free[j], first)].append(a)
        return [pair for candidates in groups.values() for pair in pairwise(candidates)]

    def _energy_windows(
        self, candidates: list[CandidateChunk], port: bool
    ) -> Iterator[tuple[Fraction, Fraction, list[CandidateChunk]]]:
        """Yield the intervals that are too short for all chunks whose windows lie inside."""
        costs = {a: self._setup_and_unit_time(a, port) for a in candidates}
        max_time = {
            a: setup + unit_time * self._max_load(a.task, a.node)
            for a, (setup, unit_time) in costs.items()
        }
        for start in sorted({self.release(a) for a in candidates}):
            later = [a for a in candidates if self.release(a) >= start]
            for end in sorted({self.due[a.task] for a in later}):
                inside = [a for a in later if self.due[a.task] <= end]
                if sum(max_time[a] for a in inside) > end - start:
                    yield start, end, inside

    def _find_conflicting_pairs(self) -> str | None:
        """Find the pairs of chunks that may compete for port or node; say if they are too many."""
        for p, a in enumerate(self.candidates, 1):
            for b in islice(self.candidates, p, None):
                if self.release(b) >= self.due[a.task]:
                    break
                if self._conflict(a, b):
                    self.pairs.append((a, b))
            if len(self.pairs) > MAX_PAIRS:
                # Extrapolated from the chunks that were compared with all later ones.
                pairs = len(self.pairs) * len(self.candidates) / p
                return too_large("sequencing MILP", pairs, MAX_PAIRS, "pairs of chunks")
        return None

    def _conflict(self, a: CandidateChunk, b: CandidateChunk) -> bool:
        """Tell whether either of two chunks may have to wait for the other."""
        port = a.node != b.node
        if port and not (uses_port(self.scaled, a.node) and uses_port(self.scaled, b.node)):
            return False
        return self._latest_end(a, port) > self.release(b) and self._latest_end(
            b, port
        ) > self.release(a)

    def _latest_end(self, a: CandidateChunk, port: bool) -> Fraction:
        """Return when a chunk must be sent (on the port), or computed."""
        return self.due[a.task] - (self.scaled.theta_cp if port else 0)

    def _max_load(self, i: int, j: int) -> Fraction:
        """Return how much of a task one chunk on a node can do."""
        task, scaled = self.scaled.tasks[i], self.scaled
        time = self.due[i] - scaled.earliest_start(task, j) - scaled.overhead
        return min(task.load, time / scaled.unit_time(j))

    def _time_terms(self, a: CandidateChunk, port: bool) -> list[Term]:
        """Return how long a chunk occupies the port, or its node."""
        setup, unit_time = self._setup_and_unit_time(a, port)
        return [(setup, self.present[a]), (unit_time, self.load[a])]

    def _setup_and_unit_time(self, a: CandidateChunk, port: bool) -> tuple[Fraction, Fraction]:
        """Return the set-up time of a chunk, and its time for each unit of load."""
        if port:
            return self.scaled.theta_cm, self.scaled.tau[a.node]
        return self.scaled.overhead, self.scaled.unit_time(a.node)
