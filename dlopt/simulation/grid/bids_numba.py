"""The bids of `dlopt.simulation.grid.bids`, compiled: for floats, with the extra ``fast``.

It takes the same steps in the same order, so that the results are equal bit by bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from dlopt.arithmetic import Number
from dlopt.simulation.grid import bids
from dlopt.simulation.grid.execution_state import Job, LanNodes, SubtaskState

_INDEX = attrgetter("index")
_READY = SubtaskState.READY  # bound here: an attribute of an enumeration is slow
_SENT = SubtaskState.SENT
# The rows of `Table.facts`.
_RANK = 0
_WORK = 1
_IN = 2
_OUT = 3

_compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = njit(cache=True)


class Table(NamedTuple):
    """A job as arrays, its subtasks in the order of their ranks.

    `facts[what, subtask]`; the subtasks `edges[0]` precede `edges[1]`, in sorted order.
    """

    facts: Any
    edges: Any


def table(job: Job) -> Table | None:
    """Return a job as arrays; None if a subtask has costs per machine instead of work."""
    if any(one.costs is not None for one in job.waiting):
        return None
    places = {one: place for place, one in enumerate(job.waiting)}
    facts = [(one.rank[0], one.work, one.data_in, one.data_out) for one in job.waiting]
    edges = [(places[one], places[target]) for one in job.waiting for target in one.after]
    return Table(np.array(facts).T, np.array(edges, np.int64).reshape(-1, 2).T)


@_compiled
def _place(  # pragma: no cover
    now: Any,
    free: Any,
    round_trip_latencies: Any,
    powers: Any,
    unit: Any,
    facts: Any,
    edges: Any,
    known: Any,
    begin: Any,
    until: Any,
) -> Any:
    """Schedule subtasks in order of rank; return when those from `begin` to `until` are back.

    Results come at `known`: those that are infinite are to be scheduled. Infinite if impossible.
    """
    count, arcs = facts.shape[1], edges.shape[1]
    ready = np.full(count, now)
    first = np.zeros(count + 1, np.int64)  # edge of each subtask
    for arc in range(arcs):
        source, target = edges[0, arc], edges[1, arc]
        first[source + 1] += 1
        if known[source] < np.inf and known[source] > ready[target]:
            ready[target] = known[source]
    for one in range(count):
        first[one + 1] += first[one]
    last = now
    for one in np.argsort(facts[_RANK], kind="mergesort"):
        if known[one] < np.inf:
            continue
        at = ready[one] + facts[_IN, one] * unit
        least, best = np.inf, -1
        for node in range(free.size):
            start = free[node] if free[node] > at else at
            end = start + (round_trip_latencies[node] + facts[_WORK, one] / powers[node])
            if end < least:
                least, best = end, node
        mine = begin <= one < until
        if best < 0:
            if mine:
                return np.inf
            least = now
        else:
            free[best] = least - round_trip_latencies[best]
            least += facts[_OUT, one] * unit
            if mine and least > last:
                last = least
        for arc in range(first[one], first[one + 1]):
            if least > ready[edges[1, arc]]:
                ready[edges[1, arc]] = least
    return last


def bid(
    lan_nodes: LanNodes, now: Number, dead: bool, jobs: Collection[Job], job: Job
) -> Number | None:
    """Return the bid as `dlopt.simulation.grid.bids.bid` does."""
    placed = sorted((*jobs, job), key=_INDEX)
    tables, begin = [], 0
    for one in placed:
        if one.table is None:
            one.table = table(one) or ()
        if not one.table:
            return bids.bid(lan_nodes, now, dead, jobs, job)
        tables.append(one.table)
        if one.index < job.index:
            begin += len(one.waiting)
    until = begin + len(job.waiting)
    facts, edges = tables[0]
    if len(tables) > 1:
        facts = np.concatenate([each.facts for each in tables], axis=1)
        edges = _joined_edges(tables)
    known = np.array(
        [
            one.attempt.expected_known  # type: ignore[union-attr]
            if one.state == _SENT
            else (math.inf if one.state <= _READY else -math.inf)
            for other in placed
            for one in other.waiting
        ]
    )
    free = np.array(bids.node_free_times(lan_nodes, now, dead))
    if lan_nodes.arrays is None:
        lan_nodes.arrays = np.array(lan_nodes.round_trip_latencies), np.array(lan_nodes.powers)
    round_trip_latencies, powers = lan_nodes.arrays
    last = _place(
        now, free, round_trip_latencies, powers, lan_nodes.unit, facts, edges, known, begin, until
    )
    return None if last == math.inf else last - now


def _joined_edges(tables: list[Table]) -> Any:
    edges, before = [], 0
    for each in tables:
        edges.append(each.edges + before)
        before += each.facts.shape[1]
    return np.concatenate(edges, axis=1)
