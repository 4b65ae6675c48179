"""The mixed-integer program over orders of chunks around reservations.

Chunk ``a = (task i, node j, gap, number)`` has a load ``x_a``, a start ``s_a`` in its gap
``[b_a, e_a]`` (see `dlopt.models.multistage.fixed_sequence_lp`) and a presence ``p_a``; an absent
one has no load and takes no time. Reservation `r` is accepted by ``q_r`` and gets node `j` by
``h_rj``.

maximise    sum_i weight_i z_i + sum_r weight_r q_r        or, with all of them 1, minimise T
subject to  sum_a x_a = load_i z_i,  x_a <= room_a p_a,  p_a <= z_i
            s_a + theta p_a + w_a x_a <= due_i + T     if `a` is there    (w = tau + chi)
            sum_j h_rj = count_r q_r,  one reservation at a time on a node and on the channel
            s_a >= end_r           if ``h_rj`` and ``p_a``, of a reservation that starts by b_a
            s_a + theta p_a + w_a x_a <= start_r   if ``h_rj``, of one that starts from e_a on
            both likewise for the channel, with its I/O and the time of sending
            s_b >= s_a + time_a    if `a` is before `b`: by its gap, or else by ``y_ab``
            sum of what has its window in [s, e] <= e - s                redundant

As in `dlopt.models.admission.sequencing_milp`, ends are set back by `SPARE`: what the solver proves
impossible is impossible without it, and by a margin; what it finds, `fixed_sequence_lp` has to
confirm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import pulp

from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.admission.sequencing_milp import SPARE
from dlopt.models.multistage.capacity_cuts import Budgets
from dlopt.models.multistage.chunk_windows import Slot
from dlopt.models.multistage.fixed_sequence_lp import Grants, Part
from dlopt.models.multistage.reservations import Booking
from dlopt.models.multistage.scaled_instance import Case
from dlopt.result import Limits

_DIGITS = 7
"""Decimal digits of a start that tell chunks apart."""
_NOTHING = 1e-7
"""Share of a load that is none: what integers in floats leave to a chunk that is not there."""


class Found(NamedTuple):
    """What the solver accepts, the order of its chunks, and what it says of it."""

    accepted: tuple[int, ...]
    grants: Grants
    parts: tuple[Part, ...]
    outcome: Outcome


class OrderModel(Budgets):
    """The program above.

    Parameters
    ----------
    case : Case
    installments : int
        Chunks that a task may have on a node in a gap.
    late : Fraction, optional
        Accept everything and minimise the largest lateness, which is this at the most.
    early : Fraction
        It may be negative, but for no more than this.
    """

    def __init__(
        self,
        case: Case,
        installments: int,
        late: Fraction | None = None,
        early: Fraction = Fraction(0),
    ) -> None:
        super().__init__(case, installments, late)
        self.early = early

    def state(self) -> OrderModel:
        """State the program above."""
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        add = self.problem.add_variable
        names = {a: "_".join(map(str, a)) for a in self.slots}
        self.load = {a: add(f"x_{names[a]}", 0) for a in self.slots}
        self.start = {a: add(f"s_{names[a]}", self.first(a), self.last(a)) for a in self.slots}
        self.present = {a: add(f"p_{names[a]}", cat=pulp.LpBinary) for a in self.slots}
        self.before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary)
            for a, b in self.pairs or ()
            if self.last(a) > self.first(b)
        }
        self.accepted = [self._choice(f"z_{i}", job.must) for i, job in enumerate(self.case.jobs)]
        self.taken = [
            self._choice(f"q_{r}", booking.must) for r, booking in enumerate(self.case.bookings)
        ]
        self.held = {
            (r, j): self.taken[r] if booking.named else add(f"h_{r}_{j}", cat=pulp.LpBinary)
            for r, booking in enumerate(self.case.bookings)
            for j in booking.able
        }
        self.lateness = add("T", -self.early, self.late)
        if self.everyone:
            self.problem += linear([(1, self.lateness)])
        else:
            self.problem += linear(self._worth())
        self.add_loads()
        self.add_deadlines()
        self.add_bookings()
        self.add_one_booking_at_a_time()
        self.add_reserved_channel()
        self.add_reserved_nodes()
        self.add_orders()
        self.add_numbers()
        self.add_windows()
        self.add_stages()
        self.add_alike_nodes()
        return self

    def add_worth(self, least: Fraction, most: Fraction) -> OrderModel:
        """Look for what is worth no less and, as is known, no more; both without `granted`."""
        self.problem += linear(self._worth()) <= -least
        self.problem += linear(self._worth()) >= -most
        return self

    def add_loads(self) -> None:
        """Send all of an accepted task, in chunks that are there."""
        parts = defaultdict(list)
        for a in self.slots:
            parts[a.job].append((1, self.load[a]))
            terms: list[Term] = [(self._room(a), self.present[a]), (-1, self.load[a])]
            self.problem += linear(terms) >= 0
            self.problem += linear([(1, self.accepted[a.job]), (-1, self.present[a])]) >= 0
        for i, job in enumerate(self.case.jobs):
            self.problem += linear([*parts[i], (-job.load, self.accepted[i])]) == 0

    def add_deadlines(self) -> None:
        """Compute every chunk by its deadline, or no later than the lateness."""
        for a in self.slots:
            self._keep_in(a, port=True)
            self._keep_in(a, port=False)
            terms = [(1, self.start[a]), *self._time(a, port=False), (-1, self.lateness)]
            due = self.case.jobs[a.job].due + SPARE
            self.problem += linear([*terms, (self.early, self.present[a])]) <= due + self.early

    def add_bookings(self) -> None:
        """Give a reservation as many nodes as it wants."""
        for r, booking in enumerate(self.case.bookings):
            if booking.obstacle is not None:
                self.problem += linear([(1, self.taken[r])]) == 0
            elif booking.named:
                # What is in no row has no value, and chunks may be kept off by their bounds alone.
                self.problem += linear([(1, self.taken[r])]) >= int(booking.must or self.everyone)
            else:
                terms: list[Term] = [(1, self.held[r, j]) for j in booking.able]
                self.problem += linear([*terms, (-booking.count, self.taken[r])]) == 0

    def add_one_booking_at_a_time(self) -> None:
        """Give the channel, and each node, to one reservation at a time."""
        for (r, one), (s, other) in combinations(enumerate(self.case.bookings), 2):
            if one.bars(other):
                self.problem += linear([(1, self.taken[r]), (1, self.taken[s])]) <= 1
            elif one.meets(other):
                for j in set(one.able) & set(other.able):
                    self.problem += linear([(1, self.held[r, j]), (1, self.held[s, j])]) <= 1

    def add_reserved_channel(self) -> None:
        """Send nothing while a reservation has the channel."""
        for r, booking in enumerate(self.case.bookings):
            if booking.sent > booking.start:
                for a in self.slots:
                    if takes_port(self.stream, a.node):
                        self._keep_off(a, booking, self.taken[r], booking.sent, port=True)

    def add_reserved_nodes(self) -> None:
        """Use no node while it is reserved."""
        for (r, j), held in self.held.items():
            booking = self.case.bookings[r]
            for a in self.slots:
                if a.node == j:
                    self._keep_off(a, booking, held, booking.end, port=False)

    def add_orders(self) -> None:
        """Let one of two chunks wait for the other, if both are there."""
        for a, b in self.pairs or ():
            port, y = a.node != b.node, self.before.get((a, b))
            slack = self._end(a, port) - self.first(b)
            terms: list[Term] = [(1, self.start[b]), (-1, self.start[a])]
            terms += [(-c, v) for c, v in self._time(a, port)]
            if y is None:
                self.problem += linear([*terms, (-slack, self.present[b])]) >= -slack
                continue
            self.problem += linear([*terms, (-slack, y)]) >= -slack
            slack = self._end(b, port) - self.first(a)
            terms = [(1, self.start[a]), (-1, self.start[b]), (slack, y)]
            terms += [(-slack, self.present[a]), (-slack, self.present[b])]
            terms += [(-c, v) for c, v in self._time(b, port)]
            self.problem += linear(terms) >= -2 * slack

    def add_numbers(self) -> None:
        """Number the chunks of a task on a node in a gap in their order, leaving none out."""
        for (a, b), y in self.before.items():
            if a[:3] == b[:3]:
                self.problem += linear([(1, self.present[a]), (-1, self.present[b])]) >= 0
                self.problem += linear([(1, y), (-1, self.present[b])]) >= 0

    def solve(self, limits: Limits, solver: str, seed: int) -> Found:
        """Return what is accepted, and the chunks with loads in the order that was found."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        if not outcome.assignment:
            return Found((), {}, (), outcome)
        there = [
            (round(float(outcome[self.start[a]]), _DIGITS), a.number, a)
            for a in self.slots
            if outcome[self.load[a]] > _NOTHING * self.case.jobs[a.job].load
        ]
        chosen = (i for i, z in enumerate(self.accepted) if outcome[z] > 0.5)
        grants = {
            r: tuple(j for j in booking.able if outcome[self.held[r, j]] > 0.5)
            for r, booking in enumerate(self.case.bookings)
            if outcome[self.taken[r]] > 0.5
        }
        parts = tuple(Part(a.job, a.node, a.gap) for *_, a in sorted(there))
        return Found(tuple(chosen), grants, parts, outcome)

    def _choice(self, name: str, must: bool) -> pulp.LpVariable:
        low = int(must or self.everyone)
        return self.problem.add_variable(name, lowBound=low, upBound=1, cat=pulp.LpInteger)

    def _worth(self) -> Iterator[Term]:
        for job, z in zip(self.case.jobs, self.accepted, strict=True):
            yield -job.weight, z
        for booking, q in zip(self.case.bookings, self.taken, strict=True):
            yield -booking.weight, q

    def _keep_in(self, a: Slot, port: bool) -> None:
        """End a chunk before what cannot be refused."""
        due = self.due[a.job] - (self.stream.theta_cp if port else 0)
        if self.until(a, port) < due:
            terms = [(1, self.start[a]), *self._time(a, port)]
            self.problem += linear(terms) <= self._end(a, port)

    def _keep_off(
        self, a: Slot, booking: Booking, held: pulp.LpVariable, until: Fraction, port: bool
    ) -> None:
        """Keep a chunk off a reservation: behind it, or in front of it, as its gap says."""
        first = self.first(a)
        if booking.start <= self.gaps[a.job][a.gap][0]:
            wait = until - first
            if wait > 0:
                terms: list[Term] = [(1, self.start[a]), (-wait, held), (-wait, self.present[a])]
                self.problem += linear(terms) >= first - wait
            return
        slack = self._end(a, port) - booking.start - SPARE
        if slack > 0:
            terms = [(1, self.start[a]), *self._time(a, port), (slack, held)]
            self.problem += linear(terms) <= self._end(a, port)
