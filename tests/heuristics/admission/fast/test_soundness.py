"""The repairs keep every promise, in every order of events; the fast tests decide as the plain."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from dlopt.arithmetic import FLOATING
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.fast.algorithm_names import FastAlgorithm, HybridAlgorithm
from dlopt.heuristics.admission.fast.dispatcher import QueueEntry
from dlopt.heuristics.admission.fast.schedulability_tests import IndexedTest
from dlopt.heuristics.admission.planner_factory import parse
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from tests.heuristics.admission.fast.planners import (
    EVENTS,
    READINGS,
    SOUND,
    empty_planner,
    prices,
    rejections,
    streams,
    waiting,
)
from tests.heuristics.reference.admission_engine import ReferenceAdmission

POLICIES = [*map(FastAlgorithm, SOUND), *(FastAlgorithm(test, order="mwf") for test in SOUND[1:])]

KINDS = ((ReferenceAdmission, {}), (Admission, {}), (Admission, {"compiled": True}))
"""Engines whose decisions are equal, with their options."""


@pytest.mark.property
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@given(streams(), st.sampled_from(EVENTS))
def test_no_task_misses(policy, stream, events):
    nodes, tau, chi, ready, channel, tasks = stream
    if policy.test == "r0":
        ready, channel = [0] * nodes, 0
    made = empty_planner(replace(policy, events=events), nodes, tau, chi, ready, channel)
    accepted = [miss is None for miss in rejections(made, tasks)]
    assert made.unfinished() == []
    done = {f"t{number}": tasks[number][1] for number, yes in enumerate(accepted) if yes}
    for chunk in made.chunks():
        done[chunk.task] -= chunk.load
    assert not any(done.values())


@pytest.mark.property
@pytest.mark.parametrize("order", ["edf", "mwf"])
@pytest.mark.parametrize("test", ["r1", "r2"])
@given(streams(tasks=14), st.sampled_from(EVENTS))
def test_sums_in_a_tree_decide_as_one_by_one(test, order, stream, events):
    nodes, tau, chi, ready, channel, tasks = stream
    policy = FastAlgorithm(test, events=events, order=order)
    made = [
        empty_planner(policy, nodes, tau, chi, ready, channel, reference=reference)
        for reference in (False, True)
    ]
    assert rejections(made[0], tasks) == rejections(made[1], tasks)
    assert made[0].chunks() == made[1].chunks()


@pytest.mark.property
@pytest.mark.parametrize("order", ["edf", "mwf"])
@given(streams())
def test_what_is_refused_by_replay_cannot_be_kept_and_r1_refuses_more(order, stream):
    """Of one arrival at one state: R1 admits no more than R2, and that no more than EXACT."""
    nodes, tau, chi, ready, channel, tasks = stream
    made = empty_planner(FastAlgorithm("r1", order=order), nodes, tau, chi, ready, channel)
    for number, task in enumerate(tasks):
        new = waiting(number, *task)
        state = made.state(new.arrival)
        others = [
            empty_planner(
                FastAlgorithm(test, order=order), nodes, tau, chi, state.ready, state.channel
            )
            for test in SOUND[2:]
        ]
        said = []
        for other in others:
            other.cluster.clock = new.arrival
            for task in state.tasks:  # in the order in which they wait
                put(other.admission_test, QueueEntry(task, task.load))
            said.append(other.try_admit(new) is None)
        r1 = made.try_admit(new) is None
        assert [r1, *said] == sorted([r1, *said])


def put(admission_test, entry):
    """Let a task wait that is not tested."""
    if isinstance(admission_test, IndexedTest):
        admission_test.store.insert(entry, entry.task.deadline * admission_test.supply_bound.slope)
    else:
        admission_test.insert(entry)


def burst(seed, tasks=2500, number=float):
    """Return a stream that lets a queue grow and shrink again, with some rejections."""
    draw, made, now = random.Random(seed), [], 0.0
    for index in range(tasks):
        crowd = 0.5 if index % 100 < 60 else 15.0
        now += draw.expovariate(1) * crowd
        load = draw.randint(1, 60) / 4
        made.append((number(now), number(load), number(load * draw.uniform(2, 60))))
    return made


@pytest.mark.parametrize("test", ["r1", "r2"])
@pytest.mark.parametrize("seed", range(3))
def test_long_streams_in_floats_are_decided_alike(test, seed):
    tasks = burst(seed, 1000)
    said = []
    for kind, options in KINDS:
        engine = kind(Cluster(12, 0.25, 9.0), FastAlgorithm(test), **options)
        for index, task in enumerate(tasks):
            engine.submit(Task(f"t{index}", *task))
        said.append([decision.accepted for decision in engine.decisions])
        found = violations(instance_of(engine, tasks), engine.plan(), FLOATING)
        assert found == ()
    assert said[0] == said[1] == said[2]
    assert 0.8 < sum(said[0]) / len(tasks) < 0.96


def instance_of(engine, tasks):
    return Instance(engine.cluster, tuple(Task(f"t{i}", *task) for i, task in enumerate(tasks)))


def test_mwf_serves_large_tasks_first_and_may_refuse_them_for_that():
    """On one node a (load 1) is due at 3; b (load 4) would go before it, however late it is due."""
    tasks = [Task("a", 0, 1, 3), Task("b", 0, 4, 99), Task("c", 0, Fraction(1, 2), 3)]
    made = Admission(Cluster(1, tau=1, chi=1), "fast-mwf-iit")
    assert [made.submit(task).accepted for task in tasks] == [True, False, True]
    assert made.waiting == ("a", "c")
    assert made.decisions[1].missed == "a"
    again = replace(tasks[1], id="b2")
    assert made.earliest_deadline(again) is None
    assert Admission(Cluster(1, tau=1, chi=1), "fast-edf-iit").submit(again).accepted


def test_a_task_before_may_be_computed_after_the_deadline_of_one_behind():
    """Three nodes, tau = 1, chi = 8. a (load 3, due at 99) has a larger derivative than b (1, 20).

    a is sent whole to one node, until 3, and computed there until 27; b has the other two.
    """
    for name in ("fast-mwf-iit", "fast-mwf-iit-linear", "fast-mwf-iit-simulated"):
        made = Admission(Cluster(3, tau=1, chi=8), name)
        assert made.submit(Task("a", 0, 3, 99)).accepted
        assert made.submit(Task("b", 0, 1, 20)).accepted
        assert made.waiting == ("a", "b")
        ends = [(chunk.task, chunk.computation_end) for chunk in made.plan().chunks]
        assert ends == [("a", 27), ("b", 12)]


@pytest.mark.parametrize("test", ["r0", "chunk"])
def test_no_mwf_for_what_is_printed_for_edf(test):
    with pytest.raises(NotApplicableError, match="r2, r1, replay"):
        FastAlgorithm(test, order="mwf")


class Promises(RuleBasedStateMachine):
    """Submissions and time, in any order; the plan is valid at all times, in exact numbers."""

    @initialize(
        price=prices(),
        nodes=st.integers(1, 4),
        policy=st.one_of(
            st.builds(replace, st.sampled_from(POLICIES), events=st.sampled_from(EVENTS)),
            st.builds(HybridAlgorithm, st.integers(0, 3)),
        ),
    )
    def start(self, price, nodes, policy):
        self.cluster = Cluster(nodes, *price)
        self.head = Admission(self.cluster, policy)
        self.tasks = []

    @rule(
        gap=st.sampled_from([0, 0, 1, 3]),
        load=st.integers(1, 6),
        slack=st.integers(2, 40),
    )
    def submit(self, gap, load, slack):
        before = self.head.plan(), self.head.waiting, self.head.now
        work = self.cluster.tau_of(0) + self.cluster.chi_of(0)
        deadline = Fraction(load * work * slack, 8)
        task = Task(f"t{len(self.tasks)}", self.head.now + gap, load, deadline)
        if not self.head.submit(task).accepted:
            plan = self.head.plan()
            assert plan.chunks == before[0].chunks
            assert (self.head.waiting, self.head.now) == before[1:]
        self.tasks.append(task)

    @rule(step=st.integers(0, 9))
    def advance(self, step):
        chunks = self.head.plan().chunks
        self.head.advance(self.head.now + step)
        assert sorted(self.head.plan().chunks, key=str) == sorted(chunks, key=str)

    @invariant()
    def nothing_is_broken(self):
        if getattr(self, "tasks", None):
            instance = Instance(self.cluster, tuple(sorted(self.tasks, key=lambda t: t.arrival)))
            plan = self.head.plan()
            assert violations(instance, plan) == ()
            served = {chunk.task for chunk in plan.chunks}
            assert served == {d.task for d in plan.decisions if d.accepted}


TestPromises = pytest.mark.property(Promises.TestCase)


def test_of_simultaneous_tasks_none_is_lost():
    engine = Admission(Cluster(3, 1, 2), "fast-edf-iit")
    for index in range(400):
        engine.submit(Task(f"t{index}", 0, 1, 40 + index))
    plan = engine.plan()
    accepted = {decision.task for decision in plan.decisions if decision.accepted}
    assert {chunk.task for chunk in plan.chunks} == accepted
    assert len(accepted) > 100


@pytest.mark.parametrize("reading", READINGS)
def test_what_a_reading_misses_is_told_by_the_rules(reading):
    tasks = burst(5, 400)
    engine = Admission(Cluster(12, 0.25, 9.0), FastAlgorithm(reading))
    for index, task in enumerate(tasks):
        engine.submit(Task(f"t{index}", *task))
    kinds = {v.kind for v in violations(instance_of(engine, tasks), engine.plan(), FLOATING)}
    assert kinds <= {"load-not-conserved"}


def test_an_earlier_submission_after_a_rejection_finds_what_was_then():
    engine = Admission(Cluster(1, 1, 1), "fast-edf-iit")
    engine.submit(Task("a", 0, 4, 20))
    assert not engine.submit(Task("late", 9, 9, 10)).accepted
    assert engine.waiting == ("a",)
    assert engine.submit(Task("b", 0, 1, 3)).accepted
    assert [chunk.task for chunk in engine.plan().chunks] == ["b", "a"]
    engine.advance(1)
    assert engine.waiting == ("a",)


@pytest.mark.parametrize("events", EVENTS)
def test_a_rejection_at_an_instant_sends_nothing_at_it(events):
    waiting = []
    for rejected in (False, True):
        engine = Admission(Cluster(1, 1, 1), FastAlgorithm("r2", events=events))
        engine.submit(Task("a", 0, 1, 20))
        engine.submit(Task("b", 0, 1, 20))
        if rejected:
            assert not engine.submit(Task("x", 2, 9, 1)).accepted
        engine.advance(2)
        waiting.append(engine.waiting)
    assert waiting[0] == waiting[1]


@pytest.mark.parametrize(
    "name", ["fast-edf-iit", "fast-edf-iit-linear", "fast-edf-iit-minimal", "hybrid"]
)
def test_rounding_at_large_instants_loses_nothing(name):
    """A task that just fits, in seconds since 1970."""
    task = Task("a", 1.7e9, 0.315637770714469, 1.0)
    engine = Admission(Cluster(3, 0.25, 9.0), name)
    assert engine.submit(task).accepted
    assert violations(Instance(engine.cluster, (task,)), engine.plan(), FLOATING) == ()


def test_a_tiny_load_beside_a_huge_one_is_served():
    tasks = (Task("huge", 0.0, 1e6, 1.5e6), Task("tiny", 0.0, 1e-12, 1.5e6))
    engine = Admission(Cluster(2, 0.5, 1.0), "fast-edf-iit")
    for task in tasks:
        engine.submit(task)
    assert violations(Instance(engine.cluster, tasks), engine.plan(), FLOATING) == ()


def test_one_tight_task_in_floats_is_decided_alike():
    said = {
        kind(Cluster(2, 0.25, 9.0), "fast-edf-iit", **options)
        .submit(Task("a", 0.0, 1.0664718772826882, 5.0))
        .accepted
        for kind, options in KINDS
    }
    assert len(said) == 1


def test_names_and_choices():
    for name in ("fast-edf-iit", "fast-edf-iit:literal-edf", "hybrid"):
        assert parse(name).name == name
        assert parse(parse(name)) == parse(name)
    assert not FastAlgorithm("r2").from_idle
    assert FastAlgorithm("r0").from_idle
    assert FastAlgorithm("edf").from_idle
