"""Branch and cut over columns, against brute force; what is broken off, and what is no plan."""

from math import inf

import numpy as np
import pytest

from dlopt.backends.highs import LinearSolver
from dlopt.models.coreservation.branch_and_price import set_packing
from dlopt.models.coreservation.branch_and_price.columns import BranchingDecisions
from dlopt.models.coreservation.branch_and_price.set_packing import SetPackingBnC
from tests.models.coreservation.column_pools import (
    abstract,
    by_brute_force,
    crowded,
    drawn,
    hard,
    places,
    selection,
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
