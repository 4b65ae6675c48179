"""Several chunks a node: rounds to start from, the fluid bound, and what is refused."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, NotApplicableError, Status, solve
from dlopt.backends.time_budget import Budget
from dlopt.instance_library import load
from dlopt.models.iit import initial_solution
from dlopt.models.iit.fixed_sequence_lp import FixedSequenceLp
from dlopt.models.iit.initial_solution import (
    MAX_CHUNKS,
    exchange_neighbours,
    fill_nodes_in_ready_order,
    repeat_rounds,
)
from dlopt.models.iit.methods import bound_fluid, exact_plan
from dlopt.models.iit.sequencing_milp import SequencingMilp
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit import Chunk, Instance, Solution, violations
from dlopt.result import NO_LIMITS
from tests import oracles_iit
from tests.examples import share
from tests.strategies import iit

FEW = share(1 / 4)
HARD = Instance(Cluster(4, tau=(1, 2, 1, 3), chi=(3, 5, 4, 2), theta_cm=1), (0,) * 4, 60)
FLOATS = replace(HARD, ready_times=(0.5, 0.25, 0.0, 0.0), load=60.5)


def in_rounds(instance, installments):
    """Return the schedule of one chunk each, and that of rounds of it."""
    single = fill_nodes_in_ready_order(instance, instance.cluster.nodes)
    return single, repeat_rounds(instance, [single], installments, Budget(NO_LIMITS), "HiGHS", 0)


@pytest.mark.property
@FEW
@given(iit(most=2, identical=False), st.integers(1, 3))
def test_rounds_are_schedules_of_the_class_and_never_before_the_optimum(instance, installments):
    single, rounds = in_rounds(instance, installments)
    assert violations(instance, rounds) == ()
    assert max(Counter(chunk.node for chunk in rounds.chunks).values()) <= installments
    least = oracles_iit.least_completion(instance, installments)
    assert bound_fluid(instance).bound <= least <= last_result(rounds) <= last_result(single)


def test_rounds_end_earlier_than_one_chunk_each_and_more_rounds_earlier_still():
    single, twice = in_rounds(HARD, 2)
    four = in_rounds(HARD, 4)[1]
    assert last_result(four) < last_result(twice) < last_result(single)
    assert max(Counter(chunk.node for chunk in four.chunks).values()) > 2


def test_set_up_costs_that_rounds_do_not_earn_leave_one_chunk_each():
    costly = replace(HARD, cluster=replace(HARD.cluster, theta_cm=50))
    single, rounds = in_rounds(costly, 3)
    assert last_result(rounds) <= last_result(single)
    assert len({chunk.node for chunk in rounds.chunks}) == len(rounds.chunks)


@pytest.mark.parametrize("limits", [Limits(time_s=1e-9), Limits(work=1)])
def test_only_the_time_ends_the_rounds(limits):
    """A unit of work of a solver is a branch, of which linear programs have none."""
    single = fill_nodes_in_ready_order(HARD, 4)
    rounds = repeat_rounds(HARD, [single], 2, Budget(limits), "HiGHS", 0)
    assert (rounds == single) is (limits.work is None)


def test_rounds_are_in_the_order_of_ready_times_too(monkeypatch):
    """In another order one chunk each ends earlier, and three end later."""
    monkeypatch.setattr(initial_solution, "MAX_EXCHANGED_CHUNKS", 0)
    instance = load("iit/different-6", exact_numbers=True)
    single = fill_nodes_in_ready_order(instance, 6)
    other = solve(instance, "equal-finish").solution
    assert last_result(other) < last_result(single)
    best, first, second = (
        repeat_rounds(instance, plans, 3, Budget(NO_LIMITS), "HiGHS", 0)
        for plans in ([single, other], [single], [other])
    )
    assert best == first and last_result(best) < last_result(second)


def test_neighbours_are_exchanged_where_nodes_differ(monkeypatch):
    instance = load("iit/different-6", exact_numbers=True)
    best = in_rounds(instance, 2)[1]
    monkeypatch.setattr(initial_solution, "MAX_EXCHANGED_CHUNKS", 0)
    assert last_result(best) < last_result(in_rounds(instance, 2)[1])
    assert violations(instance, best) == ()
    assert max(Counter(chunk.node for chunk in best.chunks).values()) <= 2


def test_exchanges_keep_what_they_found_when_the_time_is_up():
    instance = Instance(Cluster(2, tau=1, chi=(1, 8)), (0, 0), load=4)
    asked = []

    def earliest(nodes):
        asked.append(nodes)
        if len(asked) > 1:
            raise TimeoutError
        return earliest_plan(instance, nodes, [2, 2])

    plan = earliest_plan(instance, [0, 1], [2, 2])
    best = exchange_neighbours(plan, earliest)
    assert [chunk.node for chunk in best.chunks] == asked[0] == [1, 0]


def test_a_large_model_is_not_stated_when_the_time_is_up():
    model = SequencingMilp(HARD, installments=2, max_nodes=4, upper=200)
    with pytest.raises(TimeoutError):
        model.minimise_completion(stop=0)


def test_sequences_of_too_many_chunks_are_not_tried():
    nodes = MAX_CHUNKS // 2 + 1
    instance = Instance(Cluster(nodes, tau=1.0, chi=2.0), (0.0,) * nodes, load=7.0)
    single = Solution(tuple(Chunk(i, 7.0, 0.0, 0.0, 0.0, 0.0) for i in range(nodes)))
    assert repeat_rounds(instance, [single], 2, Budget(NO_LIMITS), "HiGHS", 0) is single


@pytest.mark.parametrize("instance", [HARD, FLOATS])
def test_a_limit_leaves_a_bound_and_a_schedule_of_several_chunks(instance):
    one, two = (solve(instance, installments=k, limits=Limits(work=1)) for k in (1, 2))
    assert two.status is Status.FEASIBLE and two.value < one.value
    assert two.bound >= solve(instance, "bound-fluid").bound
    assert violations(instance, two.solution, two.tolerance) == ()


def test_rounds_that_attain_the_fluid_bound_are_optimal():
    instance = load("iit/ramp-16")
    found = solve(instance, installments=2, limits=Limits(work=1))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 1085, 1085)
    assert found.proof == "certificate"


@pytest.mark.parametrize("digits", [9, 30, 5000])
def test_more_chunks_than_a_model_can_hold_are_refused(digits):
    with pytest.raises(NotApplicableError, match=r"too large: 4 nodes and installments=1\S* need"):
        exact_plan(HARD, installments=10**digits)


def test_one_node_needs_no_model_whatever_the_number_of_chunks():
    found = solve(Instance(Cluster(1, tau=1, chi=2), (4,), load=3), installments=10**30)
    assert (found.status, found.value) == (Status.OPTIMAL, 13)


def test_a_program_without_a_proof_schedules_exact_loads():
    """As a search of exact numbers does that its limit ends before the proof."""
    instance = Instance(Cluster(3, tau=1, chi=Fraction(1, 3)), (0, 1, 2), load=Fraction(50, 3))
    model = FixedSequenceLp(instance, [0, 1, 2]).minimise_completion()
    found = model.solve(NO_LIMITS, "HiGHS", 0, proven=False)
    assert violations(instance, found.plan) == ()
    assert sum(chunk.load for chunk in found.plan.chunks) == instance.load
    assert isinstance(found.completion, Fraction)
