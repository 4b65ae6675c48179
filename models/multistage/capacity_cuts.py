"""Rows of the program over orders that cut off no plan, and much of its relaxation.

What takes time of the channel or of a node between two instants has it; and of plans that differ in
the names of nodes alone, one is enough.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pulp

from dlopt.backends.pulp import Term, linear
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.multistage.chunk_windows import Slot, Slots


class Budgets(Slots):
    """Variables of the program of `dlopt.models.multistage.sequencing_milp`, and these rows.

    Attributes
    ----------
    problem : pulp.LpProblem
    load, start, present : dict of Slot to pulp.LpVariable
    before : dict of tuple of Slot to pulp.LpVariable
        Of two chunks whose order is free.
    taken : list of pulp.LpVariable
        Whether reservations are accepted.
    held : dict of tuple of int to pulp.LpVariable
        Whether a reservation has a node.
    """

    problem: pulp.LpProblem
    load: dict[Slot, pulp.LpVariable]
    start: dict[Slot, pulp.LpVariable]
    present: dict[Slot, pulp.LpVariable]
    before: dict[tuple[Slot, Slot], pulp.LpVariable]
    taken: list[pulp.LpVariable]
    held: dict[tuple[int, int], pulp.LpVariable]

    def add_windows(self) -> None:
        """Leave port and nodes the time for all that has its window between two instants."""
        for j, slots in self._resources():
            for start, end, inside in self._windows(slots, port=j is None):
                self.problem += linear(self._times(j, inside, start, end)) <= end - start

    def add_stages(self) -> None:
        """Leave port and nodes the time for what starts behind an instant, after what is before.

        What starts before a mark ends by ``e``, and what starts behind it begins then.
        """
        for n, (j, slots) in enumerate(self._resources()):
            for k, stage in enumerate(self._stages(slots, port=j is None)):
                mark, end = stage.mark, stage.end
                ended = self.problem.add_variable(f"e_{n}_{k}", mark)
                for a in stage.before:
                    terms: list[Term] = [(1, self.start[a]), *self._time(a, port=j is None)]
                    self.problem += linear([*terms, (-1, ended)]) <= 0
                for start in sorted({self.first(a) for a in stage.before}):
                    inside = [a for a in stage.before if self.first(a) >= start]
                    terms = self._times(j, inside, start, mark)
                    self.problem += linear([*terms, (-1, ended)]) <= -start
                terms = self._times(j, stage.after, mark, end)
                self.problem += linear([*terms, (1, ended)]) <= end

    def add_alike_nodes(self) -> None:
        """Take nodes that are alike in a fixed order, for one reservation or one task's chunks."""
        free = [r for r, booking in enumerate(self.case.bookings) if not booking.named]
        crowd: dict[int, int] = defaultdict(int)
        for pair in self.before:
            for a in pair:
                crowd[a.job] += 1
        busiest = max(crowd, key=lambda i: crowd[i], default=0)
        for i, j in self._alike():
            given: list[Term] = [
                (-1 if (r, node) == (free[0], j) else 1, self.held[r, node])
                for r in free
                for node in (i, j)
                if (r, node) in self.held
            ]
            if given and (free[0], i) in self.held:
                held = [(1, self.held[free[0], i]), (-1, self.held[free[0], j])]
                self.problem += linear(held) >= 0
            a, b = Slot(busiest, i, 0, 0), Slot(busiest, j, 0, 0)
            if a in self.present and b in self.present:
                terms = [*given, (1, self.present[a]), (-1, self.present[b])]
                self.problem += linear(terms) >= 0
                if (a, b) in self.before:
                    terms = [*given, (1, self.before[a, b]), (-1, self.present[b])]
                    self.problem += linear(terms) >= 0

    def _resources(self) -> Iterator[tuple[int | None, list[Slot]]]:
        """Yield the port, as None, and the nodes, with the chunks that take time of them."""
        yield None, [a for a in self.slots if takes_port(self.stream, a.node)]
        for j in self.stream.nodes:
            yield j, [a for a in self.slots if a.node == j]

    def _times(
        self, j: int | None, slots: list[Slot], start: Fraction, end: Fraction
    ) -> list[Term]:
        """Return what chunks take of the port or a node, and reservations in a window."""
        terms = [term for a in slots for term in self._time(a, port=j is None)]
        for r, booking in enumerate(self.case.bookings):
            until = booking.sent if j is None else booking.end
            held = self.taken[r] if j is None else self.held.get((r, j))
            if held is not None and start <= booking.start and until <= end:
                terms.append((until - booking.start, held))
        return terms

    def _alike(self) -> Iterator[tuple[int, int]]:
        """Yield neighbours among the nodes that could be exchanged."""
        stream, alike = self.stream, defaultdict[object, list[int]](list)
        origin = min((job.release for job in self.case.jobs), default=Fraction(0))
        for j in stream.nodes:
            able = tuple(r for r, booking in enumerate(self.case.bookings) if j in booking.able)
            free = max(stream.free[j], origin)
            alike[stream.tau[j], stream.chi[j], free, able].append(j)
        for nodes in alike.values():
            yield from pairwise(nodes)

    def _time(self, a: Slot, port: bool) -> list[Term]:
        """Return how long a chunk holds the port, or its node."""
        setup, unit = self._costs(a, port)
        return [(setup, self.present[a]), (unit, self.load[a])]
