"""Rows of proofs by which parts weigh no more than what fits one machine together.

With duals ``pi_s`` of sizes in the master program of `bin_packing`, times a factor and rounded down
to integers ``a_s``, and the largest weight ``K_j`` of a pattern of machine ``j``::

    sum_s a_s (sum of y of size s) <= sum_j K_j m_j

The duals are those that a fractional point violates most: the demand of the master program is what
the point has of each size.

Examples
--------
>>> knapsack_weights([(4, 1.0), (4, 1.0), (3, 0.5)], {0: 7}, 1.0)  # two of 4 are not together
({4: 1, 3: 0}, {0: 1})
>>> knapsack_weights([(4, 0.5), (4, 0.5), (3, 0.5)], {0: 7}, 1.0) is None
True
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from math import floor, inf

from dlopt.backends.time_budget import Budget
from dlopt.models.coreservation.bin_packing import (
    MAX_CAPACITY,
    GilmoreGomoryMaster,
    fit_decreasing,
)
from dlopt.result import Limits

FACTORS = (1, 2, 6, 12, 60, 420, 2520, 27720, 10**6, 10**9)
"""Factors of duals that are tried one after another, for short rows: most have many divisors."""
MIN_EXCESS = 1e-6
"""A row that a point exceeds by less than this share of the machines is not added."""
KEPT_EXCESS = 0.99
"""How much of the largest excess a row with a smaller factor has to keep; chosen by hand."""
MAX_SUMS = 32_000_000
"""Sums of a row at the most, as for who checks it: units times the parts that may be together."""
ROUNDING = 1e-6
"""What is added to duals before they are rounded down."""


def knapsack_weights(
    places: Sequence[tuple[int, float]],
    free: Mapping[int, int],
    machines: float,
    seed: int = 0,
    stop: float = inf,
) -> tuple[dict[int, int], dict[int, int]] | None:
    """Return weights of sizes, and of machines, whose row a point violates; None if none is found.

    Parameters
    ----------
    places : sequence of (int, float)
        The size of a part, positive, and how much of it is there.
    free : mapping of int to int
        Units by machine.
    machines : float
        How many are used.
    seed : int
    stop : float
        Instant of the monotonic clock at which the search ends.
    """
    capacity = max(free.values())
    amounts: dict[int, float] = defaultdict(float)
    for size, amount in places:
        amounts[size] += amount
    if capacity > MAX_CAPACITY or max(amounts, default=0) > capacity:
        return None
    items = sorted((size for size, _ in places), reverse=True)
    covered = {size: Fraction(amount) for size, amount in amounts.items()}
    budget = Budget(Limits())
    budget.stop = stop
    known = fit_decreasing(items, capacity, best_fit=True)
    master = GilmoreGomoryMaster(items, capacity, budget, seed, known, covered)
    most = machines * (1 + MIN_EXCESS)
    with suppress(TimeoutError):
        master.generate_patterns(most)
    duals = dict(zip(master.sizes, master.duals, strict=False))
    total = sum(dual * amounts[size] for size, dual in duals.items())
    if total <= most:
        return None
    for factor in FACTORS:
        weights = {size: floor(dual * factor + ROUNDING) for size, dual in duals.items()}
        together = sum(min(n, capacity // s) for s, n in master.demand.items() if weights[s])
        if (together + 1) * (capacity + 1) > MAX_SUMS:
            continue
        largest = master.knapsacks(list(weights.values()))[0]
        total_weight = sum(weight * amounts[size] for size, weight in weights.items())
        excess = total_weight - machines * largest[-1]
        if excess > KEPT_EXCESS * (total - machines) * largest[-1] and excess > 0:
            return weights, {j: largest[units] for j, units in free.items()}
    return None
