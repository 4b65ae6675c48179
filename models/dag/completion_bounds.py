"""Upper bounds of completions in some optimal schedule, and the machines that they exclude.

A cost of 10^12, written for "never", must not be the horizon: on a grid of so long a horizon all
other costs are 0. Run all jobs in a row, each on a machine of its own choice, from the last arrival
`A` on. That takes a time `S`, so that some schedule is complete by `A + S`. With arrivals `a_g` and
due dates `d_g`, some optimal schedule completes every graph `g` by::

    makespan                    A + S
    total response time         a_g + sum_h (A + S - a_h)
    tardy graphs                D + S
    tardy, then response time   a_g + sum_h (D + S - a_h)

with `D` the last due date, but no less than `A`: let the graphs that are not tardy run as they do,
until `D`, and the others after them. A due date that is so late that its graph can run after all
that is due before it, `D` without it plus `S`, does not count.

A machine on which input, job and output together take longer than that is dropped; a transfer that
takes longer is taken for just too long. Source: ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd
from typing import NamedTuple

from dlopt.models.dag.scaled_instance import (
    Arc,
    Restriction,
    ScaledInstance,
    Scaler,
    nonzero_times,
    scale_within_horizon,
    sequential_horizon,
)
from dlopt.problems.dag.data import Instance

LONG_HORIZON_RATIO = 64
"""Machines are dropped only if the horizon is so many times a makespan that is known. Chosen by
hand: shorter horizons spoil neither the scaling to integers nor the tolerance of MILP solvers."""


def scaled_for_objective(instance: Instance, objective: str) -> ScaledInstance:
    """Scale the times of an instance to integers, without machines that some optimum does without.

    Parameters
    ----------
    instance : Instance
    objective : str

    Notes
    -----
    Complexity: O(tasks x machines), and as much for each arc.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", (Task("a", costs=(2, 10**15)), Task("b", costs=(10**15, 3))))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> scaled = scaled_for_objective(instance, "makespan")
    >>> scaled.scale, scaled.costs, scaled.restriction.latest_completions
    (Fraction(1, 1), ((2, None), (None, 3)), (5,))
    """
    scaler = Scaler(instance)
    complete = scaler.exactly_scaled()
    if sequential_horizon(complete) <= LONG_HORIZON_RATIO * _least_horizon(complete):
        return scaler.within_horizon(complete)
    machines, durations = sequential_machines(complete)
    arrivals, due_dates = complete.arrivals, complete.due_dates
    latest = latest_completions(arrivals, due_dates, objective, sum(durations))
    near = _restrict(complete, complete, latest, machines)
    if sequential_horizon(complete) <= LONG_HORIZON_RATIO * sequential_horizon(near):
        return scaler.within_horizon(complete)
    scale = near.scale / (gcd(*nonzero_times(near)) or 1)
    exactly = scale_within_horizon(near) == near.scale
    if not exactly:
        scale = scale_within_horizon(near)
    units = scale / complete.scale
    rescaled = scaler.build(scale, exactly=exactly)
    return _restrict(complete, rescaled, latest, machines, units)


class _Sequence(NamedTuple):
    """Jobs of a graph in a row: how long that takes, and the machine of each."""

    duration: int
    machines: tuple[int, ...]


def sequential_machines(scaled: ScaledInstance) -> tuple[tuple[int, ...], list[int]]:
    """Return machines of all jobs, and how long those of each graph take there, in a row.

    Each graph runs on machines of all kinds, those of one LAN, or a single one: where it takes the
    least time if every job runs where it ends first.

    Examples
    --------
    >>> from dlopt.problems.dag import Edge, Graph, Machine, Task
    >>> tasks = Task("a", costs=(1, 2)), Task("b", costs=(9, 2))
    >>> graph = Graph("g", tasks, (Edge(0, 1, data=8),))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> sequential_machines(ScaledInstance.from_instance(instance))
    ((1, 1), [4])
    """
    everywhere = range(scaled.machine_count)
    machines, durations = [0] * len(scaled.jobs), []
    for graph, jobs in enumerate(scaled.jobs_of_graph):
        sets: list[Sequence[int]] = [[machine] for machine in everywhere]
        lans = scaled.lans if scaled.instance.graphs[graph].one_lan else None
        if lans is None:
            sets.append(everywhere)
        else:
            sets += [[p for p in everywhere if lans[p] == lan] for lan in set(lans)]
        found = (_run_in_sequence(scaled, graph, jobs, choice) for choice in sets)
        best = min(one for one in found if one is not None)
        durations.append(best.duration)
        for job, machine in zip(jobs, best.machines, strict=True):
            machines[job] = machine
    return tuple(machines), durations


def _run_in_sequence(
    scaled: ScaledInstance, graph: int, jobs: Sequence[int], choice: Iterable[int]
) -> _Sequence | None:
    """Run the jobs of a graph in a row, each where it ends first; None if one cannot run."""
    machine_of: dict[int, int] = {}
    duration = delivery = 0
    arrival = scaled.arrivals[graph]
    for job in jobs:
        ends = []
        for p in choice:
            cost = scaled.costs[job][p]
            if cost is not None:
                wait = scaled.release_times[job][p] - arrival
                for arc in scaled.incoming[job]:
                    wait = max(wait, scaled.transfer_time(arc, machine_of[arc.source], p))
                out = scaled.delivery_times[job][p]
                ends.append((wait + cost + out, p, wait + cost, out))
        if not ends:
            return None
        _, machine_of[job], time, out = min(ends)
        duration, delivery = duration + time, max(delivery, out)
    return _Sequence(duration + delivery, tuple(machine_of.values()))


def latest_completions(
    arrivals: Sequence[int], due_dates: Iterable[int | None], objective: str, duration: int
) -> tuple[int, ...]:
    """Return by when some optimal schedule completes each graph.

    Parameters
    ----------
    arrivals, due_dates : iterable of (int or None), shape (graphs,)
    objective : str
    duration : int
        How long all jobs take, one after another.

    Examples
    --------
    The last due date is so late that its graph may run after the others:

    >>> for objective in ("makespan", "tardy-graphs", "total-response-time"):
    ...     print(objective, latest_completions([0, 0, 0], [4, 3, 10**9], objective, duration=9))
    makespan (9, 9, 9)
    tardy-graphs (13, 13, 13)
    total-response-time (27, 27, 27)
    """
    end = max(arrivals)
    if objective.startswith("tardy"):
        end = _end_of_due_dates(end, due_dates, duration)
    end += duration
    if objective in ("makespan", "tardy-graphs"):
        return (end,) * len(arrivals)
    total = sum(end - arrival for arrival in arrivals)
    return tuple(arrival + total for arrival in arrivals)


def _end_of_due_dates(last: int, due_dates: Iterable[int | None], duration: int) -> int:
    """Return the last due date that counts, but no less than the last arrival."""
    for due in sorted(date for date in due_dates if date is not None):
        if due > last + duration:
            break
        last = max(last, due)
    return last


def _least_horizon(scaled: ScaledInstance) -> int:
    """Return less than a makespan of all jobs in a row: what they take at least."""
    least = (min(cost for cost in row if cost is not None) for row in scaled.costs)
    return max(max(scaled.arrivals) + sum(least), 1)


def _restrict(
    exact: ScaledInstance,
    scaled: ScaledInstance,
    latest: Sequence[int],
    machines: tuple[int, ...],
    units: Fraction = Fraction(1),
) -> ScaledInstance:
    """Return an instance without machines that take too long.

    Twice too long, so that they are excluded by a certificate of times that are rounded down, too.

    Parameters
    ----------
    exact, scaled : ScaledInstance
        Without rounding, and with the units of the result.
    latest : sequence of int, shape (graphs,)
        See `latest_completions`, without rounding.
    machines : tuple of int
        See `sequential_machines`.
    units : Fraction
        Of `scaled` in a unit of `exact`.
    """
    longest = [2 * (end - a) for end, a in zip(latest, exact.arrivals, strict=True)]
    costs: list[tuple[int | None, ...]] = []
    releases: list[tuple[int, ...]] = []
    deliveries: list[tuple[int, ...]] = []
    for job, (graph, _) in enumerate(exact.jobs):
        arrival = exact.arrivals[graph]
        kept = [
            p
            for p in exact.eligible_machines[job]
            if exact.release_times[job][p]
            - arrival
            + exact.cost(job, p)
            + exact.delivery_times[job][p]
            <= longest[graph]
        ]
        costs.append(tuple(c if p in kept else None for p, c in enumerate(scaled.costs[job])))
        releases.append(_keep_times(scaled.release_times[job], kept))
        deliveries.append(_keep_times(scaled.delivery_times[job], kept))
    caps = [int(time * units) + 1 for time in longest]
    return replace(
        scaled,
        costs=tuple(costs),
        release_times=tuple(releases),
        delivery_times=tuple(deliveries),
        arcs=tuple(_cap(arc, caps[scaled.jobs[arc.target][0]]) for arc in scaled.arcs),
        restriction=Restriction(scaled, tuple(int(end * units) for end in latest), machines),
    )


def _keep_times(times: Sequence[int], kept: Sequence[int]) -> tuple[int, ...]:
    """Return times on machines, and the least of them where a job does not run."""
    least = min(times[p] for p in kept)
    return tuple(time if p in kept else least for p, time in enumerate(times))


def _cap(arc: Arc, longest: int) -> Arc:
    return replace(arc, transfer_times=tuple(min(time, longest) for time in arc.transfer_times))
