"""The MILP over sequences of chunks: heterogeneous nodes, with one or more chunks per node.

Chunks take positions ``p = 1..P`` in the order of their transmission; ``y_ip = 1`` if position `p`
is a chunk of node `i`. Positions need no big M; only the second chunk of a node does.

minimise    T
subject to  sum_i y_ip <= 1,  sum_i y_ip >= sum_i y_i,p+1     positions fill from the front
            sum_p y_ip <= K                                   K installments per node
            x_ip <= cap_i y_ip,  sum_ip x_ip = load
            s_p >= sum_i r_i y_ip                             the node is ready
            s_{p+1} >= s_p + sum_i (theta_cm y_ip + tau_i x_ip)                     one port
            T >= s_p + sum_i ((theta_cm + theta_cp) y_ip + w_i x_ip)          (w = tau + chi)
            s_q >= s_p + (theta_cm + theta_cp) y_ip + w_i x_ip - M (2 - y_ip - y_iq)    for p < q
            T >= r_i u_i + sum_p ((theta_cm + theta_cp) y_ip + w_i x_ip)      redundant: node time
            u_i >= y_ip,  sum_i u_i <= m                      at most m nodes
            s, x >= 0,   y in {0, 1}

A node whose transmissions take no time (theta_cm = tau_i = 0) needs no position: it computes one
chunk from its ready time on, whatever the port does, and more of them would gain nothing.

            x_i <= cap_i u_i,  T >= r_i u_i + theta_cp u_i + chi_i x_i,  u_i in {0, 1}

Source: ours. `prefix_milp` is the case of identical nodes with one chunk each.
"""

from __future__ import annotations

import time
from itertools import combinations, pairwise
from math import inf
from typing import Any

import pulp

from dlopt.arithmetic import Number, shown
from dlopt.backends.pulp import Outcome, Report, Term, linear, optimise
from dlopt.errors import NotApplicableError
from dlopt.problems.earliest_schedule import number_field
from dlopt.problems.iit.data import Instance
from dlopt.result import Limits

MAX_BINARIES = 250_000
"""Binaries y_ip. Chosen by hand: a larger model would hardly fit into memory, and far smaller ones
are not solved to optimality."""


SMALL_SHARE = 2**20
"""A node that can do less than one in so many parts of the load has loads in units of such a part,
about 1e-6. Otherwise a node that takes 1e9 times as long as others, to say that it is not used,
would have loads and unit times with which a solver errs by more than its tolerance. Chosen by hand:
coefficients of all units are well above the 1e-9 that HiGHS drops. A node that can do less
than one in 2^40 parts is left out: the others do that much in no more of the time, 1e-12 of it, and
what a solver proves holds within its tolerance of 1e-6."""


class SequencingMilp:
    """The MILP over sequences of chunks; see the module for the program.

    Parameters
    ----------
    instance : Instance
    installments : int
        `K`: chunks that a node may get.
    max_nodes : int
        `m`: nodes that may be used.
    upper : Number
        A completion time that is known to be attainable; it bounds the loads and is the big M.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=(2, 1), chi=1), (0, 0), load=3)
    >>> model = SequencingMilp(instance, installments=1, max_nodes=2, upper=9)
    >>> model.minimise_completion().solve(Limits(), "HiGHS", 0)[0]  # the faster link first
    [1, 0]
    """

    def __init__(self, instance: Instance, installments: int, max_nodes: int, upper: Any) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        self.instance, self.installments = instance, installments
        self.max_nodes, self.upper = max_nodes, upper
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = self.theta_cm + cast(cluster.theta_cp)
        self.total = cast(instance.load)
        ready = [cast(r) for r in instance.ready_times]
        self.nodes = [i for i in range(cluster.nodes) if ready[i] + self.overhead < upper] or [
            min(range(cluster.nodes), key=ready.__getitem__)
        ]
        self.ready = {i: ready[i] for i in self.nodes}
        self.tau = {i: cast(cluster.tau_of(i)) for i in self.nodes}
        self.unit_time = {i: self.tau[i] + cast(cluster.chi_of(i)) for i in self.nodes}
        least = self.total / SMALL_SHARE**2
        self.nodes = [i for i in self.nodes if self._max_load(i) >= least] or self.nodes
        self.off_port = [i for i in self.nodes if not (self.theta_cm or self.tau[i])]
        self.nodes = [i for i in self.nodes if i not in set(self.off_port)]
        positions = min(max_nodes, len(self.nodes)) * installments
        binaries = len(self.nodes) * positions
        if binaries > MAX_BINARIES:
            raise NotApplicableError(
                f"sequencing model too large: {len(self.nodes)} nodes and installments="
                f"{shown(installments)} need {shown(binaries)} binaries"
            )
        self.positions = range(positions)
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        pairs = [(i, p) for i in self.nodes for p in self.positions]
        self.assigned = {
            (i, p): self.problem.add_variable(f"y_{i}_{p}", cat=pulp.LpBinary) for i, p in pairs
        }
        part = self.total / SMALL_SHARE
        self.load_unit = {i: part if self._max_load(i) < part else cast(1) for i in self.nodes}
        self.load = {(i, p): self.problem.add_variable(f"x_{i}_{p}", lowBound=0) for i, p in pairs}
        self.start = [self.problem.add_variable(f"s_{p}", lowBound=0) for p in self.positions]
        self.used = {
            i: self.problem.add_variable(f"u_{i}", lowBound=0, upBound=1) for i in self.nodes
        }
        self.off_port_used = {
            i: self.problem.add_variable(f"u_{i}", cat=pulp.LpBinary) for i in self.off_port
        }
        self.off_port_load = {
            i: self.problem.add_variable(f"x_{i}", lowBound=0) for i in self.off_port
        }
        self.end = self.problem.add_variable("T", lowBound=0)

    def minimise_completion(self, stop: float = inf) -> SequencingMilp:
        """State the program above, or raise `TimeoutError` at an instant of the monotonic clock."""
        self.problem += self.end
        self.add_positions()
        self.add_loads()
        self.add_ready_times()
        self.add_one_port()
        self.add_completion()
        self.add_one_chunk_at_a_time(stop)
        self.add_node_times()
        self.add_node_limit()
        self.add_symmetry_breaking()
        return self

    def add_positions(self) -> None:
        """Fill positions from the front, with at most one chunk each and K per node."""
        for p in self.positions:
            chunks_here = [(1, self.assigned[i, p]) for i in self.nodes]
            self.problem += linear(chunks_here) <= 1
            if p + 1 in self.positions:
                chunks_next = [(-1, self.assigned[i, p + 1]) for i in self.nodes]
                self.problem += linear(chunks_here + chunks_next) >= 0
        for i in self.nodes:
            chunks = linear((1, self.assigned[i, p]) for p in self.positions)
            self.problem += chunks <= self.installments

    def add_loads(self) -> None:
        """Give load to assigned chunks only, as much as fits before `upper`; all of it in total."""
        for i in self.nodes:
            share = self._max_load(i) / self.load_unit[i]
            for p in self.positions:
                terms = [(share, self.assigned[i, p]), (-1, self.load[i, p])]
                self.problem += linear(terms) >= 0
        for i in self.off_port:
            terms = [(self._max_load(i), self.off_port_used[i]), (-1, self.off_port_load[i])]
            self.problem += linear(terms) >= 0
        loads = [(self.load_unit[i], load) for (i, _), load in self.load.items()]
        loads += [(1, load) for load in self.off_port_load.values()]
        self.problem += linear(loads) == self.total

    def add_ready_times(self) -> None:
        """Start a transmission only when its node is ready."""
        for p in self.positions:
            ready = [(-self.ready[i], self.assigned[i, p]) for i in self.nodes]
            self.problem += linear([(1, self.start[p]), *ready]) >= 0

    def add_one_port(self) -> None:
        """Start a transmission only when the one before it has ended."""
        for p in self.positions:
            if p + 1 in self.positions:
                terms = [(1, self.start[p + 1]), (-1, self.start[p])]
                for i in self.nodes:
                    terms.append((-self.theta_cm, self.assigned[i, p]))
                    terms.append((-self.tau[i] * self.load_unit[i], self.load[i, p]))
                self.problem += linear(terms) >= 0

    def add_completion(self) -> None:
        """Compute every chunk by T."""
        for p in self.positions:
            terms: list[Term] = [(1, self.end), (-1, self.start[p])]
            for i in self.nodes:
                terms += self._busy_terms(i, p, -1)
            self.problem += linear(terms) >= 0
        for i in self.off_port:
            busy = -(self.ready[i] + self.overhead)
            terms = [(1, self.end), (busy, self.off_port_used[i])]
            terms += [(-self.unit_time[i], self.off_port_load[i])]
            self.problem += linear(terms) >= 0

    def add_one_chunk_at_a_time(self, stop: float) -> None:
        """Send a node its next chunk only when it has computed the one before."""
        if self.installments == 1:
            return
        for i in self.nodes:
            for p, q in combinations(self.positions, 2):
                if time.monotonic() > stop:
                    raise TimeoutError
                both = [(-self.upper, self.assigned[i, p]), (-self.upper, self.assigned[i, q])]
                starts = [(1, self.start[q]), (-1, self.start[p])]
                terms = [*starts, *self._busy_terms(i, p, -1), *both]
                self.problem += linear(terms) >= -2 * self.upper

    def add_node_times(self) -> None:
        """Leave each used node the time for all its chunks before T (redundant)."""
        for i in self.nodes:
            terms = [(1, self.end), (-self.ready[i], self.used[i])]
            for p in self.positions:
                self.problem += linear([(1, self.used[i]), (-1, self.assigned[i, p])]) >= 0
                terms += self._busy_terms(i, p, -1)
            self.problem += linear(terms) >= 0

    def add_node_limit(self) -> None:
        """Use no more nodes than allowed."""
        used = (*self.used.values(), *self.off_port_used.values())
        if self.max_nodes < len(used):
            self.problem += linear((1, node_used) for node_used in used) <= self.max_nodes

    def add_symmetry_breaking(self) -> None:
        """Serve nodes of equal costs in ready order.

        This loses no schedule but for the names of nodes: those of equal costs can exchange their
        chunks so that the first chunks are in this order. The k-th of them begins no earlier than
        k nodes are ready, as k have begun by then.
        """
        equal_costs: dict[tuple[Any, Any], list[int]] = {}
        for i in sorted(self.nodes, key=lambda i: (self.ready[i], i)):
            equal_costs.setdefault((self.tau[i], self.unit_time[i]), []).append(i)
        for nodes in equal_costs.values():
            for i, j in pairwise(nodes):
                for p in self.positions:
                    before = [(1, self.assigned[i, q]) for q in range(p)]
                    self.problem += linear([*before, (-1, self.assigned[j, p])]) >= 0

    def solve(
        self, limits: Limits, solver: str, seed: int, report: Report | None = None
    ) -> tuple[list[int], Outcome]:
        """Return the node of each chunk, in order, and the outcome of the solver."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed, report=report)
        return [node for node, _ in self.chunks(outcome)], outcome

    def chunks(self, outcome: Outcome) -> list[tuple[int, Number]]:
        """Return node and load of each chunk, in order; the loads add up but for rounding."""
        if not outcome.assignment:
            return []
        chunks = [
            (i, outcome[self.load[i, p]] * self.load_unit[i])
            for p in self.positions
            for i in self.nodes
            if outcome[self.assigned[i, p]] > 0.5
        ]
        chunks += [
            (i, outcome[self.off_port_load[i]])
            for i in self.off_port
            if outcome[self.off_port_used[i]] > 0.5
        ]
        return chunks

    def _max_load(self, i: int) -> Any:
        """Return the largest load that a chunk of node `i` can have."""
        capacity = (self.upper - self.ready[i] - self.overhead) / self.unit_time[i]
        return min(self.total, max(capacity, 0))

    def _busy_terms(self, i: int, p: int, sign: int) -> list[Term]:
        """Return how long the chunk in position `p` occupies node `i`."""
        return [
            (sign * self.overhead, self.assigned[i, p]),
            (sign * self.unit_time[i] * self.load_unit[i], self.load[i, p]),
        ]
