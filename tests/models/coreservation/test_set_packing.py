"""Branch and cut over columns, against brute force; it proves bounds whatever floats report."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import inf, nan

import numpy as np
import pytest

import dlopt
from dlopt.backends.highs import LinearSolver, LpSolution
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation.branch_and_price import set_packing
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import (
    MachineKnapsack,
    PricedColumn,
)
from dlopt.models.coreservation.branch_and_price.set_packing import SetPackingBnC
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from dlopt.result import Status
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


def value_of(pool, some):
    """Return the value of selected columns, which must be feasible."""
    chosen = [one for own in some.selected for one in own]
    parts = sorted(i for one in chosen for i in one.parts)
    requests = {pool.scaled.parts[i].request for i in parts}
    assert parts == sorted(i for k in requests for i in pool.scaled.requests[k].parts)
    for group, own, every in zip(pool.groups, some.selected, some.columns, strict=True):
        assert len(own) <= len(group.machines)
        assert all(one in every and one.parts for one in own)
    return sum(one.value for one in chosen) + sum(pool.request_values[k] for k in requests)


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_plan_is_that_of_brute_force(level, seed) -> None:
    pool, best = drawn(seed, level)
    for known in (0, best - pool.granularity):
        some = selection(pool, known)
        assert some.run() and some.incumbent == best == value_of(pool, some)
    nothing = selection(pool, best)
    assert nothing.run() and nothing.selected is None and nothing.incumbent == best


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


@pytest.mark.parametrize("seed", [*range(60), 2621])  # 2621: two parts are always together
def test_the_best_selection_of_any_columns_is_that_of_brute_force(seed, monkeypatch) -> None:
    branches = set_packing.NodeRelaxation.branches

    def smaller(self, candidate):
        """Return branches: they have fewer columns, or more is decided."""
        nodes = branches(self, candidate)
        for node in nodes:
            fewer = node.open.sum() < self.node.open.sum()
            assert fewer or len(node.requests) > len(self.node.requests)
        return nodes

    monkeypatch.setattr(set_packing.NodeRelaxation, "branches", smaller)
    pool, found, requests = abstract(seed)
    most = by_brute_force(pool, found, requests)
    best = max(most or 0, 0)
    for known in {0, max(best - pool.granularity, 0), best, best + pool.granularity}:
        some = SetPackingBnC(pool, BranchingDecisions(requests, {}), found, known, inf, seed)
        for _ in range(300):
            if some.run(1):
                break
        assert not some.nodes and some.incumbent == max(best, known)
        assert (some.selected is None) == (best <= known)
        if some.selected is not None:
            assert value_of(pool, some) == best


def test_who_is_accepted_or_rejected_is_kept_to() -> None:
    pool, best = drawn(2)
    halves = []
    for k in range(len(pool.scaled.requests)):
        for decided in (True, False):
            some = selection(pool, 0, BranchingDecisions({k: decided}, {}))
            assert some.run()
            most = by_brute_force(pool, some.columns, {k: decided})
            assert some.incumbent == max(most or 0, 0)
            halves.append(some.incumbent)
            if some.selected is not None:
                parts = {i for own in some.selected for one in own for i in one.parts}
                assert (k in {pool.scaled.parts[i].request for i in parts}) == decided
        assert max(halves[-2:]) == best
    assert min(halves) < best


def test_reduced_cost_fixing_removes_columns() -> None:
    pool = hard()
    some = selection(pool, 0)
    assert some.run()
    best, plan = some.incumbent, places(some)
    again = selection(pool, best - pool.granularity)
    relaxation = set_packing.NodeRelaxation(again, again.nodes[0])
    assert relaxation.tighten() and relaxation.surviving[plan].all()
    assert relaxation.surviving.sum() < len(relaxation.surviving) / 2
    assert again.run() and again.incumbent == best
    nothing = selection(pool, best)
    assert nothing.run() and nothing.selected is None


def test_it_branches_and_goes_on_where_it_was_broken_off() -> None:
    pool = hard()
    some, rounds = selection(pool, 0), 1
    while not some.run(1):
        rounds += 1
        assert some.nodes
    assert rounds > 3
    again = selection(pool, 0)
    assert again.run(rounds) and (again.incumbent, again.selected) == (
        some.incumbent,
        some.selected,
    )
    assert not again.nodes


def test_subset_row_cuts_are_added(monkeypatch) -> None:
    pool, seen = hard(), []
    add = set_packing.NodeRelaxation.add_cut

    def added(self, triple):
        seen.append(triple)
        add(self, triple)
        a, b, c = triple
        assert a < b < c
        row = {int(self.places[n]) for n in np.flatnonzero(self.cuts[triple])}
        every = [one for own in self.search.columns for one in own]
        assert row == {n for n in self.places if len(every[n].parts & {a, b, c}) > 1}

    monkeypatch.setattr(set_packing.NodeRelaxation, "add_cut", added)
    some = selection(pool, 0)
    assert some.run() and seen


def test_rounds_of_cuts_may_end_before_no_cut_is_violated(monkeypatch) -> None:
    pool = hard()
    some = selection(pool, 0)
    assert some.run()
    monkeypatch.setattr(set_packing, "MAX_CUT_ROUNDS", 1)
    again = selection(pool, 0)
    assert again.run() and again.incumbent == some.incumbent


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


def crowded():
    """Return three requests of which any two fill the machine."""
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(3),)) for k in range(3))
    return ColumnPool(
        ScaledInstance.from_instance(Instance((Machine("m", 6),), requests, Batch(9))), "benefit"
    )


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


def test_without_time_nothing_is_proven_and_nothing_lost() -> None:
    pool = hard()
    some = selection(pool, 0, stop=-inf)
    assert not some.run() and len(some.nodes) == 1 and some.selected is None and some.incumbent == 0
    some.stop = inf
    assert some.run() and some.incumbent > 0


def test_a_point_that_is_no_plan_is_not_taken(monkeypatch) -> None:
    pool, _ = drawn(3)
    monkeypatch.setattr(set_packing.NodeRelaxation, "accepted_requests", lambda _: {0, 1, 2, 3})
    some = selection(pool, 0)
    assert not some.run() and some.selected is None and some.incumbent == 0


def test_a_point_that_takes_too_many_machines_is_not_taken(monkeypatch) -> None:
    pool = crowded()
    some = selection(pool, 0)
    alone = np.array([len(one.parts) == 1 for one in some.columns[0]])
    monkeypatch.setattr(set_packing.NodeRelaxation, "accepted_requests", lambda _: {0, 1, 2})
    monkeypatch.setattr(set_packing.NodeRelaxation, "selected_columns", lambda _: alone)
    monkeypatch.setattr(set_packing.NodeRelaxation, "select_candidate", lambda _: None)
    assert not some.run() and some.selected is None and some.incumbent == 0


def test_a_point_that_takes_one_machine_too_many_is_not_taken(monkeypatch) -> None:
    pool = crowded()
    some = selection(pool, 0)
    two = np.array([one.parts in ({0}, {1}) for one in some.columns[0]])
    assert two.sum() == 2 and len(pool.groups[0].machines) == 1
    monkeypatch.setattr(set_packing.NodeRelaxation, "accepted_requests", lambda _: {0, 1})
    monkeypatch.setattr(set_packing.NodeRelaxation, "selected_columns", lambda _: two)
    monkeypatch.setattr(set_packing.NodeRelaxation, "select_candidate", lambda _: None)
    assert not some.run() and some.selected is None and some.incumbent == 0


def test_a_plan_that_is_not_better_is_not_taken(monkeypatch) -> None:
    pool = crowded()
    some = selection(pool, 0)
    assert some.run() and some.incumbent > pool.granularity
    worse = np.array([one.parts == {0} for one in some.columns[0]])
    again = selection(pool, some.incumbent - pool.granularity)
    monkeypatch.setattr(set_packing.NodeRelaxation, "accepted_requests", lambda _: {0})
    monkeypatch.setattr(set_packing.NodeRelaxation, "selected_columns", lambda _: worse)
    assert not again.run() and again.selected is None
    assert again.incumbent == some.incumbent - pool.granularity


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


def test_what_breaks_off_loses_nothing(monkeypatch) -> None:
    pool = hard()
    some = selection(pool, 0)
    assert some.run()
    again, count = selection(pool, 0), 0
    solve = LinearSolver.solve

    def broken(self):
        nonlocal count
        count += 1
        if count == 40:
            raise KeyboardInterrupt
        return solve(self)

    monkeypatch.setattr(LinearSolver, "solve", broken)
    with pytest.raises(KeyboardInterrupt):
        again.run()
    assert again.nodes
    assert again.run() and again.incumbent == some.incumbent
