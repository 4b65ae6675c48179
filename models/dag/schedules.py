"""Schedules of the models: a machine and a start for each job, as early as the sequences allow."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import le
from typing import Any

from dlopt.arithmetic import exact, simplest
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.problems.allowance import rounded_down
from dlopt.problems.dag.claimed_values import claimed_value
from dlopt.problems.dag.data import Placement, Solution
from dlopt.problems.dag.goals import OBJECTIVES


@dataclass(frozen=True, slots=True)
class Schedule:
    """Machine and start of every job, in units of the scaled instance.

    Parameters
    ----------
    machines, starts : tuple of int, shape (jobs,)
    """

    machines: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def from_solution(cls, scaled: ScaledInstance, solution: Solution) -> Schedule:
        """Return the left-shifted schedule with the machines and sequences of a solution."""
        placement_of = {(p.graph, p.task): p for p in solution.placements}
        placements = [placement_of[job] for job in scaled.jobs]
        return left_shifted(
            scaled, [p.machine for p in placements], [exact(p.start) for p in placements]
        )

    def completions(self, scaled: ScaledInstance) -> list[int]:
        """Return the completion of each graph, with the delivery of its output."""
        completions = list(scaled.arrivals)
        for job, (graph, _) in enumerate(scaled.jobs):
            machine = self.machines[job]
            end = self.starts[job] + scaled.cost(job, machine) + scaled.delivery_times[job][machine]
            completions[graph] = max(completions[graph], end)
        return completions


def left_shifted(scaled: ScaledInstance, machines: Sequence[int], keys: Sequence[Any]) -> Schedule:
    """Return the schedule in which jobs start as early as their sequence on machines allows.

    Parameters
    ----------
    scaled : ScaledInstance
    machines : sequence of int, shape (jobs,)
    keys : sequence, shape (jobs,)
        The sequence, such as starts; of equal keys the first job goes first. No job may come before
        one of its predecessors.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"),), (graph,)))
    >>> left_shifted(scaled, machines=(0, 0), keys=(9, 4))  # the second job goes first
    Schedule(machines=(0, 0), starts=(3, 0))
    """
    free = [0] * scaled.machine_count
    starts = [0] * len(machines)
    ends = [0] * len(machines)
    for job in sorted(range(len(machines)), key=lambda job: (keys[job], job)):
        machine = machines[job]
        start, cost = _data_arrival(scaled, job, machine, machines, ends), scaled.cost(job, machine)
        if cost:
            start = max(start, free[machine])
            free[machine] = start + cost
        starts[job], ends[job] = start, start + cost
    return Schedule(tuple(machines), tuple(starts))


def meets_restriction(scaled: ScaledInstance, schedule: Schedule) -> bool:
    """Tell whether a schedule completes all graphs as early as the instance requires.

    Others may take transfers for shorter than they are; see `Restriction`.
    """
    if scaled.restriction is None:
        return True
    latest = scaled.restriction.latest_completions
    return all(map(le, schedule.completions(scaled), latest))


def runs_on(scaled: ScaledInstance, solution: Solution) -> bool:
    """Tell whether a solution uses only machines that the instance has for each job."""
    number = {task: job for job, task in enumerate(scaled.jobs)}
    return all(
        scaled.costs[number[placed.graph, placed.task]][placed.machine] is not None
        for placed in solution.placements
    )


def _data_arrival(
    scaled: ScaledInstance, job: int, machine: int, machines: Sequence[int], ends: Sequence[int]
) -> int:
    """Return when a job has arrived, and all its input is on a machine."""
    arrivals = [scaled.release_times[job][machine]]
    for arc in scaled.incoming[job]:
        transfer = scaled.transfer_time(arc, machines[arc.source], machine)
        arrivals.append(ends[arc.source] + transfer)
    return max(arrivals)


def list_schedule(scaled: ScaledInstance, priorities: Sequence[int]) -> Schedule:
    """Return a list schedule: the ready job of highest priority next, where it ends first.

    Parameters
    ----------
    scaled : ScaledInstance
    priorities : sequence of int, shape (jobs,)
    """
    lans = [_choose_lan(scaled, graph, jobs) for graph, jobs in enumerate(scaled.jobs_of_graph)]
    waiting = [len(arcs) for arcs in scaled.incoming]
    heap = [(-priorities[job], job) for job, count in enumerate(waiting) if count == 0]
    heapq.heapify(heap)
    free, machines = [0] * scaled.machine_count, [0] * len(waiting)
    starts, ends = [0] * len(waiting), [0] * len(waiting)
    step, keys = 0, [0] * len(waiting)
    while heap:
        job = heapq.heappop(heap)[1]
        lan = lans[scaled.jobs[job][0]]
        best: tuple[int, int, int] | None = None
        for machine in scaled.eligible_machines[job]:
            if lan is not None and scaled.lans is not None and scaled.lans[machine] != lan:
                continue
            start = _data_arrival(scaled, job, machine, machines, ends)
            cost = scaled.cost(job, machine)
            if cost:
                start = max(start, free[machine])
            end = start + cost + scaled.delivery_times[job][machine]
            if best is None or (end, start) < best[:2]:
                best = end, start, machine
        assert best is not None  # every job can run somewhere in the LAN
        _, starts[job], machines[job] = best
        ends[job] = starts[job] + scaled.cost(job, machines[job])
        if ends[job] > starts[job]:
            free[machines[job]] = ends[job]
        keys[job], step = step, step + 1
        for arc in scaled.outgoing[job]:
            waiting[arc.target] -= 1
            if waiting[arc.target] == 0:
                heapq.heappush(heap, (-priorities[arc.target], arc.target))
    return left_shifted(scaled, machines, keys)


def _choose_lan(scaled: ScaledInstance, graph: int, jobs: Sequence[int]) -> int | None:
    """Return the LAN that a graph stays in: the one with most machines that can run all of it."""
    if scaled.lans is None or not scaled.instance.graphs[graph].one_lan:
        return None
    eligible = [
        lan
        for lan in set(scaled.lans)
        if all(any(scaled.lans[p] == lan for p in scaled.eligible_machines[job]) for job in jobs)
    ]
    return max(eligible, key=lambda lan: (sum(other == lan for other in scaled.lans or ()), -lan))


def initial_schedule(scaled: ScaledInstance, priorities: Sequence[int]) -> Schedule:
    """Return a list schedule, or that of a restriction if it completes a graph too late.

    Parameters
    ----------
    scaled : ScaledInstance
    priorities : sequence of int, shape (jobs,)
    """
    schedule = list_schedule(scaled, priorities)
    if scaled.restriction is None or meets_restriction(scaled, schedule):
        return schedule
    machines = scaled.restriction.sequential_machines
    return left_shifted(scaled, machines, range(len(machines)))


def to_solution(scaled: ScaledInstance, schedule: Schedule) -> Solution:
    """Return a schedule as a solution, in the numbers of the instance: exact, or floats.

    Starts are rounded down to floats, so that no graph becomes late by rounding.
    """
    if scaled.exactly_scaled and meets_restriction(scaled, schedule):
        starts = [scaled.origin + scaled.to_instance_time(start) for start in schedule.starts]
    else:
        starts = _exact_start_times(scaled, schedule.machines, schedule.starts)
    return _solution(scaled, schedule.machines, starts)


def left_shifted_solution(scaled: ScaledInstance, solution: Solution) -> Solution:
    """Return the solution of the same machines and sequences in which all tasks start earliest.

    Times are those of the original data, whatever the units of the scaled instance.

    Examples
    --------
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", (Task("a", work=2), Task("b", work=3)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"),), (graph,)))
    >>> late = Solution((Placement(0, 0, 0, 9), Placement(0, 1, 0, 4)))
    >>> [placed.start for placed in left_shifted_solution(scaled, late).placements]
    [3, 0]
    """
    placement_of = {(placed.graph, placed.task): placed for placed in solution.placements}
    placements = [placement_of[job] for job in scaled.jobs]
    machines = [placed.machine for placed in placements]
    return sequenced_solution(scaled, machines, [exact(placed.start) for placed in placements])


def sequenced_solution(
    scaled: ScaledInstance, machines: Sequence[int], keys: Sequence[int] | Sequence[Fraction]
) -> Solution:
    """Return the solution in which all tasks start as early as `left_shifted` lets them.

    Times are those of the original data.
    """
    return _solution(scaled, machines, _exact_start_times(scaled, machines, keys))


def better_solution(
    scaled: ScaledInstance, objective: str, solution: Solution, hint: Solution | None
) -> Solution:
    """Return a solution, or the hint if it is better in the numbers of the instance.

    In scaled units it may be no better where times are rounded down.
    """
    if hint is None:
        return solution
    other, instance = left_shifted_solution(scaled, hint), scaled.instance
    values = (claimed_value(instance, one, objective) for one in (other, solution))
    return other if OBJECTIVES[objective].better(*values) else solution


def _solution(
    scaled: ScaledInstance, machines: Sequence[int], starts: Sequence[Fraction]
) -> Solution:
    """Return a solution in the numbers of the instance."""
    to_number = simplest if scaled.instance.exact else rounded_down
    return Solution(
        tuple(
            Placement(graph, task, machines[job], to_number(starts[job]))
            for job, (graph, task) in enumerate(scaled.jobs)
        )
    )


def _exact_start_times(
    scaled: ScaledInstance, machines: Sequence[int], keys: Sequence[int] | Sequence[Fraction]
) -> list[Fraction]:
    """Return the starts that sequences on machines have with the original data."""
    instance, paths = scaled.instance, scaled.instance.paths
    jobs = {job: number for number, job in enumerate(scaled.jobs)}
    predecessors: list[list[tuple[int, Any]]] = [[] for _ in scaled.jobs]
    for index, graph in enumerate(instance.graphs):
        for edge in graph.edges:
            source, target = jobs[index, edge.source], jobs[index, edge.target]
            predecessors[target].append((source, edge.data))
    free = [Fraction(0)] * scaled.machine_count
    starts, ends = [Fraction(0)] * len(jobs), [Fraction(0)] * len(jobs)
    for job in sorted(range(len(jobs)), key=lambda job: (keys[job], job)):
        (index, task), machine = scaled.jobs[job], machines[job]
        graph = instance.graphs[index]
        start = exact(graph.arrival)
        if not predecessors[job]:
            latency, unit = paths.inbound(graph.lan, machine)
            start += latency + exact(graph.input) * unit
        for source, data in predecessors[job]:
            transfer = paths.transfer(data, machines[source], machine)
            start = max(start, ends[source] + transfer)
        cost = exact(instance.cost(index, task, machine))
        if cost:
            start = max(start, free[machine])
            free[machine] = start + cost
        starts[job], ends[job] = start, start + cost
    return starts
