"""Lower bounds by work: what machines can do in an interval against what must be done in it.

Give machine `p` a weight ``k_p >= 0``, and let ``K`` be the sum of all weights. In an interval of
length `L` machines do, weighted, at most ``K L``; job `j` needs an energy of at least the least
``k_p c_jp`` over the machines that can run it. So for the jobs `J` that must run within the
interval::

    sum_{j in J} min_p k_p c_jp  <=  K L

Any weights give a valid bound; they are a dual solution of the load constraints of the machines.
For identical machines equal weights are best, for machines of different speeds the speeds, where
this is the total work divided by the total speed. Source: Fernandez and Bussell 1973 for identical
machines; the weights are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np

from dlopt.models.dag.heads_and_tails import INFINITE, HeadsTails, Ints

WEIGHT_SUM = 2**16
"""Sum of weights that are no ratios of small integers. Energies are at most the horizon times this,
which fits into 64-bit integers. Chosen by hand.
"""
WEIGHT_ITERATIONS = 60
"""Iterations of the exponentiated subgradient method for weights. Chosen by hand: it trades time
for the sharpness of the bound.
"""
MAX_INTERVAL_ENDS = 400
"""Starts, and ends, of intervals that are considered at most. Chosen by hand: it trades time for
the sharpness of the bound.
"""
MIN_INTERVAL_ENDS = 8
"""Starts, and ends, of intervals that are considered even in large instances. Chosen by hand."""
MAX_INTERVAL_OPERATIONS = 50_000_000
"""Intervals times jobs times machines for one trial makespan; fewer intervals are considered where
there would be more. Chosen by hand: it trades time for the sharpness of the bound.
"""
MAX_TRIAL_MAKESPANS = 30
"""Makespans that are tested for infeasibility, by doubling and bisection. Chosen by hand: it trades
time for the sharpness of the bound.
"""
MAX_TABLE_ENTRIES = 4_000_000
"""Entries of a table of intervals, jobs and machines, of 8 bytes each. Chosen by hand, for memory.
"""


@dataclass(frozen=True, slots=True)
class MachineWeights:
    """Weights of machines: multipliers of their load constraints.

    Parameters
    ----------
    weights : array of int, shape (machines,)
    total : int
        Their sum.
    """

    weights: Ints
    total: int

    def job_energies(self, times: Ints) -> Ints:
        """Return the least weighted time of each job, from its times on each machine."""
        energies: Ints = np.where(times < INFINITE, times * self.weights, INFINITE).min(axis=-1)
        return energies


def dual_machine_weights(costs: Ints) -> MachineWeights:
    """Return weights for which the energy of all jobs is large, relative to the sum of weights.

    Parameters
    ----------
    costs : array of int, shape (jobs, machines)
        `INFINITE` where a job cannot run.

    Notes
    -----
    If costs are work divided by speed, the weights are the speeds, exactly. Otherwise the concave
    piecewise linear dual function is maximised over the simplex by an exponentiated subgradient
    method; the subgradient is the load of each machine when each job runs where its weighted cost
    is least. Complexity: O(iterations x jobs x machines).

    Examples
    --------
    >>> dual_machine_weights(np.array([[6, 3], [2, 1]])).weights.tolist()
    [1, 2]
    """
    known = np.where(costs < INFINITE, costs, 0)
    totals = [max(int(total), 1) for total in known.sum(axis=0)]
    if (costs < INFINITE).all():
        common = lcm(*totals)
        speeds = [common // total for total in totals]
        divisor = gcd(*speeds)
        if sum(speeds) // divisor <= WEIGHT_SUM:
            weights = np.array([speed // divisor for speed in speeds], dtype=np.int64)
            if _equal_on_all_machines(known, weights):
                return MachineWeights(weights, int(weights.sum()))
    shares = 1 / np.array(totals, dtype=float)
    shares /= shares.sum()
    usable = np.where(costs < INFINITE, costs, np.inf).astype(float)
    best_shares, best_value = shares, -1.0
    for iteration in range(WEIGHT_ITERATIONS):
        weighted = usable * shares
        chosen = weighted.argmin(axis=1)
        value = float(weighted[np.arange(len(costs)), chosen].sum())
        if value > best_value:
            best_shares, best_value = shares, value
        loads = np.bincount(chosen, usable[np.arange(len(costs)), chosen], minlength=len(totals))
        mean = max(float(loads @ shares), 1e-300)
        shares = shares * np.exp(np.clip(loads / mean - 1, -1, 1) / (2 + iteration / 4))
        shares /= shares.sum()
    weights = np.maximum((best_shares * WEIGHT_SUM).astype(np.int64), 0)
    weights[int(weights.argmax())] += max(1 - int(weights.sum()), 0)
    return MachineWeights(weights, int(weights.sum()))


def _equal_on_all_machines(costs: Ints, weights: Ints) -> bool:
    """Tell whether every job has the same weighted cost on all machines."""
    weighted = costs * weights
    return bool((weighted == weighted[:, :1]).all())


def head_tail_workload_bound(heads_tails: HeadsTails, weights: MachineWeights) -> int:
    """Bound the makespan by the energy of jobs between a head and a tail.

    For every head `h` and tail `t`, the jobs whose head and tail are no smaller need their energy
    divided by the sum of weights, after `h` and before the last `t` units of the makespan.
    """
    energies = weights.job_energies(heads_tails.costs)
    heads, tails = heads_tails.heads.min(axis=1), heads_tails.tails.min(axis=1)
    best = 0
    order = np.argsort(-tails, kind="stable")
    tails, heads, energies = tails[order], heads[order], energies[order]
    for head in evenly_spaced(np.unique(heads)):
        energy = np.where(heads >= head, energies, 0).cumsum()
        duration = -(-energy // weights.total)
        best = max(best, int(head) + int(np.where(energy > 0, duration + tails, 0).max()))
    return best


def interval_energy_bound(
    heads_tails: HeadsTails,
    weights: MachineWeights,
    lower_bound: int,
    upper_bound: int | None = None,
) -> int:
    """Bound the makespan by the energy that must be spent within intervals.

    Parameters
    ----------
    heads_tails : HeadsTails
    weights : MachineWeights
    lower_bound : int
        A lower bound that is known.
    upper_bound : int, optional
        A makespan that is known: no larger bound is searched for.

    Notes
    -----
    A makespan `T` is infeasible if in some interval jobs need more energy than machines have. A job
    is shifted as far out of the interval as its head, and its tail for `T`, allow, on the machine
    where what remains inside is least. Fernandez and Bussell (1973) add the excess to the longest
    path instead, which is no sharper. The bound is found by doubling and bisection of `T`.
    """
    heads_tails, weights = _drop_identical_machines(heads_tails, weights)
    low = lower_bound  # no schedule is shorter
    step, tests = 1, 1
    while (upper_bound is None or low < upper_bound) and _is_infeasible(
        heads_tails, weights, low + step - 1
    ):
        low += step
        step *= 2
        tests += 1
    high = low + step - 1  # not shown infeasible
    while low < high and tests < MAX_TRIAL_MAKESPANS:
        middle = (low + high) // 2
        tests += 1
        if _is_infeasible(heads_tails, weights, middle):
            low = middle + 1
        else:
            high = middle
    return low


def _drop_identical_machines(
    heads_tails: HeadsTails, weights: MachineWeights
) -> tuple[HeadsTails, MachineWeights]:
    """Return tables with one machine of those on which every job has the same numbers."""
    tables = heads_tails.heads, heads_tails.costs, heads_tails.tails
    columns = np.concatenate([*tables, weights.weights[None, :]])
    _, kept = np.unique(columns, axis=1, return_index=True)
    kept.sort()
    heads, costs, tails = (table[:, kept] for table in tables)
    fewer = HeadsTails(heads, costs, tails, heads_tails.path_bounds)
    return fewer, MachineWeights(weights.weights[kept], weights.total)


def _is_infeasible(heads_tails: HeadsTails, weights: MachineWeights, makespan: int) -> bool:
    """Tell whether the energy of some interval proves that no schedule has a makespan."""
    heads, costs = heads_tails.heads, heads_tails.costs
    latest_starts = makespan - heads_tails.tails - costs
    eligible = (heads <= latest_starts) & (costs < INFINITE)
    if not eligible.any(axis=1).all():
        return True
    latest_ends, earliest_ends = latest_starts + costs, heads + costs
    ends_of_intervals = int((MAX_INTERVAL_OPERATIONS / costs.size) ** 0.5)
    count = min(max(ends_of_intervals, MIN_INTERVAL_ENDS), MAX_INTERVAL_ENDS)
    starts = evenly_spaced(
        np.unique(np.concatenate([heads[eligible], latest_starts[eligible]])), count
    )
    ends = evenly_spaced(
        np.unique(np.concatenate([latest_ends[eligible], earliest_ends[eligible]])), count
    )
    earliest = np.where(eligible, earliest_ends, INFINITE)
    for start in starts:
        later = ends[ends > start]
        for part in _in_chunks(later, costs.size):
            length = part[:, None, None] - start
            shifted = np.minimum(earliest - start, part[:, None, None] - latest_starts)
            inside = np.maximum(np.minimum(np.minimum(length, costs), shifted), 0)
            energy = np.where(eligible, inside * weights.weights, INFINITE).min(axis=2).sum(axis=1)
            if (energy > (part - start) * weights.total).any():
                return True
    return False


def evenly_spaced(instants: Ints, count: int = MAX_INTERVAL_ENDS) -> Ints:
    """Return instants of a sorted list at even ranks, `count` of them at most."""
    if len(instants) <= count:
        return instants
    spread: Ints = instants[np.linspace(0, len(instants) - 1, count).astype(int)]
    return spread


def _in_chunks(instants: Ints, width: int) -> Iterator[Ints]:
    """Yield instants in chunks whose tables have `MAX_TABLE_ENTRIES` at most."""
    size = max(1, MAX_TABLE_ENTRIES // width)
    for start in range(0, len(instants), size):
        yield instants[start : start + size]
