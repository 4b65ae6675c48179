"""The pricing problem of one machine: a knapsack, solved by dynamic programming over its CPU.

At an instant a machine is a knapsack. With duals ``pi``, a column of largest reduced value solves::

    maximise    sum_{i in p} (f_i(c_i) - pi_i)
    subject to  sum_{i in p active at t} c_i <= free_t    every clique t
                minimum_i <= c_i <= maximum_i, integer    i in p

Where two cliques imply all others, some parts are active at the first one only, some at the second
one only, and what the parts at both take is one number for both: two knapsacks with common items.
So the best reduced value is found exactly, in integers, and all columns within a gap of it can be
enumerated: the value to go bounds every node of the enumeration tree, and no node is opened that
leads to no such column.

Examples
--------
>>> from dlopt.models.coreservation.scaled_instance import ScaledInstance
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(f"r{k}", 0, 1, 2, 1, (Part(k + 2),)) for k in range(3))
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 6),), requests), "rejections")
>>> knapsack = MachineKnapsack(ColumnPool(scaled, "rejections"), 0, BranchingDecisions({}, {}))
>>> bound, column = knapsack.price([-4, -5, -6], max_nodes=100)
>>> bound, sorted(column.parts), sorted(knapsack.optimal_shares(column.parts).items())
(10, [0, 2], [(0, (0, 2)), (2, (0, 4))])
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.objective import benefit_at

MAX_CAPACITY = 1000
"""Units of CPU of a machine that is priced by dynamic programming, whose time is quadratic in them.

Chosen by hand: beyond it the programs are slow, below it pricing is left to CP-SAT, whose bounds
are a solver's claims.
"""
INFEASIBLE_VALUE = -(1 << 60)
"""The value of what is infeasible; sums of three of it are integers of 64 bits."""
NODES_PER_CLOCK_CHECK = 256
"""Nodes between two looks at the clock, so that the look costs next to nothing."""


@dataclass(frozen=True, slots=True)
class PricedColumn:
    """A column, its reduced value (its value less the duals of its parts), and its value."""

    parts: frozenset[int]
    reduced_value: int
    value: int


EMPTY_COLUMN = PricedColumn(frozenset(), 0, 0)


@dataclass(slots=True)
class EnumerationNode:
    """A node of the enumeration tree: the first parts of a stage are decided.

    Parameters
    ----------
    bound : int
        No column below the node has a larger reduced value.
    stage : int
        0 for the parts at both cliques, 1 and 2 for those at the first and the second one only.
    next : int
        The position of the next part to decide in its stage.
    state : array of int
        The best value of the chosen parts for each number of units that they use.
    shared : array of int or None
        The state at the end of stage 0.
    parts : frozenset of int
        The parts chosen so far.
    """

    bound: int
    stage: int
    next: int
    state: Any
    shared: Any
    parts: frozenset[int]


class MachineKnapsack:
    """One machine of a group, with the values of all shares of its parts.

    Parameters
    ----------
    pool : ColumnPool
    n : int
        The group; `applies` tells whether it is one of those that are small enough.
    decisions : BranchingDecisions
    """

    def __init__(self, pool: ColumnPool, n: int, decisions: BranchingDecisions) -> None:
        group, scaled = pool.groups[n], pool.scaled
        cliques = group.single_machine.maximal_cliques()
        free = cliques[0].free[0], cliques[-1].free[0]
        self.capacities = min(free), *free
        self.padded: dict[int, tuple[Any, Any]] = {}  # by size: to make the windows takes long
        active = [{group.parts[q] for q in clique.parts} for clique in (cliques[0], cliques[-1])]
        shared = active[0] & active[1]
        self.stages = tuple(
            [
                i
                for i in sorted(members)
                if decisions.requests.get(scaled.parts[i].request) is not False
            ]
            for members in (shared, active[0] - shared, active[1] - shared)
        )
        self.values = {i: self._share_values(pool, i) for parts in self.stages for i in parts}
        self.ends = {
            i: (scaled.parts[i].minimum, scaled.parts[i].segments[-1].high) for i in self.values
        }
        self.position = {
            i: (stage, q) for stage, parts in enumerate(self.stages) for q, i in enumerate(parts)
        }
        self.pairs: dict[int, list[tuple[int, bool]]] = {i: [] for i in self.values}
        for (a, b), together in decisions.pairs.items():
            for part, other in ((a, b), (b, a)):
                if part in self.pairs:
                    self.pairs[part].append((other, together))

    @staticmethod
    def applies(pool: ColumnPool, n: int) -> bool:
        """Tell whether a machine has at most two maximal cliques, and few units of CPU."""
        cliques = pool.groups[n].single_machine.maximal_cliques()
        return len(cliques) <= 2 and max(clique.free[0] for clique in cliques) <= MAX_CAPACITY

    def _share_values(self, pool: ColumnPool, i: int) -> Any:
        """Return the value of each number of units of a part."""
        part, largest = pool.scaled.parts[i], max(self.capacities)
        values = np.full(largest + 1, INFEASIBLE_VALUE, dtype=np.int64)
        weight = pool.scaled.weight("benefit", part.request) * (pool.level == "benefit")
        for segment in part.segments:
            for units in range(segment.low, min(segment.high, largest) + 1):
                values[units] = pool.scaling.to_int(weight * benefit_at(part.segments, units))
        return values

    def price(
        self, duals: Sequence[int], max_nodes: int, deadline: float = inf
    ) -> tuple[int, PricedColumn]:
        """Return an upper bound on the reduced value of all columns, and the best column.

        Parameters
        ----------
        duals : sequence of int
            Of all parts.
        max_nodes : int
            Nodes of the enumeration tree; where they do not suffice, the bound is more than the
            reduced value of the column.
        deadline : float
            Instant of the monotonic clock at which `TimeoutError` is raised.
        """
        tree = EnumerationTree(self, duals, deadline)
        best = EMPTY_COLUMN
        while tree.open and tree.nodes < max_nodes:
            column = tree.expand(best.reduced_value + 1)
            if column is not None:
                best = column
        return max([best.reduced_value, *(node.bound for node in tree.open)]), best

    def enumerate_columns(
        self, duals: Sequence[int], min_reduced_value: int, max_nodes: int, deadline: float = inf
    ) -> list[PricedColumn] | None:
        """Return all columns of such a reduced value or more; None after `max_nodes` nodes."""
        tree, columns = EnumerationTree(self, duals, deadline), []
        while tree.open:
            if tree.nodes >= max_nodes:
                return None
            column = tree.expand(min_reduced_value)
            if column is not None:
                columns.append(column)
        return columns

    def optimal_shares(self, parts: frozenset[int]) -> dict[int, tuple[int, int]]:
        """Return the best shares of a set of parts that fits, on machine 0."""
        stages = [[i for i in stage if i in parts] for stage in self.stages]
        tables = [
            self.value_to_go(
                stages[stage],
                np.zeros(self.capacities[stage] + 1, dtype=np.int64),
                self.values,
                all_of_them=True,
            )
            for stage in (1, 2)
        ]
        size = self.capacities[0] + 1
        follow = tables[0][0][:size] + tables[1][0][:size]
        tables.insert(0, self.value_to_go(stages[0], follow, self.values, all_of_them=True))
        assignment: dict[int, tuple[int, int]] = {}
        shared = 0
        for stage, (members, table) in enumerate(zip(stages, tables, strict=True)):
            used = 0 if stage == 0 else shared
            for i, rest in zip(members, table[1:], strict=True):
                values = self.values[i][: len(rest) - used] + rest[used:]
                units = int(values.argmax())
                assignment[i] = 0, units
                used += units
            shared = used if stage == 0 else shared
        return assignment

    def value_to_go(
        self,
        parts: Sequence[int],
        last: Any,
        values: dict[int, Any],
        *,
        all_of_them: bool = False,
    ) -> list[Any]:
        """Return the best value of each part and those after it, by the units used before it.

        Parameters
        ----------
        parts : sequence of int
        last : array of int
            The value after the last part, by the units used.
        values : dict of int to array
            The values of the shares of each part.
        all_of_them : bool, default False
            Whether all parts must be taken.
        """
        tables = [last]
        for i in reversed(parts):
            rest = tables[-1]
            taken = self.extend(i, rest[::-1], values[i])[::-1]
            tables.append(taken if all_of_them else np.maximum(rest, taken))
        tables.reverse()
        return tables

    def extend(self, i: int, before: Any, values: Any) -> Any:
        """Return the best values with one part more, by the units used: a max-plus convolution."""
        size = len(before)
        if size not in self.padded:
            padded = np.full(2 * size - 1, INFEASIBLE_VALUE, dtype=np.int64)
            self.padded[size] = padded, np.lib.stride_tricks.sliding_window_view(padded, size)
        padded, windows = self.padded[size]
        low, high = self.ends[i]
        shares = values[low : min(high + 1, size)][::-1]
        padded[size - 1 :] = before
        last = size - low  # the window that ends there is `before`, later by the minimum share
        sums = windows[last - len(shares) : last] + shares[:, None]
        return np.maximum.reduce(sums, axis=0, initial=INFEASIBLE_VALUE)


class EnumerationTree:
    """Depth-first enumeration of the columns of a machine, part by part.

    Parameters
    ----------
    knapsack : MachineKnapsack
    duals : sequence of int
        Of all parts.
    deadline : float
        Instant of the monotonic clock at which `expand` raises `TimeoutError`.

    Attributes
    ----------
    open : list of EnumerationNode
        Those to expand, the most promising one last.
    nodes : int
        How many were expanded.

    Notes
    -----
    First the parts at both cliques are decided: `state` is their best value if they use exactly so
    many units. Then those at the first one: what is used of it at the start goes with the best
    value to go at the second. Then those at the second, given the value of the chosen ones at the
    first. Added to each state is the value to go for as many units, so the largest sum bounds all
    columns below a node; where no Ryan-Foster decision concerns it, some column attains it.
    """

    def __init__(self, knapsack: MachineKnapsack, duals: Sequence[int], deadline: float) -> None:
        self.knapsack, self.duals, self.deadline, self.nodes = knapsack, duals, deadline, 0
        self.reduced_values = {
            i: np.maximum(values - int(duals[i]), INFEASIBLE_VALUE)
            for i, values in knapsack.values.items()
        }
        self.empty = [np.zeros(capacity + 1, dtype=np.int64) for capacity in knapsack.capacities]
        single = [
            knapsack.value_to_go(knapsack.stages[stage], self.empty[stage], self.reduced_values)
            for stage in (1, 2)
        ]
        self.size = knapsack.capacities[0] + 1
        follow = single[0][0][: self.size] + single[1][0][: self.size]
        self.to_go = [
            knapsack.value_to_go(knapsack.stages[0], follow, self.reduced_values),
            *single,
        ]
        state = np.full(self.size, INFEASIBLE_VALUE, dtype=np.int64)
        state[0] = 0
        self.open = [self._node(0, 0, state, None, frozenset())]

    def expand(self, min_reduced_value: int) -> PricedColumn | None:
        """Expand the last open node; return a column if all of its parts are decided.

        Nodes and columns of a smaller reduced value than `min_reduced_value` are pruned.
        """
        self.nodes += 1
        if self.nodes % NODES_PER_CLOCK_CHECK == 0 and time.monotonic() > self.deadline:
            raise TimeoutError
        node = self.open.pop()
        if node.bound < min_reduced_value:
            return None
        if node.next == len(self.knapsack.stages[node.stage]):
            if node.stage == 2:
                dual_cost = sum(self.duals[i] for i in node.parts)
                return PricedColumn(node.parts, node.bound, node.bound + dual_cost)
            self.open.append(self._next_stage(node))
        else:
            children = [child for child in self._children(node) if child.bound >= min_reduced_value]
            self.open += sorted(children, key=lambda child: child.bound)
        return None

    def _children(self, node: EnumerationNode) -> Iterator[EnumerationNode]:
        """Yield the node without the next part, and with it, as far as pairs allow them."""
        i = self.knapsack.stages[node.stage][node.next]
        allowed = {True, False}
        for other, together in self.knapsack.pairs[i]:
            position = self.knapsack.position.get(other)
            chosen = other in node.parts
            if position is None or position < (node.stage, node.next):
                allowed &= {chosen} if together else {False} if chosen else {True, False}
        if False in allowed:
            yield self._node(node.stage, node.next + 1, node.state, node.shared, node.parts)
        if True in allowed:
            state = self.knapsack.extend(i, node.state, self.reduced_values[i])
            yield self._node(node.stage, node.next + 1, state, node.shared, node.parts | {i})

    def _next_stage(self, node: EnumerationNode) -> EnumerationNode:
        """Return the node at the beginning of the next stage."""
        knapsack, stage = self.knapsack, node.stage + 1
        shared = node.state if stage == 1 else node.shared
        state = np.full(knapsack.capacities[stage] + 1, INFEASIBLE_VALUE, dtype=np.int64)
        if stage == 1:
            other_clique = self.to_go[2][0]
        else:
            chosen = [i for i in knapsack.stages[1] if i in node.parts]
            other_clique = knapsack.value_to_go(
                chosen, self.empty[1], self.reduced_values, all_of_them=True
            )[0]
        state[: self.size] = np.maximum(shared + other_clique[: self.size], INFEASIBLE_VALUE)
        return self._node(stage, 0, state, shared, node.parts)

    def _node(
        self, stage: int, position: int, state: Any, shared: Any, parts: frozenset[int]
    ) -> EnumerationNode:
        bound = int((state + self.to_go[stage][position]).max())
        return EnumerationNode(bound, stage, position, state, shared, parts)
