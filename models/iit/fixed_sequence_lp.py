"""The linear program of a fixed order of chunks.

minimise    T
subject to  s_p >= r_i(p)                                    the node is ready
            s_q >= s_p + theta_cm + tau_i(p) x_p             one port: q follows p on it
            s_q >= s_p + theta_cm + theta_cp + w_i x_p       the node's next chunk (w = tau + chi)
            T >= s_p + theta_cm + theta_cp + w_i(p) x_p      every result
            sum_p x_p = load,   x >= 0

Every chunk pays its set-up costs, whether or not it gets load. Transmissions that take no time
(theta_cm = tau_i = 0) are not on the port: they neither wait for it nor hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pulp

from dlopt.arithmetic import SOLVER, exact
from dlopt.backends.pulp import Outcome, Term, in_floats, linear, optimise
from dlopt.problems.earliest_schedule import earliest_plan, number_field
from dlopt.problems.iit.data import Instance, Solution
from dlopt.result import Limits, Status

_ATTAINED = 1 + exact(SOLVER)
"""How late loads may end that a solver calls optimal, relative to what it says."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The optimum of one order: its plan, its completion, and what no such plan is better than.

    `last_load` is the load of the last chunk; in floats, 0 if it is lost in rounding.
    """

    plan: Solution | None
    completion: Any
    bound: Any
    last_load: Any
    outcome: Outcome

    @property
    def attained(self) -> bool:
        """Whether the plan ends when the solver says, if it says that the program is solved."""
        if self.outcome.status is not Status.OPTIMAL or self.plan is None or self.bound is None:
            return True
        return exact(self.completion) <= exact(self.bound) * _ATTAINED


class SequenceModel:
    """Chunks in a given order, one node each; see the module for the program.

    Parameters
    ----------
    instance : Instance
    nodes : sequence of int
        The node of each chunk, in the order of transmission; a node may stand there again.
    """

    def __init__(self, instance: Instance, nodes: Sequence[int]) -> None:
        self.instance, self.nodes = instance, list(nodes)
        cast = number_field(instance)
        cluster = instance.cluster
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = cast(cluster.theta_cm) + cast(cluster.theta_cp)
        self.tau = [cast(cluster.tau_of(node)) for node in self.nodes]
        self.unit = [cast(cluster.tau_of(i)) + cast(cluster.chi_of(i)) for i in self.nodes]
        self.ready = [cast(instance.ready_times[node]) for node in self.nodes]
        self.total = cast(instance.load)
        self.problem = pulp.LpProblem("sequence", pulp.LpMinimize)
        positions = range(len(self.nodes))
        self.start = [
            self.problem.add_variable(f"s_{p}", lowBound=self.ready[p]) for p in positions
        ]
        self.load = [self.problem.add_variable(f"x_{p}", lowBound=0) for p in positions]
        self.end = self.problem.add_variable("T", lowBound=0)

    def minimise_completion(self) -> SequenceModel:
        """State the program above."""
        self.problem += self.end
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_results()
        self.problem += linear((1, load) for load in self.load) == self.total
        return self

    def maximise_load(self, deadline: Any) -> SequenceModel:
        """State the program with T fixed: the most load that is done by a deadline."""
        self.problem.sense = pulp.LpMaximize
        self.problem += linear((1, load) for load in self.load)
        self.end.lowBound = self.end.upBound = number_field(self.instance)(deadline)
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_results()
        return self

    def add_one_port(self) -> None:
        """Let a transmission start when the one before it has ended."""
        on_port = [p for p, tau in enumerate(self.tau) if self.theta_cm > 0 or tau > 0]
        for p, q in pairwise(on_port):
            sent = [(-1, self.start[p]), (-self.tau[p], self.load[p])]
            self.problem += linear([(1, self.start[q]), *sent]) >= self.theta_cm

    def add_one_chunk_at_a_time(self) -> None:
        """Let a node receive its next chunk when it has computed the one before."""
        latest: dict[int, int] = {}
        for p, node in enumerate(self.nodes):
            if node in latest:
                done = self._done(latest[node], -1)
                self.problem += linear([(1, self.start[p]), *done]) >= self.overhead
            latest[node] = p

    def add_results(self) -> None:
        """Let every chunk be computed by the end."""
        for p in range(len(self.nodes)):
            self.problem += linear([(1, self.end), *self._done(p, -1)]) >= self.overhead

    def solve(self, limits: Limits, solver: str, seed: int, proven: bool) -> Timed:
        """Solve, by a rational proof if wanted, and replay the loads as early as can be.

        Where the loads do not attain what the solver says, as it happens with numbers far apart,
        it is asked for a proof after all.
        """
        timed = self._solved(limits, solver, seed, proven)
        return timed if timed.attained else self._solved(limits, solver, seed, True)

    def _solved(self, limits: Limits, solver: str, seed: int, proven: bool) -> Timed:
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, exact=proven)
        if outcome.proven and not self.instance.exact:
            outcome = in_floats(outcome)
        if not outcome.assignment:
            return Timed(None, None, outcome.bound, None, outcome)
        loads = [max(outcome[variable], 0) for variable in self.load]
        total = sum(loads)
        last = loads[-1] if outcome.proven or loads[-1] > 1e-9 * total else 0
        if self.problem.sense == pulp.LpMaximize:
            return Timed(None, total, outcome.bound, last, outcome)
        if not outcome.proven:
            whole = float(self.total)  # equal loads where the solver sees none beside set-up times
            loads = [load * (whole / total) if total else whole / len(loads) for load in loads]
        plan = earliest_plan(self.instance, self.nodes, loads)
        kept = tuple(chunk for chunk in plan.chunks if chunk.load > 0)
        end = max(chunk.computation_end for chunk in kept)
        return Timed(Solution(kept), end, outcome.bound, last, outcome)

    def _done(self, p: int, sign: int) -> list[Term]:
        """Return when chunk `p` is computed, less its set-up times."""
        return [(sign, self.start[p]), (sign * self.unit[p], self.load[p])]
