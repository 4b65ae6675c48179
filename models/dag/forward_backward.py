"""Forward-backward list scheduling on identical machines without communication.

A list schedule starts the ready job of highest priority whenever a machine is free. It is improved
by scheduling the reversed graph, with the ends of the jobs as priorities, and then the graph again,
with their ends in the reversed schedule: this shifts jobs into idle time from both sides. Many
schedules are made, with priorities that are perturbed at random.

Source: forward-backward scheduling of Li and Willis 1992 for projects with resources; the random
perturbation is ours.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Sequence

from dlopt.models.dag.heads_and_tails import HeadsTails, both_directions
from dlopt.models.dag.scaled_instance import ScaledInstance
from dlopt.models.dag.schedules import Schedule, left_shifted

PRIORITY_NOISE = (0.05, 0.2, 0.5)
"""Widths of the uniform perturbation of priorities, relative to the critical path. Chosen by hand:
small widths stay near good schedules, large ones diversify."""
BACKWARD_FORWARD_PASSES = 2
"""Backward and forward passes that follow each list schedule. Chosen by hand: more passes improve
each schedule, and leave time for fewer schedules.
"""


def forward_backward_schedules(
    scaled: ScaledInstance, heads_tails: HeadsTails, schedule: Schedule, rng: random.Random
) -> Iterator[Schedule]:
    """Yield schedules without end, of priorities near the tails and near the best starts.

    Parameters
    ----------
    scaled : ScaledInstance
        Without transfers that take time; its machines are identical.
    heads_tails : HeadsTails
    schedule : Schedule
        A schedule that is known.
    rng : random.Random

    Notes
    -----
    Complexity: O(jobs log jobs + arcs) for each schedule.

    Examples
    --------
    >>> from dlopt.models.dag.heads_and_tails import longest_path_heads_tails
    >>> from dlopt.models.dag.schedules import list_schedule
    >>> from dlopt.problems.dag import Graph, Instance, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=k // 2 + 1) for k in range(3)))
    >>> scaled = ScaledInstance.from_instance(Instance((Machine("m"), Machine("n")), (graph,)))
    >>> heads_tails, first = longest_path_heads_tails(scaled), list_schedule(scaled, (9, 8, 0))
    >>> better = forward_backward_schedules(scaled, heads_tails, first, random.Random(0))
    >>> first.completions(scaled), next(better).completions(scaled)
    ([3], [2])
    """
    forward, backward = (
        _ListScheduler(
            scaled, [[direction.target(arc) for arc in arcs] for arcs in direction.out_of], release
        )
        for direction, release in zip(
            both_directions(scaled), (scaled.release_times, scaled.delivery_times), strict=True
        )
    )
    costs = forward.costs
    tails = [int(tail) for tail in (heads_tails.costs + heads_tails.tails)[:, 0]]
    critical_path = max(tails)
    best_starts, best_makespan = list(schedule.starts), max(schedule.completions(scaled))
    while True:
        for priorities in (tails, [critical_path - start for start in best_starts]):
            width = rng.choice(PRIORITY_NOISE) * critical_path
            starts = forward.starts([priority + width * rng.random() for priority in priorities])
            for _ in range(BACKWARD_FORWARD_PASSES):
                reversed_starts = backward.starts(
                    [start + cost for start, cost in zip(starts, costs, strict=True)]
                )
                starts = forward.starts(
                    [start + cost for start, cost in zip(reversed_starts, costs, strict=True)]
                )
            improved = _assign_machines(scaled, starts)
            makespan = max(improved.completions(scaled))
            if makespan <= best_makespan:
                best_starts, best_makespan = list(improved.starts), makespan
            yield improved


def _assign_machines(scaled: ScaledInstance, starts: Sequence[int]) -> Schedule:
    """Return the schedule of given starts: a job takes the machine that became free first."""
    free = [(0, machine) for machine in range(scaled.machine_count)]
    machines = [0] * len(starts)
    for job in sorted(range(len(starts)), key=lambda job: (starts[job], job)):
        cost = scaled.cost(job, 0)
        if cost:
            _, machines[job] = heapq.heappop(free)
            heapq.heappush(free, (starts[job] + cost, machines[job]))
    return left_shifted(scaled, machines, starts)


class _ListScheduler:
    """List scheduling of the jobs in one direction of time.

    Parameters
    ----------
    scaled : ScaledInstance
    successors : sequence of sequence of int
        The direct successors of each job.
    release : sequence of sequence of int
        Release times, the same on all machines.
    """

    def __init__(
        self,
        scaled: ScaledInstance,
        successors: Sequence[Sequence[int]],
        release: Sequence[Sequence[int]],
    ) -> None:
        self.successors, self.machine_count = successors, scaled.machine_count
        self.costs = [scaled.cost(job, 0) for job in range(len(successors))]
        self.release = [row[0] for row in release]
        self.predecessor_count = [0] * len(successors)
        for targets in successors:
            for target in targets:
                self.predecessor_count[target] += 1

    def starts(self, priorities: Sequence[float]) -> list[int]:
        """Return starts: whenever a machine is free, the ready job of highest priority begins."""
        waiting, ready_at = self.predecessor_count.copy(), self.release.copy()
        starts = [0] * len(ready_at)
        events = [(ready_at[job], 0, job) for job, count in enumerate(waiting) if not count]
        heapq.heapify(events)  # at an instant, jobs become ready (0) before jobs end (1)
        ready: list[tuple[float, int]] = []
        free = self.machine_count
        while events:
            now = events[0][0]
            while events and events[0][0] == now:
                _, ended, job = heapq.heappop(events)
                if ended or not self.costs[job]:
                    free += ended
                    if not ended:
                        starts[job] = now
                    for target in self.successors[job]:
                        waiting[target] -= 1
                        ready_at[target] = max(ready_at[target], now)
                        if not waiting[target]:
                            heapq.heappush(events, (ready_at[target], 0, target))
                else:
                    heapq.heappush(ready, (-priorities[job], job))
            while free and ready:
                job = heapq.heappop(ready)[1]
                free -= 1
                starts[job] = now
                heapq.heappush(events, (now + self.costs[job], 1, job))
        return starts
