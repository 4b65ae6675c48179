"""More requests than brute force can try: instances that are made around their optimum.

Under a time limit nothing is asserted of what is found in it, but that no plan is better than the
planted one and no bound says that it cannot be.
"""

import random
from dataclasses import replace
from fractions import Fraction
from heapq import heapify, heappop, heappush

import pytest

from dlopt import Status, api, registry
from dlopt.arithmetic import exact
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import small
from dlopt.models.coreservation import upper_bounds
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch
from dlopt.problems.coreservation import OBJECTIVES, Batch, Instance, Machine, Part, Request
from dlopt.result import Limits
from tests.models.coreservation.sample_instances import packed
from tests.oracles_coreservation import optimum

SOON = Limits(time_s=0.5)
SOUND = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
METHODS = (
    *SOUND,
    "lns",
    "bound-aggregated-lp",
    "bound-aggregated",
    "bound-knapsack",
    "rolling-exact",
    "exact",
)


def held_against(instance, goal, planted, methods=METHODS):
    """Assert that no plan is better than the planted optimum, and that all bounds leave it."""
    for name in methods:
        found = api.solve(instance, name, objective=goal, limits=SOON)
        assert found.status is not Status.INFEASIBLE
        if found.value is not None:
            assert not OBJECTIVES[goal].better(found.value, planted), name
            assert not api.check(instance, found.solution)
        if found.bound is not None:
            assert not OBJECTIVES[goal].better(planted, found.bound), name
            assert found.proof in ("exact", "solver")


def tiled(machines, pieces, seed, extra=0):
    """Return machines cut into rectangles of time and CPU; what is extra fills one of them each.

    All rectangles together fill the machines. Whoever accepts some of what is extra rejects
    rectangles of as large an area, each of which is smaller: at least one more.
    """
    draw, requests, length, capacity = random.Random(seed), [], 24, 60
    for _ in range(machines):
        tiles = [(0, length, capacity)]
        while len(tiles) < pieces:
            start, end, cpu = tiles.pop(draw.randrange(len(tiles)))
            if draw.random() < 0.5 and end - start > 1:
                cut = draw.randint(start + 1, end - 1)
                tiles += [(start, cut, cpu), (cut, end, cpu)]
            elif cpu > 1:
                cut = draw.randint(1, cpu - 1)
                tiles += [(start, end, cut), (start, end, cpu - cut)]
            else:
                tiles.append((start, end, cpu))
        requests += tiles
    requests += [(0, length, capacity)] * extra
    draw.shuffle(requests)
    return Instance(
        tuple(Machine(f"m{j}", capacity) for j in range(machines)),
        tuple(Request(f"r{k}", 0, s, e, 1, (Part(c),)) for k, (s, e, c) in enumerate(requests)),
        Batch(1),
    )


@pytest.mark.parametrize(("seed", "extra"), [(1, 0), (2, 1), (3, 3)])
def test_machines_that_are_tiled(seed, extra) -> None:
    instance = tiled(5, 8, seed, extra)
    count = len(instance.requests)
    assert count == 40 + extra
    held_against(instance, "rejections", extra)
    held_against(instance, "benefit", Fraction(40, count), ("co-rspb", "bound-aggregated", "exact"))
    whole = api.solve(instance, "feasibility", limits=SOON)
    assert (whole.status is not Status.INFEASIBLE) if not extra else whole.solution is None


def colourable(windows, colours):
    """Return how many intervals can have one of so many colours (Carlisle and Lloyd; Faigle).

    Those that end first are kept: of more than there are colours at an instant, the one that ends
    last goes.
    """
    kept = []
    for start, end in sorted(windows):
        kept = [one for one in kept if one[1] > start] + [(start, end)]
        if len(kept) > colours:
            kept.remove(max(kept, key=lambda one: one[1]))
            yield (start, end)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_intervals_with_few_colours(seed) -> None:
    draw, machines = random.Random(seed), 3
    windows = []
    for _ in range(45):
        start = draw.randrange(60)
        windows.append((start, start + draw.randint(2, 14)))
    requests = tuple(Request(f"r{k}", 0, s, e, 1, (Part(9),)) for k, (s, e) in enumerate(windows))
    instance = Instance(tuple(Machine(f"m{j}", 10) for j in range(machines)), requests, Batch(1))
    lost = sum(1 for _ in colourable(windows, machines))
    assert lost == len(windows) - by_ends(windows, machines) > 0
    held_against(instance, "rejections", lost)
    held_against(instance, "benefit", Fraction(45 - lost, 45), ("exact", "bound-knapsack"))


def by_ends(windows, machines):
    """Return the same count by another greedy rule: by their ends, on the machine free latest."""
    free, taken = [0] * machines, 0
    heapify(free)
    for start, end in sorted(windows, key=lambda one: one[1]):
        able = [one for one in free if one <= start]
        if able:
            free.remove(max(able))
            heappush(free, end)
            taken += 1
    while free:
        heappop(free)
    return taken


def copies(count, seed, apart):
    """Return small instances as one, each on machines of its own, or each at a time of its own.

    Its optimum is theirs together, and is returned with it.
    """
    machines, requests, benefit, rejected, total = [], [], Fraction(0), 0, Fraction(0)
    for n in range(count):
        one = small(requests=3, span=2, machines=1, capacity=5, seed=seed + n)
        weight = sum(Fraction(each.priority) for each in one.requests)
        benefit, total = benefit + optimum(one) * weight, total + weight
        rejected += optimum(one, "rejections")
        shift, place = (1000 * n, 0) if apart else (0, n)
        if place == len(machines):
            machines.append(replace(one.machines[0], id=f"m{n}", capacity=5))
        for each in one.requests:
            parts = tuple(replace(part, machine=place) for part in each.parts)
            window = {"start": each.start + shift, "end": each.end + shift, "arrival": 0}
            requests.append(replace(each, id=f"{n}-{each.id}", parts=parts, **window))
    return Instance(tuple(machines), tuple(requests), Batch(1)), benefit / total, rejected


@pytest.mark.parametrize("seed", [10, 50])
def test_copies_on_machines_of_their_own(seed) -> None:
    instance, benefit, rejected = copies(12, seed, apart=False)
    assert len(instance.requests) == 36
    held_against(instance, "benefit", benefit)
    held_against(instance, "rejections", rejected)


@pytest.mark.parametrize("seed", [10, 50])
def test_copies_at_times_of_their_own_are_proven(seed) -> None:
    instance, benefit, rejected = copies(12, seed, apart=True)
    for goal, planted in (("benefit", benefit), ("rejections", rejected)):
        held_against(instance, goal, planted, SOUND)
        found = api.solve(instance, objective=goal)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, planted, planted)
        for method in ("bound-aggregated-lp", "bound-aggregated", "bound-knapsack"):
            bound = api.solve(instance, method, objective=goal).bound
            assert not OBJECTIVES[goal].better(planted, bound)


def triplets(bins, seed):
    """Return items of which three each fill a machine, and as many machines as that takes."""
    draw, sizes = random.Random(seed), []
    for _ in range(bins):
        large = draw.randint(380, 490)
        middle = draw.randint(250, (1000 - large) // 2)
        sizes += [large, middle, 1000 - large - middle]
    draw.shuffle(sizes)
    return packed(sizes, 1000, bins)


@pytest.mark.parametrize("factor", [1, Fraction(1, 1000), 0.001, 0.1])
def test_items_that_fill_machines_whatever_their_unit(factor) -> None:
    """In decimals as in whole numbers: the unit is what all sizes are multiples of."""
    instance = triplets(12, 1)
    requests = tuple(
        replace(one, parts=(Part(_times(one.parts[0].cpu, factor)),)) for one in instance.requests
    )
    machines = tuple(Machine(one.id, _times(1000, factor)) for one in instance.machines)
    instance = replace(instance, machines=machines, requests=requests)
    for goal, best in (("rejections", 0), ("benefit", 1)):
        found = api.solve(instance, objective=goal)
        assert (found.status, found.value, found.proof) == (Status.OPTIMAL, best, "exact")
    assert api.solve(instance, "feasibility").value == 0


def _times(size, factor):
    """Return a size in another unit; a float is the decimal that it should be."""
    if isinstance(factor, float):
        return float(size * exact(factor))
    return size * factor


@pytest.mark.parametrize(
    ("sizes", "capacity"), [((201, 214), 860), ((112, 116), 928)], ids=["four", "eight"]
)
def test_one_item_too_many_of_nearly_equal_ones(sizes, capacity) -> None:
    draw, machines = random.Random(1), 8
    count = machines * (capacity // sizes[1]) + 1
    assert capacity // sizes[0] == capacity // sizes[1] and count > 30
    instance = packed([draw.randint(*sizes) for _ in range(count)], capacity, machines)
    found = api.solve(instance, objective="rejections")
    assert (found.status, found.value, found.proof) == (Status.OPTIMAL, 1, "exact")
    found = api.solve(instance, objective="benefit", limits=Limits(time_s=2))
    assert found.value <= Fraction(count - 1, count) <= found.bound
    whole = api.solve(instance, "feasibility")
    assert whole.status is Status.INFEASIBLE and whole.proof == "exact"


def test_the_least_that_is_lost_where_not_everything_fits() -> None:
    instance = packed([30] * 33, 99, 10)
    requests = tuple(replace(one, priority=3 + k) for k, one in enumerate(instance.requests))
    instance = replace(instance, requests=requests)
    for goal, lost in (("rejected-priority", 3 + 4 + 5), ("rejections", 3)):
        found = api.solve(instance, objective=goal)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, lost, lost)
    search = PortfolioSearch(
        ScaledInstance.from_instance(instance, "rejected-priority"), Budget(Limits())
    )
    bound = upper_bounds.packing_bound(search.state, "rejected-priority", 1)
    assert (bound.value, bound.relies_on_solver) == (-3, False)


def test_machines_that_differ_and_cannot_be_filled_are_a_claim_of_the_solver() -> None:
    instance = packed([3] * 12 + [2], 10, 3)  # twelve in threes: what they leave is in pieces of 1
    instance = replace(instance, machines=(*instance.machines, Machine("smaller", 9)))
    search = PortfolioSearch(ScaledInstance.from_instance(instance, "rejections"), Budget(Limits()))
    bound = upper_bounds.packing_bound(search.state, "rejections", 1)
    assert (bound.value, bound.relies_on_solver) == (-1, True)
    found = api.solve(instance, objective="rejections")
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1, 1)
