"""Heuristic admissions never exceed the capacity that the solver verifies.

In exact numbers, for every registered algorithm that is called sound: what it accepts can be done,
says the library's own solver, which is given no plan to start from. And it is no more, in tasks
and in load, than the clairvoyant optimum and than what loads that flow could do.
"""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

import dlopt
from dlopt import registry
from dlopt.models.admission.methods import bound_fluid, exact_plan, feasible_queue
from dlopt.problems.admission import objective
from dlopt.result import Status
from tests.examples import share
from tests.strategies import admission

ONLINE = tuple(
    entry.name
    for entry in registry.methods("admission")
    if entry.kind == "heuristic" and entry.claim == "sound"
)


def test_every_sound_algorithm_is_looked_at():
    assert {"edf-iit-2", "fifo-opr-mn", "mcdf", "fifo-anna", "fast-edf-iit", "hybrid"} <= {*ONLINE}
    assert not [name for name in ONLINE if "literal" in name]


def admitted(instance, plan):
    """Return the tasks that a plan accepts and, where nothing is promised, does in time."""
    ends = {}
    for chunk in plan.chunks:
        ends[chunk.task] = max(chunk.computation_end, ends.get(chunk.task, 0))
    said = {decision.task: decision for decision in plan.decisions}
    return tuple(
        task
        for task in instance.tasks
        if said[task.id].accepted
        and (said[task.id].promised or ends.get(task.id, 0) <= task.absolute_deadline)
    )


def plans(instance):
    """Return what each algorithm that applies admits, and its plan."""
    found = {}
    for entry in registry.methods("admission"):
        if entry.name in ONLINE and entry.reason_against(instance) is None:
            result = dlopt.solve(instance, entry.name)
            if result.solution is not None:
                assert dlopt.check(instance, result.solution) == ()
                found[entry.name] = result.solution
    return found


def assert_within_capacity(instance):
    made = plans(instance)
    assert len(made) >= 10
    verified = {}
    optimum, flows = {}, {}
    for goal in ("accepted", "accepted-load"):
        best = exact_plan(instance, objective=goal)
        assert best.status is Status.OPTIMAL
        optimum[goal] = best.value
        flows[goal] = bound_fluid(instance, objective=goal).bound
        assert best.value <= flows[goal]
    for name, plan in made.items():
        tasks = admitted(instance, plan)
        if tasks and tasks not in verified:
            verified[tasks] = feasible_queue(replace(instance, tasks=tasks)).status
        assert not tasks or verified[tasks] is Status.OPTIMAL, name
        worth = {
            "accepted": len(tasks),
            "accepted-load": sum((task.load for task in tasks), Fraction(0)),
        }
        for goal, value in worth.items():
            assert objective(instance, plan, goal) == value
            assert value <= optimum[goal] <= flows[goal], name


@pytest.mark.property
@share(1 / 2)
@given(admission(most=2, tasks=4))
def test_admissions_never_exceed_solver_verified_capacity(instance):
    assert_within_capacity(instance)


@pytest.mark.property
@share(1 / 2)
@given(admission(most=3, tasks=3, setup=False))
def test_nor_on_three_nodes(instance):
    assert_within_capacity(instance)
