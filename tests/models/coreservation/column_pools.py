"""Pools of columns, searches over all of their columns, and brute force over them."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf

import numpy as np

from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import (
    MachineKnapsack,
    PricedColumn,
)
from dlopt.models.coreservation.branch_and_price.set_packing import SetPackingBnC
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from tests.oracles_coreservation import optimum

FREE = BranchingDecisions({}, {})


def everything(pool, branch=FREE):
    """Return all columns of each group."""
    nothing = [0] * len(pool.scaled.parts)
    machines = [MachineKnapsack(pool, n, branch) for n in range(len(pool.groups))]
    return [machine.enumerate_columns(nothing, 0, 10**6) for machine in machines]


def selection(pool, known, branch=FREE, stop=inf):
    return SetPackingBnC(pool, branch, everything(pool, branch), known, stop, 0)


def drawn(seed, level="benefit"):
    """Return a pool, and the optimum."""
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    if seed % 3 == 1:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 6), Machine("b", 4)))
    scaled = ScaledInstance.from_instance(instance, level)
    best = optimum(instance, level)
    if level != "benefit":
        best = scaled.value(level, Fraction(0)) - best
    pool = ColumnPool(scaled, level)
    return pool, pool.scaling.to_int(best)


def hard():
    """Return a pool for which branching and cuts are needed."""
    return ColumnPool(
        ScaledInstance.from_instance(overloaded(requests=6, machines=4, parts=3, seed=100)),
        "benefit",
    )


def places(some):
    """Tell which of all columns are selected."""
    every = [
        one in own for own, kept in zip(some.selected, some.columns, strict=True) for one in kept
    ]
    return np.array(every)


def by_brute_force(pool, found, requests):
    """Return the optimum over some columns; None if they are infeasible."""
    scaled = pool.scaled

    def covered(left, room):
        """Return the largest value of columns that partition these parts."""
        if not left:
            return 0
        best = None
        for n, own in enumerate(found):
            for one in own if room[n] else ():
                if min(left) in one.parts and one.parts <= left:
                    rest = covered(left - one.parts, [r - (k == n) for k, r in enumerate(room)])
                    if rest is not None and (best is None or best < rest + one.value):
                        best = rest + one.value
        return best

    values = []
    for accepted in product((False, True), repeat=len(scaled.requests)):
        if any(accepted[k] != one for k, one in requests.items()):
            continue
        some = [k for k, one in enumerate(accepted) if one]
        parts = frozenset(i for k in some for i in scaled.requests[k].parts)
        value = covered(parts, [len(group.machines) for group in pool.groups])
        if value is not None:
            values.append(value + sum(pool.request_values[k] for k in some))
    return max(values, default=None)


def abstract(seed):
    """Return columns of which only parts and values are meaningful, and decided requests."""
    draw = random.Random(seed)
    machines = tuple(Machine(f"m{j}", draw.choice((2, 3))) for j in range(draw.randint(2, 6)))
    requests = tuple(
        Request(f"r{k}", 0, 0, 1, draw.randint(1, 3), (Part(1),) * draw.randint(1, 3))
        for k in range(draw.randint(3, 6))
    )
    level = draw.choice(("benefit", "benefit", "rejections"))
    pool = ColumnPool(
        ScaledInstance.from_instance(Instance(machines, requests, Batch(1)), level), level
    )
    parts, found = range(len(pool.scaled.parts)), []
    sizes = [min(len(parts), draw.choice((1, 2, 2, 2, 3, 3))) for _ in range(draw.randint(15, 40))]
    some = {frozenset(draw.sample(parts, size)) for size in sizes}
    for _ in pool.groups:
        own = []
        for one in sorted(some, key=sorted):
            if draw.random() < 0.2:
                continue
            gain = 8 * len(one) + draw.choice((0, 0, 0, 1, -9)) if level == "benefit" else 0
            own.append(PricedColumn(one, gain * pool.granularity, gain * pool.granularity))
        found.append(own)
    count = draw.randint(0, 2)
    requests = {k: draw.random() < 0.6 for k in draw.sample(range(len(requests)), count)}
    return pool, found, requests


def crowded():
    """Return three requests of which any two fill the machine."""
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(3),)) for k in range(3))
    return ColumnPool(
        ScaledInstance.from_instance(Instance((Machine("m", 6),), requests, Batch(9))), "benefit"
    )
