"""A machine alone with duals, and plans from all patterns: against sets enumerated one by one."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations, product
from math import inf

import numpy as np
import pytest

from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation.branch_and_price import column_enumeration, pricing_knapsack
from dlopt.models.coreservation.branch_and_price import search as branch_and_price
from dlopt.models.coreservation.branch_and_price.column_enumeration import ColumnEnumeration
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions, ColumnPool
from dlopt.models.coreservation.branch_and_price.master import Pricer
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import MachineKnapsack
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.objective import benefit_at
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, linear
from dlopt.result import Limits
from tests.oracles_coreservation import optimum

MANY = 10**6
FREE = BranchingDecisions({}, {})


def drawn(seed):
    draw = random.Random(seed)
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    pool = ColumnPool(ScaledInstance.from_instance(instance), "benefit")
    count, unit = len(pool.scaled.parts), pool.scaling.factor
    duals = [draw.randint(-1, 3) * unit // (6 * draw.randint(1, 5)) for _ in range(count)]
    return pool, duals, draw


def value_of(pool, assignment):
    scaled = pool.scaled
    return sum(
        pool.scaling.to_int(
            scaled.weight("benefit", scaled.parts[i].request)
            * benefit_at(scaled.parts[i].segments, units)
        )
        for i, (_, units) in assignment.items()
    )


def all_sets(pool, n, branch):
    """Yield all sets of parts on a machine and their values, by all their shares."""
    scaled, group = pool.scaled, pool.groups[n]
    subsets = chain.from_iterable(combinations(group.parts, k) for k in range(len(group.parts) + 1))
    for parts in subsets:
        if not branch.allows(scaled, frozenset(parts)):
            continue
        ranges = [
            range(scaled.parts[i].minimum, scaled.parts[i].segments[-1].high + 1) for i in parts
        ]
        values = [
            value_of(pool, {i: (0, units) for i, units in zip(parts, shares, strict=True)})
            for shares in product(*ranges)
            if is_feasible(
                group.single_machine,
                {group.parts.index(i): (0, u) for i, u in zip(parts, shares, strict=True)},
            )
        ]
        if values:
            yield frozenset(parts), max(values)


@pytest.mark.parametrize("seed", range(6))
def test_a_part_is_added_with_every_share_that_fits(seed) -> None:
    pool, _, draw = drawn(seed)
    machine, tried = MachineKnapsack(pool, 0, FREE), set()
    for i, value in machine.values.items():
        for size in range(1, max(machine.capacities) + 2):
            before = [
                draw.choice((pricing_knapsack.INFEASIBLE_VALUE, draw.randint(-9, 9)))
                for _ in range(size)
            ]
            found = machine.extend(i, np.array(before), value)
            for units in range(size):
                sums = [before[units - share] + int(value[share]) for share in range(units + 1)]
                best = max(sums)
                possible = best > pricing_knapsack.INFEASIBLE_VALUE / 2
                assert (
                    found[units] == best
                    if possible
                    else found[units] < pricing_knapsack.INFEASIBLE_VALUE / 2
                )
            tried.add(size <= machine.ends[i][0])
    assert tried == {True, False}


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_those_of_brute_force(seed) -> None:
    pool, duals, draw = drawn(seed)
    count = len(pool.scaled.parts)
    pairs = {}
    if seed % 3 and count > 2:
        for _ in range(2):
            pairs[tuple(sorted(draw.sample(range(count), 2)))] = draw.random() < 0.5
    branch = BranchingDecisions({0: False} if seed % 4 == 0 else {}, pairs)
    for n in range(len(pool.groups)):
        assert MachineKnapsack.applies(pool, n)
        machine = MachineKnapsack(pool, n, branch)
        sets = dict(all_sets(pool, n, branch))
        reduced = {parts: value - sum(duals[i] for i in parts) for parts, value in sets.items()}
        most, best = machine.price(duals, MANY)
        assert most == best.reduced_value == max(reduced.values()) == reduced[best.parts]
        shares = machine.optimal_shares(best.parts)
        assert value_of(pool, shares) == best.value == sets[best.parts]
        place = {i: q for q, i in enumerate(pool.groups[n].parts)}
        assert is_feasible(
            pool.groups[n].single_machine, {place[i]: at for i, at in shares.items()}
        )
        least = most - pool.scaling.factor // 20
        found = machine.enumerate_columns(duals, least, MANY)
        assert {one.parts: one.value for one in found} == {
            parts: value for parts, value in sets.items() if reduced[parts] >= least
        }
        assert len(found) == len({one.parts for one in found})


def two_instants():
    """Return parts at two instants, of which one is at both, on a machine that shrinks."""
    requests = (
        Request("a", 0, 0, 1, 1, (Part(3, 1, linear()),)),
        Request("b", 0, 0, 2, 1, (Part(4, 2, linear()),)),
        Request("c", 0, 1, 2, 1, (Part(5, 1, linear()),)),
    )
    machine = Machine("m", ((0, 8), (1, 6)))
    return ColumnPool(
        ScaledInstance.from_instance(Instance((machine,), requests, Batch(1))), "benefit"
    )


def test_what_parts_at_both_instants_take_is_missing_at_both() -> None:
    pool = two_instants()
    machine = MachineKnapsack(pool, 0, FREE)
    assert machine.stages == ([1], [0], [2]) and machine.capacities == (6, 8, 6)
    _, best = machine.price([0, 0, 0], MANY)
    shares = {i: units for i, (_, units) in machine.optimal_shares(best.parts).items()}
    assert shares == {0: 3, 1: 4, 2: 2} or shares[1] + shares[2] == 6
    assert Fraction(best.value, pool.scaling.factor) == Fraction(1, 3) * (1 + 1 + Fraction(2, 5))


def test_steps_that_do_not_do_leave_a_bound() -> None:
    pool, duals, _ = drawn(3)
    machine = MachineKnapsack(pool, 0, FREE)
    most, best = machine.price(duals, MANY)
    bounded, found = machine.price(duals, 2)
    assert bounded >= most >= found.reduced_value and (most, best) == machine.price(duals, MANY)
    assert machine.enumerate_columns(duals, best.reduced_value, 1) is None


def test_the_clock_is_looked_at_now_and_then(monkeypatch) -> None:
    monkeypatch.setattr(pricing_knapsack, "NODES_PER_CLOCK_CHECK", 1)
    pool, duals, _ = drawn(3)
    machine = MachineKnapsack(pool, 0, FREE)
    with pytest.raises(TimeoutError):
        machine.price(duals, MANY, deadline=-inf)
    assert machine.enumerate_columns(duals, 0, MANY, deadline=inf)


def test_machines_that_are_too_large_or_change_too_often_are_left_to_cp_sat() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    pool = ColumnPool(
        ScaledInstance.from_instance(Instance((Machine("m", 5),), requests, Batch(9))), "benefit"
    )
    assert not MachineKnapsack.applies(pool, 0)
    budget = Budget(Limits())
    assert Pricer(pool, 0, FREE, budget, 0).knapsack is None
    pricers = [Pricer(pool, 0, FREE, budget, 0)]
    assert (
        ColumnEnumeration(pool, FREE, pricers, [0] * 4, budget, 0).solve(0, MANY)
        == column_enumeration.NOT_APPLICABLE
    )
    large = Instance((Machine("m", 5000),), (Request("r", 0, 0, 1, 1, (Part(3999, 1, linear()),)),))
    assert not MachineKnapsack.applies(
        ColumnPool(ScaledInstance.from_instance(large), "benefit"), 0
    )


def closed(pool, known, branch=FREE, duals=None, budget=None, steps=MANY):
    budget = budget or Budget(Limits())
    count = len(pool.groups)
    pricers = [Pricer(pool, n, branch, budget, 0) for n in range(count)]
    duals = duals or [0] * len(pool.scaled.parts)
    return ColumnEnumeration(pool, branch, pricers, duals, budget, 0).solve(known, steps)


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_plan_is_that_of_brute_force_whatever_the_prices(level, seed) -> None:
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    if seed == 1:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 6), Machine("b", 4)))
    scaled = ScaledInstance.from_instance(instance, level)
    pool = ColumnPool(scaled, level)
    best = optimum(instance, level)
    if level != "benefit":
        best = scaled.value(level, Fraction(0)) - best
    units = pool.scaling.to_int(best)
    draw = random.Random(seed)
    duals = [draw.randint(0, pool.scaling.factor // 4) for _ in scaled.parts]
    for known in (0, units - pool.granularity):
        found = closed(pool, known, duals=duals)
        assert found.bound == units == pool.value(found.assignment) and is_feasible(
            scaled, found.assignment
        )
    assert closed(pool, units, duals=duals) == column_enumeration.EnumerationResult(units, None)
    rejected = BranchingDecisions({0: False}, {})
    found = closed(pool, 0, rejected)
    assert found.bound <= units and not set(scaled.requests[0].parts) & set(found.assignment or ())


def test_too_many_columns_and_no_answer_close_no_node(monkeypatch) -> None:
    pool, _, _ = drawn(3)
    assert closed(pool, 0, steps=1) is None
    assert closed(pool, 0, budget=Budget(Limits(time_s=60))).assignment is not None
    monkeypatch.setattr(column_enumeration, "NEAREST_NODES", 0)
    monkeypatch.setattr(column_enumeration, "ALL_NODES", 0)
    assert closed(pool, 0) == column_enumeration.NOT_APPLICABLE


def test_incumbents_are_searched_among_the_columns_nearest_to_the_best(monkeypatch) -> None:
    pool, duals, _ = drawn(3)
    budget, slacks, most = Budget(Limits()), [], [2]
    pricers = [Pricer(pool, n, FREE, budget, 0) for n in range(len(pool.groups))]
    whole = ColumnEnumeration.columns_within

    def within(self, slack, many):
        slacks.append(slack)
        return None if len(slacks) > most[0] else whole(self, slack, many)

    monkeypatch.setattr(ColumnEnumeration, "columns_within", within)
    one = ColumnEnumeration(pool, FREE, pricers, duals, budget, 0)
    assert one.solve(0, MANY) is None
    assert one.solve(0, MANY) is None  # what was looked at is not again
    assert [slack // slacks[0] for slack in slacks] == [1, 2, 4, 4]
    slacks.clear()
    found = one.solve(0, MANY)
    assert [slack // slacks[0] for slack in slacks] == [1, 2, 4]
    assert found.bound is None and pool.value(found.assignment) > 0
    slacks.clear()
    most[0] = 5
    last = one.solve(pool.value(found.assignment), MANY)
    assert len(slacks) == 5 and last.bound >= pool.value(found.assignment)


@pytest.mark.parametrize("begun", [False, True])
def test_where_there_were_too_many_less_must_be_left_to_prove(begun, monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=6, machines=4, parts=3, seed=100))
    search = BranchAndPrice(scaled, "benefit", {}, Budget(Limits()))
    pricers, steps = search.create_pricers(FREE), []

    def close(self, known, most):
        self.begun = begun
        steps.append(most)

    search.enumeration_gap = 1000
    node = branch_and_price.BranchAndPriceNode((0, 0), 1000, FREE, [0.0] * len(scaled.parts))
    monkeypatch.setattr(ColumnEnumeration, "solve", close)
    search.enumerate_columns(node, pricers)
    assert steps == [10_000, 40_000, 160_000, 640_000][: 4 if begun else 2]
    assert search.enumeration_gap == 500
    steps.clear()
    search.enumerate_columns(node, pricers)
    assert not steps and node.bound == 1000
    search.enumeration_gap = 1000
    monkeypatch.setattr(
        ColumnEnumeration,
        "solve",
        lambda *given: steps.append(1) or column_enumeration.NOT_APPLICABLE,
    )
    search.enumerate_columns(node, pricers)
    assert len(steps) == 1 and node.bound == search.enumeration_gap == 1000


def test_a_better_plan_of_which_nothing_is_proven_is_taken(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=6, machines=4, parts=3, seed=100))
    search = BranchAndPrice(scaled, "benefit", {}, Budget(Limits()))
    most = search.enumeration_gap
    node = branch_and_price.BranchAndPriceNode((0, 0), most, FREE, [0.0] * len(scaled.parts))
    answers = [
        column_enumeration.EnumerationResult(None, greedy_assignment(scaled)),
        column_enumeration.NOT_APPLICABLE,
    ]
    monkeypatch.setattr(ColumnEnumeration, "solve", lambda *_: answers.pop(0))
    search.enumerate_columns(node, search.create_pricers(FREE))
    assert (
        search.assignment == greedy_assignment(scaled)
        and search.value == search.pool.value(search.assignment) > 0
    )
    assert node.bound == most


def test_column_enumeration_ends_the_search() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=6, machines=4, parts=3, seed=100))
    found = BranchAndPrice(scaled, "benefit", greedy_assignment(scaled), Budget(Limits())).run()
    assert found.nodes <= 3 and is_feasible(scaled, found.assignment)
    assert found.bound == sum(
        scaled.weight("benefit", scaled.parts[i].request)
        * benefit_at(scaled.parts[i].segments, units)
        for i, (_, units) in found.assignment.items()
    )
