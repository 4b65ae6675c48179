"""The mixed-integer program of a stage: what nodes can do in it, with few chunks each.

Chunk ``a = (node j, number)`` has a load ``x_a`` and a start ``s_a``; ``y_ab`` says that `a` is
before `b`. With set-up costs ``p_a`` says whether there is a chunk; without, it is 1.

maximise    sum_a x_a
subject to  s_a >= r_j,  s_a + theta_cm p_a + tau_j x_a <= E
            s_a + theta p_a + w_j x_a <= d_j                          (w = tau + chi)
            s_b >= s_a + theta_cm p_a + tau x_a - M (1 - y_ab)        port, and likewise for a
            s_b >= s_a + theta p_a + w_j x_a                          next on the node
            sum of what has its window in [s, e] <= (e - s)/tau (1 - beta^m)    redundant

The last row is the bound of `dlopt.models.admission.window_capacity`, `m` the number of chunks.
Nodes with equal windows are served in a fixed order. So are all nodes, with one chunk each and
equal costs, if no window lies strictly inside another: to exchange neighbours that are not in the
order of their windows loses nothing (models/README.md has the proof).

The solver works in floats: its bound is its word. The loads of the order that it finds are solved
again in fractions, by the linear program of that order.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

import pulp

from dlopt.arithmetic import exact
from dlopt.backends.pulp import DEFAULT, Outcome, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.multistage.stage_sequence_lp import Sent, order_filled
from dlopt.models.multistage.stages import Stage
from dlopt.result import Limits, Status

_DIGITS = 7
"""Decimal digits of a start that tell chunks apart."""
_NOTHING = 1e-9
"""Load, in units of the model, of a chunk that is not there."""


class Slot(NamedTuple):
    """A chunk that may be sent: the window, by its index in the stage, and its number in it."""

    window: int
    number: int


class Filled(NamedTuple):
    """What a stage can do.

    Parameters
    ----------
    chunks : tuple of Sent
        In the order of their transmissions.
    load : Fraction
        Of them all.
    bound : Fraction
        No chunks do more, by the word of the solver.
    solver : str
    """

    chunks: tuple[Sent, ...]
    load: Fraction
    bound: Fraction
    solver: str


class StageModel:
    """The program above.

    Parameters
    ----------
    case : dlopt.models.admission.scaled_instance.Case
        Costs of the nodes.
    stage : Stage
    installments : int
        Chunks that a node may get.
    """

    def __init__(self, case: Case, stage: Stage, installments: int) -> None:
        self.case, self.stage, self.installments = case, stage, installments
        self.windows = stage.windows
        self.slots = [
            Slot(j, number) for j in range(len(self.windows)) for number in range(installments)
        ]
        ported = [a for a in self.slots if takes_port(case, self.windows[a.window].node)]
        self.pairs = [(a, b) for a, b in combinations(ported, 2) if a.window != b.window]

    def maximise_load(self) -> StageModel:
        """State the program above."""
        self.problem = pulp.LpProblem("stage", pulp.LpMaximize)
        add = self.problem.add_variable
        names = {a: f"{a.window}_{a.number}" for a in self.slots}
        windows, stage = self.windows, self.stage
        self.load = {a: add(f"x_{names[a]}", 0, self._room(a)) for a in self.slots}
        self.start = {
            a: add(f"s_{names[a]}", windows[a.window].ready, stage.sent) for a in self.slots
        }
        free = 0 if self.case.overhead else 1
        self.present = {
            a: add(f"p_{names[a]}", lowBound=free, upBound=1, cat=pulp.LpInteger)
            for a in self.slots
        }
        self.before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary) for a, b in self.pairs
        }
        self.problem += linear((1, x) for x in self.load.values())
        self.add_windows()
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_latency()
        self.add_known_orders()
        return self

    def add_windows(self) -> None:
        """Send a chunk while the channel is free, and compute it while its node is."""
        for a in self.slots:
            room, load, present = self._room(a), self.load[a], self.present[a]
            start = (1, self.start[a])
            self.problem += linear([start, *self._time(a, port=True)]) <= self.stage.sent
            due = self.windows[a.window].due
            self.problem += linear([start, *self._time(a, port=False)]) <= due
            if self.case.overhead:
                self.problem += linear([(room, present), (-1, load)]) >= 0

    def add_one_port(self) -> None:
        """Let one of two chunks wait for the other."""
        for (a, b), y in self.before.items():
            for first, second, sign in ((a, b, 1), (b, a, -1)):
                slack = self.stage.sent - self.windows[second.window].ready
                terms: list[Term] = [(1, self.start[second]), (-1, self.start[first])]
                terms += [(-c, v) for c, v in self._time(first, port=True)]
                terms.append((-sign * slack, y))
                self.problem += linear(terms) >= (-slack if sign > 0 else 0)

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk when it has computed the one before."""
        for a, b in pairwise(self.slots):
            if a.window == b.window:
                terms: list[Term] = [(1, self.start[b]), (-1, self.start[a])]
                terms += [(-c, v) for c, v in self._time(a, port=False)]
                self.problem += linear(terms) >= 0

    def add_latency(self) -> None:
        """Bound what all chunks can be whose windows lie between two instants."""
        for start in sorted({window.ready for window in self.windows}):
            for end in sorted({window.due for window in self.windows}):
                inside = [a for a in self.slots if self._lies(a, start, end)]
                if inside and end > start:
                    most = self._most({self.windows[a.window].node for a in inside}, start, end)
                    self.problem += linear((1, self.load[a]) for a in inside) <= most

    def add_known_orders(self) -> None:
        """Serve nodes with equal windows, or windows none of which is inside another, in order."""
        alike = self.installments == 1 and not self.case.overhead and self._is_alike()
        order = sorted(range(len(self.windows)), key=lambda j: self.windows[j][1:])
        nested = any(self.windows[p].due > self.windows[q].due for p, q in pairwise(order))
        place = {j: p for p, j in enumerate(order)}
        for (a, b), y in self.before.items():
            if (alike and not nested) or (self._same(a, b) and a.number == b.number):
                first = place[a.window] < place[b.window]
                self.problem += linear([(1, y)]) == int(first)

    def fill(self, limits: Limits, seed: int, solver: str = DEFAULT) -> Filled:
        """Return the chunks of the best order that is found, and a bound."""
        most = self._most({w.node for w in self.windows}, self.stage.start, self.stage.due)
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        order = self._order(outcome) if outcome.assignment else []
        chunks = tuple(order_filled(self.case, self.stage, order, seed)) if order else ()
        load = sum((chunk.load for chunk in chunks), Fraction(0))
        if outcome.bound is not None:
            most = min(most, exact(outcome.bound))
        if outcome.status is Status.OPTIMAL or most < load:
            # What the solver calls an optimum is off by its tolerance; the fractions are not.
            near = abs(most - load) <= Fraction(1, 10**6) * max(load, Fraction(1))
            most = load if near else max(most, load)
        return Filled(chunks, load, most, outcome.solver)

    def _order(self, outcome: Outcome) -> list[int]:
        """Return the nodes of the chunks in the order of their transmissions."""
        there = [a for a in self.slots if outcome[self.load[a]] > _NOTHING]
        there.sort(key=lambda a: (round(float(outcome[self.start[a]]), _DIGITS), a.number))
        return [a.window for a in there]

    def _most(self, nodes: set[int], start: Fraction, end: Fraction) -> Fraction:
        """Return what some nodes can do in a window, at the most."""
        case, chunks = self.case, len(nodes) * self.installments
        held = sum((self._held(j, start, end) for j in nodes), Fraction(0))
        tau, chi = min(case.tau[j] for j in nodes), min(case.chi[j] for j in nodes)
        if not tau:
            return held
        share = 1 - (chi / (tau + chi)) ** chunks
        return min(held, (end - start) / tau * share, (self.stage.sent - start) / tau)

    def _held(self, node: int, start: Fraction, end: Fraction) -> Fraction:
        window = next(one for one in self.windows if one.node == node)
        length = min(end, window.due) - max(start, window.ready) - self.case.overhead
        return max(length, Fraction(0)) / self.case.unit(node)

    def _room(self, a: Slot) -> Fraction:
        window, case = self.windows[a.window], self.case
        room = self._held(window.node, window.ready, window.due)
        tau = case.tau[window.node]
        if not tau:
            return room
        return max(min(room, (self.stage.sent - window.ready - case.theta_cm) / tau), Fraction(0))

    def _lies(self, a: Slot, start: Fraction, end: Fraction) -> bool:
        window = self.windows[a.window]
        return start <= window.ready and window.due <= end

    def _same(self, a: Slot, b: Slot) -> bool:
        one, two = self.windows[a.window], self.windows[b.window]
        costs = [(self.case.tau[w.node], self.case.chi[w.node]) for w in (one, two)]
        return one[1:] == two[1:] and costs[0] == costs[1]

    def _is_alike(self) -> bool:
        return len({(self.case.tau[w.node], self.case.chi[w.node]) for w in self.windows}) == 1

    def _time(self, a: Slot, port: bool) -> list[Term]:
        """Return how long a chunk holds the port, or its node."""
        case, node = self.case, self.windows[a.window].node
        setup, unit = (case.theta_cm, case.tau[node]) if port else (case.overhead, case.unit(node))
        return [(setup, self.present[a]), (unit, self.load[a])]
