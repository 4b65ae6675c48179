"""The least flowtime, where jobs arrive on every machine together: an assignment, with a proof.

On a machine the job that is followed by q others delays q + 1 ends by its length. So a plan
assigns jobs to places (machine, q), at cost (q + 1) times length, and the cheapest assignment is
the least sum of ends (Horn 1973; Bruno, Coffman and Sethi 1974). With prices u of jobs every
assignment costs at least the sum of all u and, for every place, the least of 0 and any cost less
u. Prices come from the assignment by shortest paths between places, and are whole numbers.

Places that no job uses, and that are worth nothing at these prices, prove more: all later ones of
the machine cost more, so that they are worth nothing, either, and need not be looked at.

Where jobs arrive one after the other, the same with the first arrival for all is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlopt.models.bag.scaled_instance import Case
from dlopt.models.bag.solutions import Orders, in_best_order

_MOST = 40_000_000
"""Pairs of a job and a place at the most: more would not fit into memory."""
_SAFE = 2**62


@dataclass(frozen=True, slots=True)
class Assigned:
    """Orders of least flowtime, and the proof.

    Parameters
    ----------
    orders : tuple of tuple of int
    bound : Fraction
        In units of time: no plan has a smaller sum of ends.
    """

    orders: Orders
    bound: Fraction


def assign(case: Case) -> Assigned | None:
    """Return the least sum of ends, as if all jobs were at a machine as soon as one is.

    Parameters
    ----------
    case : Case
        Of the objective ``flowtime``.

    Returns
    -------
    Assigned or None
        None where the numbers are too large to be added without rounding, or too many.

    Examples
    --------
    >>> from dlopt.problems.bag import Instance
    >>> assign(Case.of(Instance(etc=((4, 9), (1, 9), (2, 3))), "flowtime"))
    Assigned(orders=((1, 0), (2,)), bound=Fraction(9, 1))
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    count = len(case.jobs)
    machines = [k for k in case.machines if case.able[k]]
    depth = min(count, 2 * count // len(machines) + 2)
    largest = (count + 1) * case.horizon
    while True:
        if count * depth * len(machines) > _MOST or (count + 2) * largest > _SAFE:
            return None
        costs = _costs(np, case, machines, depth, largest)
        chosen, places = linear_sum_assignment(costs)
        worth = _worth(np, costs, chosen, places)
        last = worth[depth - 1 :: depth]
        if depth == count or not last.any():
            break
        depth = min(count, 2 * depth)
    used = costs[chosen, places]
    prices = used - worth[places]
    # Of any prices: what they leave of each place, none of which is worth more than nothing.
    left = np.minimum((costs - prices[:, None]).min(axis=0), 0)
    sets: list[list[int]] = [[] for _ in case.machines]
    for job, place in zip(chosen, places, strict=True):
        sets[machines[place // depth]].append(int(job))
    bound = sum(map(int, prices)) + sum(map(int, left))
    return Assigned(in_best_order(case, sets), Fraction(bound))


def _costs(np: Any, case: Case, machines: list[int], depth: int, largest: int) -> Any:
    """Return what each job costs at each place, shape (jobs, machines x depth)."""
    costs = np.full((len(case.jobs), len(machines), depth), largest, dtype=np.int64)
    rank = np.arange(1, depth + 1)
    for j, k in enumerate(machines):
        start = min(case.arrivals[job][k] for job in case.able[k])
        for job in case.able[k]:
            costs[job, j] = rank * case.length(job, k) + start
    return costs.reshape(len(case.jobs), -1)


def _worth(np: Any, costs: Any, chosen: Any, places: Any) -> Any:
    """Return what each place is worth: 0 or less, by shortest paths over who could move there."""
    extra = costs - costs[chosen, places][:, None]
    worth = np.zeros(costs.shape[1], dtype=np.int64)
    for _ in range(len(costs) + 1):
        better = np.minimum((extra + worth[places][:, None]).min(axis=0), 0)
        if (better == worth).all():
            break
        worth = better
    return worth
