"""Plans as the models see them: a machine and a start for each job, as early as they can be."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.arithmetic import exact, simplest
from dlopt.models.dag.scaled_instance import Case
from dlopt.problems.allowance import rounded_down
from dlopt.problems.dag.data import Placement, Solution


@dataclass(frozen=True, slots=True)
class Plan:
    """Where and when every job runs, in units of the case.

    Parameters
    ----------
    places, starts : tuple of int, shape (jobs,)
    """

    places: tuple[int, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, case: Case, solution: Solution) -> Plan:
        """Return a plan of the instance, as early as it can be in its own order."""
        found = {(p.graph, p.task): p for p in solution.placements}
        placed = [found[job] for job in case.jobs]
        return pulled(case, [p.machine for p in placed], [exact(p.start) for p in placed])

    def completions(self, case: Case) -> list[int]:
        """Return when each graph is complete."""
        done = list(case.arrivals)
        for job, (graph, _) in enumerate(case.jobs):
            place = self.places[job]
            end = self.starts[job] + case.cost(job, place) + case.after[job][place]
            done[graph] = max(done[graph], end)
        return done


def pulled(case: Case, places: Sequence[int], keys: Sequence[Any]) -> Plan:
    """Return the plan in which jobs start as early as they can, in an order on their machines.

    Parameters
    ----------
    case : Case
    places : sequence of int, shape (jobs,)
    keys : sequence, shape (jobs,)
        Their order, such as starts; of equal ones the first job is first. No job comes before
        one that it needs data of.
    """
    free = [0] * case.machines
    starts = [0] * len(places)
    ends = [0] * len(places)
    for job in sorted(range(len(places)), key=lambda job: (keys[job], job)):
        place = places[job]
        start, cost = case.ready[job][place], case.cost(job, place)
        for arc in case.incoming[job]:
            came = ends[arc.source] + case.send(arc, places[arc.source], place)
            start = max(start, came)
        if cost:
            start = max(start, free[place])
            free[place] = start + cost
        starts[job], ends[job] = start, start + cost
    return Plan(tuple(places), tuple(starts))


def first_plan(case: Case, urgency: Sequence[int]) -> Plan:
    """Return the plan of a list: the most urgent ready job next, where it ends first.

    Parameters
    ----------
    case : Case
    urgency : sequence of int, shape (jobs,)
    """
    lans = [_lan_of(case, graph, members) for graph, members in enumerate(case.members)]
    waiting = [len(arcs) for arcs in case.incoming]
    heap = [(-urgency[job], job) for job, count in enumerate(waiting) if count == 0]
    heapq.heapify(heap)
    free, places = [0] * case.machines, [0] * len(waiting)
    starts, ends = [0] * len(waiting), [0] * len(waiting)
    turn, keys = 0, [0] * len(waiting)
    while heap:
        job = heapq.heappop(heap)[1]
        lan = lans[case.jobs[job][0]]
        best: tuple[int, int, int] | None = None
        for place in case.places[job]:
            if lan is not None and case.lans is not None and case.lans[place] != lan:
                continue
            start, cost = case.ready[job][place], case.cost(job, place)
            for arc in case.incoming[job]:
                came = ends[arc.source] + case.send(arc, places[arc.source], place)
                start = max(start, came)
            if cost:
                start = max(start, free[place])
            end = start + cost + case.after[job][place]
            if best is None or (end, start) < best[:2]:
                best = end, start, place
        assert best is not None  # every job can run somewhere in the LAN
        _, starts[job], places[job] = best
        ends[job] = starts[job] + case.cost(job, places[job])
        if ends[job] > starts[job]:
            free[places[job]] = ends[job]
        keys[job], turn = turn, turn + 1
        for arc in case.outgoing[job]:
            waiting[arc.target] -= 1
            if waiting[arc.target] == 0:
                heapq.heappush(heap, (-urgency[arc.target], arc.target))
    return pulled(case, places, keys)


def _lan_of(case: Case, graph: int, members: Sequence[int]) -> int | None:
    """Return the LAN that a graph stays in: the one with most machines that can run all of it."""
    if case.lans is None or not case.instance.graphs[graph].one_lan:
        return None
    able = [
        lan
        for lan in set(case.lans)
        if all(any(case.lans[p] == lan for p in case.places[job]) for job in members)
    ]
    return max(able, key=lambda lan: (sum(own == lan for own in case.lans or ()), -lan))


def solution_of(case: Case, plan: Plan) -> Solution:
    """Return a plan of the instance, in its own numbers: exact, or floats.

    Starts are rounded down to floats, so that no graph is late for it.
    """
    if case.whole:
        starts = [case.origin + case.time(start) for start in plan.starts]
    else:
        starts = _exact_starts(case, plan)
    kind = simplest if case.instance.exact else rounded_down
    return Solution(
        tuple(
            Placement(graph, task, plan.places[job], kind(starts[job]))
            for job, (graph, task) in enumerate(case.jobs)
        )
    )


def _exact_starts(case: Case, plan: Plan) -> list[Fraction]:
    """Return the starts that the order of a plan has with the exact numbers of the instance."""
    instance, paths = case.instance, case.instance.paths
    jobs = {job: number for number, job in enumerate(case.jobs)}
    before: list[list[tuple[int, Any]]] = [[] for _ in case.jobs]
    for at, graph in enumerate(instance.graphs):
        for edge in graph.edges:
            before[jobs[at, edge.target]].append((jobs[at, edge.source], edge.data))
    free = [Fraction(0)] * case.machines
    starts, ends = [Fraction(0)] * len(jobs), [Fraction(0)] * len(jobs)
    for job in sorted(range(len(jobs)), key=lambda job: (plan.starts[job], job)):
        (at, task), place = case.jobs[job], plan.places[job]
        graph = instance.graphs[at]
        start = exact(graph.arrival)
        if not before[job]:
            latency, unit = paths.inbound(graph.lan, place)
            start += latency + exact(graph.input) * unit
        for source, data in before[job]:
            came = ends[source] + paths.transfer(data, plan.places[source], place)
            start = max(start, came)
        cost = exact(instance.cost(at, task, place))
        if cost:
            start = max(start, free[place])
            free[place] = start + cost
        starts[job], ends[job] = start, start + cost
    return starts
