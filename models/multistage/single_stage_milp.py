"""The mixed-integer program of one stage: the most load that nodes can do in it, with few chunks.

Chunk ``a = (node j, number)`` has a load ``x_a`` and a start ``s_a`` in the node's window
``[r_j, d_j]``; E is the end of the free channel. ``y_ab = 1`` if `a` is before `b` on the port.
With set-up costs ``p_a`` says whether the chunk is present; without, it is 1.

maximise    sum_a x_a
subject to  s_a >= r_j,  s_a + theta_cm p_a + tau_j x_a <= E
            s_a + theta p_a + w_j x_a <= d_j                          (w = tau + chi)
            s_b >= s_a + theta_cm p_a + tau x_a - M (1 - y_ab)        port, and likewise for a
            s_b >= s_a + theta p_a + w_j x_a                          next on the node
            sum of x_a with window in [s, e] <= (e - s)/tau (1 - beta^m)    redundant
            x >= 0,   p, y in {0, 1}

The last row is the bound of `dlopt.models.admission.window_capacity`, `m` the number of chunks.
Nodes with equal windows are served in a fixed order. So are all nodes, with one chunk each and
equal costs, if no window lies strictly inside another: to exchange neighbours that are not in the
order of their windows loses nothing (models/README.md has the proof).

The solver works in floating point: its bound is not certified. The loads of the sequence that it
finds are solved again in fractions, by `dlopt.models.multistage.chunk_sequence_lp`.

Source: model (i) of the package with one chunk per node, model (iii) with `K`; the stages are those
of Mamat 2011, section 5.2, whose ``a_j`` is ``x_a`` here.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import NamedTuple

import pulp

from dlopt.arithmetic import exact
from dlopt.backends.pulp import DEFAULT, Outcome, Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.admission.sequencing_milp import START_DIGITS
from dlopt.models.multistage.chunk_sequence_lp import StageChunk, maximise_sequence_load
from dlopt.models.multistage.stages import Stage
from dlopt.result import Limits, Status

ZERO_LOAD = 1e-9
"""Load, in units of the model, up to which a chunk counts as absent. Chosen by hand: the loads are
about a thousand, and a chunk that counts although it is absent gets no load in the linear
program."""

CLOSED_TOLERANCE = Fraction(1, 10**6)
"""Relative difference up to which the solver's bound and the load in fractions count as equal: the
tolerance of solver answers."""


class StageSlot(NamedTuple):
    """A chunk that may be sent: the window, by its index in the stage, and its number in it."""

    window: int
    number: int


class StageSolution(NamedTuple):
    """The chunks of a stage, and a bound on their total load.

    Parameters
    ----------
    chunks : tuple of StageChunk
        In the order of their transmissions.
    load : Fraction
        Of all of them.
    bound : Fraction
        No chunks do more, as the solver claims.
    solver : str
    """

    chunks: tuple[StageChunk, ...]
    load: Fraction
    bound: Fraction
    solver: str


class StageMilp:
    """The program above.

    Parameters
    ----------
    scaled : dlopt.models.admission.scaled_instance.ScaledInstance
        Costs of the nodes.
    stage : Stage
    installments : int
        Chunks that a node may get.

    Examples
    --------
    >>> from dlopt.models.multistage.stages import SingleTaskInstance
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Task
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 9, 512),))
    >>> single = SingleTaskInstance.from_instance(instance)
    >>> milp = StageMilp(single.scaled.tasks_only, single.stages()[0], installments=1)
    >>> str(milp.maximise_load().solve(Limits(), 0).load * single.scaled.tasks_only.load_unit)
    '384'
    """

    def __init__(self, scaled: ScaledInstance, stage: Stage, installments: int) -> None:
        self.scaled, self.stage, self.installments = scaled, stage, installments
        self.windows = stage.windows
        self.slots = [
            StageSlot(j, number) for j in range(len(self.windows)) for number in range(installments)
        ]
        on_port = [a for a in self.slots if uses_port(scaled, self.windows[a.window].node)]
        self.pairs = [(a, b) for a, b in combinations(on_port, 2) if a.window != b.window]

    def maximise_load(self) -> StageMilp:
        """State the program above."""
        self.problem = pulp.LpProblem("stage", pulp.LpMaximize)
        add = self.problem.add_variable
        names = {a: f"{a.window}_{a.number}" for a in self.slots}
        windows, stage = self.windows, self.stage
        self.load = {a: add(f"x_{names[a]}", 0, self._max_load(a)) for a in self.slots}
        self.start = {
            a: add(f"s_{names[a]}", windows[a.window].ready, stage.send_by) for a in self.slots
        }
        lowest = 0 if self.scaled.overhead else 1
        self.present = {
            a: add(f"p_{names[a]}", lowBound=lowest, upBound=1, cat=pulp.LpInteger)
            for a in self.slots
        }
        self.before = {
            (a, b): add(f"y_{names[a]}_{names[b]}", cat=pulp.LpBinary) for a, b in self.pairs
        }
        self.problem += linear((1, x) for x in self.load.values())
        self.add_windows()
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_window_capacity()
        self.fix_known_orders()
        return self

    def add_windows(self) -> None:
        """Send a chunk while the channel is free, and compute it while its node is."""
        for a in self.slots:
            max_load, load, present = self._max_load(a), self.load[a], self.present[a]
            start = (1, self.start[a])
            self.problem += linear([start, *self._time_terms(a, port=True)]) <= self.stage.send_by
            due = self.windows[a.window].due
            self.problem += linear([start, *self._time_terms(a, port=False)]) <= due
            if self.scaled.overhead:
                self.problem += linear([(max_load, present), (-1, load)]) >= 0

    def add_one_port(self) -> None:
        """Let one of two chunks wait for the other."""
        for (a, b), y in self.before.items():
            for first, second, sign in ((a, b, 1), (b, a, -1)):
                big_m = self.stage.send_by - self.windows[second.window].ready
                terms: list[Term] = [(1, self.start[second]), (-1, self.start[first])]
                terms += [(-c, v) for c, v in self._time_terms(first, port=True)]
                terms.append((-sign * big_m, y))
                self.problem += linear(terms) >= (-big_m if sign > 0 else 0)

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk only when it has computed the one before."""
        for a, b in pairwise(self.slots):
            if a.window == b.window:
                terms: list[Term] = [(1, self.start[b]), (-1, self.start[a])]
                terms += [(-c, v) for c, v in self._time_terms(a, port=False)]
                self.problem += linear(terms) >= 0

    def add_window_capacity(self) -> None:
        """Bound the total load of all chunks whose windows lie in an interval (redundant)."""
        for start in sorted({window.ready for window in self.windows}):
            for end in sorted({window.due for window in self.windows}):
                inside = [a for a in self.slots if self._is_inside(a, start, end)]
                if inside and end > start:
                    nodes = {self.windows[a.window].node for a in inside}
                    capacity = self._window_capacity(nodes, start, end)
                    self.problem += linear((1, self.load[a]) for a in inside) <= capacity

    def fix_known_orders(self) -> None:
        """Serve nodes with equal windows, or windows none of which is inside another, in order."""
        is_uniform = (
            self.installments == 1 and not self.scaled.overhead and self._has_identical_nodes()
        )
        order = sorted(range(len(self.windows)), key=lambda j: self.windows[j][1:])
        is_nested = any(self.windows[p].due > self.windows[q].due for p, q in pairwise(order))
        position = {j: p for p, j in enumerate(order)}
        for (a, b), y in self.before.items():
            is_symmetric = self._are_identical(a, b) and a.number == b.number
            if (is_uniform and not is_nested) or is_symmetric:
                is_first = position[a.window] < position[b.window]
                self.problem += linear([(1, y)]) == int(is_first)

    def solve(self, limits: Limits, seed: int, solver: str = DEFAULT) -> StageSolution:
        """Return the chunks of the best sequence that is found, and a bound."""
        nodes = {window.node for window in self.windows}
        bound = self._window_capacity(nodes, self.stage.start, self.stage.due)
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        sequence = self._sequence(outcome) if outcome.assignment else []
        chunks: tuple[StageChunk, ...] = ()
        if sequence:
            chunks = tuple(maximise_sequence_load(self.scaled, self.stage, sequence, seed))
        load = sum((chunk.load for chunk in chunks), Fraction(0))
        if outcome.bound is not None:
            bound = min(bound, exact(outcome.bound))
        if outcome.status is Status.OPTIMAL or bound < load:
            # What the solver calls an optimum is off by its tolerance; the fractions are not.
            is_closed = abs(bound - load) <= CLOSED_TOLERANCE * max(load, Fraction(1))
            bound = load if is_closed else max(bound, load)
        return StageSolution(chunks, load, bound, outcome.solver)

    def _sequence(self, outcome: Outcome) -> list[int]:
        """Return the windows of the chunks in the order of their transmissions."""
        present = [a for a in self.slots if outcome[self.load[a]] > ZERO_LOAD]
        present.sort(key=lambda a: (round(float(outcome[self.start[a]]), START_DIGITS), a.number))
        return [a.window for a in present]

    def _window_capacity(self, nodes: set[int], start: Fraction, end: Fraction) -> Fraction:
        """Return the most load that some nodes can do in an interval."""
        scaled, chunks = self.scaled, len(nodes) * self.installments
        by_nodes = sum((self._node_capacity(j, start, end) for j in nodes), Fraction(0))
        tau, chi = min(scaled.tau[j] for j in nodes), min(scaled.chi[j] for j in nodes)
        if not tau:
            return by_nodes
        port_share = 1 - (chi / (tau + chi)) ** chunks
        return min(by_nodes, (end - start) / tau * port_share, (self.stage.send_by - start) / tau)

    def _node_capacity(self, node: int, start: Fraction, end: Fraction) -> Fraction:
        """Return the most load that a node can do in an interval."""
        window = next(window for window in self.windows if window.node == node)
        time = min(end, window.due) - max(start, window.ready) - self.scaled.overhead
        return max(time, Fraction(0)) / self.scaled.unit_time(node)

    def _max_load(self, a: StageSlot) -> Fraction:
        """Return the largest load of a chunk."""
        window, scaled = self.windows[a.window], self.scaled
        capacity = self._node_capacity(window.node, window.ready, window.due)
        tau = scaled.tau[window.node]
        if not tau:
            return capacity
        send_time = self.stage.send_by - window.ready - scaled.theta_cm
        return max(min(capacity, send_time / tau), Fraction(0))

    def _is_inside(self, a: StageSlot, start: Fraction, end: Fraction) -> bool:
        window = self.windows[a.window]
        return start <= window.ready and window.due <= end

    def _are_identical(self, a: StageSlot, b: StageSlot) -> bool:
        """Tell whether the nodes of two chunks have equal windows and costs."""
        first, second = self.windows[a.window], self.windows[b.window]
        return first[1:] == second[1:] and self._costs(first.node) == self._costs(second.node)

    def _has_identical_nodes(self) -> bool:
        return len({self._costs(window.node) for window in self.windows}) == 1

    def _costs(self, node: int) -> tuple[Fraction, Fraction]:
        return self.scaled.tau[node], self.scaled.chi[node]

    def _time_terms(self, a: StageSlot, port: bool) -> list[Term]:
        """Return how long a chunk occupies the port, or its node."""
        scaled, node = self.scaled, self.windows[a.window].node
        setup, unit_time = scaled.overhead, scaled.unit_time(node)
        if port:
            setup, unit_time = scaled.theta_cm, scaled.tau[node]
        return [(setup, self.present[a]), (unit_time, self.load[a])]
