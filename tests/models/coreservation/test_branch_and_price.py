"""Branch and price with machines apart: against brute force, its branches, and its limits."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation import bin_packing
from dlopt.models.coreservation import search as searching
from dlopt.models.coreservation.branch_and_price import master as restricted_master
from dlopt.models.coreservation.branch_and_price.columns import Branch, Patterns, groups_of
from dlopt.models.coreservation.branch_and_price.master import Pricer, first_prices
from dlopt.models.coreservation.branch_and_price.pricing_knapsack import Knapsacks
from dlopt.models.coreservation.branch_and_price.search import PatternSearch
from dlopt.models.coreservation.cpsat import PackingModel
from dlopt.models.coreservation.methods import exact_plan
from dlopt.models.coreservation.objective import key_of, offset
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.solutions import fits
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, violations
from dlopt.problems.coreservation import linear as line
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import NOW, packed
from tests.oracles_coreservation import optimum

LIMITS = Limits()
MACHINES = (Machine("m", 9), Machine("n", 9), Machine("too small", Fraction(1, 2)))


def searched(instance, level="benefit", limits=LIMITS):
    case = Case.of(instance, level)
    return case, PatternSearch(case, level, {}, Budget(limits))


@pytest.fixture
def without_knapsacks(monkeypatch):
    """Patterns are found by CP-SAT, as where many instants matter."""
    monkeypatch.setattr(Knapsacks, "applies", lambda *_: False)


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_optimum_by_brute_force(level, seed, monkeypatch) -> None:
    if seed > 1:
        monkeypatch.setattr(Knapsacks, "applies", lambda *_: False)
    instance = small(requests=5, span=6, seed=seed)
    if seed % 2:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 8), Machine("b", ((0, 5), (3, 7)))))
    case, search = searched(instance, level)
    found = search.run()
    best = optimum(instance, level)
    assert found.worth + offset(case, level) == (best if level == "benefit" else -best)
    assert fits(case, found.held)
    assert key_of(case, found.held) == (found.worth + offset(case, level),)


def test_three_that_fit_in_pairs_only_are_branched_on() -> None:
    # Each pair fits: half of each pattern is worth 3/2 of a machine, which no plan attains.
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(5),)) for k in range(5))
    case, search = searched(Instance((Machine("m", 10),), requests, Batch(1)))
    assert search.run().worth == Fraction(2, 5)
    sizes = [44, 34, 30, 30, 30, 30, 27, 27, 27, 21]
    case, search = searched(packed(sizes, 100, 3), "rejections")
    found = search.run()
    assert found.worth == len({case.jobs[i].wish for i in found.held}) == 9


def test_pairs_are_branched_on_when_all_requests_are_decided() -> None:
    case, search = searched(overloaded(requests=8, seed=101))
    master = priced(search)
    master.weights = [1.0] * len(case.wishes) + [0.5] * len(master.columns)
    one, other = search._branches(Branch({}, {}), master)
    (pair,) = one.pairs
    assert one.pairs == {pair: True} and other.pairs == {pair: False}
    assert all(one.wishes[case.jobs[i].wish] for i in pair)
    for branch in (one, other):
        allowed = {p for p in master.columns if branch.allows(case, p)}
        together = {p for p in master.columns if p.issuperset(pair)}
        assert bool(allowed & together) is branch.pairs[pair]
        pricer = Pricer(search.patterns, 0, branch, search.budget, 0)
        prices = [-search.patterns.scale.factor * (i in pair) for i in range(len(case.jobs))]
        _, held = pricer.dearest(prices)
        assert held.keys() >= set(pair) if branch.pairs[pair] else not held.keys() >= set(pair)


def priced(search):
    root = _root(search)
    return search._price(root, search._pricers(root.branch))


def _root(search):
    from dlopt.models.coreservation.branch_and_price.search import _Node

    prices = first_prices(search.patterns, search.budget.stop, 0)
    everything = search.patterns.scale.units(search.patterns.total)
    return _Node((-everything, 0), everything, Branch({}, {}), prices)


def test_a_pair_is_never_together_where_one_of_it_may_not_be() -> None:
    named = (Part(2, machine=0),)
    requests = (
        Request("a", 0, 0, 1, 1, named),
        Request("b", 0, 0, 1, 1, (Part(3),)),
        Request("c", 0, 0, 1, 1, (Part(1, machine=0),)),
    )
    case, search = searched(Instance(MACHINES, requests, Batch(1)))
    budget, patterns = search.budget, search.patterns
    groups = groups_of(case)
    assert [group.jobs for group in groups] == [(0, 1, 2), (1,)]
    prices = [0, -10, 0]
    _, held = Pricer(patterns, 1, Branch({}, {(0, 1): True}), budget, 0).dearest(prices)
    assert held == {}
    _, held = Pricer(patterns, 1, Branch({}, {(0, 2): True}), budget, 0).dearest(prices)
    assert held.keys() == {1}
    _, held = Pricer(patterns, 1, Branch({}, {(0, 1): False}), budget, 0).dearest(prices)
    assert held.keys() == {1}
    assert not Branch({0: False}, {}).allows(case, frozenset((0,)))
    assert Branch({0: False}, {(0, 1): False}).allows(case, frozenset((1,)))


def test_limits_leave_a_bound_and_the_plan_that_was_known() -> None:
    instance = small(requests=6, seed=3)
    best = optimum(instance, "benefit")
    _, search = searched(instance, limits=NOW)
    found = search.run()
    assert (found.worth, found.held, found.subproblems) == (search.patterns.total, {}, 0)
    for work in (1, 2):
        case, search = searched(instance, limits=Limits(work=work))
        found = search.run()
        assert found.subproblems <= work
        assert key_of(case, found.held)[0] <= best <= found.worth


def test_solvers_without_an_answer_leave_the_bound(monkeypatch) -> None:
    instance = small(requests=6, seed=3)
    nothing = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    _, search = searched(instance)
    with monkeypatch.context() as patch:
        patch.setattr(PackingModel, "solve", lambda *_: nothing)
        assert search.run().worth == search.patterns.total
    with monkeypatch.context() as patch:
        patch.setattr(restricted_master.LinearSolver, "solve", lambda _: pricing_limit())
        assert search.run().worth == search.patterns.total
        with pytest.raises(TimeoutError):
            restricted_master.Master(search.patterns, Branch({}, {}), search.budget.stop, 0).solve()
    with monkeypatch.context() as patch:
        patch.setattr(cpsat, "optimise", lambda *_, **__: nothing)
        search._choose()
        assert search.held == {}


def pricing_limit():
    from dlopt.backends.highs import LpSolution

    return LpSolution(Status.LIMIT)


def test_a_subproblem_without_branches_keeps_its_bound(monkeypatch) -> None:
    instance = small(requests=6, seed=3)
    monkeypatch.setattr(PatternSearch, "_branches", lambda *_: iter(()))
    monkeypatch.setattr(PatternSearch, "_choose", lambda _: None)
    _, search = searched(instance)
    found = search.run()
    assert found.worth >= optimum(instance, "benefit") and found.held == {}


def test_with_everything_decided_there_is_nothing_to_branch_on() -> None:
    case, search = searched(packed([3, 3], 7, 1))
    master = priced(search)
    master.weights = [1.0] * len(case.wishes)
    (one, other) = search._branches(Branch({}, {}), master)
    assert (one.wishes, other.wishes) == ({0: True}, {0: False})
    assert list(search._branches(Branch({0: True, 1: True}, {}), master)) == []


def test_patterns_are_kept_once() -> None:
    case = Case.of(packed([3, 3], 7, 2))
    patterns = Patterns(case, "benefit")
    patterns.add_plan({0: (0, 3)})
    assert not patterns.add(0, {0: (0, 3)}) and patterns.add(0, {1: (0, 3)})
    assert patterns.value({0: (0, 3)}) * 2 == patterns.value({0: (0, 3), 1: (1, 3)})


def test_what_the_program_leaves_open_patterns_prove(monkeypatch) -> None:
    monkeypatch.setattr(searching, "_EFFORT", 1e-6)
    requests = tuple(
        Request(f"r{k}", 0, k % 3, k % 3 + 2, 1 + k, (Part(7, 2, line()), Part(4)))
        for k in range(7)
    )
    instance = Instance((Machine("m", 10), Machine("n", 10)), requests, Batch(9))
    found = exact_plan(instance)
    assert found.status is Status.OPTIMAL and "machines apart" in found.reason
    assert violations(instance, found.solution) == ()
    monkeypatch.setattr(searching, "_TINY", 0)
    assert exact_plan(instance, formulation="milp").value == found.value


def test_patterns_prove_what_the_program_only_bounds(monkeypatch) -> None:
    monkeypatch.setattr(searching, "_EFFORT", 1e-3)
    found = exact_plan(overloaded(requests=6, machines=4, parts=3, seed=100))
    assert found.status is Status.OPTIMAL and found.value == found.bound


def test_favourites_that_overlap_are_taken_once(monkeypatch) -> None:
    original = bin_packing._Patterns.favourites
    monkeypatch.setattr(bin_packing._Patterns, "favourites", lambda self: original(self) * 2)
    sizes = [495, 474, 473, 475, 472, 444, 439, 430, 268, 266, 263, 254, 253, 252, 251, 299]
    found = bin_packing.pack(sizes, 1000, Limits())
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)
