"""The linear program of a fixed sequence of chunks of one divisible load.

Position `p` of the sequence is a chunk of node ``i(p)`` with start ``s_p`` and load ``x_p``:

minimise    T
subject to  s_p >= r_i(p)                                    the node is ready
            s_q >= s_p + theta_cm + tau_i(p) x_p             one port: q follows p on it
            s_q >= s_p + theta_cm + theta_cp + w_i x_p       the node's next chunk (w = tau + chi)
            T >= s_p + theta_cm + theta_cp + w_i(p) x_p      completion of every chunk
            sum_p x_p = load,   x >= 0

Every chunk pays its set-up costs, whether or not it gets load. Transmissions that take no time
(theta_cm = tau_i = 0) do not use the port: they neither wait for it nor occupy it.

Source: ours, for set-up costs and several chunks per node. Without them, Chuprat and Baruah 2008
(cited in Mamat 2011, section 6.4) compute the loads of EDF-IIT-2 by a linear program.
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

_MAX_OVERRUN = 1 + exact(SOLVER)
"""The completion of the scheduled loads, relative to the optimum that the solver reports, up to
which the reported optimum is accepted: the tolerance of solver answers (`SOLVER`, 1e-6)."""

_ZERO_LOAD = 1e-9
"""Share of the total load up to which a floating-point load of the last chunk counts as none: a
thousandth of the tolerance of solver answers, chosen by hand."""


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """A schedule, its completion time, and a lower bound on the completion of its class.

    `last_load` is the load of the last chunk of the sequence; in floats, 0 if it is within
    rounding.
    """

    plan: Solution | None
    completion: Any
    bound: Any
    last_load: Any
    outcome: Outcome

    @property
    def is_attained(self) -> bool:
        """Whether the schedule ends when a solver that reports an optimum says it does."""
        if self.outcome.status is not Status.OPTIMAL or self.plan is None or self.bound is None:
            return True
        return exact(self.completion) <= exact(self.bound) * _MAX_OVERRUN


class FixedSequenceLp:
    """Chunks in a fixed sequence, one node each; see the module for the program.

    Parameters
    ----------
    instance : Instance
    nodes : sequence of int
        The node of each chunk, in the order of transmission; a node may appear more than once.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> model = FixedSequenceLp(instance, [0, 1]).minimise_completion()
    >>> model.solve(Limits(), "HiGHS", 0, proven=True).completion
    Fraction(4, 1)
    """

    def __init__(self, instance: Instance, nodes: Sequence[int]) -> None:
        self.instance, self.nodes = instance, list(nodes)
        cast = number_field(instance)
        cluster = instance.cluster
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = cast(cluster.theta_cm) + cast(cluster.theta_cp)
        self.tau = [cast(cluster.tau_of(node)) for node in self.nodes]
        self.unit_time = [cast(cluster.tau_of(i)) + cast(cluster.chi_of(i)) for i in self.nodes]
        self.ready = [cast(instance.ready_times[node]) for node in self.nodes]
        self.total = cast(instance.load)
        self.problem = pulp.LpProblem("sequence", pulp.LpMinimize)
        positions = range(len(self.nodes))
        self.start = [
            self.problem.add_variable(f"s_{p}", lowBound=self.ready[p]) for p in positions
        ]
        self.load = [self.problem.add_variable(f"x_{p}", lowBound=0) for p in positions]
        self.end = self.problem.add_variable("T", lowBound=0)

    def minimise_completion(self) -> FixedSequenceLp:
        """State the program above."""
        self.problem += self.end
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_completion()
        self.problem += linear((1, load) for load in self.load) == self.total
        return self

    def maximise_load(self, deadline: Any) -> FixedSequenceLp:
        """State the program with T fixed at a deadline and ``sum_p x_p`` maximised."""
        self.problem.sense = pulp.LpMaximize
        self.problem += linear((1, load) for load in self.load)
        self.end.lowBound = self.end.upBound = number_field(self.instance)(deadline)
        self.add_one_port()
        self.add_one_chunk_at_a_time()
        self.add_completion()
        return self

    def add_one_port(self) -> None:
        """Start a transmission only when the one before it has ended."""
        on_port = [p for p, tau in enumerate(self.tau) if self.theta_cm > 0 or tau > 0]
        for p, q in pairwise(on_port):
            terms = [(1, self.start[q]), (-1, self.start[p]), (-self.tau[p], self.load[p])]
            self.problem += linear(terms) >= self.theta_cm

    def add_one_chunk_at_a_time(self) -> None:
        """Send a node its next chunk only when it has computed the one before."""
        latest: dict[int, int] = {}
        for p, node in enumerate(self.nodes):
            if node in latest:
                previous_end = self._end_terms(latest[node], -1)
                self.problem += linear([(1, self.start[p]), *previous_end]) >= self.overhead
            latest[node] = p

    def add_completion(self) -> None:
        """Compute every chunk by T."""
        for p in range(len(self.nodes)):
            self.problem += linear([(1, self.end), *self._end_terms(p, -1)]) >= self.overhead

    def solve(self, limits: Limits, solver: str, seed: int, proven: bool) -> CompletionResult:
        """Solve, with a rational proof if asked for, and schedule the loads as early as possible.

        If the loads do not attain the optimum that the solver reports, as happens with numbers of
        very different magnitudes, the program is solved again with a rational proof.
        """
        result = self._solve_once(limits, solver, seed, proven)
        return result if result.is_attained else self._solve_once(limits, solver, seed, True)

    def _solve_once(self, limits: Limits, solver: str, seed: int, proven: bool) -> CompletionResult:
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, exact=proven)
        if outcome.proven and not self.instance.exact:
            outcome = in_floats(outcome)
        if not outcome.assignment:
            return CompletionResult(None, None, outcome.bound, None, outcome)
        loads = [max(outcome[variable], 0) for variable in self.load]
        total = sum(loads)
        last = loads[-1] if outcome.proven or loads[-1] > _ZERO_LOAD * total else 0
        if self.problem.sense == pulp.LpMaximize:
            return CompletionResult(None, total, outcome.bound, last, outcome)
        if not outcome.proven:
            # Equal loads if the solver finds none because set-up times dominate.
            cast, parts = number_field(self.instance), loads if total else [1] * len(loads)
            factor = exact(self.total) / sum(map(exact, parts))
            loads = [cast(exact(load) * factor) for load in parts]
        plan = earliest_plan(self.instance, self.nodes, loads)
        chunks = tuple(chunk for chunk in plan.chunks if chunk.load > 0)
        end = max(chunk.computation_end for chunk in chunks)
        return CompletionResult(Solution(chunks), end, outcome.bound, last, outcome)

    def _end_terms(self, p: int, sign: int) -> list[Term]:
        """Return the end of the computation of chunk `p`, without its set-up times."""
        return [(sign, self.start[p]), (sign * self.unit_time[p], self.load[p])]
