"""Heads and tails: when a job can start on a machine, and what is left once it has ended there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlopt.models.dag.scaled_instance import Arc, Case

Ints = NDArray[np.int64]

NEVER = 2**60
"""The head of a job on a machine that cannot run it, and its tail there."""


@dataclass(frozen=True, slots=True)
class Windows:
    """What the arcs alone say of the time of every job on every machine.

    Parameters
    ----------
    heads : array of int, shape (jobs, machines)
        It cannot start earlier there.
    costs : array of int, shape (jobs, machines)
        How long it takes there; `NEVER` where it cannot run.
    tails : array of int, shape (jobs, machines)
        Its graph is complete so long after it has ended there, at the earliest.
    paths : array of int, shape (jobs,)
        When its graph is complete at the earliest by the longest ways alone.
    """

    heads: Ints
    costs: Ints
    tails: Ints
    paths: Ints

    @property
    def ways(self) -> Ints:
        """When the graph of a job is complete at the earliest, if it runs on a machine."""
        ways: Ints = np.minimum(self.heads + self.costs + self.tails, NEVER)
        return ways


@dataclass(frozen=True, slots=True)
class Direction:
    """A graph as it is, or turned round: ends become starts, and heads become tails.

    Parameters
    ----------
    order : sequence of int
        Jobs; every arc leads forward in it.
    into, out_of : sequence of sequence of Arc, shape (jobs, ...)
    source, target : callable
        The ends of an arc.
    kinds : array of int, shape (machines, machines)
        See `Case`.
    """

    order: Sequence[int]
    into: Sequence[Sequence[Arc]]
    out_of: Sequence[Sequence[Arc]]
    source: Callable[[Arc], int]
    target: Callable[[Arc], int]
    kinds: Ints


def directions(case: Case) -> tuple[Direction, Direction]:
    """Return the graphs of a case as they are, and turned round."""
    jobs, kinds = range(len(case.jobs)), np.array(case.kinds)
    ends = _source, _target
    return (
        Direction(jobs, case.incoming, case.outgoing, *ends, kinds),
        Direction(jobs[::-1], case.outgoing, case.incoming, *ends[::-1], kinds.T),
    )


def _source(arc: Arc) -> int:
    return arc.source


def _target(arc: Arc) -> int:
    return arc.target


def windows_of(case: Case, joins: bool = True) -> Windows:
    """Return heads and tails by the longest ways.

    Parameters
    ----------
    case : Case
    joins : bool, default True
        Look at all predecessors of a job at once: those whose data would come too late from
        elsewhere run on the machine of the job, one after the other.

    Notes
    -----
    Complexity: O(arcs x machines^2); with `joins`, times the predecessors of a job.
    """
    costs = np.array(
        [[NEVER if cost is None else cost for cost in row] for row in case.costs], dtype=np.int64
    )
    ready, after = (np.array(rows, dtype=np.int64) for rows in (case.ready, case.after))
    forth, back = directions(case)
    heads = longest(forth, ready, costs, joins=joins)
    tails = longest(back, after, costs, joins=joins)
    ways = np.minimum(heads + costs + tails, NEVER)
    return Windows(heads, costs, tails, ways.min(axis=1))


def longest(
    way: Direction,
    first: Ints,
    costs: Ints,
    *,
    joins: bool,
    wait: Callable[[int, Ints], None] | None = None,
) -> Ints:
    """Return the longest ways to every job.

    Parameters
    ----------
    way : Direction
    first : array of int, shape (jobs, machines)
        Heads that are known.
    costs : array of int, shape (jobs, machines)
    joins : bool
        See `windows_of`.
    wait : callable, optional
        Is given a job, and heads that are final for those before it; may raise its own.
    """
    found, kinds = first.copy(), way.kinds
    done = np.empty_like(found)
    away = kinds.shape[0] > 1
    diagonal = np.arange(kinds.shape[0])
    for job in way.order:
        row = found[job]
        there = []
        arcs = way.into[job]
        for arc in arcs:
            sends = np.array(arc.sends, dtype=np.int64)[kinds]
            near = way.source(arc)
            arriving = done[near][:, None] + sends
            np.maximum(row, arriving.min(axis=0), out=row)
            if joins and len(arcs) > 1:
                local = arriving[diagonal, diagonal].copy()
                arriving[diagonal, diagonal] = NEVER
                remote = arriving.min(axis=0) if away else np.full_like(local, NEVER)
                there.append((near, remote, local))
        if there:
            for place in range(kinds.shape[0]):
                row[place] = _joined(there, found, costs, place, int(row[place]))
        if wait is not None:
            wait(job, found)
        row[costs[job] >= NEVER] = NEVER
        np.minimum(row, NEVER, out=row)
        done[job] = np.minimum(row + costs[job], NEVER)
    return found


def _joined(
    there: Sequence[tuple[int, Ints, Ints]], heads: Ints, costs: Ints, place: int, least: int
) -> int:
    """Return when the data of all can be on a machine at the earliest.

    Data that comes too late from elsewhere comes from jobs on the machine itself. Let them be
    those whose data would come last: for one of these choices, what follows is a bound.
    """
    coming = sorted(((int(r[place]), job, int(own[place])) for job, r, own in there), reverse=True)
    best = coming[0][0]  # all from elsewhere
    local: list[tuple[int, int]] = []
    latest = k = 0
    while True:
        _, job, own = coming[k]
        local.append((int(heads[job, place]), int(costs[job, place])))
        latest = max(latest, own)
        busy = 0
        for head, cost in sorted(local):
            busy = max(busy, head) + cost
        k += 1
        later = coming[k][0] if k < len(coming) else 0
        best = min(best, max(busy, latest, later))
        if max(busy, latest) >= best:  # so it is with all of them, if not before
            return max(least, min(best, NEVER))
