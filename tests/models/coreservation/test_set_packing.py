"""Branch and cut over patterns, against plans by brute force; whatever floats say, it proves."""

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
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Chosen, Knapsacks
from dlopt.models.coreservation.branch_and_price.set_packing import Selection
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request
from dlopt.result import Status
from tests.oracles_coreservation import optimum

FREE = Branch({}, {})


def everything(patterns, branch=FREE):
    """Return all patterns of each group."""
    nothing = [0] * len(patterns.case.jobs)
    machines = [Knapsacks(patterns, n, branch) for n in range(len(patterns.groups))]
    return [machine.within(nothing, 0, 10**6) for machine in machines]


def selection(patterns, known, branch=FREE, stop=inf):
    return Selection(patterns, branch, everything(patterns, branch), known, stop, 0)


def drawn(seed, level="benefit"):
    """Return patterns, and what the best plan is worth."""
    instance = small(requests=4, span=2, machines=2, capacity=6, seed=seed)
    if seed % 3 == 1:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 6), Machine("b", 4)))
    case = Case.of(instance, level)
    best = optimum(instance, level)
    if level != "benefit":
        best = case.value(level, Fraction(0)) - best
    patterns = Patterns(case, level)
    return patterns, patterns.scale.units(best)


def hard():
    """Return patterns for which branching and rows are needed."""
    return Patterns(Case.of(overloaded(requests=6, machines=4, parts=3, seed=100)), "benefit")


def worth(patterns, some):
    """Return what a choice of patterns is worth, which must be a plan."""
    chosen = [one for own in some.taken for one in own]
    jobs = sorted(i for one in chosen for i in one.jobs)
    wishes = {patterns.case.jobs[i].wish for i in jobs}
    assert jobs == sorted(i for k in wishes for i in patterns.case.wishes[k].jobs)
    for group, own, every in zip(patterns.groups, some.taken, some.found, strict=True):
        assert len(own) <= len(group.machines)
        assert all(one in every and one.jobs for one in own)
    return sum(one.worth for one in chosen) + sum(patterns.worths[k] for k in wishes)


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_plan_is_that_of_brute_force(level, seed) -> None:
    patterns, best = drawn(seed, level)
    for known in (0, best - patterns.step):
        some = selection(patterns, known)
        assert some.run() and some.known == best == worth(patterns, some)
    nothing = selection(patterns, best)
    assert nothing.run() and nothing.taken is None and nothing.known == best


def places(some):
    """Tell which of all patterns are taken."""
    every = [one in own for own, kept in zip(some.taken, some.found, strict=True) for one in kept]
    return np.array(every)


def by_brute_force(patterns, found, wishes):
    """Return what the best plan of some patterns is worth; None if there is no plan."""
    case = patterns.case

    def covered(left, room):
        """Return what patterns that have just these parts are worth at the most."""
        if not left:
            return 0
        best = None
        for n, own in enumerate(found):
            for one in own if room[n] else ():
                if min(left) in one.jobs and one.jobs <= left:
                    rest = covered(left - one.jobs, [r - (k == n) for k, r in enumerate(room)])
                    if rest is not None and (best is None or best < rest + one.worth):
                        best = rest + one.worth
        return best

    values = []
    for accepted in product((False, True), repeat=len(case.wishes)):
        if any(accepted[k] != one for k, one in wishes.items()):
            continue
        some = [k for k, one in enumerate(accepted) if one]
        parts = frozenset(i for k in some for i in case.wishes[k].jobs)
        value = covered(parts, [len(group.machines) for group in patterns.groups])
        if value is not None:
            values.append(value + sum(patterns.worths[k] for k in some))
    return max(values, default=None)


def abstract(seed):
    """Return patterns of which only the parts and the worth are sound, and who is decided."""
    draw = random.Random(seed)
    machines = tuple(Machine(f"m{j}", draw.choice((2, 3))) for j in range(draw.randint(2, 6)))
    requests = tuple(
        Request(f"r{k}", 0, 0, 1, draw.randint(1, 3), (Part(1),) * draw.randint(1, 3))
        for k in range(draw.randint(3, 6))
    )
    level = draw.choice(("benefit", "benefit", "rejections"))
    patterns = Patterns(Case.of(Instance(machines, requests, Batch(1)), level), level)
    parts, found = range(len(patterns.case.jobs)), []
    sizes = [min(len(parts), draw.choice((1, 2, 2, 2, 3, 3))) for _ in range(draw.randint(15, 40))]
    some = {frozenset(draw.sample(parts, size)) for size in sizes}
    for _ in patterns.groups:
        own = []
        for one in sorted(some, key=sorted):
            if draw.random() < 0.2:
                continue
            gain = 8 * len(one) + draw.choice((0, 0, 0, 1, -9)) if level == "benefit" else 0
            own.append(Chosen(one, gain * patterns.step, gain * patterns.step))
        found.append(own)
    count = draw.randint(0, 2)
    wishes = {k: draw.random() < 0.6 for k in draw.sample(range(len(requests)), count)}
    return patterns, found, wishes


@pytest.mark.parametrize("seed", [*range(60), 2621])  # 2621: two parts are always together
def test_of_any_patterns_the_best_plan_is_that_of_brute_force(seed, monkeypatch) -> None:
    branches = set_packing._Relaxation.branches

    def smaller(self, way):
        """Return branches: they have fewer patterns, or more is decided."""
        nodes = branches(self, way)
        for node in nodes:
            fewer = node.open.sum() < self.start.open.sum()
            assert fewer or len(node.wishes) > len(self.start.wishes)
        return nodes

    monkeypatch.setattr(set_packing._Relaxation, "branches", smaller)
    patterns, found, wishes = abstract(seed)
    most = by_brute_force(patterns, found, wishes)
    best = max(most or 0, 0)
    for known in {0, max(best - patterns.step, 0), best, best + patterns.step}:
        some = Selection(patterns, Branch(wishes, {}), found, known, inf, seed)
        for _ in range(300):
            if some.run(1):
                break
        assert not some.nodes and some.known == max(best, known)
        assert (some.taken is None) == (best <= known)
        if some.taken is not None:
            assert worth(patterns, some) == best


def test_who_is_accepted_or_rejected_is_kept_to() -> None:
    patterns, best = drawn(2)
    halves = []
    for k in range(len(patterns.case.wishes)):
        for decided in (True, False):
            some = selection(patterns, 0, Branch({k: decided}, {}))
            assert some.run()
            most = by_brute_force(patterns, some.found, {k: decided})
            assert some.known == max(most or 0, 0)
            halves.append(some.known)
            if some.taken is not None:
                jobs = {i for own in some.taken for one in own for i in one.jobs}
                assert (k in {patterns.case.jobs[i].wish for i in jobs}) == decided
        assert max(halves[-2:]) == best
    assert min(halves) < best


def test_patterns_that_no_better_plan_has_are_left_out() -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    best, plan = some.known, places(some)
    again = selection(patterns, best - patterns.step)
    relaxed = set_packing._Relaxation(again, again.nodes[0])
    assert relaxed.tighten() and relaxed.kept[plan].all()
    assert relaxed.kept.sum() < len(relaxed.kept) / 2
    assert again.run() and again.known == best
    nothing = selection(patterns, best)
    assert nothing.run() and nothing.taken is None


def test_it_branches_and_goes_on_where_it_was_broken_off() -> None:
    patterns = hard()
    some, rounds = selection(patterns, 0), 1
    while not some.run(1):
        rounds += 1
        assert some.nodes
    assert rounds > 3
    again = selection(patterns, 0)
    assert again.run(rounds) and (again.known, again.taken) == (some.known, some.taken)
    assert not again.nodes


def test_rows_over_three_parts_are_added(monkeypatch) -> None:
    patterns, seen = hard(), []
    add = set_packing._Relaxation._add

    def added(self, triple):
        seen.append(triple)
        add(self, triple)
        a, b, c = triple
        assert a < b < c
        row = {int(self.places[n]) for n in np.flatnonzero(self.rows[triple])}
        every = [one for own in self.whole.found for one in own]
        assert row == {n for n in self.places if len(every[n].jobs & {a, b, c}) > 1}

    monkeypatch.setattr(set_packing._Relaxation, "_add", added)
    some = selection(patterns, 0)
    assert some.run() and seen


def test_rounds_of_rows_may_end_before_no_row_is_broken(monkeypatch) -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    monkeypatch.setattr(set_packing, "_ROUNDS", 1)
    again = selection(patterns, 0)
    assert again.run() and again.known == some.known


def test_whatever_the_prices_are_the_best_plan_is_kept() -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    plan = places(some)
    again, draw = selection(patterns, some.known - patterns.step), random.Random(0)
    relaxed = set_packing._Relaxation(again, again.nodes[0])
    for triple in ((0, 1, 2), (0, 1, 7), (3, 5, 9)):
        relaxed._add(triple)
    good = 0
    for turn in range(200):
        size = 0.3 * draw.random() ** 3
        count = len(patterns.groups) + len(patterns.case.jobs) + 3
        prices = [draw.uniform(-size, size) for _ in range(count)]
        if turn % 4 == 0:  # close to those of an optimum
            told = relaxed.solver.solve().multipliers
            prices = [a + b / 100 for a, b in zip(told, prices, strict=True)]
        for one in (prices, [draw.choice((1e300, 1e-300, inf, -inf, nan, p)) for p in prices]):
            kept = relaxed._possible(LpSolution(Status.OPTIMAL, (), one))
            assert kept[plan].all()
            good += not kept.all()
            assert relaxed._possible(LpSolution(Status.INFEASIBLE, (), one))[plan].all()
    assert good > 20


def test_rows_have_no_price_below_nothing() -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    plan = places(some)
    again = selection(patterns, some.known - patterns.step)
    told = set_packing._Relaxation(again, again.nodes[0]).solver.solve().multipliers
    parts = range(len(patterns.case.jobs))
    taken = [one.jobs for own in some.taken for one in own]
    idle = [t for t in combinations(parts, 3) if all(len(one & {*t}) < 2 for one in taken)]
    for triple in idle[::9]:
        relaxed = set_packing._Relaxation(again, again.nodes[0])
        relaxed._add(triple)
        for price in (0.01, 0.03, 0.1, 0.3):
            assert relaxed._possible(LpSolution(Status.OPTIMAL, (), [*told, price]))[plan].all()


def test_prices_may_be_too_large_for_machine_words() -> None:
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1),) * 2) for k in range(3))
    machines = tuple(Machine(f"m{j}", 2) for j in range(1000))
    patterns = Patterns(Case.of(Instance(machines, requests, Batch(1)), "benefit"), "benefit")
    some = selection(patterns, 0)
    relaxed = set_packing._Relaxation(some, some.nodes[0])
    for size in (1e30, -1e30):
        assert relaxed._possible(LpSolution(Status.OPTIMAL, (), [size] * 7)).any()
    assert some.run() and some.known == sum(one.worth for own in some.taken for one in own)


@pytest.mark.parametrize("seed", range(40))
def test_what_no_ray_proves_is_kept(seed) -> None:
    patterns, found, wishes = abstract(seed)
    most = by_brute_force(patterns, found, wishes)
    some = Selection(patterns, Branch(wishes, {}), found, 0, inf, 0)
    relaxed = set_packing._Relaxation(some, some.nodes[0])
    told = relaxed.solver.solve()
    draw = random.Random(seed)
    for _ in range(50):
        ray = [one + draw.choice((0, 0.01, 0.3)) * draw.uniform(-1, 1) for one in told.multipliers]
        kept = relaxed._possible(LpSolution(Status.INFEASIBLE, (), ray))
        assert kept.any() or most is None
    if told.status is Status.INFEASIBLE:
        assert most is None and not relaxed._possible(told).any()


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_a_ray_proves_whatever_plans_are_worth(size) -> None:
    """Twelve requests; a pattern has all parts but one, and there is one machine."""
    count = 12 * size
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(1),) * size) for k in range(12))
    instance = Instance((Machine("m", count - 1),), requests, Batch(1))
    patterns = Patterns(Case.of(instance, "benefit"), "benefit")
    every = frozenset(range(count))
    gain = patterns.scale.factor // count * (count - 1)
    found = [[Chosen(every - {i}, gain, gain) for i in every]]
    branch = Branch(dict.fromkeys(range(12), True), {})
    some = Selection(patterns, branch, found, 0, inf, 0)
    assert some.run() and some.taken is None


def crowded():
    """Return three requests of which any two fill the machine."""
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(3),)) for k in range(3))
    return Patterns(Case.of(Instance((Machine("m", 6),), requests, Batch(9))), "benefit")


def test_that_there_is_no_plan_is_proven_by_a_ray(monkeypatch) -> None:
    patterns = crowded()
    all_of_them = Branch(dict.fromkeys(range(3), True), {})
    some = selection(patterns, 0, all_of_them)
    assert some.run() and some.taken is None
    solve, asked = LinearSolver.solve, []

    def without_ray(self):
        found = solve(self)
        asked.append(found.status)
        return found if found.point else LpSolution(found.status)

    monkeypatch.setattr(LinearSolver, "solve", without_ray)
    some = selection(patterns, 0, all_of_them)
    assert not some.run() and asked == [Status.INFEASIBLE]
    assert len(some.nodes) == 1 and not some.run()


def test_without_time_nothing_is_proven_and_nothing_lost() -> None:
    patterns = hard()
    some = selection(patterns, 0, stop=-inf)
    assert not some.run() and len(some.nodes) == 1 and some.taken is None and some.known == 0
    some.stop = inf
    assert some.run() and some.known > 0


def test_a_point_that_is_no_plan_is_not_taken(monkeypatch) -> None:
    patterns, _ = drawn(3)
    monkeypatch.setattr(set_packing._Relaxation, "accepted", lambda _: {0, 1, 2, 3})
    some = selection(patterns, 0)
    assert not some.run() and some.taken is None and some.known == 0


def test_a_point_that_takes_too_many_machines_is_not_taken(monkeypatch) -> None:
    patterns = crowded()
    some = selection(patterns, 0)
    alone = np.array([len(one.jobs) == 1 for one in some.found[0]])
    monkeypatch.setattr(set_packing._Relaxation, "accepted", lambda _: {0, 1, 2})
    monkeypatch.setattr(set_packing._Relaxation, "chosen", lambda _: alone)
    monkeypatch.setattr(set_packing._Relaxation, "best_way", lambda _: None)
    assert not some.run() and some.taken is None and some.known == 0


def test_a_point_that_takes_one_machine_too_many_is_not_taken(monkeypatch) -> None:
    patterns = crowded()
    some = selection(patterns, 0)
    two = np.array([one.jobs in ({0}, {1}) for one in some.found[0]])
    assert two.sum() == 2 and len(patterns.groups[0].machines) == 1
    monkeypatch.setattr(set_packing._Relaxation, "accepted", lambda _: {0, 1})
    monkeypatch.setattr(set_packing._Relaxation, "chosen", lambda _: two)
    monkeypatch.setattr(set_packing._Relaxation, "best_way", lambda _: None)
    assert not some.run() and some.taken is None and some.known == 0


def test_a_plan_that_is_not_better_is_not_taken(monkeypatch) -> None:
    patterns = crowded()
    some = selection(patterns, 0)
    assert some.run() and some.known > patterns.step
    worse = np.array([one.jobs == {0} for one in some.found[0]])
    again = selection(patterns, some.known - patterns.step)
    monkeypatch.setattr(set_packing._Relaxation, "accepted", lambda _: {0})
    monkeypatch.setattr(set_packing._Relaxation, "chosen", lambda _: worse)
    assert not again.run() and again.taken is None
    assert again.known == some.known - patterns.step


def test_plans_that_floats_do_not_tell_apart_are_not_proven_to_be_equal() -> None:
    """The linear program takes the worse one."""
    requests = [Request(n, 0, 0, 1, k, (Part(1),)) for n, k in (("a", 10**8 + 1), ("b", 10**8))]
    instance = Instance((Machine("m", 1),), tuple(requests), Batch(1))
    patterns = Patterns(Case.of(instance, "benefit"), "benefit")
    some = selection(patterns, 0)
    best = max(one.worth for one in some.found[0])
    assert not some.run() or some.known == best
    result = dlopt.solve(instance, "exact", objective="benefit")
    assert result.bound == result.value == Fraction(10**8 + 1, 2 * 10**8 + 1)


def test_what_breaks_off_loses_nothing(monkeypatch) -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    again, count = selection(patterns, 0), 0
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
    assert again.run() and again.known == some.known
