"""Every heuristic on random bags: valid plans, never better than the optimum, the same again."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlopt import Status, registry, solve
from dlopt.problems.bag import OBJECTIVES, success_ratios, violations
from tests import oracles_bag
from tests.strategies_bag import bags, bags_in_floats

SOUND = [m for m in registry.methods("bag") if m.kind == "heuristic" and m.claim == "sound"]
names = st.sampled_from([m.name for m in SOUND])
WAYS = {"late": ["drop", "run"], "sites": ["all", "home"]}


@st.composite
def settings(draw, name):
    """Return a setting for the options of a method."""
    options = {option.name for option in registry.method("bag", name).options}
    return {key: draw(st.sampled_from(WAYS[key])) for key in WAYS if key in options}


def goals(instance, method):
    return [
        name
        for name, goal in OBJECTIVES.items()
        if (goal.requires_field is None or getattr(instance, goal.requires_field) is not None)
        and registry.method("bag", method).reason_against(instance, name) is None
    ]


@pytest.mark.property
@given(bags(), names, st.data())
def test_no_plan_breaks_a_rule_or_beats_the_optimum(instance, name, data):
    options, possible = data.draw(settings(name)), goals(instance, name)
    assume(possible)
    goal = data.draw(st.sampled_from(possible))
    seed = data.draw(st.integers(0, 3))
    found = solve(instance, name, objective=goal, seed=seed, **options)
    assert found == solve(instance, name, objective=goal, seed=seed, **options)
    best = oracles_bag.best(instance, goal)
    if found.status is Status.UNKNOWN:
        assert options["sites"] == "home" and "must be run" in found.reason
        return
    assert found.status is Status.FEASIBLE
    assert violations(instance, found.solution) == ()
    assert oracles_bag.as_tuple(found.value, goal) <= best
    critical, overall = success_ratios(instance, found.solution)
    assert 0 <= overall <= 1 and (critical is None or 0 <= critical <= 1)


@pytest.mark.property
@given(bags_in_floats(tasks=6), names, st.data())
def test_in_floats_plans_hold_to_rounding(instance, name, data):
    assume(registry.method("bag", name).reason_against(instance) is None)
    found = solve(instance, name, **data.draw(settings(name)))
    if found.solution is not None:
        assert violations(instance, found.solution, 1e-9) == ()


@pytest.mark.property
@given(bags(tasks=7, deadlines=True), names)
def test_late_tasks_are_the_dropped_ones_or_more(instance, name):
    """What is run late takes time from others, so no more tasks are met than by dropping."""
    if "late" not in {option.name for option in registry.method("bag", name).options}:
        return
    late = solve(instance, name, objective="accepted", tardy="run")
    said = {placed.task: placed.late for placed in late.solution.placements}
    assert set(said) == {task.id for task in instance.all_tasks}
    dropped = solve(instance, name, objective="accepted", tardy="reject")
    assert not any(placed.late for placed in dropped.solution.placements)
    assert (late.reason is None) == (dropped.reason is None) == (not any(said.values()))
