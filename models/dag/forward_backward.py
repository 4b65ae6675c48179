"""Lists on machines that are alike, with nothing to send: fast, in many orders, and backwards."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence

from dlopt.models.dag.heads_and_tails import Windows, directions
from dlopt.models.dag.scaled_instance import Case
from dlopt.models.dag.schedules import Plan, pulled

_NOISE = (0.05, 0.2, 0.5)
"""How far urgencies are moved, relative to the longest way behind a job."""
_TURNS = 2
"""Times that a list is followed backwards and forward again."""


def shuffled(case: Case, windows: Windows, plan: Plan, draw: random.Random) -> Iterator[Plan]:
    """Yield plans without end, of lists whose urgencies are drawn near the known ones.

    Each list is followed backwards from the end, and forward again, in the order that the plan
    before it has: this fills the gaps of the first plan from both ends.

    Parameters
    ----------
    case : Case
        Without transfers that take time; its machines are alike.
    windows : Windows
    plan : Plan
        A plan that is known.
    draw : random.Random

    Notes
    -----
    Complexity: O(jobs log jobs + arcs) for each plan.
    """
    forth, back = (
        _Line(case, [[way.target(arc) for arc in arcs] for arcs in way.out_of], ready)
        for way, ready in zip(directions(case), (case.ready, case.after), strict=True)
    )
    costs, tails = forth.costs, [int(tail) for tail in (windows.costs + windows.tails)[:, 0]]
    longest = max(tails)
    known, least = list(plan.starts), max(plan.completions(case))
    while True:
        for base in (tails, [longest - start for start in known]):
            width = draw.choice(_NOISE) * longest
            starts = forth.starts([urgency + width * draw.random() for urgency in base])
            for _ in range(_TURNS):
                turned = back.starts(
                    [start + cost for start, cost in zip(starts, costs, strict=True)]
                )
                starts = forth.starts(
                    [start + cost for start, cost in zip(turned, costs, strict=True)]
                )
            found = _placed(case, starts)
            end = max(found.completions(case))
            if end <= least:
                known, least = list(found.starts), end
            yield found


def _placed(case: Case, starts: Sequence[int]) -> Plan:
    """Return the plan of starts: a job takes the machine that is free."""
    free = [(0, place) for place in range(case.machines)]
    places = [0] * len(starts)
    for job in sorted(range(len(starts)), key=lambda job: (starts[job], job)):
        cost = case.cost(job, 0)
        if cost:
            _, places[job] = heapq.heappop(free)
            heapq.heappush(free, (starts[job] + cost, places[job]))
    return pulled(case, places, starts)


class _Line:
    """Jobs in one direction of time.

    Parameters
    ----------
    case : Case
    after : sequence of sequence of int
        The jobs that wait for each.
    ready : sequence of sequence of int
        When each may start, alike on all machines.
    """

    def __init__(
        self, case: Case, after: Sequence[Sequence[int]], ready: Sequence[Sequence[int]]
    ) -> None:
        self.after, self.machines = after, case.machines
        self.costs = [case.cost(job, 0) for job in range(len(after))]
        self.ready = [row[0] for row in ready]
        self.waiting = [0] * len(after)
        for targets in after:
            for target in targets:
                self.waiting[target] += 1

    def starts(self, urgency: Sequence[float]) -> list[int]:
        """Return starts: whenever a machine is free, the most urgent job that is ready begins."""
        waiting, when = self.waiting.copy(), self.ready.copy()
        found = [0] * len(when)
        events = [(when[job], 0, job) for job, count in enumerate(waiting) if not count]
        heapq.heapify(events)  # at an instant, jobs become ready (0) and end (1)
        able: list[tuple[float, int]] = []
        free = self.machines
        while events:
            now = events[0][0]
            while events and events[0][0] == now:
                _, ended, job = heapq.heappop(events)
                if ended or not self.costs[job]:
                    free += ended
                    if not ended:
                        found[job] = now
                    for target in self.after[job]:
                        waiting[target] -= 1
                        when[target] = max(when[target], now)
                        if not waiting[target]:
                            heapq.heappush(events, (when[target], 0, target))
                else:
                    heapq.heappush(able, (-urgency[job], job))
            while free and able:
                job = heapq.heappop(able)[1]
                free -= 1
                found[job] = now
                heapq.heappush(events, (now + self.costs[job], 1, job))
        return found
