"""Nodes that may differ, in free order, with one or more chunks a node.

Chunks stand in positions ``p = 1..P`` in the order of their transmission; ``y_ip`` says that
position `p` is a chunk of node `i`. Positions need no big M; only the second chunk of a node does.

minimise    T
subject to  sum_i y_ip <= 1,  sum_i y_ip >= sum_i y_i,p+1     positions fill from the front
            sum_p y_ip <= K                                   K installments a node
            x_ip <= cap_i y_ip,  sum_ip x_ip = load
            s_p >= sum_i r_i y_ip
            s_{p+1} >= s_p + sum_i (theta_cm y_ip + tau_i x_ip)
            T >= s_p + sum_i ((theta_cm + theta_cp) y_ip + w_i x_ip)          (w = tau + chi)
            s_q >= s_p + (theta_cm + theta_cp) y_ip + w_i x_ip - M (2 - y_ip - y_iq)    for p < q
            T >= r_i u_i + sum_p ((theta_cm + theta_cp) y_ip + w_i x_ip)      redundant: node time
            u_i >= y_ip,  sum_i u_i <= m                      at most m nodes

A node whose transmissions take no time (theta_cm = tau_i = 0) needs no position: it computes one
chunk from its ready time on, whatever the port does, and more of them would gain nothing.

            x_i <= cap_i u_i,  T >= r_i u_i + theta_cp u_i + chi_i x_i,  u_i in {0, 1}
"""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import pulp

from dlopt.backends.pulp import Outcome, Term, linear, optimise
from dlopt.errors import NotApplicableError
from dlopt.problems.earliest_schedule import number_field
from dlopt.problems.iit.data import Instance
from dlopt.result import Limits

MOST_BINARIES = 250_000
"""A larger model would not fit into memory, let alone be solved."""


class OrderModel:
    """The MILP over orders of chunks; see the module for the program.

    Parameters
    ----------
    instance : Instance
    installments : int
        Chunks a node may get.
    most : int
        Nodes that may be used.
    upper : Number
        A completion time that is known to be attainable; it clamps loads and big M.
    """

    def __init__(self, instance: Instance, installments: int, most: int, upper: Any) -> None:
        cast = number_field(instance)
        cluster = instance.cluster
        self.instance, self.installments, self.most, self.upper = (
            instance,
            installments,
            most,
            upper,
        )
        self.theta_cm = cast(cluster.theta_cm)
        self.overhead = self.theta_cm + cast(cluster.theta_cp)
        self.total = cast(instance.load)
        ready = [cast(r) for r in instance.ready_times]
        self.nodes = [i for i in range(cluster.nodes) if ready[i] + self.overhead < upper] or [
            min(range(cluster.nodes), key=ready.__getitem__)
        ]
        self.ready = {i: ready[i] for i in self.nodes}
        self.tau = {i: cast(cluster.tau_of(i)) for i in self.nodes}
        self.unit = {i: self.tau[i] + cast(cluster.chi_of(i)) for i in self.nodes}
        self.off_port = [i for i in self.nodes if not (self.theta_cm or self.tau[i])]
        self.nodes = [i for i in self.nodes if i not in set(self.off_port)]
        self.positions = range(min(most, len(self.nodes)) * installments)
        if len(self.nodes) * len(self.positions) > MOST_BINARIES:
            raise NotApplicableError(
                f"{len(self.nodes)} nodes with {installments} chunks each are too many for a model "
                f"of free order: it would have {len(self.nodes) * len(self.positions)} binaries"
            )
        self.problem = pulp.LpProblem("order", pulp.LpMinimize)
        pairs = [(i, p) for i in self.nodes for p in self.positions]
        self.chosen = {
            (i, p): self.problem.add_variable(f"y_{i}_{p}", cat=pulp.LpBinary) for i, p in pairs
        }
        self.load = {(i, p): self.problem.add_variable(f"x_{i}_{p}", lowBound=0) for i, p in pairs}
        self.start = [self.problem.add_variable(f"s_{p}", lowBound=0) for p in self.positions]
        self.used = {
            i: self.problem.add_variable(f"u_{i}", lowBound=0, upBound=1) for i in self.nodes
        }
        self.alone = {
            i: self.problem.add_variable(f"u_{i}", cat=pulp.LpBinary) for i in self.off_port
        }
        self.load_alone = {
            i: self.problem.add_variable(f"x_{i}", lowBound=0) for i in self.off_port
        }
        self.end = self.problem.add_variable("T", lowBound=0)

    def minimise_completion(self) -> OrderModel:
        """State the program above."""
        self.problem += self.end
        self.add_positions()
        self.add_loads()
        self.add_ready_times()
        self.add_one_port()
        self.add_results()
        self.add_one_chunk_at_a_time()
        self.add_node_times()
        self.add_most_nodes()
        self.add_symmetry_breaking()
        return self

    def add_positions(self) -> None:
        """Fill positions from the front, with at most one chunk each and K a node."""
        for p in self.positions:
            taken = [(1, self.chosen[i, p]) for i in self.nodes]
            self.problem += linear(taken) <= 1
            if p + 1 in self.positions:
                following = [(-1, self.chosen[i, p + 1]) for i in self.nodes]
                self.problem += linear(taken + following) >= 0
        for i in self.nodes:
            chunks = linear((1, self.chosen[i, p]) for p in self.positions)
            self.problem += chunks <= self.installments

    def add_loads(self) -> None:
        """Give load to chosen chunks only, no more than fits before `upper`; all of it in sum."""
        for i in self.nodes:
            for p in self.positions:
                terms = [(self._room(i), self.chosen[i, p]), (-1, self.load[i, p])]
                self.problem += linear(terms) >= 0
        for i in self.off_port:
            terms = [(self._room(i), self.alone[i]), (-1, self.load_alone[i])]
            self.problem += linear(terms) >= 0
        loads = (*self.load.values(), *self.load_alone.values())
        self.problem += linear((1, load) for load in loads) == self.total

    def add_ready_times(self) -> None:
        """Let a transmission start when its node is ready."""
        for p in self.positions:
            ready = [(-self.ready[i], self.chosen[i, p]) for i in self.nodes]
            self.problem += linear([(1, self.start[p]), *ready]) >= 0

    def add_one_port(self) -> None:
        """Let a transmission start when the one before it has ended."""
        for p in self.positions:
            if p + 1 in self.positions:
                terms = [(1, self.start[p + 1]), (-1, self.start[p])]
                for i in self.nodes:
                    terms.append((-self.theta_cm, self.chosen[i, p]))
                    terms.append((-self.tau[i], self.load[i, p]))
                self.problem += linear(terms) >= 0

    def add_results(self) -> None:
        """Let every chunk be computed by the end."""
        for p in self.positions:
            terms: list[Term] = [(1, self.end), (-1, self.start[p])]
            for i in self.nodes:
                terms += self._time(i, p, -1)
            self.problem += linear(terms) >= 0
        for i in self.off_port:
            busy = -(self.ready[i] + self.overhead)
            terms = [(1, self.end), (busy, self.alone[i]), (-self.unit[i], self.load_alone[i])]
            self.problem += linear(terms) >= 0

    def add_one_chunk_at_a_time(self) -> None:
        """Let a node receive its next chunk when it has computed the one before."""
        if self.installments == 1:
            return
        for i in self.nodes:
            for p, q in combinations(self.positions, 2):
                both = [(-self.upper, self.chosen[i, p]), (-self.upper, self.chosen[i, q])]
                terms = [(1, self.start[q]), (-1, self.start[p]), *self._time(i, p, -1), *both]
                self.problem += linear(terms) >= -2 * self.upper

    def add_node_times(self) -> None:
        """Let the end leave each used node the time for all its chunks (redundant)."""
        for i in self.nodes:
            terms = [(1, self.end), (-self.ready[i], self.used[i])]
            for p in self.positions:
                self.problem += linear([(1, self.used[i]), (-1, self.chosen[i, p])]) >= 0
                terms += self._time(i, p, -1)
            self.problem += linear(terms) >= 0

    def add_most_nodes(self) -> None:
        """Use no more nodes than allowed."""
        used = (*self.used.values(), *self.alone.values())
        if self.most < len(used):
            self.problem += linear((1, one) for one in used) <= self.most

    def add_symmetry_breaking(self) -> None:
        """Serve nodes of equal costs in ready order (one chunk each, relabelling loses nothing)."""
        if self.installments > 1:
            return
        alike: dict[tuple[Any, Any], list[int]] = {}
        for i in sorted(self.nodes, key=lambda i: (self.ready[i], i)):
            alike.setdefault((self.tau[i], self.unit[i]), []).append(i)
        for nodes in alike.values():
            for i, j in pairwise(nodes):
                for p in self.positions:
                    before = [(1, self.chosen[i, q]) for q in range(p)]
                    self.problem += linear([*before, (-1, self.chosen[j, p])]) >= 0

    def solve(self, limits: Limits, solver: str, seed: int) -> tuple[list[int], Outcome]:
        """Return the node of each chunk, in order, and what the solver says."""
        outcome = optimise(self.problem, limits, solver=solver, seed=seed)
        if not outcome.assignment:
            return [], outcome
        chunks = [i for p in self.positions for i in self.nodes if outcome[self.chosen[i, p]] > 0.5]
        chunks += [i for i in self.off_port if outcome[self.alone[i]] > 0.5]
        return chunks, outcome

    def _room(self, i: int) -> Any:
        """Return the most load that a chunk of node `i` can have."""
        room = (self.upper - self.ready[i] - self.overhead) / self.unit[i]
        return min(self.total, max(room, 0))

    def _time(self, i: int, p: int, sign: int) -> list[Term]:
        """Return how long the chunk in position `p` occupies node `i`."""
        return [
            (sign * self.overhead, self.chosen[i, p]),
            (sign * self.unit[i], self.load[i, p]),
        ]
