"""The programs, their bounds and brute force say the same, in exact numbers."""

from fractions import Fraction

import pytest
from hypothesis import assume, given

from dlopt.models.admission import feasibility, sequence_portfolio
from dlopt.models.admission.methods import bound_fluid, bound_window, exact_plan, feasible_queue
from dlopt.problems.admission import objective, violations
from dlopt.result import Limits, Status
from tests import oracles_admission as oracle
from tests.examples import share
from tests.models.admission.sample_instances import GAPS
from tests.strategies import admission, admission_plans

FEW = share(5 / 12)
NARROW = admission(most=1, tasks=3, state=True)
WIDE = admission(most=2, tasks=2, identical=False, state=True)


@pytest.fixture(params=[True, False], ids=["orders first", "search first"])
def _both_ways(request, monkeypatch):
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS", 12 if request.param else 0)
    monkeypatch.setattr(feasibility, "SMALL_CHUNKS_TWO_NODES", 12 if request.param else 0)
    for module in (feasibility, sequence_portfolio):
        monkeypatch.setattr(module, "EFFORT", 200)


def assert_agreement(instance):
    """Hold every method against brute force."""
    most = oracle.most(instance)
    found = exact_plan(instance)
    fluid, window = bound_fluid(instance), bound_window(instance)
    relaxed = bound_fluid(instance, relax=True)
    if most is None:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        return
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
    assert violations(instance, found.solution) == ()
    assert objective(instance, found.solution) == most
    assert relaxed.bound >= fluid.bound >= window.bound >= most
    assert window.reason.startswith(("fluid relaxation", "trivial bound"))


@pytest.mark.property
@pytest.mark.usefixtures("_both_ways")
@given(NARROW)
def test_one_node_is_brute_force(instance):
    assert_agreement(instance)


@pytest.mark.property
@pytest.mark.usefixtures("_both_ways")
@given(WIDE)
def test_two_nodes_that_differ_are_brute_force(instance):
    assert_agreement(instance)


@pytest.mark.property
@FEW
@given(admission(most=2, tasks=2))
def test_load_weight_and_ratio_are_brute_force_too(instance):
    load = oracle.most(instance, lambda task: task.load)
    found = exact_plan(instance, objective="accepted-load")
    assert (found.status, found.value) == (Status.OPTIMAL, load)
    assert objective(instance, found.solution, "accepted-load") == load
    assert bound_fluid(instance, objective="accepted-load").bound >= load
    weight = oracle.most(instance, lambda task: task.weight)
    found = exact_plan(instance, objective="accepted-weight")
    assert (found.status, found.value) == (Status.OPTIMAL, weight)
    assert objective(instance, found.solution, "accepted-weight") == weight
    assert bound_window(instance, objective="accepted-weight").bound >= weight
    ratio = exact_plan(instance, objective="reject-ratio")
    rejected = len(instance.tasks) - oracle.most(instance)
    assert ratio.value == ratio.bound == Fraction(rejected, len(instance.tasks))
    assert bound_window(instance, objective="reject-ratio").bound <= ratio.value


@pytest.mark.property
@given(WIDE)
def test_a_queue_is_feasible_as_brute_force_says(instance):
    found = feasible_queue(instance)
    if oracle.feasible(instance, instance.tasks):
        assert (found.status, found.value) == (Status.OPTIMAL, len(instance.tasks))
        assert violations(instance, found.solution) == ()
    else:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)


@pytest.mark.property
@FEW
@given(admission_plans(most=2, tasks=3, state=True))
def test_no_plan_is_beyond_a_bound(data):
    """Plans of any kind, laid out by chance: the fluid bound holds for them all."""
    instance, plan = data
    assert violations(instance, plan) == ()
    value = objective(instance, plan)
    assert bound_fluid(instance, relax=True).bound >= bound_fluid(instance).bound >= value
    for name in ("accepted-load", "accepted-weight", "reject-ratio"):
        sign = -1 if name == "reject-ratio" else 1
        bound = bound_fluid(instance, objective=name).bound
        assert sign * bound >= sign * objective(instance, plan, name)
    chunks = [(chunk.task, chunk.node) for chunk in plan.chunks]
    most = max((chunks.count(chunk) for chunk in chunks), default=1)
    assert bound_window(instance, installments=most).bound >= value


@pytest.mark.property
@FEW
@given(admission(most=2, tasks=2, setup=False))
def test_more_installments_accept_no_less_and_no_more_than_flows(instance):
    assume(min(instance.cluster.tau, instance.cluster.chi) > 0)
    one, two = (
        exact_plan(instance, installments=k, limits=Limits(time_s=20, work=2_000)) for k in (1, 2)
    )
    assert violations(instance, two.solution) == ()
    assert one.value <= two.value <= bound_fluid(instance).bound
    assert two.bound <= bound_window(instance, installments=2).bound


@pytest.mark.parametrize(("instance", "optimum"), GAPS)
@pytest.mark.usefixtures("_both_ways")
def test_where_greedy_algorithms_lose(instance, optimum):
    found = exact_plan(instance, limits=Limits(time_s=60))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, optimum, optimum)
    assert violations(instance, found.solution) == ()
    assert found.reason.startswith("source of the bound: fluid relaxation")
    assert bound_fluid(instance).bound >= bound_window(instance).bound == optimum
