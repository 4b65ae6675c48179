"""A machine alone with prices, and plans from all patterns: against sets enumerated one by one."""

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
from dlopt.models.coreservation.branch_and_price.column_enumeration import Closing
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.master import Pricer
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Knapsacks
from dlopt.models.coreservation.branch_and_price.search import PatternSearch
from dlopt.models.coreservation.construction import greedy
from dlopt.models.coreservation.objective import worth_at
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import fits
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, linear
from dlopt.result import Limits
from tests.oracles_coreservation import optimum

MANY = 10**6
FREE = Branch({}, {})


def drawn(seed):
    draw = random.Random(seed)
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    patterns = Patterns(Case.of(instance), "benefit")
    count, unit = len(patterns.case.jobs), patterns.scale.factor
    prices = [draw.randint(-1, 3) * unit // (6 * draw.randint(1, 5)) for _ in range(count)]
    return patterns, prices, draw


def worth_of(patterns, held):
    case = patterns.case
    return sum(
        patterns.scale.units(
            case.weight("benefit", case.jobs[i].wish) * worth_at(case.jobs[i].pieces, units)
        )
        for i, (_, units) in held.items()
    )


def all_sets(patterns, n, branch):
    """Yield all sets of parts on a machine and what they are worth, share by share."""
    case, group = patterns.case, patterns.groups[n]
    subsets = chain.from_iterable(combinations(group.jobs, k) for k in range(len(group.jobs) + 1))
    for jobs in subsets:
        if not branch.allows(case, frozenset(jobs)):
            continue
        ranges = [range(case.jobs[i].least, case.jobs[i].pieces[-1].high + 1) for i in jobs]
        worths = [
            worth_of(patterns, {i: (0, units) for i, units in zip(jobs, shares, strict=True)})
            for shares in product(*ranges)
            if fits(
                group.alone,
                {group.jobs.index(i): (0, u) for i, u in zip(jobs, shares, strict=True)},
            )
        ]
        if worths:
            yield frozenset(jobs), max(worths)


@pytest.mark.parametrize("seed", range(6))
def test_a_part_is_added_with_every_share_that_fits(seed) -> None:
    patterns, _, draw = drawn(seed)
    machine, tried = Knapsacks(patterns, 0, FREE), set()
    for i, value in machine.worths.items():
        for size in range(1, max(machine.rooms) + 2):
            before = [
                draw.choice((pricing_knapsack._NONE, draw.randint(-9, 9))) for _ in range(size)
            ]
            found = machine.added(i, np.array(before), value)
            for units in range(size):
                sums = [before[units - share] + int(value[share]) for share in range(units + 1)]
                best = max(sums)
                possible = best > pricing_knapsack._NONE / 2
                assert (
                    found[units] == best if possible else found[units] < pricing_knapsack._NONE / 2
                )
            tried.add(size <= machine.ends[i][0])
    assert tried == {True, False}


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_those_of_brute_force(seed) -> None:
    patterns, prices, draw = drawn(seed)
    count = len(patterns.case.jobs)
    pairs = {}
    if seed % 3 and count > 2:
        for _ in range(2):
            pairs[tuple(sorted(draw.sample(range(count), 2)))] = draw.random() < 0.5
    branch = Branch({0: False} if seed % 4 == 0 else {}, pairs)
    for n in range(len(patterns.groups)):
        assert Knapsacks.applies(patterns, n)
        machine = Knapsacks(patterns, n, branch)
        sets = dict(all_sets(patterns, n, branch))
        reduced = {jobs: worth - sum(prices[i] for i in jobs) for jobs, worth in sets.items()}
        most, best = machine.dearest(prices, MANY)
        assert most == best.reduced == max(reduced.values()) == reduced[best.jobs]
        shares = machine.shares(best.jobs)
        assert worth_of(patterns, shares) == best.worth == sets[best.jobs]
        place = {i: q for q, i in enumerate(patterns.groups[n].jobs)}
        assert fits(patterns.groups[n].alone, {place[i]: at for i, at in shares.items()})
        least = most - patterns.scale.factor // 20
        found = machine.within(prices, least, MANY)
        assert {one.jobs: one.worth for one in found} == {
            jobs: worth for jobs, worth in sets.items() if reduced[jobs] >= least
        }
        assert len(found) == len({one.jobs for one in found})


def two_instants():
    """Return parts at two instants, of which one is at both, on a machine that shrinks."""
    requests = (
        Request("a", 0, 0, 1, 1, (Part(3, 1, linear()),)),
        Request("b", 0, 0, 2, 1, (Part(4, 2, linear()),)),
        Request("c", 0, 1, 2, 1, (Part(5, 1, linear()),)),
    )
    machine = Machine("m", ((0, 8), (1, 6)))
    return Patterns(Case.of(Instance((machine,), requests, Batch(1))), "benefit")


def test_what_parts_at_both_instants_take_is_missing_at_both() -> None:
    patterns = two_instants()
    machine = Knapsacks(patterns, 0, FREE)
    assert machine.own == ([1], [0], [2]) and machine.rooms == (6, 8, 6)
    _, best = machine.dearest([0, 0, 0], MANY)
    shares = {i: units for i, (_, units) in machine.shares(best.jobs).items()}
    assert shares == {0: 3, 1: 4, 2: 2} or shares[1] + shares[2] == 6
    assert Fraction(best.worth, patterns.scale.factor) == Fraction(1, 3) * (1 + 1 + Fraction(2, 5))


def test_steps_that_do_not_do_leave_a_bound() -> None:
    patterns, prices, _ = drawn(3)
    machine = Knapsacks(patterns, 0, FREE)
    most, best = machine.dearest(prices, MANY)
    bounded, found = machine.dearest(prices, 2)
    assert bounded >= most >= found.reduced and (most, best) == machine.dearest(prices, MANY)
    assert machine.within(prices, best.reduced, 1) is None


def test_the_clock_is_looked_at_now_and_then(monkeypatch) -> None:
    monkeypatch.setattr(pricing_knapsack, "_OFTEN", 1)
    patterns, prices, _ = drawn(3)
    machine = Knapsacks(patterns, 0, FREE)
    with pytest.raises(TimeoutError):
        machine.dearest(prices, MANY, stop=-inf)
    assert machine.within(prices, 0, MANY, stop=inf)


def test_machines_that_are_too_large_or_change_too_often_are_left_to_cp_sat() -> None:
    requests = tuple(Request(f"r{k}", 0, k, k + 2, 1, (Part(3),)) for k in range(4))
    patterns = Patterns(Case.of(Instance((Machine("m", 5),), requests, Batch(9))), "benefit")
    assert not Knapsacks.applies(patterns, 0)
    budget = Budget(Limits())
    assert Pricer(patterns, 0, FREE, budget, 0).machine is None
    pricers = [Pricer(patterns, 0, FREE, budget, 0)]
    assert (
        Closing(patterns, FREE, pricers, [0] * 4, budget, 0).close(0, MANY)
        == column_enumeration.NOTHING
    )
    large = Instance((Machine("m", 5000),), (Request("r", 0, 0, 1, 1, (Part(3999, 1, linear()),)),))
    assert not Knapsacks.applies(Patterns(Case.of(large), "benefit"), 0)


def closed(patterns, known, branch=FREE, prices=None, budget=None, steps=MANY):
    budget = budget or Budget(Limits())
    count = len(patterns.groups)
    pricers = [Pricer(patterns, n, branch, budget, 0) for n in range(count)]
    prices = prices or [0] * len(patterns.case.jobs)
    return Closing(patterns, branch, pricers, prices, budget, 0).close(known, steps)


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_plan_is_that_of_brute_force_whatever_the_prices(level, seed) -> None:
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    if seed == 1:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 6), Machine("b", 4)))
    case = Case.of(instance, level)
    patterns = Patterns(case, level)
    best = optimum(instance, level)
    if level != "benefit":
        best = case.value(level, Fraction(0)) - best
    units = patterns.scale.units(best)
    draw = random.Random(seed)
    prices = [draw.randint(0, patterns.scale.factor // 4) for _ in case.jobs]
    for known in (0, units - patterns.step):
        found = closed(patterns, known, prices=prices)
        assert found.bound == units == patterns.value(found.held) and fits(case, found.held)
    assert closed(patterns, units, prices=prices) == column_enumeration.Closed(units, None)
    rejected = Branch({0: False}, {})
    found = closed(patterns, 0, rejected)
    assert found.bound <= units and not set(case.wishes[0].jobs) & set(found.held or ())


def test_too_many_patterns_and_no_answer_close_nothing(monkeypatch) -> None:
    patterns, _, _ = drawn(3)
    assert closed(patterns, 0, steps=1) is None
    assert closed(patterns, 0, budget=Budget(Limits(time_s=60))).held is not None
    monkeypatch.setattr(column_enumeration, "_EFFORT", ((0, 0), (0, 0)))
    assert closed(patterns, 0) == column_enumeration.NOTHING


def test_a_plan_is_looked_for_among_the_patterns_nearest_to_the_dearest(monkeypatch) -> None:
    patterns, prices, _ = drawn(3)
    budget, slacks, most = Budget(Limits()), [], [2]
    pricers = [Pricer(patterns, n, FREE, budget, 0) for n in range(len(patterns.groups))]
    whole = Closing._within

    def within(self, slack, many):
        slacks.append(slack)
        return None if len(slacks) > most[0] else whole(self, slack, many)

    monkeypatch.setattr(Closing, "_within", within)
    one = Closing(patterns, FREE, pricers, prices, budget, 0)
    assert one.close(0, MANY) is None
    assert one.close(0, MANY) is None  # what was looked at is not again
    assert [slack // slacks[0] for slack in slacks] == [1, 2, 4, 4]
    slacks.clear()
    found = one.close(0, MANY)
    assert [slack // slacks[0] for slack in slacks] == [1, 2, 4]
    assert found.bound is None and patterns.value(found.held) > 0
    slacks.clear()
    most[0] = 5
    last = one.close(patterns.value(found.held), MANY)
    assert len(slacks) == 5 and last.bound >= patterns.value(found.held)


@pytest.mark.parametrize("begun", [False, True])
def test_where_there_were_too_many_less_must_be_left_to_prove(begun, monkeypatch) -> None:
    case = Case.of(overloaded(requests=6, machines=4, parts=3, seed=100))
    search = PatternSearch(case, "benefit", {}, Budget(Limits()))
    pricers, steps = search._pricers(FREE), []

    def close(self, known, most):
        self.begun = begun
        steps.append(most)

    search.reach = 1000
    node = branch_and_price._Node((0, 0), 1000, FREE, [0.0] * len(case.jobs))
    monkeypatch.setattr(Closing, "close", close)
    search._close(node, pricers)
    assert steps == [10_000, 40_000, 160_000, 640_000][: 4 if begun else 2]
    assert search.reach == 500
    steps.clear()
    search._close(node, pricers)
    assert not steps and node.bound == 1000
    search.reach = 1000
    monkeypatch.setattr(
        Closing, "close", lambda *given: steps.append(1) or column_enumeration.NOTHING
    )
    search._close(node, pricers)
    assert len(steps) == 1 and node.bound == search.reach == 1000


def test_a_better_plan_of_which_nothing_is_proven_is_taken(monkeypatch) -> None:
    case = Case.of(overloaded(requests=6, machines=4, parts=3, seed=100))
    search = PatternSearch(case, "benefit", {}, Budget(Limits()))
    most = search.reach
    node = branch_and_price._Node((0, 0), most, FREE, [0.0] * len(case.jobs))
    answers = [column_enumeration.Closed(None, greedy(case)), column_enumeration.NOTHING]
    monkeypatch.setattr(Closing, "close", lambda *_: answers.pop(0))
    search._close(node, search._pricers(FREE))
    assert search.held == greedy(case) and search.value == search.patterns.value(search.held) > 0
    assert node.bound == most


def test_a_search_ends_where_the_best_plan_is_chosen_from_all_patterns() -> None:
    case = Case.of(overloaded(requests=6, machines=4, parts=3, seed=100))
    found = PatternSearch(case, "benefit", greedy(case), Budget(Limits())).run()
    assert found.subproblems <= 3 and fits(case, found.held)
    assert found.worth == sum(
        case.weight("benefit", case.jobs[i].wish) * worth_at(case.jobs[i].pieces, units)
        for i, (_, units) in found.held.items()
    )
