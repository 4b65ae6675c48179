"""The program of plans with any chunks: what is received and computed between given instants.

Time is divided by instants ``e_0 < ... < e_K-1``, of which the first is no later than any node is
ready; the last interval ends at a date `T` after all of them. An event at an instant belongs to the
interval that begins there. The nodes are in groups, and the columns are

    a_g_k    load that nodes of group g receive in interval k
    b_g_k    load that they compute in it
    t        the completion of the plan, since an origin before which no node is ready

All dates are counted since that origin.

With the smallest `tau` and `chi` of a group, and the time `F_g_k` for which its nodes are ready in
interval `k`, all together, every plan that is complete by `T` satisfies::

    load             sum_{g,k} b_g_k >= load
    channel_k        sum_g tau_g a_g_k <= e_k+1 - e_k                         e_K = T
    nodes_g_k        tau_g a_g_k + chi_g b_g_k <= F_g_k
    received_g_k     sum_{j <= k} b_g_j <= sum_{j <= k} a_g_j
    channel_k_t      the same for the last interval, with the right-hand side times
    nodes_g_k_t      (t - e_0) / (T - e_0)

    bounds           a_g_k <= load,  b_g_k <= load,  t <= T

The rows with `t` hold because the part of the last interval that is before `t` is convex in `t`:
nothing at ``e_0``, and all of it at `T`. So is the time for which a node is ready in it. Set-up
times are left out, and flows of intervals that end before any node of the group is ready are 0.
Source: ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from dlopt.arithmetic import exact
from dlopt.certificates import StatedConstraint, StatedProgram
from dlopt.problems.certified_rows import INDEX, ONE, ZERO, StrongestRow, flaw_of_rows
from dlopt.problems.iit.data import Instance

_COLUMN = re.compile(rf"t|[ab]_{INDEX}_{INDEX}", re.ASCII)
_ROW = re.compile(rf"([a-z]+)(?:_{INDEX})?(?:_{INDEX})?(_t)?(?:_[GL])?", re.ASCII)


class FlowProgram:
    """The program of flows that a certificate states.

    Parameters
    ----------
    instance : Instance
    program : StatedProgram
    groups : sequence of sequence of int
        The nodes of each group.
    instants : sequence of Fraction
    origin : Fraction
        What dates are counted from; no node is ready before.
    limit : Fraction
        `T`: the completion of the plans that are meant is no later.
    """

    def __init__(
        self,
        instance: Instance,
        program: StatedProgram,
        groups: Sequence[Sequence[int]],
        instants: Sequence[Fraction],
        origin: Fraction,
        limit: Fraction,
    ) -> None:
        self.program, self.limit, self.groups = program, limit, range(len(groups))
        self.instants = (*instants, limit)
        self.intervals = range(len(instants))
        self.load, cluster = exact(instance.load), instance.cluster
        self.tau = [min(exact(cluster.tau_of(node)) for node in group) for group in groups]
        self.chi = [min(exact(cluster.chi_of(node)) for node in group) for group in groups]
        ready = [exact(date) - origin for date in instance.ready_times]
        self.ready = [[ready[node] for node in group] for group in groups]
        self.names = frozenset(program.names)

    def flaw(self) -> str | None:
        """Return what some plan may not satisfy, or None if there is nothing."""
        if any(one >= other for one, other in pairwise(self.instants)):
            return "its instants are not in ascending order, before what is claimed"
        if self.instants[0] > min(map(min, self.ready)):
            return "a node is ready before the first instant"
        if not all(map(_COLUMN.fullmatch, self.program.names)) or self.program.integers:
            return "its columns are not those of flows"
        return flaw_of_rows(self.program, self._holds)

    def _holds(self, name: str, row: StatedConstraint) -> bool:
        """Tell whether every plan satisfies a row."""
        column = name.removesuffix("_L")
        if column in self.names:
            most = self.limit if column == "t" else self.load
            return StrongestRow({column: ONE}, most).implies(row, self.program)
        match = _ROW.fullmatch(name)
        if match is None:
            return False
        numbers = [int(text) for text in match.groups()[1:3] if text is not None]
        if numbers and numbers[-1] not in self.intervals:
            return False
        if len(numbers) == 2 and numbers[0] not in self.groups:
            return False
        if match[4] and numbers[-1:] != [self.intervals[-1]]:
            return False
        found = self._rows(match[1], numbers, match[4] is not None)
        return any(of.implies(row, self.program) for of in found)

    def _rows(self, kind: str, numbers: Sequence[int], by_end: bool) -> Iterator[StrongestRow]:
        """Yield the strongest row of a kind and its numbers, if there is one."""
        if kind == "load" and not numbers:
            computed: dict[str, Fraction] = {}
            for group in self.groups:
                computed |= self._flows("b", group, self.intervals[-1], -ONE)
            yield StrongestRow(computed, -self.load)
        elif kind == "channel" and len(numbers) == 1:
            (k,) = numbers
            sent = {f"a_{g}_{k}": self.tau[g] for g in self.groups}
            yield self._limited(sent, self.instants[k + 1] - self.instants[k], by_end)
        elif kind == "nodes" and len(numbers) == 2:
            g, k = numbers
            busy = {f"a_{g}_{k}": self.tau[g], f"b_{g}_{k}": self.chi[g]}
            yield self._limited(busy, self._time_ready(g, k), by_end)
        elif kind == "received" and len(numbers) == 2:
            group, last = numbers
            computed = self._flows("b", group, last, ONE)
            yield StrongestRow(computed | self._flows("a", group, last, -ONE))

    def _limited(self, terms: dict[str, Fraction], most: Fraction, by_end: bool) -> StrongestRow:
        """Return that terms are at most a time, or its share until the completion."""
        if not by_end:
            return StrongestRow(terms, most)
        first = self.instants[0]
        slope = most / (self.limit - first)
        return StrongestRow(terms | {"t": -slope}, -slope * first)

    def _flows(self, letter: str, group: int, last: int, sign: Fraction) -> dict[str, Fraction]:
        """Return the terms of the flows of a group, up to an interval; others are 0."""
        first = min(self.ready[group])
        return {
            f"{letter}_{group}_{k}": sign for k in range(last + 1) if first < self.instants[k + 1]
        }

    def _time_ready(self, group: int, k: int) -> Fraction:
        """Return how long the nodes of a group are ready in an interval, all together."""
        start, end = self.instants[k], self.instants[k + 1]
        return sum((max(ZERO, end - max(start, ready)) for ready in self.ready[group]), ZERO)
