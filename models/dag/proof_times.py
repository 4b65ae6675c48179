"""The times of the program of a proof: jobs, completions of graphs, and groups of machines.

Of a makespan they are those of the jobs. Of numbers of tardy graphs and of totals of completions,
the completion of each graph is a job that takes no time, in a group of its own, and needs the
output of all jobs of the graph; one more job says that fewer graphs are tardy than may be. See
`dlopt.problems.dag.certified_levels`, where a checker states the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from dlopt.models.dag.energetic_bounds import dual_machine_weights
from dlopt.models.dag.heads_and_tails import INFINITE, HeadsTails, Ints
from dlopt.models.dag.scaled_instance import ScaledInstance

NO_LATEST = 2**50
"""The latest start of a job of which none is known: beyond every horizon."""


class TimedArc(NamedTuple):
    """A precedence constraint between two jobs, with the transfer times from group to group."""

    source: int
    target: int
    transfers: Ints


@dataclass(frozen=True, slots=True)
class ProofTimes:
    """The times of a program, in scaled units.

    Parameters
    ----------
    numbers : list of int
        The number of each job in the program.
    groups : list of list of int
        The machines of each group; of completions the last one, which has none.
    sizes : array of int, shape (groups,)
    costs, releases : array of int, shape (jobs, groups)
        Costs are `INFINITE` where a job cannot run.
    last : array of int, shape (jobs, groups)
        The latest start that the program states; negative where a job cannot run in time,
        `NO_LATEST` where it states none.
    arcs : list of TimedArc
        Each job is the target of arcs before it is the source of one.
    weightings : list of array of int, shape (groups,)
        Weights of machines with which intervals are tested for overloads.
    """

    numbers: list[int]
    groups: list[list[int]]
    sizes: Ints
    costs: Ints
    releases: Ints
    last: Ints
    arcs: list[TimedArc]
    weightings: list[Ints]


def machine_groups(scaled: ScaledInstance, *, single_machines: bool) -> list[list[int]]:
    """Return the machines in groups: of identical ones where nothing is sent, or one by one."""
    if scaled.communication_free and not single_machines:
        return scaled.identical_machines
    return [[machine] for group in scaled.identical_machines for machine in group]


def exchangeable_groups(scaled: ScaledInstance, groups: list[list[int]]) -> list[int]:
    """Return the groups of single machines that may be exchanged with the group before."""
    kind = {m: k for k, group in enumerate(scaled.identical_machines) for m in group}
    return [
        g
        for g in range(1, len(groups))
        if len(groups[g]) == len(groups[g - 1]) == 1
        and kind[groups[g][0]] == kind[groups[g - 1][0]]
    ]


def makespan_times(
    scaled: ScaledInstance, heads_tails: HeadsTails, makespan: int, groups: list[list[int]]
) -> ProofTimes:
    """Return the times of schedules that are complete by a makespan.

    Parameters
    ----------
    scaled : ScaledInstance
    heads_tails : HeadsTails
        Of these, only the costs are used.
    makespan : int
        In scaled units.
    groups : list of list of int
        See `machine_groups`.
    """
    firsts = [group[0] for group in groups]
    costs = heads_tails.costs[:, firsts]
    releases: Ints = np.array(scaled.release_times, dtype=np.int64)[:, firsts]
    last = makespan - np.array(scaled.delivery_times, dtype=np.int64)[:, firsts] - costs
    weights = [dual_machine_weights(heads_tails.costs).weights[firsts]]
    if len(groups) > 1:
        weights += list(np.eye(len(groups), dtype=np.int64))
    link_class = np.array(scaled.link_class)[np.ix_(firsts, firsts)]
    offsets = list(accumulate((len(one.tasks) for one in scaled.instance.graphs), initial=0))
    return ProofTimes(
        [offsets[graph] + task for graph, task in scaled.jobs],
        groups,
        np.array([len(group) for group in groups]),
        costs,
        releases,
        np.where((costs < INFINITE) & (releases <= last), last, -1),
        [
            TimedArc(
                arc.source, arc.target, np.array(arc.transfer_times, dtype=np.int64)[link_class]
            )
            for arc in scaled.arcs
        ],
        weights,
    )


def completion_times(
    scaled: ScaledInstance, heads_tails: HeadsTails, groups: list[list[int]]
) -> ProofTimes:
    """Return the times of all schedules, with the completions of graphs as jobs.

    Parameters
    ----------
    scaled, heads_tails, groups
        See `makespan_times`.

    Examples
    --------
    >>> from dlopt.models.dag.lower_bounds import compute_heads_tails
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> instance = Instance((Machine("m"),), (Graph("g", (Task("a", work=3), Task("b", work=2))),))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> times = completion_times(scaled, compute_heads_tails(scaled), [[0]])
    >>> times.numbers, times.sizes.tolist(), [(arc.source, arc.target) for arc in times.arcs]
    ([0, 1, 2, 3], [1, 2], [(0, 2), (1, 2)])
    """
    known = makespan_times(scaled, heads_tails, 0, groups)
    jobs, graphs, own = len(scaled.jobs), len(scaled.instance.graphs), len(groups)
    delivery = np.array(scaled.delivery_times, dtype=np.int64)[:, [group[0] for group in groups]]
    costs = _extended(known.costs, graphs + 1, INFINITE)
    costs[jobs:, own] = 0
    releases = _extended(known.releases, graphs + 1, 0)
    releases[jobs : jobs + graphs] = np.array(scaled.arrivals, dtype=np.int64)[:, None]
    arcs = [TimedArc(arc.source, arc.target, _extended(arc.transfers, 1, 0)) for arc in known.arcs]
    for job, (graph, _) in enumerate(scaled.jobs):
        to_home = np.zeros((own + 1, own + 1), dtype=np.int64)
        to_home[:own] = delivery[job][:, None]
        arcs.append(TimedArc(job, jobs + graph, to_home))
    return replace(
        known,
        numbers=[*known.numbers, *range(jobs, jobs + graphs + 1)],
        groups=[*groups, []],
        sizes=np.append(known.sizes, graphs + 1),
        costs=costs,
        releases=releases,
        last=np.where(costs < INFINITE, NO_LATEST, -1),
        arcs=arcs,
        weightings=[np.append(weights, 0) for weights in known.weightings],
    )


def _extended(table: Ints, rows: int, fill: int) -> Ints:
    """Return a table with more rows and one more column."""
    return np.pad(table, ((0, rows), (0, 1)), constant_values=fill)


class ExcludedLevels(NamedTuple):
    """Which schedules there are none of; see `dlopt.problems.dag.certified_levels`.

    Parameters
    ----------
    tardy : int or None
        The number of graphs that are tardy at most; None if any number may be.
    total : int or None
        The total of all completions at most, in scaled units, if as many graphs are tardy as may
        be; None if it may be any.
    """

    tardy: int | None
    total: int | None


def remarks_of(
    scaled: ScaledInstance,
    groups: Sequence[Sequence[int]],
    excluded: int | ExcludedLevels,
    order: Sequence[int],
) -> tuple[str, ...]:
    """Return what the head of a certificate says of units, groups, columns and the claim."""
    grid = (f"unit: {1 / scaled.scale}", f"origin: {scaled.origin}")
    machines = "; ".join(" ".join(map(str, group)) for group in groups if group)
    columns = "columns: z_j_g_t says that task j has started by instant t on machine group g"
    if isinstance(excluded, int):
        claim = f"no schedule is complete by {excluded}, the makespan, in units since the origin"
        tasks = " ".join(map(str, order))
        return (
            *grid,
            f"makespan: {excluded}",
            f"machine groups: {machines}",
            *([f"order: {tasks}"] if tasks else []),
            columns,
            f"claim: {claim}",
        )
    named = {"tardy": excluded.tardy, "total": excluded.total}
    count = sum(len(graph.tasks) for graph in scaled.instance.graphs)
    own, fewer = len(groups) - 1, count + len(scaled.instance.graphs)
    total = "the total of completions in units since the origin"
    claim = "no schedule has at most so many tardy graphs"
    if excluded.tardy is None:
        claim = f"no schedule has at most {total}"
    elif excluded.total is not None:
        claim = f"no schedule has fewer tardy graphs, or as many and at most {total}"
    return (
        *grid,
        *(f"{name}: {level}" for name, level in named.items() if level is not None),
        f"machine groups: {machines}",
        columns,
        f"columns: tasks {count} to {fewer - 1} are completions of graphs, in group {own}",
        f"columns: task {fewer} has started if fewer graphs are tardy than stated",
        f"claim: {claim}",
    )
