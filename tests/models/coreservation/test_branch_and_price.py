"""Branch and price: against brute force, its branches, and its limits."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.backends import cpsat
from dlopt.backends.time_budget import Budget
from dlopt.generation.coreservation import overloaded, small
from dlopt.models.coreservation import bin_packing, full_model_bound, portfolio_state, upper_bounds
from dlopt.models.coreservation.branch_and_price import master as restricted_master
from dlopt.models.coreservation.branch_and_price.columns import (
    BranchingDecisions,
    ColumnPool,
    machine_groups,
)
from dlopt.models.coreservation.branch_and_price.master import Pricer, initial_duals
from dlopt.models.coreservation.branch_and_price.search import BranchAndPrice
from dlopt.models.coreservation.cpsat import CpSatModel
from dlopt.models.coreservation.methods import exact_plan
from dlopt.models.coreservation.objective import objective_key, value_of_empty
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.solutions import is_feasible
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, violations
from dlopt.problems.coreservation import linear as line
from dlopt.result import Limits, Status
from tests.models.coreservation.sample_instances import NOW, packed
from tests.oracles_coreservation import optimum

LIMITS = Limits()
MACHINES = (Machine("m", 9), Machine("n", 9), Machine("too small", Fraction(1, 2)))


def searched(instance, level="benefit", limits=LIMITS):
    scaled = ScaledInstance.from_instance(instance, level)
    return scaled, BranchAndPrice(scaled, level, {}, Budget(limits))


@pytest.mark.parametrize("level", ["benefit", "rejections", "rejected-priority"])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_optimum_by_brute_force(level, seed, request) -> None:
    if seed > 1:
        request.getfixturevalue("without_knapsacks")
    instance = small(requests=5, span=6, seed=seed)
    if seed % 2:  # machines that differ
        instance = replace(instance, machines=(Machine("a", 8), Machine("b", ((0, 5), (3, 7)))))
    scaled, search = searched(instance, level)
    found = search.run()
    best = optimum(instance, level)
    assert found.bound + value_of_empty(scaled, level) == (best if level == "benefit" else -best)
    assert is_feasible(scaled, found.assignment)
    assert objective_key(scaled, found.assignment) == (found.bound + value_of_empty(scaled, level),)


def test_three_that_fit_in_pairs_only_are_branched_on() -> None:
    # Each pair fits: half of each column is the LP optimum, which no schedule attains.
    requests = tuple(Request(f"r{k}", 0, 0, 1, 1, (Part(5),)) for k in range(5))
    scaled, search = searched(Instance((Machine("m", 10),), requests, Batch(1)))
    assert search.run().bound == Fraction(2, 5)
    sizes = [44, 34, 30, 30, 30, 30, 27, 27, 27, 21]
    scaled, search = searched(packed(sizes, 100, 3), "rejections")
    found = search.run()
    assert found.bound == len({scaled.parts[i].request for i in found.assignment}) == 9


def test_pairs_are_branched_on_when_all_requests_are_decided() -> None:
    scaled, search = searched(overloaded(requests=8, seed=101))
    master = priced(search)
    master.weights = [1.0] * len(scaled.requests) + [0.5] * len(master.columns)
    one, other = search.branch(BranchingDecisions({}, {}), master)
    (pair,) = one.pairs
    assert one.pairs == {pair: True} and other.pairs == {pair: False}
    assert all(one.requests[scaled.parts[i].request] for i in pair)
    for branch in (one, other):
        allowed = {p for p in master.columns if branch.allows(scaled, p)}
        together = {p for p in master.columns if p.issuperset(pair)}
        assert bool(allowed & together) is branch.pairs[pair]
        pricer = Pricer(search.pool, 0, branch, search.budget, 0)
        duals = [-search.pool.scaling.factor * (i in pair) for i in range(len(scaled.parts))]
        _, assignment = pricer.price(duals)
        assert (
            assignment.keys() >= set(pair)
            if branch.pairs[pair]
            else not assignment.keys() >= set(pair)
        )


def priced(search):
    root = root_of(search)
    return search.generate_columns(root, search.create_pricers(root.decisions))


def root_of(search):
    from dlopt.models.coreservation.branch_and_price.search import BranchAndPriceNode

    duals = initial_duals(search.pool, search.budget.stop, 0)
    everything = search.pool.scaling.to_int(search.pool.max_value)
    return BranchAndPriceNode((-everything, 0), everything, BranchingDecisions({}, {}), duals)


def test_a_pair_is_never_together_where_one_of_it_may_not_be() -> None:
    named = (Part(2, machine=0),)
    requests = (
        Request("a", 0, 0, 1, 1, named),
        Request("b", 0, 0, 1, 1, (Part(3),)),
        Request("c", 0, 0, 1, 1, (Part(1, machine=0),)),
    )
    scaled, search = searched(Instance(MACHINES, requests, Batch(1)))
    budget, pool = search.budget, search.pool
    groups = machine_groups(scaled)
    assert [group.parts for group in groups] == [(0, 1, 2), (1,)]
    duals = [0, -10, 0]
    _, assignment = Pricer(pool, 1, BranchingDecisions({}, {(0, 1): True}), budget, 0).price(duals)
    assert assignment == {}
    _, assignment = Pricer(pool, 1, BranchingDecisions({}, {(0, 2): True}), budget, 0).price(duals)
    assert assignment.keys() == {1}
    _, assignment = Pricer(pool, 1, BranchingDecisions({}, {(0, 1): False}), budget, 0).price(duals)
    assert assignment.keys() == {1}
    assert not BranchingDecisions({0: False}, {}).allows(scaled, frozenset((0,)))
    assert BranchingDecisions({0: False}, {(0, 1): False}).allows(scaled, frozenset((1,)))


def test_a_cutoff_ends_the_search_where_nothing_better_is_possible() -> None:
    """Two of three fit; a caller who needs all three asks for no schedule of two."""
    instance = packed([3, 3, 3], 5, 2)
    scaled = ScaledInstance.from_instance(instance, "rejections")
    search = BranchAndPrice(scaled, "rejections", {}, Budget(Limits()), cutoff=Fraction(2))
    assert search.run().bound == 2 and not search.assignment
    search = BranchAndPrice(scaled, "rejections", {}, Budget(Limits()), cutoff=Fraction(1))
    assert search.run().bound == 2 == len(search.assignment)


def test_limits_leave_a_bound_and_the_plan_that_was_known() -> None:
    instance = small(requests=6, seed=3)
    best = optimum(instance, "benefit")
    _, search = searched(instance, limits=NOW)
    found = search.run()
    assert (found.bound, found.assignment, found.nodes) == (search.pool.max_value, {}, 0)
    for work in (1, 2):
        scaled, search = searched(instance, limits=Limits(work=work))
        found = search.run()
        assert found.nodes <= work
        assert objective_key(scaled, found.assignment)[0] <= best <= found.bound


def test_solvers_without_an_answer_leave_the_bound(monkeypatch) -> None:
    instance = small(requests=6, seed=3)
    nothing = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    _, search = searched(instance)
    with monkeypatch.context() as patch:
        patch.setattr(CpSatModel, "solve", lambda *_: nothing)
        assert search.run().bound == search.pool.max_value
    with monkeypatch.context() as patch:
        patch.setattr(restricted_master.LinearSolver, "solve", lambda _: pricing_limit())
        assert search.run().bound == search.pool.max_value
        with pytest.raises(TimeoutError):
            restricted_master.RestrictedMaster(
                search.pool, BranchingDecisions({}, {}), search.budget.stop, 0
            ).solve()
    with monkeypatch.context() as patch:
        patch.setattr(cpsat, "optimise", lambda *_, **__: nothing)
        search.solve_restricted_master()
        assert search.assignment == {}


def pricing_limit():
    from dlopt.backends.highs import LpSolution

    return LpSolution(Status.LIMIT)


def test_a_subproblem_without_branches_keeps_its_bound(monkeypatch) -> None:
    instance = small(requests=6, seed=3)
    monkeypatch.setattr(BranchAndPrice, "branch", lambda *_: iter(()))
    monkeypatch.setattr(BranchAndPrice, "solve_restricted_master", lambda _: None)
    _, search = searched(instance)
    found = search.run()
    assert found.bound >= optimum(instance, "benefit") and found.assignment == {}


def test_with_everything_decided_there_is_nothing_to_branch_on() -> None:
    scaled, search = searched(packed([3, 3], 7, 1))
    master = priced(search)
    master.weights = [1.0] * len(scaled.requests)
    (one, other) = search.branch(BranchingDecisions({}, {}), master)
    assert (one.requests, other.requests) == ({0: True}, {0: False})
    assert list(search.branch(BranchingDecisions({0: True, 1: True}, {}), master)) == []


def test_columns_are_added_once() -> None:
    scaled = ScaledInstance.from_instance(packed([3, 3], 7, 2))
    pool = ColumnPool(scaled, "benefit")
    pool.add_assignment({0: (0, 3)})
    assert not pool.add(0, {0: (0, 3)}) and pool.add(0, {1: (0, 3)})
    assert pool.value({0: (0, 3)}) * 2 == pool.value({0: (0, 3), 1: (1, 3)})


def test_branch_and_price_closes_the_gap_of_the_full_model(monkeypatch) -> None:
    monkeypatch.setattr(full_model_bound, "PROBE_EFFORT", 1e-6)
    requests = tuple(
        Request(f"r{k}", 0, k % 3, k % 3 + 2, 1 + k, (Part(7, 2, line()), Part(4)))
        for k in range(7)
    )
    instance = Instance((Machine("m", 10), Machine("n", 10)), requests, Batch(9))
    found = exact_plan(instance)
    assert found.status is Status.OPTIMAL and "branch-and-price" in found.reason
    assert violations(instance, found.solution) == ()
    for module in (portfolio_state, upper_bounds):
        monkeypatch.setattr(module, "MAX_EXACT_REQUESTS", 0)
    assert exact_plan(instance, formulation="milp").value == found.value


def test_branch_and_price_proves_what_the_full_model_bounds(monkeypatch) -> None:
    monkeypatch.setattr(full_model_bound, "PROBE_EFFORT", 1e-3)
    found = exact_plan(overloaded(requests=6, machines=4, parts=3, seed=100))
    assert found.status is Status.OPTIMAL and found.value == found.bound


def test_heaviest_patterns_that_overlap_are_used_once(monkeypatch) -> None:
    original = bin_packing.GilmoreGomoryMaster.heaviest_patterns
    monkeypatch.setattr(
        bin_packing.GilmoreGomoryMaster, "heaviest_patterns", lambda self: original(self) * 2
    )
    sizes = [495, 474, 473, 475, 472, 444, 439, 430, 268, 266, 263, 254, 253, 252, 251, 299]
    found = bin_packing.pack(sizes, 1000, Limits())
    assert sorted(size for one in found.bins for size in one) == sorted(sizes)
