"""The program of plans with few chunks a node, chunk after chunk in the order of transmission.

Chunks without load are left out: nothing else gets later by that. The others are numbered from 0 by
the start of their transmissions, and nodes are in groups. The columns are

    z_g_p    whether there is a chunk p, on a node of group g
    x_g_p    its load, or 0
    y_p      the time that is left for its load: from its start to the completion of the plan, less
             both set-up times; 0 if there is no chunk p
    u_g      how many nodes of group g have a chunk
    t        the completion of the plan, since an origin before which no node is ready

All dates are counted since that origin. Let `c` be the ready time of a node, plus both set-up
times, and `K` the most chunks of a node. Of a group with `n_g` of all `n` nodes, chunk `p` has at
least ``q = p - K (n - n_g)`` of the same group before it, if that is positive. As chunks begin in
this order, and these ``q + 1`` are on more than ``q / K`` nodes, it begins no earlier than the node
is ready that is number ``floor(q / K)`` of the group, from 0, in the order of ready times; nor
before number ``floor(p / K)`` of all nodes is. Hence ``c_g_p``. With the least `tau`, and the least
``w = tau + chi`` of a group, every plan that is complete by `T` satisfies::

    load        sum_{g,p} x_g_p >= load
    first       sum_g z_g_0 >= 1
    order_p     sum_g z_g_p+1 <= sum_g z_g_p
    place_p     sum_g z_g_p <= 1
    nodes_g     sum_p z_g_p <= K n_g
    used_g_p    z_g_p <= u_g
    chunk_g_p   w_g x_g_p <= max(0, T - c_g_p) z_g_p
    time_p      sum_g w_g x_g_p <= y_p
    channel_p   y_p+1 + theta_cm sum_g z_g_p+1 + sum_g tau_g x_g_p <= y_p
    limit_p     y_p <= sum_g (T - c_g_p) z_g_p
    ready_p     y_p + sum_g c_g_p z_g_p <= t
    later_p     sum_{g, q >= p} x_g_q <= load sum_g z_g_p
    bounds      z_g_p <= 1,  x_g_p <= load,  y_p <= max(0, T - c),  t <= T       the least c_g_0
                u_g <= n_g

Further rows are about single nodes: see `dlopt.problems.iit.certified_nodes`. Of one group the file
may leave out the last chunks. Then the load of the last chunk that it has is that of all later
ones, too, which takes the channel at least tau a unit, and tau stands for `w` in its rows. Where
some transmissions take no time and others do, chunks need not begin in the order in which they use
the channel, and there is no such program. Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.certified_rows import (
    INDEX,
    ONE,
    ZERO,
    StrongestRow,
    flaw_of_rows,
    kind_and_numbers,
)
from dlopt.problems.iit.certified_nodes import SingleNode, SingleNodeRows
from dlopt.problems.iit.data import Instance

_COLUMN = re.compile(rf"t|u_{INDEX}|y_{INDEX}|[xz]_{INDEX}_{INDEX}", re.ASCII)


class ChunkProgram:
    """The program of chunks that a certificate states.

    Parameters
    ----------
    instance : Instance
    program : StatedProgram
    groups : sequence of sequence of int
        The nodes of each group.
    origin : Fraction
        What dates are counted from; no node is ready before.
    limit : Fraction
        `T`: the completion of the plans that are meant is no later.
    chunks_a_node : int
        `K`.
    """

    def __init__(
        self,
        instance: Instance,
        program: StatedProgram,
        groups: Sequence[Sequence[int]],
        origin: Fraction,
        limit: Fraction,
        chunks_a_node: int = 1,
    ) -> None:
        self.program, self.limit, self.chunks_a_node = program, limit, chunks_a_node
        self.nodes, self.groups = instance.cluster.nodes, range(len(groups))
        self.sizes = [len(group) for group in groups]
        self.load = exact(instance.load)
        cluster = instance.cluster
        self.setup, computation_setup = exact(cluster.theta_cm), exact(cluster.theta_cp)
        overhead = self.setup + computation_setup
        tau = [exact(cluster.tau_of(node)) for node in range(self.nodes)]
        chi = [exact(cluster.chi_of(node)) for node in range(self.nodes)]
        self.has_order = self.setup > 0 or min(tau) > 0 or max(tau) == 0
        self.tau = [min(tau[node] for node in group) for group in groups]
        self.unit_time = [min(tau[node] + chi[node] for node in group) for group in groups]
        self.earliest = [
            sorted(exact(instance.ready_times[node]) - origin + overhead for node in group)
            for group in groups
        ]
        self.earliest_of_all = sorted(date for dates in self.earliest for date in dates)
        self.longest = max(ZERO, limit - self.earliest_of_all[0])
        numbers = [_COLUMN.fullmatch(name) for name in program.names]
        last = [int((of and (of[4] or of[2])) or 0) for of in numbers]
        self.most_chunks = chunks_a_node * self.nodes
        self.chunks = min(self.most_chunks, 1 + max(last, default=0))
        self.are_columns = all(numbers)
        self.names = frozenset(program.names)
        ready = (exact(date) - origin for date in instance.ready_times)
        kinds = list(map(SingleNode, range(self.nodes), ready, tau, chi))
        alone = {g: kinds[group[0]] for g, group in enumerate(groups) if len(group) == 1}
        times = (self.load, self.setup, computation_setup, limit)
        self.node_rows = SingleNodeRows(alone, self.chunks, *times, self._earliest)

    def flaw(self) -> str | None:
        """Return what some plan may not satisfy, or None if there is nothing."""
        program = self.program
        if not self.has_order:
            return "some transmissions take no time, so that chunks have no order"
        if not self.are_columns:
            return "its columns are not those of chunks"
        is_short = self.chunks * len(self.sizes) > len(program.names)
        if is_short or (len(self.sizes) > 1 and self.chunks < self.most_chunks):
            return "it leaves out chunks of nodes that differ"
        if any(program.names[column][0] not in "zu" for column in program.integers):
            return "a column is integral that need not be"
        return flaw_of_rows(program, self._holds)

    def _holds(self, name: str, row: StatedConstraint) -> bool:
        """Tell whether every plan satisfies a row."""
        column = name.removesuffix("_L")
        if column in self.names:
            return StrongestRow({column: ONE}, self._most(column)).implies(row, self.program)
        parts = kind_and_numbers(name)
        if parts is None:
            return False
        found = self._rows(*parts)
        about_nodes = self.node_rows.rows(*parts, -row.sign * row.side)
        return any(of.implies(row, self.program) for of in (*found, *about_nodes))

    def _most(self, column: str) -> Fraction:
        """Return the most that a column is."""
        if column.startswith("u_"):
            group = int(column.removeprefix("u_"))
            return Fraction(self.sizes[group] if group in self.groups else 0)
        return {"z": ONE, "x": self.load, "y": self.longest, "t": self.limit}[column[0]]

    def _rows(self, kind: str, numbers: Sequence[int]) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind and its numbers, if there is one."""
        if not numbers and kind == "load":
            terms = {f"x_{g}_{p}": -ONE for g in self.groups for p in range(self.chunks)}
            yield StrongestRow(terms, -self.load)
        elif not numbers and kind == "first":
            yield StrongestRow(self._used(0, -ONE), -ONE)
        elif len(numbers) == 1 and kind == "nodes" and numbers[0] in self.groups:
            (group,) = numbers
            terms = {f"z_{group}_{p}": ONE for p in range(self.chunks)}
            yield StrongestRow(terms, Fraction(self.chunks_a_node * self.sizes[group]))
        elif len(numbers) == 2 and numbers[0] in self.groups and numbers[1] < self.chunks:
            yield from self._rows_of_group(kind, *numbers)
        elif len(numbers) == 1 and numbers[0] < self.chunks:
            yield from self._rows_of_chunk(kind, numbers[0])

    def _rows_of_group(self, kind: str, group: int, p: int) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind that is about one chunk, if it is on a group."""
        if kind == "chunk":
            most = max(ZERO, self.limit - self._earliest(group, p))
            terms = {f"x_{group}_{p}": self._unit_time(group, p), f"z_{group}_{p}": -most}
            yield StrongestRow(terms)
        elif kind == "used":
            yield StrongestRow({f"z_{group}_{p}": ONE, f"u_{group}": -ONE})

    def _rows_of_chunk(self, kind: str, p: int) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind that is about one chunk, or it and the next."""
        if kind == "order":
            yield StrongestRow(self._used(p + 1, ONE) | self._used(p, -ONE))
        elif kind == "place":
            yield StrongestRow(self._used(p, ONE), ONE)
        elif kind == "time":
            loads = {f"x_{g}_{p}": self._unit_time(g, p) for g in self.groups}
            yield StrongestRow(loads | {f"y_{p}": -ONE})
        elif kind == "channel":
            sent = {f"x_{g}_{p}": self.tau[g] for g in self.groups}
            left = {f"y_{p}": -ONE, f"y_{p + 1}": ONE}
            yield StrongestRow(left | sent | self._used(p + 1, self.setup))
        elif kind == "limit":
            most = {f"z_{g}_{p}": self._earliest(g, p) - self.limit for g in self.groups}
            yield StrongestRow(most | {f"y_{p}": ONE})
        elif kind == "ready":
            begun = {f"z_{g}_{p}": self._earliest(g, p) for g in self.groups}
            yield StrongestRow(begun | {f"y_{p}": ONE, "t": -ONE})
        elif kind == "later":
            later = {f"x_{g}_{q}": ONE for g in self.groups for q in range(p, self.chunks)}
            yield StrongestRow(later | self._used(p, -self.load))

    def _used(self, p: int, coefficient: Fraction) -> dict[str, Fraction]:
        """Return the terms of whether there is a chunk."""
        return {f"z_{g}_{p}": coefficient for g in self.groups}

    def _earliest(self, group: int, p: int) -> Fraction:
        """Return `c`: no chunk of that number and group leaves its load more time."""
        others = self.chunks_a_node * (self.nodes - self.sizes[group])
        number = min(max(0, p - others) // self.chunks_a_node, self.sizes[group] - 1)
        return max(self.earliest[group][number], self.earliest_of_all[p // self.chunks_a_node])

    def _unit_time(self, group: int, p: int) -> Fraction:
        """Return what a unit of load takes at least of the time that is left to a chunk."""
        stands_for_more = p == self.chunks - 1 < self.most_chunks - 1
        return self.tau[group] if stands_for_more else self.unit_time[group]
