"""Exact methods and bounds on small instances drawn once, against brute force.

What hypothesis draws at random stands in `test_agreement`.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt import Status, registry
from dlopt.backends import cpsat
from dlopt.generation.bag import small
from dlopt.models.bag.cpsat import CpSatModel
from dlopt.models.bag.methods import reason_against_milp, solve_exact, solve_lns, solve_milp
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.models.bag.solutions import list_schedule, sequences_from_hint
from dlopt.problems.bag import (
    OBJECTIVES,
    Instance,
    Machine,
    Placement,
    Solution,
    Task,
    violations,
)
from dlopt.result import Limits
from tests.oracles_bag import as_tuple, best

F = Fraction
HOLES = Instance(etc=((4, None, 3), (None, 2, None), (5, 5, 1), (2, None, None)))
ALIKE = Instance(
    (*(Task(f"t{k}", 2, absolute_deadline=4) for k in range(4)), Task("u", 1)),
    (Machine("m"), Machine("n")),
)
INSTANCES = {
    "holes": HOLES,
    "alike": ALIKE,
    "deadlines": small(tasks=4, machines=3, span=3, tightness=1, seed=1),
    "there from the start": small(tasks=5, machines=2, sites=1, tightness=1, seed=2),
    "some deadlines": small(tasks=4, machines=2, span=2, deadlines="some", seed=3),
    "no deadlines": small(tasks=4, machines=3, span=5, deadlines="none", seed=4),
    "parts": small(tasks=4, machines=2, sites=1, parts=3, deadlines="none", seed=5),
}


def goals(instance):
    return [name for name, goal in OBJECTIVES.items() if getattr(instance, goal.requires_field)]


CASES = [
    pytest.param(instance, goal, id=f"{name}, {goal}")
    for name, instance in INSTANCES.items()
    for goal in goals(instance)
]


@pytest.mark.parametrize(("instance", "objective"), CASES)
def test_every_method_agrees_with_brute_force(instance, objective):
    optimum, goal = best(instance, objective), OBJECTIVES[objective]
    methods = [solve_exact]
    if objective != "flowtime" and reason_against_milp(instance) is None:
        methods.append(solve_milp)
    for method in methods:
        found = method(instance, objective=objective)
        assert found.status is Status.OPTIMAL and found.value == found.bound
        assert as_tuple(found.value, objective) == optimum
        assert violations(instance, found.solution) == ()
    near = solve_lns(instance, objective=objective)
    assert not goal.better(near.value, found.value)
    assert not goal.better(found.value, near.bound)
    bound = registry.method("bag", "bound-lp").load()(instance, objective=objective)
    assert bound.status is Status.BOUND and not goal.better(found.value, bound.bound)


def test_the_compact_program_knows_deadlines_by_class():
    """Critical ones first, then firm ones, then soft ones: each level is required of the next."""
    kinds = ("soft", "firm", "critical", "firm")
    tasks = tuple(
        Task(f"t{k}", 2 + k % 2, priority=kind, absolute_deadline=3 + k)
        for k, kind in enumerate(kinds)
    )
    instance = Instance(tasks, (Machine("m"), Machine("n", power=F(1, 2))))
    found = solve_milp(instance, objective="by-priority")
    assert as_tuple(found.value, "by-priority") == best(instance, "by-priority")
    assert found.value == solve_exact(instance, objective="by-priority").value
    soft = replace(instance, tasks=tuple(replace(task, priority="soft") for task in tasks))
    assert solve_milp(soft).value[0] == 0  # no critical task: nothing to require


def test_numbers_are_bounded_by_all_where_the_solver_has_no_time():
    function = registry.method("bag", "bound-lp").load()
    found = function(ALIKE, objective="critical-then-all", limits=Limits(time_s=1e-9))
    assert found.bound == (0, 5)


def test_flowtimes_that_are_no_assignment_are_bounded_trivially(monkeypatch):
    monkeypatch.setattr("dlopt.models.bag.bound_methods.solve_assignment", lambda scaled: None)
    bound = registry.method("bag", "bound-lp").load()(HOLES, objective="flowtime").bound
    assert bound == 3 + 2 + 1 + 2  # each as if it were alone


def test_a_program_without_a_bound_leaves_what_is_known(monkeypatch):
    none = cpsat.Outcome(Status.LIMIT, None, None, None, "")
    monkeypatch.setattr(CpSatModel, "solve", lambda *_: none)
    instance = INSTANCES["deadlines"]
    found = solve_exact(instance)
    assert found.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert violations(instance, found.solution) == ()


def test_a_hint_of_a_task_that_comes_twice_or_is_unknown():
    twice = Solution((Placement("t0", 0, 0, 3), Placement("t0", 0, 3, 6), Placement("x", 0, 6, 7)))
    scaled = ScaledInstance.from_instance(INSTANCES["parts"], "flowtime")
    assert sequences_from_hint(scaled, twice) is None  # the others are missing
    assert sequences_from_hint(ScaledInstance.from_instance(ALIKE, "accepted"), twice) == ((0,), ())


def test_a_first_plan_drops_what_is_late():
    tasks = tuple(Task(f"t{k}", 2, absolute_deadline=3) for k in range(3))
    scaled = ScaledInstance.from_instance(Instance(tasks, (Machine("m"),)), "accepted")
    assert list_schedule(scaled) == ((0,),)
