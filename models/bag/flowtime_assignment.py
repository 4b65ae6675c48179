"""The least flowtime where jobs arrive on every machine together: an assignment, with a proof.

On a machine the job that is followed by q others delays q + 1 completions by its processing time.
So a schedule assigns jobs to positions (k, q) of machines, at the cost (q + 1) p_jk, and the
cheapest assignment is the least sum of completions (Horn 1973; Bruno, Coffman and Sethi 1974)::

    minimise    sum_{j,k,q} (a_k + (q + 1) p_jk) x_jkq        a_k: first arrival on machine k
    subject to  sum_{k,q} x_jkq = 1                           jobs j       (dual u_j)
                sum_j x_jkq <= 1                              positions    (dual v_kq <= 0)
                x_jkq >= 0

For any duals u of jobs, the sum of all u and, for every position, the least of 0 and any cost less
u, is a lower bound. They follow from the optimal assignment by shortest paths between positions,
and are integers.

Positions that no job uses and whose dual is 0 prove more: all later positions of their machine cost
more, so their duals are 0, too, and they need not be considered.

Where jobs arrive one after another, the first arrival stands for all, which gives a lower bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import Sequences, dispatch

MAX_COST_ENTRIES = 40_000_000
"""Pairs of a job and a position at most, of 8 bytes each. Chosen by hand, for memory."""
MAX_EXACT_SUM = 2**62
"""Bound of sums of costs, which must fit into 64-bit integers."""


@dataclass(frozen=True, slots=True)
class FlowtimeAssignment:
    """Sequences of least flowtime, and the certified bound.

    Parameters
    ----------
    sequences : tuple of tuple of int
    bound : Fraction
        In scaled units: no schedule has a smaller sum of completions.
    job_duals : tuple of int
    depth : int
        Positions of each machine that are considered.
    """

    sequences: Sequences
    bound: Fraction
    job_duals: tuple[int, ...]
    depth: int


def solve_assignment(scaled: ScaledInstance) -> FlowtimeAssignment | None:
    """Return the least sum of completions if all jobs arrive with the first one on each machine.

    Parameters
    ----------
    scaled : ScaledInstance
        Of the objective ``flowtime``.

    Returns
    -------
    FlowtimeAssignment or None
        None where costs are too large to be added without rounding, or too many.

    Notes
    -----
    Complexity: O(jobs^3) for the assignment, with about two positions a job.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> instance = Instance(etc=((4, 9), (1, 9), (2, 3)))
    >>> assignment = solve_assignment(ScaledInstance.from_instance(instance, "flowtime"))
    >>> assignment.sequences, assignment.bound
    (((1, 0), (2,)), Fraction(9, 1))
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    count = len(scaled.jobs)
    machines = [k for k in scaled.machines if scaled.eligible_jobs[k]]
    depth = min(count, 2 * count // len(machines) + 2)  # positions on each machine
    infeasible = (count + 1) * scaled.horizon
    while True:
        entries = count * depth * len(machines)
        if entries > MAX_COST_ENTRIES or (count + 2) * infeasible > MAX_EXACT_SUM:
            return None
        costs = _position_costs(np, scaled, machines, depth, infeasible)
        jobs, positions = linear_sum_assignment(costs)
        position_duals = compute_position_duals(np, costs, jobs, positions)
        last_duals = position_duals[depth - 1 :: depth]
        if depth == count or not last_duals.any():
            break
        depth = min(count, 2 * depth)
    job_duals = costs[jobs, positions] - position_duals[positions]
    # The bound from the duals of jobs alone: the best duals of positions follow from them.
    reduced = np.minimum((costs - job_duals[:, None]).min(axis=0), 0)
    assigned: list[list[int]] = [[] for _ in scaled.machines]
    for job, position in zip(jobs, positions, strict=True):
        assigned[machines[position // depth]].append(int(job))
    bound = sum(map(int, job_duals)) + sum(map(int, reduced))
    sequences = dispatch(scaled, assigned)
    return FlowtimeAssignment(sequences, Fraction(bound), tuple(map(int, job_duals)), depth)


def _position_costs(
    np: Any, scaled: ScaledInstance, machines: list[int], depth: int, infeasible: int
) -> Any:
    """Return the cost of each job at each position, shape (jobs, machines x depth)."""
    costs = np.full((len(scaled.jobs), len(machines), depth), infeasible, dtype=np.int64)
    factors = np.arange(1, depth + 1)
    for index, k in enumerate(machines):
        start = min(scaled.arrivals[job][k] for job in scaled.eligible_jobs[k])
        for job in scaled.eligible_jobs[k]:
            costs[job, index] = factors * scaled.processing_time(job, k) + start
    return costs.reshape(len(scaled.jobs), -1)


def compute_position_duals(np: Any, costs: Any, jobs: Any, positions: Any) -> Any:
    """Return the dual of each position, at most 0: shortest paths of moves of jobs."""
    increase = costs - costs[jobs, positions][:, None]
    duals = np.zeros(costs.shape[1], dtype=np.int64)
    for _ in range(len(costs) + 1):
        shorter = np.minimum((increase + duals[positions][:, None]).min(axis=0), 0)
        if (shorter == duals).all():
            break
        duals = shorter
    return duals
