"""Branch and cut over patterns, against plans by brute force; whatever floats say, it proves."""

import random
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from dlopt.backends.highs import LinearSolver, Relaxed
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation import selecting
from dlopt.models.coreservation.alone import Knapsacks
from dlopt.models.coreservation.case import Case
from dlopt.models.coreservation.patterns import Branch, Patterns
from dlopt.models.coreservation.selecting import Selection
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
    chosen = [
        one
        for own, counts in zip(some.found, some.taken, strict=True)
        for one, count in zip(own, counts, strict=True)
        for _ in range(count)
    ]
    jobs = sorted(i for one in chosen for i in one.jobs)
    wishes = {patterns.case.jobs[i].wish for i in jobs}
    assert jobs == sorted(i for k in wishes for i in patterns.case.wishes[k].jobs)
    for group, counts in zip(patterns.groups, some.taken, strict=True):
        assert sum(counts) <= len(group.machines)
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


def test_who_is_accepted_or_rejected_is_kept_to() -> None:
    patterns, best = drawn(2)
    for k in range(len(patterns.case.wishes)):
        halves = []
        for decided in (True, False):
            some = selection(patterns, 0, Branch({k: decided}, {}))
            assert some.run()
            halves.append(some.known)
            accepted = {
                patterns.case.jobs[i].wish
                for own, counts in zip(some.found, some.taken or [], strict=bool(some.taken))
                for one, count in zip(own, counts, strict=True)
                if count
                for i in one.jobs
            }
            assert some.taken is None or (k in accepted) == decided
        assert max(halves) == best


def test_patterns_that_no_better_plan_has_are_left_out() -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    best, plan = some.known, np.array([n for own in some.taken for n in own]) > 0
    again = selection(patterns, best - patterns.step)
    relaxed = selecting._Relaxation(again, again.nodes[0])
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
    add = selecting._Relaxation._add

    def added(self, triple):
        seen.append(self.whole.triples[:, triple].tolist())
        add(self, triple)
        a, b, c = seen[-1]
        row = {int(self.places[n]) for n in np.flatnonzero(self.rows[triple])}
        every = [one for own in self.whole.found for one in own]
        assert row == {n for n in self.places if len(every[n].jobs & {a, b, c}) > 1}

    monkeypatch.setattr(selecting._Relaxation, "_add", added)
    some = selection(patterns, 0)
    assert some.run() and seen


def test_rounds_of_rows_may_end_before_no_row_is_broken(monkeypatch) -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    monkeypatch.setattr(selecting, "_ROUNDS", 1)
    again = selection(patterns, 0)
    assert again.run() and again.known == some.known


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.INFEASIBLE])
def test_whatever_the_prices_are_the_best_plan_is_kept(status) -> None:
    patterns = hard()
    some = selection(patterns, 0)
    assert some.run()
    plan = np.array([n for own in some.taken for n in own]) > 0
    again, draw = selection(patterns, some.known - patterns.step), random.Random(0)
    relaxed = selecting._Relaxation(again, again.nodes[0])
    for triple in (0, 5, 77):
        relaxed._add(triple)
    good = 0
    for turn in range(200):
        size = 0.3 * draw.random() ** 3
        count = len(patterns.groups) + len(patterns.case.jobs) + 3
        prices = [draw.uniform(-size, size) for _ in range(count)]
        if turn % 4 == 0:  # close to those of an optimum
            told = relaxed.solver.solve().multipliers
            prices = [a + b / 100 for a, b in zip(told, prices, strict=True)]
        kept = relaxed._possible(Relaxed(status, (), prices))
        assert kept[plan].all()
        good += not kept.all()
    assert good > 20 or status is Status.INFEASIBLE


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
        return found if found.point else Relaxed(found.status)

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
    monkeypatch.setattr(selecting._Relaxation, "accepted", lambda _: {0, 1, 2, 3})
    some = selection(patterns, 0)
    assert not some.run() and some.taken is None and some.known == 0
