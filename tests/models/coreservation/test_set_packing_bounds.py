"""What branch and cut over columns concludes from duals and rays, whatever floats report."""

import random
from fractions import Fraction
from itertools import combinations
from math import inf, nan

import pytest

import dlopt
from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.models.coreservation.branch_and_price import set_packing
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import PricedColumn
from dlopt.models.coreservation.branch_and_price.set_packing import SetPackingBnC
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from dlopt.result import Status
from tests.models.coreservation.column_pools import (
    abstract,
    by_brute_force,
    crowded,
    hard,
    places,
    selection,
)


def test_whatever_the_duals_are_the_best_columns_survive() -> None:
    pool = hard()
    some = selection(pool, 0)
    assert some.run()
    plan = places(some)
    again, draw = selection(pool, some.incumbent - pool.granularity), random.Random(0)
    relaxation = set_packing.NodeRelaxation(again, again.nodes[0])
    for triple in ((0, 1, 2), (0, 1, 7), (3, 5, 9)):
        relaxation.add_cut(triple)
    good = 0
    for turn in range(200):
        size = 0.3 * draw.random() ** 3
        count = len(pool.groups) + len(pool.scaled.parts) + 3
        duals = [draw.uniform(-size, size) for _ in range(count)]
        if turn % 4 == 0:  # close to those of an optimum
            reported = relaxation.solver.solve().multipliers
            duals = [a + b / 100 for a, b in zip(reported, duals, strict=True)]
        for one in (duals, [draw.choice((1e300, 1e-300, inf, -inf, nan, p)) for p in duals]):
            kept = relaxation.within_gap(LpSolution(Status.OPTIMAL, (), one))
            assert kept[plan].all()
            good += not kept.all()
            assert relaxation.within_gap(LpSolution(Status.INFEASIBLE, (), one))[plan].all()
    assert good > 20


def test_cuts_have_no_negative_dual() -> None:
    pool = hard()
    some = selection(pool, 0)
    assert some.run()
    plan = places(some)
    again = selection(pool, some.incumbent - pool.granularity)
    reported = set_packing.NodeRelaxation(again, again.nodes[0]).solver.solve().multipliers
    parts = range(len(pool.scaled.parts))
    taken = [one.parts for own in some.selected for one in own]
    idle = [t for t in combinations(parts, 3) if all(len(one & {*t}) < 2 for one in taken)]
    for triple in idle[::9]:
        relaxation = set_packing.NodeRelaxation(again, again.nodes[0])
        relaxation.add_cut(triple)
        for dual in (0.01, 0.03, 0.1, 0.3):
            optimum = LpSolution(Status.OPTIMAL, (), [*reported, dual])
            assert relaxation.within_gap(optimum)[plan].all()


def test_duals_may_be_too_large_for_machine_words() -> None:
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1),) * 2) for k in range(3))
    machines = tuple(Machine(f"m{j}", 2) for j in range(1000))
    pool = ColumnPool(
        ScaledInstance.from_instance(Instance(machines, requests, Batch(1)), "benefit"), "benefit"
    )
    some = selection(pool, 0)
    relaxation = set_packing.NodeRelaxation(some, some.nodes[0])
    for size in (1e30, -1e30):
        assert relaxation.within_gap(LpSolution(Status.OPTIMAL, (), [size] * 7)).any()
    assert some.run() and some.incumbent == sum(one.value for own in some.selected for one in own)


@pytest.mark.parametrize("seed", range(40))
def test_what_no_ray_proves_is_kept(seed) -> None:
    pool, found, requests = abstract(seed)
    most = by_brute_force(pool, found, requests)
    some = SetPackingBnC(pool, BranchingDecisions(requests, {}), found, 0, inf, 0)
    relaxation = set_packing.NodeRelaxation(some, some.nodes[0])
    reported = relaxation.solver.solve()
    draw = random.Random(seed)
    for _ in range(50):
        ray = [
            one + draw.choice((0, 0.01, 0.3)) * draw.uniform(-1, 1) for one in reported.multipliers
        ]
        kept = relaxation.within_gap(LpSolution(Status.INFEASIBLE, (), ray))
        assert kept.any() or most is None
    if reported.status is Status.INFEASIBLE:
        assert most is None and not relaxation.within_gap(reported).any()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_ray_proves_whatever_the_values_are(size) -> None:
    """Twelve requests; a column has all parts but one, and there is one machine."""
    count = 12 * size
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1),) * size) for k in range(12))
    instance = Instance((Machine("m", count - 1),), requests, Batch(1))
    pool = ColumnPool(ScaledInstance.from_instance(instance, "benefit"), "benefit")
    every = frozenset(range(count))
    gain = pool.scaling.factor // count * (count - 1)
    found = [[PricedColumn(every - {i}, gain, gain) for i in every]]
    branch = BranchingDecisions(dict.fromkeys(range(12), True), {})
    some = SetPackingBnC(pool, branch, found, 0, inf, 0)
    assert some.run() and some.selected is None


def test_that_there_is_no_plan_is_proven_by_a_ray(monkeypatch) -> None:
    pool = crowded()
    all_of_them = BranchingDecisions(dict.fromkeys(range(3), True), {})
    some = selection(pool, 0, all_of_them)
    assert some.run() and some.selected is None
    solve, asked = LinearSolver.solve, []

    def without_ray(self):
        found = solve(self)
        asked.append(found.status)
        return found if found.point else LpSolution(found.status)

    monkeypatch.setattr(LinearSolver, "solve", without_ray)
    some = selection(pool, 0, all_of_them)
    assert not some.run() and asked == [Status.INFEASIBLE]
    assert len(some.nodes) == 1 and not some.run()


def test_plans_that_floats_do_not_tell_apart_are_not_proven_to_be_equal() -> None:
    """The linear program takes the worse one."""
    requests = [Request(n, 0, 0, 1, k, (Part(1),)) for n, k in (("a", 10**8 + 1), ("b", 10**8))]
    instance = Instance((Machine("m", 1),), tuple(requests), Batch(1))
    pool = ColumnPool(ScaledInstance.from_instance(instance, "benefit"), "benefit")
    some = selection(pool, 0)
    best = max(one.value for one in some.columns[0])
    assert not some.run() or some.incumbent == best
    result = dlopt.solve(instance, "exact", objective="benefit")
    assert result.bound == result.value == Fraction(10**8 + 1, 2 * 10**8 + 1)
