"""Whatever happens to a grid, its trace can have happened so, and nobody waits unexplained."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.problems import dag
from dlopt.problems.dag import Instance, plan_of
from dlopt.simulation.grid import NO_FAILURES, FailureModel, Policy, simulate_grid
from tests.simulation.grid.grids import failure_models, instances, policies

pytestmark = pytest.mark.property


@given(st.data(), instances(), policies(literal=True), st.integers(0, 3))
def test_every_trace_can_have_happened(
    data: Any, instance: Instance, policy: Policy, seed: int
) -> None:
    what = data.draw(failure_models(len(instance.machines)))
    run = simulate_grid(instance, policy=policy, failure_model=what, seed=seed, exact_numbers=True)
    assert run.check() == ()
    assert run.outcome.tasks == len(instance.graphs)
    for fate in run.outcome.job_outcomes:
        assert (fate.returned is None) == bool(fate.reason)


@given(instances(), policies())
def test_without_failures_a_run_is_a_plan(instance: Instance, policy: Policy) -> None:
    run = simulate_grid(instance, policy=policy, failure_model=NO_FAILURES, exact_numbers=True)
    outcome, trace = run.outcome, run.trace
    assert trace is not None
    assert run.check() == ()
    home = [fate for fate in outcome.job_outcomes if fate.returned is not None]
    assert all(
        fate.reason == "no LAN has nodes for all of its subtasks"
        for fate in outcome.job_outcomes
        if fate.returned is None
    )
    if len(home) < len(instance.graphs):
        return
    assert outcome.wasted == 0 or outcome.false_alarms
    plan = plan_of(trace)
    assert dag.violations(instance, plan) == ()
    done = dag.completions(instance, plan)
    for course in trace.courses:
        assert course.returned is not None
        assert course.returned >= done[course.graph]


@given(st.data(), instances(), policies(literal=True))
def test_the_same_seed_gives_the_same_run(data: Any, instance: Instance, policy: Policy) -> None:
    what = data.draw(failure_models(len(instance.machines)))
    one, other = (
        simulate_grid(instance, policy=policy, failure_model=what, seed=7) for _ in range(2)
    )
    assert (one.outcome, one.trace) == (other.outcome, other.trace)
    assert one.check() == ()


@given(instances(), policies())
def test_failures_of_everything_end(instance: Instance, policy: Policy) -> None:
    run = simulate_grid(
        instance, policy=policy, failure_model=FailureModel(failure_rate=1), exact_numbers=True
    )
    assert run.check() == ()
    assert run.outcome.returned == 0
