"""A cluster that is busy at first: what the simulator tells is what the engine decides."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dlopt
from dlopt.errors import NotApplicableError
from dlopt.generation.workload import Workload
from dlopt.heuristics.admission.online_engine import PromiseError
from dlopt.io import read
from dlopt.problems.admission import Commitment, Decision, Instance, Solution, Task, violations
from dlopt.problems.cluster import Cluster
from dlopt.registry import methods
from dlopt.simulation import StreamRun, simulate

SOUND = tuple(
    entry.name
    for entry in methods("admission")
    if str(entry.target).startswith("dlopt.heuristics.admission.methods:")
    and not entry.name.endswith((":literal", "-anna"))
)
AS_IT_STANDS = Path(__file__).parents[2] / "instances" / "admission" / "as-it-stands.json"
PAIR = Cluster(2, tau=1.0, chi=1.0)  # E(3, 2) = 4


def busy(seed: int, *, promised: int = 3, nodes: int = 4, setup: float = 0.0) -> Instance:
    """Return a state at 100 with promises that any algorithm keeps, and what arrives then."""
    draw = random.Random(seed)
    before = sorted(draw.uniform(0, 90) for _ in range(promised))
    after = sorted(draw.uniform(100, 250) for _ in range(12))
    tasks = [
        Task(f"old {i}", at, 3.0, 2000.0 - at, remaining=draw.choice([None, 0.0, 1.5]))
        for i, at in enumerate(before)
    ]
    tasks += [
        Task(f"new {i}", at, draw.uniform(0.5, 4), draw.uniform(15, 90))
        for i, at in enumerate(after)
    ]
    gone = Commitment("gone", 0, 95.0, 1.0, 120.0)
    ready = tuple(draw.choice([0.0, draw.uniform(90, 140)]) for _ in range(nodes))
    cluster = Cluster(nodes, 1.0, 12.0, setup, setup)
    return Instance(
        cluster, tuple(tasks), now=100.0, ready_times=ready, channel_ready=98.0, committed=(gone,)
    )


def by_engine(instance: Instance, name: str) -> Solution:
    engine = dlopt.Admission.of(instance, name)
    for task in instance.tasks:
        if task.id not in instance.promised:
            engine.submit(task)
    return engine.plan()


def said(decisions: tuple[Decision, ...]) -> list[tuple[str, bool, Any]]:
    return [(decision.task, decision.accepted, decision.at) for decision in decisions]


@pytest.mark.property
@given(
    st.sampled_from(SOUND),
    st.integers(0, 10**6),
    st.integers(0, 4),
    st.integers(1, 6),
    st.sampled_from([0, 0.7]),
)
def test_a_busy_start_is_simulated_as_the_engine_decides(
    name: str, seed: int, promised: int, nodes: int, setup: float
) -> None:
    instance = busy(seed, promised=promised, nodes=nodes, setup=setup)
    run, plan = StreamRun(instance, name), by_engine(instance, name)
    assert said(run.solution.decisions) == said(plan.decisions)
    if run.workload.idle:  # whatever was ready first, it is one of nodes that are all alike
        made, planned = ([replace(c, node=0) for c in p.chunks] for p in (run.solution, plan))
        assert made == planned
    else:
        assert run.solution.chunks == plan.chunks
    assert run.violations == violations(instance, plan, 1e-9) == ()
    left = sum(instance.remaining[name] > 0 for name in instance.promised)
    assert (run.outcome.tasks, run.outcome.promised) == (12, left)
    assert run.outcome.misses == 0 and run.checked().violations == 0


def test_by_hand() -> None:
    old, new, late = Task("old", 0, 3, 20), Task("new", 5, 3, 12), Task("late", 6, 3, 4)
    instance = Instance(PAIR, (old, new, late), now=4, ready_times=(8, 0), name="state")
    outcome = simulate(instance, "edf-opr-an", check=True)
    # The promised task has both nodes from 8 to 12; the new one, due before it, goes first.
    assert (outcome.tasks, outcome.accepted, outcome.rejected) == (2, 1, 1)
    assert (outcome.promised, outcome.violations, outcome.workload) == (1, 0, "state")
    assert outcome.reject_ratio == 0.5
    assert (outcome.longest_queue, outcome.mean_queue) == (2, 1.5)
    assert outcome.drain == 16 - 6 and outcome.utilization == 0.0
    assert outcome.realised_load == 2 * 6 / (2 * (6 - 4))
    run = StreamRun(instance, "edf-opr-an")
    assert run.rejected() == [(6.0, 1)]
    assert run.waiting() == [(4.0, 1), (5.0, 2), (8.0, 1), (12.0, 0)]


def test_a_shipped_state_is_simulated_in_floats() -> None:
    instance = read(AS_IT_STANDS)
    assert isinstance(instance, Instance)
    run = StreamRun(instance, "edf-iit-2")
    assert run.instance is instance and run.outcome.promised == 2
    decided = {decision.task: decision.accepted for decision in run.solution.decisions}
    assert decided == {"a": True, "b": True, "c": True, "d": False}
    assert {type(chunk.load) for chunk in run.solution.chunks} == {float}
    assert run.violations == ()


def test_a_node_that_is_busy_when_the_first_task_arrives_is_waited_for() -> None:
    task = Task("a", 0, 3, 6)
    assert simulate(Instance(PAIR, (task,)), "fifo-opr-an").drain == 4
    assert simulate(Instance(PAIR, (task,), ready_times=(0, 2)), "fifo-opr-an").drain == 6
    assert simulate(Instance(PAIR, (task,), ready_times=(0, 3)), "fifo-opr-an").accepted == 0
    assert simulate(Instance(PAIR, (task,), channel_ready=2), "fifo-opr-an").drain == 6
    late = simulate(Instance(PAIR, (task,), channel_ready=3), "fifo-anna", check=True)
    assert (late.accepted, late.misses, late.violations) == (1, 1, 0)


def test_only_promises_are_left() -> None:
    tasks = (Task("sent", 0, 1, 9, remaining=0), Task("left", 0, 3, 9))
    outcome = simulate(Instance(PAIR, tasks, now=2), "edf-opr-an", check=True)
    assert (outcome.tasks, outcome.promised, outcome.drain) == (0, 1, 4.0)
    assert outcome.reject_ratio is outcome.utilization is outcome.mean_queue is None
    assert outcome.violations == 0
    nothing = StreamRun(Instance(PAIR, tasks[:1], now=2), "mcdf")
    assert nothing.solution.chunks == () and nothing.violations == () == nothing.instance.committed
    assert nothing.waiting() == nothing.rejected() == []


def test_promises_that_an_algorithm_cannot_keep() -> None:
    hurry = Instance(PAIR, (Task("hurry", 0, 3, 5),), now=2)
    with pytest.raises(PromiseError, match="edf-opr-mn finds no plan that keeps the promise to h"):
        simulate(hurry, "edf-opr-mn")
    with pytest.raises(NotApplicableError, match="fifo-anna looks at no deadline"):
        simulate(hurry, "fifo-anna")


def test_a_workload_of_one_s_own_may_be_busy() -> None:
    own = Workload(
        PAIR, (1.0, 6.0), (3.0, 3.0), (20.0, 20.0), horizon=8.0, begin=4.0, promised=1,
        ready=(8.0, 4.0), channel=5.0,
    )  # fmt: skip
    run = StreamRun(own, "edf-opr-an")
    assert run.instance == own.instance() and run.violations == ()
    assert (run.instance.now, run.instance.ready_times) == (4.0, (8.0, 4.0))
    assert [d.task for d in run.solution.decisions] == ["0", "1"]
    assert (run.outcome.promised, run.outcome.tasks, run.outcome.drain) == (1, 1, 8.0)
