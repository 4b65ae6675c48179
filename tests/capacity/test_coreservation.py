"""Heuristic admissions never exceed the capacity that a solver verifies.

What a heuristic accepts the exact model can accept, with each part on its machine or anywhere, and
with the least shares: it finds a plan of exactly these requests. And no heuristic is better than
the exact model, nor that better than a bound.
"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, api, registry
from dlopt.problems.coreservation import OBJECTIVES, Instance
from tests.examples import share
from tests.strategies_coreservation import coreservation

SOUND = [
    entry.name
    for entry in registry.methods("coreservation")
    if entry.kind == "heuristic" and entry.claim == "sound"
]
BOUNDS = ("bound-aggregated-lp", "bound-aggregated", "bound-knapsack")
GOALS = ("benefit", "rejections", "rejected-priority")


def admitted(instance: Instance, plan) -> Instance | None:
    """Return the instance of what a plan accepts alone, or None if that is nothing."""
    accepted = {one.request for one in plan.decisions if one.accepted}
    requests = tuple(one for one in instance.requests if one.id in accepted)
    return replace(instance, requests=requests) if requests else None


@pytest.mark.property
@share(1 / 2)
@given(instance=coreservation(requests=5))
def test_what_heuristics_admit_the_solver_can_place(instance):
    verified = {}
    for name in SOUND:
        plan = api.solve(instance, name).solution
        asked = admitted(instance, plan)
        if asked is not None and asked not in verified:
            found = api.solve(asked, "feasibility")
            assert found.status is Status.OPTIMAL and found.value == 0, name
            least = {
                (r.id, i): part.least for r in asked.requests for i, part in enumerate(r.parts)
            }
            assert all(one.cpu >= least[one.request, one.part] for one in plan.shares)
            verified[asked] = found


@pytest.mark.property
@share(1 / 2)
@given(instance=coreservation(requests=4), goal=st.sampled_from(GOALS))
def test_no_heuristic_is_better_than_exact_nor_that_than_a_bound(instance, goal):
    better = OBJECTIVES[goal].better
    best = api.solve(instance, objective=goal)
    assert best.status is Status.OPTIMAL and best.value == best.bound
    for name in SOUND:
        assert not better(api.solve(instance, name, objective=goal).value, best.value), name
    for name in BOUNDS:
        assert not better(best.value, api.solve(instance, name, objective=goal).bound), name


@pytest.mark.property
@share(1 / 2)
@given(instance=coreservation(requests=4), goal=st.sampled_from(list(OBJECTIVES)))
def test_exact_is_never_worse_than_what_it_is_made_of(instance, goal):
    start = api.solve(instance, "portfolio", objective=goal).solution
    best = api.solve(instance, objective=goal, hint=start).value
    for entry in registry.methods("coreservation"):
        if entry.kind == "exact" and goal in entry.objectives:
            found = api.solve(instance, entry.name, objective=goal, hint=start)
            if found.value is not None:
                assert not OBJECTIVES[goal].better(found.value, best), entry.name
