"""Heuristic admissions never exceed the capacity that the solver verifies, around reservations.

In exact numbers, for every registered method that is called sound: the tasks and reservations that
it accepts fit together, says the library's own solver, which is given no plan to start from. And
they are worth no more than what loads that flow could do, nor than the clairvoyant optimum over
plans with as many chunks.
"""

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given

import dlopt
from dlopt import registry
from dlopt.models.multistage.methods import bound_fluid, exact_plan, feasible_together
from dlopt.problems.multistage import objective
from dlopt.result import Limits, Status
from tests.examples import share
from tests.models.multistage.sample_instances import mixed

ONLINE = tuple(
    entry.name
    for entry in registry.methods("multistage")
    if entry.kind == "heuristic" and entry.claim == "sound"
)
FEW_NODES = Limits(work=300)
GOALS = ("accepted", "accepted-tasks", "accepted-reservations", "accepted-load", "accepted-weight")


def test_every_sound_method_is_looked_at():
    assert "multi-stage" in ONLINE and not [name for name in ONLINE if "literal" in name]


def only_accepted(instance, plan):
    """Return the instance of what a plan accepts, None if that is nothing."""
    tasks = {decision.task for decision in plan.decisions if decision.accepted}
    kept = {grant.reservation for grant in plan.grants if grant.accepted}
    if not tasks and not kept:
        return None
    return replace(
        instance,
        tasks=tuple(task for task in instance.tasks if task.id in tasks),
        reservations=tuple(one for one in instance.reservations if one.id in kept),
    )


def assert_within_capacity(instance):
    # Many methods admit the same; each answer depends on its arguments alone.
    fit, bounded, optimum = map(cache, (feasible_together, bound_fluid, exact_plan))
    for name in ONLINE:
        if registry.method("multistage", name).reason_against(instance, "accepted") is not None:
            continue
        plan = dlopt.solve(instance, name).solution
        if plan is None:
            continue
        assert dlopt.check(instance, plan) == ()
        each = Counter((chunk.task, chunk.node) for chunk in plan.chunks)
        chunks = max(each.values(), default=1)
        admitted = only_accepted(instance, plan)
        if admitted is not None:
            verified = fit(admitted, installments=chunks)
            assert verified.status is Status.OPTIMAL
        for goal in GOALS:
            value = objective(instance, plan, goal)
            assert value <= bounded(instance, objective=goal).bound
            best = optimum(instance, objective=goal, installments=chunks, limits=FEW_NODES)
            assert value <= best.bound
            assert best.value == best.bound if best.status is Status.OPTIMAL else best.solution


@pytest.mark.property
@given(mixed(most=2, tasks=2, wanted=2, setup=False))
def test_admissions_never_exceed_solver_verified_capacity(instance):
    assert_within_capacity(instance)


@pytest.mark.property
@share(1 / 2)
@given(mixed(most=2, tasks=2, wanted=2, setup=False, state=True))
def test_nor_on_a_busy_cluster(instance):
    assert_within_capacity(instance)


@pytest.mark.property
@given(mixed(most=2, tasks=3, wanted=1, setup=False))
def test_nor_of_more_tasks_around_one_reservation(instance):
    assert_within_capacity(instance)
