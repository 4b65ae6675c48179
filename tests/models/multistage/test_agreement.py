"""The programs, their bounds and brute force say the same, in exact numbers."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt.models.admission import methods as streams
from dlopt.models.multistage.methods import bound_fluid, exact_plan, feasible_together
from dlopt.problems.multistage import objective, violations
from dlopt.result import Limits, Status
from tests import oracles_multistage as oracle
from tests.examples import share
from tests.models.multistage.sample_instances import around, mixed, plans
from tests.strategies import admission

pytestmark = pytest.mark.property
FEW = share(5 / 12)
LONG = Limits(time_s=30)


def assert_agreement(instance):
    """Hold every method against brute force."""
    most = oracle.most(instance)
    found, fluid = exact_plan(instance, limits=LONG), bound_fluid(instance)
    relaxed = bound_fluid(instance, relax=True)
    if most is None:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        assert found.reason.startswith("promised tasks and mandatory reservations")
        return
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
    assert violations(instance, found.solution) == ()
    assert objective(instance, found.solution) == most
    assert relaxed.bound >= fluid.bound >= most


@given(mixed(most=1))
def test_one_node_is_brute_force(instance):
    assert_agreement(instance)


@given(mixed(most=2, tasks=1, identical=False))
def test_two_nodes_that_differ_are_brute_force(instance):
    assert_agreement(instance)


@given(mixed(most=2, tasks=1, state=True))
def test_a_busy_cluster_is_brute_force(instance):
    assert_agreement(instance)


@share(1 / 10)
@given(mixed(most=2, tasks=2, wanted=1, setup=False))
def test_two_tasks_on_two_nodes_are_brute_force(instance):
    assert_agreement(instance)


@share(1 / 6)
@given(mixed(most=2, tasks=1), st.sampled_from([Fraction(1, 3), 2]))
def test_weights_count(instance, weight):
    instance = replace(instance, task_weight=weight)
    assert_agreement(instance)
    load = oracle.most(instance, lambda task: task.load, lambda one: 0)
    weight_of_tasks = oracle.most(instance, lambda task: task.weight, lambda one: 0)
    tasks = oracle.most(instance, lambda task: 1, lambda one: 0)
    held = oracle.most(instance, lambda task: 0, lambda one: 1)
    both = oracle.most(instance, lambda task: 1, lambda one: 1)
    assume(both is not None)
    everything = len(instance.tasks) + len(instance.reservations)
    for name, most in (
        ("accepted-load", load),
        ("accepted-weight", weight_of_tasks),
        ("accepted-tasks", tasks),
        ("accepted-reservations", held),
        ("reject-ratio", 1 - Fraction(both, everything)),
    ):
        found = exact_plan(instance, objective=name, limits=LONG)
        assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
        assert objective(instance, found.solution, name) == most
        assert violations(instance, found.solution) == ()
        sign = -1 if name == "reject-ratio" else 1
        assert sign * bound_fluid(instance, objective=name).bound >= sign * most


@given(mixed(most=2, tasks=1, state=True))
def test_all_fits_together_as_brute_force_says(instance):
    found = feasible_together(instance, limits=LONG)
    if oracle.together(instance, instance.tasks, instance.reservations):
        assert (found.status, found.value) == (Status.OPTIMAL, objective(instance, found.solution))
        assert violations(instance, found.solution) == ()
        assert all(grant.accepted for grant in found.solution.grants)
    else:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        assert found.reason


@FEW
@given(admission(most=2, tasks=2, identical=False, state=True))
def test_without_reservations_it_is_a_stream(stream):
    """Another program, and the one of `admission`: the same optimum, the same bounds."""
    instance = around(1, 1, 1, (0, 1, 2))
    names = ("cluster", "tasks", "now", "ready_times", "channel_ready", "committed")
    instance = replace(instance, **{name: getattr(stream, name) for name in names})
    there, here = streams.exact_plan(stream, limits=LONG), exact_plan(instance, limits=LONG)
    assert (here.status, here.value) == (there.status, there.value)
    assert here.plan_class in ("any", "single")
    assert bound_fluid(instance).bound == streams.bound_fluid(stream).bound


@FEW
@given(plans(most=3, tasks=3, state=True))
def test_no_plan_is_beyond_a_bound(data):
    """Plans of any kind, laid out by chance: the fluid bound holds for them all."""
    instance, plan = data
    assert violations(instance, plan) == ()
    goals = ("accepted", "accepted-load", "accepted-weight", "accepted-reservations")
    for name in (*goals, "reject-ratio"):
        sign, value = -1 if name == "reject-ratio" else 1, objective(instance, plan, name)
        strict = bound_fluid(instance, objective=name).bound
        relaxed = bound_fluid(instance, objective=name, relax=True).bound
        assert sign * relaxed >= sign * strict >= sign * value


@FEW
@given(mixed(most=2, tasks=2, wanted=2, setup=False))
def test_more_installments_accept_no_less_and_no_more_than_flows(instance):
    one = exact_plan(instance, limits=Limits(time_s=20, work=2_000))
    assume(one.status is not Status.INFEASIBLE)
    two = exact_plan(instance, installments=2, limits=Limits(time_s=20, work=2_000))
    assume(one.status is two.status is Status.OPTIMAL)
    assert violations(instance, two.solution) == ()
    assert one.value <= two.value <= bound_fluid(instance).bound


@FEW
@given(mixed(most=2, tasks=1), st.sampled_from([2, Fraction(1, 3), 10**6]), st.integers(1, 5))
def test_names_units_and_labels_do_not_matter(instance, unit, load):
    value = exact_plan(instance, limits=LONG).value
    assert exact_plan(_scaled(instance, unit, load), limits=LONG).value == value
    assert exact_plan(_turned(instance), limits=LONG).value == value
    fluid = bound_fluid(instance).bound
    assert bound_fluid(_scaled(instance, unit, load)).bound == fluid
    assert bound_fluid(_turned(instance)).bound == fluid


def _scaled(instance, unit, load):
    """Return the instance with other units of time and of load."""
    cluster = instance.cluster
    cluster = replace(
        cluster,
        tau=cluster.tau * unit / Fraction(load),
        chi=cluster.chi * unit / Fraction(load),
        theta_cm=cluster.theta_cm * unit,
        theta_cp=cluster.theta_cp * unit,
    )
    tasks = (
        replace(
            task, arrival=task.arrival * unit, load=task.load * load, deadline=task.deadline * unit
        )
        for task in instance.tasks
    )
    wanted = (
        replace(
            one,
            arrival=one.arrival * unit,
            start=one.start * unit,
            end=one.end * unit,
            io_end=one.io_end * unit,
        )
        for one in instance.reservations
    )
    return replace(instance, cluster=cluster, tasks=tuple(tasks), reservations=tuple(wanted))


def _turned(instance):
    """Return the instance with other names, and nodes numbered from the other end."""
    last = instance.cluster.nodes - 1
    wanted = (
        replace(
            one,
            id=f"{one.id}x",
            nodes=tuple(last - node for node in one.nodes)
            if isinstance(one.nodes, tuple)
            else one.nodes,
        )
        for one in instance.reservations
    )
    tasks = (replace(task, id=f"{task.id}y") for task in instance.tasks)
    return replace(instance, tasks=tuple(tasks), reservations=tuple(wanted))


@share(1 / 6)
@given(mixed(most=1, tasks=2, wanted=1))
def test_two_chunks_on_one_node_are_brute_force(instance):
    assert_agreement_on_two_chunks(instance)


@share(1 / 10)
@given(mixed(most=2, tasks=1, wanted=1, identical=False))
def test_two_chunks_on_two_nodes_that_differ_are_brute_force(instance):
    assert_agreement_on_two_chunks(instance)


def assert_agreement_on_two_chunks(instance):
    """Hold the program for two chunks a node and gap, and the flows, against brute force."""
    most = oracle.most(instance, installments=2)
    found, fluid = exact_plan(instance, limits=LONG, installments=2), bound_fluid(instance)
    if most is None:
        assert (found.status, found.solution) == (Status.INFEASIBLE, None)
        return
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, most, most)
    assert violations(instance, found.solution) == ()
    assert fluid.bound >= most >= oracle.most(instance)
