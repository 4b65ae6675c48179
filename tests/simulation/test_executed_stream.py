"""Streams executed at true costs, with failures: promises, traces, measures."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.paper_workloads import mamat4
from dlopt.generation.uncertain_times import RandomScenario
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm
from dlopt.heuristics.admission.planner_factory import parse
from dlopt.problems.admission import (
    BrokenPromise,
    Dropped,
    Factor,
    Failure,
    Instance,
    Scenario,
    Task,
    missed,
    violations_executed,
)
from dlopt.problems.cluster import Cluster
from dlopt.registry import methods
from dlopt.simulation import ExecutedOutcome, ExecutedRun, StreamRun, simulate, simulate_many
from tests import strategies
from tests.examples import share

F = Fraction


def _can_plan_again(name: str) -> bool:
    if name == "local-search":  # it knows all tasks in advance
        return False
    policy = parse(name)
    return not (policy.literal or (isinstance(policy, FastAlgorithm) and policy.from_idle))


SOUND = tuple(
    entry.name
    for entry in methods("admission")
    if entry.kind == "heuristic" and _can_plan_again(entry.name)
)
PROMISING = tuple(name for name in SOUND if parse(name).control)
IN_TIME = st.integers(1, 8).map(lambda eighths: F(eighths, 8))
ANY_FACTOR = st.integers(1, 16).map(lambda eighths: F(eighths, 8))


@st.composite
def scenarios(draw: Any, instance: Instance, factors: Any, failing: bool) -> Scenario:
    """Draw true costs of some tasks, and failures that end or do not."""
    names = draw(st.sets(st.sampled_from([task.id for task in instance.tasks])))
    costs = tuple(Factor(name, draw(factors), draw(factors)) for name in sorted(names))
    failures = []
    for node in range(instance.cluster.nodes) if failing else ():
        instant = F(0)
        for _ in range(draw(st.integers(0, 2))):
            begin = instant + draw(st.integers(0, 12)) / F(2)
            instant = begin + draw(st.integers(1, 8)) / F(2)
            forever = draw(st.integers(0, 5)) == 0
            failures.append(Failure(node, begin, None if forever else instant))
            if forever:
                break
    return Scenario(costs, tuple(failures))


@st.composite
def streams(draw: Any, name: str) -> Instance:
    """Draw a stream that an algorithm applies to."""
    simple = name.startswith(("fast", "hybrid"))
    return draw(strategies.admission(tasks=6, setup=not simple))  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_chunks_that_end_early_break_no_promise(name: str, data: st.DataObject) -> None:
    instance = data.draw(streams(name))
    scenario = data.draw(scenarios(instance, IN_TIME, failing=False))
    run = ExecutedRun(instance, name, scenario, exact_numbers=True)
    assert run.violations == ()
    assert run.trace.broken == () and run.trace.dropped == ()
    assert run.outcome.misses == 0 or not run.algorithm.control


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_every_miss_was_named_as_a_broken_promise(name: str, data: st.DataObject) -> None:
    instance = data.draw(streams(name))
    scenario = data.draw(scenarios(instance, ANY_FACTOR, failing=True))
    run = ExecutedRun(instance, name, scenario, exact_numbers=True)
    assert run.violations == ()
    named = {one.task for one in run.trace.broken}
    if run.algorithm.control:
        assert missed(instance, run.trace) <= named
    else:
        assert named == set()
    assert run.outcome.broken == len(named)
    assert 0 <= run.outcome.reclaimed_time <= run.outcome.freed_time


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.property
@share(1 / 4)
@given(st.data())
def test_floats_are_executed_by_the_rules_too(name: str, data: st.DataObject) -> None:
    instance = data.draw(streams(name))
    scenario = data.draw(scenarios(instance, ANY_FACTOR, failing=True))
    assert ExecutedRun(instance, name, scenario).violations == ()


@pytest.mark.parametrize("name", SOUND)
def test_an_empty_scenario_changes_no_decision(name: str) -> None:
    without = {"theta_cm": 0, "theta_cp": 0} if name.startswith(("fast", "hybrid")) else {}
    stream = mamat4(system_load=1, horizon=1_000_000, nodes=8, seed=3, **without)
    plain, executed = StreamRun(stream, name), ExecutedRun(stream, name)
    assert [one.accepted for one in plain.solution.decisions] == [
        one.accepted for one in executed.trace.decisions
    ]
    assert executed.violations == ()
    before, after = plain.outcome, executed.outcome
    for measure in ("tasks", "accepted", "misses", "longest_queue", "mean_queue", "system_load"):
        assert getattr(before, measure) == getattr(after, measure)
    assert after.drain == pytest.approx(before.drain)
    assert plain.rejected() == executed.rejected()
    assert len(plain.waiting()) == len(executed.waiting())


@pytest.mark.parametrize("name", ["fifo-opr-mn", "edf-opr-mn", "edf-opr-an"])
def test_an_empty_scenario_changes_no_queue(name: str) -> None:
    stream = mamat4(system_load=2, dc_ratio=10, horizon=500_000, nodes=32, seed=3)
    plain, executed = StreamRun(stream, name).outcome, ExecutedRun(stream, name).outcome
    assert plain.longest_queue == executed.longest_queue > 1
    assert plain.mean_queue == executed.mean_queue
    assert plain.accepted == executed.accepted < executed.tasks


@pytest.mark.property
@share(1 / 2)
@given(st.sampled_from(PROMISING), st.data())
def test_a_busy_cluster_keeps_what_it_promised(name: str, data: st.DataObject) -> None:
    simple = name.startswith(("fast", "hybrid"))
    instance = data.draw(strategies.admission(tasks=5, setup=not simple, state=True))
    scenario = data.draw(scenarios(instance, IN_TIME, failing=False))
    try:
        run = ExecutedRun(instance, name, scenario, exact_numbers=True)
    except NotApplicableError:
        return  # the algorithm finds no plan for what is promised
    assert run.violations == () and run.trace.broken == ()


def test_by_hand() -> None:
    """Task a is half as long as estimated, b is lost when its node fails, and c is in its way."""
    cluster = Cluster(2, tau=0, chi=1)
    tasks = (Task("a", 0, 4, 4), Task("b", 1, 4, 6), Task("c", 2, 2, 4))
    scenario = Scenario((Factor("a", chi=F(1, 2)),), (Failure(1, 3, 5),))
    run = ExecutedRun(Instance(cluster, tasks), "edf-opr-mn", scenario, exact_numbers=True)
    assert [one.accepted for one in run.trace.decisions] == [True, True, True]
    assert [(c.task, c.node, c.transmission_start, c.lost) for c in run.trace.chunks] == [
        ("a", 0, 0, None),
        ("b", 1, 1, 3),
        ("c", 0, 2, None),
    ]
    assert run.trace.broken == (BrokenPromise("b", 3, "failure"),)
    assert run.trace.dropped == (Dropped("b", 4, 3),)
    outcome = run.outcome
    assert (outcome.broken_by_failures, outcome.broken_by_overruns, outcome.misses) == (1, 0, 1)
    assert (outcome.lost_time, outcome.dropped_load) == (2, 4)
    assert (outcome.freed_time, outcome.reclaimed_time) == (2, 2)
    assert run.checked().violations == 0
    ends = {chunk.task: chunk.computation_end for chunk in run.solution.chunks}
    assert ends == {"a": 2, "b": 3, "c": 4}


def test_what_runs_of_a_task_that_is_given_up_is_broken_off() -> None:
    instance = Instance(Cluster(2, tau=0, chi=1), (Task("a", 0, 8, 4),))
    scenario = Scenario(failures=(Failure(1, 1),))
    run = ExecutedRun(instance, "edf-opr-mn", scenario, exact_numbers=True)
    assert [(c.node, c.lost, c.broken_off) for c in run.trace.chunks] == [
        (0, None, 1),
        (1, 1, None),
    ]
    assert run.trace.dropped == (Dropped("a", 8, 1),)
    assert run.violations == () and run.outcome.freed_time == 0
    assert run.outcome.lost_time == 1  # that of node 1 alone


def test_only_the_time_before_the_estimated_end_is_reclaimed() -> None:
    tasks = (Task("a", 0, 4, 4), Task("b", 2, 3, 4))
    scenario = Scenario((Factor("a", chi=F(1, 2)),))
    run = ExecutedRun(Instance(Cluster(1, tau=0, chi=1), tasks), "edf-opr-mn", scenario)
    assert run.outcome.accepted == 2
    assert (run.outcome.freed_time, run.outcome.reclaimed_time) == (2, 2)


def test_a_node_that_fails_as_it_is_repaired_stays_down() -> None:
    cluster = Cluster(1, tau=1, chi=1)
    scenario = Scenario(failures=(Failure(0, 0, 3), Failure(0, 3, 5)))
    late, soon = Task("late", 4, 1, 4), Task("soon", 3, 1, 9)
    run = ExecutedRun(Instance(cluster, (soon, late)), "edf-opr-mn", scenario)
    assert [one.accepted for one in run.trace.decisions] == [False, False]
    after = Instance(cluster, (replace(late, arrival=5),))
    assert ExecutedRun(after, "edf-opr-mn", scenario).outcome.accepted == 1


def test_a_promise_that_no_longer_holds_can_still_be_kept_by_luck() -> None:
    """The transmission is late, which leaves no time; then the computation is short."""
    instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 4),))
    run = ExecutedRun(instance, scenario=Scenario((Factor("a", F(3, 2), F(1, 8)),)))
    assert [(one.task, one.at) for one in run.trace.broken] == [("a", 2)]
    assert run.outcome.misses == 0 and run.violations == ()


@pytest.mark.parametrize("name", ["edf-opr-mn:literal", "hybrid:literal", "fast-edf-iit-minimal"])
def test_algorithms_that_cannot_plan_again_are_refused(name: str) -> None:
    with pytest.raises(NotApplicableError, match=name):
        ExecutedRun(Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 4),)), name, Scenario())


def test_what_does_not_fit_is_refused() -> None:
    instance = Instance(Cluster(1, 1, 1), (Task("a", 2, 1, 9),), now=1, ready_times=(4,))
    with pytest.raises(InvalidInstanceError, match="must be a task of the instance"):
        simulate(instance, scenario=Scenario((Factor("b"),)))
    with pytest.raises(NotApplicableError, match="fails while it is busy"):
        simulate(instance, scenario=Scenario(failures=(Failure(0, 3),)))
    assert simulate(instance, scenario=Scenario(failures=(Failure(0, 0, 1),))).accepted == 1
    with pytest.raises(NotApplicableError, match="a scenario is needed, not a dict"):
        simulate(instance, scenario={})  # type: ignore[call-overload]
    with pytest.raises(NotApplicableError, match="the stream has floats"):
        ExecutedRun(replace(instance, now=0.5), exact_numbers=True)
    with pytest.raises(NotApplicableError, match="a workload or an instance is needed"):
        ExecutedRun(3)  # type: ignore[arg-type]


def test_an_empty_stream_has_an_empty_trace() -> None:
    stream = mamat4(system_load=0.01, horizon=1, seed=1)
    run = ExecutedRun(stream, scenario=Scenario())
    assert (len(stream), run.trace.chunks, run.violations) == (0, (), ())
    assert run.outcome.reject_ratio is None and run.waiting() == []


def test_scenarios_are_drawn_for_each_stream_of_a_comparison() -> None:
    drawn = RandomScenario(500_000, 50_000, 0.5, 1.5)
    points = simulate_many(
        "mamat4",
        ["edf-iit-2", "mcdf"],
        seeds=[1, 2],
        check=True,
        parameters={"horizon": 600_000, "nodes": 8},
        scenario=drawn,
    )
    for point in points:
        for outcome in point.outcomes:
            assert isinstance(outcome, ExecutedOutcome) and outcome.violations == 0


def test_the_same_seed_draws_the_same_scenario() -> None:
    stream = mamat4(horizon=2_000_000, nodes=8, seed=1)
    drawn = RandomScenario(500_000, 50_000, 0.5, 1, share=0.5)
    assert drawn.of(stream, 1) == drawn.of(stream, 1) != drawn.of(stream, 2)
    factors = drawn.of(stream, 1).factors
    assert 0 < len(factors) < len(stream) and all(0.5 <= one.chi <= 1 for one in factors)
    assert RandomScenario().of(stream) == Scenario()
    forever = replace(drawn, mean_time_to_repair=None).of(stream, 1).failures
    assert all(one.until is None for one in forever) and len(forever) <= 8


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"mean_time_between_failures": 0}, "mean_time_between_failures"),
        ({"mean_time_to_repair": 3}, "needs mean_time_between_failures"),
        ({"least_factor": 2}, "exceeds"),
        ({"most_factor": float("nan")}, "most_factor"),
        ({"share": 2}, "share must lie between 0 and 1"),
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(NotApplicableError, match=text):
        RandomScenario(**wrong)


def test_too_many_failures_are_refused() -> None:
    with pytest.raises(NotApplicableError, match="too many failures"):
        RandomScenario(1e-9).of(mamat4(horizon=1_000_000, seed=1))


def test_the_checker_tells_a_trace_without_its_broken_promises() -> None:
    instance = Instance(Cluster(1, 1, 1), (Task("a", 0, 1, 2),))
    scenario = Scenario(failures=(Failure(0, 1),))
    run = ExecutedRun(instance, scenario=scenario)
    silent = replace(run.trace, broken=())
    assert [v.kind for v in violations_executed(instance, scenario, silent)] == ["deadline"]
