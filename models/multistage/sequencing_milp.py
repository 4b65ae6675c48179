"""The mixed-integer program over sequences of chunks around reservations.

Chunk ``a = (task i, node j, gap, number)`` has a load ``x_a``, a start ``s_a`` in its gap
``[b_a, e_a]`` (see `dlopt.models.multistage.fixed_sequence_lp`) and a presence ``p_a``; an absent
one has no load and takes no time. ``z_i`` accepts task `i`, ``q_r`` reservation `r`, and ``h_rj``
gives node `j` to it.

maximise    sum_i weight_i z_i + sum_r weight_r q_r        or, with all of them 1, minimise T
subject to  sum_a x_a = load_i z_i,  x_a <= cap_a p_a,  p_a <= z_i
            s_a + theta p_a + w_a x_a <= due_i + T     if `a` is present    (w = tau + chi)
            sum_j h_rj = count_r q_r,  one reservation at a time on a node and on the channel
            s_a >= end_r           if ``h_rj`` and ``p_a``, for a reservation that starts by b_a
            s_a + theta p_a + w_a x_a <= start_r   if ``h_rj``, for one that starts from e_a on
            both likewise for the channel, with the reservation's I/O and the time of sending
            s_b >= s_a + time_a    if `a` is before `b`: by its gap, or else by ``y_ab``
            the redundant rows of `dlopt.models.multistage.capacity_cuts`
            x >= 0,   p, y, z, q, h in {0, 1}

As in `dlopt.models.admission.sequencing_milp`, ends are extended by `DUE_DATE_MARGIN`: what the
solver proves impossible is impossible without the margin, and by a margin; what it finds,
`fixed_sequence_lp` has to confirm.

Source: ours. With `K` installments it is the generalisation of model (iii) (see the package) to
several tasks and to reservations that may be refused; chunks may be computed beyond their gap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import pulp

from dlopt.backends.pulp import Outcome, Report, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.admission.sequencing_milp import DUE_DATE_MARGIN, START_DIGITS, ZERO_LOAD
from dlopt.models.multistage.capacity_cuts import (
    SequencingVariables,
    add_release_energy,
    add_window_energy,
    break_node_symmetry,
)
from dlopt.models.multistage.chunk_windows import CandidateChunk, CandidateChunks
from dlopt.models.multistage.fixed_sequence_lp import Grants, UnsizedChunk
from dlopt.models.multistage.reservations import ScaledReservation
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.result import Limits


class SequencingSolution(NamedTuple):
    """What the solver accepts, its sequence of chunks, and its outcome."""

    accepted: tuple[int, ...]
    grants: Grants
    sequence: tuple[UnsizedChunk, ...]
    outcome: Outcome


class SequencingMilp:
    """The program above.

    Parameters
    ----------
    scaled : ScaledInstance
    installments : int
        Chunks that a task may have on a node in a gap.
    max_lateness : Fraction, optional
        If given, accept everything and minimise the maximum lateness, up to this.
    max_earliness : Fraction
        The lateness may be negative, down to minus this.

    Attributes
    ----------
    candidates : CandidateChunks
    variables : SequencingVariables
        After `build`.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Reservation, Task
    >>> tasks, wanted = (Task("a", 0, 2, 4),), (Reservation("r", 0, 1, 3, io_end=2),)
    >>> instance = Instance(Cluster(1, tau=1, chi=1), tasks, wanted)  # one of both fits
    >>> milp = SequencingMilp(ScaledInstance.from_instance(instance), installments=1).build()
    >>> solution = milp.solve(Limits(), "HiGHS", 0)
    >>> len(solution.accepted) + len(solution.grants)
    1
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        installments: int,
        max_lateness: Fraction | None = None,
        max_earliness: Fraction = Fraction(0),
    ) -> None:
        self.scaled, self.tasks_only = scaled, scaled.tasks_only
        self.candidates = CandidateChunks(scaled, installments, max_lateness)
        self.accept_all = self.candidates.accept_all
        self.max_earliness = max_earliness

    def build(self) -> SequencingMilp:
        """State the program above."""
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        add, candidates, scaled = self.problem.add_variable, self.candidates, self.scaled
        names = {a: "_".join(map(str, a)) for a in candidates.chunks}
        load = {a: add(f"x_{names[a]}", 0) for a in candidates.chunks}
        start = {
            a: add(f"s_{names[a]}", candidates.earliest_start(a), candidates.gap_end(a))
            for a in candidates.chunks
        }
        present = {a: add(f"p_{names[a]}", cat=pulp.LpBinary) for a in candidates.chunks}
        before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary)
            for a, b in candidates.pairs
            if candidates.gap_end(a) > candidates.earliest_start(b)
        }
        self.accepted = [
            self._add_acceptance(f"z_{i}", task.mandatory) for i, task in enumerate(scaled.tasks)
        ]
        accepted = [
            self._add_acceptance(f"q_{r}", reservation.mandatory)
            for r, reservation in enumerate(scaled.reservations)
        ]
        node_reserved = {
            (r, j): accepted[r] if reservation.names_nodes else add(f"h_{r}_{j}", cat=pulp.LpBinary)
            for r, reservation in enumerate(scaled.reservations)
            for j in reservation.eligible
        }
        self.variables = SequencingVariables(
            candidates, self.problem, load, start, present, before, accepted, node_reserved
        )
        self.lateness = add("T", -self.max_earliness, candidates.max_lateness)
        if self.accept_all:
            self.problem += linear([(1, self.lateness)])
        else:
            self.problem += linear(self._objective_terms())
        self.add_loads()
        self.add_deadlines()
        self.add_reservations()
        self.add_reservation_conflicts()
        self.add_reserved_channel()
        self.add_reserved_nodes()
        self.add_sequencing()
        self.add_chunk_numbering()
        add_window_energy(self.variables)
        add_release_energy(self.variables)
        break_node_symmetry(self.variables)
        return self

    def add_value_range(self, lowest: Fraction, highest: Fraction) -> SequencingMilp:
        """Restrict the objective value to a range, without the value of finished tasks."""
        self.problem += linear(self._objective_terms()) <= -lowest
        self.problem += linear(self._objective_terms()) >= -highest
        return self

    def add_loads(self) -> None:
        """Send the whole load of an accepted task, in present chunks."""
        load, present = self.variables.load, self.variables.present
        loads = defaultdict(list)
        for a in self.candidates.chunks:
            loads[a.task].append((1, load[a]))
            terms: list[Term] = [(self.candidates.max_load(a), present[a]), (-1, load[a])]
            self.problem += linear(terms) >= 0
            self.problem += linear([(1, self.accepted[a.task]), (-1, present[a])]) >= 0
        for i, task in enumerate(self.scaled.tasks):
            self.problem += linear([*loads[i], (-task.load, self.accepted[i])]) == 0

    def add_deadlines(self) -> None:
        """Compute every chunk by its deadline, or no later than the lateness."""
        earliness = self.max_earliness
        for a in self.candidates.chunks:
            self._end_before_mandatory(a, port=True)
            self._end_before_mandatory(a, port=False)
            terms = [*self._end_terms(a, port=False), (-1, self.lateness)]
            due = self.scaled.tasks[a.task].due + DUE_DATE_MARGIN
            absent = (earliness, self.variables.present[a])
            self.problem += linear([*terms, absent]) <= due + earliness

    def add_reservations(self) -> None:
        """Give an accepted reservation as many nodes as it requests."""
        for r, reservation in enumerate(self.scaled.reservations):
            accepted = self.variables.reservation_accepted[r]
            if reservation.obstacle is not None:
                self.problem += linear([(1, accepted)]) == 0
            elif reservation.names_nodes:
                # A variable in no row gets no value, and chunks may be kept off by bounds alone.
                mandatory = int(reservation.mandatory or self.accept_all)
                self.problem += linear([(1, accepted)]) >= mandatory
            else:
                terms: list[Term] = [
                    (1, self.variables.node_reserved[r, j]) for j in reservation.eligible
                ]
                self.problem += linear([*terms, (-reservation.count, accepted)]) == 0

    def add_reservation_conflicts(self) -> None:
        """Give the channel, and each node, to one reservation at a time."""
        accepted, reserved = self.variables.reservation_accepted, self.variables.node_reserved
        for (r, reservation), (s, other) in combinations(enumerate(self.scaled.reservations), 2):
            if reservation.conflicts_on_channel(other):
                self.problem += linear([(1, accepted[r]), (1, accepted[s])]) <= 1
            elif reservation.conflicts_on_node(other):
                for j in set(reservation.eligible) & set(other.eligible):
                    self.problem += linear([(1, reserved[r, j]), (1, reserved[s, j])]) <= 1

    def add_reserved_channel(self) -> None:
        """Send nothing while a reservation occupies the channel."""
        for r, reservation in enumerate(self.scaled.reservations):
            if reservation.io_end > reservation.start:
                accepted = self.variables.reservation_accepted[r]
                for a in self.candidates.chunks:
                    if uses_port(self.tasks_only, a.node):
                        self._keep_clear(a, reservation, accepted, reservation.io_end, port=True)

    def add_reserved_nodes(self) -> None:
        """Use no node while it is reserved."""
        for (r, j), reserved in self.variables.node_reserved.items():
            reservation = self.scaled.reservations[r]
            for a in self.candidates.chunks:
                if a.node == j:
                    self._keep_clear(a, reservation, reserved, reservation.end, port=False)

    def add_sequencing(self) -> None:
        """Let one of two present chunks wait for the other."""
        candidates, variables = self.candidates, self.variables
        start, present = variables.start, variables.present
        for a, b in candidates.pairs:
            port, y = a.node != b.node, variables.before.get((a, b))
            big_m = candidates.latest_end(a, port) - candidates.earliest_start(b)
            terms: list[Term] = [(1, start[b]), (-1, start[a])]
            terms += [(-c, v) for c, v in variables.time_terms(a, port)]
            if y is None:
                self.problem += linear([*terms, (-big_m, present[b])]) >= -big_m
                continue
            self.problem += linear([*terms, (-big_m, y)]) >= -big_m
            big_m = candidates.latest_end(b, port) - candidates.earliest_start(a)
            terms = [(1, start[a]), (-1, start[b]), (big_m, y)]
            terms += [(-big_m, present[a]), (-big_m, present[b])]
            terms += [(-c, v) for c, v in variables.time_terms(b, port)]
            self.problem += linear(terms) >= -2 * big_m

    def add_chunk_numbering(self) -> None:
        """Number the identical chunks of a task on a node in a gap in their order, without gaps."""
        present = self.variables.present
        for (a, b), y in self.variables.before.items():
            if a[:3] == b[:3]:
                self.problem += linear([(1, present[a]), (-1, present[b])]) >= 0
                self.problem += linear([(1, y), (-1, present[b])]) >= 0

    def solve(
        self, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> SequencingSolution:
        """Return what is accepted, and the chunks with load in the sequence that was found."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, report=report)
        if not outcome.assignment:
            return SequencingSolution((), {}, (), outcome)
        variables = self.variables
        present = [
            (round(float(outcome[variables.start[a]]), START_DIGITS), a.number, a)
            for a in self.candidates.chunks
            if outcome[variables.load[a]] > ZERO_LOAD * self.scaled.tasks[a.task].load
        ]
        accepted = (i for i, z in enumerate(self.accepted) if outcome[z] > 0.5)
        grants = {
            r: tuple(
                j for j in reservation.eligible if outcome[variables.node_reserved[r, j]] > 0.5
            )
            for r, reservation in enumerate(self.scaled.reservations)
            if outcome[variables.reservation_accepted[r]] > 0.5
        }
        sequence = tuple(UnsizedChunk(a.task, a.node, a.gap) for *_, a in sorted(present))
        return SequencingSolution(tuple(accepted), grants, sequence, outcome)

    def _add_acceptance(self, name: str, mandatory: bool) -> pulp.LpVariable:
        low = int(mandatory or self.accept_all)
        return self.problem.add_variable(name, lowBound=low, upBound=1, cat=pulp.LpInteger)

    def _objective_terms(self) -> Iterator[Term]:
        """Yield the terms of the objective, negated for minimisation."""
        for task, z in zip(self.scaled.tasks, self.accepted, strict=True):
            yield -task.weight, z
        accepted = self.variables.reservation_accepted
        for reservation, q in zip(self.scaled.reservations, accepted, strict=True):
            yield -reservation.weight, q

    def _end_terms(self, a: CandidateChunk, port: bool) -> list[Term]:
        """Return the end of a chunk on the port, or on its node."""
        return [(1, self.variables.start[a]), *self.variables.time_terms(a, port)]

    def _end_before_mandatory(self, a: CandidateChunk, port: bool) -> None:
        """End a chunk before the mandatory reservations that follow."""
        due = self.candidates.due[a.task] - (self.tasks_only.theta_cp if port else 0)
        if self.candidates.must_end(a, port) < due:
            end = linear(self._end_terms(a, port))
            self.problem += end <= self.candidates.latest_end(a, port)

    def _keep_clear(
        self,
        a: CandidateChunk,
        reservation: ScaledReservation,
        accepted: pulp.LpVariable,
        until: Fraction,
        port: bool,
    ) -> None:
        """Keep a chunk off an accepted reservation: after it or before it, as its gap says."""
        earliest = self.candidates.earliest_start(a)
        if reservation.start <= self.candidates.gaps[a.task][a.gap][0]:
            wait = until - earliest
            if wait > 0:
                terms: list[Term] = [(1, self.variables.start[a]), (-wait, accepted)]
                terms.append((-wait, self.variables.present[a]))
                self.problem += linear(terms) >= earliest - wait
            return
        latest_end = self.candidates.latest_end(a, port)
        big_m = latest_end - reservation.start - DUE_DATE_MARGIN
        if big_m > 0:
            terms = [*self._end_terms(a, port), (big_m, accepted)]
            self.problem += linear(terms) <= latest_end
