"""Heads and tails of jobs on machines, by longest paths.

The head of a job on a machine is a lower bound of its start there; the tail is a lower bound of the
time from its end there to the completion of its graph. With `r` the release times, `c` the costs
and `t` the transfer times, longest paths give, for job `j` on machine `q`::

    head(j, q) >= r(j, q)
    head(j, q) >= min over p of (head(i, p) + c(i, p) + t(i, j, p, q))     for each arc (i, j)

The machine of a predecessor is chosen for each arc on its own. Where a job has several
predecessors, a join bound is sharper: predecessors whose data would arrive too late from other
machines run on the machine of the job itself, one after another. Tails are the heads of the
reversed graphs. Source: longest paths as of the levels in Chen 2001, section 2.3.2; join bounds are
ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlopt.models.dag.scaled_instance import Arc, ScaledInstance

Ints = NDArray[np.int64]

INFINITE = 2**60
"""Head, cost and tail of a job on a machine that cannot run it: beyond every horizon, and the sum
of a few fits into 64-bit integers.
"""


@dataclass(frozen=True, slots=True)
class HeadsTails:
    """Lower bounds of the times before and after every job, on every machine.

    Parameters
    ----------
    heads : array of int, shape (jobs, machines)
        Lower bounds of starts.
    costs : array of int, shape (jobs, machines)
        Processing times; `INFINITE` where a job cannot run.
    tails : array of int, shape (jobs, machines)
        Lower bounds of the time from the end of a job to the completion of its graph.
    path_bounds : array of int, shape (jobs,)
        Lower bounds of the completion of the job's graph, by longest paths through the job alone.
    """

    heads: Ints
    costs: Ints
    tails: Ints
    path_bounds: Ints

    @property
    def completion_bounds(self) -> Ints:
        """Lower bounds of the completion of a job's graph, if the job runs on a machine."""
        bounds: Ints = np.minimum(self.heads + self.costs + self.tails, INFINITE)
        return bounds


@dataclass(frozen=True, slots=True)
class GraphDirection:
    """All graphs, or all graphs reversed: starts become ends, and heads become tails.

    Parameters
    ----------
    order : sequence of int
        Jobs in topological order.
    into, out_of : sequence of sequence of Arc, shape (jobs, ...)
    source, target : callable
        The ends of an arc.
    link_class : array of int, shape (machines, machines)
        See `ScaledInstance`.
    """

    order: Sequence[int]
    into: Sequence[Sequence[Arc]]
    out_of: Sequence[Sequence[Arc]]
    source: Callable[[Arc], int]
    target: Callable[[Arc], int]
    link_class: Ints


def both_directions(scaled: ScaledInstance) -> tuple[GraphDirection, GraphDirection]:
    """Return the graphs as they are, and reversed."""
    jobs, link_class = range(len(scaled.jobs)), np.array(scaled.link_class)
    ends = _source, _target
    return (
        GraphDirection(jobs, scaled.incoming, scaled.outgoing, *ends, link_class),
        GraphDirection(jobs[::-1], scaled.outgoing, scaled.incoming, *ends[::-1], link_class.T),
    )


def _source(arc: Arc) -> int:
    return arc.source


def _target(arc: Arc) -> int:
    return arc.target


def longest_path_heads_tails(scaled: ScaledInstance, join_bounds: bool = True) -> HeadsTails:
    """Return heads and tails by longest paths.

    Parameters
    ----------
    scaled : ScaledInstance
    join_bounds : bool, default True
        Whether to consider all predecessors of a job together: those whose data would arrive too
        late from other machines run on the machine of the job, one after another.

    Notes
    -----
    Complexity: O(arcs x machines^2); with `join_bounds`, times the predecessors of a job.

    Examples
    --------
    The last job waits for two jobs of 2 on one machine, or for the transfer of 9 from the other:

    >>> from dlopt.problems.dag import Edge, Graph, Instance, Machine, Task
    >>> tasks = (Task("a", work=2), Task("b", work=2), Task("c", work=1))
    >>> graph = Graph("g", tasks, (Edge(0, 2, data=9), Edge(1, 2, data=9)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> longest_path_heads_tails(scaled, join_bounds=False).heads[2].tolist()
    [2, 2]
    >>> longest_path_heads_tails(scaled).heads[2].tolist()
    [4, 4]
    """
    costs = np.array(
        [[INFINITE if cost is None else cost for cost in row] for row in scaled.costs],
        dtype=np.int64,
    )
    release, delivery = (
        np.array(rows, dtype=np.int64) for rows in (scaled.release_times, scaled.delivery_times)
    )
    forward, backward = both_directions(scaled)
    heads = longest_paths(forward, release, costs, join_bounds=join_bounds)
    tails = longest_paths(backward, delivery, costs, join_bounds=join_bounds)
    bounds = np.minimum(heads + costs + tails, INFINITE)
    return HeadsTails(heads, costs, tails, bounds.min(axis=1))


def longest_paths(
    direction: GraphDirection,
    initial_heads: Ints,
    costs: Ints,
    *,
    join_bounds: bool,
    tighten_head: Callable[[int, Ints], None] | None = None,
) -> Ints:
    """Return heads by longest paths to every job.

    Parameters
    ----------
    direction : GraphDirection
    initial_heads : array of int, shape (jobs, machines)
        Heads that are known.
    costs : array of int, shape (jobs, machines)
    join_bounds : bool
        See `longest_path_heads_tails`.
    tighten_head : callable, optional
        Is given a job, and heads that are final for its predecessors; may raise the heads of the
        job.
    """
    heads, link_class = initial_heads.copy(), direction.link_class
    ends = np.empty_like(heads)
    several_machines = link_class.shape[0] > 1
    diagonal = np.arange(link_class.shape[0])
    for job in direction.order:
        row = heads[job]
        predecessors = []
        arcs = direction.into[job]
        for arc in arcs:
            transfers = np.array(arc.transfer_times, dtype=np.int64)[link_class]
            source = direction.source(arc)
            arrivals = ends[source][:, None] + transfers
            np.maximum(row, arrivals.min(axis=0), out=row)
            if join_bounds and len(arcs) > 1:
                local = arrivals[diagonal, diagonal].copy()
                arrivals[diagonal, diagonal] = INFINITE
                remote = arrivals.min(axis=0) if several_machines else np.full_like(local, INFINITE)
                predecessors.append((source, remote, local))
        if predecessors:
            for machine in range(link_class.shape[0]):
                row[machine] = _join_bound(predecessors, heads, costs, machine, int(row[machine]))
        if tighten_head is not None:
            tighten_head(job, heads)
        row[costs[job] >= INFINITE] = INFINITE
        np.minimum(row, INFINITE, out=row)
        ends[job] = np.minimum(row + costs[job], INFINITE)
    return heads


def _join_bound(
    predecessors: Sequence[tuple[int, Ints, Ints]],
    heads: Ints,
    costs: Ints,
    machine: int,
    lower_bound: int,
) -> int:
    """Return when the data of all predecessors can be on a machine at the earliest.

    Sort predecessors by the arrival of their data from other machines, latest first. If the first
    `k` run on the machine itself, one after another, the others bound the start by the arrival of
    the next one. The least of these bounds over all `k` holds whichever predecessors run there.

    Parameters
    ----------
    predecessors : sequence of (int, array, array)
        Job, and arrivals of its data on each machine from the best other machine, and from the
        machine itself.
    heads, costs : array of int, shape (jobs, machines)
    machine : int
    lower_bound : int
        A head that is known.
    """
    arrivals = sorted(
        ((int(remote[machine]), job, int(local[machine])) for job, remote, local in predecessors),
        reverse=True,
    )
    best = arrivals[0][0]  # no predecessor runs on the machine
    on_machine: list[tuple[int, int]] = []
    latest_local = k = 0
    while True:
        _, job, local_arrival = arrivals[k]
        on_machine.append((int(heads[job, machine]), int(costs[job, machine])))
        latest_local = max(latest_local, local_arrival)
        busy_until = 0
        for head, cost in sorted(on_machine):
            busy_until = max(busy_until, head) + cost
        k += 1
        next_remote = arrivals[k][0] if k < len(arrivals) else 0
        best = min(best, max(busy_until, latest_local, next_remote))
        if max(busy_until, latest_local) >= best:  # more jobs on the machine are no better
            return max(lower_bound, min(best, INFINITE))
