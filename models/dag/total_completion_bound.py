"""Lower bound of the sum of completions: a preemptive relaxation to one machine.

All machines together do weighted work at no more than the sum `K` of their weights
(`dlopt.models.dag.energetic_bounds`). So graphs are complete no earlier than on one machine of
speed `K` on which graph `g` is a single job that may be preempted: released at the least head
of its tasks, with a processing requirement of the sum of their energies. There the rule of the
shortest remaining processing time completes as many graphs by any instant as possible. So for every
`k`, the k-th completion of a schedule is no earlier than the k-th one of this rule; nor is it
earlier than the k-th smallest of the lower bounds of single graphs::

    sum_g C_g >= sum_k max(C_(k) of the rule, k-th smallest lower bound)

Source: Schrage 1968 for the rule; the weights, and the comparison of order statistics, are ours.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from dlopt.models.dag.energetic_bounds import dual_machine_weights
from dlopt.models.dag.heads_and_tails import HeadsTails


def total_completion_bound(
    heads_tails: HeadsTails, jobs_of_graph: Sequence[Sequence[int]], graphs: Sequence[int]
) -> int:
    """Bound the sum of the completions of all graphs.

    Parameters
    ----------
    heads_tails : HeadsTails
    jobs_of_graph : sequence of sequence of int
        The jobs of each graph.
    graphs : sequence of int
        Lower bounds of the completion of each graph.

    Notes
    -----
    Guarantee: holds for every schedule. Complexity: O(jobs x machines + graphs log graphs), and
    that of the weights.

    Examples
    --------
    Three graphs of one job of 4 on two machines have 2, 4 and 6 as their completions at least:

    >>> import numpy as np
    >>> zeros, costs = np.zeros((3, 2), dtype=int), np.full((3, 2), 4)
    >>> heads_tails = HeadsTails(zeros, costs, zeros, costs[:, 0])
    >>> total_completion_bound(heads_tails, [[0], [1], [2]], [4, 4, 4])
    14
    """
    weights = dual_machine_weights(heads_tails.costs)
    energies = weights.job_energies(heads_tails.costs)
    heads = heads_tails.heads.min(axis=1)
    ends = shortest_remaining_completions(
        (int(heads[jobs].min()) * weights.total, int(energies[jobs].sum()))
        for jobs in map(list, jobs_of_graph)
    )
    pairs = zip(ends, sorted(graphs), strict=True)
    return sum(max(-(-end // weights.total), least) for end, least in pairs)


def shortest_remaining_completions(jobs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the completions of preemptive jobs on one machine, in ascending order.

    The job of the shortest remaining processing time runs.

    Parameters
    ----------
    jobs : iterable of (int, int)
        Release time and processing time of each job.

    Examples
    --------
    >>> shortest_remaining_completions([(0, 5), (1, 2), (9, 1)])
    [3, 7, 10]
    """
    completions: list[int] = []
    remaining: list[int] = []
    now = 0
    for release, duration in sorted(jobs):
        while remaining and now + remaining[0] <= release:
            now += heapq.heappop(remaining)
            completions.append(now)
        if remaining:
            remaining[0] -= release - now
        now = release
        heapq.heappush(remaining, duration)
    while remaining:
        now += heapq.heappop(remaining)
        completions.append(now)
    return completions
