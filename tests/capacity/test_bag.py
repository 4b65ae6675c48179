"""Heuristic admissions never exceed solver-verified capacity: bags of tasks.

A task is admitted by a plan that runs it by its deadline. Whatever a sound method of the registry
admits the exact model proves possible, task by task and in number; and no heuristic ends sooner
than the model proves possible: counts <= optimum <= bound, makespans >= optimum >= bound.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import check, solve
from dlopt.models.bag.methods import reason_against_milp
from dlopt.problems.bag import OBJECTIVES, objective
from dlopt.registry import method as registered
from dlopt.registry import methods
from tests.strategies_bag import bags, plans

SOUND = [m.name for m in methods("bag") if m.kind == "heuristic" and m.claim == "sound"]


def proven(instance, name):
    found = solve(instance, "exact", objective=name)
    assert str(found.status) == "optimal" and found.value == found.bound
    return found.value


def goals(instance):
    dated = bool(instance.deadlines)
    return [
        name for name, one in OBJECTIVES.items() if (one.requires_field == "deadlines") == dated
    ]


@pytest.mark.property
@given(bags() | plans().map(lambda case: case[0]), st.data())
def test_no_heuristic_has_more_than_the_solver_proves_possible(instance, data):
    name = data.draw(st.sampled_from(goals(instance)))
    better, best = OBJECTIVES[name].better, proven(instance, name)
    bound = solve(instance, "bound-lp", objective=name).bound
    if name in ("critical-then-all", "by-priority"):  # level by level, each by itself
        assert best[0] <= bound[0]
    else:
        assert not better(best, bound)
    for method in SOUND:
        if registered("bag", method).reason_against(instance, name) is not None:
            continue  # there are no deadlines, so that there is nothing to improve
        found = solve(instance, method, objective=name)
        assert check(instance, found.solution) == ()
        assert found.value == objective(instance, found.solution, name)
        assert not better(found.value, best)


@pytest.mark.property
@given(bags(deadlines=True) | plans(deadlines=True).map(lambda case: case[0]))
def test_every_set_of_tasks_that_a_heuristic_admits_is_possible(instance):
    best = proven(instance, "accepted")
    verified = {frozenset()}
    for method in SOUND:
        plan = solve(instance, method, objective="accepted").solution
        admitted = frozenset(one.task for one in plan.placements if not one.late)
        assert len(admitted) <= best
        if admitted not in verified:
            verified.add(admitted)
            rows = [at for at, task in enumerate(instance.tasks) if task.id in admitted]
            only = replace(
                instance,
                tasks=tuple(instance.tasks[at] for at in rows),
                etc=None if instance.etc is None else tuple(instance.etc[at] for at in rows),
            )
            assert proven(only, "accepted") == len(admitted)
            if reason_against_milp(only) is None:
                assert solve(only, "milp", objective="accepted").value == len(admitted)


def test_the_property_is_about_every_sound_method():
    assert {"mct", "min-min", "sufferage", "edf", "priority-edf", "gds", "gds-local-search"} <= set(
        SOUND
    )
