"""Heads and tails: when a job can start on a machine, and what is left once it has ended there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlopt.models.dag.case import Arc, Case

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
    """

    heads: Ints
    costs: Ints
    tails: Ints

    @property
    def ways(self) -> Ints:
        """When the graph of a job is complete at the earliest, if it runs on a machine."""
        ways: Ints = np.minimum(self.heads + self.costs + self.tails, NEVER)
        return ways


def windows_of(case: Case, joins: bool = True) -> Windows:
    """Return heads and tails.

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
    kinds = np.array(case.kinds)
    jobs = range(len(case.jobs))
    heads = _longest(jobs, case.incoming, lambda arc: arc.source, ready, costs, kinds, joins=joins)
    tails = _longest(
        reversed(jobs), case.outgoing, lambda arc: arc.target, after, costs, kinds.T, joins=joins
    )
    return Windows(heads, costs, tails)


def _longest(
    order: Iterable[int],
    arcs: Sequence[Sequence[Arc]],
    end: Callable[[Arc], int],
    first: Ints,
    costs: Ints,
    kinds: NDArray[np.int64],
    *,
    joins: bool,
) -> Ints:
    """Return the longest ways to every job, over the other ends of its arcs."""
    found = first.copy()
    done = np.empty_like(found)
    away = kinds.shape[0] > 1
    diagonal = np.arange(kinds.shape[0])
    for job in order:
        row = found[job]
        there = []
        for arc in arcs[job]:
            sends = np.array(arc.sends, dtype=np.int64)[kinds]
            near = end(arc)
            arriving = done[near][:, None] + sends
            np.maximum(row, arriving.min(axis=0), out=row)
            if joins and len(arcs[job]) > 1:
                local = arriving[diagonal, diagonal].copy()
                arriving[diagonal, diagonal] = NEVER
                remote = arriving.min(axis=0) if away else np.full_like(local, NEVER)
                there.append((near, remote, local))
        if there:
            for place in range(kinds.shape[0]):
                row[place] = _joined(there, found, costs, place, int(row[place]))
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
