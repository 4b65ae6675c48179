"""HYBRID: the sides change at any moment, and every promise is kept."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.hybrid_literal import RejectAll
from dlopt.heuristics.admission.planner_factory import make_planner
from dlopt.heuristics.admission.records import DeadlineMiss, QueuedTask, Rejection
from dlopt.problems.admission import Chunk, Instance, Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.fast.planners import costs, empty_planner, rejections, streams
from tests.heuristics.admission.fast.test_soundness import burst, instance_of


@pytest.mark.property
@given(streams(tasks=14), st.integers(0, 4))
def test_switching_back_and_forth_keeps_promises_and_loses_no_task(stream, threshold):
    nodes, tau, chi, ready, channel, tasks = stream
    made = empty_planner(HybridAlgorithm(threshold), nodes, tau, chi, ready, channel)
    accepted = [miss is None for miss in rejections(made, tasks)]
    assert made.unfinished() == []
    named = tuple(Task(f"t{number}", *task) for number, task in enumerate(tasks))
    instance = Instance(Cluster(nodes, tau, chi), named, ready_times=ready, channel_ready=channel)
    engine = Admission.of(instance, HybridAlgorithm(threshold))
    for task in named:
        engine.submit(task)
    plan = engine.plan()
    assert [decision.accepted for decision in plan.decisions] == accepted
    assert violations(instance, plan) == ()
    assert {span.task.id for span in made.served()} == {chunk.task for chunk in made.chunks()}
    for span in made.served():
        parts = [chunk for chunk in made.chunks() if chunk.task == span.task.id]
        assert span.start == min(chunk.transmission_start for chunk in parts)
        assert span.end == max(chunk.computation_end for chunk in parts)


def test_it_is_the_one_side_or_the_other():
    tasks = burst(3, 600)
    for threshold, policy in ((0, "fast-edf-iit"), (10**6, "edf-iit-2")):
        engines = [
            Admission(Cluster(12, 0.25, 9.0), one) for one in (HybridAlgorithm(threshold), policy)
        ]
        for engine in engines:
            for index, task in enumerate(tasks):
                engine.submit(Task(f"t{index}", *task))
        assert engines[0].plan() == engines[1].plan()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_long_stream_switches_often(compiled):
    tasks, switched, was = burst(4, 1500), 0, False
    engine = Admission(Cluster(12, 0.25, 9.0), HybridAlgorithm(6), compiled=compiled)
    for index, task in enumerate(tasks):
        engine.submit(Task(f"t{index}", *task))
        switched += engine.planner.fast != was
        was = engine.planner.fast
    assert switched > 20
    plan = engine.plan()
    assert violations(instance_of(engine, tasks), plan, FLOATING) == ()
    assert len(engine.planner) == len(engine.planner.tasks)


def test_as_printed_it_takes_the_channel_for_free():
    path = "instances/admission/counterexamples/hybrid-literal-busy-channel.json"
    instance = dlopt.read(path)
    printed = dlopt.solve(instance, "hybrid:literal")
    assert [(one.kind, one.amount) for one in printed.violations] == [
        ("load-not-conserved", Fraction(1, 2))
    ]
    assert dlopt.solve(instance, "hybrid", threshold=1).value == 1
    assert dlopt.solve(instance, "exact").bound == 1
    idle = replace(instance, channel_ready=0)
    assert dlopt.solve(idle, "hybrid:literal").violations == ()


@pytest.mark.parametrize("threshold", [1, 6, 20])
def test_as_printed_it_loses_nothing_from_an_idle_cluster(threshold):
    tasks, switched, was = burst(7, 400), 0, False
    engine = Admission(Cluster(12, 0.25, 9.0), HybridAlgorithm(threshold, literal=True))
    for index, task in enumerate(tasks):
        engine.submit(Task(f"t{index}", *task))
        switched += engine.planner.fast != was
        was = engine.planner.fast
    assert switched > 5
    assert engine.planner.unfinished() == []
    assert violations(instance_of(engine, tasks), engine.plan(), FLOATING) == ()


def test_as_printed_it_goes_back_only_where_there_is_a_plan():
    """Where EDF-IIT-2 plans the tasks that wait in vain, no new one is accepted, or offered for."""
    policy = HybridAlgorithm(2, literal=True)
    assert HybridAlgorithm.parse(policy.name) == HybridAlgorithm(1, literal=True)
    free = dlopt.read("instances/admission/counterexamples/hybrid-literal-busy-channel.json")
    with pytest.raises(NotApplicableError, match="divides by the unit processing time"):
        dlopt.solve(replace(free, cluster=Cluster(1, 1, 0)), "hybrid:literal")
    with pytest.raises(NotApplicableError, match="divides by the unit processing time"):
        Admission(Cluster(1, 1, 0), policy)


def test_what_the_fast_test_cannot_keep_stays_planned():
    """By 4 a plan does (3 + 1) / 2; what nodes are certain to do is (3 + 1/2) / 2."""
    ready, tight = [1, 3], (0, 2, 4)
    assert rejections(empty_planner("r2", 2, 1, 1, ready), [tight]) != [None]
    made = empty_planner(HybridAlgorithm(1), 2, 1, 1, ready)
    said = rejections(made, [tight, (0, 1, 20), (0, 1, 4)])
    assert said[:2] == [None, None] and said[2].task.id == "t2"
    assert not made.fast
    assert [chunk for chunk in made.chunks() if chunk.task == "t0"] == [
        Chunk("t0", 0, Fraction(3, 2), 1, Fraction(5, 2), Fraction(5, 2), 4),
        Chunk("t0", 1, Fraction(1, 2), 3, Fraction(7, 2), Fraction(7, 2), 4),
    ]
    assert [span.task.id for span in made.served()] == ["t0", "t1"]
    assert next(made.served())[1:] == (1, 4)
    assert made.unfinished() == []


def test_a_state_is_handed_over():
    made = empty_planner(HybridAlgorithm(2), 2, 1, 1)
    rejections(made, [(0, 2, 9), (0, 2, 12), (0, 2, 30)])
    assert made.fast
    assert made.count(0) == 3
    made.advance(1)
    state = made.state(1)
    assert sum(task.load for task in state.tasks) < 6
    assert max(state.ready) > 1
    again = empty_planner(HybridAlgorithm(2), 2, 1, 1, state.ready, state.channel)
    assert again.load_promised(state.tasks, 1) is None
    assert len(again) == len(state.tasks)


def test_what_it_is_not_for():
    with pytest.raises(NotApplicableError, match="threshold"):
        HybridAlgorithm(-1)
    with pytest.raises(NotApplicableError, match="unknown test"):
        FastAlgorithm("r3")
    with pytest.raises(NotApplicableError, match="set-up costs"):
        Admission(Cluster(2, 1, 1, theta_cm=1), "hybrid")
    with pytest.raises(NotApplicableError, match="cost nothing"):
        make_planner(FastAlgorithm(), costs(0, 0), [0], 0, 0)
    with pytest.raises(NotApplicableError, match="busy"):
        Admission(Cluster(2, 1, 1), "fast-edf-iit-minimal", ready_times=[0, 1])
    with pytest.raises(NotApplicableError, match="no placements"):
        Admission(Cluster(2, 1, 1), "fast-edf-iit").placements()


def test_instances_that_methods_do_not_apply_to():
    setup = dlopt.read("instances/admission/setup-costs.json")
    for name in ("fast-edf-iit", "fast-edf-iit:literal-edf", "hybrid"):
        with pytest.raises(NotApplicableError, match="set-up costs"):
            dlopt.solve(setup, name)
    busy = dlopt.read("instances/admission/as-it-stands.json")
    with pytest.raises(NotApplicableError, match="busy"):
        dlopt.solve(busy, "fast-edf-iit-minimal")
    differ = dlopt.read("instances/admission/nodes-that-differ.json")
    with pytest.raises(NotApplicableError, match="differ"):
        dlopt.solve(differ, "hybrid")


def test_a_state_that_cannot_be_kept_is_unknown():
    cluster = Cluster(1, tau=1, chi=1)
    tasks = (Task("a", 0, 3, 4), Task("b", 5, 1, 9))
    for name in ("fast-edf-iit", "hybrid"):
        result = dlopt.solve(Instance(cluster, tasks, now=2), name)
        assert result.status == "unknown"
        assert "promise to a" in result.reason


def test_as_printed_nothing_is_accepted_where_the_other_side_finds_no_plan():
    task = QueuedTask((4, 7), "t7", 0, 1, 4)
    unplanned = RejectAll(Rejection(task, DeadlineMiss(Fraction(1), "time")))
    assert unplanned.would_reject(task) is unplanned.try_admit(task) is unplanned.refused
    assert list(unplanned.deadlines(task)) == []


def test_as_printed_what_is_lost_before_a_switch_stays_lost():
    path = "instances/admission/counterexamples/hybrid-literal-busy-channel.json"
    engine = Admission.of(dlopt.read(path), "hybrid:literal")
    assert [engine.submit(task).accepted for task in dlopt.read(path).tasks] == [True, True]
    assert engine.planner.fast
    engine.advance(6)
    assert [(lost.task.id, lost.load) for lost in engine.planner.unfinished()] == [
        ("b", Fraction(1, 2))
    ]
    assert not engine.submit(Task("c", 6, 10, 1)).accepted
    assert engine.submit(Task("d", 6, 1, 9)).accepted and not engine.planner.fast
    assert [lost.task.id for lost in engine.planner.unfinished()] == ["b"]


def test_as_printed_it_may_begin_without_a_plan():
    engine = Admission(Cluster(2, 1, 1), HybridAlgorithm(0, literal=True))
    assert engine.planner.fast and len(engine.planner.active_planner) == 0
    tasks = [Task("a", 0, 2, 4), Task("b", 1, 2, 9), Task("c", 30, 2, 9)]
    assert [engine.submit(task).accepted for task in tasks] == [True, True, True]
    assert violations(Instance(Cluster(2, 1, 1), tuple(tasks)), engine.plan()) == ()
