"""What the algorithms accept, held against the proofs of what can be accepted."""

from dataclasses import replace

import pytest
from hypothesis import given

from dlopt import Status, registry, solve
from tests.examples import share
from tests.strategies import admission

SOUND = [
    entry.name
    for entry in registry.methods("admission")
    if entry.kind == "heuristic" and entry.claim == "sound" and not entry.name.endswith("-anna")
]


def test_the_list_is_not_empty():
    assert {"edf-iit-2", "mcdf", "edf-opr-mn", "fast-edf-iit", "hybrid"} <= set(SOUND)


@pytest.mark.property
@share(1 / 4)
@given(admission(most=2, tasks=3))
def test_what_is_accepted_can_be_accepted(instance):
    """The accepted tasks alone are feasible; they are no more than the optimum and its bounds."""
    most = solve(instance, "exact")
    assert most.status is Status.OPTIMAL
    window, fluid = solve(instance, "bound-window-cuts").bound, solve(instance, "bound-fluid").bound
    assert most.value <= window <= fluid
    fits = {}
    for name in SOUND:
        if registry.method("admission", name).reason_against(instance) is not None:
            continue
        found = solve(instance, name)
        accepted = frozenset(d.task for d in found.solution.decisions if d.accepted)
        assert len(accepted) == found.value <= most.value
        if accepted and accepted not in fits:
            tasks = tuple(task for task in instance.tasks if task.id in accepted)
            fits[accepted] = solve(replace(instance, tasks=tasks), "feasibility").status
    assert all(status is Status.OPTIMAL for status in fits.values())
